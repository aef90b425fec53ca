# SPDX-License-Identifier: Apache-2.0
"""Tests of pprf.redact with the library libpprf_redact of the tree."""
import contextlib
import json
import os
import pickle
import re
import ssl
from pathlib import Path

import pytest

cryptography = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
LIBRARY = os.environ.get("PPRF_REDACT_LIBRARY")
if not LIBRARY or not os.path.exists(LIBRARY):
    pytest.skip("PPRF_REDACT_LIBRARY names no library: make test-python sets it", allow_module_level=True)

from cryptography.hazmat.primitives import serialization as pem  # noqa: E402

from pprf import redact  # noqa: E402

HEADER = Path(__file__).resolve().parents[3] / "redact" / "pprf_redact.h"
_KEY = cryptography.Ed25519PrivateKey.generate()
KEY = _KEY.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, pem.NoEncryption())
PUBLIC = _KEY.public_key().public_bytes(pem.Encoding.PEM, pem.PublicFormat.SubjectPublicKeyInfo)
LINES = [b"line %d\n" % i for i in range(10)]


def shown(document, **more):
    return {piece.part: piece.data for piece in redact.show(document, PUBLIC, **more) if not piece.hidden}


def test_lines_are_hidden_by_number_range_and_match(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"".join(LINES))
    signed = redact.sign(path, KEY, context=b"x", required=[9])
    for hide, hidden in (({"parts": [0]}, {0}), ({"parts": [range(3, 6), 1]}, {1, 3, 4, 5}), ({"parts": []}, set()),
                         ({"match": b"[27]"}, {2, 7}), ({"parts": [range(5, 5)]}, set())):
        path.write_bytes(redact.redact(signed, **hide))
        left = {i: line for i, line in enumerate(LINES) if i not in hidden}
        for document in (path, str(path), path.read_bytes()):
            redact.verify(document, PUBLIC, b"x")
            assert shown(document, context=b"x") == left
        again = redact.redact(path, parts=[8])
        assert shown(again, context=b"x") == {i: line for i, line in left.items() if i != 8}
    for wrong, hide in ((LookupError, {"match": b"absent"}), (LookupError, {"match": b"3", "parts": [0]}),
                        (ValueError, {"pointers": ["None"]}), (ValueError, {"pointers": [""]})):
        with pytest.raises(wrong):
            redact.redact(redact.redact(signed, parts=[3]), **hide)
    runs = redact.show(redact.redact(signed, parts=[range(2, 5)]), PUBLIC, b"x")
    assert runs[2] == redact.Piece(2, 3, None, None) and len(runs) == 8


def test_values_of_a_json_document_are_hidden_by_pointer():
    text = json.dumps({"b": {"c": [1, "\u20ac"]}, "a/": True, "d": {}, "bc": 0}).encode()
    signed = redact.sign(text, KEY, kind="json", pointers=["/b/c"], required_pointers=["/d"])
    whole = [(piece.pointer, json.loads(piece.data)) for piece in redact.show(signed, PUBLIC)]
    assert whole == [("/a~1", True), ("/b/c", [1, "\u20ac"]), ("/bc", 0), ("/d", {})]
    left = redact.show(redact.redact(signed, pointers=["/b"]), PUBLIC)
    assert [piece.pointer for piece in left] == ["/a~1", None, "/bc", "/d"]
    with pytest.raises(LookupError):
        redact.redact(signed, pointers=["/"])
    for names in ({"pointers": ["/d\0"]}, {"required_pointers": ["/d\0"]}):
        with pytest.raises(ValueError, match="zero byte"):
            redact.sign(text, KEY, kind="json", **names)
    with pytest.raises(redact.Error) as caught:
        redact.redact(signed, pointers=["/d"])
    assert caught.value.where == 3


def test_a_pointer_of_any_bytes_is_a_string(monkeypatch):
    signed = redact.sign(b'{"\xc3\xa9":1}', KEY, kind="json").replace(b"/\xc3\xa9", b"/\xff\xff")
    monkeypatch.setattr(redact, "_check", lambda *_: None)  # as if another program had signed these bytes
    with redact._opened(signed) as doc:
        assert [piece.pointer for piece in redact._pieces(doc)] == ["/\udcff\udcff"]


def test_what_interrupts_the_reading_of_parts_is_raised(monkeypatch, capfd):
    def fails(*_):
        raise KeyboardInterrupt
    signed = redact.sign(b"".join(LINES), KEY)
    monkeypatch.setattr(redact, "Piece", fails)
    with pytest.raises(KeyboardInterrupt):
        redact.show(signed, PUBLIC)
    assert capfd.readouterr() == ("", "")


