"""The table of who has more time: read, written, edited by hand, and refused with its line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit._base.errors import CourseError
from coursetools.course import Course
from coursetools.grading.gradebook.lateness import Lateness
from coursetools.settings.extensions import (
    EXCUSED,
    Extensions,
    Line,
    read_extension,
)
from coursetools.settings.late_rule import LateRule

DUE = datetime(2026, 11, 20, 12)
HEAD = "id,assignment,extension,why\n"


def table(root, text: str) -> Extensions:
    (root / "autograder").mkdir(exist_ok=True)
    (root / "autograder" / "extensions.csv").write_text(text, encoding="utf-8")
    return Extensions.read(Course(root))


def lateness(*lines: Line, due: datetime | None = DUE) -> Lateness:
    return Lateness(
        "ps1", due, LateRule(rate=0.1), Extensions(None, {one.key: one for one in lines})
    )


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("48h", timedelta(hours=48)),
        ("48 hours", timedelta(hours=48)),
        ("2d", timedelta(days=2)),
        ("1.5 Days", timedelta(hours=36)),
        ("0h", timedelta(0)),
        ("Excused", EXCUSED),
        ("2026-11-22 12:00", datetime(2026, 11, 22, 12, tzinfo=UTC)),
        ("2026-11-22T12:00+00:00", datetime(2026, 11, 22, 12, tzinfo=UTC)),
    ],
)
def test_what_an_extension_may_be(text, means):
    assert read_extension(text, UTC) == means


@pytest.mark.parametrize("text", ["", "48", "2w", "-2h", "2026-11-22", "22.11.2026 12:00", "soon"])
def test_what_it_may_not_be(text):
    with pytest.raises(CourseError, match="is not an extension; write 48h, 2d, excused"):
        read_extension(text, UTC)
    with pytest.raises(CourseError, match="longer than a year"):
        read_extension("9000d", UTC)


def test_a_table_comes_back_as_it_was_edited(tmp_path):
    text = "\ufeffID;Assignment;Extension;Ticket;Why\n007;ps1;48h;T-1;ill, long\n7;all;1.5h;;\n"
    one = table(tmp_path, text)
    one.put([Line("ada", "ps1", EXCUSED, "jury")])
    one.put([Line("7", "all", timedelta(days=1))])
    one.write()
    assert one.path.read_text(encoding="utf-8") == (
        "\ufeffID;Assignment;Extension;Ticket;Why\n007;ps1;2d;T-1;ill, long\n7;all;1d;;\n"
        "ada;ps1;excused;;jury\n"
    )
    assert [who for who, _ in Extensions.read(Course(tmp_path)).lines] == ["007", "7", "ada"]


@given(st.floats(0, 8000), st.text(st.characters(exclude_categories=["C", "Z"])))
def test_what_is_written_is_read(tmp_path_factory, hours, why):
    root = tmp_path_factory.mktemp("table")
    one = Extensions.read(Course(root))
    line = Line("ada", "ps1", timedelta(hours=round(hours, 2)), why)
    one.put([line])
    one.write()
    (back,) = Extensions.read(Course(root)).lines.values()
    assert (back.student, back.assignment, back.why) == ("ada", "ps1", why)
    assert abs(back.extension - line.extension) < timedelta(seconds=1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,assignment\nada,ps1\n", "line 1: there is no column called extension"),
        (f"{HEAD}ada,ps1,soon,\n", "line 2: 'soon' is not an extension"),
        (f"{HEAD}ada,,2d,\n", "line 2: the cell assignment is empty"),
        (f"{HEAD}ada,ps1,2d,\nada,ps1,3d,\n", "line 3: line 2 is also about ada and ps1"),
        (
            f"{HEAD}ada,*,2026-11-22T12:00,\n",
            "line 2: an extension for all assignments must be a span",
        ),
    ],
)
def test_a_table_that_is_not_clear_is_refused_with_its_line(tmp_path, text, said):
    with pytest.raises(CourseError, match=r"extensions\.csv, line") as error:
        table(tmp_path, text)
    assert said in str(error.value)


SPAN = st.integers(0, 500).map(lambda hours: timedelta(hours=hours))
WHEN = st.integers(-300, 900).map(lambda hours: DUE + timedelta(hours=hours))


@given(SPAN, WHEN)
def test_a_later_deadline_and_an_extension_are_the_same(more, when):
    extended = lateness(Line("ada", "ps1", more))
    assert extended.seconds("ada", when) == lateness(due=DUE + more).seconds("ada", when)
    assert extended.seconds("bob", when) == lateness().seconds("bob", when)
    until = lateness(Line("ada", "ps1", (DUE + more).replace(tzinfo=UTC)))
    assert until.seconds("ada", when) == extended.seconds("ada", when)


@given(WHEN)
def test_no_more_time_changes_nothing(when):
    for line in (Line("ada", "ps1", timedelta(0)), Line("ada", "ps2", timedelta(9)),
                 Line("ada", "ps1", datetime(2020, 1, 1, tzinfo=UTC))):  # fmt: skip
        assert lateness(line).seconds("ada", when) == lateness().seconds("ada", when)
        assert not lateness(line).excused("ada")


@given(SPAN, SPAN)
def test_the_longer_of_two_counts(one, other):
    both = lateness(Line("ada", "all", one), Line("ada", "ps1", other))
    assert both.extension("ada") == max(one, other)


# --- the command ---


def extensions(week) -> str:
    path = week.course / "autograder" / "extensions.csv"
    return path.read_text() if path.exists() else ""


def test_several_at_once_a_list_and_back(week, capsys):
    week.settings("ps1", "due = 2026-10-01T12:00:00+02:00\n")
    capsys.readouterr()
    more = ("--extend", "48h", "--student", "ada", "bob", "--why", "ill")
    assert week.say("settings", "ps1", *more) == 0
    assert extensions(week) == f"{HEAD}ada,ps1,2d,ill\nbob,ps1,2d,ill\n"
    assert "bob, ps1: 2 days more (ill), until Saturday 3 October 2026, 12:00 UTC+02:00" in (
        capsys.readouterr().out
    )
    more = ("--extend", "2026-10-02 09:00", "--student", "bob")  # in the deadline's zone
    assert week.say("settings", "ps1", *more) == 0
    assert "bob,ps1,2026-10-02T09:00+02:00,\n" in extensions(week)
    assert week.say("settings", "--all") == 0
    assert "bob, ps1: until Friday 2 October 2026, 09:00 UTC+02:00\n" in capsys.readouterr().out
    assert week.say("settings", "ps1", "--extend", "none", "--student", "ada", "bob") == 0
    assert extensions(week) == HEAD
    assert week.say("settings", "--all") == 0
    assert capsys.readouterr().out.endswith("no extensions\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ps1 --extend 48h --student ada zoe", "No student zoe"),
        ("ps1 --extend 48h --student Ada", "Did you mean ada?"),
        ("ps1 --extend soon --student ada", "'soon' is not an extension"),
        ("ps1 --extend 2026-09-30T12:00 --student ada", "is not later than the deadline of ps1, T"),
        ("ps2 --extend 48h --student ada", "ps2 has no deadline to extend"),
        ("ps3 --extend 48h --student ada", "No assignment ps3"),
        (
            "--all --extend 2026-11-22T12:00 --student ada",
            "an extension for all assignments must be a span",
        ),
        ("ps1 --student ada", "--extend and --student go together"),
        ("ps1 --extend 48h", "--extend and --student go together"),
        ("ps1 --extend none --student ada", "ada has no extension for ps1"),
        ("ps1 --all", "name an assignment, or use --all"),
        ("--all --due 2026-11-22T12:00", "--due and --start need one assignment"),
        ("ps1 --why ill", "it needs --extend"),
    ],
)
def test_what_cannot_be_granted_is_said_in_a_sentence_and_nothing_is_lost(
    week, capsys, words, said
):
    week.settings("ps1", "due = 2026-10-01T12:00:00+02:00\n")
    week.say("settings", "ps1", "--extend", "1d", "--student", "bob")
    before = extensions(week)
    capsys.readouterr()
    assert week.say("settings", *words.split()) == 1
    error = capsys.readouterr().err
    assert said in error and len(error.strip().splitlines()) == 1
    assert extensions(week) == before


def test_who_is_excused_needs_no_deadline(week):
    assert week.say("settings", "ps2", "--extend", "excused", "--student", "ada") == 0
    assert extensions(week) == f"{HEAD}ada,ps2,excused,\n"


def test_whoever_is_not_on_the_list_is_said_when_there_is_none(classroom, tmp_path, capsys):
    from coursetools.cli import main

    (classroom.private / "assignment.toml").write_text("due = 2026-10-01T12:00:00+02:00\n")
    more = ["--extend", "2d", "--student", "ada", "--root", str(classroom.root)]
    assert main(["settings", "ps1", *more]) == 0
    assert "there is no class list" in capsys.readouterr().err
    more = ["--extend", "2d", "--student", "a/b", "--root", str(classroom.root)]
    assert main(["settings", "ps1", *more]) == 1


def test_the_history_of_a_grade_has_the_extensions(week, capsys):
    for name, day in (("ps1", 1), ("ps2", 8)):
        week.settings(name, f"due = 2026-10-0{day}T12:00:00+02:00\n")
    more = ("--extend", "48h", "--student", "ada", "--why", "ill, with a note")
    assert week.say("settings", "ps1", *more) == 0
    assert week.say("settings", "--all", "--extend", "1d", "--student", "ada") == 0
    assert week.say("settings", "ps2", "--extend", "3d", "--student", "ada") == 0
    week.hand_in("ps1", {"ada": 1.0})
    week.grade("ps1")
    capsys.readouterr()
    assert week.say("why", "ps1", "ada") == 0
    said = capsys.readouterr().out
    assert "48h, by " in said and ": ill, with a note\n" in said
    assert "1d, by " in said and "3d, by " not in said
