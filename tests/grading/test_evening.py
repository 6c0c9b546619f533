"""The page "An evening of grading", typed from its first command to its last, for three classes.

A class is eight people: two namesakes, an umlaut, an extension, an excused student, one who submits
a day late, one who submits a web page, and one who submits nothing. They come from a German Moodle,
from Canvas while it hides the names, or as a folder with a table of times.
"""

from __future__ import annotations

import csv
import functools
import json
import re
import shlex
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers import page_of_book, words, zipped

from coursekit.submission import regions
from coursetools.cli import main
from coursetools.course import Course
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.running import grade_class

pytestmark = pytest.mark.usefixtures("quick_gradebook")
ROOT = Path(__file__).resolve().parents[2]
NAME = "a02_scaling"
PAGE = page_of_book("evening").replace("2026", "2020")  # the deadline has passed, on any day
FILES = (
    "_config.yml",
    "_toc.yml",
    "book/scaling.md",
    "notebooks/scaling.ipynb",
    f"src/coursekit/check/compiled/{NAME}.zip",
    "src/coursekit/_base/address.py",
)
FOLDERS = (f"notebooks/assignments/{NAME}", f"solutions/notebooks/{NAME}", f"solutions/{NAME}")
CODE = ("score_factor", "scaled_attention", "entropy_bits", "tempered", "softmax_jacobian",
        "query_gradient")  # fmt: skip
WORDS = {"ada": 2.5, "ben": 3, "eva": 1, "weiss": 0, "weiss2": 2}  # what a marker gives
SUBMITTED = ("ada", "ben", "eva", "fay", "weiss", "weiss2")
PLATFORMS = ("Moodle", "Canvas", "A folder")


@dataclass(frozen=True)
class Person:
    """Somebody on the class list."""

    id: str
    first: str
    last: str
    number: int
    came: str = ""  # a day and a time, German

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def email(self) -> str:
        return f"{self.id}@uni.example"

    @property
    def anonymous(self) -> str:
        """The id that Canvas gives while it hides the names."""
        return f"x{self.number}y"

    @property
    def joined(self) -> str:
        """The name as Canvas puts it into the name of a file."""
        return f"{self.last}{self.first}".lower()


CLASS = (
    Person("ada", "Ada", "Lovelace", 501, "Samstag, 21. November 2020, 20:00"),  # has 48 hours more
    Person("ben", "Ben", "Otto", 502, "Freitag, 20. November 2020, 15:00"),  # three hours late
    Person("cy", "Cy", "Twist", 503),  # submits nothing
    Person("dee", "Dee", "Dorn", 504),  # is excused
    Person("eva", "Eva", "Müller", 505, "Freitag, 20. November 2020, 11:07"),
    Person("fay", "Fay", "Funk", 506, "Freitag, 20. November 2020, 09:30"),  # a web page
    Person("weiss", "Jan", "Weiß", 507, "Donnerstag, 19. November 2020, 23:59"),
    Person("weiss2", "Jan", "Weiß", 508, "Freitag, 20. November 2020, 11:58"),
)


# --- The page ---


def steps(platform: str) -> list[tuple[str, str]]:
    """Return (kind, text) of the blocks that this class reads, in order: bash and text."""
    found: list[tuple[str, str]] = []
    for section in re.split(r"^(?=##+ )", PAGE, flags=re.M):
        heading = section.partition("\n")[0]
        if heading.removeprefix("### ") in {*PLATFORMS} - {platform}:
            continue
        found += re.findall(r"^```(bash|text)\n(.*?)^```", section, flags=re.M | re.S)
    return found


def leaf(line: str) -> str:
    """Return the command of a line, without its arguments."""
    words = shlex.split(line)
    assert words[0] == "coursekit"
    return " ".join(words[1:3]) if words[1] == "assignment" else words[1]


def test_an_evening_needs_at_most_eight_commands():
    evening, afterwards = PAGE.split("## Afterwards")
    lines = [line for block in re.findall(r"^```bash\n(.*?)^```", evening, flags=re.M | re.S)
             for line in block.splitlines()]  # fmt: skip
    assert len({leaf(line) for line in lines}) <= 8
    assert {"collect", "grade", "mark", "review", "return"} <= {leaf(line) for line in lines}
    assert "coursekit why" in afterwards
    assert all(PAGE.count(f"\n### {platform}\n") == 2 for platform in PLATFORMS)
    assert len(PAGE.split()) <= 1500


