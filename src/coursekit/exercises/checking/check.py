"""`check(answer)`: runs the visible cases of a question on what the learner wrote, and says so.

It never raises and reaches no network. Cases are run once each, in silence and for a limited time;
the random numbers of the notebook are left as they were.
"""

from __future__ import annotations

import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.assignments import forbidden
from coursekit.exercises.catalogue import find, load, names, references
from coursekit.exercises.checking.answer import Answer
from coursekit.exercises.checking.clock import Printed, TooLong, limit, silence
from coursekit.exercises.comparing.excerpt import excerpt
from coursekit.exercises.comparing.outcome import Known, Outcome, observe
from coursekit.exercises.question import Assignment, Question

SECONDS = 5.0  # of work, for all cases of a question
MISSING = object()
_known: dict[str, Known] = {}


def check(answer: Any = MISSING, function: Any = MISSING) -> Answer:
    """Check a function or class that a question asks for: `check(shares)`.

    `check("shares")` looks the name up in the notebook, and `check("shares", something)` checks
    something of another name as if it were the answer.
    """
    notebook = sys._getframe(1).f_globals
    try:
        return _check(answer, function, notebook)
    except Exception as error:  # the course's own fault; a learner's cell must not break by it
        said = f"{type(error).__name__}: {error}"
        return Answer("check", "could not look at this", problem=f"{said}. Please tell the course.")


def _check(answer: Any, function: Any, notebook: dict[str, Any]) -> Answer:
    if isinstance(answer, str):
        name = answer
        answer = notebook.get(name, MISSING) if function is MISSING else function
    elif answer is MISSING:
        return _unusable("check", "give it the function or class: check(shares)")
    elif isinstance(answer, (Tensor, nn.Module)):
        what = "an instance" if isinstance(answer, nn.Module) else "a value"
        return _unusable(
            "check", f"this is {what}; check wants the function or class itself, without calling it"
        )
    else:
        name = getattr(answer, "__name__", "")
        if not find(name):  # shares = lambda scores: ...
            asked = (question.name for question in _nearest(notebook).questions)
            name = next((one for one in asked if notebook.get(one, MISSING) is answer), name)
    found = find(name) if name else None
    if found is None:
        said = f"no question asks for {name!r}" if name else "this has no name"
        asked = ", ".join(question.name for question in _nearest(notebook).questions)
        return _unusable("check", f'{said}; the questions here are {asked}. check("NAME", f)?')
    assignment, question = found
    if answer is MISSING:
        return _unusable(name, f"{name} is not defined yet: run the cell that defines it first")
    wants_class = inspect.isclass(question.reference)
    if wants_class != inspect.isclass(answer) or not callable(answer):
        kind = "a class" if wants_class else "a function"
        return _unusable(name, f"{name} should be {kind}")
    with torch.random.fork_rng(devices=[]):  # the notebook's random numbers stay as they are
        return _look(assignment, question, answer, notebook)


def _unusable(name: str, sentence: str) -> Answer:
    return Answer(name, sentence)


def _nearest(notebook: dict[str, Any]) -> Assignment:
    """Return the assignment most of whose names the notebook has."""
    everything = [load(name) for name in names()]
    return max(everything, key=lambda a: sum(q.name in notebook for q in a.questions))


