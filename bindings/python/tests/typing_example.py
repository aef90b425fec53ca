# SPDX-License-Identifier: Apache-2.0
"""What a type checker has to accept: test_pprf.py gives it to mypy."""
import array
from typing import Optional

import numpy

import pprf
from pprf import redact

key: pprf.Key = pprf.Key(depth=20, seed=bytes(16))
value: bytes = key.eval(1)
small: pprf.Key = pprf.Key(depth=20, suite="aes-128", salt=bytearray(16), store="packed")
suite: str = small.suite
names: tuple[str, ...] = pprf.SUITES
key.puncture(1)
key.puncture(range(2, 5))
part: pprf.Key = key.delegate(range(8, 12))
done: list[bool] = key.puncture_many([1, 2])
values: bytearray = key.eval_many([7, 8], missing="zero")
same: bytearray = key.eval_many(array.array("Q", [7, 8]))
grid: numpy.typing.NDArray[numpy.uint8] = key.eval_many(numpy.arange(7, 9))
key.eval_many([7], out=bytearray(16))
again: pprf.Key = pprf.Key.from_export(key.export())
packed: pprf.Key = pprf.Key.from_export(key.export(), store="packed")
signed: bytes = redact.sign("text", b"PEM", required=[0, range(3, 5)], context=b"x")
left: bytes = redact.redact(signed, parts=[1], pointers=["/a"], match=b"[0-9]+")
redact.verify(left, b"PEM", b"x")
data: list[Optional[bytes]] = [piece.data for piece in redact.show(left, b"PEM")]