# --- The class ---


@pytest.fixture(scope="module")
def real(once) -> Path:
    """Return the course, with its address and late rule, before anything is typed."""

    def make(folder: Path) -> None:
        root = folder / "course"
        for name in FILES:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, root / name)
        for name in FOLDERS:
            shutil.copytree(ROOT / name, root / name)
        rule = root / "solutions" / NAME / "assignment.toml"
        rule.write_text("[late]\nrate = 0.1\n")
        (root / "autograder").mkdir()
        (root / "autograder" / "class.toml").write_text('time_zone = "Europe/Berlin"\n')

    return once("evening", make) / "course"


class Evening:
    """A class of one platform, and a terminal in the folder with its files."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self.capsys = root, capsys
        self.folders = Folders(Course(root), NAME)
        self.said: dict[str, str] = {}  # by each line that was typed

    def type(self, line: str) -> str:
        words = shlex.split(line)[1:]
        code = main([*words, "--root", str(self.root)])
        printed = self.capsys.readouterr()
        said = printed.out + printed.err
        assert code == 0, f"{line}\n{said}"
        self.said[line.replace(f" {NAME}", "")] = said
        return said

    def walk(self, platform: str, shown: bool) -> list[str]:
        """Type everything that this class reads on the page; compare the outputs where asked."""
        said, typed = "", []
        for kind, text in steps(platform):
            if kind == "text":
                missing = absent(text, said) if shown else []
                assert not missing, f"not printed: {missing}\n{said}"
                continue
            for line in text.splitlines():
                said = self.type(line)
                typed.append(leaf(line))
                if typed[-1] == "mark":
                    self.mark()
        return typed

    def mark(self) -> None:
        """Save the table of marks, as the page does that `mark` wrote."""
        page = (self.folders.marking / "repair.html").read_text(encoding="utf-8")
        codes = dict(re.findall(r'data-code="(\w+)".*?<p>In the words of (\w+)\.', page, re.S))
        assert set(codes.values()) == set(WORDS) and "Müller" not in page
        with Path("marks.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["code", "question", "marker", "items", "points", "comment"])
            for code, who in codes.items():
                writer.writerow([code, "repair", "mia", "", WORDS[who], ""])

    def expected(self, *, late: bool) -> dict[str, float | None]:
        """Recompute everyone's total from the points that the grader gave for each question."""
        totals: dict[str, float | None] = {one.id: 0.0 for one in CLASS}
        totals["dee"] = None  # excused
        store = Verdicts(self.folders.verdicts)
        for (student, _), place in store.index().items():
            who, questions = self.person(student), store.read(place).verdict.questions
            points = {one.name: one.points for one in questions}
            if questions:
                points["tempered"] = 3.0  # the override
            total = sum(points.values()) + WORDS.get(who, 0)
            totals[who] = round(total * (0.9 if late and who == "ben" else 1.0), 2)
        return totals

    @staticmethod
    def person(student: str) -> str:
        """Return whose an anonymous id is."""
        return next((one.id for one in CLASS if student == one.anonymous), student)


def absent(text: str, said: str) -> list[str]:
    """Return the lines of a quoted output that were not printed, in this order."""
    lines, missing = iter(said.splitlines()), []
    for wanted in text.splitlines():
        if wanted.strip() == "…":
            continue
        start, dots, end = wanted.partition("…")
        if not any(
            line.startswith(start) and line.endswith(end) if dots else line == wanted
            for line in lines
        ):
            missing.append(wanted)
    return missing


