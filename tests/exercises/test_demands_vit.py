"""Each demand of assignment 17 has a case; how that is looked at stands in `demands.py`."""

from __future__ import annotations

import torch
from demands import at, becomes, edit, every, rough, single, spoils


def rough_scores(answer):
    """Compute in single precision, and return the dtype that is asked for."""

    def call(features, labels, unseen, *more):
        found, scores = answer(features.float(), labels, unseen.float(), *more)
        return found, scores.to(features.dtype)

    return call


def beyond(answer):
    """Go on in a straight line beyond the first and the last centre."""

    def mixture(few, many):
        centres = (torch.arange(many) + 0.5) * few / many - 0.5
        before = centres.floor().clamp(0, max(few - 2, 0)).long()
        behind = (before + 1).clamp(max=few - 1)
        share = centres - before
        eye = torch.eye(few)
        return (1 - share)[:, None] * eye[before] + share[:, None] * eye[behind]

    def call(table, old, new):
        places = table[1:].unflatten(0, old)
        down, across = (mixture(few, many).to(table.dtype) for few, many in zip(old, new))
        made = torch.einsum("rR,lL,RLD->rlD", down, across, places)
        return torch.cat([table[:1], made.flatten(0, 1)])

    return call


ORDER = "0, 2, 4, 3, 5, 1)"
FITS = "R % patch or L % patch"
REFUSED = "raise a `ValueError`"
NAMED = "whose sentence names three numbers, the patch, the rows and the columns"
GRADIENTS = "All three learn, so all three get their gradients"
LEARNED = "Leave them as they are"
GIVEN = "Leave what you were given as it is"
NEIGHBOURS = "only the neighbours of a new centre count"
OTHERS = "must not depend on which others are looked at with it"
FEW = "There may be more features than labelled pictures or fewer"
KEPT = "which is no place in the picture and stays as it is"

