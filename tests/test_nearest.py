"""What `make test-quick` runs after a change."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
spec = importlib.util.spec_from_file_location("nearest", TESTS / "nearest.py")
nearest = importlib.util.module_from_spec(spec)
spec.loader.exec_module(nearest)


def test_the_longest_are_there():
    there = {path.name for path in TESTS.iterdir()}  # the public course lacks some rooms
    whole = (TESTS.parent / "solutions").exists()
    expected = [name for name in nearest.LONGEST if whole or name.split("/")[0] in there]
    missing = [name for name in expected if not (TESTS / name).is_file()]
    assert missing == [], "tests/longest.txt names files that are not there"
    assert len(set(nearest.LONGEST)) == len(nearest.LONGEST)


@pytest.mark.parametrize(
    ("file", "runs", "not_"),
    [
        ("src/coursekit/masks.py", "tests/test_masks.py", "tests/models/test_bert.py"),
        ("src/coursekit/models/bert.py", "tests/models/test_bert.py", "tests/test_masks.py"),
        ("src/coursekit/models/bert.py", "tests/models/test_bert_heads.py", "tests/test_masks.py"),
        ("src/coursekit/models/__init__.py", "tests/models/test_bad_input.py", "tests/test_cli.py"),
        ("tests/test_cli.py", "tests/test_cli.py", "tests/test_masks.py"),
        ("tests/book/conftest.py", "tests/book/test_names.py", "tests/book/test_pages.py"),
        ("tests/book/test_pages.py", "tests/book/test_pages.py", "tests/test_masks.py"),
        ("book/bert.md", "tests/book/test_names.py", "tests/test_masks.py"),
        ("README.md", "tests/test_people.py", "tests/test_masks.py"),
    ],
)
def test_it_is_what_is_next_to_the_change(file, runs, not_):
    found = nearest.nearest([file])
    assert runs in found and not_ not in found
    assert {f"tests/{name}" for name in nearest.ALWAYS} <= set(found)


def test_a_test_file_that_is_not_there_any_more_is_none():
    assert "tests/test_gone.py" not in nearest.nearest(["tests/test_gone.py"])
