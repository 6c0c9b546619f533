"""What the pages of "SAGAN" to "DETR" type of our own code, runs and notebooks is so.

Each test is named by a mark above the paragraph that types its numbers.
"""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

import torch

from coursekit.data.fashion import fashion
from coursekit.models.sagan import Generator, GeneratorConfig
from coursekit.training.records import trained

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ("", ", seed 2")


@cache
def cells(notebook: str) -> dict[str, str]:
    """Return the cells of a notebook, by their ids."""
    found = json.loads((ROOT / "notebooks" / f"{notebook}.ipynb").read_text(encoding="utf-8"))
    return {cell["id"]: "".join(cell["source"]) for cell in found["cells"]}


def constant(notebook: str, cell: str, name: str) -> Any:
    """Return what a cell assigns to a name, if it is written out there."""
    for step in ast.walk(ast.parse(cells(notebook)[cell])):
        if isinstance(step, ast.Assign) and getattr(step.targets[0], "id", "") == name:
            return ast.literal_eval(step.value)
    raise AssertionError(f"cell {cell} of {notebook} does not assign {name}")


@cache
def result(path: str) -> dict[str, Any]:
    """Return a record of `results`."""
    return json.loads((ROOT / "results" / path).read_text(encoding="utf-8"))


def runs(path: str) -> dict[str, dict[str, Any]]:
    """Return the runs of a sweep by their names, the second seed's with ", seed 2" behind."""
    found = {}
    for run in result(path)["runs"]:
        name = run["name"].removesuffix(", seed 2")
        found[name + (", seed 2" if run["seed"] == 2 else "")] = run
    return found


def test_canvases_of_the_sagan_page():
    net = Generator(GeneratorConfig())
    z = net.noise(1)
    canvas, inner = net.eval()(z), net.begin(z)
    assert canvas.shape[2:] == (8, 24) and inner.shape[2:] == (4, 12)
    # a quarter of the ends' places each is the left end's: columns 0 to 3, 8 to 11 the right one's
    alone = Generator(GeneratorConfig(middle="none")).eval()
    other = z.clone()
    other[:, 0] += 1
    with torch.no_grad():
        moved = (alone.begin(z) != alone.begin(other)).any(dim=1)[0].any(dim=0)
    assert moved.nonzero().flatten().tolist() == [0, 1, 2, 3]
    other = z.clone()
    other[:, 1] += 1
    with torch.no_grad():
        moved = (alone.begin(z) != alone.begin(other)).any(dim=1)[0].any(dim=0)
    assert moved.nonzero().flatten().tolist() == [8, 9, 10, 11]
    assert "torch.rand(1, 32, 4, 12), (4, 7))" in cells("sagan")["generator-reach"]


def test_rates_and_runs_of_the_sagan_page():
    middles, knobs = runs("canvases/cpu-middles.json"), runs("canvases/cpu-knobs.json")
    closed = [name for name in middles if name.startswith(("residual", "none"))]
    assert len(closed) == 4
    plain, slow = result("canvases/cpu.json")["settings"], knobs["one to four"]["settings"]
    assert plain["rate"] == 4 * slow["rate"] == 20 * 0.0001
    assert slow["rate_d"] == 4 * slow["rate"]


def test_what_the_sagan_notebook_draws():
    assert "net.middle.gamma, 0.5" in cells("sagan")["generator-reach"]
    assert "faint = real * 0.8 - 0.2" in cells("sagan")["frechet-go-on"]  # of −1 to 1: a fifth
    assert {100, 10_000} <= set(constant("sagan", "bias", "COUNTS"))


def test_pieces_of_the_vit_page():
    """Pieces of 7 × 7 pixels, of pictures of 28 × 28, are the patches of the ViT: 16 of them."""
    assert fashion("test").images.shape[1:] == (28, 28) and 28 * 28 == 784 and (28 // 7) ** 2 == 16
    drawn = cells("vit")["puzzle-figure"]
    assert "for kind in (7, 8, 1, 9)]" in drawn and "for i in some], 7)," in drawn  # four, cut at 7
    assert "def rearrange(pictures, cut=7):" in cells("vit")["puzzle"]
    assert runs("vit/cpu-crowd.json")["vit, all"]["settings"]["patch"] == 7


def test_runs_of_the_vit_page():
    crowd, stems = runs("vit/cpu-crowd.json"), runs("vit/cpu-stems.json")
    for run in crowd.values():
        about = run["settings"]
        assert (about["width"], about["depth"], about["tested"]) == (48, 3, 2000)
        assert about["patch"] == 7
    assert {500, 4000} <= {run["metrics"]["pictures"] for run in crowd.values()}
    assert 8500 < crowd["vit, all"]["metrics"]["pictures"] < 9500  # some nine thousand
    for seed in SEEDS:  # 28 pixels: a map of 7 × 7, 49 cells, of 4 pixels; 16 patches of 7
        assert all(stems[name + seed]["settings"]["patch"] == 4 for name in
                   ("hybrid", "vit, patches of 4"))  # fmt: skip
        assert stems["batch norm" + seed]["settings"]["patch"] == 7
    training = json.loads((ROOT / "notebooks/training/vit.ipynb").read_text(encoding="utf-8"))
    assert '"backbone_channels": 32}' in str(training["cells"])


def test_the_kept_vit():
    model = trained("vit")
    filters = model.embedding.weight
    assert filters.shape == (48, 1, 4, 4) and filters[0].numel() == 16
    assert model.config.grid == (7, 7) and model.config.size == (28, 28)  # so 8 stands below 1
    stems = runs("vit/cpu-stems.json")["vit, patches of 4"]["settings"]
    assert (28 // stems["patch"]) ** 2 == 49


def test_what_the_vit_notebook_asks():
    resolution, few = cells("vit")["resolution"], cells("vit")["fewshot-table"]
    assert 'x["test"][:1000], size=40' in resolution
    assert (40 // trained("vit").config.patch) ** 2 == 100
    assert "for count in (1, 5, 20):" in few and "for draw in range(10, 20)]" in few  # ten draws
