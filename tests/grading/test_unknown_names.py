"""Wherever a command takes a name, one that is almost right is answered by the right one."""

from __future__ import annotations

import functools
import json

import pytest
from helpers import FAKE

from coursekit._base.nearest import nearest, no_such
from coursetools.cli import main
from coursetools.grading.running import grade_class

pytestmark = pytest.mark.usefixtures("quick_gradebook")
ASSIGNMENT = (
    "collect {}", "grade {}", "mark {}", "return {}", "export {}", "next {}",
    "settings {} --extend 48h --student ada", "review {}", "gradescope {} x.zip", "why {}",
    "override {} square full --why x", "why {} ada", "audit {}",
    "assignment release {}", "settings {}", "assignment paper {}", "assignment solutions {}",
)  # fmt: skip


@pytest.mark.parametrize("command", ASSIGNMENT, ids=lambda command: command.partition(" {")[0])
@pytest.mark.parametrize("name", ["p1", "ps01", "PS2"])
def test_an_assignment(classroom, capsys, monkeypatch, command, name):
    monkeypatch.chdir(classroom.root)
    assert main(command.format(name).split()) == 1
    said = capsys.readouterr()
    assert f"No assignment {name}. Did you mean ps1?" in said.err and said.out == ""
    assert not (classroom.root / "autograder").exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("override ps1 square full --why x --student adda", "No student adda. Did you mean ada?"),
        ("why ps1 adda", "No student adda. Did you mean ada?"),
        ("return ps1 --student adda", "No student adda. Did you mean ada?"),
        ("collect ps1 --undo --student adda", "did you mean ada?"),
        ("override ps1 sqare full --why x", "No question sqare. Did you mean square?"),
        ("export ps1 --format cvs", "No format cvs. Did you mean csv?"),
        ("return ps1 --to moodel", "No --to moodel. Did you mean moodle?"),
        ("return ps1 --studnt ada", "No option --studnt. Did you mean --student?"),
        ("release ps1", "No command release. Did you mean `assignment release`?"),
    ],
)
def test_students_questions_formats_options_and_commands(classroom, capsys, monkeypatch,
                                                         command, said):  # fmt: skip
    monkeypatch.setattr(grade_class, "Options", functools.partial(grade_class.Options, **FAKE))
    monkeypatch.chdir(classroom.root)
    inbox = classroom.root / "inbox"
    inbox.mkdir()
    (inbox / "ada.ipynb").write_text(json.dumps(classroom.answered()))
    assert main(["collect", "ps1", "inbox"]) == 0
    assert main(["grade", "ps1"]) == 0
    capsys.readouterr()
    assert main(command.split()) in (1, 2)
    assert said in capsys.readouterr().err


def test_the_nearest_name():
    names = ["a01_kernels", "a02_scaling", "a10_bert", "a11_roberta"]
    for typed, meant in {
        "a1": "a01_kernels", "a01": "a01_kernels", "A2": "a02_scaling", "a11": "a11_roberta",
        "kernels": "a01_kernels", "a02-scaling": "a02_scaling", "a02_scalling": "a02_scaling",
        "bert": "a10_bert", "a3": "", "": "", "zzz": "",
    }.items():  # fmt: skip
        assert nearest(typed, names) == meant, typed
    assert (
        no_such("assignment", "zzz", names) == f"No assignment zzz. Choose from {', '.join(names)}."
    )
    assert no_such("assignment", "zzz", []) == "No assignment zzz. There is none yet."
    assert no_such("student", "zzz", names, tell=False) == "No student zzz."
    assert "\n" not in no_such("student", "a\nb", names)
