"""A line of the journal is there whole, or it is not there."""

from __future__ import annotations

import json
import random

import pytest

from coursekit._base.errors import CourseError
from coursetools.grading.running.journal import Entry, Journal
from coursetools.grading.verdict import CaseVerdict, QuestionVerdict, Verdict


def entry(student: str, points: float = 1.0, key: str = "k") -> Entry:
    case = CaseVerdict(says="one\nline \ud800", hidden=False, status="OK", share=1.0)
    question = QuestionVerdict(
        name="q", cell="test_q", points=points, max_points=2, status="OK", reason="", cases=[case]
    )
    verdict = Verdict(
        assignment="ps1",
        status="OK",
        reason="",
        points=points,
        max_points=2,
        questions=[question],
    )
    return Entry(student, "ps1", key, "file", verdict)


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "journal" / "ps1.jsonl")


def entries(journal):
    """Return the last entry of each student, by name."""
    return [journal.read(place) for _, place in sorted(journal.index().items())]


def test_what_goes_in_comes_out(journal):
    assert entries(journal) == []
    places = [journal.append(entry(name)) for name in ("ben", "ada")]
    newer = journal.append(entry("ben", 2.0))
    journal.close()
    assert entries(journal) == [entry("ada"), entry("ben", 2.0)]
    index = journal.index()
    assert index["ben", "ps1"] == newer and index["ada", "ps1"] == places[1]
    assert journal.read(places[0]) == entry("ben")
    for line in journal.path.read_text().splitlines():
        assert json.loads(line)["verdict"]["status"] == "OK"


def test_any_damage_is_seen_and_costs_one_line(journal):
    for name in "abcde":
        journal.append(entry(name))
    journal.close()
    good = journal.path.read_bytes()
    lines = good.splitlines(keepends=True)
    draw = random.Random(1)
    for _ in range(300):
        at = draw.randrange(len(good))
        damaged = bytearray(good)
        damaged[at] = draw.choice([c for c in range(256) if c not in (damaged[at], 10)])
        journal.path.write_bytes(damaged)
        left = {student for student, _ in journal.index()}
        hit = next(n for n in range(5) if at < len(b"".join(lines[: n + 1])))
        newline = at == len(b"".join(lines[: hit + 1])) - 1
        lost = {"abcde"[hit], "abcde"[min(hit + 1, 4)]} if newline else {"abcde"[hit]}
        assert left == set("abcde") - lost
        assert journal.damaged == [hit + 1]


def test_a_half_line_does_not_spoil_the_next(journal):
    journal.append(entry("ada"))
    journal.append(entry("ben"))
    journal.close()
    whole = journal.path.read_bytes()
    for cut in (1, 40, 200):
        journal.path.write_bytes(whole[:-cut])
        again = Journal(journal.path)
        again.append(entry("cy"))
        again.close()
        assert {student for student, _ in again.index()} >= {"ada", "cy"}


def test_compact(journal):
    for points in range(5):
        for name in ("ada", "ben"):
            journal.append(entry(name, points))
    journal.compact()
    assert journal.lines == 10
    assert entries(journal) == [entry("ada", 4), entry("ben", 4)]
    assert journal.lines == 2
    journal.append(entry("ada", 0))
    assert entries(journal)[0] == entry("ada", 0)


def test_a_place_of_another_file(journal):
    place = journal.append(entry("ada"))
    journal.close()
    journal.path.write_bytes(b" " + journal.path.read_bytes())
    with pytest.raises(CourseError, match="changed while"):
        journal.read(place)
