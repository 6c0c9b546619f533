"""What "Attention kernels" says about lookups, regression, score functions and convex hulls.

Everything comes from the cells of its notebook. The cells that train translators assert what the
page says about them (`bahdanau-*-shown`) and are executed with the notebook.
"""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks/kernels.ipynb"
CELLS = (
    "imports", "lookup-by-hand", "regression-data", "regression-three", "regression-underflow",
    "regression-distance-by-hand", "six-planes", "six-relations",
)  # fmt: skip
LATER = ("self-by-hand", "properties-hull", "properties-order", "properties-linear")


def perform(names: tuple[str, ...]) -> SimpleNamespace:
    """Execute cells of the notebook as they are, without its display."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = {cell["id"]: "".join(cell["source"]) for cell in cells}
    given: dict[str, Any] = {}
    for name in names:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code[name], given)
        given["glue"] = lambda *_: None
    return SimpleNamespace(**given)


@pytest.fixture(scope="module")
def run() -> Any:
    first, lookup = perform(CELLS), perform(CELLS[:2])
    first.later = perform(("imports", *LATER))
    first.lookup, first.errors_of = lookup, list(first.errors.values())
    first.nearest = first.y[(first.query[:, None] - first.x).abs().argmin(dim=1)]
    first.wave = first.truth(first.query)
    return first


def width(values: Any) -> float:
    return float(values.max() - values.min())


def peaks_inside(plane: Any) -> int:
    peaks = plane == F.max_pool2d(plane[None], 5, stride=1, padding=2)[0]
    return int(peaks[2:-2, 2:-2].sum())


def key_of(run: Any, name: str) -> list[float]:
    return [round(float(x), 6) for x in run.grid[run.planes[name].argmax()]]


def away(run: Any, name: str) -> float:
    later = run.later
    return float((later.outputs[name] - later.values.mean(dim=0)).norm(dim=-1).mean())


CLAIMS = {
    "query 1 is sent to the books on language, and even gardening gets some weight":
        lambda r: ((r.lookup.answers[0] - r.lookup.values).norm(dim=-1).argmin() == 2
                   and 0 < r.lookup.weights[0].min() == r.lookup.weights[0, 5]),
    "query 2 is between speech and statistics, and its answer is far from every book":
        lambda r: (set(r.lookup.weights[1].topk(2).indices.tolist()) == {1, 3}
                   and (r.lookup.answers[1] - r.lookup.values).norm(dim=-1).min() > 2),
    "the code agrees with the fraction to the last digits":
        lambda r: r.difference < 1e-12,
    "the middle bandwidth is best":
        lambda r: r.errors_of[1] < min(r.errors_of[0], r.errors_of[2]) / 2,
    "the narrow one copies the nearest sample with its noise":
        lambda r: ((r.predictions[0.03] - r.nearest).abs().median() < 0.05
                   < 0.2 < (r.predictions[0.3] - r.nearest).abs().median()),
    "the wide one gives almost the same answer everywhere":
        lambda r: width(r.predictions[3.0]) < width(r.wave) / 5 < width(r.predictions[0.3]),
    "with the plain fraction predictions are lost, with the softmax none":
        lambda r: r.lost > 50 and not r.kept.isnan().any(),
    "the Gaussian has its peak at the query, the dot products have theirs at the border":
        lambda r: (key_of(r, "gaussian") == [1.5, 0.5] and peaks_inside(r.planes["gaussian"]) == 1
                   and key_of(r, "dot") == key_of(r, "scaled dot") == [3.0, 3.0]),
    "a general kernel turns the lines: the best key is to the left of the query":
        lambda r: key_of(r, "general (quarter turn)") == [-3.0, 3.0],
    "random additive weights rise to the border, with no peak inside":
        lambda r: (peaks_inside(r.planes["additive (random)"]) == 0
                   and 3.0 in map(abs, key_of(r, "additive (random)"))),
    "no weight under the cosine is more than e² times another":
        lambda r: float(r.ratio) <= torch.e**2,
    "equally long keys: Gaussian and dot give identical weights; others do not":
        lambda r: r.same < 1e-6 < 0.1 < r.other,
    "the raw scores are symmetric, the weights are not":
        lambda r: (r.later.raw.equal(r.later.raw.T)
                   and (r.later.W - r.later.W.T).abs().max() > 0.1),
    "Sam gives more weight to I than to itself; I and am prefer themselves":
        lambda r: r.later.W.argmax(dim=1).tolist() == [0, 1, 0],
    "long queries reach the corners, the cosine stays near the middle":
        lambda r: away(r, "cosine") < away(r, "dot") < away(r, "dot, queries × 8"),
    "keys shuffled without their values change the answer":
        lambda r: r.later.broken > 0.1,
    "double the input and the output is not doubled; other words give another A":
        lambda r: ((r.later.twice - 2 * r.later.once).abs().max() > 0.1
                   < (r.later.A_other - r.later.A).abs().max()),
}  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_the_page_says(run, claim):
    assert CLAIMS[claim](run)
