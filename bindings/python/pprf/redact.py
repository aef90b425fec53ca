# SPDX-License-Identifier: Apache-2.0
"""Documents that are signed once and can be redacted later: what is left still verifies (docs/redact.md).

A document is given as its bytes or as a file's path; a key is PEM, Ed25519 or ECDSA P-256.  Parts are counted from 0.
This module calls the installed library libpprf_redact, which is not in the package::

    signed = redact.sign("minutes.txt", private_pem)
    public = redact.redact(signed, parts=[3, range(7, 10)])    # needs no key
    for piece in redact.show(public, public_pem):              # raises redact.Error if it does not verify
        print(piece.part, piece.data)                          # data is None for hidden parts
"""
from __future__ import annotations

import contextlib
import ctypes.util
import operator
import os
import re
from typing import Any, Iterable, Iterator, NamedTuple, Optional, Sequence, Union

from cffi import FFI

__all__ = ["Error", "Piece", "sign", "redact", "verify", "show"]

Document = Union[str, "os.PathLike[str]", bytes]
Parts = Iterable[Union[int, range]]

_ffi = FFI()
_ffi.cdef("""
typedef ... EVP_PKEY; typedef ... BIO; typedef ... pprf_redact;
typedef int64_t pprf_redact_read(void *arg, uint64_t offset, uint8_t *buf, size_t len);
typedef int pprf_redact_write(void *arg, const uint8_t *bytes, size_t len);
int64_t pprf_redact_read_fd(void *arg, uint64_t offset, uint8_t *buf, size_t len);
int pprf_redact_write_fd(void *arg, const uint8_t *bytes, size_t len);
struct pprf_redact_run { uint64_t first; uint64_t last; };
struct pprf_redact_options { size_t size; int kind; const uint8_t *context; size_t context_len;
  const struct pprf_redact_run *required; size_t required_count; const char *const *pointers; size_t pointer_count;
  const char *const *required_pointers; size_t required_pointer_count; };
struct pprf_redact_piece { uint64_t part; uint64_t hidden; uint64_t offset; uint64_t len; const uint8_t *bytes;
  size_t bytes_len; };
typedef int pprf_redact_each(void *arg, const struct pprf_redact_piece *piece);
const char *pprf_redact_strerror(int err);
int pprf_redact_sign(pprf_redact_read *read, void *in, EVP_PKEY *key, const struct pprf_redact_options *options,
  pprf_redact_write *write, void *out, uint64_t *where);
int pprf_redact_open(pprf_redact **doc, pprf_redact_read *read, void *in);
int pprf_redact_verify(pprf_redact *doc, EVP_PKEY *key, const uint8_t *context, size_t context_len);
int pprf_redact_parts(pprf_redact *doc, pprf_redact_each *each, void *arg);
int pprf_redact_hide(pprf_redact *doc, const struct pprf_redact_run *runs, size_t count, pprf_redact_write *write,
  void *out);
struct pprf_redact_summary { int kind; const char *algorithm; uint64_t parts; const struct pprf_redact_run *hidden;
  size_t hidden_count; const struct pprf_redact_run *required; size_t required_count; const uint8_t *context;
  size_t context_len; uint64_t where; };
void pprf_redact_info(const pprf_redact *doc, struct pprf_redact_summary *info);
void pprf_redact_close(pprf_redact *doc);
BIO *BIO_new_mem_buf(const void *buf, int len);
int BIO_free(BIO *bio);
int ERR_set_mark(void);
int ERR_pop_to_mark(void);
EVP_PKEY *PEM_read_bio_PUBKEY(BIO *bio, void *x, void *cb, const void *password);
EVP_PKEY *PEM_read_bio_PrivateKey(BIO *bio, void *x, void *cb, const void *password);
void EVP_PKEY_free(EVP_PKEY *key);
""")
_lib: Any = _ffi.dlopen(os.environ.get("PPRF_REDACT_LIBRARY") or ctypes.util.find_library("pprf_redact")
                        or "libpprf_redact.so.0")  # OSError: it is not installed
_KINDS = {"lines": 1, "json": 2}
_NOWHERE: int = (1 << 64) - 1
_RUNS = 73  # PPRF_REDACT_ERR_RUNS


