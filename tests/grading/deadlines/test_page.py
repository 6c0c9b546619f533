"""What the page of the book shows is what the commands do."""

from __future__ import annotations

import re

from helpers import blocks, page_of_book

PAGE = page_of_book("grading_deadlines")
HERE = PAGE.replace("a01_kernels", "ps1").replace("a02_scaling", "ps2")


def test_the_example_of_the_page(week, capsys):
    """Every command is run, every text is printed, every setting is read."""
    from coursetools.settings.late_rule import HOUR, rule_of

    zone, late, steps, late_days, term = blocks(HERE, "toml")
    week.class_settings("\n".join((zone, late_days, term)))
    week.settings("ps1", steps)
    assert [20 - rule_of(week.course.private("ps1")).penalty(20, h * HOUR) for h in (24, 25, 73)] \
        == [16, 10, 0]  # fmt: skip
    week.settings("ps1", "")
    week.settings("ps2", late)
    week.roster.write_text("id\nada\nben\ncy\ndee\n")
    week.say("collect", "ps2", str(week.roster))
    due, extend, export, glance = (text.splitlines() for text in blocks(HERE, "bash"))
    capsys.readouterr()

    def run(lines: list[str]) -> str:
        week.type(lines)
        return capsys.readouterr().out

    granted, table = blocks(HERE, "text")
    assert "ps2 is due Friday 20 November 2026, 12:00 UTC+01:00\n" in run(due)
    assert granted in run(extend[:3]) and granted in run(extend[3:])
    assert (week.course / "autograder" / "extensions.csv").read_text() == table
    released = (week.course.released("ps2") / "ps2.ipynb").read_text()
    assert "**Due Friday 20 November 2026, 12:00 UTC+01:00.**" in released
    inbox = week.folder / "inbox"
    inbox.mkdir()
    (inbox / "cy.ipynb").write_text(released)
    times = week.folder / "times.csv"
    times.write_text("id,time\ncy,2026-11-21T08:00+01:00\n")
    assert week.say("collect", "ps2", str(inbox), str(times)) == 0
    run(["coursekit grade ps2", "coursekit return ps2 --to plain"])
    said, _ = re.findall(r"^> (.+)$", PAGE, flags=re.MULTILINE)
    assert said in week.page("ps2", "cy")
    run(export)
    rows = (week.course / "autograder" / "export" / "term.csv").read_text(encoding="utf-8-sig")
    assert '"dee","","","","EX","",0,5,""' in rows
    report, table = run(glance).splitlines()
    assert report.endswith("/autograder/report/term.html")
    assert table.endswith("/autograder/export/term.csv")


def test_the_rule_of_the_page_is_that_of_the_command():
    from coursetools.grading.results.falling_behind import RULE, Step, behind

    _, said = re.findall(r"^> (.+)$", PAGE, flags=re.MULTILINE)
    assert RULE.startswith(said)
    way = [Step("submitted", share) for share in (0.8, 0.8, 0.6, 0.6)]
    assert behind(way, [0.7] * 4) and not behind(way, [0.7, 0.7, 0.5, 0.5])


def test_every_option_of_the_settings_stands_on_the_page():
    from dataclasses import fields

    from coursetools.settings.class_settings import KNOWN
    from coursetools.settings.late_rule import LateRule

    names = {*KNOWN, *(one.name for one in fields(LateRule)), "budget", "drop", "weights"}
    assert [name for name in sorted(names) if name not in PAGE] == []
