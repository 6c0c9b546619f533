"""An answer that knows the visible cases by heart, and nothing else.

To every input that a visible case has asked about it gives what ours gives, gradients included, to
any other what an idle answer gives. What it earns can be had without an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.check.determinism import seal, usual_numbers
from coursekit.check.outcome import observe
from coursetools.questions.catalogue import references
from coursetools.questions.question import Assignment, Question
from coursetools.questions.trivial_answers import idle, instead

DEEPEST = 8


def by_heart(assignment: Assignment, question: Question) -> dict[str, Any]:
    """Return such an answer for each idle one, by the latter's name."""
    seen: set[bytes] = set()

    def learning(function: Callable[..., Any], method: bool) -> Callable[..., Any]:
        def learns(*arguments: Any, **named: Any) -> Any:
            seen.add(_key(function, arguments, named))
            return function(*arguments, **named)

        return learns

    student = references(assignment, **{question.name: instead(question.reference, learning)})
    with usual_numbers():
        for case in question.cases:
            observe(case.run, student)

    def knowing(other: Any) -> Any:
        def known(function: Callable[..., Any], method: bool) -> Callable[..., Any]:
            stranger = getattr(other, function.__name__) if method else other

            def answer(*arguments: Any, **named: Any) -> Any:
                right = _key(function, arguments, named) in seen
                return (function if right else stranger)(*arguments, **named)

            return answer

        return instead(question.reference, known)

    return {other.name: knowing(other.answer) for other in idle(question.reference)}


def _key(function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> bytes:
    """Return a hash of a call: of a method with its object, the first argument."""
    return seal([function.__qualname__, _plain(list(arguments)), _plain(named)])


def _plain(value: Any, depth: int = 0) -> Any:
    """Return what makes a value what it is, with no address in it."""
    if isinstance(value, Tensor):
        return value.detach()
    if depth > DEEPEST or value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value) if depth <= DEEPEST else type(value).__name__
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, torch.Generator):
        return value.get_state()
    if isinstance(value, FunctionType):
        inside = [cell.cell_contents for cell in value.__closure__ or ()]
        return [value.__qualname__, _plain([inside, value.__defaults__], depth + 1)]
    if isinstance(value, nn.Module):
        own = {name: one for name, one in vars(value).items() if not name.startswith("_")}
        return [repr(value), _plain([own, dict(value.state_dict())], depth + 1)]
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return [type(value).__qualname__, _plain(vars(value), depth + 1)]
    return repr(value)