class Error(Exception):
    """The document is refused, or cannot be made.  `code` is the library's; `where` is the part that it is about (for
    text that is not JSON, the byte), or None."""

    def __init__(self, code: int, where: Optional[int] = None) -> None:
        self.code, self.where = code, None if where == _NOWHERE else where
        text: str = _ffi.string(_lib.pprf_redact_strerror(code)).decode()
        super().__init__(text if self.where is None else f"{text} ({self.where})")

    def __reduce__(self) -> Any:
        return type(self), (self.code, self.where)


class Piece(NamedTuple):
    """A shown part, or a run of `hidden` parts that begins at `part`.  `data` is a line or a value's JSON text, None
    for hidden ones; `pointer` (RFC 6901) says where the value stands in its JSON document."""

    part: int
    hidden: int
    data: Optional[bytes]
    pointer: Optional[str]


def _check(code: int, where: Optional[int] = None) -> None:
    if code != 0:
        raise Error(code, where)


@contextlib.contextmanager
def _input(document: Document) -> Iterator[Any]:
    """A document's descriptor, for pprf_redact_read_fd."""
    with (os.fdopen(os.memfd_create("document"), "w+b") if isinstance(document, bytes) else open(document, "rb")) as f:
        if isinstance(document, bytes):
            f.write(document)
            f.flush()
        yield _ffi.new("int *", f.fileno())


def _written(call: Any) -> bytes:
    """What a call writes through pprf_redact_write_fd."""
    with os.fdopen(os.memfd_create("document"), "w+b") as file:
        call(_lib.pprf_redact_write_fd, _ffi.new("int *", file.fileno()))
        file.seek(0)
        return file.read()


def _key(pem: bytes, read: Any) -> Any:
    bio = _ffi.gc(_lib.BIO_new_mem_buf(pem, len(pem)), _lib.BIO_free)
    _lib.ERR_set_mark()  # errors that stay in OpenSSL's queue fail the next read of a connection of this thread (ssl)
    key = read(bio, _ffi.NULL, _ffi.NULL, _ffi.from_buffer(b"\0"))  # an empty password: OpenSSL must not ask for one
    _lib.ERR_pop_to_mark()
    if key == _ffi.NULL:
        raise ValueError("not the expected key in PEM, without a password")
    return _ffi.gc(key, _lib.EVP_PKEY_free)


@contextlib.contextmanager
def _opened(document: Document) -> Iterator[Any]:
    with _input(document) as fd:
        doc = _ffi.new("pprf_redact **")
        _check(_lib.pprf_redact_open(doc, _lib.pprf_redact_read_fd, fd))
        try:
            yield doc[0]
        finally:
            _lib.pprf_redact_close(doc[0])


def _info(doc: Any) -> Any:
    info = _ffi.new("struct pprf_redact_summary *")
    _lib.pprf_redact_info(doc, info)
    return info


def _runs(parts: Parts) -> Any:
    runs = [part if isinstance(part, range) else range(operator.index(part), operator.index(part) + 1)
            for part in parts]
    if any(run.step != 1 for run in runs):
        raise ValueError("a range of parts has step 1")
    ends = [(run[0], run[-1]) for run in runs if run]
    if any(first < 0 or last > _NOWHERE for first, last in ends):
        raise Error(_RUNS)  # as for every number that no part has
    return _ffi.new("struct pprf_redact_run[]", ends)


def _verified(doc: Any, public: bytes, context: bytes) -> None:
    key = _key(public, _lib.PEM_read_bio_PUBKEY)
    _check(_lib.pprf_redact_verify(doc, key, context, len(context)), _info(doc).where)


def _pieces(doc: Any) -> list[Piece]:
    found: list[Piece] = []
    raised: list[BaseException] = []
    grown, kind = bytearray(), _info(doc).kind

    @_ffi.callback("pprf_redact_each", error=-1, onerror=lambda _kind, e, _trace: raised.append(e))  # type: ignore
    def each(_arg: Any, piece: Any) -> int:
        grown.extend(_ffi.buffer(piece.bytes, piece.bytes_len) if piece.hidden == 0 else b"")
        if piece.hidden:
            found.append(Piece(piece.part, piece.hidden, None, None))
        elif len(grown) == piece.len:
            at = 4 + int.from_bytes(grown[:4], "big") if kind == _KINDS["json"] else 0
            pointer = grown[4:at].decode(errors="surrogateescape") if at else None
            found.append(Piece(piece.part, 0, bytes(grown[at:]), pointer))
            grown.clear()
        return 0
    code = _lib.pprf_redact_parts(doc, each, _ffi.NULL)
    if raised:
        raise raised[0]
    _check(code, _info(doc).where)
    return found


