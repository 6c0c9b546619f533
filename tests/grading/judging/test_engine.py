"""The engine with honest people: points, reasons, hints, and what their notebooks show."""

from __future__ import annotations

import dataclasses
import json
import resource
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from coursekit._base.errors import CourseError
from coursekit.check.probe import after, gradients, module_gradients
from coursekit.submission.resource_limits import Limits
from coursetools.grading.judging import fork_client
from coursetools.grading.judging.attempt import Attempt, Cell
from coursetools.grading.judging.engine import Engine
from coursetools.grading.judging.proxy import Link, Student, StudentError
from coursetools.grading.records.verdict import Verdict
from coursetools.grading.running.keys import engine_version, key_of
from coursetools.questions.question import Assignment, Case, Question

SQUARE_NUMBER = "def square(x):\n    return x * x"


def first(verdict: Verdict):
    return verdict.questions[0]


def test_a_right_answer_has_everything(desk, tools):
    verdict = desk.grade()
    assert (verdict.status, verdict.points, verdict.max_points) == ("OK", 5, 5)
    assert [q.cell for q in verdict.questions] == ["test_square", "test_cube"]
    assert first(verdict).hint == ""
    assert [case.hidden for case in first(verdict).cases] == [False, False, True]
    assert verdict.guarantee == "judged elsewhere"
    assert "rlimits" in verdict.layers
    assert verdict.peak_bytes > 1 << 20
    assert Verdict.from_json(json.loads(json.dumps(verdict.as_json()))) == verdict


def test_a_mistake_that_only_the_visible_cases_fit_is_named_as_check_names_it(desk):
    """The hidden case is 7, for which this is neither right nor twice the number."""
    verdict = desk.grade("def square(x):\n    return 2 * x if x.abs().max() < 5 else -x")
    assert first(verdict).misconception == "times", first(verdict)
    assert first(verdict).hint == "2 times is not to the 2"


def test_partial_credit_counts_weights_and_tells_the_first_visible_failure(desk):
    verdict = desk.grade("def square(x):\n    return x * x if x.dim() == 0 else x")
    # the row is one of two visible cases, worth 7.5% alone; the cases that fail cost a tenth
    assert (first(verdict).points, first(verdict).status) == (1.8, "PARTIAL")
    assert "2 of 3 cases pass" in first(verdict).reason
    assert "“a row”" in first(verdict).reason
    assert first(verdict).hint == "the square needs 2 factors"
    assert verdict.points == 4.8


def test_of_a_visible_case_the_numbers_stand_side_by_side(desk):
    verdict = desk.grade("def square(x): return x * 3")
    one, row, hidden = verdict.questions[0].cases
    assert one.status == "OK"  # three times three
    sentence, heads, numbers = row.detail.split("\n")
    assert "values differ" in sentence
    assert heads.split() == ["yours", "expected"]
    assert numbers.split() == ["3.*", "-6.*", "1.", "4."]
    assert hidden.status == "FAIL"
    assert "yours" not in hidden.detail
    assert "\n" not in verdict.questions[0].reason


def test_a_misconception_is_told_its_hint_and_no_other_is(desk):
    verdict = desk.grade("def square(x):\n    return x + x")
    assert (first(verdict).misconception, first(verdict).points) == ("times", 0)
    assert first(verdict).hint == "2 times is not to the 2"
    assert desk.grade("def square(x):\n    return 3 * x").questions[0].misconception == ""


def test_an_earlier_answer_that_is_wrong_costs_its_own_points_only(desk):
    wrong = "def square(x):\n    return 2 * x + 1"
    cube = desk.grade(wrong, "def cube(x):\n    return square(x) * x").questions[1]
    assert (cube.status, cube.points, cube.hint) == ("OK", 3, "")
    said = "With our square, since yours does not pass: All 3 cases pass."
    assert cube.reason == said
    too = desk.grade(wrong, "def cube(x):\n    return square(x) * 3 / x").questions[1]
    assert (too.points, too.carried) == (0, ["square"])
    assert too.reason.startswith("With our square, since yours does not pass: 0 of")
    assert (too.misconception, too.hint) == ("times", "3 times is not to the 3")  # its own mistake
    assert desk.grade(SQUARE_NUMBER, "def cube(x):\n    return square(x) * x").status == "OK"
    alone = desk.grade(wrong, "def cube(x):\n    return x + 5")
    assert alone.questions[1].hint == "the cube needs 3 factors"


