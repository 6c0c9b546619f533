"""Each run of a case makes its own values: a case that shares some with others is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from torch import Tensor, nn

from coursekit._base.errors import CourseError
from coursetools.questions.question import Case

MUTABLE = (Tensor, np.ndarray, nn.Module, list, dict, set, bytearray)


def refuse_shared(where: str, names: Mapping[str, Any], cases: Iterable[Case]) -> None:
    """Raise where cases of one module share a value that an answer could change."""
    values = {name: value for name, value in names.items() if not name.startswith("__")}
    for case in cases:
        run = case.run
        values |= dict(zip(run.__code__.co_freevars, map(_content, run.__closure__ or ())))
        values |= {f"a default of {case.says!r}": value for value in run.__defaults__ or ()}
    for name, value in values.items():
        if _mutable(value):
            raise CourseError(
                f"{where}: {name} is one {type(value).__name__} for all cases, so an answer could "
                "change what later ones are given; make it anew each time, in a function"
            )


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _mutable(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_mutable, value))
    return isinstance(value, MUTABLE)
