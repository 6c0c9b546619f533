"""What takes the place of a watched function: it notes each call, and is like it in all else.

Libraries look closely at functions: `pickle` at where they are, `torch.jit` at their source,
`torch.compile` at their kind, `functools.wraps` at their attributes. A right answer may use any of
these, so they find what they would find without us. The function itself is in no attribute: who
goes round the note has to say how (`assignments.evasions`).
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType, MethodType
from typing import Any

import torch

Called = Callable[[], None]
OWN = {"__call__", "__get__", "__reduce__", "__reduce_ex__", "__copy__", "__deepcopy__"}
PYTHON = """
def make(called_, original_, compiling_):
    def watched({parameters}):
        if not compiling_():
            called_()
        return original_({arguments})
    return watched
"""


def watched(original: Callable[..., Any], called: Called, place: str) -> Any:
    """Return what is like `original` and calls `called` first, each time that it is called.

    `place` is the name by which a pickle finds it, within its module.
    """
    if isinstance(original, FunctionType):
        return _python(original, called)
    return _builtin(original, called, place)


def _python(original: FunctionType, called: Called) -> FunctionType:
    """Return a function with the parameters, the source and the globals of `original`.

    While `torch.compile` reads it, it calls nothing else.
    """
    names: dict[str, Any] = {}
    code = original.__code__
    exec(PYTHON.format(**_signature(original)), names)
    function = names["make"](called, original, torch.compiler.is_dynamo_compiling)
    made = FunctionType(
        function.__code__.replace(
            co_filename=code.co_filename,
            co_firstlineno=code.co_firstlineno,
            co_name=code.co_name,
            co_qualname=code.co_qualname,
        ),
        original.__globals__,
        original.__name__,
        original.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = original.__kwdefaults__
    made.__qualname__, made.__module__ = original.__qualname__, original.__module__
    made.__doc__, made.__annotations__ = original.__doc__, original.__annotations__
    made.__dict__.update(original.__dict__)
    return made


def _signature(function: FunctionType) -> dict[str, str]:
    """Return the text of a function's parameters, and of the arguments that hand them on."""
    code = function.__code__
    names = list(code.co_varnames)
    plain, names = names[: code.co_argcount], names[code.co_argcount :]
    named, names = names[: code.co_kwonlyargcount], names[code.co_kwonlyargcount :]
    more = f"*{names.pop(0)}" if code.co_flags & CO_VARARGS else ""
    rest = f"**{names.pop(0)}" if code.co_flags & CO_VARKEYWORDS else ""
    parameters, first = list(plain), code.co_posonlyargcount
    if first:
        parameters.insert(first, "/")
    star = more or ("*" if named else "")
    handed = [*plain, more, *(f"{name}={name}" for name in named), rest]
    return {
        "parameters": ", ".join(filter(None, [*parameters, star, *named, rest])),
        "arguments": ", ".join(filter(None, handed)),
    }


def _builtin(original: Callable[..., Any], called: Called, place: str) -> Any:
    """Return an object that answers as a function of C would, its class included.

    Only `is` can tell them from one another.
    """

    class Watched:
        __slots__ = ("__weakref__",)

        def __call__(self, /, *arguments: Any, **named: Any) -> Any:
            called()
            return original(*arguments, **named)

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None or not hasattr(type(original), "__get__"):
                return self
            return MethodType(self, instance)

        def __getattribute__(self, name: str) -> Any:
            return object.__getattribute__(self, name) if name in OWN else getattr(original, name)

        def __setattr__(self, name: str, value: Any) -> None:
            setattr(original, name, value)

        def __delattr__(self, name: str) -> None:
            delattr(original, name)

        def __eq__(self, other: object) -> bool:
            return other is self or other is original  # torch hands its own to __torch_function__

        def __hash__(self) -> int:
            return hash(original)

        def __repr__(self) -> str:
            return repr(original)

        def __dir__(self) -> list[str]:
            return dir(original)

        def __reduce_ex__(self, protocol: Any) -> str:
            return place

        def __reduce__(self) -> str:
            return place

        def __copy__(self) -> Any:
            return self

        def __deepcopy__(self, memo: Any) -> Any:
            return self

    return Watched()
