"""Each demand of assignment 20 has a case; how that is looked at stands in `demands.py`."""

from __future__ import annotations

import torch
from demands import at, becomes, edit, every, rough, single, spoils


def for_each(change):
    """Change every entry of a list."""
    return becomes(lambda found: [change(x) for x in found])


def roughly(answer):
    """Compute in single precision and return losses of the dtype that is asked for."""

    def call(logits, boxes, labels, true, *more):
        given = logits.float(), boxes.float(), labels, [x.float() for x in true]
        return tuple(x.to(logits.dtype) for x in answer(*given, *more))

    return call


def before(name, line):
    """Edit the first statement of our answer: this line stands before it."""
    start = {
        "giou": "a_low, a_high = ",
        "pair_up": "likely = logits",
        "set_loss": "nothing = logits",
        "ap_50": "values = []",
        "places_2d": "half = width",
    }[name]
    return edit(start, f"{line}\n    {start}")


LEFT = "Leave what you were given as it is"
GREEDY = """table, queries = cost.detach().clone().numpy(), []
        for row in table:
            queries.append(int(row.argmin()))
            table[:, queries[-1]] = float("inf")
        queries = torch.tensor(queries, dtype=torch.int64).numpy()"""
SOLVED = "_, queries = linear_sum_assignment(cost.detach().numpy())"