@pytest.mark.parametrize(
    ("source", "status", "reason"),
    [
        (
            "def square(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()",
            "FAIL",
            "no answer",
        ),
        ("", "FAIL", "no answer"),
        (None, "MISSING", "not in the notebook"),
        ("def sqare(x):\n    return x * x", "FAIL", "does not define square"),
        ("x = 1\ndef square(x:\n    return x", "FAIL", "SyntaxError in line 2"),
        ("y = 1\ny / 0\ndef square(x): return x", "FAIL", "ZeroDivisionError in line 2"),
        ("name = input('name?')", "FAIL", "input() is not available when graded"),
        ("from google.colab import drive", "FAIL", "google.colab is there in Colab only"),
        ("import torch\ntorch.load('data.pt')", "FAIL", "none of your other files"),
        ("def square(x):\n    y = x\n    return z", "FAIL", "NameError in line 3"),
        ("square = 5", "FAIL", "not callable"),
    ],
)
def test_what_went_wrong_is_said_in_a_sentence(desk, tools, source, status, reason):
    verdict = desk.grade(source)
    assert tools.statuses(verdict) == [status, "OK"]
    assert reason in first(verdict).reason
    assert first(verdict).hint


def test_what_is_harmless_costs_nothing(desk):
    verdict = desk.grade(
        "import warnings, sys\n%matplotlib inline\n!pip install x\n"
        "def square(x):\n    warnings.warn('deprecated')\n    print('a', file=sys.stderr)\n"
        "    return x * x\nfrom coursekit.check import check, submit_check\ncheck(square)\n"
        "submit_check()",
        first="async def one(): return 1\nawait one()",
        between="1 / 0",
    )
    assert verdict.points == 5
    errors = [o for outs in verdict.outputs.values() for o in outs if o["output_type"] == "error"]
    assert [error["ename"] for error in errors] == ["ZeroDivisionError"] or len(errors) == 2
    assert "not run when graded: !pip install x" in str(verdict.outputs["square"])


def test_what_a_cell_shows_is_kept_in_plain_forms(desk):
    verdict = desk.grade(
        first="import matplotlib.pyplot as plt\nfor n in range(4): plt.figure(); plt.plot([n])\n"
        "print('said')\nplt.show()\n[1, 2]"
    )
    outputs = desk.first(verdict)
    kinds = [output["output_type"] for output in outputs]
    assert kinds == ["stream", "stream", "display_data", "display_data", "execute_result"]
    assert outputs[0]["text"] == "said\n"
    assert "only 2 figures are kept" in outputs[1]["text"]
    assert outputs[-1]["data"] == {"text/plain": "[1, 2]"}
    verdict = desk.grade(first="print('x' * 100_000)\n'quiet';")
    [stream] = desk.first(verdict)
    assert 60_000 < len(stream["text"]) < 70_000
    assert "the rest is cut" in stream["text"]
    assert verdict.points == 5


def test_an_answer_may_stand_in_another_cell_and_use_a_helper(desk):
    blank = "def square(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    verdict = desk.grade(
        blank,
        between="def square(x):\n    return helper(x)\n",
        first="n = 2\ndef helper(x):\n    return x ** n",
    )
    assert verdict.points == 5


def test_forbidden_calls_of_torch_are_flagged_and_cost_nothing(desk):
    plain = "def square(x):\n    return torch.pow(x, 2)"
    hidden = "f = getattr(torch, 'p' + 'ow')\ndef square(x):\n    return f(x, 2)"
    method = "f = torch.Tensor.pow\ndef square(x):\n    return f(x, 2)"
    for source in (plain, hidden, method):
        verdict = desk.grade(source)
        assert verdict.points == 5
        assert ["pow" in said for said in first(verdict).flags] == [True], source
    low = desk.grade("def square(x):\n    return torch.ops.aten.pow(x, 2)")
    assert (low.points, low.flags) == (5, ["cell 2 uses aten, torch.ops"])
    assert first(desk.grade()).flags == []


