# SPDX-License-Identifier: Apache-2.0
"""A vault: a key on disk from which single secrets are erased for good (pprf_vault.h).

The vault's library, libpprf_vault.so.0, is not part of this package: `make install` or the Debian package
libpprf-vault0 puts it where the system finds it, or the environment's PPRF_VAULT_LIBRARY names it.
"""
from __future__ import annotations

import contextlib
import operator
import os
import threading
import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, Union

from cffi import FFI

from pprf import (_SUITE, DEPTH_MAX, DEPTH_MIN, ClosedError, CryptoError, Error, ForkedError, LeafError,
                  PuncturedError, SuiteError)

if TYPE_CHECKING:
    from pprf import Buffer

_ffi = FFI()
_ffi.cdef("""
typedef struct pprf_vault pprf_vault;
struct pprf_vault_cell { size_t size; void *arg, *read, *next, *write, *close; const char *warning; };
struct pprf_vault_options { size_t size; const char *mirror; size_t cache_bytes; uint64_t count; unsigned seconds; };
struct pprf_options { size_t size; const uint8_t *seed; unsigned depth, flags, store, suite; const uint8_t *salt; };
struct pprf_vault_info {
  size_t size; unsigned depth, suite; size_t value_bytes;
  uint64_t nodes, erased, final, commit, rewrites, disk_bytes; uint8_t id[16]; const char *warning, *notice; };
int pprf_vault_cell(struct pprf_vault_cell *, const char *);
int pprf_vault_create(pprf_vault **, const char *, struct pprf_vault_cell *, struct pprf_options *,
                      struct pprf_vault_options *);
int pprf_vault_open(pprf_vault **, const char *, struct pprf_vault_cell *, struct pprf_vault_options *);
void pprf_vault_close(pprf_vault *);
int pprf_vault_eval(pprf_vault *, uint64_t, uint8_t *);
int pprf_vault_erase_range(pprf_vault *, uint64_t, uint64_t, uint64_t *);
int pprf_vault_commit(pprf_vault *, uint64_t *);
int pprf_vault_verify(pprf_vault *, uint64_t *);
int pprf_vault_backup(pprf_vault *, const char *);
int pprf_vault_info(pprf_vault *, struct pprf_vault_info *);
int pprf_vault_seal(pprf_vault *, uint64_t, const uint8_t *, size_t, uint8_t *);
int pprf_vault_unseal(pprf_vault *, uint64_t, const uint8_t *, size_t, uint8_t *);
const char *pprf_vault_error(void);
""")
_RECORD_BYTES, _PUNCTURED, _RANGE, _NOMEM, _CRYPTO, _NULL, _FORKED, _SUITE_UNKNOWN = 28, 1, 2, 3, 4, 7, 8, 9


class VaultError(Error):
    """The vault, its store or its cell refused; the text names the page, file or cell.  `code` is the result of
    pprf_vault.h, for instance Vault.UNKNOWN."""

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        super().__init__(text)

    def __reduce__(self) -> Any:
        return type(self), (self.code, str(self))


def _text(name: Union[str, os.PathLike[str]]) -> bytes:
    """A C string."""
    text = os.fsencode(name)
    if b"\0" in text:
        raise ValueError(f"{name!r}: a zero byte")
    return text


