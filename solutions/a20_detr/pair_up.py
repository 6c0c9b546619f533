"""Which query answers for which object: all pairs together as cheap as they can be."""

from __future__ import annotations

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from coursekit.check.probe import Chance, after, gradients, randn
from coursekit.questions import hidden, visible

from .giou import giou
from .shared import crowd


def pair_up(logits, boxes, labels, true, weights=(1.0, 5.0, 2.0)):
    """logits (B, Q, C + 1), boxes (B, Q, 4), lists of (n,) and (n, 4) -> a list of (n,) queries."""
    likely = logits.softmax(dim=-1)  # (B, Q, C + 1)
    found = []
    for b in range(len(labels)):
        sure = likely[b][:, labels[b]].T  # (n, Q)
        apart = (true[b][:, None] - boxes[b]).abs().sum(dim=-1)  # (n, Q)
        overlap = giou(true[b][:, None], boxes[b])  # (n, Q)
        cost = -weights[0] * sure + weights[1] * apart - weights[2] * overlap  # (n, Q)
        _, queries = linear_sum_assignment(cost.detach().numpy())
        found.append(torch.from_numpy(queries))
    return found


def guesses(
    counts: tuple[int, ...],
    queries: int,
    classes: int,
    seed: int,
    dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, Tensor, list[Tensor], list[Tensor]]:
    """Return what a half-trained model says, and the true objects, `counts` of them in each image.

    Most queries speak of some object, with a box and a class that are somewhat wrong, so that
    several of them compete for it. No class comes twice where there are classes enough.
    """
    B = len(counts)
    chance = Chance(seed)
    labels = [chance.randperm(max(classes, n))[:n] % classes for n in counts]
    true = [
        torch.cat([0.2 + 0.6 * x[:, :2], 0.05 + 0.45 * x[:, 2:]], dim=-1)
        for x in (chance.rand(n, 4, dtype=torch.float64) for n in counts)
    ]
    logits = 1.5 * randn(B, queries, classes + 1, seed=seed + 1, dtype=torch.float64)
    boxes = randn(B, queries, 4, seed=seed + 2, dtype=torch.float64).sigmoid()
    boxes = torch.cat([boxes[..., :2], 0.05 + 0.5 * boxes[..., 2:]], dim=-1)
    for b, n in enumerate(counts):
        for q in range(queries if n else 0):
            about = int(chance.randint(n, ()))
            boxes[b, q] = 0.6 * true[b][about] + 0.4 * boxes[b, q]
            logits[b, q, labels[b][about]] += 1.0
    logits, boxes = logits.to(dtype), boxes.to(dtype)
    return logits, boxes, labels, [box.to(dtype) for box in true]


@visible("one image: two objects of one class, three queries")
def one_image(student):
    logits = torch.tensor([[[2.0, 0.0], [1.0, 0.0], [-1.0, 2.0]]])
    boxes = torch.tensor([[[0.6, 0.5, 0.2, 0.2], [0.2, 0.5, 0.2, 0.3], [0.9, 0.9, 0.1, 0.1]]])
    true = torch.tensor([[0.5, 0.5, 0.2, 0.2], [0.65, 0.5, 0.2, 0.2]])
    return student.pair_up(logits, boxes, [torch.tensor([0, 0])], [true])


@visible("three images with 4, 2 and 6 objects, nine queries", weight=2)
def three_images(student):
    return student.pair_up(*guesses((4, 2, 6), 9, 5, seed=20))


@visible("each of the three costs alone", weight=2)
def each_cost_alone(student):
    given = guesses((5, 3), 8, 6, seed=24)  # for two objects of one class could change places
    return [student.pair_up(*given, weights) for weights in ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0))]


@visible("two costs at a time, and other weights")
def two_costs(student):
    given = guesses((5, 6), 10, 3, seed=28)
    return [
        student.pair_up(*given, weights)
        for weights in ((2.0, 1.0, 0), (6.0, 0, 1.0), (0, 1.0, 1.0), (3.0, 0.5, 2.5))
    ]


@visible("an image without objects, and as many objects as queries")
def none_and_all(student):
    return student.pair_up(*guesses((0, 6, 1), 6, 4, seed=32))


@visible("as many images as objects and queries")
def all_alike(student):
    return student.pair_up(*guesses((5, 5, 5, 5, 5), 5, 4, seed=36))


@visible("many objects in many images", weight=2)
def many(student):
    return student.pair_up(*guesses((9, 7, 8, 12, 6, 10), 14, 6, seed=40))


@visible("a model in training, whose numbers ask for gradients")
def in_training(student):
    return gradients(student.pair_up, *guesses((3, 2), 5, 3, seed=44))[0]


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.pair_up, *guesses((2, 3), 6, 3, seed=54, dtype=torch.float64))


@hidden("eight images of 20 queries", weight=2)
def pair_many(student):
    return student.pair_up(*crowd((12, 3, 7, 9, 15, 1, 4, 8), 20, 9, 431))


@hidden("queries that all speak of nearly the same place", weight=2)
def pair_close(student):
    return student.pair_up(*crowd((6, 8, 7), 12, 2, 441, near=0.9))


@hidden("one cost alone, with any weight", weight=2)
def pair_single_cost(student):
    given = crowd((6, 5, 9), 11, 9, 451)
    return [
        student.pair_up(*given, weights) for weights in ((3, 0, 0), (0.0, 0.5, 0.0), (0, 0, 7.0))
    ]


@hidden("many triples of weights")
def pair_weights(student):
    given = crowd((7, 6), 13, 3, 461)
    triples = ((1, 1, 1), (9, 1, 1), (1, 9, 0), (0, 2, 5), (2, 0, 5), (4, 2, 9))
    return [student.pair_up(*given, weights) for weights in triples]


@hidden("images without objects among others, and nothing but such images")
def pair_empty(student):
    return student.pair_up(*crowd((0, 3, 0, 5), 6, 4, 471)), student.pair_up(
        *crowd((0, 0), 3, 4, 472)
    )


@hidden("as many objects as queries")
def pair_full(student):
    return student.pair_up(*crowd((8, 8), 8, 4, 481)), student.pair_up(*crowd((1,), 1, 1, 482))


@hidden("as many images as queries, objects and classes")
def pair_square(student):
    return student.pair_up(*crowd((6, 6, 6, 6, 6, 6), 6, 5, 491))


@hidden("two objects that are nearly alike")
def pair_twins(student):
    said, boxes, kind, true = crowd((4, 4), 9, 3, 501)
    for image in range(2):
        kind[image][1], true[image][1] = kind[image][0], true[image][0] * 1.02
    return student.pair_up(said, boxes, kind, true)


@hidden("logits in the thousands")
def pair_sure(student):
    said, *others = crowd((5, 2), 7, 4, 511)
    return student.pair_up(3000 * said, *others)


@hidden("a model in training")
def pair_training(student):
    return gradients(student.pair_up, *crowd((2, 4), 6, 3, 552))[0]


@hidden("double precision; what was given is left as it was", weight=0.5)
def pair_keeps(student):
    return after(student.pair_up, *crowd((3, 1), 5, 3, 548, dtype=torch.float64))
