"""The hidden cases of assignment 19: students may read what a case `says`, and nothing else."""

import re

import torch
import torch.nn.functional as F

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, randn

# --- windows


def placed(maps, high, wide, numbers=2, dtype=torch.float32):
    """Return maps whose numbers say map, row, column and which number of the cell it is."""
    axes = [torch.arange(n, dtype=torch.float64) for n in (maps, high, wide, numbers)]
    one, row, column, number = torch.meshgrid(*axes, indexing="ij")
    return (1000 * one + 50 * row + column + 0.25 * number).to(dtype)


@hidden("windows", says="each number says where it stood: three maps of 6 × 9 cells", weight=2)
def windows_placed(student):
    return student.windows(placed(3, 6, 9), 3)


@hidden("windows", says="Swin's own size, 14 × 21 cells in windows of 7, there and back", weight=2)
def windows_of_seven(student):
    return (
        student.windows(placed(2, 14, 21), 7),
        student.windows(placed(12, 49, 1, 3)[:, :, 0], 7, (14, 21)),
    )


@hidden("windows", says="back into maps that are high, wide, and many", weight=2)
def windows_back(student):
    sizes = (10, 4), (2, 12), (6, 6)
    return [student.windows(randn(3 * R * C // 4, 4, 3, seed=501), 2, (R, C)) for R, C in sizes]


@hidden("windows", says="as many maps as rows, columns and numbers")
def windows_alike(student):
    return student.windows(placed(4, 4, 4, 4), 2), student.windows(
        placed(4, 4, 4, 1)[..., 0], 2, (4, 4)
    )


@hidden("windows", says="a single cell, a single row of windows, one number")
def windows_edges(student):
    sizes = (1, 1, 1, 1, 1), (2, 3, 15, 1, 3), (3, 8, 2, 5, 2)
    return [student.windows(placed(*size), side) for *size, side in sizes]


def objection(student, high, wide, side):
    """Return the kind of error, and which of the three numbers stand in its sentence."""
    try:
        student.windows(placed(2, high, wide), side)
    except ValueError as told:
        told = set(re.findall(r"\d+", str(told)))
        return "ValueError", [wanted for wanted in (side, high, wide) if str(wanted) in told]
    except Exception as told:
        return type(told).__name__, []
    return "nothing raised", []


@hidden("windows", says="rows or columns that the windows do not divide")
def windows_refused(student):
    sizes = (14, 15, 7), (15, 14, 7), (20, 30, 7), (3, 27, 9), (4, 8, 5), (5, 7, 10)
    return [objection(student, *size) for size in sizes]


@hidden("windows", says="gradients in double precision, there and back")
def windows_gradients(student):
    cut, wide = randn(2, 6, 3, 2, seed=503, dtype=torch.float64), (3, 6)
    return gradients(student.windows, cut, 3), gradients(
        student.windows, cut.reshape(4, 9, 2), 3, wide
    )


@hidden("windows", says="bytes, whole numbers below zero, True and False")
def windows_kinds(student):
    whole = placed(1, 4, 6).long() - 60
    kinds = whole, whole.to(torch.uint8), whole % 3 == 0
    return [student.windows(kind, 2) for kind in kinds], [
        student.windows(kind.reshape(6, 4, 2), 2, (6, 4)) for kind in kinds
    ]


@hidden("windows", says="the maps and the windows are left as they were", weight=0.5)
def windows_keeps(student):
    return after(student.windows, placed(1, 4, 6), 2), after(
        student.windows, randn(6, 4, 1, seed=505), 2, (4, 6)
    )


# --- hide_strangers


@hidden("hide_strangers", says="windows of 7, a shift of 3, as in Swin's first stage", weight=2)
def strangers_first_stage(student):
    return student.hide_strangers(28, 28, 7, 3)


@hidden("hide_strangers", says="14 × 14 cells: how many pairs are left in each window")
def strangers_counted(student):
    return student.hide_strangers(14, 14, 7, 3).long().sum(dim=(1, 2))


@hidden("hide_strangers", says="high maps and wide maps, every possible shift", weight=2)
def strangers_every_shift(student):
    sizes = (12, 4), (4, 12)
    return [student.hide_strangers(*size, 4, shift) for size in sizes for shift in range(4)]


@hidden("hide_strangers", says="a single window, every possible shift")
def strangers_alone(student):
    return [student.hide_strangers(6, 6, 6, shift) for shift in range(1, 6)]


@hidden("hide_strangers", says="windows of two cells a side, many of them")
def strangers_many(student):
    return student.hide_strangers(12, 18, 2, 1)


@hidden("hide_strangers", says="windows of one cell, and nothing shifted", weight=0.5)
def strangers_nobody(student):
    return student.hide_strangers(3, 5, 1, 0), student.hide_strangers(10, 5, 5, 0)


# --- offset_index


@hidden("offset_index", says="windows of 7 and of 5, as square as Swin's", weight=2)
def index_square(student):
    return student.offset_index(7, 7), student.offset_index(5, 5)


@hidden("offset_index", says="windows of all shapes up to 6 × 6", weight=2)
def index_shapes(student):
    return [student.offset_index(high, wide) for high in (2, 3, 6) for wide in (2, 5, 6)]


@hidden("offset_index", says="one row and one column")
def index_lines(student):
    return student.offset_index(1, 7), student.offset_index(6, 1), student.offset_index(1, 1)


@hidden("offset_index", says="how often each number is used")
def index_uses(student):
    return [student.offset_index(*size).flatten().bincount() for size in ((4, 4), (2, 6), (5, 3))]


@hidden("offset_index", says="a learned table, looked up for three heads")
def index_table(student):
    return F.embedding(student.offset_index(4, 5), randn(7 * 9, 3, seed=511)).permute(2, 0, 1)


# --- shifted_attention


def sight(size, side, seed, wide=3, value=None, dtype=torch.float32):
    """Return maps of queries, keys and values and the biases of a window."""
    made = [randn(*size, wide, seed=seed + n, dtype=dtype) for n in (0, 1)]
    made.append(3 + randn(*size, value or wide, seed=seed + 2, dtype=dtype))
    return *made, 0.7 * randn(side * side, side * side, seed=seed + 3, dtype=dtype)


@hidden("shifted_attention", says="two maps of 14 × 14 cells, windows of 7, a shift of 3", weight=2)
def shifted_swin(student):
    return student.shifted_attention(*sight((2, 14, 14), 7, seed=521), 7, 3)


@hidden("shifted_attention", says="windows that stay: high, wide, many maps")
def shifted_still(student):
    sizes = (1, 6, 2), (2, 2, 8), (5, 4, 4)
    return [student.shifted_attention(*sight(size, 2, seed=525), 2) for size in sizes]


@hidden("shifted_attention", says="every shift of windows of 4, not half a window only", weight=2)
def shifted_every(student):
    given = sight((2, 8, 12), 4, seed=529, wide=2, value=1)
    return [student.shifted_attention(*given, 4, shift) for shift in (1, 2, 3)]


@hidden("shifted_attention", says="a single window that is shifted all the same")
def shifted_single(student):
    given = sight((3, 3, 3), 3, seed=533)
    return [student.shifted_attention(*given, 3, shift=shift) for shift in (0, 1, 2)]


@hidden("shifted_attention", says="as many maps as windows and cells in a window")
def shifted_alike(student):
    return student.shifted_attention(*sight((4, 4, 4), 2, seed=537, wide=4), 2, 1)


@hidden("shifted_attention", says="gradients at everything, windows of 3, a shift of 2", weight=2)
def shifted_gradients(student):
    return gradients(student.shifted_attention, *sight((1, 6, 6), 3, seed=541, wide=2), 3, 2)


@hidden("shifted_attention", says="strangers with scores of hundreds", tolerance=2e-3)
def shifted_loud(student):
    q, k, v, bias = sight((1, 6, 6), 3, seed=545, wide=2)
    q = q.abs() + 1
    k[:, -1] -= 300  # the quiet ones sit with loud strangers, once the map is rolled
    k[:, :, -1] -= 200
    return student.shifted_attention(q, k, v, bias, 3, 1)


@hidden("shifted_attention", says="scores of many thousands, gradients", tolerance=2e-3)
def shifted_thousands(student):
    q, k, v, bias = sight((2, 4, 4), 2, seed=549)
    return gradients(student.shifted_attention, 200 * q, 200 * k, v, 5000 * bias, 2, 1)


@hidden("shifted_attention", says="double precision", tolerance=1e-12)
def shifted_double(student):
    return student.shifted_attention(*sight((1, 4, 8), 4, seed=553, dtype=torch.float64), 4, 2)


@hidden("shifted_attention", says="what was given is left as it was", weight=0.5)
def shifted_keeps(student):
    return after(student.shifted_attention, *sight((1, 4, 4), 2, seed=557), 2, 1)


# --- merge


def quarter(size, width, out, seed, dtype=torch.float32):
    """Return maps of a scale that changes from cell to cell, and the three weights."""
    loud = torch.linspace(0.2, 4.0, size[1] * size[2], dtype=dtype).reshape(1, *size[1:], 1)
    x = loud * randn(*size, width, seed=seed, dtype=dtype) - loud
    gain, bias = (0.5 + randn(4 * width, seed=seed + n, dtype=dtype) for n in (1, 2))
    return x, gain, bias, randn(out, 4 * width, seed=seed + 3, dtype=dtype)


@hidden("merge", says="four maps of 8 × 8 cells, six numbers become twelve", weight=2)
def merge_many(student):
    return student.merge(*quarter((4, 8, 8), 6, 12, seed=561))


@hidden("merge", says="odd numbers of rows and of columns", weight=2)
def merge_odd(student):
    sizes = (2, 7, 6), (1, 6, 9), (3, 5, 5), (1, 3, 2)
    return [student.merge(*quarter(size, 3, 6, seed=565)) for size in sizes]


@hidden("merge", says="other widths: one number in, one number out")
def merge_widths(student):
    return [
        student.merge(*quarter((2, 4, 2), width, out, seed=569))
        for width, out in ((1, 1), (1, 2), (4, 16), (2, 3))
    ]


@hidden("merge", says="a map of one colour, and one that is nearly so", tolerance=2e-3)
def merge_flat(student):
    x, *weights = quarter((2, 4, 4), 1, 2, seed=573)
    return [student.merge(0.2 + share * x, *weights) for share in (0.0, 0.003)]


@hidden("merge", says="other values of eps")
def merge_eps(student):
    given = quarter((1, 4, 6), 2, 4, seed=577)
    return [student.merge(*given, eps=eps) for eps in (1e-12, 1e-2, 2.0)]


@hidden("merge", says="gradients at the map and at all weights, odd sides")
def merge_gradients(student):
    return gradients(student.merge, *quarter((2, 3, 5), 2, 3, seed=581))


@hidden("merge", says="double precision", tolerance=1e-12)
def merge_double(student):
    return student.merge(*quarter((2, 4, 5), 3, 6, seed=585, dtype=torch.float64))


@hidden("merge", says="what was given is left as it was", weight=0.5)
def merge_keeps(student):
    return [after(student.merge, *quarter((1, R, 4), 2, 4, seed=589)) for R in (4, 3)]


# --- window_flops


@hidden("window_flops", says="the four stages of Swin-T, with windows and without", weight=2)
def flops_stages(student):
    stages = [(56 // 2**n, 96 * 2**n, 3 * 2**n) for n in range(4)]
    return [
        student.window_flops(cells, cells, width, heads, side)
        for cells, width, heads in stages
        for side in (7, None)
    ]


@hidden("window_flops", says="wide and high maps, many heads")
def flops_shapes(student):
    sizes = (3, 40, 12, 6), (40, 3, 12, 12), (9, 10, 6, 1)
    return [student.window_flops(*size) for size in sizes]


@hidden("window_flops", says="maps that have to be filled up", weight=2)
def flops_filled(student):
    sizes = (13, 7), (7, 13), (1, 1), (15, 8), (6, 6)
    return [student.window_flops(*size, 10, 5, 7) for size in sizes]


@hidden("window_flops", says="windows of one cell, and of the whole map")
def flops_extremes(student):
    return [student.window_flops(8, 8, 4, 2, side) for side in (1, 8, None)]


@hidden("window_flops", says="a picture so large that the number has more than 16 digits")
def flops_large(student):
    return student.window_flops(14_001, 7_003, 768, 12), student.window_flops(9999, 9999, 99, 3, 4)