def test_what_is_shown_is_verified():
    signed = redact.sign(b"".join(LINES), KEY)
    for document, context in ((signed.replace(b"line 3", b"line 4"), b""), (signed, b"x")):
        with pytest.raises(redact.Error) as caught:
            redact.show(document, PUBLIC, context)
        assert caught.value.code in (77, 80)  # PPRF_REDACT_ERR_ROOT, PPRF_REDACT_ERR_CONTEXT


def test_errors_name_their_reason():
    signed = redact.sign(b"".join(LINES), KEY, required=[4])
    for call, reason in ((lambda: redact.sign(b"", KEY), "empty"),
                         (lambda: redact.redact(signed, parts=[range(3, 5)]), "required"),
                         (lambda: redact.verify(signed, PUBLIC, b"y"), "context"),
                         (lambda: redact.verify(signed.replace(b"line 3", b"line 4"), PUBLIC), "signed"),
                         (lambda: redact.verify(signed[:-1], PUBLIC), "end"),
                         (lambda: redact.sign(b'{"a":1,"a":1}', KEY, kind="json"), "twice")):
        with pytest.raises(redact.Error, match=f"(?i){reason}") as caught:
            call()
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    for call in (lambda: redact.verify(signed, KEY), lambda: redact.sign(b"a", PUBLIC),
                 lambda: redact.redact(signed, parts=[range(0, 4, 2)])):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(FileNotFoundError):
        redact.verify("/no/such/file", PUBLIC)


def test_numbers_that_no_part_has_are_refused():
    class Three:
        """As numpy's integers are."""

        def __index__(self):
            return 3
    signed = redact.sign(b"".join(LINES), KEY)
    assert shown(redact.redact(signed, parts=[Three()])) == {i: line for i, line in enumerate(LINES) if i != 3}
    for parts in ([10], [-1], [range(-2, 1)], [1 << 64], [range(1 << 70)], [range(-1 << 70, 0)]):
        for call in (lambda: redact.redact(signed, parts=parts), lambda: redact.sign(b"a", KEY, required=parts)):
            with pytest.raises(redact.Error) as caught:
                call()
            assert caught.value.code == 73  # PPRF_REDACT_ERR_RUNS
    for error, call in ((TypeError, lambda: redact.redact(signed, parts=[1.0])),
                        (TypeError, lambda: redact.redact(signed, parts=["1"])),
                        (TypeError, lambda: redact.redact(signed, pointers="")),
                        (TypeError, lambda: redact.sign(b"{}", KEY, kind="json", pointers="")),
                        (TypeError, lambda: redact.sign(b"{}", KEY, kind="json", required_pointers="")),
                        (ValueError, lambda: redact.sign(b"{}", KEY, kind="text"))):
        with pytest.raises(error):
            call()


def test_a_refused_key_fails_no_connection_of_its_thread():
    incoming, outgoing, ends = ssl.MemoryBIO(), ssl.MemoryBIO(), []
    for protocol, bios in ((ssl.PROTOCOL_TLS_CLIENT, (incoming, outgoing)),
                           (ssl.PROTOCOL_TLS_SERVER, (outgoing, incoming))):
        context = ssl.SSLContext(protocol)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers("AECDH:ADH:@SECLEVEL=0")  # these need no certificate
        ends.append(context.wrap_bio(*bios, server_side=protocol == ssl.PROTOCOL_TLS_SERVER))
    for end in (0, 1, 0, 1, 0):
        with contextlib.suppress(ssl.SSLWantReadError):
            ends[end].do_handshake()
    assert ends[1].write(b"a") == 1 and ends[0].read() == b"a"
    for refused in (lambda: redact.verify(redact.sign(b"a", KEY), b"no key"), lambda: redact.sign(b"a", PUBLIC)):
        with pytest.raises(ValueError):
            refused()
        with pytest.raises(ssl.SSLError) as caught:
            ends[0].read()
        assert isinstance(caught.value, ssl.SSLWantReadError), "the reading end has no error of its own"


def test_the_declarations_are_those_of_the_header():
    def plain(text):
        return re.sub(r"/\*.*?\*/|PPRF_API|\s+", "", text, flags=re.S)
    declared = re.split(r";\n(?! )", Path(redact.__file__).read_text(encoding="utf-8").split('"""')[3])
    ours, header = [text for text in declared if " pprf_redact_" in text], plain(HEADER.read_text(encoding="utf-8"))
    assert len(ours) > 10 and [text for text in ours if plain(text) + ";" not in header] == []
