"""How much of a picture a place behind many convolutions sees, and where that window lies."""

from __future__ import annotations

from coursekit.check.probe import Chance, after
from coursetools.questions import hidden, visible


def reach(layers, place=0):
    """Layers (kernel, stride, dilation, padding), a place behind them -> size, step, centre."""
    size, step, centre = 1, 1, 0.0
    for kernel, stride, dilation, padding in layers:
        gaps = (kernel - 1) * dilation
        size, centre = size + gaps * step, centre + (gaps / 2 - padding) * step
        step *= stride
    return size, step, centre + place * step


@visible("one convolution, and several one above the other, with stride 1")
def stacked(student):
    return student.reach([(3, 1, 1, 0)]), [student.reach([(5, 1, 1, 2)] * n) for n in (1, 2, 8)]


@visible("strides, and pooling between convolutions", weight=2)
def strides(student):
    stack = [(3, 1, 1, 1), (2, 2, 1, 0), (3, 3, 1, 0), (2, 2, 1, 0), (5, 1, 1, 1)]
    return [student.reach(stack[:depth]) for depth in (2, 3, 4, 5)]


@visible("dilations")
def dilations(student):
    wave = [(3, 1, 1, 0), (3, 1, 2, 0), (3, 1, 4, 3), (2, 1, 8, 0)]
    return student.reach(wave), student.reach([(4, 2, 3, 1), (2, 3, 2, 0), (3, 1, 5, 2)])


@visible("other places than the first, windows that begin before the picture")
def other_places(student):
    layers = [(4, 2, 1, 1), (3, 3, 2, 4), (2, 1, 1, 0)]
    return [student.reach(layers, place) for place in (0, 1, 5, 40)]


@visible("no layer at all, and layers that change nothing", weight=0.5)
def no_layer(student):
    return student.reach([]), student.reach([], 7), student.reach([(1, 1, 3, 0), (1, 2, 1, 0)], 3)


@visible("the list of layers stays as it was")
def list_stays(student):
    return after(student.reach, [(4, 2, 1, 1), (4, 2, 1, 0), (3, 1, 2, 1)])


def pile(depth, seed):
    """Return layers of all kinds: kernels to 6, strides to 3, dilations to 3, paddings to 4."""
    dice = Chance(8000 + seed)
    highest = (6, 3, 3, 5)
    lowest = (1, 1, 1, 0)
    return [
        tuple(int(dice.randint(low, high + (low > 0), ())) for low, high in zip(lowest, highest))
        for _ in range(depth)
    ]


@hidden("many kinds of layers", weight=2)
def reach_many(student):
    return [student.reach(pile(depth, depth)) for depth in range(1, 9)]


@hidden("many kinds of layers, another place", weight=2)
def reach_places(student):
    return [student.reach(pile(4, 20 + place), place) for place in (1, 2, 9, 100)]


@hidden("a discriminator that halves the picture four times")
def reach_halves(student):
    return student.reach([(4, 2, 1, 1)] * 4), student.reach([(4, 2, 1, 1)] * 4 + [(4, 1, 1, 0)], 2)


@hidden("pooling alone, without overlap and with it")
def reach_pooling(student):
    return student.reach([(2, 2, 1, 0)] * 3, 5), student.reach([(3, 2, 1, 1)] * 3, 5)


@hidden("dilations that double")
def reach_doubling(student):
    return [student.reach([(2, 1, 2**n, 0) for n in range(depth)]) for depth in (4, 7)]


@hidden("much padding")
def reach_padding(student):
    return [student.reach([(3, 2, 1, 6), (5, 3, 2, 9)], place) for place in (0, 1, 4)]


@hidden("kernels of one place, and no layer")
def reach_ones(student):
    stacks = [(1, 1, 1, 0)] * 4, [(1, 3, 2, 1), (2, 1, 1, 0)], []
    return [student.reach(layers, place) for layers in stacks for place in (0, 2)]


@hidden("the list is left as it was", weight=0.5)
def reach_keeps(student):
    return after(student.reach, pile(5, 40), 3)
