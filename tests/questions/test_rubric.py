"""Rubrics of questions in words: what they may say, and those of the course."""

from __future__ import annotations

from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursekit.submission import regions
from coursetools.assignments.sources import source, sources
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook
from coursetools.questions import audit, catalogue
from coursetools.questions.rubric import Item, Rubric, read

COURSE = Course(Path(__file__).parents[2])
GOOD = 'comments = ["Why?"]\n[items.signs]\npoints = 1\nsays = "Signs."\n'


@pytest.fixture
def rubric(course):
    path = Course(course.root).private("ps1") / "why.toml"
    path.parent.mkdir(parents=True)

    def written(text: str) -> Rubric:
        path.write_text(text)
        return read(Course(course.root), "ps1", "why")

    return written


def test_a_rubric_is_read(rubric):
    assert rubric(GOOD) == Rubric((Item("signs", 1.0, "Signs."),), ("Why?",))


def test_a_question_without_a_file_has_an_empty_one(course):
    assert read(Course(course.root), "ps1", "why") == Rubric()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[items.signs]", "[items.signs", "solutions/ps1/why.toml cannot be read: "),
        ("comments", "comment", "solutions/ps1/why.toml: 'comment' should be items or comments"),
        (GOOD, "", "solutions/ps1/why.toml should have from 1 to 9 items, each as [items.NAME]"),
        ('["Why?"]', '"Why?"', "comments should be a list of sentences"),
        ('["Why?"]', '[""]', "comments should be a list of sentences"),
        ("items.signs", "items.1", "an item is called '1', which should be a word that begins"),
        ("points", "point", "[items.signs] should have points and says, and nothing else"),
        ("points = 1", "points = 0", "points of signs should be a number other than 0: 0"),
        ("points = 1", "points = nan", "points of signs should be a number other than 0: nan"),
        ("points = 1", "points = true", "points of signs should be a number other than 0: True"),
        ('"Signs."', '" "', "says of signs should be a sentence: ' '"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(rubric, old, new, said):
    with pytest.raises(CourseError) as error:
        rubric(GOOD.replace(old, new))
    assert said in str(error.value)


def test_ten_items_are_too_many(rubric):
    with pytest.raises(CourseError, match="from 1 to 9 items"):
        rubric("".join(f'[items.i{n}]\npoints = 1\nsays = "One."\n' for n in range(10)))


def test_what_is_ticked_counts_from_nothing_to_all():
    made = Rubric((Item("a", 2, "A."), Item("b", 2, "B."), Item("c", -1, "C.")))
    given = [["a"], ["a", "b"], ["c"], ["a", "b", "c"], []]
    assert [made.points(names, 3) for names in given] == [2, 3, 0, 3, 0]


@pytest.mark.parametrize("name", sources(COURSE))
def test_each_question_in_words_of_the_course_has_one(name):
    """The items bring all points together, and no file is there for a question that is not."""
    cells = read_notebook(source(COURSE, name))["cells"]
    words = [cell for cell in cells if regions.is_by_hand(cell)]
    written = {regions.grade_id(cell): regions.meta(cell)["points"] for cell in words}
    files = {path.stem for path in COURSE.private(name).glob("*.toml")} - {"assignment"}
    assert files == written.keys()
    missing = f"solutions/{name} has no rubric, since no question is answered in words"
    assert written, f"not finished yet: {missing}; write one"
    for question, points in written.items():
        rubric = read(COURSE, name, question)
        assert 3 <= len(rubric.items) <= 6 and rubric.comments
        assert sum(item.points for item in rubric.items) == points


def test_the_audit_says_what_is_wrong_with_one(copied, tmp_path):
    course = Course(tmp_path)
    copied("a01_kernels", tmp_path)
    path = course.private("a01_kernels") / "shuffled.toml"
    path.write_text(path.read_text().replace("points = 1", "points = 0", 1))
    notebook = read_notebook(source(course, "a01_kernels"))
    said = audit._form(course, catalogue.load(course, "a01_kernels"), notebook)
    where = "solutions/a01_kernels/shuffled.toml"
    assert said == [f"{where}: points of seen should be a number other than 0: 0"]
