"""Each demand of assignment 18 has a case; how that is looked at stands in `demands.py`."""

from __future__ import annotations

import torch
from demands import at, becomes, each, edit, every, rough, single, spoils


def rough_pair(answer):
    """Compute in single precision and return two tensors of the dtype that is asked for."""

    def call(first, second, *given, **named):
        found = answer(first.float(), second.float(), *given, **named)
        return tuple(x.to(first.dtype) for x in found)

    return call


def colourful(answer):
    """Bring each of three channels to a scale of its own, where there are three."""

    def call(patches, painted, eps=1e-6):
        if patches.shape[-1] % 3 or patches.shape[-1] == 3:
            return answer(patches, painted, eps)
        split = [x.unflatten(-1, (-1, 3)).flatten(0, 1).mT for x in (patches, painted)]
        found = answer(*split, eps)  # (B·N, 3, pixels) each
        return tuple(x.mT.reshape(patches.shape) for x in found)

    return call


LEFT = "Leave what you were given as it is"
FINITE = "neither the loss nor a gradient may become infinite or nan"
COUNTED = "share = 1 - (bottom - top) * (right - left) / (H * W)"

DEMANDS = [
    # hide_patches
    ("hide_patches", "the smallest first", edit("dim=1)  # (B, N), which", "dim=1).flip(1)  #")),
    ("hide_patches", "They may be any numbers", edit("noise.argsort", "noise.abs().argsort")),
    ("hide_patches", "They may be any numbers", edit("noise.argsort", "noise.clamp(0).argsort")),
    ("hide_patches", "(B, N), floating point", edit("noise.argsort", "noise.float().argsort")),
    ("hide_patches", "0 or more", edit("N = noise", "assert ratio > 0\n    N = noise")),
    ("hide_patches", "computed just so", edit("int(N * (1 - ratio))", "N - int(N * ratio)")),
    ("hide_patches", "is rounded down", edit("int(N * (1 - ratio))", "round(N * (1 - ratio))")),
    ("hide_patches", "it is 1 or more", edit("K = int", "K = 1 + int")),
    ("hide_patches", "it is 1 or more", edit("K = ", "assert N * (1 - ratio) >= 2\n    K = ")),
    ("hide_patches", "Return a tuple", becomes(list)),
    ("hide_patches", "`keep`, (B, K) and int64", at(0, torch.Tensor.int)),
    ("hide_patches", "the patches that stay, counted from 0", at(0, lambda x: x + 1)),
    ("hide_patches", "in the order of the shuffled list", at(0, lambda x: x.sort().values)),
    ("hide_patches", "(B, N) and boolean", at(1, torch.Tensor.long)),
    ("hide_patches", "(B, N) and boolean", at(1, torch.Tensor.float)),
    (
        "hide_patches",
        "boolean, in the order of the image",
        at(1, lambda x: x.sort(dim=1).values),
    ),
    ("hide_patches", "True for each patch that is hidden", at(1, torch.logical_not)),
    ("hide_patches", "`restore`, (B, N) and int64", at(2, torch.Tensor.int)),
    ("hide_patches", "at which place of the shuffled list", at(2, lambda x: x.argsort(dim=1))),
    ("hide_patches", "stands, counted from 0", at(2, lambda x: x + 1)),
    (
        "hide_patches",
        "Each image has a mask of its own",
        edit("noise.argsort(dim=1)", "noise[-1:].argsort(dim=1).expand_as(noise)"),
    ),
    ("hide_patches", "Draw nothing yourself", edit("noise.a", "torch.rand_like(noise).a")),
    ("hide_patches", "leave `noise` as it is", spoils(0)),
    # own_scale
    ("own_scale", "all its pixels with all their channels", colourful),
    ("own_scale", "the channels do not get their own", colourful),
    ("own_scale", "divided by $M - 1$", edit("True) + eps", "True, correction=0) + eps")),
    (
        "own_scale",
        "Each patch has one $m$ and one $s$",
        edit("patches.mean(dim=-1, k", "patches.mean(dim=(1, 2), k"),
    ),
    (
        "own_scale",
        "Each patch has one $m$ and one $s$",
        edit("patches.var(dim=-1, k", "patches.var(dim=(1, 2), k"),
    ),
    ("own_scale", "with the same $s$", edit("painted * spread", "painted * (spread**2 - eps)**.5")),
    ("own_scale", "of the true patch back", edit("painted * spread + mean", "painted * 1")),
    ("own_scale", "eps=1e-6", edit("eps=1e-6", "eps=1e-5")),
    ("own_scale", "with $M \\ge 2$", edit("mean = ", "patches[..., 2]\n    mean = ")),
    (
        "own_scale",
        "from 0 to 255",
        edit("patches.var(dim=-1, keepdim=True)", "patches.half().var(-1, keepdim=True).float()"),
    ),
    ("own_scale", "Return a tuple", becomes(list)),
    ("own_scale", "in the dtype of `patches`", each(torch.Tensor.float)),
    ("own_scale", "in the dtype of `patches`", rough_pair),
    ("own_scale", "Nothing is cut off", at(1, lambda x: x.clamp(0, 1))),
    ("own_scale", "Nothing is cut off", at(1, lambda x: x.clamp(min=0))),
    ("own_scale", "Nothing is cut off", at(1, lambda x: x.clamp(max=255))),
    ("own_scale", "its target is 0", edit(" + eps", "")),
    (
        "own_scale",
        "take the mean off before you square",
        edit(
            "patches.var(dim=-1, keepdim=True)",
            "((patches**2).mean(-1, keepdim=True) - mean**2)"
            ".mul(patches.shape[-1] / (patches.shape[-1] - 1)).clamp(min=0)",
        ),
    ),
    ("own_scale", LEFT, spoils(0)),
    ("own_scale", LEFT, spoils(1)),
    # paint_loss
    ("paint_loss", "MAE counts the hidden ones alone", edit("error * hidden", "error")),
    ("paint_loss", "normalised=True", edit("normalised=True", "normalised=False")),
    ("paint_loss", "with $M \\ge 2$", edit("target = pa", "patches[..., 2]\n    target = pa")),
    ("paint_loss", "If `normalised` is True", edit("if normalised:", "if False:")),
    ("paint_loss", "with an eps of $10^{-6}$", edit("1e-6", "1e-5")),
    ("paint_loss", "with an eps of $10^{-6}$", edit("1e-6", "1e-7")),
    ("paint_loss", "if it is False", edit("if normalised:", "if True:")),
    ("paint_loss", "a tensor without axes", becomes(lambda found: found[None])),
    ("paint_loss", "a tensor without axes", becomes(torch.Tensor.item)),
    ("paint_loss", "in the dtype of `predicted`", single),
    ("paint_loss", "in the dtype of `predicted`", rough),
    (
        "paint_loss",
        "Each hidden patch of the batch counts alike",
        edit(
            "(error * hidden).sum() / hidden.sum().clamp(min=1)",
            "((error * hidden).sum(1) / hidden.sum(1).clamp(min=1)).mean()",
        ),
    ),
    (
        "paint_loss",
        "images may hide different numbers of patches",
        edit("error = ", "assert len(set(hidden.sum(1).tolist())) == 1\n    error = "),
    ),
    (
        "paint_loss",
        "and some none",
        edit("error = ", "assert hidden.any(1).all() or not hidden.any()\n    error = "),
    ),
    ("paint_loss", "$L$ is 0", edit(".clamp(min=1)", "")),
    (
        "paint_loss",
        "gets a gradient at the hidden patches",
        edit("(predicted -", "(predicted.data -"),
    ),
    (
        "paint_loss",
        "and zeros elsewhere",
        edit(".clamp(min=1)", ".clamp(min=1) + (predicted - predicted.data)[~hidden].sum()"),
    ),
    (
        "paint_loss",
        "it is compared as it is",
        edit("error = ", "predicted = predicted - predicted.mean(-1, keepdim=True)\n    error = "),
    ),
    *(("paint_loss", LEFT, spoils(n)) for n in range(3)),
    # distil
    (
        "distil",
        "a mean over the $B$ images",
        edit("(class_logits, labels)", "(class_logits, labels, reduction='sum')"),
    ),
    (
        "distil",
        "the teacher's decision is a second label",
        edit("teacher_logits.argmax(dim=-1)", "labels"),
    ),
    (
        "distil",
        "A temperature $T$ makes both distributions",
        edit("(distil_logits / temperature)", "distil_logits"),
    ),
    (
        "distil",
        "A temperature $T$ makes both distributions",
        edit("(teacher_logits.detach() / temperature)", "teacher_logits.detach()"),
    ),
    ("distil", "\\frac1B \\sum_{b=1}^{B} \\mathrm{KL}", edit("gap.mean()", "gap.sum()")),
    (
        "distil",
        "The teacher's $p$ stands in front",
        edit("teacher.exp() * (teacher - student)", "student.exp() * (student - teacher)"),
    ),
    ("distil", "the factor makes up for that", edit("temperature**2 * gap", "gap")),
    ("distil", "temperature=None", edit("temperature=None", "temperature=1.0")),
    ("distil", "weight=0.5", edit("weight=0.5", "weight=0.1")),
    (
        "distil",
        "a plain number from 0 to 1",
        edit("truth = ", "assert weight < 1\n    truth = "),
    ),
    (
        "distil",
        "a plain number from 0 to 1",
        edit("truth = ", "weight = weight or 0.5\n    truth = "),
    ),
    (
        "distil",
        "a number above 0, it is soft",
        edit("if temperature is None:", "if temperature is None or temperature < 1:"),
    ),
    (
        "distil",
        "a number above 0, it is soft",
        edit("if temperature is None:", "if not isinstance(temperature, float):"),
    ),
    ("distil", "a tensor without axes", becomes(lambda found: found[None])),
    ("distil", "a tensor without axes", becomes(torch.Tensor.item)),
    ("distil", "in the dtype of the logits", single),
    (
        "distil",
        "in the dtype of the logits",
        lambda answer: (
            lambda a, b, c, *more: answer(a.float(), b.float(), c.float(), *more).to(a.dtype)
        ),
    ),
    ("distil", "Both heads get a gradient", edit("(class_logits, l", "(class_logits.detach(), l")),
    (
        "distil",
        "Both heads get a gradient",
        edit("(distil_logits, t", "(distil_logits.detach(), t"),
    ),
    ("distil", "Both heads get a gradient", edit("(distil_logits /", "(distil_logits.detach() /")),
    (
        "distil",
        "each from its own part of the loss alone",
        edit(
            "truth = ",
            "distil_logits = distil_logits + class_logits - class_logits.detach()\n    truth = ",
        ),
    ),
    (
        "distil",
        "its logits get no gradient, even if they could have one",
        edit("teacher_logits.detach()", "teacher_logits"),
    ),
    (
        "distil",
        "its logits get no gradient, even if they could have one",
        edit(
            "taught = F.cross",
            "truth = truth + (teacher_logits - teacher_logits.detach()).sum()\n"
            "        taught = F.cross",
        ),
    ),
    (
        "distil",
        FINITE,
        edit(
            "(distil_logits / temperature).log_softmax(dim=-1)",
            "(distil_logits / temperature).softmax(dim=-1).log()",
        ),
    ),
    (
        "distil",
        FINITE,
        edit(
            "truth = F.cross_entropy(class_logits, labels)",
            "truth = F.nll_loss(class_logits.softmax(dim=-1).log(), labels)",
        ),
    ),
    (
        "distil",
        FINITE,
        edit(
            "taught = F.cross_entropy(distil_logits, ",
            "taught = F.nll_loss(distil_logits.softmax(dim=-1).log(), ",
        ),
    ),
    (
        "distil",
        FINITE,
        edit(
            "(teacher - student)",
            "((teacher_logits.detach() / temperature).softmax(dim=-1).log() - student)",
        ),
    ),
    *(("distil", LEFT, spoils(n)) for n in range(4)),
    # mix_pictures
    (
        "mix_pictures",
        "the same for every pixel of the batch",
        edit(
            "mixed = share * images + (1 - share) * theirs",
            "own = torch.linspace(0, 2 * share, len(images)).reshape(-1, 1, 1, 1).to(images.dtype)"
            "\n        mixed = own * images + (1 - own) * theirs",
        ),
    ),
    (
        "mix_pictures",
        "over the same place of the picture",
        edit("= theirs[:, :, t", "= theirs.flip(3)[:, :, t"),
    ),
    ("mix_pictures", "rows up and down from its centre", edit("h, w = int(H", "h, w = int(W")),
    (
        "mix_pictures",
        "up to, but not including, $r + h$",
        edit("min(row + h, H)", "min(row + h + 1, H)"),
    ),
    (
        "mix_pictures",
        "up to, but not including, $c + w$",
        edit("min(column + w, W)", "min(column + w + 1, W)"),
    ),
    (
        "mix_pictures",
        "What would lie outside of the picture is cut off",
        edit("max(row - h, 0)", "row - h"),
    ),
    (
        "mix_pictures",
        "What would lie outside of the picture is cut off",
        edit("max(column - w, 0)", "column - w"),
    ),
    (
        "mix_pictures",
        "What would lie outside of the picture is cut off",
        edit("min(row + h, H)", "row + h"),
    ),
    (
        "mix_pictures",
        "What would lie outside of the picture is cut off",
        edit("min(column + w, W)", "column + w"),
    ),
    (
        "mix_pictures",
        "the box does not move",
        edit("top, bottom = ", "row = min(max(row, h), H - h)\n        top, bottom = "),
    ),
    (
        "mix_pictures",
        "the box does not move",
        edit("top, bottom = ", "column = min(max(column, w), W - w)\n        top, bottom = "),
    ),
    ("mix_pictures", "it is counted anew", edit(COUNTED, "pass")),
    ("mix_pictures", "it is counted anew", edit(COUNTED, "share = 1 - 4 * h * w / (H * W)")),
    ("mix_pictures", "the label is mixed as well", at(1, lambda x: x.round())),
    (
        "mix_pictures",
        "one-hot or mixed already",
        edit(
            "return ",
            "labels = labels.argmax(1)[:, None].eq(torch.arange(labels.shape[1])).to("
            "labels.dtype)\n    return ",
        ),
    ),
    (
        "mix_pictures",
        "the partner of image `b` is image `partner[b]`",
        edit("theirs = ", "partner = partner.argsort()\n    theirs = "),
    ),
    (
        "mix_pictures",
        "which may be `b` itself",
        edit("theirs = ", "assert (partner != torch.arange(len(partner))).all()\n    theirs = "),
    ),
    (
        "mix_pictures",
        "a tuple `(row, column)`",
        edit("row, column = centre", "column, row = centre"),
    ),
    (
        "mix_pictures",
        "counted from 0 and within the picture",
        edit("row, column = centre", "row, column = centre[0] - 1, centre[1]"),
    ),
    (
        "mix_pictures",
        "all images of the batch get a box there",
        edit("share = 1 - (b", "mixed[0] = images[0]\n        share = 1 - (b"),
    ),
    ("mix_pictures", "Return a tuple", becomes(list)),
    ("mix_pictures", "the shapes and dtypes of what you were given", each(torch.Tensor.float)),
    (
        "mix_pictures",
        "the shapes and dtypes of what you were given",
        lambda answer: (
            lambda x, y, *more: tuple(z.to(x.dtype) for z in answer(x.float(), y.float(), *more))
        ),
    ),
    *(("mix_pictures", LEFT, spoils(n)) for n in (0, 1, 3)),
    ("mix_pictures", LEFT, edit("images.clone()", "images")),
    (
        "mix_pictures",
        "each image is mixed with its partner as it was given",
        edit(
            "theirs = images[partner]",
            "theirs = images.clone()\n"
            "    for b, p in enumerate(partner.tolist()):\n"
            "        theirs[b] = theirs[p] if p < b else images[p]",
        ),
    ),
]


test_whoever_forgets_a_demand_fails_a_case = every(DEMANDS)
