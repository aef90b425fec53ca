#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the documentation as pages: the documents, and the interfaces for C and Python.  A warning of Doxygen or
Sphinx is an error, and so is a link that leads nowhere.

Usage: build.py OUT   OUT/html is written; OUT/source and OUT/xml are what it was made of
Debian's python3, which has the packages of `tools/deps.sh docs`."""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REPOSITORY = "https://github.com/libpprf/libpprf/blob/main/"
# the pages of the C interface
HEADERS = {"pprf": "Keys", "pprf_shared": "Shared memory", "pprf_tickets": "Tickets", "pprf_tls": "OpenSSL servers",
           "pprf_fleet": "Several hosts", "pprf_redact": "Redactable documents",
           "pprf_vault": "A key on disk"}
MODULES = ["pprf", "pprf.redact"]  # of Python
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")


def documents():
    """The documents in the tree, by path."""
    folders = [d for d in sorted(ROOT.iterdir()) if d.is_dir() and d.name[0] != "." and d.name != "build"]
    found = [*ROOT.glob("*.md"), *(f for d in folders for f in d.glob("**/*.md"))]
    return [f for p in found if not {"build", "target", "pages"} & {*(f := p.relative_to(ROOT)).parts}]


def below(path, known):
    """The documents that a document introduces: for x.md those in x/, for a folder's README those
    in its subfolders."""
    folder = path.parent if path.name == "README.md" else path.with_suffix("")
    return [f for f in sorted(known) if f.parent == folder != path.parent
            or path.name == f.name == "README.md" and f.parent.parent == folder != pathlib.Path(".")]


def stage(source):
    """Copy the documents; links to other files are changed to where these can be read."""
    known = set(documents())

    def target(match, folder):
        start, path, anchor, end = match.groups()
        if re.match(r"[a-z]+:", path):
            return match.group(0)
        to = pathlib.Path(os.path.normpath(folder / path))
        if to in known or to.suffix in (".svg", ".png"):
            return match.group(0)
        if to / "README.md" in known:
            return f"{start}{path.rstrip('/')}/README.md{anchor or ''}{end}"
        return f"{start}{REPOSITORY}{to}{anchor or ''}{end}"

    for path in known:
        text = (ROOT / path).read_text()
        text = LINK.sub(lambda m, folder=path.parent: target(m, folder), text)
        if path == pathlib.Path("README.md"):
            text += (HERE / "contents.txt").read_text()
        elif below(path, known):
            text += "\n```{toctree}\n:hidden:\n\n%s\n```\n" % "\n".join(f"/{f}" for f in below(path, known))
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(text)
    for picture in ROOT.glob("docs/pictures/*.svg"):
        (source / "docs" / "pictures").mkdir(exist_ok=True)
        shutil.copy(picture, source / "docs" / "pictures")
    for name, subject in HEADERS.items():
        title = f"{subject}: ``{name}.h``"
        (source / f"{name}.rst").write_text(f"{title}\n{'=' * len(title)}\n\n.. doxygenfile:: {name}.h\n")
    modules = "".join(f"\n.. automodule:: {name}\n   :members:\n   :undoc-members:\n" for name in MODULES)
    (source / "python.rst").write_text(f"Python\n======\n{modules}")


def doxygen(root, out):
    """Read the headers of a tree; returns the exit status."""
    settings = (HERE / "Doxyfile").read_text() + f'OUTPUT_DIRECTORY = "{out}"\n'
    return subprocess.run(["doxygen", "-"], cwd=root, input=settings, text=True, check=False).returncode


class Page(html.parser.HTMLParser):
    """The links of a page, and the places that links may lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.places.update(v for k in ("id", "name") if (v := attrs.get(k)))
        self.links += [v for k in ("href", "src") if (v := attrs.get(k))]


def broken(html_folder):
    """The links within the pages that lead nowhere."""
    pages = {path: Page(path) for path in html_folder.glob("**/*.html")}
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                continue
            to = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            place = urllib.parse.unquote(url.fragment)
            if not to.is_file() or (place and to in pages and place not in pages[to].places):
                wrong.append(f"{path.relative_to(html_folder)}: {link}")
    return wrong


def main():
    out = pathlib.Path(sys.argv[1]).resolve()
    for name in ("source", "xml", "doctrees", "html"):
        shutil.rmtree(out / name, ignore_errors=True)
    (out / "source").mkdir(parents=True)
    stage(out / "source")
    if doxygen(ROOT, out) != 0:
        return 1
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", HERE, "-d", out / "doctrees"]
    environment = dict(os.environ, PPRF_XML=str(out / "xml"))
    if subprocess.run([*command, out / "source", out / "html"], env=environment, check=False).returncode != 0:
        return 1
    shutil.copy(out / "html" / "README.html", out / "html" / "index.html")
    wrong = broken(out / "html")
    print(*wrong, f"{out}/html/index.html: {len(list((out / 'html').glob('**/*.html')))} pages, "
          f"{len(wrong)} links lead nowhere", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
