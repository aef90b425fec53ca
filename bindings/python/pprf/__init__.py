# SPDX-License-Identifier: Apache-2.0
"""A puncturable pseudorandom function (PPRF): libpprf, embedded.

A key of depth d is a function from the leaves 0 .. 2**d - 1 to values of 16 bytes, or 32 in the suite
"mls-sha256".  Puncturing a leaf removes its value from the key for good: every other leaf keeps its value, and
nobody who reads the key afterwards can compute the lost one::

    with pprf.Key(depth=20) as key:
        token = key.eval(42)
        key.puncture(42)      # from now on key.eval(42) raises pprf.PuncturedError

An operation that raises leaves the key unchanged.  Threads may share a key: readers run side by side, without
the interpreter's lock.  A key belongs to the process that made it: in a child of fork it raises ForkedError.

The key itself is kept out of Python's memory and wiped.  Values are Python objects, which are not wiped: to wipe
a value, write it into a bytearray (eval_into, eval_many with out) and overwrite that.
"""
from __future__ import annotations

import operator
import sys
from array import array
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterable, Optional, Union, overload

from pprf._native import ffi as _ffi
from pprf._native import lib as _lib

if TYPE_CHECKING:
    if sys.version_info >= (3, 12):
        from collections.abc import Buffer
    else:
        Buffer = Union[bytes, bytearray, memoryview, "array[Any]"]
    import numpy
    import numpy.typing

__all__ = ["Key", "Error", "PuncturedError", "LeafError", "FormatError", "SuiteError", "SaltError", "ForkedError",
           "CryptoError", "ClosedError", "SEED_BYTES", "SALT_BYTES", "DEPTH_MIN", "DEPTH_MAX", "SUITES", "STORES",
           "__version__", "prg_name", "aes_name", "sha256_name", "prg_select", "Vault", "VaultError"]

SEED_BYTES: int = _lib.PPRF_SEED_BYTES
"""Bytes in a seed and in a value, in all suites but "mls-sha256"."""
SALT_BYTES: int = _lib.PPRF_SALT_BYTES
"""Bytes in a salt."""
DEPTH_MIN: int = _lib.PPRF_DEPTH_MIN
"""The least depth of a key."""
DEPTH_MAX: int = _lib.PPRF_DEPTH_MAX
"""The greatest depth of a key."""
__version__: str = _ffi.string(_lib.pprf_version()).decode()


def _suites() -> dict[str, int]:
    """The library's suites by name; their numbers are 1, 2, ..."""
    numbers: dict[str, int] = {}
    while True:
        name = _lib.pprf_suite_name(len(numbers) + 1)
        if name == _ffi.NULL:
            return numbers
        numbers[_ffi.string(name).decode()] = len(numbers) + 1


_SUITE = _suites()
_STORE: dict[str, int] = {"slots": _lib.PPRF_STORE_SLOTS, "packed": _lib.PPRF_STORE_PACKED}
SUITES: tuple[str, ...] = tuple(_SUITE)
"""The PRGs that derive child seeds: "sha3-256", "sha3-256-salted", "aes-128", "mls-sha256" (docs/suites.md)."""
STORES: tuple[str, ...] = tuple(_STORE)
"""Where a key keeps its seeds: "slots", fastest where punctures are dense; "packed", small where they are few."""


class Error(Exception):
    """An operation failed.  The key is unchanged."""


class PuncturedError(Error, LookupError):
    """The leaf was punctured.  `leaf` is the leaf, or the range if all its leaves were punctured."""

    def __init__(self, leaf: Union[int, range]) -> None:
        self.leaf = leaf
        what = f"leaf {leaf} was" if isinstance(leaf, int) else f"all leaves of {leaf} were"
        super().__init__(f"{what} punctured before")

    def __reduce__(self) -> Any:  # the default would pass the message as the leaf
        return type(self), (self.leaf,)


class LeafError(Error, IndexError):
    """The leaf, `leaf`, is not in the tree."""

    def __init__(self, leaf: Any, depth: int) -> None:
        self.leaf, self._depth = leaf, depth
        super().__init__(f"leaf {leaf} is not in 0 .. {(1 << depth) - 1}, the leaves of depth {depth}")

    def __reduce__(self) -> Any:
        return type(self), (self.leaf, self._depth)


