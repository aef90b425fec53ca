# SPDX-License-Identifier: Apache-2.0
"""Tests of the Python recipes of docs/uses.md, as printed there, and of the notebook in examples/."""
import contextlib
import io
import json
import pathlib
import re

import pytest

import pprf

TREE = pathlib.Path(__file__).resolve().parents[3]
USES = TREE / "docs" / "uses.md"


def recipe(heading):
    section = USES.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.S)
    assert len(code.splitlines()) <= 15
    names = {}
    exec(code, names)  # pylint: disable=exec-used
    return names


def test_an_erased_record_is_gone_and_the_others_are_not():
    aead = pytest.importorskip("cryptography.exceptions")
    uses = recipe("Erasing records")
    with pprf.Key(depth=32) as key:
        sealed = [uses["seal"](key, number, b"record %d" % number) for number in range(4)]
        with pytest.raises(aead.InvalidTag):
            uses["unseal"](key, 1, sealed[2])
        uses["erase"](key, 2)
        for number in (0, 1, 3):
            assert uses["unseal"](key, number, sealed[number]) == b"record %d" % number
        with pytest.raises(pprf.PuncturedError) as caught:
            uses["unseal"](key, 2, sealed[2])
        assert caught.value.leaf == 2
        with pprf.Key.from_export(key.export()) as stolen:
            with pytest.raises(pprf.PuncturedError):
                uses["unseal"](stolen, 2, sealed[2])


def test_the_end_of_an_epoch_takes_all_its_keys_and_no_other():
    uses = recipe("Epochs")
    user_key, last = uses["user_key"], (1 << uses["BITS"]) - 1
    with pprf.Key(depth=32) as key:
        before = [user_key(key, epoch, user) for epoch in (6, 8) for user in (0, 5, last)]
        assert len(set(before)) == 6
        uses["end_of"](key, 7)
        for user in (0, 5, last):
            with pytest.raises(pprf.PuncturedError):
                user_key(key, 7, user)
        assert before == [user_key(key, epoch, user) for epoch in (6, 8) for user in (0, 5, last)]
        assert key.nodes <= 2 * 32


def test_the_notebook_prints_what_it_shows():
    notebook = json.loads((TREE / "examples" / "notebook.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5 and sum(len(cell["source"]) for cell in cells) <= 60
    names = {}
    for cell in cells:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec("".join(cell["source"]), names)  # pylint: disable=exec-used
        assert printed.getvalue() == "".join(line for out in cell["outputs"] for line in out["text"]), cell["source"]
    assert sum(bool(cell["outputs"]) for cell in cells) >= 5