def test_a_forbidden_package_is_not_there_and_an_answer_in_need_of_it_is_told(desk, tools):
    ours = (
        "from coursekit.kernels import dot\ndef square(x):\n    dot(x[None, None], x[None, None])"
        "\n    return x * x"
    )
    verdict = desk.grade(ours)
    assert tools.statuses(verdict) == ["FAIL", "OK"]
    assert "coursekit.kernels is not there when graded" in first(verdict).reason
    assert first(verdict).flags == ["uses coursekit"]
    sly = (
        "m = __import__('importlib').import_module('course' + 'kit.kernels')\n"
        "def square(x):\n    m.dot(torch.ones(1, 1), torch.ones(1, 1))\n    return x * x"
    )
    verdict = desk.grade(sly)
    assert "is not there when graded" in first(verdict).reason
    assert verdict.flags == ["cell 2 uses __import__, import_module"]
    slyer = (
        "import os, sys\nfrom importlib import util\n"
        "folder = os.path.dirname(util.find_spec('course' + 'kit').origin)\n"
        "os.chdir(folder)\n"
        "spec = util.spec_from_file_location('course' + 'kit.kernels', 'kernels.py')\n"
        "m = util.module_from_spec(spec)\nspec.loader.exec_module(m)\n"
        "def square(x):\n    m.dot(torch.ones(1, 1), torch.ones(1, 1))\n    return x * x"
    )
    verdict = desk.grade(slyer)
    assert "FileNotFoundError" in first(verdict).reason
    assert "module_from_spec" in verdict.flags[0]


def test_a_file_that_is_no_notebook(desk, tools):
    for data in (b"", b"hello", b"<!DOCTYPE html><html>", tools.submission()[:200]):
        verdict = desk.grade_bytes(data)
        assert (verdict.status, verdict.points, verdict.max_points) == ("MALFORMED", 0, 5)
        assert verdict.reason
        assert tools.statuses(verdict) == ["MALFORMED"] * 2


def test_our_own_fault_is_internal_and_never_a_zero(tools, monkeypatch, desk):
    engine = desk.engine
    with monkeypatch.context() as patched:
        patched.setattr(engine._judge, "judge", lambda *a: 1 / 0)
        verdict = engine.grade(tools.submission())
    assert verdict.status == "INTERNAL"
    assert verdict.questions == []
    assert "ZeroDivisionError" in verdict.flags[0]
    assert "not your fault" in verdict.reason
    assert desk.grade().points == 5


def test_a_killed_warm_process_is_replaced(tools, desk):
    desk.engine._server._process.kill()
    desk.engine._server._process.wait()
    assert desk.engine.grade(tools.submission()).points == 5
    assert desk.grade().points == 5


def test_the_key_names_everything_that_a_verdict_depends_on(tools):
    def key(master, submission, limits=Limits()):  # noqa: B008
        return key_of(master, submission, SimpleNamespace(name=master.name, limits=limits))

    base = key(tools.MASTER, "x")
    other = tools.master("check(square)", "check(cube)", (("square.py", "# another\n"),))
    few = Limits(figures=1)
    keys = {base, key(tools.MASTER, "y"), key(tools.MASTER, "x", few), key(other, "x")}
    assert len(keys) == 4
    assert key(tools.MASTER, "x") == base
    cases = (("square.py", "from coursekit.positions import sinusoidal\n"),)
    assert engine_version(cases) != engine_version()  # what they import decides with them
    assert engine_version((("square.py", "import torch\n"),)) == engine_version()


def test_an_assignment_is_graded_by_what_its_files_say(tools):
    with Engine(tools.titled(tools.master("", "", tools.FILES)), tools.LIMITS) as engine:
        right = engine.grade(tools.submission())
        wrong = engine.grade(tools.submission("def square(x):\n    return x + x"))
        both = [engine.grade(tools.submission("def square(x):\n    return 3 * x")) for _ in "ab"]
    assert (right.status, right.points) == ("OK", 5)
    assert [case.hidden for case in first(right).cases] == [False, False, True]
    assert (first(wrong).misconception, wrong.points) == ("times", 3)
    assert first(wrong).hint == "2 times is not to the 2"
    for verdict in both:  # afresh and from memory: two mistakes, and three times three is nine
        assert (first(verdict).misconception, verdict.points) == ("times; one more", 3.15)
        said = "Two things at once. 2 times is not to the 2 And: one factor too many"
        assert first(verdict).hint == said


