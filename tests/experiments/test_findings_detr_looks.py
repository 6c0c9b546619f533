"""What the page "DETR" says of where the kept detector looks, and of how sure it is."""

from pathlib import Path

import pytest
import torch

from coursekit.analysis import capture
from coursekit.analysis.detector_attention import cell_middles, object_lifts, ring_shares
from coursekit.boxes.geometry import Objects, iou, to_corners
from coursekit.data.scenes import NAMES, PHOTOS, scenes
from coursekit.objectives.matcher import HungarianMatcher
from coursekit.training.detection import collate_objects, detection_items
from coursekit.training.records import result, trained
from coursetools.notebooks.imports import read_notebook

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "detr.ipynb"


@pytest.fixture(scope="module")
def seen():
    """The first 100 test scenes, what the detector says of them, and its weights."""
    settings = result("detector")["settings"]
    items = detection_items(scenes("test", 100, size=settings["size"], turned=settings["turned"]))
    with torch.no_grad():
        recording = capture(trained("detector"), collate_objects(items).images)
    return items, recording, [to_corners(objects.boxes) for _, objects in items]


def test_the_encoder_separates_objects(seen):
    """From the middle of an object: to itself more than evenly, to other objects less."""
    _, recording, corners = seen
    weights = recording.weights["encoder.self_attention"][-1].mean(dim=1)  # (B, S, S)
    grid = recording.output.grid
    lifts = torch.cat([object_lifts(w, b, grid) for w, b in zip(weights, corners)])
    own, others, rest = lifts.nanmean(dim=0)
    assert own > 1.5 * rest and others < 0.9 * rest and 0.9 < rest < 1.1
    assert (lifts[:, 0] > lifts[:, 2]).double().mean() > 0.7


def test_where_a_query_looks(seen):
    """At its object and just around it; at the middle more than at the extremities."""
    items, recording, corners = seen
    said = recording.output
    cross = recording.weights["decoder.cross_attention"][-1].mean(dim=1)  # (B, Q, S)
    matched = HungarianMatcher()(said.logits, said.boxes, [objects for _, objects in items])
    rings = [ring_shares(cross[n, q], corners[n], said.grid) for n, q in enumerate(matched)]
    told, cells = (torch.cat(one).mean(dim=0) for one in zip(*rings))
    lift = told / cells
    assert lift[0] > lift[1] > lift[2] > 1 > lift[3]
    assert told[:2].sum() > 0.35 and cells[:2].sum() < 0.08
    middles = cell_middles(said.grid, corners[0])
    aside = torch.cat(
        [cross[n, q] @ middles - (corners[n][:, :2] + corners[n][:, 2:]) / 2
         for n, q in enumerate(matched)]
    )  # fmt: skip
    assert (aside.mean(dim=0) > 0.2 / 8).all()  # too far right and down, in parts of the picture
    moved = [
        ring_shares(cross[n, q], corners[n] + 0.5 / 8, said.grid) for n, q in enumerate(matched)
    ]
    told, cells = (torch.cat(one).mean(dim=0) for one in zip(*moved))
    assert (told / cells)[0] > 1.2 * lift[0] and (told / cells)[0] > (told / cells)[1]


def test_precision_by_decoder_layer():
    """The second layer is better; suppression helps the first more, and harms the second."""
    first, second = result("detector")["tables"]["layers"]
    assert second["AP"] > first["AP"] + 0.01 and second["AP50"] > first["AP50"] + 0.01
    gain = [row["AP50, suppressed"] - row["AP50"] for row in (first, second)]
    assert gain[0] > 0.01 > gain[1] > 0
    assert second["AP, suppressed"] < second["AP"] - 0.003


def test_a_tenth_of_the_odds_is_an_honest_score(seen):
    """The weight 0.1 of "no object" makes odds ten times too large, and that is what is found."""
    items, recording, corners = seen
    said = recording.output
    scores, labels = said.logits.softmax(dim=-1)[..., :-1].max(dim=-1)  # 2 × (B, Q)
    told, right = [], []
    for n, (_, objects) in enumerate(items):
        boxes, free = to_corners(said.boxes[n]), torch.ones(len(objects), dtype=torch.bool)
        for q in scores[n].argsort(descending=True).tolist():
            overlap = iou(boxes[q], corners[n]) * (objects.labels == labels[n, q]) * free  # (n,)
            told.append(scores[n, q].item())
            right.append(bool(overlap.max() >= 0.5))
            free[overlap.argmax()] &= not right[-1]
    told, right = torch.tensor(told), torch.tensor(right).double()
    odds = 0.1 * told / (1 - told)
    honest = odds / (1 + odds)
    for low, high in ((0.4, 0.8), (0.8, 0.97), (0.97, 1.0)):
        some = (told >= low) & (told < high)
        assert some.sum() > 50
        assert (honest[some].mean() - right[some].mean()).abs() < 0.12
    assert (
        told[(told > 0.4) & (told < 0.8)].mean() > right[(told > 0.4) & (told < 0.8)].mean() + 0.3
    )


def test_each_query_has_its_part_of_the_picture_and_no_kind_of_its_own():
    said = result("detector")["tables"]["boxes"]
    query, kind = torch.tensor(said["query"]), torch.tensor(said["label"])  # 2 × (k,)
    box = torch.tensor(said["box"])  # (k, 4)
    spread = box[:, :2].var(dim=0, correction=0)
    within = torch.stack([box[query == q][:, :2].var(dim=0, correction=0) for q in range(12)])
    shares = query.bincount(minlength=12) / len(query)
    assert (1 - (shares[:, None] * within).sum(dim=0) / spread > 0.85).all()
    common = sum(int(kind[query == q].bincount().max()) for q in range(12)) / len(query)
    assert common < 0.25 and len(NAMES) == len(kind.unique())


def test_the_emoji_of_a_cat_is_found_and_a_real_cat_in_its_place_is_not():
    """The cells of the notebook, whose numbers the page glues: same place, same size."""
    cells = {cell["id"]: cell["source"] for cell in read_notebook(NOTEBOOK)["cells"]}
    names = {"torch": torch, "iou": iou, "to_corners": to_corners, "Objects": Objects}
    names |= {"scenes": scenes, "KINDS": NAMES, "detector": trained("detector"), "SIZE": 64}
    assert result("detector")["settings"]["size"] == 64
    for cell in ("found", "find", "find-run", "pasted", "pasted-run"):
        exec(cells[cell], names)
    assert names["cats_found"]["the emoji"] > 95 and names["cats_found"]["a real cat"] == 0
    assert "chelsea.png" in cells["find-run"] and "chelsea.png" not in PHOTOS["train"]
    assert "chelsea.png" not in PHOTOS["test"]  # nor a background of these scenes
