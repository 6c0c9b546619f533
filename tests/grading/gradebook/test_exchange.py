"""`coursekit return --to exchange`: who can fetch a page, and whose stays where it is."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest
from helpers import grade
from nbgrader.utils import notebook_hash

from coursetools import cli
from coursetools.grading.collecting.collect import collect
from coursetools.grading.collecting.origins import from_exchange
from coursetools.grading.records.folders import Folders

pytestmark = [
    pytest.mark.usefixtures("quick_gradebook"),
    pytest.mark.skipif(sys.platform == "win32", reason="nbgrader has no exchange on Windows"),
]

SECRETS = {"ada": "a" * 128, "ben": "b" * 128}


@pytest.fixture
def folders(classroom, tmp_path) -> Folders:
    """A class of which ada and ben have submitted by an exchange, and cy has not."""
    classroom.hand_in("cy")
    exchange = tmp_path / "exchange"
    (classroom.root / "autograder" / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.Exchange.root = {str(exchange)!r}\n"
        "c.CourseDirectory.course_id = 'powers'\n"
    )
    for student in SECRETS:
        submit(exchange / "powers", student, classroom.answered(), SECRETS[student])
    folders = Folders(classroom.course, "ps1")
    collect(folders, from_exchange(exchange / "powers" / "inbound", "ps1", check_owner=False))
    grade(folders.course)
    return folders


def submit(course: Path, student: str, notebook: dict, secret: str, day: int = 1) -> None:
    """Write what `nbgrader submit` writes."""
    folder = course / "inbound" / f"{student}+ps1+2026-10-{day:02} 10:00:00 UTC+random"
    folder.mkdir(parents=True)
    (folder / "ps1.ipynb").write_text(json.dumps(notebook))
    (folder / "submission_secret.txt").write_text(secret)


def feedback(folders: Folders) -> int:
    return cli.main(["return", "ps1", "--to", "exchange", "--root", str(folders.course.root)])


def fetched(folders: Folders, secret: str) -> Path:
    """Return where nbgrader looks for a student's page."""
    return folders.exchange / "feedback" / f"{notebook_hash(secret=secret, notebook_id='ps1')}.html"


def test_each_page_is_where_nbgrader_looks_for_it(folders, capsys):
    assert feedback(folders) == 0
    said = capsys.readouterr().out
    assert f"2 students can fetch their feedback from {folders.exchange / 'feedback'}" in said
    assert "not submitted through the exchange, so not returned there: 1 (cy)" in said
    place = folders.exchange / "feedback"
    assert stat.S_IMODE(place.stat().st_mode) == 0o711 and len(list(place.iterdir())) == 2
    for student, secret in SECRETS.items():
        page = fetched(folders, secret)
        assert stat.S_IMODE(page.stat().st_mode) == 0o644
        assert page.read_text() == (folders.feedback(student) / "ps1.html").read_text()
        assert student in page.read_text()


def test_a_page_is_of_the_attempt_that_was_graded(folders, classroom, capsys):
    feedback(folders)
    before = fetched(folders, SECRETS["ada"]).read_text()
    submit(folders.exchange, "ada", classroom.answered(square="0"), "c" * 128, day=2)
    inbound = folders.exchange / "inbound"
    collect(folders, from_exchange(inbound, "ps1", check_owner=False))
    feedback(folders)
    assert "submitted again since they were graded: 1 (ada); run coursekit grade ps1" in (
        capsys.readouterr().out
    )
    assert not fetched(folders, "c" * 128).exists()
    grade(folders.course)
    feedback(folders)
    assert fetched(folders, "c" * 128).read_text() != before
    assert fetched(folders, SECRETS["ada"]).read_text() == before  # of the first attempt


def test_the_same_notebook_once_more_has_a_page_too(folders, classroom):
    submit(folders.exchange, "ben", classroom.answered(), "d" * 128, day=2)
    inbound = folders.exchange / "inbound"
    for new in (["ben"], []):
        assert collect(folders, from_exchange(inbound, "ps1", check_owner=False)).new == new
    feedback(folders)
    assert fetched(folders, "d" * 128).is_file()


NONE = {"empty": "", "a path": "../../x", "large": "A" * 128, "long": "a" * 129, "short": "a" * 31}


@pytest.mark.parametrize("secret", NONE.values(), ids=NONE)
def test_what_is_no_secret_names_no_page(folders, classroom, secret):
    submit(folders.exchange, "eve", classroom.answered(), secret)
    inbound = folders.exchange / "inbound"
    collect(folders, from_exchange(inbound, "ps1", check_owner=False))
    assert not (folders.submitted("eve") / "submission_secret.txt").exists()
    grade(folders.course)
    assert feedback(folders) == 0
    assert len(list((folders.exchange / "feedback").iterdir())) == 2


def test_without_an_exchange(folders, tmp_path, capsys):
    (tmp_path / "exchange").rename(tmp_path / "moved")
    assert feedback(folders) == 1
    said = capsys.readouterr()
    assert "there is no" in said.err and "nbgrader release_assignment ps1 makes it" in said.err
    assert (folders.feedback("ada") / "ps1.html").is_file()  # that was written before