def test_files_that_do_not_fit_the_notebook_are_refused(tools):
    """No case is left out in silence, because its file has another name or cannot be read."""
    files = dict(tools.FILES)
    about, python = files["cube.md"], files["cube.py"]
    square = {name: text for name, text in files.items() if "cube" not in name}
    for wrong, said in (
        ({**square, "cubes.md": about, "cubes.py": python}, r"cube\.py is missing, the question"),
        ({**files, "cubes.md": about}, r"cubes\.md belongs to no question"),
        ({**files, "cubes.py": python}, r"cubes\.py has cases, and belongs to no question"),
        ({**files, "cube.py": python.replace("def cube(", "def cubes(")}, "should define cube"),
        ({**files, "cube.py": "def ("}, r"solutions/powers/cube\.py cannot be read"),
        (square | {"cube.py": python}, r"cube\.md is missing"),
    ):
        with pytest.raises(CourseError, match=said):
            Engine(tools.titled(tools.master("", "", tuple(wrong.items()))))


MODULE = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, width, heads=1):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.heads = heads
        self.drop = nn.Dropout(0.5)
    def forward(self, x):
        return self.drop(self.linear(x))
    def parts(self, x):
        return {"a": [x, x], "b": (1, 2.5, None, True, "s")}

class Odd(Exception): pass

def change(x):
    x += 1
    return x.sum()

def fail(x):
    raise ValueError("no " + str(x))

def odd(x): raise Odd("x")

