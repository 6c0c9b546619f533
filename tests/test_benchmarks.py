"""The benchmarks run from end to end; what they measure is for `make bench`, not for a test."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks"
sys.path.insert(0, str(FOLDER))
import all as everything  # noqa: E402


@pytest.mark.parametrize("script", everything.SCRIPTS)
def test_a_benchmark_runs(script):
    done = subprocess.run(
        [sys.executable, FOLDER / f"{script}.py", "--smoke", "--threads", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    contests = {line[:24].strip() for line in done.stdout.splitlines()}
    ours = {line[:24].strip() for line in done.stdout.splitlines() if line[25:30] == "ours "}
    assert ours
    assert ours == contests, "a contest without us"
