"""How many multiplications one layer of attention takes, on a whole map and within windows."""

from __future__ import annotations

from coursetools.questions import hidden, visible


def window_flops(rows, columns, width, heads, side=None):
    """Sizes of a map and of a layer, the side of the windows (None: none) -> multiplications."""
    if side is not None:
        rows, columns = -(-rows // side) * side, -(-columns // side) * side  # whole windows
    cells = rows * columns
    keys = cells if side is None else side**2
    return 4 * cells * width**2 + 2 * cells * keys * width


@visible("one head, a small map, windows of 2, and none", weight=2)
def small(student):
    return student.window_flops(4, 4, 3, 1, 2), student.window_flops(5, 7, 8, 1)


@visible("the first stage of Swin-T, with windows and without", weight=2)
def first_stage(student):
    return student.window_flops(56, 56, 96, 3, 7), student.window_flops(56, 56, 96, 3)


@visible("wider than high; one, two and four heads")
def heads_and_sides(student):
    return [
        student.window_flops(6, 12, 8, heads, side) for heads in (1, 2, 4) for side in (None, 3)
    ]


@visible("maps that windows do not divide")
def not_divided(student):
    return [student.window_flops(*size, 4, 2, 4) for size in ((5, 8), (8, 5), (7, 9), (3, 2))]


@hidden("the four stages of Swin-T, with windows and without", weight=2)
def flops_stages(student):
    stages = [(56 // 2**n, 96 * 2**n, 3 * 2**n) for n in range(4)]
    return [
        student.window_flops(cells, cells, width, heads, side)
        for cells, width, heads in stages
        for side in (7, None)
    ]


@hidden("wide and high maps, many heads")
def flops_shapes(student):
    sizes = (3, 40, 12, 6), (40, 3, 12, 12), (9, 10, 6, 1)
    return [student.window_flops(*size) for size in sizes]


@hidden("maps that have to be filled up", weight=2)
def flops_filled(student):
    sizes = (13, 7), (7, 13), (1, 1), (15, 8), (6, 6)
    return [student.window_flops(*size, 10, 5, 7) for size in sizes]


@hidden("windows of one cell, and of the whole map")
def flops_extremes(student):
    return [student.window_flops(8, 8, 4, 2, side) for side in (1, 8, None)]


@hidden("a picture so large that the number has more than 16 digits")
def flops_large(student):
    return student.window_flops(14_001, 7_003, 768, 12), student.window_flops(9999, 9999, 99, 3, 4)
