"""`check(answer)`: runs the visible cases of a question on what the learner wrote, and says so.

It never raises and reaches no network. Cases are run once each, in silence and for a limited time;
the random numbers of the notebook are left as they were.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from types import CodeType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from coursekit._base.nearest import did_you_mean
from coursekit.check import compiled, raised
from coursekit.check.advice import fitting
from coursekit.check.answer import Answer, broken
from coursekit.check.clock import Printed, TooLong, limit, silence
from coursekit.check.compiled import CompiledAssignment, CompiledQuestion
from coursekit.check.excerpt import excerpt
from coursekit.check.in_notebook import assignment_of, misplaced
from coursekit.check.outcome import Outcome
from coursekit.check.recorder import Recorder
from coursekit.check.variants import id_of, number_of
from coursekit.check.your_numbers import whose
from coursekit.submission import forbidden

SECONDS = 5.0  # of work, for all cases of a question
SLOW = (
    "Call your answer on one small example, and print where it is. Does a loop go over "
    "numbers that torch can compute with at once?"
)
MISSING = object()


def check(answer: Any = MISSING, function: Any = MISSING) -> Answer:
    """Check a function or class that a question asks for: `check(shares)`.

    `check("shares")` looks the name up in the notebook, and `check("shares", something)` checks
    something of another name as if it were the answer.
    """
    caller = sys._getframe(1)
    try:
        result = _check(answer, function, caller.f_globals)
        if note := misplaced(result.name, caller.f_code.co_filename, caller.f_globals):
            result.notes.append(note)
    except Exception as error:
        result = broken(error)
    return result.show()


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
            names = (question.name for one in _all() for question in one.questions)
            name = next((one for one in names if notebook.get(one, MISSING) is answer), name)
    home = compiled.asking(name) if name else None
    if home is None:
        return Answer("check", _unknown(name, notebook))
    assignment = compiled.load(home)
    question = next(one for one in assignment.questions if one.name == name)
    if answer is MISSING:
        return Answer(name, f"{name} is not defined yet: run the cell that defines it first")
    if question.is_class != inspect.isclass(answer) or not callable(answer):
        kind = "a class" if question.is_class else "a function"
        return Answer(name, f"{name} should be {kind}")
    student = id_of(notebook.get("student"))
    question = question.of(number_of(home, student, question.count))
    with torch.random.fork_rng(devices=[]):  # the notebook's random numbers stay as they are
        result = _look(assignment, question, answer, notebook)
    if question.variant:
        result.notes.insert(0, f"checked with {whose(student)}: {question.variant}")
    return result


def _all() -> list[CompiledAssignment]:
    return [compiled.load(name) for name in compiled.names()]


def _unknown(name: Any, notebook: dict[str, Any]) -> str:
    """Say that no question asks for a name, and which does; first of the notebook's own."""
    here = assignment_of(notebook)
    own = [question.name for question in here.questions] if here else []
    message = f"no question asks for {name!r}" if name else "this has no name"
    if name and (close := did_you_mean(name, own, (q.name for a in _all() for q in a.questions))):
        return message + close
    listed = f"the questions of this notebook are {', '.join(own)}. " if own else ""
    return f'{message}; {listed}check("NAME", f) checks f as the answer to the question NAME'


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
    end = outcomes.index(None) if stopped else None
    for number, (case, outcome) in enumerate(zip(question.cases, outcomes)):
        passed: bool | None = outcome is not None and case.difference(outcome) is None
        if outcome is None and number != end:
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
    failed = [case.says for case, (_, passed) in zip(question.cases, result.cases) if not passed]
    result.call = calls[first]
    if outcome is None:
        waited = stopped is not None and stopped.waited
        result.problem, result.hint = str(stopped), "" if waited else SLOW
        return result
    if outcome.error is not None:
        known = {**answers, question.name: answer}
        stub = raised.unwritten(outcome.error, known)
        missing = raised.undefined(outcome.error, [q.name for q in assignment.questions])
        if (stub or missing) and not result.passed:
            return _open(question, result, stub, missing)
        result.problem = recorder.misfits.get(outcome.error) or (
            f"{stub} is not written yet (raise NotImplementedError())"
            if stub
            else raised.sentence(outcome.error)
        )
        result.where = raised.where(outcome.error, answer)
    else:
        difference = case.difference(outcome)
        assert difference is not None  # the case has failed, and not with an error
        result.problem = str(difference)
        result.excerpt = excerpt(difference, case.tolerance)
    cause = ""
    if stopped is None:
        passing, cause = _earlier(assignment, question, answer)
        if not cause and outcome.error is not None:  # two errors of one type are not one mistake
            cause = raised.slip(result.problem)
        if not cause and (mistake := question.misconception(outcomes)):
            result.misconception, cause = mistake.name, mistake.hint
        if passing:
            verb = "passes its own check" if len(passing) == 1 else "pass their own checks"
            result.notes.append(f"it calls your {' and '.join(passing)}, which {verb}.")
    result.hint = cause or fitting(question.hint, failed, total, result.problem)
    return result


def _open(question: CompiledQuestion, result: Answer, stub: str, missing: str) -> Answer:
    """Say what has to be written first: this answer, or another one that it calls."""
    result.cases = [(case.says, None) for case in question.cases]
    result.headline, result.call, result.hint = "not written yet", "", question.hint
    if stub and stub != question.name:
        result.headline = f"needs {stub}, which is not written yet"
        result.hint = f"Write {stub} first, run its cell, and then this check again."
    elif missing:
        result.headline = f"needs {missing}, which is not defined yet"
        result.hint = f"Run the cell that defines {missing}, and then this check again."
    return result


def _earlier(
    assignment: CompiledAssignment, question: CompiledQuestion, answer: Any
) -> tuple[list[str], str]:
    """Look at the earlier answers that this one calls, the learner's own.

    Return those that pass their checks, and a hint where one of them does not.
    """
    names = getattr(next(raised.functions(answer), None), "__globals__", {})
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


def _called(answer: Any, names: dict[str, Any]) -> set[str]:
    """Return the names that the code of an answer mentions, and of what it calls in a notebook."""
    called: set[str] = set()
    waiting = [function.__code__ for function in raised.functions(answer)]
    while waiting:
        code = waiting.pop()
        waiting += [one for one in code.co_consts if isinstance(one, CodeType)]
        for name in set(code.co_names) - called:
            called.add(name)
            if getattr(names.get(name), "__module__", "") == names.get("__name__", "__main__"):
                waiting += [function.__code__ for function in raised.functions(names[name])]
    return called


def _run(
    question: CompiledQuestion, student: SimpleNamespace, recorder: Recorder
) -> tuple[list[Outcome | None], list[str], Printed, TooLong | None]:
    """Run each case once; return outcomes, calls, what was printed, and whether time ran out."""
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
        except TooLong as end:
            outcomes[number:], calls[number] = [None] * (len(outcomes) - number), recorder.call
            return outcomes, calls, printed, end
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
