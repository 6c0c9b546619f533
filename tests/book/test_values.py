"""A number of a page that is read from code: each form, what is refused, and what a build shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coursetools.book.number_words import ordinal, words
from coursetools.book.translations import GLUED
from coursetools.book.values import ROLE, value, written_out
from coursetools.course import Course

ROOT = Path(__file__).resolve().parents[2]
CELL = """
STEPS, widths = 300, (4, 32, 128)
WAYS = {"plain": {}, "hot": {"temperature": 1.5}}
names = "ebb flood neap spring".split()
temperatures = torch.logspace(-2, 2, 81)

def train(model, batch=12, *, lr=3e-3):
    optimiser = Adam(model.parameters(), lr=lr)
    for step, (kind, share) in enumerate(WAYS.items()):
        assert share > 0.9

for n in (1, 4, 16):
    for name, heads in (("mha", 8), ("gqa", 2)):
        fit(torch.randn(n, 64), every=20)
first, second = fit(torch.randn(9, 32), every=STEPS), fit(other, every=50)
getcontext().prec = 60
both[:, 5:] *= 10
shown = verses[96:128]
pair = [largest(9), 3]
drawn = 100 * largest[name]
"""
MODULE = """
MB = 1 << 20
SHARES = {"train": 0.8, "valid": 0.1, "test": 0.1}

@dataclass
class Config:
    width: int = 64
    memory: int = 16 * MB

def slide(side, step=0.25):
    local = 7
