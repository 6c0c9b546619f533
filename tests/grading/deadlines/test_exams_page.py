"""What "Hold an exam" types is run here in its order, on the morning of the page."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

from helpers import blocks, page_of_book

from coursekit.submission.deadline import spelled
from coursetools.assignments import paper
from coursetools.settings.exam_settings import exam_of
from coursetools.settings.late_rule import rule_of

HERE = page_of_book("grading_exams").replace("a21_exam", "ps1")
HIDDEN = re.compile(r"### (BEGIN|END) HIDDEN TESTS\n?")
HOUR = timedelta(hours=1)


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
    week.say("collect", "ps1", "class.csv")
    week.say("assignment", "release", "ps2")
    week.class_settings('time_zone = "Europe/Berlin"\n')
    capsys.readouterr()

    def run(block: str) -> str:
        week.type(block.splitlines())
        return capsys.readouterr().out

    def today(start: timedelta, end: timedelta) -> None:
        times = {"start": now + start, "due": now + end}
        text = settings
        for name, when in times.items():
            text = re.sub(rf"^{name} = .*$", f"{name} = {when.isoformat()}", text, flags=re.M)
        week.settings("ps1", text)

    begin, on_paper, extend, take_in, afterwards = blocks(HERE, "bash")
    (shown,), (settings,) = blocks(HERE, "text"), blocks(HERE, "toml")
    assert run(begin).startswith(shown)
    written = tomllib.loads((week.course.private("ps1") / "assignment.toml").read_text())
    read = tomllib.loads(settings)
    assert written == {"due": read["due"], "exam": {"start": read["exam"]["start"]}}
    run(extend)

    today(-HOUR, HOUR)
    assert rule_of(week.course.private("ps1")).end == 6 * 60
    run(begin.splitlines()[1])
    assert read["exam"]["allowed"] in (week.course.released("ps1") / "ps1.ipynb").read_text()
    assert "ps1-answers.html" in run(on_paper)
    run(take_in)
    assert week.say("return", "ps1") == 1
    over = spelled(exam_of(week.course, "ps1").over)
    said = capsys.readouterr().err
    assert said.strip().endswith(
        f"until {over} (the longest extension): no feedback is written before it is over"
    )

    today(-3 * HOUR, -HOUR)
    run(afterwards)
    assert (week.folder / "public" / "notebooks" / "assignments" / "ps1" / "ps1.ipynb").is_file()