class FormatError(Error, ValueError):
    """The bytes are not a key written by export."""


class SuiteError(Error, ValueError):
    """A suite unknown to this library, at set-up or in bytes exported by another version."""


class SaltError(Error, ValueError):
    """A salt whose length is not SALT_BYTES, or for a suite without a salt."""


class ForkedError(Error, RuntimeError):
    """The key belongs to the process that made it, and this process is a child of that one."""


class CryptoError(Error, RuntimeError):
    """The digest or the random generator failed."""


class ClosedError(Error, ValueError):
    """The key is closed."""


def _check(err: int, leaf: Any = None, depth: int = 0, sizes: tuple[int, int] = (0, 0)) -> None:
    if err == _lib.PPRF_OK:
        return
    text = _ffi.string(_lib.pprf_strerror(err)).decode()
    if err == _lib.PPRF_ERR_PUNCTURED:
        raise PuncturedError(leaf)
    if err == _lib.PPRF_ERR_RANGE:
        raise LeafError(leaf, depth)
    if err == _lib.PPRF_ERR_NOMEM:
        raise MemoryError(text)
    if err == _lib.PPRF_ERR_FORMAT:
        raise FormatError(text)
    if err == _lib.PPRF_ERR_SUITE:
        raise SuiteError(text)
    if err == _lib.PPRF_ERR_FORKED:
        raise ForkedError(text)
    if err == _lib.PPRF_ERR_NULL:
        raise ClosedError("the key is closed")
    if err == _lib.PPRF_ERR_BUFFER:
        raise ValueError("out has %d bytes, not %d" % sizes)
    raise CryptoError(text)


def _is_numpy(value: object) -> bool:
    return type(value).__module__ == "numpy"


def _store(store: Optional[str]) -> int:
    """The number of a store of STORES; 0 for None."""
    if store is None:
        return 0
    if store not in _STORE:
        raise ValueError(f"store {store!r} is not one of {', '.join(STORES)}")
    return _STORE[store]


