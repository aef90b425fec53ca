# SPDX-License-Identifier: Apache-2.0
"""Tests of pprf.Vault with the library that PPRF_VAULT_LIBRARY names."""
import hashlib
import os
import pathlib
import random
import re
import shutil
import threading
import warnings

import pytest

import pprf

pytestmark = pytest.mark.skipif("PPRF_VAULT_LIBRARY" not in os.environ,
                                reason="PPRF_VAULT_LIBRARY is not set: make test-python sets it")


@pytest.fixture(name="path")
def vault_path(tmp_path):
    return tmp_path / "v"


def test_records_open_until_their_id_is_erased(path):
    with pprf.Vault.create(path, depth=20, suite="mls-sha256") as v:
        record, other = v.seal(7, b"a name"), v.seal(8, b"")
        assert v.open(7, record) == b"a name" and len(v.eval(7)) == 32 and len(record) == 34
        assert v.erase(9) == 1 and v.erase(range(10, 20)) == 2 and v.commit() == 2
        v.backup(path.with_name("yesterday"))
        v.erase(7)
        with pytest.raises(pprf.PuncturedError):
            v.open(7, record)
    with pytest.raises(pprf.ClosedError):
        v.eval(1)
    with pprf.Vault(path) as v:
        assert v.info()["depth"] == 20 and v.info()["commit"] == 3 and v.verify() == 1
        with pytest.raises(pprf.PuncturedError) as caught:
            v.open(7, record)
        assert caught.value.leaf == 7 and v.open(8, other) == b""
    with pytest.raises(pprf.VaultError, match="commit 3, the store's last one is 2") as refused:
        pprf.Vault(path.with_name("yesterday"), f"file:{path}.cell")
    assert refused.value.code == pprf.Vault.ROLLBACK


def test_wrong_use_raises(path):
    with pytest.raises(pprf.SuiteError):
        pprf.Vault.create(path, suite="md5")
    with pytest.raises(ValueError):
        pprf.Vault.create(path, depth=64)
    for wrong in ({"depth": -1}, {"depth": 0}, {"depth": 1 << 40}, {"count": -1}, {"count": 1 << 64}, {"seconds": -1},
                  {"cache_bytes": -1}, {"mirror": f"{path.parent}\0a"}, {"cell": f"file:{path}\0a"}):
        with pytest.raises(ValueError):
            pprf.Vault.create(path, **wrong)
    with pytest.raises(ValueError):
        pprf.Vault.create(f"{path}\0a")
    assert os.listdir(path.parent) == []
    with pytest.raises(pprf.VaultError, match="No such file") as caught:
        pprf.Vault(path)
    assert caught.value.code == pprf.Vault.STORE
    with pprf.Vault.create(path, depth=20) as v:
        record = v.seal(7, b"a name")
        v.erase(9)
        for error, call in ((pprf.PuncturedError, lambda: v.eval(9)), (pprf.PuncturedError, lambda: v.erase(9)),
                            (pprf.LeafError, lambda: v.eval(1 << 20)), (pprf.LeafError, lambda: v.seal(-1, b"")),
                            (pprf.LeafError, lambda: v.erase(range(9, 1 << 21))),
                            (ValueError, lambda: v.erase(range(3, 3))), (TypeError, lambda: v.erase("7"))):
            with pytest.raises(error):
                call()
        for id, bytes_ in ((8, record), (7, b"short"), (7, record[:-1] + b"?")):
            with pytest.raises(pprf.VaultError, match="record") as caught:
                v.open(id, bytes_)
            assert caught.value.code == pprf.Vault.RECORD
        with pytest.raises(pprf.VaultError) as caught:
            pprf.Vault(path)
        assert caught.value.code == pprf.Vault.BUSY
    for call in (v.commit, v.verify, v.info, lambda: v.erase(1)):
        with pytest.raises(pprf.ClosedError):
            call()


def test_errors_name_the_leaf(path):
    class Seven:
        """As numpy's integers are."""

        def __index__(self):
            return 7
    with pprf.Vault.create(path, depth=8) as v:
        v.erase(Seven())
        for call in (v.eval, v.erase, lambda leaf: v.seal(leaf, b"")):
            with pytest.raises(pprf.PuncturedError, match="^leaf 7 was") as caught:
                call(Seven())
            assert caught.value.leaf == 7
        with pytest.raises(pprf.PuncturedError, match="all leaves of range"):
            v.erase(range(7, 8))


def test_close_waits_for_other_threads(path):
    for i in range(20):
        v = pprf.Vault.create(path.with_name(f"v{i}"), depth=30)
        ended, began = [], threading.Barrier(4)

        def use():
            began.wait()
            with pytest.raises(pprf.ClosedError):
                while True:
                    v.eval(5)
            ended.append(1)

        threads = [threading.Thread(target=use, daemon=True) for _ in range(3)]
        for t in threads:
            t.start()
        began.wait()
        v.eval(6)
        v.close()
        for t in threads:
            t.join(60)
        assert len(ended) == 3


