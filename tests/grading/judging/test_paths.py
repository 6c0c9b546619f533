"""Nothing that a student reads says where on the instructor's machine Python lives."""

from __future__ import annotations

import json
import sys

from coursetools.grading.judging.engine import Engine

CANARY = "home-of-canary-4711"
NOISY = """
import warnings

def warn(): warnings.warn_explicit("old", UserWarning, __file__, 3)
def fail(): raise ValueError(f"in {__file__}")
class Thing:
    def __repr__(self): return f"<thing from {__file__}>"
"""
FIRST = """
import noisy, sys, traceback, torch
noisy.warn()
print(torch.__file__, traceback.__file__, sys.prefix + '/bin/python')
try:
    noisy.fail()
except ValueError:
    traceback.print_exc()
noisy.Thing()
"""


def test_no_path_of_the_machine_is_in_what_a_student_reads(tools, tmp_path, monkeypatch):
    library = tmp_path / CANARY / "library"
    library.mkdir(parents=True)
    (library / "noisy.py").write_text(NOISY)
    monkeypatch.setenv("PYTHONPATH", str(library))
    monkeypatch.syspath_prepend(str(library))
    raises = "import noisy\ndef square(x): return noisy.fail()"
    with Engine(tools.MASTER, tools.LIMITS, assignment=tools.ASSIGNMENT) as engine:
        verdict = engine.grade(tools.submission(raises, "noisy.fail()", first=FIRST))
    said = json.dumps(verdict.as_json())
    assert said.count("noisy.py") >= 5, said
    for place in (CANARY, sys.prefix, sys.base_prefix, "site-packages"):
        assert place not in said, said
