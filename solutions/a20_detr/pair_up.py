"""Which query answers for which object: all pairs together as cheap as they can be."""

from __future__ import annotations

import torch
from scipy.optimize import linear_sum_assignment

from coursekit.check.probe import after, gradients
from coursetools.questions import hidden, visible

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
        found.append(torch.as_tensor(queries, dtype=torch.int64))
    return found


@visible("one image: two objects of one class, three queries")
def one_image(student):
    logits = torch.tensor([[[2.0, 0.0], [1.0, 0.0], [-1.0, 2.0]]])
    boxes = torch.tensor([[[0.6, 0.5, 0.2, 0.2], [0.2, 0.5, 0.2, 0.3], [0.9, 0.9, 0.1, 0.1]]])
    true = torch.tensor([[0.5, 0.5, 0.2, 0.2], [0.65, 0.5, 0.2, 0.2]])
    return student.pair_up(logits, boxes, [torch.tensor([0, 0])], [true])


@visible("six images with 4 to 9 objects, ten queries", weight=2)
def six_images(student):
    return student.pair_up(*crowd((9, 7, 8, 4, 6, 9), 10, 6, 20))


@visible("each of the three costs alone, and other weights", weight=2)
def other_weights(student):
    given = crowd((5, 3), 8, 6, 24)
    triples = (1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0), (6.0, 0, 1.0), (3.0, 0.5, 2.5)
    return [student.pair_up(*given, weights) for weights in triples]


@visible("an image without objects, and as many objects as queries")
def none_and_all(student):
    return student.pair_up(*crowd((0, 6, 1), 6, 4, 32))


@visible("a model in training, whose numbers ask for gradients")
def in_training(student):
    return gradients(student.pair_up, *crowd((3, 2), 5, 3, 44))[0]


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.pair_up, *crowd((2, 3), 6, 3, 54, dtype=torch.float64))


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
