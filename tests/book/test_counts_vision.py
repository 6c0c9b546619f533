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

from coursekit.boxes.geometry import generalized_iou, iou, to_corners
from coursekit.data import augment
from coursekit.data.fashion import fashion
from coursekit.data.scenes import MOST, NAMES
from coursekit.models.mae import random_masking
from coursekit.models.sagan import Generator, GeneratorConfig
from coursekit.models.swin import shift_mask, window_partition
from coursekit.objectives.detection import DetectionLoss
from coursekit.objectives.distillation import soft_distillation
from coursekit.objectives.matcher import assign
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


def training(name: str) -> str:
    """Return the source of a training notebook."""
    found = json.loads((ROOT / f"notebooks/training/{name}.ipynb").read_text(encoding="utf-8"))
    return "\n".join("".join(cell["source"]) for cell in found["cells"])


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
    controls = runs("canvases/cpu-controls.json")
    for name, noise in (("dense, few weights", 5), ("attention, many weights", 189)):
        for seed in ("", ", seed 2"):
            assert controls[name + seed]["settings"]["noise"] == noise


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
    assert '"backbone_channels": 32}' in training("vit")


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


def test_what_is_hidden_on_the_mae_page():
    """The picture of the opening, the counts of patches, and what was in training."""
    painted = cells("mae")["pictures"]
    assert "some = pictures[:6]" in painted and "for ratio in (0.25, 0.5, 0.75, 0.9):" in painted
    rows = [row for ratio in (0.25, 0.5, 0.75, 0.9) for row in (f"{ratio} hidden", "painted")]
    assert rows[5 - 1] == "0.75 hidden"  # the fifth row has a quarter left
    noise, kept = torch.rand(1, 49), trained("mae")
    assert kept.config.encoder.grid == (7, 7) and kept.config.encoder.patch == 4
    visible = {ratio: random_masking(noise, ratio).keep.shape[1] for ratio in (0.25, 0.75, 0.9)}
    assert visible == {0.25: 36, 0.75: 12, 0.9: 4}  # and the class token makes 13 of 12
    assert result("mae/cpu.json")["settings"]["ratio"] == 0.75
    assert (
        "torch.rand(9," in cells("mae")["hide"] and "K = int(9 * (1 - 0.6))" in cells("mae")["hide"]
    )
    assert "compare(196, 49, (1024, 24)" in cells("mae")["cost"]  # a quarter of the patches
    shortcut = cells("mae")["shortcut"]
    assert "pictures[:4], random_masking(noise[:4], 0.75)" in shortcut
    assert "for count in (4, 8, 12, 16, 20, 24, 30, 36)}" in cells("mae")["blindfold"]
    for run in runs("mae/cpu-targets.json").values():
        assert run["settings"]["ratio"] == 0.75
    assert fashion("train").images[0].numel() == 784


def test_the_loss_example_of_the_mae_page():
    example = cells("mae")["loss"]
    assert "[[[0.0, 0.2, 0.4, 0.6], [1.0, 1.0, 1.0, 1.0]," in example
    assert "[0.0, 1.0, 0.0, 1.0]]])" in example and "[0.5, 0.5, 0.5, 0.5]]])" in example
    assert example.count("[0.0, 0.0, 0.0, 0.0]") == 2 and "[[True, False, True]]" in example


def test_labels_of_the_mae_page():
    found = runs("labels/cpu-labels.json")
    for run in found.values():
        assert run["settings"]["labels"] == [100, 500, 2000, 8976]  # 100: ten of each kind
    assert "best of four rates from 0.0005 to 0.004" in training("labels")


def test_a_temperature_ten_times_as_high():
    scores = torch.tensor([[2.0, -6, 4, 0, 3, -7, 6, -8, -2, -7]])
    assert "2.0, -6.0, 4.0, 0.0, 3.0, -7.0, 6.0," in cells("mae")["soft"]
    assert "for T in (1.0, 3.0, 10.0, 30.0):" in cells("mae")["gradient"]
    lengths = []
    for T in (3.0, 30.0):
        student = torch.zeros(1, 10, requires_grad=True)
        loss = soft_distillation(student, scores, temperature=T)
        lengths.append(torch.autograd.grad(loss, student)[0].norm() / T**2)
    assert 70 < lengths[0] / lengths[1] < 100  # nearly a hundredth