def apply(f, x): return f(x)
"""


@pytest.fixture
def student(desk):
    attempt = Attempt(desk.engine._server, [Cell(1, "a", "", MODULE)], ["Block"])
    process = attempt.process()
    assert attempt.defined == {"Block": "type"}

    def ask(link, packet):
        _, reply = process.exchange(packet, {"case": link.about}, process.until(20.0))
        link.hear(packet, reply)

    yield Student(Link(ask, "a case", 0))
    attempt.restart()


def test_modules_are_built_loaded_called_and_asked_for_gradients(student):
    block = student.Block(width=3, heads=2)
    assert block.heads == 2
    state = {"linear.weight": torch.eye(3) * 2, "linear.bias": torch.zeros(3)}
    block.load_state_dict(state)
    assert torch.equal(block.state_dict()["linear.weight"], torch.eye(3) * 2)
    x = torch.randn(2, 3)
    assert torch.equal(block.eval()(x), 2 * x)
    assert block.training is False
    assert torch.equal(block.linear.weight, torch.eye(3) * 2)
    assert student.Block(3).parts(1) == {"a": [1, 1], "b": (1, 2.5, None, True, "s")}
    local = torch.nn.Sequential(torch.nn.Linear(3, 3))
    local.load_state_dict({"0.weight": state["linear.weight"], "0.bias": state["linear.bias"]})
    for ours, theirs in zip(gradients(local, x)[1], gradients(block, x)[1]):
        assert torch.allclose(ours, theirs)
    _, _, named = module_gradients(block, x)
    assert set(named) == {"linear.weight", "linear.bias"}
    assert all(not grad.requires_grad for grad in named.values())


def test_functions_change_their_own_arguments_raise_errors_and_take_functions(student):
    x = torch.zeros(2)
    assert student.change(x).item() == 2
    assert x.tolist() == [0, 0]
    assert after(student.change, x)[1][0].tolist() == [1, 1]
    with pytest.raises(ValueError, match="no 3") as caught:
        student.fail(3)
    assert isinstance(caught.value, StudentError)
    with pytest.raises(StudentError, match="x"):
        student.odd(3)
    assert student.apply(torch.nn.functional.relu, torch.tensor(-1.0)).item() == 0
    assert student.apply(student.change, torch.zeros(1)).item() == 1
    with pytest.raises(TypeError, match="cannot send"):
        student.apply(lambda x: x, 1)
    with pytest.raises(StudentError):
        student.missing(1)


def test_an_object_from_elsewhere_is_no_value(student):
    block = student.Block(3)
    for use in (
        lambda: block == 1,
        lambda: block != 1,
        lambda: bool(block),
        lambda: block < 1,
        lambda: len(block),
        lambda: list(block),
        lambda: float(block),
        lambda: 1 in block,
        lambda: block[0],
    ):
        with pytest.raises(TypeError):
            use()
    assert repr(block) == "an object of type Block"


def test_a_case_that_fails_with_the_reference_is_the_graders_fault(tools):
    def never(student):
        assert student.square(2) == 5

    asked = tools.ASSIGNMENT.questions[0]
    broken = dataclasses.replace(asked, cases=(Case("never", never),))
    assignment = Assignment(name="powers", title="", questions=(broken,), written=())
    with pytest.raises(CourseError, match="fails with the reference itself"):
        Engine(tools.master("", ""), assignment=assignment)
    assert isinstance(broken, Question)


TESTS = (
    "assert square(3) == 9, 'three'\n### BEGIN HIDDEN TESTS\n"
    "assert square(7) == 49, 'hidden-secret-49'\n### END HIDDEN TESTS"
)
PART = "score = 0\nif cube(2) == 8: score += 1\nif cube(-1) == -1: score += 1.5\nscore"


@pytest.fixture(scope="module")
def foreign(tools):
    master = tools.master(TESTS, PART, name="foreign")
    with Engine(master, tools.LIMITS) as engine:
        yield tools.Desk(engine, points=4.5)


@pytest.mark.parametrize(
    ("parts", "points", "statuses", "reason"),
    [
        ({"cube": "def cube(x): return x ** 3 if x > 0 else 0"}, 3, ["OK", "PARTIAL"], "All tests"),
        ({"square": "def square(x): return 9"}, 2.5, ["FAIL", "PARTIAL"], "hidden test fails"),
        ({"square": "def square(x): return 0"}, 2.5, ["FAIL", "PARTIAL"], "assert square(3) == 9"),
        ({"square": "import os\nos._exit(0)"}, 2.5, ["FAIL", "PARTIAL"], "assert square(3) == 9"),
        (
            {"square": "def square(x):\n  import os\n  os._exit(0)"},
            2.5,
            ["CRASH", "PARTIAL"],
            "ended",
        ),
        ({"square": "def square(x):\n  while True: pass"}, 2.5, ["TIMEOUT", "PARTIAL"], "too long"),
        ({"square": ""}, 2.5, ["FAIL", "PARTIAL"], "no answer"),
        ({"first": "x = 1\n1 / 0"}, 4.5, ["OK", "PARTIAL"], "All tests pass"),
        (
            {"square": "import sys\ndef square(x): sys.stderr.write('x'); return x * x"},
            4.5,
            ["OK", "PARTIAL"],
            "All tests pass",
        ),
        (
            {"square": "def square(x): import sys; sys.exit(0)"},
            2.5,
            ["FAIL", "PARTIAL"],
            "square(3)",
        ),
        (
            {"tags": ["skip-execution"], "square": "def square(x): return 0"},
            2.5,
            ["FAIL", "PARTIAL"],
            "assert square(3)",
        ),
    ],
)
def test_somebody_elses_asserts(foreign, tools, parts, points, statuses, reason):
    verdict = foreign.grade(**parts)
    assert verdict.guarantee == "in the student's process"
    assert (verdict.points, tools.statuses(verdict)) == (points, statuses), verdict.questions
    assert reason in first(verdict).reason


def test_a_pass_cannot_be_written_in_advance(foreign, tools):
    forged = (
        "import os, struct, json\nfor n in range(30):\n"
        "    b = json.dumps({'sequence': n, 'token': '', 'sizes': []}).encode()\n"
        "    os.write(3, struct.pack('!IQ', len(b), 0) + b)\n"
        "def square(x): return 0"
    )
    verdict = foreign.grade(forged)
    assert tools.statuses(verdict) == ["FAIL", "PARTIAL"]


def test_hidden_asserts_are_told_to_nobody(foreign):
    spy = (
        "import sys, linecache, traceback, gc\n"
        "class Spy:\n"
        "    def __eq__(self, other):\n"
        "        print('spied', other, sys._getframe(1).f_code.co_consts)\n"
        "        print(linecache.cache.get('<cell 3>'), linecache.cache.get('<cell 4>'))\n"
        "        raise ValueError(repr(sys._getframe(1).f_code.co_consts))\n"
        "def square(x): return Spy()"
    )
    cells = "[v for k, v in linecache.cache.items() if k[:5] == '<cell']"
    for between in (f"print({cells})", f"raise ValueError(str({cells})[-500:])"):
        between = f"import linecache\n{between}"
        verdict = foreign.grade(spy, between=between)
        assert first(verdict).points == 0
        assert "hidden-secret" not in json.dumps(verdict.as_json())


@pytest.mark.parametrize(
    ("parts", "processes", "shown"),
    [
        ({}, 1, ""),
        ({"first": "print('early')"}, 1, "early"),  # before any test: it knows of none
        ({"between": "print('late')"}, 2, "late"),  # once more, where there are no tests
        ({"between": "1 / 0"}, 2, "division by zero"),
        ({"square": "def square(x):\n  while True: pass", "first": "print('early')"}, 2, "early"),
    ],
)
def test_a_notebook_runs_without_its_tests_only_where_it_says_something(
    foreign, tools, monkeypatch, parts, processes, shown
):
    begun = []
    server = foreign.engine._server
    fork = server.fork
    monkeypatch.setattr(server, "fork", lambda: begun.append(1) or fork())
    verdict = foreign.engine.grade(tools.submission(**parts))
    assert len(begun) == processes
    assert shown in json.dumps(verdict.outputs)
    assert "rlimits" in verdict.layers


def test_when_the_grader_is_killed_nothing_goes_on(tools, processes):
    script = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('tools', {tools.__file__!r})\n"
        "tools = importlib.util.module_from_spec(spec); spec.loader.exec_module(tools)\n"
        "from coursetools.grading.judging.engine import Engine\n"
        "import dataclasses\n"
        "limits = dataclasses.replace(tools.LIMITS, cell_seconds=60, notebook_seconds=60)\n"
        "engine = Engine(tools.MASTER, limits, assignment=tools.ASSIGNMENT)\n"
        "print('ready', flush=True)\n"
        "input()\n"
        "engine.grade(tools.submission('while True: pass'))\n"
    )
    grader = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    grader.stdout.readline()
    idle = len(processes.below(grader.pid))
    assert idle >= 1
    grader.stdin.write(b"go on\n")
    grader.stdin.flush()
    processes.wait_for(lambda: len(processes.below(grader.pid)) > idle, "the submission's process")
    below = processes.below(grader.pid)
    grader.kill()
    grader.communicate()
    processes.wait_for(lambda: not any(process.is_running() for process in below), "their end")


def test_memory_of_the_judge_stays_where_it_is(desk, tools):
    data = tools.submission("def square(x):\n    return torch.zeros(1000)")
    for _ in range(10):
        desk.engine.grade(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(60):
        desk.engine.grade(data)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4_000  # KB


def test_the_notebook_of_another_assignment_is_not_a_missing_one(desk, tools):
    title = tools.cell("title", "# Assignment 1: kernels\n\nA soft lookup.", "markdown")
    cells = [
        tools.cell(name, f"def {name}(x): return x", solution=True) for name in ("shares", "scores")
    ]
    other = desk.grade_bytes(tools.notebook(title, *cells).encode())
    assert (other.status, other.points) == ("MALFORMED", 0)
    assert other.reason == (
        "This is the notebook “Assignment 1: kernels”, not that of powers: submit that of powers."
    )
    none = desk.grade(None, None)
    assert (none.status, none.points) == ("MALFORMED", 0)
    assert none.reason.startswith("It has none of this assignment's answer cells: submit")
    some = desk.grade(None, "def cube(x): return 1 / 0")  # one is there, and none is right
    assert some.status == "FAIL" and tools.statuses(some) == ["MISSING", "FAIL"]


def test_a_process_that_does_not_answer_at_the_start_gets_a_second_try(tmp_path, monkeypatch):
    """As once on a busy machine, where nothing was graded."""
    marker, program = tmp_path / "tried", fork_client.PROGRAM
    silent = f"import os\nif not os.path.exists({str(marker)!r}):\n"
    silent += f"    open({str(marker)!r}, 'w').close()\n    os._exit(1)\n"
    monkeypatch.setattr(fork_client, "PROGRAM", silent + program)
    assert fork_client.available() and marker.exists()
    monkeypatch.setattr(fork_client, "PROGRAM", "import os\nos._exit(1)\n")
    with pytest.raises(CourseError, match=r"started twice and does not answer.*short of memory"):
        fork_client.available()
    monkeypatch.setattr(fork_client, "PROGRAM", "import no_such_module\n")
    with pytest.raises(CourseError, match=r"does not start: (.|\n)*no_such_module"):
        fork_client.available()
