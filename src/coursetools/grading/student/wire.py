"""How values cross between the judge and the student's process: JSON and raw bytes, never pickle.

A frame is two lengths, an envelope of JSON, and a packet: JSON with what is asked or said, and the
bytes of its arrays one after the other. What differs each time is on the envelope, so that the same
question is the same packet, byte for byte. Only exact types cross: None, bool, int, float, str,
list, tuple, dict with string keys, torch tensors, numpy arrays, dtypes. Everything else stays where
it is; what crosses is a number for it. What comes from a student's process is an untrusted
packet: sizes, depth, shapes and types are checked before anything is made of them.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
import torch

PREFIX = struct.Struct("!IQ")
HEADER_BYTES = 4 << 20
BODY_BYTES = 64 << 20
DEPTH = 40
NODES = 200_000
AXES = 32

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool),
    )
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
KINDS = "biufc"  # of numpy arrays
Remember = Callable[[Any], dict[str, Any]]  # an object that stays -> what stands for it
Recall = Callable[[dict[str, Any]], Any]


class Garbled(Exception):
    """A frame that nobody who speaks the protocol has written."""


class TooLarge(Garbled):
    """A frame with more bytes than there is room for."""


class Unsendable(TypeError):
    """A value that cannot cross and has nothing that could stand for it."""


@dataclass(frozen=True, slots=True)
class Packet:
    """Bytes that mean the same whenever they are sent; `sizes` says where one part ends."""

    sizes: list[int]
    body: bytes | bytearray

    def parts(self) -> list[memoryview]:
        """Return views of the parts."""
        view, start, parts = memoryview(self.body), 0, []
        for size in self.sizes:
            parts.append(view[start : start + size])
            start += size
        return parts

    def digest(self, before: bytes = b"") -> bytes:
        """Return a name for this packet as an answer to what has the name `before`."""
        digest = hashlib.blake2b(before + repr(self.sizes).encode(), digest_size=16)
        digest.update(self.body)
        return digest.digest()


def seal(message: dict[str, Any], buffers: list[Any]) -> Packet:
    """Return the packet that says `message`."""
    text = json.dumps(message).encode()
    if len(text) > HEADER_BYTES:
        raise Unsendable(f"the value is too large ({len(text):,} bytes)")
    return Packet([len(text), *map(len, buffers)], b"".join((text, *buffers)))


def unseal(packet: Packet) -> tuple[dict[str, Any], list[memoryview]]:
    """Return the message and its buffers; the counterpart of `seal`."""
    if not packet.sizes or packet.sizes[0] > HEADER_BYTES:
        raise Garbled("a message that is too large, or none")
    text, *buffers = packet.parts()
    message = _json(text.tobytes())
    if not isinstance(message, dict):
        raise Garbled("a message that is not JSON of the agreed form")
    return message, buffers


def frame(envelope: dict[str, Any], packet: Packet, room: float = BODY_BYTES) -> bytes:
    """Return the bytes of one frame."""
    header = json.dumps({**envelope, "sizes": packet.sizes}).encode()
    size = len(packet.body)
    if len(header) > HEADER_BYTES or size > room:
        raise Unsendable(f"the value is too large ({len(header) + size:,} bytes)")
    return b"".join((PREFIX.pack(len(header), size), header, packet.body))


def lengths(prefix: bytes | bytearray, room: float = BODY_BYTES) -> tuple[int, int]:
    """Return how many bytes of header and of arrays follow; refuse what is too many."""
    header, body = PREFIX.unpack(prefix)
    if header > HEADER_BYTES:
        raise Garbled("a message that is too large")
    if body > room:
        raise TooLarge("a message that is too large")
    return header, body


def unframe(header: bytes, body: bytes | bytearray) -> tuple[dict[str, Any], Packet]:
    """Return the envelope and the packet; the counterpart of `frame`."""
    envelope = _json(header)
    sizes = envelope.pop("sizes", None) if isinstance(envelope, dict) else None
    if not _sizes(sizes) or sum(sizes) != len(body):
        raise Garbled("a message with wrong sizes")
    return envelope, Packet(sizes, body)


def _json(text: bytes) -> Any:
    try:
        return json.loads(text.decode())  # text: bytes would be searched for their encoding
    except (ValueError, RecursionError) as error:
        raise Garbled("a message that is not JSON of the agreed form") from error


class Encoder:
    """Turns values into JSON and collects the bytes of their arrays.

    `remember` is asked for every object that cannot cross. An array that is met twice crosses once
    and is one array again on the other side.
    """

    def __init__(self, remember: Remember) -> None:
        self.buffers: list[Any] = []
        self.arrays: list[Any] = []  # the array that each buffer was taken from
        self._remember, self._nodes = remember, 0
        self._seen: dict[int, int] = {}  # the id of an array -> its buffer

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return JSON data for `value`."""
        self._nodes += 1
        if depth > DEPTH or self._nodes > NODES:
            raise Unsendable("the value is nested too deeply, or has too many parts")
        kind = type(value)
        if value is None or kind is bool or kind is float or kind is str:
            return value
        if kind is int:
            return value if value.bit_length() < 10_000 else self._remember(value)
        if kind in (list, tuple, torch.Size):
            tag = "list" if kind is list else "tuple"
            return {tag: [self.encode(item, depth + 1) for item in value]}
        if kind in (dict, OrderedDict):
            if all(type(key) is str for key in value):
                items = [[key, self.encode(item, depth + 1)] for key, item in value.items()]
                return {"dict": items}
        elif kind in (torch.Tensor, torch.nn.Parameter):
            if value.dtype in NAMES and value.layout is torch.strided:
                return self._tensor(value)
        elif kind is np.ndarray:
            if value.dtype.kind in KINDS and value.dtype.itemsize <= 16:
                dtype = value.dtype.newbyteorder("=").str
                return {"array": self._buffer(value), "dtype": dtype, "shape": list(value.shape)}
        elif isinstance(value, np.generic) and value.dtype.kind in "biuf":
            return {"number": self._buffer(np.asarray(value)), "dtype": value.dtype.str}
        elif kind is torch.dtype and value in NAMES:
            return {"dtype": NAMES[value]}
        return self._remember(value)

    def _tensor(self, value: torch.Tensor) -> dict[str, Any]:
        return {
            "tensor": self._buffer(value),
            "dtype": NAMES[value.dtype],
            "shape": list(value.shape),
            "grad": value.requires_grad,
        }

    def _buffer(self, value: Any) -> int:
        if id(value) not in self._seen:
            self._seen[id(value)] = len(self.buffers)
            self.buffers.append(raw(value))
            self.arrays.append(value)  # keeps the id taken
        return self._seen[id(value)]


