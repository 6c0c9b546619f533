"""What a learner meets: every answer gets a fitting sentence, at once, and nothing ever raises."""

from __future__ import annotations

import contextlib
import dataclasses
import html.parser
import io
import math
import sys
import time
from importlib import import_module

import ours
import pytest
import torch
from torch import nn

from coursekit._base.address import HOME, is_set
from coursekit.check import check, checking, compiled, handin
from coursetools.questions.known_answers import Known

QUESTIONS = [
    pytest.param(question, id=question.name)
    for assignment in map(ours.load, ours.names())
    for question in assignment.questions
]


def wrong(question, name):
    """Return the answer of somebody who makes one of the mistakes that we know."""
    known = ours.find(question)[1].misconceptions
    return next(mistake.answer for mistake in known if mistake.name == name)


Additive = ours.find("AdditiveScores")[1].reference


def shares(scores):
    return scores.softmax(dim=-1)


def looping(scores):
    while True:
        with contextlib.suppress(Exception):
            math.sqrt(2)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_reference_passes_in_under_a_second(question):
    """That each misconception gets its hint is looked at where it is a cell: test_audit.py."""
    start = time.process_time()  # of ours alone
    answer = check(question.name, question.reference)
    assert time.process_time() - start < 1
    assert answer.right and answer.headline.startswith("all") and not answer.hint


def test_the_name_of_the_function_finds_the_question():
    assert check(shares).right and check("shares", lambda scores: scores.softmax(-1)).right
    answer = check("shares")  # looked up here, where it is defined
    assert answer.right and repr(answer).splitlines()[0] == "shares: all 5 cases pass"


def test_an_answer_may_have_another_name_of_its_own(monkeypatch):
    """`shares = lambda scores: ...`, or a function under a second name."""
    monkeypatch.setitem(globals(), "shares", lambda scores: scores.softmax(-1))
    assert check(shares).right and check(shares).name == "shares"


def test_a_failure_shows_the_call_both_sides_and_the_link(monkeypatch):
    home = "https://github.com/somebody/some-course"
    monkeypatch.setattr("coursekit.check.answer.HOME", home)
    text = repr(check("shares", wrong("shares", "largest score not subtracted")))
    assert "\nscores of a thousand:\n  shares(scores: (2, 2))\n  all values are nan" in text
    assert "nan* nan*   0.7311 0.2689" in text
    assert "https://somebody.github.io/some-course/book/kernels.html#sec-kernels-regr" in text
    monkeypatch.undo()  # as the course has none here, there is none to be shown
    assert "Page:" not in repr(check("shares", lambda scores: scores)) or is_set(HOME)
    module = repr(check("AdditiveScores", wrong("AdditiveScores", "no tanh")))
    assert "AdditiveScores.forward(q: (1, 2), k: (1, 2), covered: (1, 1))" in module


def test_an_unknown_mistake_gets_the_first_hint():
    answer = check("shares", lambda scores: scores * 0)
    assert answer.misconception == "" and answer.hint == ours.find("shares")[1].hint


def test_an_exception_is_shown_with_the_line_of_the_answer():
    def broken(scores):
        halves = scores / 2
        return halves.no_such_method()

    answer = check("shares", broken)
    assert "raised AttributeError" in answer.problem
    assert answer.where.endswith("return halves.no_such_method()")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give it the function or class"),
        (("no_such_question", shares), "no question asks for 'no_such_question'"),
        (("predict",), "predict is not defined yet"),
        ((torch.zeros(2),), "this is a value; check wants the function or class itself"),
        (
            (wrong("AdditiveScores", "no tanh")(query_width=1, key_width=1, hidden=1),),
            "this is an instance",
        ),
        (("AdditiveScores", shares), "AdditiveScores should be a class"),
        (("shares", wrong("AdditiveScores", "no tanh")), "shares should be a function"),
        (("shares", 7), "shares should be a function"),
        ((lambda scores: scores,), "no question asks for '<lambda>'"),
        ((7,), "this has no name"),
    ],
)
def test_bad_use_gets_a_sentence(arguments, said):
    answer = check(*arguments)
    assert said in repr(answer) and not answer.right
    assert said.replace("'", "&#x27;").replace("<", "&lt;").replace(">", "&gt;") in (
        answer._repr_html_()
    )


