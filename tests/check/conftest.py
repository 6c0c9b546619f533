"""Tests of `check` ask for the questions of the course as those of questions do."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "questions"))
