"""What a case gets as `student`: names that stand for things in another process.

Calling one sends the arguments there and brings back what the student's code returned, rebuilt from
exact types. What cannot cross stays there as a `Remote`, which has attributes and can be called,
but is never equal to anything, never true, never a tensor: an object cannot talk its way through a
comparison.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, NoReturn

from coursetools.grading.judging.process import Stopped
from coursetools.grading.records.verdict import Status
from coursetools.grading.student import wire
from coursetools.text import clean

STATUSES = ("FAIL", "BLOCKED", "MEM")
PUBLIC = ("torch", "numpy", "math", "coursekit", "builtins", "operator")  # sent by name
NODE = {"object", "type"}


class StudentError(Exception):
    """The student's code has raised; a case may catch it by the name of the built-in exception."""

    status: Status = "FAIL"
    message = ""
    type = "Exception"  # as it was called there
    cell = line = here = 0  # where the student wrote it; the line of the cell that led there


class NotRepeatable(BaseException):
    """A case has asked something else than it had asked before: it is not the same every time."""


class Link:
    """The dialogue of one case with a student's process: what was said on it so far.

    `heard` holds each packet sent, and the answer. A case is deterministic, so it can be run from
    its beginning with the answers that are there; what is missing it asks.
    """

    def __init__(
        self,
        ask: Callable[[Link, wire.Packet], None],
        question: str,
        number: int,
        forbidden: tuple[str, ...] = (),
        variant: int = 0,
    ) -> None:
        self.case = f"{question} {number} {variant}"
        self.place = self.case.encode()  # a name for all that was heard
        self.heard: list[tuple[wire.Packet, wire.Packet]] = []
        self.about = {"question": question, "forbidden": list(forbidden)}  # for the envelope
        self.ask = ask
        self._next = 0  # of `heard`
        self.kept = 0  # bytes of the answers

    def hear(self, packet: wire.Packet, reply: wire.Packet) -> None:
        """Take down one more packet and its answer."""
        self.heard.append((packet, reply))
        self.kept += len(reply.body) + 8 * len(reply.sizes)
        self.place = reply.digest(self.place)

    def call(self, node: dict[str, Any], how: str, arguments: Any, named: Any) -> Any:
        """Call what `node` stands for, plainly or as one of the probes."""
        encoder = wire.Encoder(_stand_in)
        message = {
            "op": "call",
            "how": how,
            "of": node,
            "arguments": encoder.encode(arguments),
            "named": encoder.encode(named),
        }
        return self._ask(message, encoder)

    def get(self, node: dict[str, Any], name: str) -> Any:
        """Return an attribute of what `node` stands for."""
        return self._ask({"op": "get", "of": node, "name": name}, wire.Encoder(_stand_in))

    def _ask(self, message: dict[str, Any], encoder: wire.Encoder) -> Any:
        packet = wire.seal(message, encoder.buffers)
        if self._next == len(self.heard):
            self.ask(self, packet)
        sent, reply = self.heard[self._next]
        if sent != packet:
            raise NotRepeatable
        self._next += 1
        try:
            answer, buffers = wire.unseal(reply)
        except wire.Garbled as error:
            raise Stopped("CRASH", f"the process answered with {error}") from error
        if "error" in answer:
            raise student_error(answer["error"])
        decoder = wire.Decoder(buffers, self._remote)
        try:
            return decoder.decode(answer.get("value"))
        except wire.Garbled as error:
            raise _raised("TypeError", f"the answer is {error}") from error

    def _remote(self, node: dict[str, Any]) -> Remote:
        if set(node) != NODE or type(node["object"]) is not int or type(node["type"]) is not str:
            raise wire.Garbled("a value of no known form")
        return Remote(self, {"object": node["object"]}, clean(node["type"])[:100])


class Student:
    """The names of a notebook that ran elsewhere."""

    def __init__(self, link: Link) -> None:
        self.__link = link

    def __getattr__(self, name: str) -> Remote:
        if name.startswith("__"):
            raise AttributeError(name)
        return Remote(self.__link, {"name": name}, name)


