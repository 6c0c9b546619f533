"""Progress is a bar for people, lines for logs, and nothing with --quiet."""

from __future__ import annotations

import io
import itertools
import sys

from coursekit import _base
from coursekit._base.progress import track


class Screen(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def said(monkeypatch, terminal, **options):
    screen = Screen(terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    with track(2, "notebooks", **options) as progress:
        progress.advance("one ran")
        progress.note("waiting")
        progress.advance("two ran")
    return screen.getvalue()


def test_a_log_has_one_line_an_item(monkeypatch):
    assert said(monkeypatch, terminal=False).splitlines() == [
        "notebooks 1/2: one ran",
        "notebooks: waiting",
        "notebooks 2/2: two ran",
    ]


def test_a_log_of_much_has_a_line_each_tenth_and_each_half_minute(monkeypatch):
    screen = Screen(False)
    monkeypatch.setattr(sys, "stderr", screen)
    clock = iter(range(0, 10_000, 4))  # four seconds an item
    monkeypatch.setattr(_base.progress.time, "monotonic", lambda: next(clock))
    with track(200, "grading") as progress:
        for student in range(200):
            progress.advance(f"s{student}")
    numbers = [int(line.split()[1].split("/")[0]) for line in screen.getvalue().splitlines()]
    assert {20, 40, 60, 80, 100, 120, 140, 160, 180, 200} <= set(numbers)
    assert 10 < len(numbers) < 50 and max(b - a for a, b in itertools.pairwise(numbers)) <= 9


def test_a_terminal_has_a_bar(monkeypatch):
    text = said(monkeypatch, terminal=True)
    assert "\r" in text
    assert "2/2" in text and "two ran" in text and "waiting" in text


def test_quiet_is_silent(monkeypatch):
    assert said(monkeypatch, terminal=False, quiet=True) == ""
    assert said(monkeypatch, terminal=True, quiet=True) == ""
