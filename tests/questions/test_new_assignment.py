"""An assignment made by following solutions/README.md and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import ours
import pytest

from coursekit._base.errors import CourseError
from coursekit.check import compiled
from coursetools.assignments.release import release_text
from coursetools.assignments.sources import source
from coursetools.book.assignment_pages import read_assignment
from coursetools.course import SOURCES, Course
from coursetools.notebooks.set_address import move
from coursetools.questions.compiling import PLACE
from coursetools.questions.new_assignment import new

ROOT = Path(__file__).resolve().parents[2]
NAME = "a21_mixing"
GUIDE = (ROOT / "solutions" / "README.md").read_text(encoding="utf-8")
BLOCK = r"<!-- {kind}: (\S+) -->\n```\w+\n(.*?)\n```"
CONTENTS = """root: book/index
parts:
  - caption: Part I
    numbered: 1
    chapters:
      - file: book/kernels
      - file: book/mixing
  - caption: The course
    chapters:
      - file: book/check
        sections:
          - file: notebooks/check
          - file: notebooks/assignments/a01_kernels/a01_kernels
          - file: notebooks/assignments/a99_more/a99_more
"""
MIXING = """# How do tokens mix?

(sec-mixing-first)=
## What happens first?

## What to take away

They do.

## Further reading
"""
# What is put in by `new` and can be no word of an assignment that is finished.
BEGUN = (
    "What it is about, in a few sentences.",
    "What this is good for.",
    "What is asked, in one sentence.",
    "The first step, for everybody who is stuck.",
)


@pytest.fixture
def clone(tmp_path, copied):
    """The course without its code, and of its solutions the first alone."""
    copied("a01_kernels", tmp_path)
    for path in ("_config.yml", "pyproject.toml"):
        shutil.copy(ROOT / path, tmp_path)
    (tmp_path / "book").mkdir()
    shutil.copy(ROOT / "book" / "kernels.md", tmp_path / "book")
    (tmp_path / "book" / "mixing.md").write_text(MIXING, encoding="utf-8")
    (tmp_path / "_toc.yml").write_text(CONTENTS, encoding="utf-8")
    (tmp_path / "notebooks").mkdir()
    return tmp_path


def typed(clone, *words):
    """Run a command of the guide in the clone; return its exit status and all that it says."""
    words = [sys.executable, "-m", *words]
    run = subprocess.run(words, cwd=clone, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def coursekit(clone, line):
    return typed(clone, "coursetools.cli", *line.split("#")[0].split()[1:])


def fill_in(clone):
    """Copy the question of the guide into the files of the skeleton."""
    for place, text in re.findall(BLOCK.format(kind="file"), GUIDE, re.DOTALL):
        assert (clone / place).is_file()
        (clone / place).write_text(text + "\n", encoding="utf-8")
    path = source(Course(clone), NAME)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    for place, text in re.findall(BLOCK.format(kind="cell"), GUIDE, re.DOTALL):
        cells[place]["source"] = text
    path.write_text(json.dumps(notebook), encoding="utf-8")


def formed(clone):
    """Say what lint and format find in the files of the assignment."""
    # Ours are not in the clone.
    ours = 'lint.isort.known-first-party = ["coursekit", "coursetools"]'
    for words in (["check", "--config", ours], ["format", "--check"]):
        status, said = typed(clone, "ruff", *words, f"solutions/{NAME}")
        assert status == 0, said
    notebooks = f"notebooks lint notebooks/assignments/{NAME} {SOURCES}/{NAME}"
    status, said = coursekit(clone, f"coursekit {notebooks}")
    assert status == 0, said


def test_whoever_follows_the_guide_has_an_assignment_that_is_sound(clone):
    commands = re.findall(r"^coursekit (?:assignment|audit) .*a21_mixing.*", GUIDE, re.MULTILINE)
    begin, look, release, audit = commands
    assert coursekit(clone, begin)[0] == 0
    formed(clone)
    status, said = coursekit(clone, look)
    lines = [line for line in said.splitlines() if line.startswith(f"{NAME}, mix: ")]
    assert status == 1 and said.count("100%") == 2 and "1 of 1" in said
    assert all(line.split(": ")[1] == "not finished yet" for line in lines)
    assert [line.split(": ")[2] for line in lines] == [
        f"solutions/{NAME}/mix.py has 1 of 3 visible cases",
        f"solutions/{NAME}/mix.py has 1 of 4 hidden cases",
        f"solutions/{NAME}/mix.md has 1 of 4 misconceptions",
    ]
    fill_in(clone)
    assert "not in step" in coursekit(clone, audit)[1]
    assert coursekit(clone, release)[0] == 0
    status, said = coursekit(clone, audit)
    assert (status, said.splitlines()[1:]) == (0, [said.splitlines()[-1]])
    assert "3+4" in said and "4 of 4" in said
    (mix,) = compiled.load(NAME, clone / PLACE).questions
    assert (len(mix.cases), mix.mistakes[0].name) == (3, "columns of weights")
    formed(clone)


@pytest.mark.parametrize("address", [None, "https://github.com/somebody/course"])
def test_the_first_cell_says_nothing_twice_and_links_to_itself(clone, address):
    if address:
        move(Course(clone), address)
    new(Course(clone), NAME, ["mix"])
    assert "Colab" not in json.loads(source(Course(clone), NAME).read_text())["cells"][0]["source"]
    text = release_text(Course(clone), NAME)
    lines = "".join(json.loads(text)["cells"][0]["source"]).splitlines()
    said = [line for line in lines if line]
    assert len(said) == len(set(said))
    assert [NAME in line for line in said if "Colab" in line] == [True] * bool(address)


def test_several_questions_have_a_file_each(clone):
    written = new(Course(clone), NAME, ["mix", "SoftLookup"])
    names = [path.name for path in written]
    assert names[:4] == ["mix.py", "mix.md", "soft_lookup.py", "soft_lookup.md"]
    status, said = coursekit(clone, f"coursekit assignment release {NAME}")
    assert status == 0, said
    header = read_assignment(Course(clone), NAME)
    assert (header.chapter, header.points, header.time) == ("mixing", 6, "about 30 minutes")
    assert len(header.asked) == 2
    formed(clone)


@pytest.mark.parametrize(
    ("name", "questions", "said"),
    [
        ("mixing", ["mix"], "an assignment is called like a21_mixing, found 'mixing'"),
        ("a1_mixing", ["mix"], "found 'a1_mixing'"),
        (NAME, ["for"], "a question is called like a function of Python, found 'for'"),
        (NAME, ["../mix"], "found '../mix'"),
        (NAME, ["SoftLookup", "soft_lookup"], "two questions would be in soft_lookup.py"),
        ("a01_kernels", ["mix"], "a01_kernels already exists"),
        ("a21_nothing", ["mix"], "there is no chapter nothing for a21_nothing; name one with"),
    ],
)
def test_what_cannot_be_begun_is_said_and_nothing_is_written(clone, name, questions, said):
    before = sorted(clone.rglob("*"))
    with pytest.raises(CourseError, match=re.escape(said)):
        new(Course(clone), name, questions)
    assert sorted(clone.rglob("*")) == before


def test_a_course_without_an_assignment_is_said(tmp_path):
    with pytest.raises(CourseError, match="has no assignment whose first cell a new one could"):
        new(Course(tmp_path), NAME, ["mix"])


def test_it_is_entered_into_the_contents_and_ends_its_chapter(clone):
    *written, _ = new(Course(clone), NAME, ["mix"])
    texts = "\n".join(path.read_text(encoding="utf-8") for path in written)
    assert all(words in texts for words in BEGUN)
    line = f"          - file: notebooks/assignments/{NAME}/{NAME}\n"
    before, after = CONTENTS.split("          - file: notebooks/assignments/a99")
    assert (
        clone / "_toc.yml"
    ).read_text() == f"{before}{line}          - file: notebooks/assignments/a99{after}"
    page = MIXING.replace("They do.\n", f"They do.\n\n```{{assignment}} {NAME}\n```\n")
    assert (clone / "book" / "mixing.md").read_text() == page
    text = (Course(clone).private(NAME) / "mix.md").read_text()
    assert text.startswith("page: mixing.html#sec-mixing-first\n")


def test_a_chapter_has_one_assignment_and_a_place_for_it(clone):
    released = clone / "notebooks" / "assignments" / "a01_kernels"
    shutil.copytree(ROOT / "notebooks" / "assignments" / "a01_kernels", released)
    with pytest.raises(CourseError, match="kernels has an assignment already, a01_kernels"):
        new(Course(clone), NAME, ["mix"], "kernels")
    (clone / "book" / "mixing.md").write_text(MIXING.replace("take away", "keep"))
    with pytest.raises(CourseError, match="has no section `## What to take away`"):
        new(Course(clone), NAME, ["mix"])


@pytest.mark.parametrize("name", ours.names())
def test_no_assignment_has_the_words_that_it_began_with(name):
    files = [*sorted(ours.OURS.private(name).glob("*.*")), source(ours.OURS, name)]
    left = [
        f"{ours.OURS.relative(path)} still says {words!r}"
        for path in files
        for words in BEGUN
        if words in path.read_text(encoding="utf-8")
    ]
    assert not left, f"not finished yet: {left[0]}"
