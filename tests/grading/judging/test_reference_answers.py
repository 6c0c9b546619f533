"""Ours in the place of an earlier answer: the same values and gradients, nothing of ours there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from coursekit.check.outcome import differ, observe
from coursekit.submission.resource_limits import MB, Limits
from coursetools.assignments.sources import source
from coursetools.course import Course
from coursetools.grading.judging.reference_answers import ReferenceAnswers
from coursetools.grading.student import remote_answers, wire
from coursetools.notebooks.imports import read_notebook
from coursetools.questions import catalogue
from coursetools.questions.audit import _namespace
from coursetools.questions.known_answers import Known

ROOT = Path(__file__).parents[3]
OURS = Course(ROOT)
CALLERS = [
    pytest.param(name, question.name, id=question.name)
    for name in catalogue.names(OURS)
    for question in catalogue.load(OURS, name).questions
    if question.needs
]


def asking(carried: ReferenceAnswers) -> remote_answers.Ask:
    """Ask without a process between: letters are the same."""

    def ask(message, buffers):
        return wire.unseal(carried(wire.seal(message, buffers)))

    return ask


def stand_ins(references: dict, limits: Limits | None = None) -> SimpleNamespace:
    questions = [SimpleNamespace(name=name, reference=one) for name, one in references.items()]
    carried = ReferenceAnswers(questions, limits or Limits())
    return SimpleNamespace(**remote_answers.made(carried.kinds, asking(carried)))


@pytest.mark.parametrize(("assignment", "name"), CALLERS)
def test_a_right_answer_passes_every_case_with_ours_below_it(assignment, name):
    made = catalogue.load(OURS, assignment)
    question = next(question for question in made.questions if question.name == name)
    known = Known(made, question)
    assert known.cases == (*question.cases, *question.hidden)
    solved = _namespace(read_notebook(source(OURS, assignment)))
    below = {q.name: q.reference for q in made.questions if q.name in question.needs}
    names = vars(stand_ins(below))
    answer = getattr(solved, name)
    (answer.forward if isinstance(answer, type) else answer).__globals__.update(names)
    for number, case in enumerate(known.cases):
        found = observe(case.run, solved)
        assert differ(found, known.expected(number), case.tolerance) is None, case.says


def test_gradients_go_through_a_function_to_what_was_given():
    def mixed(x, scale, pair, *, power):
        return {"out": (x * scale + pair[0]) ** power, "also": [x.sum(), 3, pair[1].argmax()]}

    theirs = stand_ins({"mixed": mixed}).mixed
    inputs = [torch.randn(3, 4, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    free = torch.randn(4, dtype=torch.float64)

    def total(function):
        value = function(inputs[0], 2.0, (inputs[1], free), power=3)
        assert value["also"][1:] == [3, free.argmax()]
        return value["out"].cos().sum() + value["also"][0]

    expected = torch.autograd.grad(total(mixed), inputs)
    found = torch.autograd.grad(total(theirs), inputs)
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one, other)
    with torch.no_grad():
        assert not theirs(inputs[0], 2.0, (inputs[1], free), power=3)["out"].requires_grad


def test_a_module_has_the_same_weights_names_and_gradients():
    class Two(torch.nn.Module):
        def __init__(self, *, width):
            super().__init__()
            self.inner = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.Tanh())
            self.drop = torch.nn.Dropout(0.5)
            self.register_buffer("shift", torch.ones(width))

        def forward(self, x, gain=1.0):
            return self.drop(self.inner(x)) * gain + self.shift

    theirs, direct = stand_ins({"Two": Two}).Two(width=3), Two(width=3)
    assert [n for n, _ in theirs.named_parameters()] == [n for n, _ in direct.named_parameters()]
    direct.load_state_dict(theirs.state_dict())
    x = torch.randn(5, 3, requires_grad=True)
    wanted = [x, *direct.parameters()]
    expected = torch.autograd.grad(direct.eval()(x, gain=2.0).square().sum(), wanted)
    wanted = [x, *theirs.parameters()]
    found = torch.autograd.grad(theirs.eval()(x, gain=2.0).square().sum(), wanted)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other)
    assert not torch.equal(theirs.train()(x), theirs.eval()(x))


def test_whatever_a_stranger_asks_has_an_end_and_is_an_answer():
    def endless(x):
        while True:
            pass

    def greedy(x):
        return torch.ones(1 << 33)

    names = stand_ins(
        {"endless": endless, "greedy": greedy}, Limits(cell_seconds=0.2, memory=512 * MB)
    )
    for name in ("endless", "greedy"):
        with pytest.raises(RuntimeError, match="ours raises"):
            getattr(names, name)(torch.ones(1))
    with pytest.raises(RuntimeError, match="ours raises TypeError"):
        names.greedy(1, 2, 3)
    with pytest.raises(TypeError, match="plain values"):
        names.greedy(lambda: None)
    carried = ReferenceAnswers([SimpleNamespace(name="greedy", reference=greedy)], Limits())
    for message in ({}, {"values": 1}, {"do": "call", "name": "other", "values": {"list": []}}):
        assert "error" in wire.unseal(carried(wire.seal(message, [])))[0]


def test_an_answer_is_kept_and_a_failure_of_the_moment_is_not():
    asked = []

    def moody(x):
        asked.append(1)
        if len(asked) == 1:
            raise MemoryError("just now")
        return x + 1

    names = stand_ins({"moody": moody})
    with pytest.raises(RuntimeError, match="just now"):
        names.moody(1)
    assert [names.moody(1), names.moody(1), names.moody(2)] == [2, 2, 3]
    assert len(asked) == 3
