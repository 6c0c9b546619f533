"""How much two boxes overlap, and, if they do not, how far they are from it."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.check.probe import after, gradients, randn
from coursekit.questions import hidden, visible

from .shared import frames


def giou(a, b):
    """a, b (..., 4), centre x, centre y, width, height -> (...), from −1 to 1."""
    a_low, a_high = a[..., :2] - a[..., 2:] / 2, a[..., :2] + a[..., 2:] / 2  # (..., 2) each
    b_low, b_high = b[..., :2] - b[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2  # (..., 2) each
    sides = (torch.minimum(a_high, b_high) - torch.maximum(a_low, b_low)).clamp(min=0)
    both = sides.prod(dim=-1)  # (...), the area that both cover
    either = a[..., 2:].prod(dim=-1) + b[..., 2:].prod(dim=-1) - both  # (...)
    around = torch.maximum(a_high, b_high) - torch.minimum(a_low, b_low)  # (..., 2)
    hull = around.prod(dim=-1)  # (...)
    iou = both / either.where(either > 0, 1)
    return iou - (hull - either) / hull.where(hull > 0, 1)


def box_list(many: int, seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return boxes in parts of an image, of many places and forms, some of them thin."""
    numbers = randn(many, 4, seed=seed, dtype=dtype).sigmoid()
    return torch.cat([numbers[:, :2], 0.05 + 0.8 * numbers[:, 2:].square()], dim=-1)


@visible("two boxes that overlap, and two that do not")
def two_pairs(student):
    a = torch.tensor([[2.0, 2.0, 4.0, 4.0], [1.0, 1.0, 2.0, 2.0]])
    return student.giou(a, torch.tensor([[4.0, 3.0, 4.0, 2.0], [5.0, 2.0, 2.0, 4.0]]))


@visible("boxes apart: side by side, one above the other, corner to corner")
def apart(student):
    one = torch.tensor([[0.2, 0.3, 0.2, 0.1]])
    others = torch.tensor(
        [[0.7, 0.3, 0.3, 0.2], [0.2, 0.8, 0.1, 0.3], [0.6, 0.7, 0.2, 0.4], [0.9, 0.9, 0.1, 0.1]]
    )
    return student.giou(one.expand(4, 4).clone(), others)


@visible("twelve pairs of boxes", weight=2)
def twelve_pairs(student):
    return student.giou(box_list(12, seed=1), box_list(12, seed=2))


@visible("every box of one list with every box of another", weight=2)
def every_pair(student):
    return student.giou(box_list(5, seed=3)[:, None], box_list(4, seed=4))


@visible("one box within the other, and a box with itself")
def within(student):
    a = torch.tensor([[0.5, 0.5, 0.8, 0.6], [0.5, 0.5, 0.2, 0.3], [0.3, 0.6, 0.2, 0.4]])
    return student.giou(
        a, torch.tensor([[0.6, 0.4, 0.3, 0.2], [0.4, 0.5, 0.7, 0.9], a[2].tolist()])
    )


@visible("boxes without width or height, two of them the same point")
def without_area(student):
    a = torch.tensor([[0.2, 0.2, 0.0, 0.4], [0.3, 0.5, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    b = torch.tensor([[0.4, 0.2, 0.2, 0.2], [0.6, 0.7, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    return student.giou(a, b)


@visible("small boxes, and boxes in pixels")
def small_and_large(student):
    a, b = box_list(6, seed=5), box_list(6, seed=6)
    return [student.giou(a * scale, b * scale) for scale in (1 / 256, 640.0)]


@visible("gradients, of boxes that overlap and of boxes that do not")
def with_gradients(student):
    return gradients(student.giou, box_list(8, seed=7), box_list(8, seed=8))


@visible("what was given stays as it was; double precision", tolerance=1e-9)
def what_was_given_stays(student):
    given = (box_list(5, seed=n, dtype=torch.float64) for n in (9, 10))
    return after(student.giou, *given)


@hidden("two hundred pairs", weight=2)
def giou_many(student):
    return student.giou(frames((200,), 401), frames((200,), 402))


@hidden("all pairs in each of two images", weight=2)
def giou_pairs(student):
    return student.giou(frames((2, 3, 1), 403), frames((2, 1, 6), 404))


@hidden("four boxes with four others, and with one")
def giou_square(student):
    four, others = frames((4,), 405), frames((4,), 406)
    return student.giou(four, others), student.giou(four, others[:1]), student.giou(four, others[3])


@hidden("one box and one other")
def giou_single(student):
    return [student.giou(frames((), seed, 0.4), frames((), seed + 9)) for seed in (407, 408, 409)]


@hidden("boxes far apart, farther and farther away")
def giou_far(student):
    steps = torch.tensor([0.5, 2.0, 9.0, 400.0, -3.0])
    one = torch.tensor([-1.0, 4.0, 1.5, 0.5]).repeat(5, 1)
    aside, below = one.clone(), one.clone()
    aside[:, 0] += steps + 1.6
    below[:, 1] -= steps - 7
    return student.giou(one, aside), student.giou(below, one), student.giou(aside, below)


@hidden("boxes that touch at a side or a corner, or lie around one another")
def giou_touch(student):
    one = torch.tensor([4.0, 4.0, 2.0, 2.0]).expand(4, 4).clone()
    near = [[6.0, 4.0, 2.0, 4.0], [2.0, 6.0, 2.0, 2.0], [4.0, 4.0, 8.0, 6.0], [4.0, 4.0, 1.0, 2.0]]
    return student.giou(one, torch.tensor(near))


@hidden("lines and points among boxes")
def giou_flat(student):
    flat = frames((6,), 411)
    flat[::2, 2], flat[1::3, 3] = 0.0, 0.0
    flat[3] = torch.tensor([0.25, 0.75, 0.0, 0.0])
    same = flat.clone()
    return student.giou(flat, same), student.giou(flat[:, None], flat.flip(0))


@hidden("very small boxes")
def giou_tiny(student):
    return [
        student.giou(frames((8,), 413) * size, frames((8,), 414) * size) for size in (1e-3, 0.02)
    ]


@hidden("gradients of all pairs", weight=2)
def giou_gradients(student):
    return gradients(student.giou, frames((3, 1), 415), frames((5,), 416))


@hidden("double precision", tolerance=1e-12)
def giou_double(student):
    return student.giou(*(frames((9,), seed, dtype=torch.float64) for seed in (417, 418)))


@hidden("what was given is left as it was", weight=0.5)
def giou_keeps(student):
    return after(student.giou, frames((4,), 419), frames((4,), 420))
