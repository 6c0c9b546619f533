"""A verdict is there whole, or it is not there."""

from __future__ import annotations

import pytest

from coursekit._base.errors import CourseError
from coursetools.grading.records.verdict import CaseVerdict, QuestionVerdict, Verdict
from coursetools.grading.records.verdict_files import Entry, Verdicts


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
def store(tmp_path):
    return Verdicts(tmp_path / "verdicts" / "ps1")


def entries(store):
    """Return the entry of each student, by name."""
    return [store.read(place) for _, place in sorted(store.index().items())]


def test_what_goes_in_comes_out(store):
    assert entries(store) == []
    for name in ("ben", "ada"):
        store.append(entry(name))
    old = store.index()["ben", "ps1"]
    newer = store.append(entry("ben", 2.0))
    assert entries(store) == [entry("ada"), entry("ben", 2.0)]
    assert store.index()["ben", "ps1"] == newer and newer.points == 2.0
    with pytest.raises(CourseError, match="changed while it was read"):
        store.read(old)


def test_any_damage_is_seen_and_costs_one_verdict(store):
    for name in ("ada", "ben", "cy"):
        store.append(entry(name))
    path = store.folder / "ben" / "ps1.json"
    whole = path.read_bytes()
    for cut in (0, 1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert {student for student, _ in store.index()} == {"ada", "cy"}
        assert store.damaged == [path]
    path.write_bytes(b"[1, 2]")
    assert len(store.index()) == 2 and store.damaged == [path]
    store.append(entry("ben"))
    assert len(store.index()) == 3 and store.damaged == []


def test_what_a_killed_grader_has_begun_is_no_verdict(store):
    store.append(entry("ada"))
    (store.folder / "ada" / ".ps1.json.77.tmp").write_text("{")
    assert entries(store) == [entry("ada")] and store.damaged == []


def test_a_full_disk_gets_a_sentence_and_loses_nothing(store, monkeypatch):
    store.append(entry("ada"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(CourseError, match=r"No space left.*make room and run the same command"):
        store.append(entry("ada", 2.0))
    assert entries(store) == [entry("ada")]