class Key:
    """A punctured key.

    Args:
        depth: tree levels below the root, 1 .. 63: the key has 2**depth leaves.
        seed: the root's 16 bytes, 32 for "mls-sha256"; None: random.
        suite: one of SUITES, the PRG that derives child seeds; None: "sha3-256-salted" for a random seed,
            "sha3-256" for a given one.
        salt: 16 public bytes, for a suite that has a salt; None: random.  Use each salt for one key only.
        store: one of STORES, where the seeds are kept; None: packed.  The values are the same; "slots" goes
            up to depth 32.
    """

    __slots__ = ("_handle", "_depth", "_suite", "_bytes")

    def __init__(self, *, depth: int, seed: Optional[Buffer] = None, suite: Optional[str] = None,
                 salt: Optional[Buffer] = None, store: Optional[str] = None) -> None:
        depth = operator.index(depth)
        if not DEPTH_MIN <= depth <= DEPTH_MAX:
            raise ValueError(f"depth {depth} is not in {DEPTH_MIN} .. {DEPTH_MAX}")
        if suite is not None and suite not in _SUITE:
            raise SuiteError(f"suite {suite!r} is not one of {', '.join(SUITES)}")
        number = _store(store)
        if store == "slots" and depth > _lib.PPRF_SLOTS_DEPTH_MAX:
            raise ValueError(f"store 'slots': depth {depth} is not in {DEPTH_MIN} .. {_lib.PPRF_SLOTS_DEPTH_MAX}")
        root = drawn = _ffi.NULL
        if seed is not None:
            root = _ffi.from_buffer("uint8_t[]", seed)
            size = _lib.suite_bytes(0 if suite is None else _SUITE[suite])
            if len(root) != size:
                raise ValueError(f"a seed has {size} bytes, not {len(root)}")
        if salt is not None:
            drawn = _ffi.from_buffer("uint8_t[]", salt)
            if len(drawn) != SALT_BYTES:
                raise SaltError(f"a salt has {SALT_BYTES} bytes, not {len(drawn)}")
        err = _ffi.new("int *")
        handle = _lib.handle_new(depth, root, 0 if suite is None else _SUITE[suite], drawn,
                                 number, err)
        if err[0] == _lib.PPRF_ERR_RANGE:  # its other causes are checked above
            raise SaltError(f"the suite {suite or 'sha3-256'} has no salt")
        self._own(handle, err[0])

    def _own(self, handle: Any, err: int) -> None:
        _check(err)
        self._handle = _ffi.gc(handle, _lib.handle_free)
        self._depth: int = _lib.handle_depth(handle)
        self._suite: str = SUITES[_lib.handle_suite(handle) - 1]
        self._bytes: int = _lib.handle_value_bytes(handle)

    @classmethod
    def from_export(cls, data: Buffer, *, store: Optional[str] = None) -> Key:
        """The key in bytes that export wrote; store as for Key, because the bytes do not say which it had.  Any other
        bytes raise FormatError, and those of a suite unknown to this library SuiteError."""
        key = cls.__new__(cls)
        err = _ffi.new("int *")
        view = _ffi.from_buffer("uint8_t[]", data)
        handle = _lib.handle_import(view, len(view), _store(store), err)
        if err[0] == _lib.PPRF_ERR_RANGE:
            raise ValueError(f"store 'slots': the key's depth is not in {DEPTH_MIN} .. {_lib.PPRF_SLOTS_DEPTH_MAX}")
        key._own(handle, err[0])
        return key

    # ---- one leaf

    def _leaf(self, leaf: Any) -> int:
        number = operator.index(leaf)
        if not 0 <= number < 1 << self._depth:
            raise LeafError(number, self._depth)
        return number

    def eval(self, leaf: int) -> bytes:
        """The value of a leaf, value_bytes bytes; PuncturedError if it was punctured."""
        out = bytearray(self._bytes)
        self.eval_into(leaf, out)
        value = bytes(out)
        _wipe(out)
        return value

    def eval_into(self, leaf: int, out: Buffer) -> None:
        """Write the value of a leaf into value_bytes bytes that the caller can wipe; on an error they are zeroed."""
        self._into(_lib.handle_eval, leaf, out)

    def eval_puncture(self, leaf: int) -> bytes:
        """The value of a leaf, which is punctured in the same step: of several threads only one gets the value."""
        out = bytearray(self._bytes)
        self.eval_puncture_into(leaf, out)
        value = bytes(out)
        _wipe(out)
        return value

    def eval_puncture_into(self, leaf: int, out: Buffer) -> None:
        """eval_puncture into value_bytes bytes that the caller can wipe; on an error they are zeroed."""
        self._into(_lib.handle_eval_punct, leaf, out)

    def _into(self, call: Any, leaf: int, out: Buffer) -> None:
        view = _ffi.from_buffer("uint8_t[]", out, require_writable=True)
        _lib.wipe(view, len(view))
        leaf = self._leaf(leaf)
        _check(call(self._handle, leaf, view, len(view)), leaf, self._depth, (len(view), self._bytes))

    def puncture(self, leaf: Union[int, range]) -> None:
        """Remove the value of a leaf, or of every leaf of a range of step 1, however long.

        PuncturedError: the leaf, or every leaf of the range, was punctured before.  An empty range changes
        nothing.
        """
        if isinstance(leaf, range):
            if leaf.step != 1:
                raise ValueError(f"{leaf}: a range of step 1; puncture_many takes the others")
            if leaf:  # len() would fail if the range is too long
                first, last = self._leaf(leaf.start), self._leaf(leaf.stop - 1)
                _check(_lib.handle_punct_range(self._handle, first, last), leaf, self._depth)
            return
        leaf = self._leaf(leaf)
        _check(_lib.handle_punct(self._handle, leaf), leaf, self._depth)

    def delegate(self, leaf: Union[int, range]) -> Key:
        """A new key that gives the values of a leaf, or of a range of step 1, that this key gives, and no others.

        Later punctures of one key do not reach the other.  PuncturedError: nothing is left there.
        """
        if not isinstance(leaf, range):
            leaf = operator.index(leaf)
        leaves = leaf if isinstance(leaf, range) else range(leaf, leaf + 1)
        if leaves.step != 1 or not leaves:
            raise ValueError(f"{leaf}: a range of step 1 that is not empty")
        first, last = self._leaf(leaves.start), self._leaf(leaves.stop - 1)
        err = _ffi.new("int *")
        part = _lib.handle_delegate(self._handle, first, last, err)
        _check(err[0], leaf, self._depth)
        key = type(self).__new__(type(self))
        key._own(part, err[0])
        return key

    # ---- many leaves

    def _many(self, leaves: Any) -> Any:
        """Leaves as a contiguous array of uint64_t, all of them in the tree."""
        if _is_numpy(leaves) and leaves.dtype.kind in "ui":
            import numpy
            if leaves.size > 0 and (int(leaves.min()) < 0 or int(leaves.max()) >> self._depth):
                wrong = leaves[(leaves < 0) | (leaves > (1 << self._depth) - 1)]
                raise LeafError(int(wrong[0]), self._depth)
            return _ffi.from_buffer("uint64_t[]", numpy.ascontiguousarray(leaves, dtype=numpy.uint64))
        if isinstance(leaves, (array, memoryview, bytes, bytearray)):
            view = memoryview(leaves)
            if view.format not in ("Q", "L", "@Q", "@L", "=Q") or view.itemsize != 8 or not view.contiguous:
                raise TypeError(f"leaves: contiguous 64-bit unsigned integers, not format {view.format!r}")
            numbers = _ffi.from_buffer("uint64_t[]", leaves)
        else:
            numbers = _ffi.from_buffer("uint64_t[]", array("Q", [self._leaf(leaf) for leaf in leaves]))
        return numbers

    def _check_many(self, err: int, leaves: Any, sizes: tuple[int, int] = (0, 0)) -> None:
        if err == _lib.PPRF_ERR_RANGE:
            for leaf in leaves:
                self._leaf(leaf)
        _check(err, None, self._depth, sizes)

    @overload
    def eval_many(  # type: ignore[misc, overload-overlap]
        self, leaves: numpy.typing.NDArray[Any], *, missing: str = "raise"
    ) -> numpy.typing.NDArray[numpy.uint8]: ...

    @overload
    def eval_many(self, leaves: Union[Iterable[int], Buffer], *, missing: str = "raise") -> bytearray: ...

    @overload
    def eval_many(self, leaves: Any, *, out: Buffer, missing: str = "raise") -> None: ...

    def eval_many(self, leaves: Any, *, out: Any = None, missing: str = "raise") -> Any:
        """The values of many leaves, in any order and with repeats: those of eval, but computed in parallel lanes,
        with shared work (ascending order shares most), and without the interpreter's lock.

        leaves   integers, a buffer of 64-bit unsigned integers (array('Q'), memoryview), or a numpy array
                 of integers.
        out      a writable buffer of value_bytes bytes for each leaf, which is zeroed on an error; None: a new
                 bytearray is returned, for a numpy array of shape s a numpy array of shape s + (value_bytes,) of
                 uint8.
        missing  "raise": PuncturedError names the first leaf that was punctured, and out is zeroed;
                 "zero": its value is zero bytes.
        """
        if out is None:
            return self._eval_many(leaves, out, missing)
        whole = _ffi.from_buffer("uint8_t[]", out, require_writable=True)
        try:
            return self._eval_many(leaves, out, missing)
        except BaseException:
            _lib.wipe(whole, len(whole))
            raise

    def _eval_many(self, leaves: Any, out: Any, missing: str) -> Any:
        if missing not in ("raise", "zero"):
            raise ValueError(f"missing is 'raise' or 'zero', not {missing!r}")
        numbers = self._many(leaves)
        n = len(numbers)
        values = out
        if out is None:
            if _is_numpy(leaves):
                import numpy
                values = numpy.zeros(leaves.shape + (self._bytes,), dtype=numpy.uint8)
            else:
                values = bytearray(n * self._bytes)
        target = _ffi.from_buffer("uint8_t[]", values, require_writable=True)
        size, result = len(target), _ffi.new("int[]", n)
        err = _lib.handle_eval_batch(self._handle, numbers, n, target, size, result)
        self._check_many(err, numbers, (size, n * self._bytes))
        if missing == "raise":
            first = _lib.first_missing(result, n)
            if first < n:
                _lib.wipe(target, size)
                raise PuncturedError(numbers[first])
        return None if out is not None else values

    def puncture_many(self, leaves: Any) -> list[bool]:
        """Remove the values of many leaves, all or none.  Returns for each whether this call did it; False: it was
        punctured before, or occurs earlier among them."""
        numbers = self._many(leaves)
        result = _ffi.new("int[]", len(numbers))
        self._check_many(_lib.handle_punct_batch(self._handle, numbers, len(numbers), result), numbers)
        return [err == _lib.PPRF_OK for err in result]

    # ---- the key as a whole

    def export(self) -> bytearray:
        """The key's canonical encoding: equal keys give equal bytes.  As secret as the key."""
        size = _ffi.new("size_t *", 0)
        data = bytearray()
        _check(_lib.handle_export(self._handle, _ffi.NULL, size))
        while len(data) < size[0]:  # another thread may have punctured in between
            _wipe(data)
            data = bytearray(size[0])
            err = _lib.handle_export(self._handle, _ffi.from_buffer("uint8_t[]", data), size)
            if err not in (_lib.PPRF_OK, _lib.PPRF_ERR_BUFFER):
                _check(err)
        if len(data) == size[0]:
            return data
        whole = data[:size[0]]
        _wipe(data)
        return whole

    def prefault(self) -> None:
        """Pre-fault the memory of a key with pair slots: no later puncture waits for a page."""
        _check(_lib.handle_prefault(self._handle))

    def _numbers(self) -> tuple[int, int, bool]:
        nodes, memory, locked = _ffi.new("uint64_t *"), _ffi.new("uint64_t *"), _ffi.new("int *")
        _check(_lib.handle_numbers(self._handle, nodes, memory, locked))
        return nodes[0], memory[0], bool(locked[0])

    @property
    def depth(self) -> int:
        """Tree levels below the root."""
        return self._depth

    @property
    def suite(self) -> str:
        """How a node's seed yields its children's: one of SUITES."""
        return self._suite

    @property
    def value_bytes(self) -> int:
        """Bytes of each leaf's value, and of a seed: 16, or 32 in "mls-sha256"."""
        return self._bytes

    @property
    def nodes(self) -> int:
        """Stored seeds."""
        return self._numbers()[0]

    @property
    def memory_bytes(self) -> int:
        """Bytes of memory that the key actually holds."""
        return self._numbers()[1]

    @property
    def memory_locked(self) -> bool:
        """Whether the seeds are kept out of swap."""
        return self._numbers()[2]

    def close(self) -> None:
        """Wipe the key and release its memory; later calls raise ClosedError."""
        try:
            _lib.handle_close(self._handle)
        except ClosedError:
            pass  # __init__ was not called, or failed

    if not TYPE_CHECKING:  # a type checker still reports unknown attributes
        def __getattr__(self, name: str) -> Any:
            """Called for a slot without a value: __init__ was not called, or failed."""
            if name in Key.__slots__:
                raise ClosedError("the key was never made")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __enter__(self) -> Key:
        self._numbers()  # ClosedError, ForkedError
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            return f"<pprf.Key depth={self._depth} suite={self._suite} nodes={self.nodes}>"
        except Error as error:
            return f"<pprf.Key: {error}>"

    def __reduce__(self) -> Any:
        raise TypeError("a key cannot be copied: the copy would keep what the other punctures; see export")


