# SPDX-License-Identifier: Apache-2.0
"""Tests of the Python recipes of docs/uses.md, as printed there, and of the notebook and the feed in examples/."""
import contextlib
import importlib.util
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


@pytest.fixture(name="feed")
def feed_module():
    pytest.importorskip("cryptography.exceptions")
    path = TREE / "examples" / "feed.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 200
    spec = importlib.util.spec_from_file_location("feed", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_feed_is_whole_and_its_filters_mislead_one_in_a_hundred(feed):
    run = feed.assemble()  # raises if a post is missing or foreign
    assert (run["posts"], run["searched"], run["filter"]) == (300, 600, 600)
    assert 0.008 < run["rate"] < 0.012  # 90 000 trials: 6 standard deviations
    assert 0 < run["misled"] < 120  # of 5 700 trials


def test_a_friend_reads_the_epochs_that_he_was_given_and_no_others(feed):
    circle, other, reader = feed.Circle(), feed.Circle(), feed.Reader()
    invitation = circle.invite(range(8, 12))
    reader.accept(invitation)
    posts = [circle.post(epoch, b"%d" % epoch) for epoch in range(7, 13)]
    assert list(reader.feed(posts)) == [b"8", b"9", b"10", b"11"]
    with pytest.raises(pprf.PuncturedError):
        feed.cipher(pprf.Key.from_export(invitation.key), 12, posts[-1].nonce)
    late = circle.post(9, b"late")
    for changed in (late._replace(epoch=10), late._replace(nonce=bytes(16)), late._replace(filter=bytes(600)),
                    late._replace(sealed=bytes([late.sealed[0] ^ 1]) + late.sealed[1:]), other.post(9, b"other")):
        forged = changed._replace(filter=b"\xff" * 600)
        assert not list(reader.feed([changed, forged]))
    circle.dismiss(invitation.id)
    assert list(reader.feed([late])) == [b"late"]
    unaddressed = [circle.post(9, b"without him") for _ in range(20)]
    assert len(list(reader.feed(unaddressed))) < 6  # one in a hundred is found by chance, and he has the epoch's key


def test_a_filter_does_not_tell_how_many_friends_it_is_for(feed):
    def ones(identities):
        return [bin(int.from_bytes(feed.filter_of(identities, bytes([i])), "big")).count("1") for i in range(40)]
    few, many = ones([bytes(16)]), ones([bytes([i % 256, i // 256]) for i in range(feed.FRIENDS)])
    assert abs(sum(few) - sum(many)) / 40 < 40  # of 2 485 ones, whose standard deviation is 26
    with pytest.raises(ValueError, match="501 friends"):
        feed.filter_of([bytes(16)] * 501, b"")
