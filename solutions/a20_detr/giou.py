"""How much two boxes overlap, and, if they do not, how far they are from it."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients
from coursetools.questions import hidden, visible

from .shared import frames


def giou(a, b):
    """a, b (..., 4), centre x, centre y, width, height -> (...), from −1 to 1."""
    a_half, b_half = a[..., 2:] / 2, b[..., 2:] / 2  # (..., 2) each
    a_low, a_high = a[..., :2] - a_half, a[..., :2] + a_half
    b_low, b_high = b[..., :2] - b_half, b[..., :2] + b_half
    sides = (torch.minimum(a_high, b_high) - torch.maximum(a_low, b_low)).clamp(min=0)
    both = sides.prod(dim=-1)  # (...), the area that both cover
    either = a[..., 2:].prod(dim=-1) + b[..., 2:].prod(dim=-1) - both  # (...)
    around = torch.maximum(a_high, b_high) - torch.minimum(a_low, b_low)  # (..., 2)
    hull = around.prod(dim=-1)  # (...)
    below, whole = (x.where(x > 0, torch.inf) for x in (either, hull))  # n / inf is 0
    return both / below - (hull - either) / whole


@visible("two boxes that overlap, and two that do not")
def two_pairs(student):
    a = torch.tensor([[2.0, 2.0, 4.0, 4.0], [1.0, 1.0, 2.0, 2.0]])
    return student.giou(a, torch.tensor([[4.0, 3.0, 4.0, 2.0], [5.0, 2.0, 2.0, 4.0]]))


@visible("every box of one list with every box of another", weight=2)
def every_pair(student):
    return student.giou(frames((6,), 3)[:, None], frames((5,), 4))


@visible("boxes without width or height, two of them the same point")
def without_area(student):
    a = torch.tensor([[0.2, 0.2, 0.0, 0.4], [0.3, 0.5, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    b = torch.tensor([[0.4, 0.2, 0.2, 0.2], [0.6, 0.7, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    return student.giou(a, b)


@visible("small boxes, and boxes in pixels")
def small_and_large(student):
    a, b = frames((6,), 5), frames((6,), 6)
    return [student.giou(a * scale, b * scale) for scale in (1 / 1000, 640.0)]


@visible("gradients, of boxes that overlap and of boxes that do not")
def with_gradients(student):
    return gradients(student.giou, frames((8,), 7), frames((8,), 8))


@visible("gradients, of boxes without an area: no nan")
def flat_gradients(student):
    a = torch.tensor([[0.3, 0.5, 0.0, 0.0], [0.2, 0.2, 0.0, 0.4]])
    return gradients(student.giou, a, torch.tensor([[0.6, 0.7, 0.0, 0.0], [0.4, 0.2, 0.2, 0.2]]))


@visible("what was given stays as it was; double precision", tolerance=1e-9)
def what_was_given_stays(student):
    return after(student.giou, *(frames((5,), n, dtype=torch.float64) for n in (9, 10)))


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
    flat = torch.tensor([[0.2, 0.3, 0.0, 0.4], [0.5, 0.5, 0.0, 0.0]])  # nan is no gradient
    return gradients(student.giou, frames((3, 1), 415), frames((5,), 416)), [
        grad.isfinite() for grad in gradients(student.giou, flat, flat.clone())[1]
    ]


@hidden("double precision", tolerance=1e-12)
def giou_double(student):
    return student.giou(*(frames((9,), seed, dtype=torch.float64) for seed in (417, 418)))


@hidden("what was given is left as it was", weight=0.5)
def giou_keeps(student):
    return after(student.giou, frames((4,), 419), frames((4,), 420))
