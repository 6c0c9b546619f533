"""Follow the READMEs to a chapter, an assignment and a part: what is left to do is all that fails.

The steps are read from the READMEs and run in a copy of the course, and then the tests that look at
all of its files. Each failure there must say `not finished yet: ` and what is still to be written.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[1]
UNFINISHED = "not finished yet: "
BLOCK = re.compile(r"^(`{3,})\w*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
WRITTEN = re.compile(
    r"<!-- (file|append): (\S+) -->\n(`{3,})\w+\n(.*?)^\3$", re.MULTILINE | re.DOTALL
)
NOT_COPIED = (".git", ".venv", "_build", "build", "dist", "*.egg-info", "__pycache__", ".*_cache")
NOT_COPIED += (".hypothesis",)
GUARDS = {
    "": "layers people style pooling",
    "book/": "ask assignment_pages code_links figures_and_tables lecture_map names new_chapter "
    "questions_and_terms reference routes typed_numbers",
    "check/": "inputs",
    "notebooks/": "lint_assignments plain_sight",
}
SINGLE = (
    "book/test_reading.py::test_a_page_teaches_before_it_measures[{chapter}]",
    "book/test_reading.py::test_listings_can_be_overlooked[{chapter}]",
    "book/test_reading.py::test_every_value_is_still_shown",
    "book/test_catch.py::test_each_chapter_has_a_game_and_each_game_a_chapter",
    "questions/test_audit.py::test_the_audit_finds_nothing_wrong[{assignment}]",
    "questions/test_new_assignment.py::test_no_assignment_has_the_words_that_it_began_with[{assignment}]",
    "questions/test_rubric.py::test_each_question_in_words_of_the_course_has_one[{assignment}]",
)

pytestmark = pytest.mark.skipif(
    not (ROOT / "solutions").is_dir(), reason="this is the public course, without solutions/"
)


def python(course: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python on the course's own code."""
    path = os.pathsep.join([str(course / "src"), os.environ.get("PYTHONPATH", "")])
    inherited = {name: held for name, held in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**inherited, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    run = [sys.executable, *words]
    return subprocess.run(
        run, cwd=course, env=environment, capture_output=True, text=True, check=False
    )


def commands(guide: str) -> list[list[str]]:
    """Return the commands of the block in which a guide begins something new."""
    blocks = BLOCK.findall((ROOT / guide).read_text(encoding="utf-8"))
    (block,) = (block for _, block in blocks if re.search(r"coursekit \w+ new ", block))
    return [shlex.split(line, comments=True)[1:] for line in block.splitlines()]


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A copy of the course, with the chapter, the assignment and the part of the READMEs."""
    copy = tmp_path_factory.mktemp("contributed") / "course"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
    for words in [*commands("notebooks/README.md"), *commands("solutions/README.md")]:
        done = python(copy, "-m", "coursetools.cli", *words)
        problems = []
        if words[0] == "audit":  # which fails where anything is missing
            problems = [
                line for line in done.stdout.splitlines() if line.startswith(words[1] + ",")
            ]
            assert problems and all(UNFINISHED in line for line in problems)
        assert done.returncode == bool(problems), done.stdout + done.stderr
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for how, place, _, text in WRITTEN.findall(guide):
        assert (copy / place).exists() == (how == "append"), place
        with (copy / place).open("a", encoding="utf-8") as file:
            file.write(text)
    return copy


def test_what_is_left_is_all_that_fails(course, tmp_path):
    chapter = commands("notebooks/README.md")[0][2]
    name = commands("solutions/README.md")[0][2]
    files = [
        f"tests/{folder}test_{name}.py" for folder in GUARDS for name in GUARDS[folder].split()
    ]
    files += [f"tests/{test.format(assignment=name, chapter=chapter)}" for test in SINGLE]
    report = tmp_path / "report.xml"
    options = ["-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = python(course, "-m", "pytest", *options, f"--junitxml={report}", *files)
    assert done.returncode == 1, done.stdout + done.stderr
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = {
        f"{case.get('classname')}.{case.get('name')}": fault.get("message").partition(": ")[2]
        for case in cases
        for fault in (*case.iter("failure"), *case.iter("error"))
    }
    other = {name: said for name, said in failed.items() if not said.startswith(UNFINISHED)}
    assert not other
    said = "\n".join(failed.values())
    assert len(cases) > 300 and f"solutions/{name}" in said and "book/mixing.md" in said