"""
RECORD = {
    "settings": {"looks": 10},
    "runs": [
        {"name": "base", "settings": {"heads": 8, "side": 64}},
        {"name": "base, seed 2", "settings": {"heads": 8, "side": 64}},
        {"name": "one head", "settings": {"heads": 1, "side": 64}},
    ],
}


@pytest.fixture
def course(tmp_path) -> Course:
    """A course of one notebook, one module, one script and one record."""
    files = {
        "notebooks/waves.ipynb": notebook(CELL),
        "src/coursekit/__init__.py": "",
        "src/coursekit/sea.py": MODULE,
        "benchmarks/surfing.py": "SIDES = (32,) if SMOKE else (224, 448)\nWINDOW, RADIUS = 7, 3\n",
        "results/tide/cpu.json": json.dumps(RECORD),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Course(tmp_path)


def notebook(cell: str) -> str:
    cells = [{"cell_type": "markdown", "id": "title", "source": "# Waves", "metadata": {}}]
    for name, source in (("train", cell), ("drawn", "height = 5")):
        cells.append({"cell_type": "code", "id": name, "source": source, "outputs": []})
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})


@pytest.mark.parametrize(
    ("role", "shown"),
    [
        ("waves::train STEPS", "300"),  # one of several that are assigned at once
        ("waves::train batch", "12"),  # a default
        ("waves::train temperature", "1.5"),  # a key
        ('waves::train WAYS["hot"].temperature', "1.5"),
        ("waves::train prec", "60"),  # an attribute
        ("waves::train len(widths)", "3"),
        ("waves::train len(WAYS):word", "two"),
        ("waves::train len(names):word", "four"),
        ("waves::train widths[-1]", "128"),
        ("waves::train n[1]", "4"),  # of what a loop runs over
        ("waves::train heads[0] - 2", "6"),
        ("waves::train temperatures[0]", "0.01"),
        ("waves::train randn(_, 32)", "9"),
        ("waves::train torch.randn(n, _)", "64"),
        ("waves::train fit(other, every=_)", "50"),
        ("waves::train both[:, 5:] *= _", "10"),
        ("waves::train verses[96:_]", "128"),
        ("waves::train at(verses[96:_]) - at(verses[_:128])", "32"),
        ("waves::train ... > _:.0%", "90%"),
        ("waves::train ... > _:word", "nine tenths"),
        ("waves::train _ * largest[...]:Word", "Hundred"),
        ("waves::train at(fit(every=_), 1)", "50"),
        ("waves::* height", "5"),
        ("coursekit.sea Config.width", "64"),
        ("coursekit.sea Config.memory // MB", "16"),
        ("coursekit.sea slide.step:word", "quarter"),
        ("coursekit.sea SHARES.train + SHARES.valid", "0.9"),
        ("benchmarks/surfing.py WINDOW ** 2 // 2", "24"),
        ("benchmarks/surfing.py (224, _)", "448"),
        ("results/tide/cpu.json settings.looks:word", "ten"),
        ('results/tide/cpu.json runs["base"].settings.heads', "8"),
        ('results/tide/cpu.json len(runs["base"])', "2"),
        ("results/tide/cpu.json runs.settings.side", "64"),
        ("results/tide/cpu.json len(set(runs.name))", "3"),
        ("results/tide/cpu.json 1 / settings.looks:word", "tenth"),
    ],
)
def test_each_form_is_read(course, role, shown):
    assert value(course, role)[1] == shown


@pytest.mark.parametrize(
    ("role", "parts"),
    [
        ("waves::train STEP", ["cell train of notebooks/waves.ipynb: no STEP; there is", "STEPS"]),
        ("waves::train every", ["every = 300 and 50 and 20", "train(lr=_)"]),
        ("waves::train fit(every=_)", ["is 20 and 50", "write more of it"]),
        ("waves::train lr=", ["'lr=' is not an expression"]),
        ("waves::train shown", ["shown is verses[96:128], and not a literal"]),
        ("waves::train pair[0]", ["pair[0] is", "largest(9)", "and not one number"]),
        ("waves::train step", ["no step"]),
        ("waves::train widths", ["widths is (4, 32, 128), and not one number"]),
        ("waves::train widths[7]", ["index out of range"]),
        ("waves::train randn(_, 48)", ["nothing is like randn(_, 48)"]),
        ("waves::swim STEPS", ["notebooks/waves.ipynb has no cell of code 'swim'", "train, drawn"]),
        ("sea::train STEPS", ["there is no notebooks/sea.ipynb"]),
        ("coursekit.sea local", ["no local; there is MB, SHARES"]),
        ("coursekit.land MB", ["there is no source 'coursekit.land'"]),
        ('results/tide/cpu.json runs["big"].settings', ["'big'", "base, base, seed 2, one head"]),
        ("results/tide/cpu.json runs.settings.heads", ["[8, 8, 1], and not one number"]),
        ("results/ebb/cpu.json settings", ["there is no results/ebb/cpu.json"]),
        ("results/tide/cpu.json 1 / settings.looks:ordinal", ["0.1 is not whole"]),
        ("waves::train print(STEPS)", ["print(STEPS) is not a literal"]),
    ],
)
def test_what_is_missing_or_ambiguous_is_refused(course, role, parts):
    with pytest.raises(LookupError) as refused:
        value(course, role)
    assert all(part in str(refused.value.args[0]) for part in parts), refused.value.args[0]


def test_nothing_is_executed(course, tmp_path):
    (tmp_path / "notebooks" / "waves.ipynb").write_text(notebook("open('x', 'w')\nSTEPS = 7"))
    assert value(course, "waves::train STEPS")[1] == "7"
    with pytest.raises(LookupError):
        value(course, "waves::train open('y', 'w')")
    assert not (tmp_path / "x").exists() and not Path("y").exists()


@pytest.mark.parametrize(
    ("number", "word", "place"),
    [(1, "one", "first"), (12, "twelve", "twelfth"), (20, "twenty", "twentieth"),
     (48, "forty-eight", "forty-eighth"), (100, "hundred", "hundredth"),
     (300, "three hundred", "three hundredth"), (200_000, "two hundred thousand", None),
     (0.5, "half", None), (0.375, "three eighths", None), (1e-4, "ten-thousandth", None)],
)  # fmt: skip
def test_a_number_in_words(number, word, place):
    assert words(number) == word
    assert place is None or ordinal(number) == place


# --- In a build ---

PAGE = """# {value}`waves::train len(widths):Word` widths

