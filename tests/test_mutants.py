"""The tables of mutants fit the code; `make mutants` applies them, which takes longer."""

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("mutants")
spec = importlib.util.spec_from_file_location("mutants_run", FOLDER / "run.py")
run = sys.modules["mutants_run"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)


def test_every_mutant_can_be_applied():
    mutants = run.read_mutants()
    assert len(mutants) > 50
    assert [why for mutant in mutants if (why := run.misfit(mutant))] == []
    assert len({(m.file, m.old, m.new) for m in mutants}) == len(mutants)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"file": "nowhere.py"}, "there is no nowhere.py"),
        ({"tests": "tests/test_nothing.py"}, "there is no tests/test_nothing.py"),
        ({"old": "no such text"}, "stands 0 times"),
        ({"old": "return"}, "expected once"),
    ],
)
def test_a_mutant_that_does_not_fit_is_named(change, words):
    fits = {
        "mistake": "no scale",
        "file": "kernels.py",
        "old": "dot(q, k) / math.sqrt(q.shape[-1])",
        "new": "dot(q, k)",
        "tests": "tests/test_kernels.py",
    }
    assert run.misfit(run.Mutant(**fits)) is None
    assert words in run.misfit(run.Mutant(**{**fits, **change}))
