"""What the page on marking types is typed here, and says what the page shows."""

from __future__ import annotations

import re
import shlex

from helpers import page_of_book

PAGE = page_of_book("grading_marking")


def test_the_page(desk, capsys):
    """Every command is run, every text is printed, and the points are where they should be."""
    blocks = re.findall(r"^```(bash|text)\n(.*?)^```", PAGE, flags=re.M | re.S)
    assert len(blocks) == 7
    desk.table("mia", ada=("signs square cube", 5), ben=("signs", 3), eve=("", 0),
               dee=("signs square cube", 5))  # fmt: skip
    desk.table("tom", ada=("signs square cube", 5), ben=("signs", ""), eve=("", 0),
               dee=("square cube", ""))  # fmt: skip
    desk.table("lea", ben=("signs", 1.5))
    said, shown = "", 0
    for kind, text in blocks:
        if kind == "text":
            assert text in said
            shown += 1
            continue
        for line in text.splitlines():
            program, *words = shlex.split(line)
            assert program == "coursekit"
            desk.type(*words)
            said = capsys.readouterr().out
    assert shown == 3
    assert {who: desk.formgrader(who)[:2] for who in ("ada", "ben", "cy", "dee", "eve", "fay")} == {
        "ada": (5, False), "ben": (1.5, False), "cy": (5, False), "dee": (4.5, False),
        "eve": (0, False), "fay": (0, False),
    }  # fmt: skip
    page = (desk.folders.feedback("dee") / "ps1.html").read_text(encoding="utf-8")
    assert "4.5 of 5" in page and "2 people have read this answer; the mean counts." in page
    assert (
        "✓ A square is never negative; a cube has the sign of its number. (1 point, found" in page
    )
    log = (desk.root / "autograder" / "log.jsonl").read_text(encoding="utf-8")
    assert '"by": "mia, tom, lea", "assignment": "ps1", "action": "marked"' in log