class Remote:
    """Something that stays in the student's process."""

    __slots__ = ("_link", "_node", "_type")

    def __init__(self, link: Link, node: dict[str, Any], kind: str) -> None:
        self._link, self._node, self._type = link, node, kind

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it there."""
        return self._link.call(self._node, "call", arguments, named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._link.get(self._node, name)

    def _gradients(self, *arguments: Any) -> Any:
        return self._probe("gradients", arguments, 2)

    def _module_gradients(self, *arguments: Any) -> Any:
        return self._probe("module_gradients", arguments, 3)

    def _after(self, *arguments: Any) -> Any:
        return self._probe("after", arguments, 2)

    def _probe(self, how: str, arguments: Any, count: int) -> Any:
        value = self._link.call(self._node, how, arguments, {})
        if type(value) is not tuple or len(value) != count or type(value[1]) is not list:
            raise _raised("TypeError", "the process answered something else")
        if count == 3 and type(value[2]) is not dict:
            raise _raised("TypeError", "the process answered something else")
        return value

    def _no_value(self, *_: object) -> NoReturn:
        raise _raised("TypeError", f"an object of type {self._type}, where a value is expected")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value
    __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __float__ = __int__ = _no_value
    __index__ = _no_value
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"an object of type {self._type}"


def student_error(answer: Any) -> StudentError:
    """Return the exception for what a student's process says of its own."""
    answer = answer if isinstance(answer, dict) else {}
    name = clean(str(answer.get("type", "Exception")))[:100]
    error = _raised(name if answer.get("builtin") is True else "Exception", "")
    error.type = name
    error.message = clean(str(answer.get("message", "")))[:600]
    status = answer.get("status")
    error.status = status if status in STATUSES else "FAIL"
    error.cell, error.line, error.here = (
        value if type(value) is int and 0 <= value < 1_000_000 else 0
        for value in (answer.get("cell"), answer.get("line"), answer.get("here"))
    )
    error.args = (error.message,)
    return error


def contains_remote(value: Any) -> Remote | None:
    """Return the first object in `value` that has not crossed."""
    if type(value) is Remote:
        return value
    if type(value) is dict:
        value = list(value.values())
    if type(value) not in (list, tuple):
        return None
    return next((found for item in value if (found := contains_remote(item)) is not None), None)


def _raised(name: str, message: str) -> StudentError:
    error = _error_class(name)(message)
    error.type, error.message = name, message
    return error


@lru_cache(maxsize=256)
def _error_class(name: str) -> type[StudentError]:
    """Return a StudentError that is the built-in exception of this name as well."""
    base = getattr(builtins, name, None)
    if isinstance(base, type) and issubclass(base, Exception) and base is not Exception:
        try:
            error_class = type(name, (StudentError, base), {})
            error_class("")
            return error_class
        except TypeError:
            pass  # some are laid out differently, and are known by their name only
    return type(name if isinstance(base, type) else "Exception", (StudentError,), {})


def _stand_in(value: Any) -> dict[str, Any]:
    """Return what stands for an argument that is no plain value: a Remote, or a public name."""
    if type(value) is Remote:
        return value._node
    module = getattr(value, "__module__", None) or ""
    name = getattr(value, "__name__", "")
    for home in (str(module), *("torch", "torch.nn.functional", "torch.nn", "math")):
        if home.split(".")[0] in PUBLIC and _at(home, name) is value:
            return {"import": f"{home}.{name}"}
    raise wire.Unsendable(
        f"a case cannot send {type(value).__name__} to the student's process: only numbers, "
        "strings, tensors, lists, dicts, and functions of torch or coursekit cross"
    )


def _at(module: str, name: str) -> Any:
    if module not in sys.modules and module.split(".")[0] == "coursekit":
        import_module(module)
    return getattr(sys.modules.get(module), name, None)