def _look(
    assignment: Assignment, question: Question, answer: Any, notebook: dict[str, Any]
) -> Answer:
    recorder = Recorder(question.name, answer)
    own = {q.name: notebook[q.name] for q in assignment.questions if q.name in notebook}
    student = references(assignment, **{**own, question.name: recorder.stand_in()})
    outcomes, calls, printed, stopped = _run(question, student, recorder)
    known = _known.setdefault(question.name, Known(assignment, question, question.cases))

    result = Answer(question.name, "", page=question.page)
    first = None
    for number, (case, outcome) in enumerate(zip(question.cases, outcomes)):
        difference = None
        if outcome is not None:
            difference = known.difference(outcome, number)
        passed: bool | None = outcome is not None and difference is None
        if outcome is None and stopped != number:
            passed = None
        result.cases.append((case.says, passed))
        if passed is False and first is None:
            first = number
    total = len(question.cases)
    result.headline = f"{result.passed} of {total} cases pass"
    if first is None:
        result.headline = f"all {total} cases pass"
    result.notes += _notes(assignment, question, answer, printed)
    if first is None:
        return result
    outcome = outcomes[first]
    result.call = calls[first]
    if outcome is None:
        result.problem = f"stopped after {SECONDS:.0f} seconds; does a loop never end?"
    elif isinstance(outcome.error, NotImplementedError) and not result.passed:
        result.headline, result.call, result.hint = "not written yet", "", question.hint
        result.cases = [(case.says, None) for case in question.cases]
        return result
    elif outcome.error is not None:
        result.problem = _error(outcome.error, recorder)
        result.where = _where(outcome.error, answer)
    else:
        case = question.cases[first]
        difference = known.difference(outcome, first)
        result.problem, result.excerpt = (
            str(difference),
            excerpt(difference, known.tolerance(first)),
        )
    if stopped is None:
        cause, with_ours = _cause(assignment, question, answer)
        mistake = known.misconception(with_ours or outcomes)
        result.misconception = mistake.name if mistake else ""
        result.hint = cause or (mistake.hint if mistake else question.hint)
    else:
        result.hint = question.hint
    return result


def _cause(
    assignment: Assignment, question: Question, answer: Any
) -> tuple[str, list[Outcome | None] | None]:
    """Look whether an earlier answer is at fault; return a hint if so, and what ours would give.

    Earlier answers that fail are replaced by ours for one run. If all is right then, the hint is
    that of the earlier question; else what came out in this run speaks of this answer alone.
    """
    code = answer.forward if inspect.isclass(answer) and hasattr(answer, "forward") else answer
    names = getattr(inspect.unwrap(code), "__globals__", {})
    wrong, first = {}, ""
    for earlier in assignment.questions:
        if earlier.name in question.needs and earlier.name in names:
            known = _known.setdefault(earlier.name, Known(assignment, earlier, earlier.cases))
            seen = _outcomes(assignment, earlier, names[earlier.name])
            if not _right(known, seen):
                mistake = known.misconception(seen)
                first = first or f"{earlier.name}. {mistake.hint if mistake else earlier.hint}"
                wrong[earlier.name] = earlier.reference
    if not wrong:
        return "", None
    kept = {name: names[name] for name in wrong}
    names.update(wrong)
    try:
        seen = _outcomes(assignment, question, answer)
    finally:
        names.update(kept)
    if not _right(_known[question.name], seen):
        return "", seen
    return f"With ours in place of your {' and '.join(wrong)} this is right. Mend {first}", seen


def _outcomes(assignment: Assignment, question: Question, answer: Any) -> list[Outcome | None]:
    recorder = Recorder(question.name, answer)
    student = references(assignment, **{question.name: recorder.stand_in()})
    return _run(question, student, recorder)[0]


def _right(known: Known, outcomes: list[Outcome | None]) -> bool:
    return all(
        outcome is not None and known.difference(outcome, number) is None
        for number, outcome in enumerate(outcomes)
    )


def _run(
    question: Question, student: SimpleNamespace, recorder: Recorder
) -> tuple[list[Outcome | None], list[str], Printed, int | None]:
    """Run each case once; return outcomes, calls, what was printed, and where time ran out."""
    outcomes: list[Outcome | None] = [None] * len(question.cases)
    calls = [""] * len(question.cases)
    number = 0
    with silence() as printed:
        try:
            with limit(SECONDS):
                for number, case in enumerate(question.cases):
                    recorder.call = ""
                    try:
                        outcomes[number] = observe(case, student)
                    except (KeyboardInterrupt, TooLong):
                        raise
                    except BaseException as error:  # sys.exit() in an answer
                        outcomes[number] = Outcome(error=error)
                    calls[number] = recorder.call
        except TooLong:
            calls[number] = recorder.call
            return outcomes, calls, printed, number
    return outcomes, calls, printed, None