DEMANDS = [
    # giou
    ("giou", "the area that both cover, divided by", edit("iou = both", "iou = either")),
    ("giou", "the share of $H$ that neither of the two covers", edit("(hull - e", "(either - e")),
    ("giou", "It grows", edit("iou - (hull", "iou + (hull")),
    (
        "giou",
        "their axes before the last are the same, or broadcast",
        before("giou", "assert a.shape == b.shape"),
    ),
    (
        "giou",
        "their axes before the last are the same, or broadcast",
        before("giou", "a = a[:, None] if a.shape == b.shape else a"),
    ),
    (
        "giou",
        "their axes before the last are the same, or broadcast",
        before("giou", "assert a.ndim > 1"),
    ),
    (
        "giou",
        "its centre x, its centre y, its width and its height",
        before("giou", "a, b = a[..., [0, 1, 3, 2]], b[..., [0, 1, 3, 2]]"),
    ),
    (
        "giou",
        "width and height are 0 or more",
        before("giou", "assert (a[..., 2:] > 0).all() and (b[..., 2:] > 0).all()"),
    ),
    (
        "giou",
        "Boxes may lie anywhere",
        edit("sides = ", "a_low, b_low = a_low.clamp(min=0), b_low.clamp(min=0)\n    sides = "),
    ),
    (
        "giou",
        "Boxes may lie anywhere",
        edit("sides = ", "a_high, b_high = a_high.clamp(max=1), b_high.clamp(max=1)\n    sides = "),
    ),
    ("giou", "in parts of an image or in pixels", before("giou", "assert a.max() < 20")),
    ("giou", "so add nothing to a divisor", edit("either.where(either > 0, 1)", "(either + 1e-7)")),
    ("giou", "so add nothing to a divisor", edit("hull.where(hull > 0, 1)", "(hull + 1e-7)")),
    ("giou", "so add nothing to a divisor", edit("where(either > 0, 1)", "clamp(min=1e-7)")),
    ("giou", "in the dtype of the boxes", single),
    ("giou", "in the dtype of the boxes", rough),
    ("giou", "Nothing is clipped", becomes(lambda found: found.clamp(min=0))),
    ("giou", "down to −1", becomes(lambda found: found.clamp(min=-0.9))),
    ("giou", "the IoU counts as 0", edit("either.where(either > 0, 1)", "either")),
    (
        "giou",
        "the IoU counts as 0",
        edit("iou = both / either.where(either > 0, 1)", "iou = (both / either).nan_to_num(1.0)"),
    ),
    ("giou", "nothing is taken off", edit("hull.where(hull > 0, 1)", "hull")),
    ("giou", "Both boxes get a gradient", before("giou", "a = a.detach()")),
    ("giou", "Both boxes get a gradient", before("giou", "b = b.detach()")),
    ("giou", LEFT, spoils(0)),
    ("giou", LEFT, spoils(1)),
    # pair_up
    (
        "pair_up",
        "gives each object a query of its own",
        edit(SOLVED, "queries = cost.detach().argmin(dim=1).numpy()"),
    ),
    ("pair_up", "chooses the pairs that are cheapest, all of them together", edit(SOLVED, GREEDY)),
    (
        "pair_up",
        "the softmax of the query's logits over all $C + 1$ classes",
        edit("logits.softmax(dim=-1)", "logits[..., :-1].softmax(dim=-1)"),
    ),
    (
        "pair_up",
        'of which the last is "no object"',
        edit("[:, labels[b]]", "[:, labels[b] + 1]"),
    ),
    (
        "pair_up",
        "The cost has the probability itself, not its logarithm",
        edit("logits.softmax", "logits.log_softmax"),
    ),
    ("pair_up", "the sum of the absolute differences", edit(".abs().sum(", ".abs().mean(")),
    ("pair_up", "the sum of the absolute differences", edit(".abs().sum(", ".square().sum(")),
    (
        "pair_up",
        "centre form as they are",
        edit(
            "(true[b][:, None] - boxes[b])",
            "(true[b][:, None] - boxes[b]).mul(torch.tensor([1, 1, 0.5, 0.5]))",
        ),
    ),
    ("pair_up", "weights=(1.0, 5.0, 2.0)", edit("(1.0, 5.0, 2.0)", "(1.0, 5.0, 1.0)")),
    ("pair_up", "weights=(1.0, 5.0, 2.0)", edit("(1.0, 5.0, 2.0)", "(1.0, 3.0, 2.0)")),
    ("pair_up", "weights=(1.0, 5.0, 2.0)", edit("(1.0, 5.0, 2.0)", "(2.5, 5.0, 2.0)")),
    (
        "pair_up",
        "Images may have different numbers of objects",
        before("pair_up", "assert len({len(one) for one in labels}) == 1"),
    ),
    ("pair_up", "some none", before("pair_up", "assert all(len(one) for one in labels)")),
    (
        "pair_up",
        "no image more than $Q$",
        before("pair_up", "assert all(len(one) < boxes.shape[1] for one in labels)"),
    ),
    ("pair_up", "plain numbers of 0 or more", before("pair_up", "assert min(weights) > 0")),
    ("pair_up", "Return a list with a tensor for each image", becomes(tuple)),
    ("pair_up", "Return a list with a tensor for each image", becomes(torch.cat)),
    ("pair_up", "(n,) and int64: for each object", for_each(torch.Tensor.int)),
    ("pair_up", "in the order of the objects, the number", for_each(lambda x: x.sort().values)),
    ("pair_up", "in the order of the objects, the number", for_each(torch.Tensor.argsort)),
    (
        "pair_up",
        "counted from 0 in each image",
        becomes(lambda found: [x + 10 * b for b, x in enumerate(found)]),
    ),
    ("pair_up", "it is an empty tensor", becomes(lambda found: [x for x in found if len(x)])),
    ("pair_up", "it is an empty tensor", for_each(lambda x: x if len(x) else None)),
    (
        "pair_up",
        "A query answers for objects of its own image only",
        edit(
            "overlap = giou(true[b][:, None], boxes[b])",
            "overlap = giou(true[b][:, None], boxes[0])",
        ),
    ),
    (
        "pair_up",
        "and for one at most",
        edit(SOLVED, "queries = cost.detach().argmin(dim=1).numpy()"),
    ),
    ("pair_up", "so that `logits` and `boxes` ask for gradients", edit("cost.detach()", "cost")),
    *(("pair_up", LEFT, spoils(n)) for n in range(4)),
    # set_loss
    ("set_loss", 'or "no object" if it has none', edit("shape[:2], nothing)", "shape[:2], 0)")),
    ("set_loss", "counts with a small weight $w_0$", edit("= no_object", "= 1.0")),
    (
        "set_loss",
        "and every real class with 1",
        edit("new_ones(nothing + 1)", "new_full((nothing + 1,), 2.0)"),
    ),
    (
        "set_loss",
        "a weighted mean over all queries of the batch",
        edit("answer.flatten(), weight)", "answer.flatten(), weight, reduction='none').mean()"),
    ),
    (
        "set_loss",
        "a weighted mean over all queries of the batch",
        edit("answer.flatten(), weight)", "answer.flatten(), weight, reduction='sum') / 7"),
    ),
    (
        "set_loss",
        'where a query that should say "no object" puts its box does not matter',
        edit(
            "distance = (found - right).abs().sum()",
            "distance = ((found - right).abs().sum() + boxes[answer == nothing].sum())",
        ),
    ),
    (
        "set_loss",
        "the number of objects in the whole batch",
        edit("max(len(right), 1)", "len(pairs)"),
    ),
    (
        "set_loss",
        "the sum over the four numbers of a box",
        edit("(found - right).abs().sum()", "(found - right).abs().mean(dim=-1).sum()"),
    ),
    (
        "set_loss",
        "Each object of the batch counts alike",
        edit("max(len(right), 1)", "max(sum(max(len(one), 1) for one in true), 1)"),
    ),
    (
        "set_loss",
        "for each object of an image, in the order of the objects",
        before("set_loss", "pairs = [one.sort().values for one in pairs]"),
    ),
    (
        "set_loss",
        "for each object of an image, in the order of the objects",
        edit("boxes[b, pairs[b]]", "boxes[b, pairs[b].sort().values]"),
    ),
    ("set_loss", "no_object=0.1", edit("no_object=0.1", "no_object=0.2")),
    ("set_loss", "a plain number above 0", before("set_loss", "assert no_object <= 0.5")),
    (
        "set_loss",
        "a plain number above 0",
        before("set_loss", "assert isinstance(no_object, float)"),
    ),
    ("set_loss", "Return a tuple of three tensors", becomes(list)),
    ("set_loss", "Return a tuple of three tensors", becomes(torch.stack)),
    *(("set_loss", "without axes", at(n, lambda x: x[None])) for n in range(3)),
    *(("set_loss", "without axes", at(n, torch.Tensor.item)) for n in range(3)),
    *(("set_loss", "in the dtype of the logits", at(n, torch.Tensor.float)) for n in range(3)),
    ("set_loss", "in the dtype of the logits", roughly),
    ("set_loss", "none of them multiplied with anything", at(1, lambda x: 5 * x)),
    ("set_loss", "none of them multiplied with anything", at(2, lambda x: 2 * x)),
    ("set_loss", "the last two are 0", edit("max(len(right), 1)", "len(right)")),
    (
        "set_loss",
        "The logits get a gradient from the first",
        before("set_loss", "logits = logits.detach()"),
    ),
    (
        "set_loss",
        "get one from the other two",
        edit("(found - right).abs()", "(found.detach() - right).abs()"),
    ),
    (
        "set_loss",
        "get one from the other two",
        edit("giou(found, right)", "giou(found.detach(), right)"),
    ),
    (
        "set_loss",
        "and all other boxes zeros",
        edit(
            "(found - right).abs().sum()",
            "((found - right).abs().sum() + (boxes - boxes.detach()).sum())",
        ),
    ),
    (
        "set_loss",
        "neither a loss nor a gradient may become infinite or nan",
        edit(
            "F.cross_entropy(logits.flatten(0, 1), ",
            "F.nll_loss(logits.softmax(dim=-1).log().flatten(0, 1), ",
        ),
    ),
    (
        "set_loss",
        "neither a loss nor a gradient may become infinite or nan",
        edit(
            "F.cross_entropy(logits.flatten(0, 1), ",
            "F.nll_loss((logits.softmax(dim=-1) + 1e-12).log().flatten(0, 1), ",
        ),
    ),
    *(("set_loss", LEFT, spoils(n)) for n in range(5)),
    # ap_50
    (
        "ap_50",
        "the one with the highest score first",
        edit("score.argsort(descending=True)", "torch.arange(len(score))"),
    ),
    ("ap_50", "among the objects of the class", edit("free = true == c", "free = true == true")),
    ("ap_50", "that are still free", edit("free[worth.argmax()] = False", "pass")),
    (
        "ap_50",
        "the one that it overlaps most",
        edit("free[worth.argmax()]", "free[(worth >= threshold).nonzero()[0]]"),
    ),
    (
        "ap_50",
        "if their IoU is at least the threshold",
        edit("worth >= threshold", "worth > threshold"),
    ),
    (
        "ap_50",
        "has raised a false alarm",
        edit(
            "hits.append(",
            "if hit or not (overlap[d].where(true == c, -1.0) >= threshold).any():\n"
            "                    hits.append(",
        ),
    ),
    (
        "ap_50",
        "unless there is another free object that is overlapped by enough",
        edit(
            "worth = overlap[d].where(free, -1.0)  # (n,)\n"
            "                hit = bool((worth >= threshold).any())",
            "worth = overlap[d].where(true == c, -1.0)\n"
            "                hit = bool((worth >= threshold).any() and free[worth.argmax()])",
        ),
    ),
    (
        "ap_50",
        "put into one list, the highest score first",
        edit("sorted(hits, reverse=True)", "hits"),
    ),
    (
        "ap_50",
        "put into one list, the highest score first",
        edit("sorted(hits, reverse=True)", "sorted(hits)"),
    ),
    (
        "ap_50",
        "the share of hits among the detections up to here",
        edit("right / n)", "right / len(hits))"),
    ),
    (
        "ap_50",
        "the number of objects of the class in all images",
        edit(
            "for true in true_labels)",
            "for true, one in zip(true_labels, scores) if len(one)) or 1",
        ),
    ),
    ("ap_50", "There are 101 levels", edit("for k in range(101)]", "for k in range(100)]")),
    (
        "ap_50",
        "the highest precision that the curve has",
        edit(
            "max((p for r, p in curve if r >= k / 100), default=0.0)",
            "next((p for r, p in curve if r >= k / 100), 0.0)",
        ),
    ),
    ("ap_50", "whose recall is the level or more", edit("r >= k / 100", "r > k / 100")),
    (
        "ap_50",
        "and 0 if there is none",
        edit("sum(best) / 101", "sum(best) / max(sum(x > 0 for x in best), 1)"),
    ),
    (
        "ap_50",
        "A class of which there is no object is left out, whatever was found",
        edit("/ len(values)", "/ len(torch.cat([*true_labels, *labels]).unique())"),
    ),
    (
        "ap_50",
        "a class with objects that nobody has found counts, with 0",
        edit("values.append(sum(best) / 101)", "values += [sum(best) / 101] if hits else []"),
    ),
    (
        "ap_50",
        "Each class counts alike",
        edit("values.append(sum(best) / 101)", "values += total * [sum(best) / 101]"),
    ),
    ("ap_50", "threshold=0.5", edit("threshold=0.5", "threshold=0.55")),
    ("ap_50", "in any order", edit("score.argsort(descending=True)", "torch.arange(len(score))")),
    (
        "ap_50",
        "Images may have different d and n",
        before("ap_50", "torch.stack(overlaps) if len(overlaps) > 1 else 0"),
    ),
    ("ap_50", "either may be 0", before("ap_50", "assert all(map(len, scores))")),
    ("ap_50", "either may be 0", before("ap_50", "assert all(map(len, true_labels))")),
    (
        "ap_50",
        "there is at least one object somewhere",
        before("ap_50", "assert any(map(len, labels))"),
    ),
    (
        "ap_50",
        "perhaps with gaps",
        edit(
            "torch.cat(true_labels).unique().tolist()",
            "range(len(torch.cat(true_labels).unique()))",
        ),
    ),
    ("ap_50", "Return a plain number from 0 to 1", becomes(torch.tensor)),
    ("ap_50", "Return a plain number from 0 to 1", becomes(lambda found: 100 * found)),
    *(("ap_50", LEFT, spoils(n)) for n in range(4)),
    # places_2d
    ("places_2d", "The first counts down the column", edit("(1, 2):", "(2, 1):")),
    ("places_2d", "counts real pixels only", edit("keep.cumsum", "torch.ones_like(keep).cumsum")),
    (
        "places_2d",
        "divides by how many there are",
        edit("keep.sum(dim=dim, keepdim=True)", "torch.tensor(keep.shape[dim])"),
    ),
    (
        "places_2d",
        "the place itself is counted",
        edit("count / total", "(count - 1).clamp(min=0) / total"),
    ),
    ("places_2d", "so that the last real pixel is at $2\\pi$", edit("2 * math.pi", "math.pi")),
    ("places_2d", "$r_{ij}$ is 0", edit(".clamp(min=1)", "")),
    (
        "places_2d",
        "$c_{ij}$ is 0",
        edit(".clamp(min=1)", ".clamp(min=2 - dim) + 0"),
    ),
    ("places_2d", "\\omega_i = 10000^{-2i/m}", edit("0, half, 2) / half", "0, half, 2) / width")),
    ("places_2d", "\\omega_i = 10000^{-2i/m}", edit("10_000.0", "9_000.0")),
    (
        "places_2d",
        "\\sin \\omega_0 x,\\; \\cos \\omega_0 x",
        edit("[angles.sin(), angles.cos()]", "[angles.cos(), angles.sin()]"),
    ),
    (
        "places_2d",
        "the place gets $e(r_{ij})$ followed by $e(c_{ij})$",
        edit("torch.cat(halves, dim=-1)", "torch.stack(halves, dim=-1).flatten(-2)"),
    ),
    (
        "places_2d",
        "but any mask may be given",
        edit(
            "total = ",
            "count = count.amax(dim=3 - dim, keepdim=True).expand_as(keep)\n        total = ",
        ),
    ),
    (
        "places_2d",
        "but any mask may be given",
        before("places_2d", "assert keep[:, 0, 0].all()"),
    ),
    ("places_2d", "which 4 divides", before("places_2d", "assert width % 8 == 0")),
    ("places_2d", "which 4 divides", before("places_2d", "assert width & (width - 1) == 0")),
    ("places_2d", "float32. Padding", becomes(torch.Tensor.double)),
    (
        "places_2d",
        "Padding gets its numbers by the same formulas",
        edit("torch.cat(halves, dim=-1)", "torch.cat(halves, dim=-1) * keep[..., None]"),
    ),
    ("places_2d", "Leave `keep` as it is", spoils(0)),
]


test_whoever_forgets_a_demand_fails_a_case = every(DEMANDS)
