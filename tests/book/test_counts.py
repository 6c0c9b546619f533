"""Numbers that the pages around the chapters type, held against what they speak of."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path

import torch

from coursekit import quick
from coursekit.book.lecture_map import DECKS
from coursekit.data.splits import SHARES
from coursekit.models import GPT, GPTConfig
from coursekit.notebooks.imports import read_notebook

ROOT = Path(__file__).resolve().parents[2]


def cell(notebook: str, name: str) -> str:
    """Return the code of the cell `name` in `notebooks/NOTEBOOK.ipynb`."""
    path = ROOT / "notebooks" / f"{notebook}.ipynb"
    (found,) = (one for one in read_notebook(path)["cells"] if one.get("id") == name)
    return "".join(found["source"])


def numbers_in_calls(code: str, function: str) -> list[list[object]]:
    """Return the literal arguments of each call of `function` in `code`."""
    calls = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    named = (call for call in calls if ast.unparse(call.func).split(".")[-1] == function)
    return [[arg.value for arg in call.args if isinstance(arg, ast.Constant)] for call in named]


def page(name: str) -> str:
    return (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")


def test_the_page_on_data():
    assert SHARES == {"train": 0.8, "valid": 0.1, "test": 0.1}  # so cut at 0.8 and 0.9
    assert 'test = set(shuffled[: len(parts["test"])])' in cell("data", "careless-split")
    assert numbers_in_calls(cell("data", "scenes"), "scenes") == [["train", 4]]


def test_the_page_on_parameters():
    with torch.device("meta"):
        largest = GPT(GPTConfig.gpt2_xl())
    assert round(4 * sum(p.numel() for p in largest.parameters()) / 1e9) == 6
    small = GPTConfig.gpt2()
    assert (small.vocabulary, small.width) == (50_257, 768)
    assert round(50_257 * 768 / 1e6, 1) == 38.6
    names = ast.literal_eval(cell("parameters", "share").split("\n")[0].removeprefix("names = "))
    assert len(names) == 4


def test_the_home_page():
    assert tomllib.loads((ROOT / "book/way.toml").read_text())["words_a_minute"] == 150
    detector = json.loads((ROOT / "results/detector/cpu.json").read_text())
    assert detector["settings"]["queries"] == 12
    doors = page("index").split("## Four doors")[1].split("\n## ")[0]
    assert doors.count("{grid-item-card}") == 4
    matrix = re.findall(r"python: \[([^\]]*)\]", (ROOT / ".github/workflows/ci.yml").read_text())
    tried = sorted(version for row in matrix for version in re.findall(r"3\.\d+", row))
    assert (tried[0], tried[-1]) == ("3.11", "3.13")


def test_the_page_on_speed():
    assert quick.PARTS == 8
    rows = (ROOT / "benchmarks/generation.py").read_text(encoding="utf-8")
    assert '"greedy, 16 prompts"' in rows
    windows = (ROOT / "benchmarks/shifted_windows.py").read_text(encoding="utf-8")
    assert re.search(r"^WINDOW\b.*= 7\b", windows, re.MULTILINE) and 7 * 7 == 49


def test_the_lecture_map():
    assert len(DECKS) == 5
