"""Before the upload: what is missing, what does not run, what is not answered; each is said."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import types
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursekit.check import handin, notebook_path
from coursekit.check.answer import BROKEN
from coursekit.check.run_notebook import Ran
from coursekit.check.stubs import is_open
from coursekit.submission import regions
from coursekit.submission.resource_limits import Limits
from coursetools.assignments.sources import released, source, sources
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)
NAME = "a01_kernels"
ANSWERED = source(OURS, NAME)


def nothing(cells, folder, advance, limits):
    """Stand in for the run, which takes seconds, where only the look at the file matters."""
    return [], ""


@pytest.fixture
def still(monkeypatch):
    monkeypatch.setattr(handin, "rehearse", nothing)


def edited(tmp_path, change, path=ANSWERED):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    change(cells, notebook["cells"])
    (tmp_path / "mine.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    return tmp_path / "mine.ipynb"


def small(tmp_path, *sources, keep=("imports", "shares", "check-shares")):
    """A notebook of the assignment with the first question and some cells of one's own."""

    def change(cells, all_cells):
        own = [
            {"cell_type": "code", "id": f"own-{n}", "metadata": {}, "source": text, "outputs": []}
            for n, text in enumerate(sources)
        ]
        all_cells[:] = [*(c for c in all_cells if c["id"] in keep), *own]

    return edited(tmp_path, change)


def test_an_answered_notebook_is_ready(tmp_path):
    """The whole of it: the file is read, and run from top to bottom."""
    ticks = []
    report = handin.look_at(edited(tmp_path, lambda cells, all_cells: None), ticks.append)
    assert report.mend == [] and report.look == []
    assert "it runs from top to bottom in a fresh process" in report.good
    assert "AdditiveScores: 4 of 4 visible cases pass" in report.good
    assert len(ticks) == 13 and ticks[0] == "setup-colab" and ticks[-1] == "before-upload"
    assert "ready to hand in" in repr(report) and "ready to hand in" in report._repr_html_()


def test_a_blank_notebook_names_every_question(still):
    report = handin.look_at(released(OURS, NAME))
    assert [one for one in report.mend if "not answered" in one] == report.mend
    assert len(report.mend) == 6 and "6 things to mend" in repr(report)


def gone(name):
    return lambda cells, every: every.remove(cells[name])


def holding(name, source):
    return lambda cells, every: cells[name].update(source=source)


def bare(cells, every):
    for cell in every:
        cell["metadata"].clear()


def twice(cells, every):
    every.append({**cells["predict"], "id": "copy"})


def run_backwards(cells, every):
    printed = {"output_type": "stream", "name": "stdout", "text": "x"}
    for count, name in ((5, "shares"), (3, "predict")):
        cells[name].update(execution_count=count, outputs=[printed])


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        (bare, "mend", "no cell of this file belongs to an assignment"),
        (gone("predict"), "mend", "the cell for predict is gone"),
        (twice, "mend", "there are 2 cells for predict"),
        (gone("check-predict"), "look", "checks predict is gone; the grader uses its own"),
        (holding("check-predict", "assert True"), "look", "that checks predict is changed"),
        (holding("shares", "\ndef shares(x:"), "mend", "the cell shares is not Python in line 2"),
        (holding("shares", "s.softmax(-1)"), "look", "shares uses .softmax(); a human will look"),
        (holding("shuffled", "YOUR ANSWER HERE"), "mend", "shuffled, in words, is not answered"),
        (holding("imports", "name = input('Who?')"), "look", "the cell imports calls input()"),
        (run_backwards, "look", "run out of order"),
    ],
)
def test_each_flaw_is_said(tmp_path, still, change, kind, said):
    report = handin.look_at(edited(tmp_path, change))
    assert any(said in sentence for sentence in getattr(report, kind)), repr(report)
    assert handin.look_at(edited(tmp_path, lambda *_: None)).mend == []


@pytest.mark.parametrize("source", ["pair_input(1)", "self.input(x)", "my.input(2)"])
def test_what_only_ends_like_input_asks_nobody(tmp_path, source):
    report = handin.look_at(edited(tmp_path, lambda c, _: c["imports"].update(source=source)))
    assert not [sentence for sentence in report.look if "input()" in sentence]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty"),
        (b"<!DOCTYPE html><html>", "you submitted a web page"),
        (b'{"cells": [', "ends in the middle"),
        (b'{"cells": [], "nbformat": 4}', "no cell of this file belongs to an assignment"),
    ],
)
def test_a_file_that_is_no_notebook_is_said(tmp_path, data, said):
    (tmp_path / "mine.ipynb").write_bytes(data)
    assert said in handin.look_at(tmp_path / "mine.ipynb").mend[0]