Batches of {value}`waves::train batch`, **{value}`waves::train widths[0]` wide**.

| steps |
| --- |
| {value}`waves::train STEPS` |

```{figure} picture.png
{value}`results/tide/cpu.json settings.looks:Word` looks.
```

:::{dropdown} For {value}`coursekit.sea Config.width` numbers
Inside.
:::

```{ask} 2
:name: ask-waves
:code: 2
How many of {value}`waves::train n[1]` are left?
- 3: Not three.
---
Because of {value}`waves::train n[0]`.
```
"""
SETTINGS = {
    "extensions": ["myst_parser", "sphinx_design", "outdated", "coursetools.book.ask",
                   "coursetools.book.values"],
    "myst_enable_extensions": ["colon_fence"],
    "html_theme": "basic",
    "exclude_patterns": ["out*", "**/*.ipynb"],
}  # fmt: skip


@pytest.fixture
def build(course, run_sphinx, monkeypatch):
    """Build the page of the course, which is read again where that is due."""
    root = course.root
    (root / "outdated.py").write_text(
        "from coursetools.book import dependencies as d\n\ndef setup(app):\n"
        "    app.connect('env-get-outdated', d.outdated_pages)\n"
        "    app.connect('env-purge-doc', d.forget_inputs)\n"
    )
    monkeypatch.syspath_prepend(str(root))
    (root / "picture.png").write_bytes((ROOT / "book/_static/book.png").read_bytes())

    def built(page: str | None = None) -> tuple[str, str]:
        if page is not None:
            (root / "index.md").write_text(page, encoding="utf-8")
        out = root.parent / f"{root.name}-out"
        warnings = run_sphinx(root, out, SETTINGS)
        return (out / "index.html").read_text(encoding="utf-8"), warnings

    return built


def test_a_value_is_shown_wherever_text_is(build):
    page, warnings = build(PAGE)
    assert warnings == ""
    for text in ("Three widths<", "Batches of 12, <strong>4 wide</strong>", "<p>300</p>",
                 "Ten looks.", "For 64 numbers", "How many of 4 are left?",
                 "Because of 1."):  # fmt: skip
        assert text in page, text


def test_a_changed_cell_changes_the_page(build, course):
    build(PAGE)
    path = course / "notebooks" / "waves.ipynb"
    path.write_text(notebook(CELL.replace("STEPS, widths = 300", "STEPS, widths = 900")))
    page, warnings = build()
    assert "<p>900</p>" in page and warnings == ""


def test_a_missing_value_is_a_fault_of_its_page_and_line(build):
    _, warnings = build("# Sea\n\nText.\n\nBatches of {value}`waves::train batsh`.\n")
    assert "index.md:5: ERROR: {value}`waves::train batsh`: the cell train of" in warnings
    _, warnings = build("# Sea\n\n:::{note}\nBatches.\n\nOf {value}`waves::train batsh`.\n:::\n")
    assert "index.md:6: ERROR: " in warnings and warnings.count("ERROR") == 1


# --- Elsewhere ---


def test_a_translation_keeps_its_values_in_another_format():
    texts = (
        "{value}`a::b items[:_]:word` {glue:text}`../x.ipynb::y`",
        ("{value}`a::b items[:_]:d` {glue:text}`../x.ipynb::y:.1f`"),
    )
    assert [GLUED.findall(text) for text in texts] == [["a::b items[:_]", "../x.ipynb::y"]] * 2


def test_every_value_of_the_book_is_read():
    ours = Course(ROOT)
    for page in sorted((ROOT / "book").rglob("*.md")):
        left = ROLE.findall(written_out(ours, page.read_text(encoding="utf-8")))
        assert not left, f"{page.name}: {left}"