def test_close_waits_until_infos_texts_are_copied(path, monkeypatch):
    v, ended = pprf.Vault.create(path), threading.Event()
    closing = threading.Thread(target=lambda: (v.close(), ended.set()))

    class Slow:
        """cffi, but another thread has a while to close the vault before a text is read."""

        def __getattr__(self, name):
            return getattr(real, name)

        @staticmethod
        def string(text):
            if not closing.ident:
                closing.start()
            assert not ended.wait(0.5), "the text's memory is released"
            return real.string(text)
    real = pprf.vault._ffi
    monkeypatch.setattr(pprf.vault, "_ffi", Slow())
    assert "snapshots" in v.info()["warning"]
    closing.join(60)
    assert ended.is_set()


def test_erasures_commit_by_count_and_an_exception_commits_nothing(path):
    pprf.Vault.create(path).close()
    with pprf.Vault(path, count=2) as v:
        v.erase(30)
        assert v.info()["final"] == 0
        v.erase(31)
        assert v.info()["final"] == 2 and "snapshots" in v.info()["warning"]
    with pytest.raises(KeyError), pprf.Vault(path) as v:
        v.erase(8)
        raise KeyError
    with pprf.Vault(path) as v:
        assert len(v.eval(8)) == 16


def test_a_command_is_the_cell(path, tmp_path):
    value = tmp_path / "value"
    command = f"f() {{ if [ $1 = read ]; then cat {value} 2> {tmp_path}/log; true; else cat > {value}; fi; }}; f"
    with pprf.Vault.create(path, command) as v:
        v.erase(1)
    assert len(value.read_bytes()) == 32
    with pytest.warns(UserWarning, match="there was none"):
        v = pprf.Vault(path, command, mirror=str(tmp_path.parent))
    with v, pytest.raises(pprf.PuncturedError):
        v.eval(1)
    for mirror, word in ((None, "not written now"), ("", None)):
        with warnings.catch_warnings(record=True) as caught:
            pprf.Vault(path, command, mirror=mirror).close()
        assert [word in str(w.message) for w in caught] == ([True] if word else [])
    value.unlink()
    with pytest.raises(pprf.VaultError) as caught:
        pprf.Vault(path, command)
    assert caught.value.code == pprf.Vault.CELL


def recipe(heading):
    """The names that a recipe of docs/vault.md defines, as it is printed there."""
    page = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "vault.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page.split(f"\n## {heading}\n")[1].split("\n## ")[0], re.S)
    names = {}
    exec(code, names)  # pylint: disable=exec-used
    return names


def test_the_first_example_of_the_page(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names = recipe("Ten minutes")
    with pprf.Vault("letters") as v, pytest.raises(pprf.PuncturedError):
        v.open(7, names["record"])


def test_yesterdays_database_does_not_show_the_erased_people(path, tmp_path):
    sql = pytest.importorskip("sqlalchemy")
    people, erased = 100000, set(range(17, 100000, 100))
    assert len(erased) == 1000
    with pprf.Vault.create(path, depth=17, suite="aes-128") as v:
        table = sql.Table("people", sql.MetaData(), sql.Column("id", sql.Integer, primary_key=True),
                          sql.Column("name", recipe("Recipe: a column in SQLAlchemy")["Sealed"](v)))
        today, yesterday = tmp_path / "people.db", tmp_path / "yesterday.db"
        engine = sql.create_engine(f"sqlite:///{today}")
        table.metadata.create_all(engine)
        with engine.begin() as c:
            c.execute(table.insert(), [{"id": i, "name": (i, f"Person {i}")} for i in range(people)])
        shutil.copy(today, yesterday)
        with engine.begin() as c:
            for i in erased:
                v.erase(i)
                c.execute(table.delete().where(table.c.id == i))
        v.commit()
        assert b"Person 16" not in today.read_bytes()
        with sql.create_engine(f"sqlite:///{yesterday}").connect() as c:
            rows = c.execute(sql.select(table.c.id, table.c.name)).fetchall()
        assert len(rows) == people
        assert all(name == (None if i in erased else f"Person {i}") for i, name in rows)


def test_a_deleted_account_has_no_password(path):
    pytest.importorskip("argon2")
    names = recipe("Recipe: passwords")
    names["hasher"].__init__(time_cost=1, memory_cost=64)  # little work, for a test
    with pprf.Vault.create(path, depth=20) as v:
        stored = [names["register"](v, account, "correct horse") for account in (1, 2)]
        assert stored[0].startswith("$argon2id$")
        assert names["login"](v, 1, stored[0], "correct horse") and not names["login"](v, 1, stored[0], "battery")
        assert not names["login"](v, 2, stored[0], "correct horse")
        names["delete"](v, 1)
        with pytest.raises(pprf.PuncturedError):
            names["login"](v, 1, stored[0], "correct horse")
        assert names["login"](v, 2, stored[1], "correct horse")


def test_dense_ids_cost_few_nodes_and_hashed_ones_many(tmp_path):
    cost = {}
    for name, depth in (("dense", 17), ("hashed", 63)):
        with pprf.Vault.create(tmp_path / name, depth=depth, suite="aes-128") as v:
            for i in random.Random(1).sample(range(100000), 10000):
                v.erase(i if name == "dense" else int.from_bytes(hashlib.sha256(b"%d" % i).digest()[:8], "big") >> 1)
            cost[name] = v.info()["nodes"] / 10000
    page = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "vault.md").read_text(encoding="utf-8")
    for name, depth in (("dense", 17), ("hashed", 63)):
        said = float(re.search(rf"\| {name}, depth {depth} \| (\S+) \|", page)[1])
        assert abs(cost[name] / said - 1) < .05
