"""`check(answer)`: runs the visible cases of a question on what the learner wrote, and says so.

It never raises and reaches no network. Cases are run once each, in silence and for a limited time;
the random numbers of the notebook are left as they were.
"""

from __future__ import annotations

import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from coursekit.check import compiled
from coursekit.check.answer import Answer
from coursekit.check.clock import Printed, TooLong, limit, silence
from coursekit.check.compiled import CompiledAssignment, CompiledQuestion
from coursekit.check.excerpt import excerpt
from coursekit.check.outcome import Outcome
from coursekit.check.variants import number_of
from coursekit.check.your_numbers import whose
from coursekit.submission import forbidden

SECONDS = 5.0  # of work, for all cases of a question
MISSING = object()


def check(answer: Any = MISSING, function: Any = MISSING) -> Answer:
    """Check a function or class that a question asks for: `check(shares)`.

    `check("shares")` looks the name up in the notebook, and `check("shares", something)` checks
    something of another name as if it were the answer.
    """
    notebook = sys._getframe(1).f_globals
    try:
        return _check(answer, function, notebook)
    except Exception as error:  # the course's own fault; a learner's cell must not break by it
        message = f"{type(error).__name__}: {error}"
        return Answer(
            "check", "could not look at this", problem=f"{message}. Please tell the course."
        )


def _check(answer: Any, function: Any, notebook: dict[str, Any]) -> Answer:
    if isinstance(answer, str):
        name = answer
        answer = notebook.get(name, MISSING) if function is MISSING else function
    elif answer is MISSING:
        return Answer("check", "give it the function or class: check(shares)")
    elif isinstance(answer, (Tensor, nn.Module)):
        what = "an instance" if isinstance(answer, nn.Module) else "a value"
        return Answer(
            "check", f"this is {what}; check wants the function or class itself, without calling it"
        )
    else:
        name = getattr(answer, "__name__", "")
        if not compiled.asking(name):  # shares = lambda scores: ...
            names = (question.name for question in _nearest(notebook).questions)
            name = next((one for one in names if notebook.get(one, MISSING) is answer), name)
    home = compiled.asking(name) if name else None
    if home is None:
        message = f"no question asks for {name!r}" if name else "this has no name"
        names = ", ".join(question.name for question in _nearest(notebook).questions)
        return Answer("check", f'{message}; the questions here are {names}. check("NAME", f)?')
    assignment = compiled.load(home)
    question = next(one for one in assignment.questions if one.name == name)
    if answer is MISSING:
        return Answer(name, f"{name} is not defined yet: run the cell that defines it first")
    if question.is_class != inspect.isclass(answer) or not callable(answer):
        kind = "a class" if question.is_class else "a function"
        return Answer(name, f"{name} should be {kind}")
    student = notebook.get("student", "")
    question = question.of(number_of(home, student, question.count))
    with torch.random.fork_rng(devices=[]):  # the notebook's random numbers stay as they are
        result = _look(assignment, question, answer, notebook)
    if question.variant:
        result.notes.insert(0, f"checked with {whose(student)}: {question.variant}")
    return result


def _nearest(notebook: dict[str, Any]) -> CompiledAssignment:
    """Return the assignment most of whose names the notebook has."""
    everything = [compiled.load(name) for name in compiled.names()]
    return max(everything, key=lambda a: sum(q.name in notebook for q in a.questions))


def _look(
    assignment: CompiledAssignment,
    question: CompiledQuestion,
    answer: Any,
    notebook: dict[str, Any],
) -> Answer:
    recorder = Recorder(question.name, answer)
    answers = {q.name: notebook[q.name] for q in assignment.questions if q.name in notebook}
    student = SimpleNamespace(**{**answers, question.name: recorder.stand_in()})
    outcomes, calls, printed, stopped = _run(question, student, recorder)

    result = Answer(question.name, "", page=question.page)
    first = None
    for number, (case, outcome) in enumerate(zip(question.cases, outcomes)):
        passed: bool | None = outcome is not None and case.difference(outcome) is None
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
    outcome, case = outcomes[first], question.cases[first]
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
        difference = case.difference(outcome)
        result.problem = str(difference)
        result.excerpt = excerpt(difference, case.tolerance)
    result.hint = question.hint
    if stopped is None:
        passing, cause = _earlier(assignment, question, answer)
        if not cause and (mistake := question.misconception(outcomes)):
            result.misconception, cause = mistake.name, mistake.hint
        result.hint = cause or question.hint
        if passing:
            verb = "passes its own check" if len(passing) == 1 else "pass their own checks"
            result.notes.append(f"it calls your {' and '.join(passing)}, which {verb}.")
    return result