def notebooks(root: Path) -> dict[str, str]:
    """Return what each student submits: all of it right, but for a web page and two mistakes."""
    source = json.loads((root / f"solutions/notebooks/{NAME}/{NAME}.ipynb").read_text("utf-8"))
    answers = {
        name: re.sub(r" *### (BEGIN|END) SOLUTION\n?", "", "".join(cell["source"]))
        for cell in source["cells"]
        if (name := regions.grade_id(cell)) in CODE
    }
    made = {"fay": "<html>Sign in to continue.</html>"}
    for who in WORDS:
        mine = answers | {"repair": f"In the words of {who}."}
        if who in ("eva", "weiss2"):
            mine["tempered"] = "def tempered(scores, temperature):\n    return scores"
        if who == "weiss":
            mine["entropy_bits"] = "def entropy_bits(weights):\n    return weights"
        released = root / f"notebooks/assignments/{NAME}/{NAME}.ipynb"
        notebook = json.loads(released.read_text("utf-8"))
        for cell in notebook["cells"]:
            if (name := regions.grade_id(cell)) in mine:
                cell["source"] = mine[name]
        made[who] = json.dumps(notebook)
    return made


@pytest.fixture
def evening(real, tmp_path, monkeypatch, capsys) -> Evening:
    root, desk = tmp_path / "course", tmp_path / "desk"
    shutil.copytree(real, root)
    desk.mkdir()
    monkeypatch.chdir(desk)
    options = grade_class.Options
    monkeypatch.setattr(
        grade_class, "Options", functools.wraps(options)(lambda **o: options(**o | {"workers": 1}))
    )
    table("class.csv", ["id", "name", "email"], [[p.id, p.name, p.email] for p in CLASS])
    return Evening(root, capsys)


def table(path: str, header: list[str], rows: list[list[object]]) -> None:
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def read(path: Path) -> list[list[str]]:
    return list(csv.reader(path.open(encoding="utf-8-sig", newline="")))


def score(text: str) -> float | None:
    """Return a cell of a table; neither an empty one nor Canvas's EX for "excused" is a score."""
    return None if text in ("", "EX") else float(text.replace(",", "."))


def pages(evening: Evening, platform: str) -> dict[str, str]:
    """Return what is in the zip: the text that a reader sees, by the name of the file."""
    path = evening.folders.class_folder / f"feedback/{NAME}-{platform}.zip"
    with zipfile.ZipFile(path) as archive:
        return {name: words(archive.read(name).decode()) for name in archive.namelist()}


def tells(page: str, total: float | None) -> bool:
    """Return whether a page of feedback has this total, or says that the student is excused."""
    return "excused" in page.lower() if total is None else f"{total:g} of 23 points" in page


def settled(evening: Evening, expected: dict[str, float | None]) -> None:
    """Check what holds for every class in the end: no differences, each history, and a backup."""
    said = evening.said["coursekit why"]
    assert said.startswith("No student's points differ from what was returned last\n")
    for student in (person.id for person in CLASS if person.came):
        said = evening.type(f"coursekit why {NAME} {student}")
        assert f"returned: {expected[student]:g} of 23" in said
    with zipfile.ZipFile("../a02-friday.zip") as archive:
        assert f".course/solutions/{NAME}/assignment.toml" in archive.namelist()


# --- Three evenings ---


def test_a_german_moodle(evening):
    texts = notebooks(evening.root)
    zipped(Path("abgaben.zip"), {
        f"{p.name}_{p.number}_assignsubmission_file_/lösung.ipynb": texts[p.id]
        for p in CLASS if p.came
    })  # fmt: skip
    table(
        "Bewertungen.csv",
        ["ID", "Vollständiger Name", "E-Mail-Adresse", "Status", "Bewertung", "Bestwertung",
         "Bewertung kann geändert werden", "Zuletzt geändert (Abgabe)",
         "Zuletzt geändert (Bewertung)", "Feedback als Kommentar"],
        [[f"Teilnehmer/in{p.number}", p.name, p.email, "Abgegeben" if p.came else "Keine Abgabe",
          "", "23,00", "Ja", p.came or "-", "-", ""] for p in CLASS],
    )  # fmt: skip
    evening.walk("Moodle", shown=True)
    assert "Canvas" not in evening.said["coursekit collect abgaben.zip Bewertungen.csv"]
    expected = evening.expected(late=True)
    assert expected == {
        "ada": 22.5, "ben": 20.7, "cy": 0, "dee": None, "eva": 21, "fay": 3, "weiss": 17,
        "weiss2": 22,
    }  # fmt: skip
    rows = read(evening.folders.class_folder / f"export/{NAME}-worksheet.csv")
    assert {row[2]: score(row[4]) for row in rows[1:]} == {p.email: expected[p.id] for p in CLASS}
    returned = pages(evening, "moodle")
    names = {f"{p.name}_{p.number}_assignfeedback_file/{NAME}.html": p.id for p in CLASS}
    assert [*returned] == [*names]
    assert all(tells(page, expected[names[name]]) for name, page in returned.items())
    settled(evening, expected)


