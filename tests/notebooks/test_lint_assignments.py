"""Rules that only an assignment has, for its source and for what is released; each broken once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from coursetools.course import Course
from coursetools.assignments.sources import released, source, sources
from coursetools.notebooks.lint import all_notebooks, fix, lint

ROOT = Path(__file__).resolve().parents[2]
OURS = Course(ROOT)
NAME = "a01_kernels"

if not sources(OURS):
    pytest.skip("this is the public tree, without solutions/", allow_module_level=True)


@pytest.fixture
def course_copy(tmp_path):
    shutil.copy(ROOT / "_config.yml", tmp_path / "_config.yml")
    for path in (source(OURS, NAME), released(OURS, NAME)):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True)
        shutil.copy(path, copy)
    return tmp_path


def said(path, change):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    change(cells, notebook["cells"])
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return [problem.sentence for problem in lint(path)]


def test_sources_are_linted_with_the_rest():
    assert {source(OURS, name) for name in sources(OURS)} <= set(all_notebooks(OURS))


def test_fixing_a_release_leaves_it_in_step(course_copy):
    path = released(Course(course_copy), NAME)
    assert lint(path) == [] and not fix(path)
    assert lint(source(Course(course_copy), NAME)) == [] and not fix(source(Course(course_copy), NAME))


@pytest.mark.parametrize(
    ("of", "change", "sentence"),
    [
        (source, lambda by_id, cells: cells.pop(), "should end with submit_check()"),
        (
            source,
            lambda by_id, cells: by_id["check-shares"].update(source="assert shares(1)"),
            "is not one call of check",
        ),
        (
            source,
            lambda by_id, cells: by_id["check-shares"]["metadata"]["nbgrader"].update(locked=False),
            "is not locked",
        ),
        (
            source,
            lambda by_id, cells: by_id["shares"].update(source="def shares(x): return x"),
            "has no BEGIN SOLUTION",
        ),
        (
            released,
            lambda by_id, cells: by_id["shares"].update(source="### BEGIN SOLUTION\n1"),
            "belongs to the instructor",
        ),
        (
            released,
            lambda by_id, cells: by_id["predict"]["metadata"]["nbgrader"].update(grade_id="shares"),
            "has the grade_id of an earlier cell",
        ),
    ],
)
def test_each_rule_is_seen(course_copy, of, change, sentence):
    found = said(of(Course(course_copy), NAME), change)
    assert len(found) == 1 and sentence in found[0]
