"""Whether two values are the same, and if not, what a learner should read about it.

Exact types, then dtype, then shape, then numbers within a tolerance. NaN equals NaN, and infinities
equal those of the same sign. `check` and the grader both call `same`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

DEEPEST = 20
TENSORS = (Tensor, nn.Parameter)  # exact types: a subclass could lie about everything
HALVES = {torch.float16: 2e-3, torch.bfloat16: 2e-2}  # what such numbers can be held to


@dataclass(frozen=True)
class Difference:
    """The first thing in which two values differ; `place` leads to it from the whole value."""

    sentence: str  # "the shape is (2, 3), expected (3, 2)"
    place: tuple[int | str, ...] = ()  # (0, "k"): value[0]["k"]
    actual: Any = None  # there
    expected: Any = None
    index: tuple[int, ...] | None = None  # of the largest difference, where there are two arrays
    largest: float | None = None  # nan or inf where one side is not finite

    def __str__(self) -> str:
        return f"in {spelled(self.place)} {self.sentence}" if self.place else self.sentence


def same(actual: Any, expected: Any, tolerance: float = 1e-5) -> Difference | None:
    """Return how `actual` differs from `expected`, or None where it does not.

    Numbers may differ by `tolerance` absolutely plus `tolerance` relatively. Only exact types are
    looked into; an object of any other type is a difference, whatever it says about itself.
    """
    difference = _same(actual, expected, tolerance, ())
    if actual is None and difference is not None:
        return replace(difference, sentence=f"{difference.sentence}: is a return missing?")
    return difference


def spelled(place: tuple[int | str, ...]) -> str:
    """Return a place as Python writes it: `output[0]['k']`."""
    return "output" + "".join(f"[{step!r}]" for step in place)


def kind(value: Any) -> str:
    """Return the name of a value's type, with an article: "a Tensor", "an int"."""
    if value is None:
        return "None"
    cls = type(value)
    name = "Tensor" if cls in TENSORS else str(cls.__name__)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _same(a: Any, e: Any, tolerance: float, place: tuple[int | str, ...]) -> Difference | None:
    def differ(sentence: str, **more: Any) -> Difference:
        return Difference(sentence, place, a, e, **more)

    if len(place) > DEEPEST:
        return differ("the value is nested too deeply")
    if type(a) in TENSORS and type(e) in TENSORS:
        return _tensors(a.detach(), e.detach(), tolerance, differ)
    if type(a) is np.ndarray and type(e) is np.ndarray:
        return _arrays(a, e, tolerance, differ)
    if _number(e):
        return _numbers(a, e, tolerance, differ)
    if type(a) is not type(e):
        return differ(_types(a, e))
    if e is None or type(e) in (str, bytes):
        return None if a == e else differ(f"the value is {_short(a)}, expected {_short(e)}")
    if type(e) in (list, tuple):
        if len(a) != len(e):
            return differ(f"the length is {len(a)}, expected {len(e)}")
        steps: Iterable[int | str] = range(len(e))
    elif type(e) is dict:
        if a.keys() != e.keys():
            return differ(f"the keys are {_short(sorted(a, key=str))}, expected {sorted(e)}")
        steps = list(e)
    else:
        return differ(f"{kind(a)} cannot be compared")
    differences = (_same(a[step], e[step], tolerance, (*place, step)) for step in steps)
    return next((difference for difference in differences if difference is not None), None)


def _number(value: Any) -> bool:
    return type(value) in (bool, int, float) or (
        type(value).__module__ == "numpy" and (isinstance(value, np.generic))
    )


def _numbers(a: Any, e: Any, tolerance: float, differ: Any) -> Difference | None:
    if not _number(a):
        return differ(_types(a, e))
    a, e = (x.item() if isinstance(x, np.generic) else x for x in (a, e))
    if (type(a) is bool) != (type(e) is bool) or (type(a) is float and type(e) is int):
        return differ(_types(a, e))
    if type(e) is float:
        if type(a) is int and a.bit_length() > 1000:
            return differ(f"the value is an int of {a.bit_length()} bits, expected {e:.6g}")
        if math.isnan(a) and math.isnan(e):
            return None
        if a == e or (math.isfinite(e) and abs(a - e) <= tolerance * (1 + abs(e))):
            return None
        return differ(f"the number is {a:.6g}, expected {e:.6g}", largest=abs(a - e))
    return None if a == e else differ(f"the value is {_short(a)}, expected {e}")


