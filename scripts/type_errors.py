"""Type errors may only become fewer: mypy's count in each room, beside the one that is allowed.

    make types

A room that is not in the table must have none. Where there are fewer than the table says, it asks
for the lower number, so that nobody has to fix the same error twice.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = {
    "coursekit/analysis": 10,
    "coursekit/boxes": 2,
    "coursekit/check": 12,
    "coursekit/data": 7,
    "coursekit/decoding": 9,
    "coursekit/figures": 137,
    "coursekit/models": 85,
    "coursekit/objectives": 5,
    "coursekit/tokenizers": 21,
    "coursekit/training": 8,
    "coursetools": 1,
    "coursetools/assignments": 4,
    "coursetools/book": 7,
    "coursetools/experiments": 12,
    "coursetools/grading": 47,
    "coursetools/jobs": 10,
    "coursetools/notebooks": 10,
    "coursetools/questions": 16,
}


def main() -> int:
    """Run mypy over both packages, and compare its counts with `ALLOWED`."""
    command = [sys.executable, "-m", "mypy", "src/coursekit", "src/coursetools"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    errors = [line for line in run.stdout.splitlines() if ": error:" in line]
    if run.returncode not in (0, 1) or (run.returncode and not errors):
        print(run.stdout + run.stderr, file=sys.stderr)
        return 2
    counts = Counter(room(line) for line in errors)
    wrong = [name for name in counts | ALLOWED if counts[name] != ALLOWED.get(name, 0)]
    for name in sorted(wrong):
        allowed = ALLOWED.get(name, 0)
        if counts[name] > allowed:
            print(*(line for line in errors if room(line) == name), sep="\n")
            print(f"{name}: {counts[name]} type errors, at most {allowed} are allowed\n")
        else:
            print(f"{name}: {counts[name]} type errors are left; write that into {__file__}")
    return 1 if wrong else 0


def room(line: str) -> str:
    """Return the room of mypy's line, "coursekit/models", or "coursekit" for a file at its top."""
    path = re.match(r"src[/\\](.*?):", line)[1].replace("\\", "/")
    return "/".join(path.split("/")[:-1][:2])


if __name__ == "__main__":
    sys.exit(main())