def test_a_wrong_signature_is_named():
    answer = check("predict", lambda query, x: query)
    assert "predict(query, x) cannot be called like this: too many" in answer.problem


def test_a_stub_is_not_written_yet():
    def stub(scores):
        raise NotImplementedError()

    answer = check("shares", stub)
    assert repr(answer).startswith("shares: not written yet\n  · two queries, three keys")
    assert answer.hint and not answer.problem and answer.passed == 0


def test_prints_are_left_out_and_said_once(capsys):
    def chatty(scores):
        print("I am here")
        sys.stderr.write("and here\n")
        return scores.softmax(dim=-1)

    answer = check("shares", chatty)
    assert capsys.readouterr() == ("", "")
    assert answer.right and "10 lines, beginning 'I am here'" in repr(answer)


def test_an_endless_loop_is_stopped_and_the_rest_left_alone(monkeypatch):
    monkeypatch.setattr(checking, "SECONDS", 0.5)
    answer = check("shares", looping)
    assert "does a loop never end?" in answer.problem and answer.passed == 0
    assert repr(answer).count("(not run)") == 4


def test_waiting_is_no_work_but_has_an_end_too(monkeypatch):
    monkeypatch.setattr(checking, "SECONDS", 0.3)

    def waits(seconds):
        def softmax(scores):
            time.sleep(seconds)
            return scores.softmax(dim=-1)

        return softmax

    assert check("shares", waits(0.15)).right  # a busy machine makes an answer wait like this
    assert "does a loop never end?" in check("shares", waits(60)).problem


def test_sys_exit_and_hostile_values_do_not_get_out():
    class Liar:
        __class__ = torch.Tensor

        def __eq__(self, other):
            return True

        __hash__ = None

    def leave(scores):
        raise SystemExit

    assert "raised SystemExit" in check("shares", leave).problem
    assert "expected a Tensor" in check("shares", lambda scores: Liar()).problem

    def deep(scores):
        return deep(scores)

    assert "RecursionError" in check("shares", deep).problem


def test_forbidden_calls_are_named_and_cost_nothing():
    answer = check(shares)
    assert answer.right and "it uses .softmax(), which this question asks you to do without" in (
        repr(answer)
    )
    assert "will not be there" not in repr(answer)


def test_of_what_is_not_there_when_graded_it_is_said():
    def ready(scores):
        from coursekit.attention import masked_softmax

        return masked_softmax(scores)

    answer = check("shares", ready)
    said = " ".join(repr(answer).split())
    assert answer.right and "it uses coursekit" in said
    assert "It will not be there when this is graded." in said


def test_inputs_changed_in_place_are_told():
    def in_place(scores):
        scores -= scores.amax(dim=-1, keepdim=True)
        raised = scores.exp()
        return raised / raised.sum(dim=-1, keepdim=True)

    answer = check("shares", in_place)
    assert "It changes its input; make a new tensor instead." in answer.problem


def test_random_numbers_of_the_notebook_are_left_as_they_were():
    class AdditiveScores(Additive):
        def forward(self, q, k, covered):
            torch.manual_seed(3)
            return super().forward(q, k, covered)

    torch.manual_seed(1)
    before = torch.get_rng_state()
    assert check(AdditiveScores).right
    assert torch.equal(before, torch.get_rng_state())


def test_an_answer_may_use_earlier_answers_of_the_notebook(monkeypatch):
    monkeypatch.setitem(
        globals(), "gaussian_scores", wrong("gaussian_scores", "bandwidth not squared")
    )

    def predict(query, x, y, bandwidth):
        scores = gaussian_scores(query[:, None], x[:, None], bandwidth)  # noqa: F821
        return shares(scores) @ y

    answer = check(predict)
    assert not answer.right and answer.misconception == ""
    assert answer.hint.startswith(
        "This calls your gaussian_scores, which does not pass its own check. Mend that first: "
        "You divide"
    )