def raw(value: Any) -> memoryview:
    """Return the bytes of a tensor or an array."""
    if isinstance(value, torch.Tensor):
        value = value.detach()
        try:
            data = np.ascontiguousarray(value.numpy())
        except (TypeError, RuntimeError):  # bfloat16, or of a kind that numpy cannot look into
            data = value.cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
        return data.data.cast("B") if data.size else memoryview(b"")
    data = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("="), copy=False)
    return memoryview(data.tobytes())


class Decoder:
    """Turns JSON and buffers back into values; `recall` is given what stands for an object."""

    def __init__(self, buffers: list[memoryview], recall: Recall, grad: bool = False) -> None:
        self.arrays: dict[int, Any] = {}
        self._buffers, self._recall, self._grad, self._nodes = buffers, recall, grad, 0

    def decode(self, node: Any, depth: int = 0) -> Any:
        """Return the value of a piece of JSON, or raise Garbled."""
        self._nodes += 1
        if depth > DEPTH or self._nodes > NODES:
            raise Garbled("a value that is nested too deeply, or has too many parts")
        if node is None or isinstance(node, (bool, int, float, str)):
            return node
        if not isinstance(node, dict) or not node:
            raise Garbled("a value of no known form")
        if "list" in node or "tuple" in node:
            items = node.get("list", node.get("tuple"))
            if not isinstance(items, list):
                raise Garbled("a list that is none")
            values = [self.decode(item, depth + 1) for item in items]
            return values if "list" in node else tuple(values)
        if "dict" in node:
            return self._dict(node["dict"], depth)
        if "tensor" in node:
            return self._array(node, "tensor", self._tensor)
        if "array" in node:
            return self._array(node, "array", _numpy)
        if "number" in node:
            return self._array({**node, "shape": []}, "number", _numpy)[()]
        if set(node) == {"dtype"} and node["dtype"] in NAMES.values():
            return DTYPES[node["dtype"]]
        return self._recall(node)

    def _dict(self, items: Any, depth: int) -> dict[str, Any]:
        if not isinstance(items, list):
            raise Garbled("a dict that is none")
        values = {}
        for item in items:
            if not (isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)):
                raise Garbled("a dict that is none")
            values[item[0]] = self.decode(item[1], depth + 1)
        return values

    def _array(self, node: dict[str, Any], tag: str, make: Callable[..., Any]) -> Any:
        index, dtype, shape = node[tag], node.get("dtype"), node.get("shape")
        if not (_count(index) and index < len(self._buffers) and isinstance(dtype, str)):
            raise Garbled("an array without bytes")
        if not (isinstance(shape, list) and len(shape) <= AXES and all(map(_count, shape))):
            raise Garbled("an array of no shape")
        if index not in self.arrays:
            try:
                self.arrays[index] = make(self._buffers[index], dtype, shape, node)
            except (RuntimeError, ValueError, OverflowError) as error:
                raise Garbled("an array that cannot be made") from error
        return self.arrays[index]

    def _tensor(
        self, buffer: memoryview, dtype: str, shape: list[int], node: dict[str, Any]
    ) -> torch.Tensor:
        if dtype not in DTYPES:
            raise Garbled("a tensor of an unknown dtype")
        kind = DTYPES[dtype]
        if math.prod(shape) * kind.itemsize != len(buffer):
            raise Garbled("a tensor whose bytes do not fill its shape")
        if not len(buffer):
            tensor = torch.empty(shape, dtype=kind)
        else:
            data = bytearray(buffer)
            if kind is torch.bool and data.translate(None, b"\0\1"):
                tensor = torch.frombuffer(data, dtype=torch.uint8).ne(0)  # else a strange truth
            else:
                tensor = torch.frombuffer(data, dtype=kind)
            tensor = tensor.reshape(shape)
        return tensor.requires_grad_() if self._grad and node.get("grad") is True else tensor


def _numpy(
    buffer: memoryview, dtype: str, shape: list[int], node: dict[str, Any]
) -> np.ndarray[Any, Any]:
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError) as error:
        raise Garbled("an array of an unknown dtype") from error
    if kind.kind not in KINDS or kind.shape or len(dtype) > 5:
        raise Garbled("an array of an unknown dtype")
    if math.prod(shape) * kind.itemsize != len(buffer):
        raise Garbled("an array whose bytes do not fill its shape")
    return np.frombuffer(bytearray(buffer), dtype=kind).reshape(shape)


def _sizes(value: Any) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(map(_count, value))


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= BODY_BYTES