def test_students_of_the_mae_page():
    for run in runs("deit/cpu-deit.json").values():
        assert run["settings"]["patch"] == 7 and (28 // 7) ** 2 == 16
    for name in ("deit", "augment"):  # a quarter is erased, and a coin decides what mixes
        cell = training(name)
        assert "random_erase(mixed.images, share=0.25)" in cell and "torch.rand(()) < 0.5" in cell


def test_changed_pictures_of_the_mae_page():
    assert "five, labels = pictures[:5], test.labels[:5]" in cells("mae")["augment"]
    public = [name for name, part in vars(augment).items() if callable(part) and
              getattr(part, "__module__", "") == augment.__name__ and name[0] != "_"]  # fmt: skip
    assert sorted(set(public) - {"Mixed"}) == [
        "cutmix", "mixup", "random_erase", "random_flip", "random_shift"]  # fmt: skip


def test_windows_of_the_swin_page():
    models, heard = cells("swin")["cost"], cells("swin")["heard"]
    assert models.count("width=384") == models.count("heads=6") == 2 and "patch=4" in models
    assert constant("swin", "cost", "SIDES") == (224, 448, 896, 1792)  # the fourth: 4 × the third
    assert constant("swin", "heard", "PLACE") == (7, 7) and "window=4" in heard
    assert "image=16, patch=1" in heard
    assert constant("swin", "heard-figure", "BLOCKS") == (1, 2, 3, 4)
    assert "SIDE, M = 8, 4" in cells("swin")["windows"]
    assert constant("swin", "shift", "SHIFT") == 2
    assert "corner[False][9]" in cells("swin")["corner-glue"]  # block 10
    assert "figures.shared_keys(21, 5)" in cells("swin")["shared-shown"]  # windows of 5 × 5


def test_the_rolled_map_of_the_swin_page():
    """A map of 8 × 8, windows of 4, a shift of 2."""
    number = torch.arange(64).view(1, 8, 8, 1).roll((-2, -2), dims=(1, 2))
    windows = window_partition(number, 4)[..., 0]  # (4, 16)
    assert len(windows) == 4 and number[0, :2, :2, 0].tolist() == [[18, 19], [26, 27]]
    last = [54, 55, 62, 63, 48, 49, 56, 57, 6, 7, 14, 15, 0, 1, 8, 9]
    assert sorted(windows[3].tolist()) == sorted(last)
    places = torch.arange(8)
    home = (places - 2).div(4, rounding_mode="floor")
    homes = (3 * home[:, None] + home).flatten()
    sizes = homes.unique(return_counts=True)[1].tolist()
    assert len(sizes) == 9 and set(sizes) == {4, 8, 16}
    mask = shift_mask(8, 8, 4, 2)[:, 0]  # (4, 16, 16)
    ordered = windows[3].tolist()
    assert not mask[3][ordered.index(0), ordered.index(63)]
    assert mask[3][ordered.index(0), ordered.index(1)]


def test_small_networks_of_the_swin_page():
    assert MOST == 6 and len(NAMES) == 12 and (64 // 8, 64 * 3 // 8) == (8, 24)
    for sweep in ("table4", "unhurried"):
        for run in runs(f"swin/cpu-{sweep}.json").values():
            about = run["settings"]
            assert (about["side"], about["patch"], about["window"]) == (64, 4, 4)
            assert (about["scenes"], about["tested"], about["batch"]) == (3000, 1000, 32)
    source = training("swin")
    # windows of the second stage are 4 cells of 8 pixels wide; without merging there are six blocks
    assert "stages = (2, 2, 2) if settings.merging else (6,)" in source
    assert "patch, heads = 2 * settings.patch" in source  # the ViT's: 8 pixels, four cells
    found = runs("swin/cpu-unhurried.json")

    def lead(one, other, what):
        """Points by which one is ahead, in the mean of two seeds."""
        return 50 * sum(found[one + s]["metrics"][what] - found[other + s]["metrics"][what]
                        for s in SEEDS)  # fmt: skip

    assert round(lead("shifted, relative", "no shift", "cells, new")) == 2
    bare = ("no merging", "no merging, no shift")
    assert round(lead(*bare, "cells, new")) == 7 and round(lead(*bare, "largest, new")) == 12


def test_timings_of_the_swin_page():
    """What is said of the table holds of both of its columns, ratios and medians."""
    record = result("benchmarks.json")["shifted_windows"]
    rows = record["rows"]
    assert record["rounds"] == 21 and record["hardware"].endswith("1 threads")
    assert {f"forward, {side} pixels" for side in (224, 448, 672)} < {r["contest"] for r in rows}
    by = {row["name"]: row for row in rows if row["contest"] == "windows, stage 1"}
    ours = by["ours"]

    def times(name):
        """Times as long, by the ratios and by the medians."""
        return by[name]["times_ours"], by[name]["milliseconds"] / ours["milliseconds"]

    assert (
        min(times("sliding, gathered")) > 24 < by["sliding, gathered"]["peak_MB"] / ours["peak_MB"]
    )
    for ratio in times("sliding, in blocks"):
        assert 3.6 < ratio < 4.4  # about four times
    for ratio in times("not shifted"):
        assert 0.15 < 1 - ratio < 0.25  # about a fifth is saved
    for ratio in times("sliding in a row"):
        assert 0.8 < ratio < 1.25
    for side, bounds in ((224, (0, 0.95)), (448, (0.93, 1.07)), (672, (1.15, 9))):
        own, other = (row for row in rows if row["contest"] == f"forward, {side} pixels")
        for ratio in (other["times_ours"], other["milliseconds"] / own["milliseconds"]):
            assert bounds[0] < ratio < bounds[1], side
    script = (ROOT / "benchmarks" / "shifted_windows.py").read_text(encoding="utf-8")
    assert "WINDOW, RADIUS, WIDTH = 7, 3, 32" in script and 7 + 2 * 3 == 13 and 7**2 // 2 == 24


def test_the_detector_of_the_detr_page():
    about, model = result("detector/cpu.json")["settings"], trained("detector")
    assert about["queries"] == model.config.queries == 12 and len(NAMES) == 12
    assert about["size"] == 64 and 64 // 8 == 8
    with torch.no_grad():
        assert model.backbone(torch.zeros(1, 3, 64, 64)).shape[2:] == (8, 8)  # 64 cells
    for sweep in ("known", "boxes", "parts"):
        assert all(
            run["settings"]["size"] == 64 for run in runs(f"queries/cpu-{sweep}.json").values()
        )
    assert DetectionLoss().no_object == 0.1
    assert about["heads"] == model.config.heads == 4  # means over four heads
    assert "truth[N].labels[:3]" in cells("detr")["encoder-figure"]  # and the background: four
    assert "matched[N].tolist()[:4]" in cells("detr")["decoder-figure"]


def test_the_training_of_the_detector():
    source, found = training("detector"), result("detector/cpu.json")
    assert "(1.0 if step <= 0.7 * total else 0.1)" in source  # the rate falls to a tenth at 70%
    assert "an AP50 of 0.8 and an AP of 0.5" in source  # what was hoped for
    assert MOST == 6 and len(NAMES) == 12
    drawing = (ROOT / "src/coursekit/data/scenes.py").read_text(encoding="utf-8")
    assert "rng.randint(self.size // 8, self.size * 3 // 8)" in drawing  # before it is turned
    assert "for side in (7, 9, 12, 15, 20, 26)]" in source  # six sizes of a window
    assert "classes=len(NAMES) + 1" in source  # thirteen
    objects = found["metrics"]["objects"] / found["settings"]["tested"]  # of a scene
    windows = 4 * objects * found["settings"]["batch"] * found["settings"]["steps_windows"]
    assert 190_000 < windows < 230_000  # one around each object, three times as many anywhere
    assert "three times as many anywhere" in source


def test_the_five_guesses_of_the_detr_page():
    known: dict[str, Any] = {"torch": torch, "generalized_iou": generalized_iou,
                             "to_corners": to_corners}  # fmt: skip
    for cell in ("five", "cost"):  # the notebook's own cells
        exec(cells("detr")[cell], known)
    chosen = assign(known["cost"]).tolist()
    assert known["cost"].shape == (3, 5)
    assert sorted({1, 2, 3, 4, 5} - {q + 1 for q in chosen}) == [4, 5]  # are left over


def test_what_the_detr_notebook_draws():
    here = cells("detr")
    known: dict[str, Any] = {"torch": torch, "iou": iou, "to_corners": to_corners,
                             "generalized_iou": generalized_iou}  # fmt: skip
    exec(here["same"], known)
    assert [row[1] for row in known["rows"]] == ["0.20"] * 4  # four times the same L1
    assert "(0, 0, 4, 4), (2, 1, 6, 5)" in here["iou"]  # sides of 4; a hull of 6 × 5, 4 of it empty
    assert 6 * 5 - (16 + 16 - 2 * 3) == 4
    assert "truth = torch.tensor([0.2, 0.5, 0.2, 0.3])" in here["slide"]  # apart from 0.2 on
    assert "torch.linspace(0, 0.6, 61)" in here["slide"] and "[40]" in here["slide"]  # at 0.4
    assert "[[0.35, 0.5, 0.2, 0.3], [0.75, 0.5, 0.2, 0.3]]" in here["two"]
    assert (
        "[[0.25, 0.5, 0.2, 0.3], [0.42, 0.5, 0.2, 0.3]]" in here["two"]
        and "steps=200" in here["two"]
    )
    assert "torch.empty(1, 3, 800, 1056)" in here["shapes"]
    assert "padded_sine_2d(torch.ones(1, 16, 16, dtype=torch.bool),\n" in here["sines"]
    assert "64)[0]" in here["sines"] and here["sines-figure"].count('est":') == 3  # and one slower
    assert "items[:4]" in here["found-shown"] and "def sure(objects, least=0.5):" in here["found"]
    assert "if score >= 0.5]" in here["told"]
    edges = constant("detr", "honest", "EDGES")
    assert edges[2:4] == (0.4, 0.6) and edges[-2] == 0.99
    assert "torch.tensor([1, 1, 0, 1, 0])" in here["ap-five"] and "/ 4" in here["ap-five"]
    right, found = [1, 1, 0, 1, 0], 0
    best = []
    for n, one in enumerate(right, 1):
        found += one
        best.append((found / 4, found / n))
    assert best[1] == (0.5, 1.0) and best[3] == (0.75, 0.75)  # 1 up to 0.5, 0.75 up to 0.75
    assert "for threshold in (0.5, 0.75, 0.9):" in here["ap-cat-run"]
    assert "best from here on, IoU" in here["ap-cat-drawn"]
    assert "find(picture, least=0.3)" in here["find-run"]
