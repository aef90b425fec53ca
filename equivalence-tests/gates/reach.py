# SPDX-License-Identifier: Apache-2.0
"""Which tests concern a file: the graph of what make builds and what tests run.

A target reaches its prerequisites and the files that its recipe names, according to make's data
base; a C file reaches what it includes; a Python file what it imports; a test what its script
names. So if neither a test's rule nor its script names what it tests, it does not count as a test
of it."""
import collections
import fnmatch
import os
import re
import subprocess

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

# they name files all over the tree but do not test them
ABOUT_ALL = {"tools/deps.sh", "docs/tests/test_docs.py", "equivalence-tests/gates/test_gates.py"}


def files():
    """Existing files that git tracks or would track."""
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=TOP, stdout=subprocess.PIPE,
                         check=True)
    return sorted(f for f in out.stdout.decode().split("\0") if os.path.isfile(os.path.join(TOP, f)))


def text_of(file):
    with open(os.path.join(TOP, file), encoding="utf-8", errors="replace") as f:
        return f.read()


def make(*arguments):
    """Output of make for a query that does not need up-to-date makefiles."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(["make", "--no-print-directory", "DEPS=skip", *arguments], cwd=TOP, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace").stdout


class Graph:
    def __init__(self, goals):
        self.files, self.edges = set(files()), collections.defaultdict(set)
        self.goals, self.reach = set(goals), {}
        self.run = collections.defaultdict(set)  # run by a target's recipe
        self.named = collections.defaultdict(set)  # files by the last part of their path
        for file in self.files:
            self.named[os.path.basename(file)].add(file)
        self.read(make("-npr", *goals))
        for file in self.files:
            self.edges[file] |= self.taken_by(file)

    def read(self, text):
        """Read make's data base: variables, then rules with their recipes."""
        variables, targets, recipes = {}, [], []
        for line in text[text.find("# Make data base"):].split("\n"):
            assigned = re.match(r"([\w-]+) :?:?= (.*)", line)
            rule = re.match(r"([^\s#:=\t][^:=]*)::? ?(?!=)(.*)", line)
            if assigned:
                variables.setdefault(*assigned.groups())
            elif rule:
                targets = rule.group(1).split()
                for target in targets:
                    self.edges[target] |= {os.path.normpath(p) for p in rule.group(2).replace("|", " ").split()}
            elif line.startswith("\t"):
                for _ in range(4):
                    line = re.sub(r"\$\(([\w-]+)\)|\$\{([\w-]+)\}",
                                  lambda m: variables.get(m.group(1) or m.group(2), ""), line)
                for target in targets:
                    found = self.words(line, "")
                    self.edges[target] |= found
                    self.run[target] |= found
                    recipes.append((target, line))
            elif not line.startswith("#"):
                targets = []
        for target, line in recipes:  # a recipe that calls make
            self.edges[target] |= {word for word in line.split() if "/" in word and word in self.edges}

    def words(self, text, folder):
        """The files in the tree that a text names, relative to the top or to the folder."""
        found = set()
        for word in set(re.findall(r"[\w.*+-]+(?:/[\w.*+-]+)*", text)):
            for base in {"", folder}:
                path = os.path.normpath(os.path.join(base, word))
                if path in self.files:
                    found.add(path)
                elif "*" in word and "/" in word:
                    found |= {f for f in fnmatch.filter(self.files, path) if f.count("/") == path.count("/")}
        return found

    def taken_by(self, file):
        """What a file includes or imports."""
        folder, suffix = os.path.dirname(file), os.path.splitext(file)[1]
        found = set()
        if suffix in (".c", ".h", ".cc"):
            for name in re.findall(r'^ *# *include "(.*)"', text_of(file), re.M):
                here = os.path.normpath(os.path.join(folder, name))
                found |= {here} if here in self.files else self.named[os.path.basename(name)]
        elif suffix == ".py":
            for name in re.findall(r"^ *(?:import|from) +(\w+)", text_of(file), re.M):
                found |= self.named[name + ".py"]
        return found

    def reached(self, goal):
        """Everything that a goal is built from or runs, except what another goal runs."""
        if goal not in self.reach:
            seen, todo = set(), [goal]
            for script in {goal, *self.run[goal]} & self.files - ABOUT_ALL:
                if os.access(os.path.join(TOP, script), os.X_OK):
                    todo += self.words(text_of(script), os.path.dirname(script))
            while todo:
                node = todo.pop()
                if node not in seen:
                    seen.add(node)
                    todo += [n for n in self.edges.get(node, ()) if n not in self.goals]
            self.reach[goal] = seen & self.files
        return self.reach[goal]