def test_an_earlier_answer_that_passes_is_said_to_pass(monkeypatch):
    monkeypatch.setitem(globals(), "gaussian_scores", ours.find("gaussian_scores")[1].reference)

    def predict(query, x, y, bandwidth):
        scores = gaussian_scores(query[:, None], x[:, None], bandwidth)  # noqa: F821
        return scores.softmax(dim=0) @ y

    answer = check(predict)
    assert answer.misconception == "shares over the places"
    assert "it calls your gaussian_scores, which passes its own check." in repr(answer)


def test_an_earlier_answer_that_is_wrong_and_not_called_is_not_blamed(monkeypatch):
    monkeypatch.setitem(globals(), "gaussian_scores", wrong("gaussian_scores", "plus for minus"))
    answer = check("predict", wrong("predict", "the nearest sample"))
    assert answer.misconception == "the nearest sample" and "ours" not in answer.hint


def test_the_cause_of_a_module_is_named(monkeypatch):
    monkeypatch.setitem(globals(), "gelu", lambda x, sigma: x.relu())

    class FeedForward(nn.Module):
        def __init__(self, *, width, hidden):
            super().__init__()
            self.expand, self.contract = nn.Linear(width, hidden), nn.Linear(hidden, width)

        def forward(self, x):
            return self.contract(gelu(self.expand(x), 1.0))  # noqa: F821

    assert "This calls your gelu, which does not pass its own check." in check(FeedForward).hint


TAGS = {"div", "strong", "em", "code", "br", "p", "ul", "li", "span", "a", "pre"}
TAGS |= {"table", "caption", "tbody", "tr", "td"}


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.seen, self.open = set(), []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_whole_escaped_and_has_no_script_and_no_fixed_text_colour():
    def sneaky(scores):
        raise ValueError("<script>alert(1)</script>")

    for answer in (
        check("shares", sneaky),
        check("shares", wrong("shares", "largest score not subtracted")),
        check(shares),
    ):
        text = answer._repr_html_()
        tags = Tags(text).seen
        assert tags <= TAGS
        assert "src=" not in text and "url(" not in text
        assert text.count("color:inherit") == text.count("color:") - text.count("-color:")
    assert "&lt;script&gt;" in check("shares", sneaky)._repr_html_()


def test_the_courses_own_fault_is_a_sentence(monkeypatch):
    monkeypatch.setattr(checking.compiled, "asking", lambda name: 1 / 0)
    assert "ZeroDivisionError" in repr(check(shares))


def test_a_module_that_only_reads_from_a_closed_stdout_still_works(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert check("AdditiveScores", Additive).right
    assert isinstance(Additive(query_width=1, key_width=1, hidden=1), nn.Module)


def test_what_a_case_asks_for_comes_from_the_notebook(monkeypatch):
    """Nothing of ours is there to be lent."""
    assignment = compiled.load("a01_kernels")
    question = assignment.questions[0]
    two = dataclasses.replace(
        question.cases[0], run=lambda student: student.shares(student.predict(torch.ones(1)))
    )
    both = dataclasses.replace(question, cases=(two,))
    monkeypatch.setattr(
        compiled,
        "load",
        lambda name: dataclasses.replace(assignment, questions=(both, *assignment.questions[1:])),
    )
    assert "has no attribute 'predict'" in check(shares).problem
    monkeypatch.setitem(globals(), "predict", lambda numbers: torch.zeros(2))
    assert "the shape is (2,), expected (2, 3)" in check(shares).problem


def test_nobody_who_is_right_so_far_is_told_a_mistake():
    """On one case alone a mistake may look right; it is told only where something is wrong."""
    assignment, question = ours.find("gaussian_scores")
    known = Known(assignment, question, question.cases)
    right = [known.expected(number) for number in range(3)]
    mistake = question.misconceptions[1]
    for one in (known, compiled.load("a01_kernels").questions[1]):
        assert one.misconception(right) is None
        assert one.misconception([None, None, right[2]]) is None
        assert one.misconception([known.of(mistake, 0), None, right[2]]).name == mistake.name


@pytest.mark.parametrize("home", ["coursekit.exercises", "coursekit.check"])
def test_both_names_are_the_same_check(home):
    module = import_module(home)
    assert module.check is check and module.submit_check is handin.submit_check