DEMANDS = [
    ("cut", "the first row of patches from left to right", edit(ORDER, "0, 4, 2, 3, 5, 1)")),
    ("cut", "its pixels are in the same order, row by row", edit(ORDER, "0, 2, 4, 5, 3, 1)")),
    ("cut", "the C numbers of one pixel stand side by side", edit(ORDER, "0, 2, 4, 1, 3, 5)")),
    ("cut", "in the order of the channels", edit(ORDER, ORDER + ".flip(-1)")),
    ("cut", "$R$ and $L$ need not be equal", edit(FITS, f"{FITS} or R != L")),
    ("cut", "Where $P$ does not divide one of them, or neither", edit(FITS, "R % patch")),
    ("cut", "Where $P$ does not divide one of them, or neither", edit(FITS, "L % patch")),
    (
        "cut",
        "Where $P$ does not divide one of them, or neither",
        edit(FITS, "R % patch and L % patch"),
    ),
    ("cut", REFUSED, edit("ValueError", "RuntimeError")),
    ("cut", "nothing is dropped", edit(FITS, "patch > R or patch > L")),
    ("cut", NAMED, edit("patches of {patch}", "patches")),
    ("cut", NAMED, edit("{R} x {L}", "{R}")),
    ("cut", NAMED, edit("{R} x {L}", "{L}")),
    ("cut", "Return the dtype of the pictures", single),
    ("cut", "whole numbers too", edit("B, C, R, L =", "images = images + 0.0\n    B, C, R, L =")),
    ("cut", "whole numbers too", becomes(torch.Tensor.int)),
    ("cut", "let gradients through", becomes(torch.Tensor.detach)),
    ("cut", "Leave the pictures as they are", spoils(0)),
    ("prepare_tokens", "and is the same for all pictures", edit("class_token.e", "patches[:1].e")),
    ("prepare_tokens", "the class token's first", edit("+ positions", "+ positions.roll(-1, 0)")),
    (
        "prepare_tokens",
        "for each picture the class token, then its patches",
        edit("[first, patches]", "[patches, first]"),
    ),
    (
        "prepare_tokens",
        "each token with its position added",
        edit("+ positions", "+ torch.cat([0 * positions[:1], positions[1:]])"),
    ),
    ("prepare_tokens", "and nothing else", becomes(lambda found: found * found.shape[-1] ** 0.5)),
    ("prepare_tokens", "Return the dtype of the patches", single),
    ("prepare_tokens", "Return the dtype of the patches", rough),
    ("prepare_tokens", GRADIENTS, edit("[first, patches]", "[first, patches.detach()]")),
    ("prepare_tokens", GRADIENTS, edit("class_token.e", "class_token.detach().e")),
    ("prepare_tokens", GRADIENTS, edit("+ positions", "+ positions.detach()")),
    *(("prepare_tokens", LEARNED, spoils(place)) for place in range(3)),
    (
        "attention_distance",
        "a straight line",
        edit(".square().sum(dim=-1).sqrt()", ".abs().sum(-1)"),
    ),
    (
        "attention_distance",
        "neither its own row",
        edit("far.mean(dim=-1)", "far.sum(-1) / (number.numel() + 1)"),
    ),
    (
        "attention_distance",
        "nor what the patches give to it",
        edit("seen / seen.sum(dim=-1, keepdim=True)", "seen"),
    ),
    (
        "attention_distance",
        "how many patches in a row",
        edit("rows, columns = grid", "columns, rows = grid"),
    ),
    (
        "attention_distance",
        "they need not be equal",
        edit("rows, columns = grid", "rows, columns = grid\n    assert rows == columns"),
    ),
    ("attention_distance", "its distance in pixels", edit("patch * ", "1 * ")),
    ("attention_distance", "for each head", becomes(lambda found: found.mean().expand_as(found))),
    ("attention_distance", "Return (H,)", becomes(lambda found: found[:, None])),
    ("attention_distance", "Return (H,)", becomes(torch.Tensor.tolist)),
    ("attention_distance", "in the dtype of the weights", single),
    ("attention_distance", "in the dtype of the weights", rough),
    ("attention_distance", "in the dtype of the weights", becomes(torch.Tensor.double)),
    (
        "attention_distance",
        "What a patch gives to itself counts",
        edit("weights[:, 1:, 1:]", "weights[:, 1:, 1:] * (1 - torch.eye(len(number)))"),
    ),
    ("attention_distance", "Leave the weights as they are", spoils(0)),
    (
        "attention_distance",
        "Leave the weights as they are",
        edit("shares = seen / ", "shares = seen\n    shares /= "),
    ),
    ("resize_places", "with $r$ rows in the new grid, the centre", edit("=False", "=True")),
    ("resize_places", "in a straight line", edit("bilinear", "bicubic")),
    ("resize_places", "beyond the first or the last centre it is that row's own", beyond),
    ("resize_places", KEPT, edit("[first, x]", "[0 * first, x]")),
    ("resize_places", KEPT, edit("[first, x]", "[x.mean(dim=0, keepdim=True), x]")),
    ("resize_places", KEPT, becomes(lambda found: found[1:])),
    (
        "resize_places",
        "the places of the old grid, row by row",
        edit("*old, D).permute(0, 3, 1, 2)", "old[1], old[0], D).permute(0, 3, 2, 1)"),
    ),
    ("resize_places", "in the same order", edit("x.permute(0, 2, 3, 1)", "x.permute(0, 3, 2, 1)")),
    ("resize_places", "in the same order", edit("[first, x]", "[x, first]")),
    ("resize_places", "and in the same dtype", single),
    ("resize_places", "and in the same dtype", rough),
    ("resize_places", "No grid need be a square", edit("size=new", "size=(new[0], new[0])")),
    ("resize_places", "No grid need be a square", edit("*old, D)", "old[0], old[0], D)")),
    (
        "resize_places",
        "more patches or fewer",
        edit("first, places", "assert old[0] * old[1] <= new[0] * new[1]\n    first, places"),
    ),
    ("resize_places", NEIGHBOURS, edit('mode="bilinear", align_corners=False', 'mode="area"')),
    ("resize_places", "nothing is smoothed first", edit("=False", "=False, antialias=True")),
    (
        "resize_places",
        "equally many in another shape",
        edit(
            "first, places",
            "if old[0] * old[1] == new[0] * new[1]:\n        return table\n    first, places",
        ),
    ),
    ("resize_places", "Leave the table as it is", spoils(0)),
    ("few_shot", "with $\\mu$ taken off", edit("= features.mean(dim=0)", "= 0 * features[0]")),
    (
        "few_shot",
        "not 0 and 1",
        edit(
            "2.0 * F.one_hot(labels, classes).to(x.dtype) - 1.0",
            "F.one_hot(labels, classes).to(x.dtype)",
        ),
    ),
    ("few_shot", "$\\bar y_k$ the mean", edit(" + y.mean(dim=0)", "")),
    ("few_shot", "sums of squares over all entries", edit("ridge * eye", "len(x) * ridge * eye")),
    ("few_shot", "The number $\\lambda > 0$, the *ridge*", edit("+ ridge * eye", "+ 1e-9 * eye")),
    ("few_shot", "the largest one", edit("argmax", "argmin")),
    ("few_shot", "ridge=1.0", edit("ridge=1.0", "ridge=0.9")),
    (
        "few_shot",
        FEW,
        edit("middle = ", "assert len(features) >= features.shape[1]\n    middle = "),
    ),
    (
        "few_shot",
        FEW,
        edit("middle = ", "assert len(features) <= features.shape[1]\n    middle = "),
    ),
    (
        "few_shot",
        "a class may have no picture among the few",
        edit("(labels, classes)", "(labels)"),
    ),
    (
        "few_shot",
        "a class may have no picture among the few",
        edit("middle = ", "assert len(labels.unique()) == classes\n    middle = "),
    ),
    ("few_shot", "Return a tuple", becomes(list)),
    ("few_shot", "(M,) and int64", becomes(lambda found: (found[0].int(), found[1]))),
    ("few_shot", "(M,) and int64", becomes(lambda found: (found[0][:, None], found[1]))),
    ("few_shot", "are the scores $s$", at(1, lambda s: s.softmax(dim=-1))),
    ("few_shot", "in the dtype of the features", at(1, torch.Tensor.float)),
    ("few_shot", "in the dtype of the features", at(1, torch.Tensor.double)),
    ("few_shot", "in the dtype of the features", rough_scores),
    ("few_shot", OTHERS, edit("(unseen - middle)", "(unseen - unseen.mean(dim=0))")),
    ("few_shot", OTHERS, edit("features.mean(dim=0)", "torch.cat([features, unseen]).mean(dim=0)")),
    *(("few_shot", GIVEN, spoils(place)) for place in range(3)),
]


test_whoever_forgets_a_demand_fails_a_case = every(DEMANDS)