class Vault:
    """A vault that is open.  Threads may share it; after fork only the parent can use it.

    Args:
        path: the store's file.
        cell: "file:PATH", or a command that is run with read or write; None: a file beside the store.
        mirror: a directory in which each commit writes a copy of the store; "": the store had one and has none any
            more.  A warning says that it was made anew, or that there is one which is not written.
        cache_bytes: memory for pages; 0: 8 MB.
        count, seconds: an erasure commits if it is the count-th without a commit, or if the oldest is so old; 0: never.
    """

    BUSY, STORE, DAMAGED, CELL, ROLLBACK, UNKNOWN, CLOSED, EXISTS, RECORD = range(32, 41)

    def __init__(self, path: Union[str, os.PathLike[str]], cell: Optional[str] = None, *, mirror: Optional[str] = None,
                 cache_bytes: int = 0, count: int = 0, seconds: int = 0, _key: Any = None) -> None:
        self._handle, self._pid, self._lock = _ffi.NULL, os.getpid(), threading.RLock()
        self._lib: Any = _ffi.dlopen(os.environ.get("PPRF_VAULT_LIBRARY", "libpprf_vault.so.0"))
        name, its = _text(path), _ffi.new("struct pprf_vault_cell *")
        folder = _ffi.NULL if mirror is None else _ffi.new("char[]", _text(mirror))
        try:
            options = _ffi.new("struct pprf_vault_options *", [_ffi.sizeof("struct pprf_vault_options"), folder,
                                                               cache_bytes, count, seconds])
        except OverflowError as e:
            raise ValueError(f"cache_bytes, count or seconds: {e}") from None
        self._check(self._lib.pprf_vault_cell(its, b"file:" + name + b".cell" if cell is None else _text(cell)))
        made = _ffi.new("pprf_vault **")
        self._check(self._lib.pprf_vault_open(made, name, its, options) if _key is None
                    else self._lib.pprf_vault_create(made, name, its, _key, options))
        self._handle = _ffi.gc(made[0], self._lib.pprf_vault_close)
        info = self.info()
        self.depth: int = info["depth"]
        self._bytes: int = info["value_bytes"]
        if info["notice"] is not None and _key is None:
            warnings.warn(info["notice"], stacklevel=2)

    @classmethod
    def create(cls, path: Union[str, os.PathLike[str]], cell: Optional[str] = None, *, depth: int = 32,
               suite: str = "sha3-256-salted", **options: Any) -> Vault:
        """Make a vault with a random key and open it; options as for Vault."""
        if suite not in _SUITE:
            raise SuiteError(f"suite {suite!r} is not one of {', '.join(_SUITE)}")
        if not DEPTH_MIN <= operator.index(depth) <= DEPTH_MAX:
            raise ValueError(f"depth {depth} is not in {DEPTH_MIN} .. {DEPTH_MAX}")
        key = _ffi.new("struct pprf_options *", {"size": _ffi.sizeof("struct pprf_options"), "depth": depth,
                                                 "suite": _SUITE[suite]})
        return cls(path, cell, _key=key, **options)

    def _check(self, err: int, leaf: Any = None) -> None:
        if err == 0:
            return
        text = _ffi.string(self._lib.pprf_vault_error()).decode(errors="replace")
        if err == _PUNCTURED:
            raise PuncturedError(leaf if isinstance(leaf, range) else operator.index(leaf))
        if err == _RANGE and leaf is not None:
            raise LeafError(leaf, self.depth)
        if err == _NOMEM:
            raise MemoryError(text)
        if err >= Vault.BUSY:
            raise VaultError(err, text)
        kind = {_RANGE: ValueError, _CRYPTO: CryptoError, _NULL: ClosedError, _FORKED: ForkedError,
                _SUITE_UNKNOWN: SuiteError}
        raise kind.get(err, Error)(text)

    def _turn(self) -> contextlib.AbstractContextManager[Any]:
        """Calls take turns, so that close waits for them; in a child of fork the lock may be held for ever."""
        if os.getpid() == self._pid:
            return self._lock
        return contextlib.nullcontext()

    def _call(self, name: str, *args: Any, leaf: Any = None) -> None:
        with self._turn():
            self._check(getattr(self._lib, "pprf_vault_" + name)(self._handle, *args), leaf)

    def _leaf(self, leaf: Any) -> int:
        number = operator.index(leaf)
        if not 0 <= number < 1 << self.depth:
            raise LeafError(number, self.depth)
        return number

    def eval(self, id: int) -> bytes:
        """The value of a leaf; PuncturedError if it is erased."""
        out = _ffi.new("uint8_t[]", 32)
        self._call("eval", self._leaf(id), out, leaf=id)
        value = bytes(_ffi.buffer(out, self._bytes))
        _ffi.memmove(out, bytes(32), 32)
        return value

    def seal(self, id: int, data: Buffer) -> bytes:
        """Encrypt a record under a leaf: AES-256-GCM with a random nonce, which comes first; the id is bound to it."""
        text = _ffi.from_buffer("uint8_t[]", data)
        out = bytearray(len(text) + _RECORD_BYTES)
        self._call("seal", self._leaf(id), text, len(text), _ffi.from_buffer("uint8_t[]", out), leaf=id)
        return bytes(out)

    def open(self, id: int, data: Buffer) -> bytes:
        """Decrypt what seal returned for this id; PuncturedError if it is erased, VaultError if it was changed."""
        record = _ffi.from_buffer("uint8_t[]", data)
        out = bytearray(max(0, len(record) - _RECORD_BYTES))
        self._call("unseal", self._leaf(id), record, len(record), _ffi.from_buffer("uint8_t[]", out), leaf=id)
        return bytes(out)

    def erase(self, id: Union[int, range]) -> int:
        """Erase a leaf, or a range of step 1.  It is refused from now on; commit makes that final.  Returns the
        erasure's number, to compare with what commit returns."""
        ids = id if isinstance(id, range) else range(operator.index(id), operator.index(id) + 1)
        if ids.step != 1 or not ids:
            raise ValueError(f"{id}: a range of step 1 that is not empty")
        number = _ffi.new("uint64_t *")
        self._call("erase_range", self._leaf(ids[0]), self._leaf(ids[-1]), number, leaf=id)
        return int(number[0])

    def commit(self) -> int:
        """Make all erasures so far final, and return the number of the last one.  After VaultError with the code
        UNKNOWN, call it again; after CLOSED, open the vault again."""
        final = _ffi.new("uint64_t *")
        self._call("commit", final)
        return int(final[0])

    def verify(self) -> int:
        """Read and check every page on disk; the number of pages."""
        pages = _ffi.new("uint64_t *")
        self._call("verify", pages)
        return int(pages[0])

    def backup(self, path: Union[str, os.PathLike[str]]) -> None:
        """Copy the store, as of the last commit, to a new file."""
        self._call("backup", _text(path))

    def info(self) -> dict[str, Any]:
        """Public facts, by the names of struct pprf_vault_info."""
        info = _ffi.new("struct pprf_vault_info *", [_ffi.sizeof("struct pprf_vault_info")])
        with self._turn():  # the texts are the vault's until it is closed
            self._call("info", info)
            facts = {name: getattr(info, name) for name, _ in _ffi.typeof("struct pprf_vault_info").fields[1:]}
            texts = {name: None if facts[name] == _ffi.NULL else _ffi.string(facts[name]).decode(errors="replace")
                     for name in ("warning", "notice")}
        return {**facts, "id": bytes(info.id).hex(), **texts}

    def close(self) -> None:
        """Wipe and release it; erasures without a commit are lost, and later calls raise ClosedError."""
        with self._turn():
            if self._handle != _ffi.NULL:
                _ffi.release(self._handle)
                self._handle = _ffi.NULL

    def __enter__(self) -> Vault:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        """Commit, unless an exception passes, and close."""
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a vault cannot be copied")