def test_the_run_names_the_cell_and_the_line_that_fails(tmp_path):
    path = small(tmp_path, "x = 1\ny = undefined", "import sys; sys.exit(3)", "z = 2")
    report = handin.look_at(path)
    assert any("the cell own-0, line 2 raises NameError" in one for one in report.mend)
    assert any("the cell own-1" in one and "SystemExit" in one for one in report.mend)
    assert "shares: 5 of 5 visible cases pass" in report.good


@pytest.mark.parametrize(
    ("cell", "cell_seconds", "said"),
    [
        ("while True: pass", 1.0, "the cell 'own-0' takes longer than 1 seconds"),
        ("import os; os._exit(0)", 1.0, "the process died in the cell 'own-0'"),
        ("import time\nfor _ in range(9): time.sleep(0.1)", 9.0, "longer than 1.5 seconds"),
    ],
)
def test_a_run_that_does_not_end_is_ended(tmp_path, cell, cell_seconds, said):
    cells = [cell, "import time; time.sleep(0.9)"]
    limits = Limits(cell_seconds=cell_seconds, notebook_seconds=1.5)
    path = small(tmp_path, *cells, keep=("shares",))  # without torch, which takes seconds
    report = handin.look_at(path, limits=limits)
    assert any("does not run from top to bottom" in one and said in one for one in report.mend)


@pytest.mark.skipif(os.name != "posix", reason="there are no alarms on this system")
def test_an_orphan_ends_by_itself():
    """Killed with nobody left to end it: `submit_check` in a notebook whose kernel is restarted."""
    program = "from coursekit.check import run_notebook as r; r.START = 0; r.main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "-3"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    process.stdin.write(json.dumps(["while True: pass"]).encode())
    process.stdin.close()
    assert process.wait(timeout=300) == -signal.SIGALRM


def test_printing_and_reading_do_not_disturb_the_run(tmp_path):
    printing = "print('{}' * 9); import os; os.system('echo {}')"
    path = small(tmp_path, printing, "input()", keep=("shares",))
    report = handin.look_at(path)
    assert any("own-1" in one and "raises" in one for one in report.mend)
    assert not any("own-0" in one for one in report.mend)


def test_the_command_tells_by_its_exit_code(tmp_path, still, capsys):
    path = edited(tmp_path, lambda *_: None)
    assert handin.run(argparse.Namespace(notebook=path, quiet=True)) == 0
    assert handin.run(argparse.Namespace(notebook=released(OURS, NAME), quiet=True)) == 1
    assert "shares is not answered" in capsys.readouterr().out


def test_submit_check_finds_the_file_and_says_what_is_not_saved(tmp_path, still, monkeypatch):
    path = edited(tmp_path, lambda *_: None)
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))
    names = {"submit_check": handin.submit_check}
    exec("report = submit_check()", names)
    assert names["report"].mend == [] and "checked mine.ipynb" in names["report"].good[0]

    def shares(scores):
        return scores * 7

    names["shares"] = shares
    exec("report = submit_check()", names)
    assert "older than your shares: save the notebook" in names["report"].mend[0]


def test_where_the_notebook_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert handin.submit_check() is None
    assert 'submit_check("a01_kernels.ipynb")' in capsys.readouterr().out
    assert handin.submit_check("nowhere.ipynb") is None
    assert "There is no file nowhere.ipynb" in capsys.readouterr().out
    mine, other = tmp_path / "mine.ipynb", tmp_path / "other.ipynb"
    mine.write_text("{}")
    assert notebook_path.this_notebook({}) == mine  # the only one here
    other.write_text("{}")
    assert notebook_path.this_notebook({}) is None
    assert notebook_path.this_notebook({"__vsc_ipynb_file__": str(other)}) == other
    monkeypatch.setenv("JPY_SESSION_NAME", "folder/other.ipynb")  # as older servers say it
    assert notebook_path.this_notebook({}) == other


