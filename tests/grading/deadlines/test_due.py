"""The deadline by the command line: written into a file of which the rest stays as it was."""

from __future__ import annotations

import tomllib

import pytest

from coursetools.cli import main


def due(classroom, time: str = "") -> int:
    words = ["--due", time] if time else []
    return main(["settings", "ps1", *words, "--root", str(classroom.root)])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "due = {}\n"),
        ("[late]\nrate = 0.1\n", "due = {}\n\n[late]\nrate = 0.1\n"),
        ("# ours\n[late]\nrate = 0.1 # a day\n", "due = {}\n# ours\n[late]\nrate = 0.1 # a day\n"),
        (
            "# ours\ndue = 2020-01-01T00:00:00Z  # at night\n\n[late]\nrate = 0.1\n",
            "# ours\ndue = {}  # at night\n\n[late]\nrate = 0.1\n",
        ),
        ("due=2020-01-01T00:00:00Z\r\n[late]\r\n", "due = {}\r\n[late]\r\n"),
    ],
)
def test_the_rest_of_the_file_stays(classroom, before, after, capsys):
    path = classroom.private / "assignment.toml"
    if before is not None:
        path.write_bytes(before.encode())
    assert due(classroom, "2026-11-20T12:00") == 0
    assert path.read_bytes().decode() == after.format("2026-11-20T12:00:00+00:00")
    assert "ps1 is due Friday 20 November 2026, 12:00 UTC\n" in capsys.readouterr().out
    assert due(classroom) == 0
    shown = "ps1 is due Friday 20 November 2026, 12:00 UTC\nno extensions\n"
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(("day", "offset"), [("2026-11-20", "+01:00"), ("2026-07-20", "+02:00")])
def test_a_time_without_a_zone_is_in_that_of_the_class(classroom, day, offset):
    (classroom.root / "autograder").mkdir()
    (classroom.root / "autograder" / "class.toml").write_text('time_zone = "Europe/Berlin"\n')
    assert due(classroom, f"{day} 12:00") == 0
    settings = tomllib.loads((classroom.private / "assignment.toml").read_text())
    assert settings["due"].isoformat() == f"{day}T12:00:00{offset}"


def test_what_is_no_time_is_said_and_changes_nothing(classroom, capsys):
    path = classroom.private / "assignment.toml"
    for text in ("2026-11-20", "tomorrow", "20.11.2026 12:00"):
        assert due(classroom, text) == 1
        assert "is not a time; write 2026-11-20T12:00" in capsys.readouterr().err
    assert not path.exists()
    path.write_text('"due" = 2020-01-01T00:00:00Z\n')
    assert due(classroom, "2026-11-20T12:00") == 1
    assert "edit it yourself: due = 2026-11-20T12:00:00+00:00" in capsys.readouterr().err
    assert path.read_text() == '"due" = 2020-01-01T00:00:00Z\n'
    (classroom.root / "autograder").mkdir()
    (classroom.root / "autograder" / "class.toml").write_text('time_zone = "Berlin"\n')
    assert due(classroom, "2026-11-20T12:00") == 1
    assert "time_zone is 'Berlin', which this machine does not know" in capsys.readouterr().err


def test_without_a_deadline_it_says_so(classroom, capsys):
    assert due(classroom) == 0
    assert capsys.readouterr().out == "ps1 has no deadline\nno extensions\n"
    assert main(["settings", "ps9", "--root", str(classroom.root)]) == 1