def _types(a: Any, e: Any) -> str:
    message = f"the value is {kind(a)}, expected {kind(e)}"
    if type(a) in TENSORS and _number(e) and a.numel() == 1:
        return f"{message}: .item() makes a number of a tensor"
    if type(e) in TENSORS and _number(a):
        return f"{message}: .item() or float() has made a number of it"
    if type(e) in TENSORS and type(a) is np.ndarray:
        return f"{message}: stay in torch all the way"
    if type(e) is tuple and type(a) in TENSORS:
        return f"{message} of {len(e)} values"
    return message


def _tensors(a: Tensor, e: Tensor, tolerance: float, differ: Any) -> Difference | None:
    if a.layout != torch.strided or a.is_quantized or a.device.type == "meta":
        return differ("the tensor is of a special kind (sparse, quantised or without data)")
    if a.shape != e.shape:
        return differ(f"the shape is {tuple(a.shape)}, expected {tuple(e.shape)}")
    if a.dtype != e.dtype:
        return differ(f"the dtype is {_dtype(a)}, expected {_dtype(e)}")
    tolerance = max(tolerance, HALVES.get(e.dtype, 0.0))
    wide = torch.complex128 if e.is_complex() else torch.float64
    exact = not (e.is_floating_point() or e.is_complex())
    a, e = (x.cpu().resolve_conj().resolve_neg() for x in (a, e))
    if torch.equal(a, e):  # most are, and to say how two differ takes ten steps more
        return None
    if exact:
        wrong = a != e
    a, e = a.to(wide), e.to(wide)
    distance = (a - e).abs()
    if not exact:
        alike = (a == e) | (a.isnan() & e.isnan())  # infinities of one sign are equal too
        wrong = ~(alike | (distance <= tolerance * (1 + e.abs())))
        # inf <= inf holds, so a number where inf is expected needs a look of its own
        wrong |= ~alike & ~(a.isfinite() & e.isfinite())
        if not wrong.any():
            return None
    return _values(a.numpy(), e.numpy(), distance.numpy(), wrong.numpy(), differ)


def _arrays(a: np.ndarray, e: np.ndarray, tolerance: float, differ: Any) -> Difference | None:
    if a.shape != e.shape:
        return differ(f"the shape is {a.shape}, expected {e.shape}")
    if a.dtype != e.dtype:
        return differ(f"the dtype is {a.dtype}, expected {e.dtype}")
    if e.dtype.kind not in "biufc":
        return None if a.tolist() == e.tolist() else differ("the values differ")
    return _tensors(torch.from_numpy(a.copy()), torch.from_numpy(e.copy()), tolerance, differ)


def _values(
    a: np.ndarray, e: np.ndarray, distance: np.ndarray, wrong: np.ndarray, differ: Any
) -> Difference:
    """Say how many values differ, and where most; a NaN is farther away than any number."""
    far = np.where(wrong, np.nan_to_num(distance, nan=np.inf, posinf=np.inf), -1.0)
    index = tuple(int(i) for i in np.unravel_index(int(far.argmax()), far.shape))
    largest = float(distance[index])
    lost = int((np.isnan(a) & ~np.isnan(e)).sum())
    if lost:
        at = tuple(int(i) for i in np.argwhere(np.isnan(a) & ~np.isnan(e))[0])
        sentence = f"{_of(lost, a.size)} nan (not a number), where numbers are expected"
        return differ(sentence, index=at, largest=math.nan)
    verb = "differs" if a.size == 1 else "differ"
    counted = "the value" if a.size == 1 else f"{int(wrong.sum())} of {a.size} values"
    where = f" at {list(index)}" if index else ""
    sentence = f"{counted} {verb}, by {largest:.3g}{' at most,' if a.size > 1 else ''}{where}"
    return differ(sentence.rstrip(","), index=index, largest=largest)


def _of(count: int, size: int) -> str:
    if count == size:
        return "the value is" if size == 1 else "all values are"
    return f"{count} of {size} values {'is' if count == 1 else 'are'}"


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