def test_a_folder_with_a_table_of_times(evening):
    texts = notebooks(evening.root)
    Path("inbox").mkdir()
    for who, text in texts.items():
        Path("inbox", f"{who}.ipynb").write_text(text)
    days = {"Samstag": 21, "Freitag": 20, "Donnerstag": 19}
    table("times.csv", ["id", "time"], [
        [p.id, f"2020-11-{days[p.came.partition(',')[0]]} {p.came[-5:]}"] for p in CLASS if p.came
    ])  # fmt: skip
    evening.walk("A folder", shown=False)
    said = evening.said["coursekit collect inbox times.csv"]
    assert said.startswith("inbox: submissions\ntimes.csv: times of submission (6 rows)\n")
    expected = evening.expected(late=True)
    rows = read(evening.folders.class_folder / f"export/{NAME}.csv")
    who, total = (rows[0].index(name) for name in ("student_id", "score"))
    assert {row[who]: score(row[total]) for row in rows[1:]} == expected
    returned = pages(evening, "plain")
    assert [*returned] == [f"{p.id}.html" for p in CLASS]
    assert all(tells(returned[f"{p.id}.html"], expected[p.id]) for p in CLASS)
    settled(evening, expected)


def test_canvas_that_hides_the_names(evening):
    texts = notebooks(evening.root)
    came = {9000 + at: p for at, p in enumerate(CLASS) if p.came}
    late = {p.id: "LATE_" * (p.id == "ben") for p in CLASS}
    hidden = {number: f"{late[p.id]}anon_{p.anonymous}_{number}_homework.ipynb"
              for number, p in came.items()}  # fmt: skip
    named = {number: f"{p.joined}_{late[p.id]}{p.number}_{number}_homework.ipynb"
             for number, p in came.items()}  # fmt: skip
    for path, files in (("submissions.zip", hidden), ("named.zip", named)):
        zipped(Path(path), {name: texts[came[number].id] for number, name in files.items()})
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    table("gradebook.csv", [*header, "Kernels (76)", "Scaling (77)"], [
        ["    Points Possible", "", "", "", "", "20", "23"],
        *([f"{p.last}, {p.first}", p.number, p.id, p.email, "Friday", "5", ""] for p in CLASS),
    ])  # fmt: skip
    evening.walk("Canvas", shown=False)
    said = evening.said["coursekit collect submissions.zip"]
    assert said.startswith("submissions.zip: submissions (Canvas)\n") and "6 new" in said
    first = evening.said["coursekit return --to canvas"]
    assert "all 6 pages are new" in first and "the zip has no scores" in first
    said = evening.said["coursekit collect gradebook.csv named.zip"]
    assert said.startswith(
        "gradebook.csv: class list (8 students)\nnamed.zip: submissions (Canvas)"
    )
    assert all(f"{p.anonymous} is {p.id}" in said for p in came.values()) and "0 new" in said
    second = evening.said["coursekit return gradebook.csv --to canvas"]
    assert second.startswith("No student's points differ from what was returned last; new: 2 (cy, ")
    assert "not in the zip: 2 (cy, dee); nothing was submitted through Canvas" in second
    expected = evening.expected(late=False)
    rows = read(evening.folders.class_folder / f"export/{NAME}-canvas.csv")
    assert rows[0] == [*header, "Scaling (77)"]  # and so no other grade can be changed
    assert {row[2]: score(row[-1]) for row in rows[2:]} == expected
    returned = pages(evening, "canvas")
    assert {*returned} == {*named.values()}
    assert all(tells(returned[named[one]], expected[p.id]) for one, p in came.items())
    settled(evening, expected)