def _notes(assignment: Assignment, question: Question, answer: Any, printed: Printed) -> list[str]:
    notes = []
    roots = {name.split(".")[0] for one in assignment.questions for name in one.forbidden}
    absent = roots.difference(forbidden.THERE)
    try:
        source = textwrap.dedent(inspect.getsource(answer))
    except (OSError, TypeError):
        source = ""
    if calls := forbidden.used(source, dict.fromkeys((*question.forbidden, *sorted(absent)))):
        spelled = ", ".join(map(forbidden.spelled, calls))
        gone = any(call.split(".")[0] in absent for call in calls)
        more = " It will not be there when this is graded." if gone else ""
        notes.append(f"it uses {spelled}, which this question asks you to do without.{more}")
    if printed.lines:
        lines = f"{printed.lines} line{'' if printed.lines == 1 else 's'}"
        start = printed.start.strip().split("\n")[0][:60]
        notes.append(f"what it prints is left out here ({lines}, beginning {start!r}).")
    return notes


def _error(error: BaseException, recorder: Recorder) -> str:
    if recorder.misfit:
        return recorder.misfit
    said = " ".join(str(error).split())
    said = said if len(said) <= 300 else said[:297] + "..."
    if isinstance(error, NotImplementedError):
        return "a part is not written yet (raise NotImplementedError())"
    if "in-place operation" in said and "leaf" in said:
        return f"{type(error).__name__}: {said} It changes its input; make a new tensor instead."
    return f"raised {type(error).__name__}: {said}" if said else f"raised {type(error).__name__}"


def _where(error: BaseException, answer: Any) -> str:
    """Return the deepest line of the learner's own cells on the way to the error."""
    target = getattr(answer, "forward", answer) if inspect.isclass(answer) else answer
    code = getattr(inspect.unwrap(target), "__code__", None)
    own = code.co_filename if code else ""
    found = ""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file == own or "ipykernel_" in file or "ipython-input" in file:
            line = linecache.getline(file, trace.tb_lineno).strip()
            found = f"line {trace.tb_lineno}: {line}" if line else f"line {trace.tb_lineno}"
        trace = trace.tb_next
    return found


class Recorder:
    """Stands between the cases and the answer and remembers how it was called last."""

    def __init__(self, name: str, answer: Any) -> None:
        self.name, self.answer = name, answer
        self.call = ""  # "shares(scores: (2, 3))"
        self.misfit = ""  # where the arguments do not fit the signature

    def stand_in(self) -> Callable[..., Any]:
        """Return what the cases call in place of the answer."""

        def call(*arguments: Any, **named: Any) -> Any:
            self.misfit = ""
            self._note(self.name, self.answer, arguments, named)
            try:
                made = self.answer(*arguments, **named)
            except TypeError:
                self._fits(arguments, named)
                raise
            if isinstance(made, nn.Module):
                made.register_forward_pre_hook(self._forward, with_kwargs=True)
            return made

        return call

    def _forward(self, module: nn.Module, arguments: tuple, named: dict[str, Any]) -> None:
        self._note(f"{self.name}.forward", module.forward, arguments, named)

    def _note(self, name: str, function: Any, arguments: tuple, named: dict[str, Any]) -> None:
        try:
            bound = inspect.signature(function).bind(*arguments, **named).arguments
            flat = list(bound.items())
        except (TypeError, ValueError):
            flat = [("", value) for value in arguments] + list(named.items())
        said = [f"{key}: {_said(value)}" if key else _said(value) for key, value in flat]
        self.call = f"{name}({', '.join(said)})"

    def _fits(self, arguments: tuple, named: dict[str, Any]) -> None:
        try:
            signature = inspect.signature(self.answer)
            signature.bind(*arguments, **named)
        except TypeError as error:
            self.misfit = f"{self.name}{signature} cannot be called like this: {error}"
        except ValueError:
            pass


def _said(value: Any) -> str:
    if isinstance(value, Tensor):
        kind = "" if value.dtype == torch.float32 else f" {str(value.dtype).removeprefix('torch.')}"
        return f"{tuple(value.shape)}{kind}"
    if isinstance(value, dict):
        return "{...}"
    if type(value) in (list, tuple) and any(isinstance(item, Tensor) for item in value):
        text = ("[{}]" if type(value) is list else "({})").format(", ".join(map(_said, value)))
    else:
        text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
