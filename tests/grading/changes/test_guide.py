"""What the page on changes tells to type is typed, in its order, and says what the page shows."""

from __future__ import annotations

import re
import shlex
import shutil

import pytest
from helpers import page_of_book

pytestmark = pytest.mark.usefixtures("quick_gradebook")

PAGE, _ = page_of_book("grading_changes").split("(sec-grading-update)=")  # test_update.py
TYPED = {"grade", "why", "override", "collect", "review", "return", "backup", "restore"}


def test_the_page(real_week, monkeypatch):
    week = real_week
    monkeypatch.chdir(week.root)
    week.type("grade ps1")
    week.mark("ben", 2.0)
    week.type("return ps1 --to plain")
    week.master("cube(2) == 9", "cube(2) == 8")
    blocks = re.findall(r"^```(bash|text)\n(.*?)^```", PAGE, flags=re.M | re.S)
    assert [kind for kind, _ in blocks].count("text") == 1
    (week.root / "asked.csv").write_text("id,question,text\nada,test_square,Is it not right?\n")
    told, said = {}, ""
    for kind, text in blocks:
        if kind == "text":
            assert said.partition("\nwhat was done:\n")[0] == text
            continue
        for line in text.splitlines():
            words = shlex.split(line)
            assert words.pop(0) == "coursekit"
            if words[0] == "restore":
                before = week.type("export ps1 --output", str(week.root / "before.csv"))
                shutil.rmtree(week.root / "autograder")
            said = week.type(words[0], *words[1:])
            told[words[0]] = said
    assert told.keys() == TYPED
    assert "test_square 0 → 1.5 (override, 1.5: The text was unclear.)" in told["why"]
    assert before and "requests: 1 new" in told["collect"]
    assert "0 graded, 3 graded notebooks written again" in told["grade"]
    week.type("export ps1 --output", str(week.root / "after.csv"))
    assert (week.root / "after.csv").read_bytes() == (week.root / "before.csv").read_bytes()