def _earlier(
    assignment: CompiledAssignment, question: CompiledQuestion, answer: Any
) -> tuple[list[str], str]:
    """Look at the earlier answers that this one calls, the learner's own.

    Return those that pass their checks, and a hint where one of them does not.
    """
    names = getattr(next(_functions(answer), None), "__globals__", {})
    called = _called(answer, names)
    passing: list[str] = []
    for earlier in assignment.questions:
        if earlier.name not in question.needs or earlier.name not in called & names.keys():
            continue
        answers = {q.name: names[q.name] for q in assignment.questions if q.name in names}
        recorder = Recorder(earlier.name, names[earlier.name])
        student = SimpleNamespace(**{**answers, earlier.name: recorder.stand_in()})
        outcomes = _run(earlier, student, recorder)[0]
        if all(o and case.difference(o) is None for case, o in zip(earlier.cases, outcomes)):
            passing.append(earlier.name)
            continue
        mistake = earlier.misconception(outcomes)
        hint = mistake.hint if mistake else earlier.hint
        advice = (
            f"This calls your {earlier.name}, which does not pass its own check. Mend that first"
        )
        return passing, f"{advice}: {hint}"
    return passing, ""


def _functions(answer: Any) -> Iterator[FunctionType]:
    """Yield the functions that an answer is made of: itself, or its methods."""
    parts = vars(answer).values() if inspect.isclass(answer) else [answer]
    yield from (one for one in map(inspect.unwrap, parts) if isinstance(one, FunctionType))


def _called(answer: Any, names: dict[str, Any]) -> set[str]:
    """Return the names that the code of an answer mentions, and of what it calls in a notebook."""
    called: set[str] = set()
    waiting = [function.__code__ for function in _functions(answer)]
    while waiting:
        code = waiting.pop()
        waiting += [one for one in code.co_consts if isinstance(one, CodeType)]
        for name in set(code.co_names) - called:
            called.add(name)
            if getattr(names.get(name), "__module__", "") == names.get("__name__", "__main__"):
                waiting += [function.__code__ for function in _functions(names[name])]
    return called


def _run(
    question: CompiledQuestion, student: SimpleNamespace, recorder: Recorder
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
                        outcomes[number] = case.observe(student)
                    except (KeyboardInterrupt, TooLong):
                        raise
                    except BaseException as error:  # sys.exit() in an answer
                        outcomes[number] = Outcome(error=error)
                    calls[number] = recorder.call
        except TooLong:
            calls[number] = recorder.call
            return outcomes, calls, printed, number
    return outcomes, calls, printed, None


def _notes(
    assignment: CompiledAssignment, question: CompiledQuestion, answer: Any, printed: Printed
) -> list[str]:
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
    message = " ".join(str(error).split())
    message = message if len(message) <= 300 else message[:297] + "..."
    if isinstance(error, NotImplementedError):
        return "a part is not written yet (raise NotImplementedError())"
    if "in-place operation" in message and "leaf" in message:
        return f"{type(error).__name__}: {message} It changes its input; make a new tensor instead."
    return (
        f"raised {type(error).__name__}: {message}" if message else f"raised {type(error).__name__}"
    )


def _where(error: BaseException, answer: Any) -> str:
    """Return the deepest line of the learner's own cells on the way to the error."""
    target = getattr(answer, "forward", answer) if inspect.isclass(answer) else answer
    code = getattr(inspect.unwrap(target), "__code__", None)
    own = code.co_filename if code else ""
    place = ""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file == own or "ipykernel_" in file or "ipython-input" in file:
            line = linecache.getline(file, trace.tb_lineno).strip()
            place = f"line {trace.tb_lineno}: {line}" if line else f"line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


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
        lines = [f"{key}: {_said(value)}" if key else _said(value) for key, value in flat]
        self.call = f"{name}({', '.join(lines)})"

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
