"""What a set of classes and boxes costs, once it is known which query answers for which object."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.check.probe import Chance, after, gradients
from coursetools.questions import hidden, visible

from .giou import giou
from .shared import crowd


def set_loss(logits, boxes, labels, true, pairs, no_object=0.1):
    """logits (B, Q, C + 1), boxes (B, Q, 4), three lists -> the losses: class, L1, GIoU."""
    nothing = logits.shape[-1] - 1
    answer = torch.full(logits.shape[:2], nothing)  # (B, Q)
    for b in range(len(pairs)):
        answer[b, pairs[b]] = labels[b]
    weight = logits.new_ones(nothing + 1)  # (C + 1,)
    weight[nothing] = no_object
    classes = F.cross_entropy(logits.flatten(0, 1), answer.flatten(), weight)
    found = torch.cat([boxes[b, pairs[b]] for b in range(len(pairs))])  # (N, 4)
    right = torch.cat(true)  # (N, 4)
    count = max(len(right), 1)
    distance = (found - right).abs().sum() / count
    return classes, distance, (1 - giou(found, right)).sum() / count


def dealt(objects, queries, kinds, seed, dtype=torch.float32):
    """Return what a model says, what is true, and queries by lot for the objects of each image."""
    chance = Chance(9500 + seed)
    lot = [chance.randperm(queries)[:n] for n in objects]
    return *crowd(objects, queries, kinds, seed, dtype=dtype), lot


@visible("one image, two queries, one object")
def one_object(student):
    return student.set_loss(
        torch.tensor([[[0.0, 0.0], [0.0, 2.0]]]),
        torch.tensor([[[0.5, 0.5, 0.4, 0.2], [0.9, 0.1, 0.2, 0.2]]]),
        [torch.tensor([0])],
        [torch.tensor([[0.6, 0.5, 0.2, 0.4]])],
        [torch.tensor([0])],
    )


@visible("three images with 5, 0 and 2 objects, five queries", weight=2)
def three_images(student):
    return student.set_loss(*dealt((5, 0, 2), 5, 4, 60))


@visible("another weight of “no object”, and all weights alike")
def other_weights(student):
    given = dealt((3, 1), 6, 3, 66)
    return [student.set_loss(*given, weight) for weight in (0.5, 1.0)]


@visible("a batch without an object")
def no_object_at_all(student):
    return student.set_loss(*dealt((0, 0), 4, 3, 78))


@visible("gradients at the logits and at the boxes; logits in the thousands", weight=2)
def with_gradients(student):
    logits, *given = dealt((3, 2), 5, 4, 84)
    return [gradients(student.set_loss, scale * logits, *given) for scale in (1, 2000)]


@visible("what was given stays as it was; double precision", tolerance=1e-8)
def what_was_given_stays(student):
    return after(student.set_loss, *dealt((2, 3), 5, 3, 96, dtype=torch.float64))


@hidden("eight images of 20 queries", weight=2)
def loss_many(student):
    return student.set_loss(*dealt((12, 3, 7, 9, 15, 1, 4, 8), 20, 9, 541))


@hidden("weights of no object from small to large", weight=2)
def loss_weights(student):
    given = dealt((4, 2, 1), 9, 4, 551)
    return [student.set_loss(*given, weight) for weight in (0.01, 0.3, 1, 2.5)]


@hidden("images without objects among others")
def loss_some_empty(student):
    return student.set_loss(*dealt((0, 5, 0, 1), 7, 3, 561))


@hidden("every query has an object")
def loss_full(student):
    return student.set_loss(*dealt((6, 6), 6, 4, 571)), student.set_loss(*dealt((1,), 1, 2, 572))


@hidden("no object in the whole batch, and the gradient at the logits")
def loss_nothing(student):
    losses, (at_logits, *_) = gradients(student.set_loss, *dealt((0, 0, 0), 4, 5, 581))
    return losses, at_logits


@hidden("as many images as queries, objects and classes")
def loss_square(student):
    return student.set_loss(*dealt((5, 5, 5, 5, 5), 5, 4, 591))


@hidden("gradients", weight=2)
def loss_gradients(student):
    return gradients(student.set_loss, *dealt((3, 0, 4), 8, 4, 601), 0.2)


@hidden("boxes that are right cost nothing")
def loss_perfect(student):
    said, boxes, kind, true, lot = dealt((3, 2), 6, 4, 611)
    boxes = boxes.clone()
    for image, queries in enumerate(lot):
        boxes[image, queries] = true[image]
    return student.set_loss(said, boxes, kind, true, lot)


@hidden("logits in the thousands: gradients")
def loss_thousands(student):
    said, *others = dealt((2, 3), 6, 3, 621)
    return gradients(student.set_loss, -4000 * said, *others)


@hidden("double precision", tolerance=1e-8)
def loss_double(student):
    return student.set_loss(*dealt((3, 5, 1), 6, 5, 631, dtype=torch.float64))


@hidden("what was given is left as it was", weight=0.5)
def loss_keeps(student):
    return after(student.set_loss, *dealt((2, 3), 5, 3, 641), 0.4)
