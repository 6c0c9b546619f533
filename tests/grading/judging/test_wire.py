"""Values that cross the border come out as they went in; what is no value comes out as an error."""

from __future__ import annotations

import math
from collections import OrderedDict

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.check.compare import same
from coursetools.grading.student import wire


class Thing:
    pass


def cross(value, grad=False):
    """Send a value through bytes and back; objects become the text "object"."""
    encoder = wire.Encoder(lambda _: {"object": 1, "type": "Thing"})
    packet = wire.seal({"value": encoder.encode(value)}, encoder.buffers)
    frame = wire.frame({"token": "x"}, packet)
    header, body = wire.lengths(frame[: wire.PREFIX.size])
    rest = frame[wire.PREFIX.size :]
    assert len(rest) == header + body
    envelope, arrived = wire.unframe(rest[:header], rest[header:])
    assert envelope == {"token": "x"}
    assert (arrived, arrived.digest()) == (packet, packet.digest())
    message, buffers = wire.unseal(arrived)
    return wire.Decoder(buffers, lambda _: "object", grad).decode(message["value"])


def spelled(value) -> str:
    """Return text that tells -0.0 from 0.0, True from 1, and a tuple from a list."""
    return repr(value)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(st.characters()), inner)
    ),
    max_leaves=12,
)


@given(plain)
def test_plain_values_cross_exactly(value):
    assert spelled(cross(value)) == spelled(value)


@pytest.mark.parametrize("dtype", wire.DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 1)])
def test_tensors_of_every_kind_cross_exactly(dtype, shape):
    value = torch.randint(0, 2, shape).to(dtype)
    found = cross({"deep": [(value,)]})["deep"][0][0]
    assert type(found) is torch.Tensor
    assert found.dtype == dtype
    assert same(found, value) is None
    strided = torch.randn(4, 6).t()[1:, ::2]
    assert torch.equal(cross(strided), strided)


def test_special_numbers_keep_their_bits():
    value = torch.tensor([0.0, -0.0, math.nan, math.inf, -math.inf])
    assert cross(value).view(torch.int32).tolist() == value.view(torch.int32).tolist()
    assert cross(np.float32(1.5)) == np.float32(1.5)
    assert type(cross(np.float32(1.5))) is np.float32
    assert cross(torch.float16) is torch.float16
    array = np.arange(6, dtype=">i4").reshape(2, 3)[:, ::-1]
    assert cross(array).tolist() == array.tolist()


def test_a_tensor_twice_is_one_tensor_there_and_keeps_its_wish_for_gradients():
    x = torch.ones(2, requires_grad=True)
    one, two = cross([x, x], grad=True)
    assert one is two
    assert one.requires_grad
    assert not cross([x])[0].requires_grad
    assert type(cross(torch.nn.Parameter(x))) is torch.Tensor
    assert type(cross(OrderedDict(a=x))) is dict


def test_two_letters_have_one_name_only_if_they_are_the_same():
    names = {
        wire.seal(message, buffers).digest(before)
        for message in ({"a": 1}, {"a": 2})
        for buffers in ([b"xy"], [b"x", b"y"], [b"xz"])
        for before in (b"", b"1")
    }
    assert len(names) == 12
    assert wire.seal({"a": 1}, [b"xy"]).digest() in names


def test_nothing_else_crosses():
    class Lying(torch.Tensor):
        pass

    class Text(str):
        __slots__ = ()

    strange = [Thing(), Lying(), Text("x"), 1j, {1: 2}, len, b"x", {1}, torch.randn(2) * 1j]
    strange.append(np.array(["x"], dtype=object))
    strange.append(torch.eye(2).to_sparse())
    assert cross(strange) == ["object"] * len(strange)


def forge(node, buffers=()):
    message, views = wire.unseal(wire.seal({"value": node}, buffers))
    return wire.Decoder(views, lambda _: "object").decode(message["value"])


TENSOR = {"tensor": 0, "dtype": "float32", "shape": [2], "grad": False}
GARBLED = [
    [1, 2],
    {},
    {"list": 3},
    {"dict": [["a"]]},
    {"dict": [[1, 2]]},
    TENSOR | {"shape": [3]},
    TENSOR | {"shape": [-2]},
    TENSOR | {"shape": [2.0]},
    TENSOR | {"shape": [True, 2]},
    TENSOR | {"shape": "22"},
    TENSOR | {"shape": [1 << 62, 1 << 62]},
    TENSOR | {"shape": [1] * 100},
    TENSOR | {"dtype": "float"},
    TENSOR | {"dtype": ["float32"]},
    TENSOR | {"tensor": 1},
    TENSOR | {"tensor": -1},
    TENSOR | {"tensor": "0"},
    {"array": 0, "dtype": "O", "shape": [1]},
    {"array": 0, "dtype": "(2,)f4", "shape": [1]},
    {"array": 0, "dtype": "f4,f4", "shape": [1]},
    {"array": 0, "dtype": "M8[s]", "shape": [1]},
    {"array": 0, "dtype": "no dtype", "shape": [1]},
    {"number": 0, "dtype": "f4"},
]


@pytest.mark.parametrize("node", GARBLED, ids=str)
def test_forged_values_are_refused(node):
    assert forge(TENSOR, [b"\0" * 8]).tolist() == [0, 0]
    with pytest.raises(wire.Garbled):
        forge(node, [b"\0" * 8])


@pytest.mark.parametrize(
    ("header", "body"),
    [
        (b"", b""),
        (b"[]", b""),
        (b"{}", b""),
        (b"[" * 100_000, b""),
        (b'{"sizes": 3}', b"xxx"),
        (b'{"sizes": 3}', b"xxx"),
        (b'{"sizes": [[3]]}', b"xxx"),
        (b'{"sizes": [3]}', b"xx"),
        (b'{"sizes": [1, 1]}', b"xxx"),
        (b'{"sizes": [-1, 3]}', b"xx"),
        (b'{"sizes": [true]}', b"x"),
        (b"\xff\xfe", b""),
        (b'{"sizes": []}', b""),
        (b'{"sizes": [4]}', b"[{}]"),
        (b'{"sizes": [5]}', b"\xff\xfe{}."),
        (b'{"sizes": [4194305]}', b" " * 4194303 + b"{}"),
        (b'{"sizes": [10014]}', b'{"value": ' + b"9" * 10_003 + b"}"),
    ],
    ids=lambda value: str(value[:20]),
)
def test_forged_messages_are_refused(header, body):
    with pytest.raises(wire.Garbled):
        wire.unseal(wire.unframe(header, body)[1])


def test_forged_lengths_and_depths_are_refused():
    with pytest.raises(wire.Garbled):
        wire.lengths(b"\xff" * wire.PREFIX.size)
    deep: object = 1
    for _ in range(wire.DEPTH + 2):
        deep = {"list": [deep]}
    with pytest.raises(wire.Garbled):
        forge(deep)
    with pytest.raises(wire.Garbled):
        forge({"list": [1] * (wire.NODES + 1)})
    with pytest.raises(wire.Unsendable):
        cross(list(range(wire.NODES + 1)))
