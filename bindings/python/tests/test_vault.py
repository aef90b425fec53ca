# SPDX-License-Identifier: Apache-2.0
"""Tests of pprf.Vault with the library that PPRF_VAULT_LIBRARY names."""
import os

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


def test_wrong_use_raises(path):
    with pytest.raises(pprf.SuiteError):
        pprf.Vault.create(path, suite="md5")
    with pytest.raises(ValueError):
        pprf.Vault.create(path, depth=64)
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
    with pprf.Vault(path, command, mirror=str(tmp_path.parent)) as v, pytest.raises(pprf.PuncturedError):
        v.eval(1)
    value.unlink()
    with pytest.raises(pprf.VaultError) as caught:
        pprf.Vault(path, command)
    assert caught.value.code == pprf.Vault.CELL
