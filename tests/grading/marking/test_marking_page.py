"""The page on which answers are marked: nobody's name, nothing gets out, and it is used once."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from markupsafe import escape

from coursetools.book.formats.chromium import find_chromium
from coursetools.grading.marking.answers import in_words
from coursetools.grading.marking.page import marking_page

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--host-resolver-rules=MAP * ~NOTFOUND"]  # fmt: skip


def page_of(desk) -> str:
    desk.type("mark", "ps1", "--quiet")
    return (desk.folders.marking / "why.html").read_text(encoding="utf-8")


def test_the_page_has_every_answer_and_nobodys_name(desk):
    page = page_of(desk)
    given = re.findall(r'<article class="card answer" data-code="(\w+)"', page)
    assert sorted(given) == sorted(set(desk.codes.values())) and len(given) == 4
    assert not re.search(r"\b(ada|ben|cy|dee|eve|fay)\b", page)
    assert "2 students have written exactly this" in page and "much alike" in page
    for item in in_words(desk.folders)[0].rubric.items:
        assert page.count(str(escape(item.says))) == 4
    assert "Because." in page  # our answer
    (desk.folders.private / "why.toml").unlink()
    bare = marking_page("ps1", in_words(desk.folders)[0])
    assert "checkbox" not in bare.partition("<script>")[0]
    assert re.findall(r'data-code="(\w+)"', bare) == given


def test_the_order_is_that_of_the_codes_but_for_what_is_alike(desk):
    codes = desk.codes
    first, alike = sorted([codes["ada"], codes["dee"]])
    given = re.findall(r'data-code="(\w+)"', page_of(desk))
    assert given == [
        one for code in sorted(set(codes.values()) - {alike})
        for one in ([code, alike] if code == first else [code])
    ]  # fmt: skip


def test_no_answer_gets_out_of_its_place(desk):
    page = page_of(desk)
    assert page.count("<script") == 1 == page.count("</script") and "<img" not in page
    assert "&lt;/script&gt;&lt;script&gt;window.PWNED = 1" in page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in policy and "script-src 'sha256-" in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2]


def test_an_assignment_without_a_question_in_words_is_refused(desk, capsys):
    path = desk.folders.source / "ps1.ipynb"
    path.write_text(path.read_text().replace('"grade_id": "why"', '"grade_id": ""'))
    desk.type("mark", "ps1", code=1)
    assert "ps1 has no written questions to mark" in capsys.readouterr().err


def test_before_anything_is_graded_that_is_said(make_classroom, tmp_path, capsys):
    from coursetools.cli import main

    make_classroom(tmp_path / "course")
    assert main(["--root", str(tmp_path / "course"), "mark", "ps1"]) == 1
    assert "ps1 is not graded yet; run coursekit grade ps1" in capsys.readouterr().err


def test_marked_by_keyboard_saved_and_collected(desk, capsys):
    """Every key that the page names, at the width of a telephone; what is saved is collected."""
    from playwright.sync_api import sync_playwright

    if (chromium := find_chromium()) is None:
        pytest.skip("Chromium is missing; `coursekit doctor` says how to install it")
    page_of(desk)
    address = (desk.folders.marking / "why.html").as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        tab = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme="dark")
        errors: list[str] = []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("console", lambda one: errors.append(one.text) if one.type == "error" else None)
        tab.goto(f"{address}#{desk.codes['ada']}")

        def here() -> str:
            return tab.locator(".answer.here").get_attribute("data-code")

        def press(*keys: str) -> None:
            for key in keys:
                tab.keyboard.press(key)

        def to(student: str) -> None:
            for _ in range(3):
                press("k")
            while here() != desk.codes[student]:
                before = here()
                press("j")
                assert here() != before, "no such answer"

        assert here() == desk.codes["ada"]
        tab.click("#save")  # nobody said who marks
        assert tab.evaluate("document.activeElement.id") == "marker"
        press("m", "i", "a", "Tab")
        to("ada")
        press("1", "2", "3", "1", "1")
        assert tab.input_value(".here .given") == "5"
        to("ben")
        press("1", "p", "3", "Escape", "c")
        tab.keyboard.type('Say "why", 2 < 3,')
        press("Enter")
        tab.keyboard.type("next time.")
        press("Escape")
        to("eve")
        press("0")
        tab.select_option(".here .again", index=1)
        press("Escape", "n")
        assert here() == desk.codes["dee"]
        press("ArrowLeft", "ArrowRight", "2", "p", "9")
        assert tab.get_attribute(".here .given", "aria-invalid") == "true"
        press("Escape")
        assert tab.input_value(".here .given") == "2"  # and not 9 of 5
        tab.reload()  # what was done is kept
        to("dee")
        assert tab.input_value(".here .given") == "2" and "4 marked" in tab.inner_text("#place")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        assert tab.evaluate("typeof window.PWNED") == "undefined" and errors == []
        with tab.expect_download() as saved:
            tab.click("#save")
        path = desk.root / saved.value.suggested_filename
        saved.value.save_as(path)
        tab.fill("#marker", "tom")
        press("Tab")
        assert "0 marked" in tab.inner_text("#place")
        browser.close()
    assert path.name == "ps1-why-mia.csv"
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        rows = {row["code"]: row for row in csv.DictReader(file)}
    expected = {
        "ada": ("signs square cube", "5", ""),
        "ben": ("signs", "3", 'Say "why", 2 < 3,\nnext time.'),
        "eve": ("", "0", "You say what happens. The question was why it must."),
        "dee": ("square", "2", ""),
    }
    for student, values in expected.items():
        row = rows.pop(desk.codes[student])
        assert (row["items"], row["points"], row["comment"]) == values
        assert (row["question"], row["marker"]) == ("why", "mia")
    assert rows == {}
    capsys.readouterr()
    desk.type("collect", "ps1", str(path))
    assert capsys.readouterr().out == (
        f"{path}: marks (4 rows)\n4 distinct answers marked, covering 5 students\n"
    )
    points, waits, said = desk.formgrader("ben")
    assert (points, waits) == (3, False) and said.endswith('Say "why", 2 < 3,\nnext time.')
