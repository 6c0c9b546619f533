"""What "Hold an exam" types is run here in its order, on the morning of the page."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

from coursekit.submission.deadline import spelled
from coursetools.assignments import paper
from coursetools.grading.deadlines.exam import exam_of
from coursetools.grading.deadlines.late_rule import rule_of

PAGE = (Path(__file__).parents[3] / "book" / "grading_exams.md").read_text(encoding="utf-8")
HIDDEN = re.compile(r"### (BEGIN|END) HIDDEN TESTS\n?")
HOUR = timedelta(hours=1)


def blocks(kind: str) -> list[str]:
    found = re.findall(rf"```{kind}\n(.+?)```", PAGE, flags=re.DOTALL)
    return [text.replace("a21_exam", "ps1") for text in found]


def hide_the_tests(path: Path) -> None:
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if cell["id"].startswith("test_"):
            tests = HIDDEN.sub("", cell["source"]).strip()
            cell["source"] = f"### BEGIN HIDDEN TESTS\n{tests}\n### END HIDDEN TESTS"
    path.write_text(json.dumps(notebook))


def test_an_exam_is_held_as_the_page_says(week, monkeypatch, capsys):
    """Every command is run, every text is printed, every setting is read."""
    hide_the_tests(week.course.source("ps1") / "ps1.ipynb")
    monkeypatch.setattr(paper, "find_chromium", lambda: None)
    typed = week.folder / "typed"
    (typed / "sticks").mkdir(parents=True)
    monkeypatch.chdir(typed)
    now = datetime.now(UTC).replace(microsecond=0)
    Path("class.csv").write_text("id\nada\nben\ndee\n")
    Path("sticks/ada.ipynb").write_text(json.dumps(week.classroom.answered()))
    Path("came.csv").write_text(f"id,time\nada,{now.isoformat()}\n")
    week.say("collect", "ps1", "--roster", "class.csv")
    week.say("assignment", "release", "ps2")
    week.class_settings('time_zone = "Europe/Berlin"\n')
    capsys.readouterr()

    def run(block: str) -> str:
        for line in block.splitlines():
            program, *words = shlex.split(line)
            assert program == "coursekit", line
            if words[0] == "grade":
                week.grade(words[1])
            else:
                assert week.say(*words) == 0, line
        return capsys.readouterr().out

    def today(start: timedelta, end: timedelta) -> None:
        times = {"start": now + start, "due": now + end}
        text = settings
        for name, when in times.items():
            text = re.sub(rf"^{name} = .*$", f"{name} = {when.isoformat()}", text, flags=re.M)
        week.settings("ps1", text)

    begin, on_paper, extend, take_in, afterwards = blocks("bash")
    (shown,), (settings,) = blocks("text"), blocks("toml")
    assert run(begin).startswith(shown)
    written = tomllib.loads((week.course.private("ps1") / "assignment.toml").read_text())
    read = tomllib.loads(settings)
    assert written == {"due": read["due"], "exam": {"start": read["exam"]["start"]}}
    run(extend)
    (waits,) = re.findall(r"^> a21_exam is an exam until (.+)$", PAGE, flags=re.MULTILINE)
    over = spelled(exam_of(week.course, "ps1").over)
    assert waits == f"{over}, the longest extension; no feedback is written before"

    today(-HOUR, HOUR)
    assert rule_of(week.course.private("ps1")).end == 6 * 60
    run(begin.splitlines()[1])
    assert read["exam"]["allowed"] in (week.course.released("ps1") / "ps1.ipynb").read_text()
    assert "ps1-answers.html" in run(on_paper)
    run(take_in)
    assert week.say("feedback", "ps1") == 1
    said = capsys.readouterr().err
    assert said.strip().endswith("the longest extension; no feedback is written before")

    today(-3 * HOUR, -HOUR)
    run(afterwards)
    assert (week.folder / "public" / "notebooks" / "assignments" / "ps1" / "ps1.ipynb").is_file()
