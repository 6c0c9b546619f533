"""What the page "GPT" types of our runs and code, held against them; its code runs as printed."""

from __future__ import annotations

import ast
import builtins
import json
import re
from pathlib import Path
from statistics import median

import pytest

from coursekit.data.speeches import speeches
from coursekit.models import GPTConfig
from coursetools.notebooks.imports import read_notebook

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "book").glob("*.md"))


def cell(path, name):
    """Return the code of the cell `name` of a notebook."""
    cells = read_notebook(ROOT / "notebooks" / f"{path}.ipynb")["cells"]
    (found,) = ("".join(one["source"]) for one in cells if one["id"] == name)
    return found


def values(code, *names):
    """Evaluate what stands behind `name =` in a cell, in one line or in several."""
    found = {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                given = (
                    getattr(node.value, "elts", [node.value]) if len(parts) > 1 else [node.value]
                )
                found |= dict(zip(map(ast.unparse, parts), given, strict=False))
    return [eval(ast.unparse(found[name]), {"range": range}) for name in names]


def settings(path, run=0):
    found = json.loads((ROOT / "results" / path).read_text(encoding="utf-8"))
    return found["runs"][run]["settings"]


def test_the_knobs_that_the_page_names():
    (ways,) = values(cell("gpt", "gpt-knobs"), "WAYS")
    assert list(ways.values()) == [
        {}, {"temperature": 0.5}, {"temperature": 1.5}, {"top_k": 10}, {"top_p": 0.9}
    ]  # fmt: skip
    assert '"gpt-knobs-beyond-100", 100 * own[100:].sum()' in cell("gpt", "gpt-knobs-glue")
    assert "def repeated(ids, n=4)" in cell("gpt", "gpt-loops")
    pieces, kinds = values(cell("gpt", "gpt-loops"), "PIECES", "KINDS")
    assert pieces == 120 and {"0.8", "1"} <= kinds.keys()
    years = re.search(r"for year in (range\([\d, ]+\))", cell("gpt", "gpt-loops"))[1]
    asked = re.search(r'said\["greedy"\]\[(\d)\]', cell("gpt", "gpt-loops-glue"))[1]
    assert eval(years)[int(asked)] == 1900 and len(eval(years)) == 8


def test_the_right_century_is_the_right_century():
    """And not the right side of 1900, which is another number; the cell itself is executed."""
    found = json.loads((ROOT / "results/writer/cpu.json").read_text(encoding="utf-8"))
    dated, glued = found["tables"]["dating"], {}
    pairs = [(row["year"], guess) for row in dated for guess in row["guesses"]]
    true, guessed = zip(*pairs)
    given = {"true": true, "guessed": guessed, "dated": dated, "m": found["metrics"]}
    given |= {"glue": glued.__setitem__, "in_words": str, "median": median, "stretches": "5"}
    exec(cell("gpt", "gpt-dating-glue"), given | {"DECADES": range(1790, 2030, 10)})
    right = sum(str(year)[:2] == str(guess)[:2] for year, guess in pairs)
    assert glued["gpt-dating-century"] == 100 * right / len(pairs)
    side = sum((year < 1900) == (guess < 1900) for year, guess in pairs)
    assert glued["gpt-dating-side"] == 100 * side / len(pairs) > 90
    assert glued["gpt-dating-speeches"] == len(speeches("valid")) + len(speeches("test"))


def test_a_dictionary_has_eight_letters():
    code = cell("training/examples", "lookups")
    assert values(code, "LETTERS", "DIGITS", "ENTRIES") == [16, 10, 8]
    assert "torch.randint(2, DIGITS, letters.shape" in code  # so of ten digits eight are left
    (many,) = values(cell("gpt", "gpt-shots-figure"), "MANY")
    assert {0, 1, 4, 16} <= set(many)


def test_the_settings_of_the_look_ups():
    runs = json.loads((ROOT / "results/examples/cpu-lookups.json").read_text(encoding="utf-8"))
    for run in runs["runs"]:
        assert run["settings"]["width"] == 64
        small = "from 0.02" in run["name"]
        assert run["settings"]["spread"] == (0.02 if small else 0.1)


def test_the_sums_that_the_page_describes():
    """Ten signs, a tenth of the pairs new, four problems in a text, 37 + 48 with its end first."""
    assert values(cell("training/examples", "sums"), "SIGNS", "PROBLEMS") == [10, 4]
    assert "new = lot < 0.1\n" in cell("training/examples", "sums")
    assert "digits = result % 10, result // 10 % 10, result // 100" in cell(
        "training/examples", "problems"
    )
    runs = json.loads((ROOT / "results/examples/cpu-sums.json").read_text(encoding="utf-8"))["runs"]
    sizes = {run["name"].split(",")[0]: run["settings"] for run in runs}
    for name in ("2x16", "2x32", "2x64"):
        assert f"{sizes[name]['depth']}x{sizes[name]['width']}" == name
    (failed,) = (run["metrics"] for run in runs if run["name"] == "2x32, seed 1")
    assert failed["new, after 3"] < 0.1 < 0.4 < failed["new, after 2"]  # only at the fourth


def test_the_doses_of_the_copies():
    assert values(cell("gpt", "gpt-copies-read"), "DOSES") == [(0, 1, 3, 10)]


def test_llama_is_the_first_four_changes():
    """It has neither grouped heads nor a window: the first Llama had none."""
    config, plain = GPTConfig.llama(), GPTConfig()
    assert (config.rotary, config.rms_norm, config.gated, config.bias) == (True, True, True, False)
    assert (config.kv_heads, config.window) == (plain.kv_heads, plain.window) == (None, None)
    text = (ROOT / "results/scaling/cpu-modern.json").read_text(encoding="utf-8")
    names = list(dict.fromkeys(run["name"] for run in json.loads(text)["runs"]))
    assert names[1:5] == ["rotary", "RMSNorm", "SwiGLU", "no biases"]
    assert names[5:] == ["grouped heads", "window"]


def test_the_window_is_a_quarter_of_the_text():
    code = "".join("".join(one["source"]) for one in read_notebook(
        ROOT / "notebooks/training/scaling.ipynb")["cells"])  # fmt: skip
    assert '"window": {"window": settings.length // 4}' in code
    assert 'sized["length"] // 4' in cell("gpt", "gpt-modern-glue")


def test_the_law_has_as_many_steps_as_tokens_in_each():
    runs = json.loads((ROOT / "results/scaling/cpu-sizes.json").read_text(encoding="utf-8"))["runs"]
    for run in runs:
        assert run["metrics"]["steps"] == run["metrics"]["tokens of a step"]
        assert run["settings"]["parts"] == 4  # Llama's block
    assert {run["settings"]["depth"] for run in runs} == {1, 2, 3}
    assert settings("scaling/cpu-modern.json")["depth"] == 3  # "three blocks" of the ladder


def test_no_caption_shows_its_escapes():
    """A dollar sign in the title of a table is printed with its backslash."""
    for page in PAGES:
        titles = re.findall(
            r"^`{3,}\{[\w-]+\} (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE
        )
        assert not [title for title in titles if "\\" in title], page.name


def test_half_a_century_is_what_the_year_is_worth():
    assert 'abs(year - row["year"]) >= 50' in cell("gpt", "gpt-baselines-year")


BLOCK = re.compile(
    r"^(?:`{3,})(?:python|\{code-block\} python)\n(.*?)^`{3,}$", re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_on_a_page_imports_what_it_uses(page):
    """Its classes, in its block or in one above it; small names may be those of the prose."""
    known = set(dir(builtins))
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        tree = ast.parse(block)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                known |= {(name.asname or name.name).split(".")[0] for name in node.names}
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                known.add(node.name)
                known |= {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
            elif isinstance(node, ast.arg):
                known.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                known.add(node.id)
        used = {node.id for node in ast.walk(tree)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
                and node.id[0].isupper()}  # fmt: skip
        assert used <= known, f"{page.name}: nobody has imported {', '.join(sorted(used - known))}"


def test_what_the_heads_were_asked():
    """The page takes both numbers from the notebook, which repeats the training's."""
    assert values(cell("training/gpt_heads", "data"), "AWAY", "ANSWERS") == [50, 4]
    glued = cell("gpt", "gpt-heads-trained-glue")
    assert 'glue("gpt-heads-away", 50)' in glued
    assert 'glue("gpt-heads-answers", in_words(4))' in glued


def test_the_letter_model_of_the_page():
    assert "vocabulary=78" in cell("gpt", "gpt-shapes")
    assert "width=64, depth=2" in cell("gpt", "gpt-live-model")
    train = cell("gpt", "gpt-live-train")
    assert "size=4," in train and "lr=8e-3" in train
    assert "for _ in range(15)" in cell("gpt", "gpt-cache")
    assert "if s.year == 1914" in cell("gpt", "gpt-bits")


def test_the_alphabet_of_the_functions():
    assert values(cell("training/examples", "functions"), "PLACES") == [10]


def test_two_blocks_learn_to_look_up_within_about_a_hundred_steps():
    text = (ROOT / "results/examples/cpu-lookups.json").read_text(encoding="utf-8")
    runs = {run["name"]: run["metrics"] for run in json.loads(text)["runs"]}
    for name in ("lookups, 2 blocks", "lookups, 2 blocks, seed 2"):
        shares = [runs[name][f"new, shown, step {step}"] for step in range(50, 650, 50)]
        assert any(before < 0.5 and after > 0.9 for before, after in zip(shares, shares[2:]))