def _wipe(buffer: bytearray) -> None:
    _lib.wipe(_ffi.from_buffer("uint8_t[]", buffer), len(buffer))


def prg_name() -> str:
    """The version of SHA3-256 in use; versions differ only in speed."""
    name: str = _ffi.string(_lib.pprf_prg_name()).decode()
    return name


def aes_name() -> str:
    """The version of AES-128 in use."""
    name: str = _ffi.string(_lib.pprf_aes_name()).decode()
    return name


def sha256_name() -> str:
    """The version of SHA-256 in use."""
    name: str = _ffi.string(_lib.pprf_sha256_name()).decode()
    return name


def prg_select(name: str) -> None:
    """Choose a version for the process: "builtin", "scalar", "avx2" or "avx512" of SHA3-256; "aes-builtin",
    "aes-bitsliced", "aes-ni", "aes-vaes" or "aes-armv8" of AES-128; "sha256-builtin", "sha256-scalar",
    "sha256-ni" or "sha256-armv8" of SHA-256.  ValueError if the processor cannot run it."""
    err = _lib.PPRF_ERR_RANGE if "\0" in name else _lib.pprf_prg_select(name.encode())
    if err == _lib.PPRF_ERR_RANGE:
        raise ValueError(f"this processor cannot run a PRG called {name!r}")
    _check(err)


from pprf.vault import Vault, VaultError  # noqa: E402  (it uses the names above)
