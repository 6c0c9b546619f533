"""nbgrader's formgrader in a real browser on what we graded: a score is read, a mark is given."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from demo import make_course
from invented import Maker

from coursetools.book.formats.chromium import find_chromium
from coursetools.course import Course
from coursetools.grading.records.folders import Folders
from coursetools.grading.results.export import export

ROOT = Path(__file__).resolve().parents[3]
NAME = "a01_kernels"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]  # fmt: skip


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, empty_gradebook: Path) -> Folders:
    """A class of three: all right, a known mistake, and scripts wherever they can be put."""
    import random

    from coursetools.grading.running.grade_class import Options, grade_class

    course = make_course(Course(ROOT), tmp_path_factory.mktemp("formgrader") / "course", NAME)
    folders = Folders(course, NAME)
    shutil.copy(empty_gradebook, folders.class_folder)  # to make one takes seconds
    maker = Maker(folders, NAME, random.Random(0))
    for student, kind, what in (
        ("ada", "right", ""),
        ("bob", "mistake", "self_attention: no scale"),
        ("eve", "hostile", "live scripts"),
    ):
        folders.submitted(student).mkdir(parents=True)
        (folders.submitted(student) / f"{NAME}.ipynb").write_bytes(maker.hand_in(kind, what))
    summary = grade_class(course, NAME, Options(workers=1))
    assert summary.internal == []
    return folders


def guides_command() -> str:
    """Return what the guides tell to type in the folder `autograder`; both say the same."""
    told = set()
    for guide in (ROOT / "book" / "grading.md", ROOT / "autograder" / "README.md"):
        text = guide.read_text(encoding="utf-8")
        assert "nbgrader formgrader" not in text  # there is no such command
        told |= set(re.findall(r"jupyter lab[^`\n]*", text))
    assert len(told) == 1, told
    return told.pop()


@pytest.fixture(scope="module")
def formgrader(
    graded: Folders, tmp_path_factory: pytest.TempPathFactory, processes: SimpleNamespace
) -> Iterator[str]:
    """The address of a formgrader that runs on the class, with its token."""
    assert (graded.class_folder / "nbgrader_config.py").is_file()
    home = tmp_path_factory.mktemp("home")
    token = secrets.token_hex(16)
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_TOKEN": token,
        "LANG": "C.UTF-8",
    }
    command = [
        *shlex.split(guides_command()), "--no-browser", "--ip=127.0.0.1",
        "--ServerApp.port_retries=50", "--allow-root",
    ]  # fmt: skip
    log = (home / "log").open("w")
    server = subprocess.Popen(
        command, cwd=graded.class_folder, env=environment, stdout=log, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip

    def port() -> int | None:
        """Return its port, once it has taken one that was free and said which."""
        for file in (home / "runtime").glob("jpserver-*.json"):
            with contextlib.suppress(ValueError):  # half written
                return json.loads(file.read_text())["port"]
        return None

    def answers() -> bool:
        with contextlib.suppress(OSError):  # it says which before it listens there
            address = f"http://127.0.0.1:{port() or 0}/api?token={token}"
            urllib.request.urlopen(address, timeout=300).close()
            return True
        return server.poll() is not None

    try:
        processes.wait_for(answers, "the start of formgrader")
        assert server.poll() is None, (home / "log").read_text()[-2000:]
        address = f"http://127.0.0.1:{port()}"
        yield SimpleNamespace(address=address, token=token, log=home / "log")
    finally:
        log.close()
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()


@pytest.fixture(scope="module")
def tab(formgrader) -> Iterator:
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("Chromium is missing; `coursekit doctor` says how to install it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page()
        page.goto(f"{formgrader.address}/formgrader?token={formgrader.token}")
        yield page
        browser.close()


def submission(tab, formgrader, graded: Folders, student: str) -> None:
    """Open a student's graded notebook in formgrader."""
    from nbgrader.api import Gradebook

    with Gradebook(graded.database) as book:
        number = book.find_submission_notebook(NAME, NAME, student).id
    tab.goto(f"{formgrader.address}/formgrader/submissions/{number}/")
    tab.wait_for_selector("input.score")
    tab.wait_for_function("document.querySelector('#test_shares').placeholder !== ''")


def shown(tab, cell: str) -> float:
    field = tab.locator(f"input#{cell}")
    return float(field.input_value() or field.get_attribute("placeholder"))


def test_reads_our_scores(tab, formgrader, graded: Folders) -> None:
    table = {row["student_id"]: row for row in _table(graded)}
    for student in ("ada", "bob"):
        submission(tab, formgrader, graded, student)
        for cell in ("test_shares", "test_predict", "test_self_attention"):
            assert shown(tab, cell) == float(table[student][cell])
    assert (
        float(table["bob"]["test_self_attention"]) < 4 == float(table["ada"]["test_self_attention"])
    )
    assert "1/√d" in tab.content()  # bob's hint is told to whoever marks


def test_a_mark_given_there_is_in_our_export(tab, formgrader, graded: Folders) -> None:
    before = next(row for row in _table(graded) if row["student_id"] == "eve")
    assert before["shuffled"] == "" and float(before["waits_for_human"]) == 3
    submission(tab, formgrader, graded, "eve")
    tab.fill("input#shuffled", "2.5")
    with tab.expect_response(lambda r: "/api/grade/" in r.url and r.request.method == "PUT") as put:
        tab.press("input#shuffled", "Tab")
    assert put.value.ok
    after = next(row for row in _table(graded) if row["student_id"] == "eve")
    assert float(after["shuffled"]) == 2.5 and float(after["waits_for_human"]) == 0
    assert float(after["score"]) == float(before["score"]) + 2.5


def test_no_script_of_a_student_is_live_there(tab, formgrader, graded: Folders) -> None:
    submission(tab, formgrader, graded, "eve")
    tab.wait_for_timeout(500)
    assert tab.evaluate("typeof window.PWNED") == "undefined"
    assert "PWNED" in tab.locator("#notebook-container").first.inner_text()  # there, and dead
    found = tab.evaluate(
        """() => [...document.querySelectorAll('#notebook-container *')].filter(element =>
          element.textContent.includes('PWNED') && element.tagName === 'SCRIPT'
          || [...element.attributes].some(a => a.name.startsWith('on')
             || /^\\s*javascript:/i.test(a.value))).map(element => element.outerHTML)"""
    )
    assert found == []


def _table(graded: Folders) -> list[dict[str, str]]:
    path, _ = export(graded.course, NAME)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
