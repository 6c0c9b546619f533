"""What a learner meets: every answer gets a fitting sentence, at once, and nothing ever raises."""

from __future__ import annotations

import contextlib
import dataclasses
import html.parser
import io
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import ours
import pytest
import torch
from torch import nn

from coursekit._base.address import HOME, is_set
from coursekit._base.nearest import nearest
from coursekit.check import check, checking, compiled, variant
from coursekit.check.clock import TooLong, limit
from coursekit.check.variants import id_of, number_of, student_in
from coursetools.assignments.sources import released
from coursetools.course import Course
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


def test_the_error_of_the_case_that_is_shown_is_that_cases_own():
    calls = []

    def shares(*scores):
        calls.append(scores)
        raise KeyError("first") if len(calls) == 1 else TypeError("later")

    assert check("shares", shares).problem == "raised KeyError: 'first'"

    def strict(scores, *, wide):
        return scores

    assert "cannot be called like this: missing" in check("shares", strict).problem


def test_an_error_of_torch_is_not_taken_for_a_known_mistake_that_raises_too():
    for question in (one for name in ours.names() for one in compiled.load(name).questions):
        if any("error" in str(one.sketches) for one in question.mistakes):

            def slip(*arguments, **named):
                return -(torch.ones(1) > 0)

            if not question.is_class:
                assert "~mask" in check(question.name, slip).hint


def test_a_stub_is_not_written_yet():
    def stub(scores):
        raise NotImplementedError()

    answer = check("shares", stub)
    assert repr(answer).startswith("shares: not written yet\n  · two queries, three keys")
    assert answer.hint and not answer.problem and answer.passed == 0