def test_colab_is_asked_and_may_fail(monkeypatch, tmp_path):
    """Colab keeps the notebook in the browser; its way to hand it over is not documented."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    colab, google = types.ModuleType("google.colab"), types.ModuleType("google")
    google.colab = colab
    monkeypatch.setitem(sys.modules, "google", google)
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    assert notebook_path.this_notebook({}) is None  # no such module any more
    notebook = {"cells": [], "nbformat": 4}
    colab._message = types.SimpleNamespace(
        blocking_request=lambda request, timeout_sec: {"ipynb": notebook}
    )
    found = notebook_path.this_notebook({})
    assert json.loads(found.read_text()) == notebook
    found.unlink()
    found.parent.rmdir()
    colab._message.blocking_request = lambda request, timeout_sec: None  # it did not answer
    assert notebook_path.this_notebook({}) is None


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("name = input('who? ')", "EOFError: input() is not available when graded"),
        ("import google.colab", "google.colab is there in Colab only, not when graded"),
        ("get_ipython().kernel", "IPython's shell is not there when graded"),
    ],
)
def test_it_runs_what_the_grader_runs(tmp_path, cell, said):
    report = handin.look_at(small(tmp_path, cell))
    assert [one for one in report.mend if said in one], report.mend


STUB = "def shares(scores):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
RIGHT = (
    "def shares(scores):\n"
    "    raised = (scores - scores.amax(dim=-1, keepdim=True)).exp()\n"
    "    return raised / raised.sum(dim=-1, keepdim=True)"
)
WRONG = "def shares(scores):\n    return scores"


def around(tmp_path, home, place, text):
    """The first question with `home` in its cell, None without it, and a cell at a place."""

    def change(cells, every):
        cells["shares"]["source"] = home or ""
        own = {"cell_type": "code", "id": "mine", "metadata": {}, "source": text, "outputs": []}
        rest = [cells["shares"]] if home is not None else []
        check = [cells["check-shares"]]
        every[:] = [
            cells["imports"],
            *{
                "above": [own, *rest, *check],
                "below": [*rest, own, *check],
                "after": [*rest, *check, own],
            }[place],
        ]

    return edited(tmp_path, change)


@pytest.mark.parametrize(
    ("home", "place", "text", "said"),
    [
        (STUB, "below", RIGHT, ""),
        ("", "below", RIGHT, ""),
        ("# see below", "below", RIGHT, ""),
        (WRONG, "below", RIGHT, ""),
        (STUB, "above", RIGHT, ""),
        (STUB, "below", RIGHT.replace("def shares", "def mine") + "\nshares = mine", ""),
        (None, "above", RIGHT, "the cell for shares is gone; the answer in another cell counts"),
        (RIGHT, "after", WRONG, "the cell mine defines shares below its check"),
    ],
)
def test_an_answer_in_another_cell_is_found_as_the_grader_finds_it(
    tmp_path, home, place, text, said
):
    report = handin.look_at(around(tmp_path, home, place, text))
    assert "shares: 5 of 5 visible cases pass" in report.good, repr(report)
    assert not [sentence for sentence in report.mend if sentence.split()[0] == "shares"]
    assert not [sentence for sentence in report.mend if "the cell for shares" in sentence]
    assert [one for one in report.look if "shares" in one and "cell" in one] == (
        [one for one in report.look if said in one] if said else []
    )


@pytest.mark.parametrize("home", [STUB, "", "# see below", None])
def test_an_answer_below_its_check_is_read_and_better_moved(tmp_path, still, home):
    report = handin.look_at(around(tmp_path, home, "after", RIGHT))
    assert "the answer to shares stands below its check, in the cell mine; move it up" in (
        report.look
    )
    assert "shares is not answered" not in report.mend
    assert "the cell for shares is gone; copy your answers into a fresh download" not in report.mend


@pytest.mark.parametrize("home", [STUB, "", "# see below"])
@pytest.mark.parametrize("text", ["x = 1", STUB, "# def shares(scores): later"])
def test_no_answer_anywhere_is_said(tmp_path, still, home, text):
    report = handin.look_at(around(tmp_path, home, "below", text))
    assert "shares is not answered" in report.mend


def test_what_is_forbidden_is_seen_in_another_cell(tmp_path, still):
    text = "def shares(scores):\n    return scores.softmax(-1)"
    report = handin.look_at(around(tmp_path, STUB, "below", text))
    assert "shares uses .softmax(); a human will look at it" in report.look


@pytest.mark.parametrize(
    ("hours", "kind", "said"),
    [
        (49, "good", ": in 2 days"),
        (0.5, "good", ": in 30 minutes"),
        (-3, "look", ": 3 hours ago; late work may cost points, unless you have more time"),
    ],
)
def test_the_deadline_is_said(tmp_path, still, hours, kind, said):
    due = datetime.now(timezone(timedelta(hours=1))) + timedelta(hours=hours, seconds=20)
    path = edited(tmp_path, lambda *_: None)
    notebook = json.loads(path.read_text())
    notebook["metadata"]["coursekit"] = {"due": due.isoformat()}
    path.write_text(json.dumps(notebook))
    (sentence,) = [one for one in getattr(handin.look_at(path), kind) if one.startswith("due ")]
    assert sentence.endswith(said) and f"{due:%H:%M} UTC+01:00: " in sentence


@pytest.mark.parametrize("about", [None, 3, {}, {"due": 3}, {"due": "soon"}, {"due": "2026-11-20"}])
def test_a_deadline_that_is_none_is_not_said(tmp_path, still, about):
    path = edited(tmp_path, lambda *_: None)
    notebook = json.loads(path.read_text())
    notebook["metadata"]["coursekit"] = about
    path.write_text(json.dumps(notebook))
    report = handin.look_at(path)
    assert not [one for one in report.good + report.look if one.startswith("due ")]


BOTH = f"{RIGHT}\n\ncheck(shares)"


@pytest.mark.parametrize(
    ("home", "said"),
    [
        (STUB, "shares is defined in the cell of its check, and the answer's own cell still holds"),
        ("", "shares is defined in the cell of its check, and the answer's own cell still holds"),
        (None, "shares is defined in the cell of its check, and the answer's own cell is gone"),
    ],
)
def test_an_answer_in_the_cell_of_its_check_is_pointed_out(tmp_path, home, said):
    """It counts, and is better kept where the answer belongs."""

    def change(cells, every):
        cells["check-shares"]["source"] = BOTH
        cells["shares"]["source"] = home or ""
        keep = ("imports", "check-shares", *(["shares"] if home is not None else []))
        every[:] = [one for one in every if one["id"] in keep]

    report = handin.look_at(edited(tmp_path, change))
    assert not [one for one in report.mend if one.split()[0] == "shares"]
    (sentence,) = [one for one in report.look if one.split()[0] == "shares"]
    assert sentence.startswith(said) and "it counts there too" in sentence
    assert "shares: 5 of 5 visible cases pass" in report.good


def test_a_check_that_defines_an_answer_again_is_pointed_out(tmp_path, still):
    report = handin.look_at(edited(tmp_path, holding("check-shares", BOTH)))
    assert report.mend == []
    assert [one for one in report.look if "checks shares is changed" in one]


KEPT = f"{RIGHT}\n    raise NotImplementedError()"
GUARD = RIGHT.replace(
    "    raised", "    if scores is None:\n        raise NotImplementedError()\n    raised"
)


@pytest.mark.parametrize("text", [KEPT, GUARD, f"# raise NotImplementedError()\n{RIGHT}"])
def test_a_stub_that_is_not_reached_is_an_answer(tmp_path, still, text):
    report = handin.look_at(edited(tmp_path, holding("shares", text)))
    assert report.mend == [] and not is_open(text)


@pytest.mark.parametrize(
    "text",
    [STUB, STUB.replace("()\n", "\n"), "# later", "", f"{RIGHT}\n{STUB}", "def f(:\n  " + STUB],
)
def test_a_stub_is_no_answer(text):
    assert is_open(text)


def test_every_stub_that_is_released_is_known_as_one():
    for name in sources(OURS):
        for path, blank in ((released(OURS, name), True), (source(OURS, name), False)):
            for one in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                if regions.is_solution(one) and one["cell_type"] == "code":
                    assert is_open("".join(one["source"])) == blank, (name, one["id"])


def test_a_file_that_is_almost_called_so_is_named(tmp_path, capsys):
    edited(tmp_path, lambda *_: None)
    assert handin.submit_check(tmp_path / "mien.ipynb") is None
    assert "did you mean mine.ipynb?" in capsys.readouterr().out
    with pytest.raises(CourseError, match=r"did you mean mine\.ipynb\?"):
        handin.run(argparse.Namespace(notebook=tmp_path / "mien.ipynb", quiet=True))


def test_a_check_that_could_not_look_is_said(tmp_path, monkeypatch):
    def broken(cells, folder, advance, limits):
        (number,) = (n for n, cell in enumerate(cells) if cell["id"] == "check-shares")
        return [Ran(number, said=BROKEN)], ""

    monkeypatch.setattr(handin, "rehearse", broken)
    report = handin.look_at(edited(tmp_path, lambda *_: None))
    assert [one for one in report.look if "check-shares" in one and "instructor" in one]


def test_the_courses_own_fault_is_reported_to_the_instructor(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(handin, "look_at", lambda *_: 1 / 0)
    assert handin.submit_check(edited(tmp_path, lambda *_: None)) is None
    said = capsys.readouterr().out
    assert "ZeroDivisionError" in said and "instructor" in said and "coursekit doctor" in said
