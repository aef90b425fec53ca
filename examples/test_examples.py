#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of README.md in one shell, with the library installed into a separate folder,
and checks that each command of a `console` block prints the lines below it.  Prints TAP."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TREE / "tools"))
import tap  # noqa: E402

END = "---- end of a command"


def typed(text):
    """The commands of the text, each with its expected output, or None."""
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.S | re.M):
        if language == "sh":
            yield from ((line, None) for line in block.splitlines())
        elif language == "console":
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                yield tuple(part.split("\n", 1))


def follow(text, tree, home):
    """Type the commands in the tree; returns the errors."""
    steps = list(typed(text))
    script = "".join(f"{command}\necho '{END}' $?\n" for command, _ in steps)
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
    done = subprocess.run(["bash"], input=script, cwd=tree, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, env={**env, "HOME": str(home), "DEPS": "skip"})
    said = re.findall(rf"(.*?){END} (\d+)\n", done.stdout, re.S)
    wrong = [f"$ {command}\n{out}" for (command, want), (out, status) in zip(steps, said)
             if status != "0" or want not in (None, out)]
    return wrong if len(said) == len(steps) else [*wrong, f"{len(said)} of {len(steps)} commands ended"]


class Examples(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.home)

    def test_each_is_short_and_in_the_readme(self):
        text = (TREE / "examples" / "README.md").read_text(encoding="utf-8")
        sources = sorted((TREE / "examples").glob("*.c"))
        self.assertEqual(len(sources), 5)
        for source in sources:
            self.assertLessEqual(len(source.read_text(encoding="utf-8").splitlines()), 60, source.name)
            self.assertIn(f"$ cc {source.name} ", text)

    def test_the_readme_as_it_is_typed(self):
        text = (TREE / "examples" / "README.md").read_text(encoding="utf-8")
        copy = self.home / "tree"  # programs are built beside their sources
        copy.mkdir()
        for entry in TREE.iterdir():
            if entry.name != "examples":
                (copy / entry.name).symlink_to(entry)
        shutil.copytree(TREE / "examples", copy / "examples")
        self.assertEqual(follow(text, copy, self.home), [])

    def test_wrong_output_and_a_command_that_fails_are_noticed(self):
        wrong = follow("```console\n$ echo a\na\n$ echo a\nb\n$ false\n```\n", self.home, self.home)
        self.assertEqual(wrong, ["$ echo a\na\n", "$ false\n"])
        self.assertIn("commands ended", follow("```sh\nexit 3\n```\n", self.home, self.home)[-1])


if __name__ == "__main__":
    sys.exit(tap.run([Examples], sys.argv[1:]))