SLIPS = {
    "no minus": (lambda scores: scores * (1 - (scores > 0)), "~mask"),
    "no sign": (lambda scores: scores * -(scores > 0), "~mask"),
    "softmax of Long": (lambda scores: scores.long().softmax(-1), ".float()"),
    "loss of Long": (
        lambda scores: nn.functional.cross_entropy(scores.long(), scores.argmax(-1)),
        ".float()",
    ),
    "mean of Long": (lambda scores: scores.long().mean(), ".float()"),
    "targets as floats": (lambda scores: nn.functional.nll_loss(scores, scores[:, 0]), ".long()"),
    "a mask of numbers": (lambda scores: scores.masked_fill(scores.long(), 0), ".bool()"),
    "two dtypes": (lambda scores: scores @ scores.double().mT, ".to("),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_torchs_own_error_is_shown_with_its_line_and_what_to_do(slip):
    """torch raises NotImplementedError too: that is not the stub's."""
    wrong, advice = SLIPS[slip]
    answer = check("shares", wrong)
    assert answer.headline == "0 of 5 cases pass" and answer.cases[0][1] is False
    assert answer.problem.startswith("raised ")
    assert "lambda scores" in answer.where and advice in answer.hint


def test_a_stub_is_one_in_the_answer_itself_alone():
    def helper():
        raise NotImplementedError

    def calls_it(scores):
        return helper()

    def says_why(scores):
        raise NotImplementedError("later")

    def passes_on(scores):
        try:
            return scores.long().softmax(-1)
        except NotImplementedError as error:
            raise error

    for wrong in (calls_it, says_why, passes_on):
        assert "raised NotImplementedError" in check("shares", wrong).problem

    def inside(scores):
        def later():
            raise NotImplementedError

        return later()

    assert check("shares", inside).headline == "not written yet"


def test_a_class_may_be_a_stub_in_one_of_its_methods():
    class AdditiveScores(Additive):
        def forward(self, q, k, covered):
            raise NotImplementedError()

    answer = check(AdditiveScores)
    assert answer.headline == "not written yet" or answer.passed
    assert answer.headline == "not written yet" or "AdditiveScores is not written" in answer.problem

    class Renamed(Additive):
        forward = nn.Module().forward  # torch's: the module is missing its "forward"

    class Long(Additive):
        def forward(self, q, k, covered):
            return (q @ k.mT).long().softmax(-1)

    for wrong, said in ((Renamed, 'missing the required "forward"'), (Long, "for 'Long'")):
        answer = check("AdditiveScores", wrong)
        assert said in answer.problem and answer.headline != "not written yet"


def test_an_answer_that_calls_one_that_is_not_written_names_that_one(monkeypatch):
    def gaussian_scores(query, x, bandwidth):
        raise NotImplementedError()

    def predict(query, x, y, bandwidth):
        return gaussian_scores_of(query[:, None], x[:, None], bandwidth).softmax(-1) @ y  # noqa: F821

    def also(query, x, y, bandwidth):
        return gaussian_scores(query[:, None], x[:, None], bandwidth)

    monkeypatch.setitem(globals(), "gaussian_scores", gaussian_scores)
    answer = check("predict", also)
    assert answer.headline == "needs gaussian_scores, which is not written yet"
    assert "gaussian_scores" in answer.hint and not answer.passed
    assert "NameError" in check("predict", predict).problem  # no question is called like this
    monkeypatch.delitem(globals(), "gaussian_scores")

    def calls(query, x, y, bandwidth):
        return shares_of + gaussian_scores(query)  # noqa: F821

    names = {"check": check}
    exec("def predict(query, x, y, bandwidth):\n    return gaussian_scores(query)", names)
    exec("answer = check(predict)", names)
    assert names["answer"].headline == "needs gaussian_scores, which is not defined yet"


def test_prints_are_left_out_and_said_once(capsys):
    def chatty(scores):
        print("I am here")
        sys.stderr.write("and here\n")
        return scores.softmax(dim=-1)

    answer = check("shares", chatty)
    assert capsys.readouterr() == (f"{answer!r}\n", "")
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
    start = time.monotonic()
    answer = check("shares", waits(60))
    assert "stopped after" in answer.problem and "waiting" in answer.problem and not answer.hint
    waited = time.monotonic() - start
    assert waited >= 1.2


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
    said = " ".join(repr(check(shares)).split())
    assert "ZeroDivisionError" in said and "instructor" in said and "coursekit doctor" in said


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


@pytest.mark.parametrize(
    "student",
    [
        torch.zeros(1, 4, requires_grad=True),
        torch.zeros(3),
        np.arange(3),
        ["ada", "bob"],
        {},
        None,
        True,
        7.5,
        nn.Linear(2, 2),
        "\ud800",
        10**5000,
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("name", ["shares", "hinge"])  # one with variants, one without
def test_a_global_called_student_may_be_anything(monkeypatch, student, name):
    monkeypatch.setitem(globals(), "student", student)
    answer = check(name, ours.find(name)[1].reference)
    an_id = isinstance(student, str)  # it may be strange
    assert answer.cases and (answer.right or an_id)
    assert name == "shares" or an_id or "numbers to practise" in answer.notes[0]
    assert "hinge" in repr(variant("hinge", student))


@pytest.mark.parametrize("student", ["", "  ", "ada", np.str_("ada"), " ADA ", 0, 12345])
def test_an_id_is_a_string_or_a_whole_number(monkeypatch, student):
    """The same as the grader reads from the cell, an id of 0 included."""
    text = student if isinstance(student, int) else str(student)
    written = student_in([f"student = {text!r}"])
    assert written == id_of(student) == str(student).strip()
    assert number_of("a16_sagan", student, 5) == number_of("a16_sagan", written, 5)
    assert (number_of("a16_sagan", student, 5) == 0) == (not str(student).strip())
    assert student_in(["student = True"]) == student_in(["student = 0.5"]) == ""


NAMES = {
    "casual_mask": "causal_mask",
    "sharse": "shares",
    "GaussianScores": "gaussian_scores",
    "Predict": "predict",
    "scaled_atention": "scaled_attention",
}


@pytest.mark.parametrize("wrong", NAMES)
def test_a_name_that_is_almost_right_is_completed(wrong):
    names = {"check": check}
    exec(f"def {wrong}(x):\n    return x\nanswer = check({wrong})", names)
    assert f"did you mean {NAMES[wrong]}?" in names["answer"].headline
    exec(f"answer = check({wrong!r})", names)
    assert f"did you mean {NAMES[wrong]}?" in names["answer"].headline


def test_the_notebooks_own_questions_are_meant_first(monkeypatch, tmp_path):
    path = released(Course(Path(__file__).resolve().parents[2]), "a03_masking")
    names = {"check": check}
    exec("answer = check('zzz')", names)
    assert "the questions" not in names["answer"].headline  # nobody knows which notebook this is
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))
    exec("answer = check('zzz')", names)
    listed = names["answer"].headline
    assert all(one.name in listed for one in compiled.load("a03_masking").questions)
    assert "gaussian_scores" not in listed
    own, other = ["scaled_scores"], ["scale_score"]
    assert nearest("scale_scores", own, other) == "scaled_scores"
    assert nearest("scale_scores", other, own) == "scale_score"
    assert nearest("SCALED scores ", own) == "scaled_scores"
    assert nearest("", own) == nearest("qqqq", own) == ""


def test_a_gradient_that_is_missing_is_called_that():
    def cut(scores):
        return (scores - scores.amax(dim=-1, keepdim=True)).detach().exp().softmax(dim=-1)

    right = ours.find("shares")[1].reference
    answer = check("shares", lambda scores: right(scores.detach()))
    assert answer.passed == 4 and "no gradient at the first" in answer.problem
    assert "return" not in answer.problem and ".detach()" in answer.hint
    assert "is a return missing?" in check("shares", lambda scores: None).problem
    assert "is a return missing?" not in check("shares", cut).problem


def test_the_first_hint_is_for_answers_that_fail_most_cases():
    right = ours.find("shares")[1].reference

    def one_is_wrong(scores):
        return right(scores) * (1 + (scores.dim() == 3))

    answer = check("shares", one_is_wrong)
    first = ours.find("shares")[1].hint
    assert answer.passed == 4 and answer.hint != first and "a batch of four" in answer.hint
    assert check("shares", lambda scores: scores * 0).hint == first

    def not_a_number(scores):
        return right(scores) * (math.nan if scores.dim() == 3 else 1)

    assert "0 / 0" in check("shares", not_a_number).hint
    assert "dtype" in check("shares", lambda scores: right(scores).double()).hint


@pytest.mark.parametrize("where", ["answer", "check", "elsewhere", "unknown", "answered"])
def test_an_answer_in_the_cell_of_its_check_is_pointed_out(monkeypatch, tmp_path, where):
    """What the check's cell defines counts; in the answer's own cell all is well."""
    monkeypatch.chdir(tmp_path)
    path = released(Course(Path(__file__).resolve().parents[2]), "a01_kernels")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = {one["id"]: one for one in notebook["cells"]}
    text = "def shares(scores):\n    return scores.softmax(dim=-1)\nanswer = check(shares)"
    if where == "answered":
        cells["shares"]["source"] = text
    if where == "check":
        cells["check-shares"]["source"] = text
    if where != "unknown":
        (tmp_path / "mine.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    names = {"check": check}
    files = ["/tmp/ipykernel_7/1.py"] * 2
    if where == "elsewhere":
        files[1] = "/tmp/ipykernel_7/2.py"
    definition, asked = text.rsplit("\n", 1)
    for file, source in zip(files, (definition, asked)):
        exec(compile(source, file, "exec"), names)
    notes = " ".join(names["answer"].notes)
    assert names["answer"].right
    assert ("it counts there too" in notes) == (where not in ("elsewhere", "answered"))
    assert ("holds the stub" in notes) == (where in ("answer", "check"))


def test_how_long_it_took_is_said_as_it_was():
    assert str(TooLong(5.1, 5.0)) == "stopped after 5 seconds; does a loop never end?"
    assert "stopped after 20 seconds" in str(TooLong(20.0, 5.0))
    assert "5 of them at work" in str(TooLong(20.0, 5.0))
    assert "20 seconds of waiting" in str(TooLong(20.0, 0.1))
    start = time.monotonic()
    with pytest.raises(TooLong) as stopped, limit(0.2):
        while True:
            pass
    took = stopped.value  # on a busy machine it takes longer by the clock
    assert 0.1 <= took.seconds <= time.monotonic() - start
    assert 0 < took.work <= took.seconds + 0.1
