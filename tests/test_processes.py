"""How tests ask about processes and time: never red because a machine is busy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

TESTS = Path(__file__).parent
BY_THE_CLOCK = re.compile(r"(?:perf_counter|monotonic|time\.time)\(\) - \w+ <")
ASKED = re.compile(r"\.status\(\) [!=]= psutil")


class Ending:
    """A process that ends between two questions."""

    def is_running(self) -> bool:
        return True

    def status(self) -> str:
        raise psutil.NoSuchProcess(1)

    kill = status


def test_a_process_that_ends_while_it_is_asked_has_ended(processes):
    assert processes.living([Ending(), psutil.Process()]) == [psutil.Process()]
    processes.end([Ending()])


def test_what_has_ended_has_nothing_below_it(processes):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert processes.below(ended.pid) == []


def test_a_wait_ends_as_soon_as_it_may_and_says_for_what_it_was(processes):
    asked = iter([False, False, True])
    processes.wait_for(lambda: next(asked), "the third answer")
    with pytest.raises(AssertionError, match="the end did not happen within 0 s"):
        processes.wait_for(lambda: False, "the end", seconds=0)


def test_what_all_processes_share_is_made_once_and_never_half(once):
    made = []

    def fail(folder):
        (folder / "half").touch()
        raise OSError

    with pytest.raises(OSError):
        once("of-this-test", fail)
    for _ in range(2):
        folder = once("of-this-test", made.append)
    assert made == [folder] and list(folder.iterdir()) == []


@pytest.mark.parametrize("pattern", [BY_THE_CLOCK, ASKED], ids=["clock", "status"])
def test_no_other_test_bounds_a_time_by_the_clock_or_asks_a_process_that_may_have_ended(pattern):
    files = {path.relative_to(TESTS).as_posix(): path for path in TESTS.rglob("*.py")}
    found = {name for name, path in files.items() if pattern.search(path.read_text("utf-8"))}
    assert found <= {"conftest.py"}
    assert BY_THE_CLOCK.search("assert time.perf_counter() - start" + " < 1")
