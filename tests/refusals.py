"""Bad arguments for any public function, derived from its annotations: each is refused by name.

A package's test_bad_input.py has a table of good arguments, one entry for each public function and
class. What is wrong with an `int`, a `float`, a tensor or a word of a few is the same everywhere
and is made here. Each must raise ValueError, TypeError or CourseError with a message of ours that
names the argument and the number found; its wording is asserted in tests/test_checks.py alone.
"""

from __future__ import annotations

import dataclasses
import inspect
import linecache
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any, Literal

import torch
from torch import Tensor, nn

from coursekit._base.errors import CourseError

Table = Mapping[str, Callable[[], "Good"]]


@dataclasses.dataclass(frozen=True)
class New:
    """An argument that a call changes, such as a cache: made anew for each."""

    make: Callable[[], Any]


class Good:
    """A callable with good `arguments`, and what differs from the derived bad values.

    `bad` has further values of an argument that must be refused, `says` what a message calls an
    argument (the queries for q). `free` names what is derived and yet accepted: an argument, or
    one thing that may be wrong with it (`offset:sign`), or with any (`*:axes`).
    """

    def __init__(
        self,
        call: Callable[..., Any],
        arguments: Mapping[str, Any],
        *,
        bad: Mapping[str, Iterable[Any]] | None = None,
        free: str = "",
        says: Mapping[str, str] | None = None,
    ) -> None:
        self.call, self.arguments = call, dict(arguments)
        self.bad, self.free, self.says = bad or {}, free.split(), says or {}

    def run(self, **changes: Any) -> Any:
        given = {**self.arguments, **changes}
        for name, value in given.items():
            if isinstance(value, New):
                given[name] = value.make()
        made = self.call(**given)
        if inspect.isgenerator(made):
            made = next(made, None)  # only now does it look at its arguments
        return made

    def wrong(self) -> list[tuple[str, Any]]:
        """Return every argument with each value that it must refuse."""
        found = []
        for name, parameter in inspect.signature(self.call).parameters.items():
            kind = annotation(self.call, parameter)
            made = derived(kind, self.arguments.get(name)).items()
            found += [(name, value) for what, value in made if not self.is_free(name, what)]
        return found + [(name, value) for name, values in self.bad.items() for value in values]

    def is_free(self, name: str, what: str) -> bool:
        return name in self.free or f"{name}:{what}" in self.free or f"*:{what}" in self.free

    def faults(self) -> list[str]:
        """Return what went through, and what was refused otherwise than with a clear message."""
        self.run()  # the good arguments are good
        return [fault for name, value in self.wrong() if (fault := self.fault(name, value))]

    def fault(self, name: str, value: Any) -> str:
        what = f"{name}={short(value)}"
        try:
            self.run(**{name: value})
        except (ValueError, TypeError, CourseError) as error:
            if not raised_here(error):
                return f"{what}: not by a message of ours, but {error!r}"
            words = re.escape(name).replace("_", "[_ ]")
            if not re.search(rf"\b({self.says.get(name, f'{words}s?')})\b", str(error)):
                return f"{what} is not named: {error}"
            if isinstance(value, int | float | str) and str(value) not in str(error):
                return f"{what} is not what was found: {error}"
            return ""
        except Exception as error:
            return f"{what}: {type(error).__name__}: {str(error)[:150]}"
        return f"{what} went through"


def raised_here(error: BaseException) -> bool:
    """Whether a `raise` of ours raised it, and not Python or torch below."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename
    return "/src/course" in file and "raise" in linecache.getline(file, trace.tb_lineno)


def short(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor {value.dtype} {tuple(value.shape)}"
    return repr(value)[:60]


def annotation(call: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """Return what an argument's annotation means, or its text where that cannot be resolved."""
    kind = parameter.annotation
    names = {**vars(typing), **vars(inspect.getmodule(inspect.unwrap(call)))}
    try:
        return eval(kind, names) if isinstance(kind, str) else kind
    except NameError:
        return kind


def derived(kind: Any, good: Any) -> dict[str, Any]:
    """Return what is wrong wherever this kind of value is expected, by what is wrong with it."""
    parts = [part for part in typing.get_args(kind) if part is not type(None)]
    optional = isinstance(kind, types.UnionType) and len(parts) == 1
    kind = parts[0] if optional else kind
    if kind is int:
        return {"kind": "3", "fraction": 1.5, "bool": True, "sign": -1}
    if kind is float:
        return {"kind": "0.1", "bool": True, "nan": math.nan, "sign": -1.0}
    if kind is Tensor and isinstance(good, Tensor):
        wrong: dict[str, Any] = {"list": good.tolist()}
        if not good.is_floating_point():  # ids and masks; of numbers torch takes any kind
            wrong["dtype"] = good.long() if good.dtype == torch.bool else good.float()
        return wrong | ({"axes": good.flatten()[0]} if good.ndim else {})
    return {"choice": "no such word"} if typing.get_origin(kind) is Literal else {}


def takes_input(thing: Any) -> bool:
    """Whether a public name has an argument of which it is known what is wrong; not a record."""
    if inspect.isclass(thing):
        record = dataclasses.is_dataclass(thing) and not hasattr(thing, "__post_init__")
        if record or hasattr(thing, "_fields") or getattr(thing, "_is_protocol", False):
            return False
        if issubclass(thing, Exception) or inspect.isabstract(thing):
            return False
    elif not inspect.isfunction(inspect.unwrap(thing)):
        return False
    arguments = inspect.signature(thing).parameters.values()
    return any(derived(annotation(thing, argument), torch.ones(1)) for argument in arguments)


def public(package: ModuleType, names: Iterable[str]) -> list[str]:
    """Return those of the `names` that take input, and with a module its `forward`."""
    found = []
    for name in names:
        thing = getattr(package, name)
        if takes_input(thing):
            found.append(name)
        module = inspect.isclass(thing) and issubclass(thing, nn.Module)
        if module and "forward" in vars(thing) and takes_input(thing.forward):
            found.append(f"{name}.forward")
    return found


def missing(table: Table, names: Iterable[str]) -> list[str]:
    """Return which of the `names` have no entry in the table: a test asserts that none lack one."""
    wanted = [name for name in names if name not in table]
    return [f"not finished yet: {name} has no good arguments in TABLE" for name in wanted]