def _pointers(texts: Sequence[str]) -> list[Any]:
    """C strings, of a sequence that is not one string: it would be taken for a pointer for each letter."""
    if isinstance(texts, str):
        raise TypeError(f"pointers: a sequence of strings, not the string {texts!r}")
    for text in texts:
        if "\0" in text:
            raise ValueError(f"pointer {text!r}: a zero byte")
    return [_ffi.new("char[]", text.encode()) for text in texts]


def sign(document: Document, key: bytes, *, kind: str = "lines", context: bytes = b"", required: Parts = (),
         pointers: Sequence[str] = (), required_pointers: Sequence[str] = ()) -> bytes:
    """Sign a text by lines, or a JSON document by values.

    Args:
        key: the private key.
        kind: "lines" or "json".
        context: what the document is for; a verifier must name it.
        required: parts that nobody can hide.
        pointers: JSON values that are one part each, and are not split.
        required_pointers: JSON values that nobody can hide, nor a part of them.
    """
    if kind not in _KINDS:
        raise ValueError(f"kind {kind!r} is not one of {', '.join(_KINDS)}")
    runs, ctx, where = _runs(required), _ffi.from_buffer("uint8_t[]", context), _ffi.new("uint64_t *", _NOWHERE)
    texts = _pointers(pointers), _pointers(required_pointers)
    coarse, kept = (_ffi.new("char *[]", some) for some in texts)
    size, private = _ffi.sizeof("struct pprf_redact_options"), _key(key, _lib.PEM_read_bio_PrivateKey)
    options = _ffi.new("struct pprf_redact_options *", [size, _KINDS[kind], ctx, len(ctx), runs, len(runs), coarse,
                                                        len(coarse), kept, len(kept)])
    with _input(document) as fd:
        return _written(lambda write, to: _check(_lib.pprf_redact_sign(
            _lib.pprf_redact_read_fd, fd, private, options, write, to, where), where[0]))


def redact(document: Document, *, parts: Parts = (), pointers: Sequence[str] = (),
           match: Optional[bytes] = None) -> bytes:
    """Hide parts of a signed document, redacted or not; this needs no key.

    Args:
        parts: numbers and ranges of parts.
        pointers: JSON values: all parts at and below each of them.
        match: a regular expression: every shown part in whose bytes it is found.

    LookupError: a pointer or match finds no shown part.
    """
    hide = list(parts)
    _pointers(pointers)
    with _opened(document) as doc:
        if pointers and _info(doc).kind != _KINDS["json"]:
            raise ValueError("pointers are for JSON documents: the parts of this one are lines")
        shown = [piece for piece in _pieces(doc) if not piece.hidden] if pointers or match is not None else []
        for pointer in pointers:
            below = [piece.part for piece in shown if f"{piece.pointer}/".startswith(f"{pointer}/")]
            if not below:
                raise LookupError(f"no shown part is at or below {pointer!r}")
            hide += below
        matching = [piece.part for piece in shown if match is not None and re.search(match, piece.data or b"")]
        if match is not None and not matching:
            raise LookupError(f"no shown part matches {match!r}")
        hide += matching
        runs = _runs(hide)
        return _written(lambda write, to: _check(_lib.pprf_redact_hide(doc, runs, len(runs), write, to),
                                                 _info(doc).where))


def verify(document: Document, public: bytes, context: bytes = b"") -> None:
    """Raise Error unless the owner of this public key signed these parts, at these places, for this context."""
    with _opened(document) as doc:
        _verified(doc, public, context)


def show(document: Document, public: bytes, context: bytes = b"") -> list[Piece]:
    """The shown parts and the hidden runs of a document, in order, after verifying it."""
    with _opened(document) as doc:
        _verified(doc, public, context)
        return _pieces(doc)
