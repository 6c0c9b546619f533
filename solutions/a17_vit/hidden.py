"""The hidden cases of assignment 17: students may read what a case `says`, and nothing else."""

import re

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, randn

# --- cut


def numbered(B, C, R, L):
    """Return pictures in which each number says where it stands, two digits for each axis."""
    axes = [torch.arange(n).float() for n in (B, C, R, L)]
    picture, channel, row, column = torch.meshgrid(*axes, indexing="ij")
    return 1e6 * picture + 1e4 * channel + 100 * row + column


@hidden("cut", says="every number says where it stood: three channels, 6 × 9 pixels", weight=2)
def cut_numbered(student):
    return student.cut(numbered(2, 3, 6, 9), 3)


@hidden("cut", says="a photograph's size, 32 × 48 pixels in patches of 16", weight=2)
def cut_photograph(student):
    return student.cut(randn(2, 3, 32, 48, seed=301), 16)


@hidden("cut", says="as many channels as pixels in a row; five channels, patches of two")
def cut_channels(student):
    return student.cut(numbered(1, 4, 4, 4), 2), student.cut(randn(3, 5, 8, 2, seed=303), 2)


@hidden("cut", says="very high, very wide, and a single pixel")
def cut_edges(student):
    sizes = (2, 1, 12, 2), (1, 2, 3, 15), (1, 1, 1, 1)
    return [student.cut(numbered(*size), side) for size, side in zip(sizes, (2, 3, 1))]


@hidden("cut", says="whole numbers: uint8, and int64 below zero")
def cut_whole(student):
    bytes_ = (numbered(2, 1, 6, 6) % 256).to(torch.uint8)
    return student.cut(bytes_, 3), student.cut(numbered(1, 2, 4, 6).long() - 100, 2)


@hidden("cut", says="gradients in double precision")
def cut_gradients(student):
    return gradients(student.cut, randn(2, 3, 6, 4, seed=305, dtype=torch.float64), 2)


def refusal(student, size, side):
    """Return the kind of error, and which of the three numbers stand in its sentence."""
    try:
        student.cut(numbered(*size), side)
    except ValueError as told:
        told = set(re.findall(r"\d+", str(told)))
        return "ValueError", [wanted for wanted in (side, *size[2:]) if str(wanted) in told]
    except Exception as told:
        return type(told).__name__, []
    return "nothing raised", []


@hidden("cut", says="rows or columns that the patch does not divide")
def cut_refused(student):
    sizes = [(2, 3, 28, 30), (1, 1, 30, 28), (1, 3, 25, 31), (2, 2, 5, 7), (1, 3, 98, 4)]
    return [refusal(student, size, 14) for size in sizes]


@hidden("cut", says="the pictures are left as they were")
def cut_keeps(student):
    return after(student.cut, numbered(1, 3, 6, 6), 3)


# --- prepare_tokens


def sentence(B, N, D, seed, dtype=torch.float32):
    """Return patches, class token and positions of very different sizes."""
    patches = randn(B, N, D, seed=seed, dtype=dtype)
    return (
        patches,
        5 * randn(D, seed=seed + 1, dtype=dtype),
        randn(N + 1, D, seed=seed + 2, dtype=dtype) - 3,
    )


@hidden("prepare_tokens", says="the sequence of a small ViT, 49 patches", weight=2)
def prepare_many(student):
    return student.prepare_tokens(*sentence(6, 49, 8, seed=311))


@hidden("prepare_tokens", says="a single picture, a single patch, a single number")
def prepare_single(student):
    sizes = (1, 5, 3), (4, 1, 3), (2, 3, 1), (1, 1, 1)
    return [student.prepare_tokens(*sentence(*size, seed=314)) for size in sizes]


@hidden("prepare_tokens", says="gradients: the class token hears of every picture", weight=2)
def prepare_gradients(student):
    return gradients(student.prepare_tokens, *sentence(5, 4, 3, seed=317))


@hidden("prepare_tokens", says="equal patches: positions alone tell them apart")
def prepare_equal(student):
    _, class_token, positions = sentence(2, 4, 3, seed=320)
    return student.prepare_tokens(torch.ones(2, 4, 3), class_token, positions)


@hidden("prepare_tokens", says="double precision", tolerance=1e-12)
def prepare_double(student):
    return student.prepare_tokens(*sentence(3, 4, 4, seed=323, dtype=torch.float64))


@hidden("prepare_tokens", says="what was given is left as it was", weight=0.5)
def prepare_keeps(student):
    return after(student.prepare_tokens, *sentence(2, 5, 3, seed=326))


# --- attention_distance


def heads(count, rows, columns, seed, narrow=1.0, dtype=torch.float64):
    """Return weights of heads that look near, farther and far, and now and then at the class."""
    n = torch.arange(rows * columns)
    r, c = n // columns, n % columns
    steps = ((r[:, None] - r).square() + (c[:, None] - c).square()).to(dtype)
    reach = narrow * (1 + torch.arange(count)).to(dtype)[:, None, None]
    scores = randn(count, len(n) + 1, len(n) + 1, seed=seed, dtype=dtype)
    scores[:, 1:, 1:] -= steps / reach**2
    scores[:, 1:, 0] += 2 * randn(count, len(n), seed=seed + 1, dtype=dtype)
    return scores.softmax(dim=-1)


@hidden("attention_distance", says="six heads of several reaches on 7 × 7 patches", weight=2)
def distance_seven(student):
    return student.attention_distance(heads(6, 7, 7, seed=331), (7, 7), 4)


@hidden("attention_distance", says="two very different sides", weight=2)
def distance_sides(student):
    return student.attention_distance(heads(3, 2, 8, seed=333), (2, 8), 16), (
        student.attention_distance(heads(3, 8, 2, seed=335), (8, 2), 16)
    )


@hidden("attention_distance", says="a head that looks everywhere alike")
def distance_even(student):
    return student.attention_distance(torch.full((2, 21, 21), 1 / 21), (5, 4), 12)


@hidden("attention_distance", says="heads that give nearly everything to the class token")
def distance_class(student):
    found = heads(3, 3, 4, seed=337)
    found[:, 1::2, 0] += 30.0
    return student.attention_distance(found / found.sum(dim=-1, keepdim=True), (3, 4), 10)


@hidden("attention_distance", says="each patch looks at its mirror image, and at itself")
def distance_mirror(student):
    weights = torch.zeros(2, 13, 13)
    weights[:, 0, 0] = 1.0
    weights[0, 1:, 1:] = torch.eye(12).reshape(12, 3, 4).flip(2).reshape(12, 12)
    weights[1, 1:, 1:] = torch.eye(12)
    return student.attention_distance(weights, (3, 4), 5)


@hidden("attention_distance", says="single precision: the same dtype comes back", tolerance=1e-4)
def distance_single(student):
    weights = heads(2, 4, 5, seed=339, dtype=torch.float32)
    return student.attention_distance(weights, (4, 5), 8), student.attention_distance(
        weights[:1, :2, :2], (1, 1), 8
    )


@hidden("attention_distance", says="double precision", tolerance=1e-12)
def distance_double(student):
    return student.attention_distance(heads(3, 3, 5, seed=343), (3, 5), 6)


@hidden("attention_distance", says="what was given is left as it was", weight=0.5)
def distance_keeps(student):
    return after(student.attention_distance, heads(2, 3, 3, seed=341), (3, 3), 7)


# --- resize_places


def learned(rows, columns, width, seed, dtype=torch.float32):
    """Return a table as a ViT learns it: a row's share and a column's share, and some noise."""
    grid = randn(rows, 1, width, seed=seed) + randn(1, columns, width, seed=seed + 1)
    grid = grid + 0.3 * randn(rows, columns, width, seed=seed + 2)
    first = 10 + randn(1, width, seed=seed + 3)
    return torch.cat([first, grid.reshape(-1, width)]).to(dtype)


@hidden("resize_places", says="from 224 to 384 pixels: 14 × 14 places become 24 × 24", weight=2)
def resize_paper(student):
    return student.resize_places(learned(14, 14, 4, seed=351), (14, 14), (24, 24))


@hidden("resize_places", says="a page on its side, and upright", weight=2)
def resize_sides(student):
    wide, high = learned(3, 5, 4, seed=355), learned(5, 3, 4, seed=359)
    return [
        student.resize_places(wide, (3, 5), (5, 3)),
        student.resize_places(high, (5, 3), (4, 9)),
        student.resize_places(wide, (3, 5), (6, 10)),
    ]


@hidden("resize_places", says="to fewer patches, and to a single one")
def resize_fewer(student):
    table = learned(7, 6, 3, seed=363)
    return [student.resize_places(table.clone(), (7, 6), new) for new in ((3, 4), (2, 5), (1, 1))]


@hidden("resize_places", says="from a single row, a single column, a single patch")
def resize_single(student):
    olds = (1, 4), (4, 1), (1, 1)
    return [student.resize_places(learned(*old, 2, seed=367), old, (3, 6)) for old in olds]


@hidden("resize_places", says="numbers that say their row and column")
def resize_ramp(student):
    row, column = torch.meshgrid(torch.arange(4.0), torch.arange(6.0), indexing="ij")
    table = torch.stack([row.flatten(), 100 * column.flatten()], dim=1)
    return student.resize_places(torch.cat([torch.tensor([[-7.0, -8.0]]), table]), (4, 6), (9, 4))


@hidden("resize_places", says="double precision", tolerance=1e-12)
def resize_double(student):
    return student.resize_places(learned(3, 4, 5, seed=371, dtype=torch.float64), (3, 4), (5, 6))


@hidden("resize_places", says="the table is left as it was, also where the grid stays", weight=0.5)
def resize_keeps(student):
    return [
        after(student.resize_places, learned(2, 3, 4, seed=375), (2, 3), new)
        for new in ((2, 3), (4, 2))
    ]


# --- few_shot


def shots(classes, each, width, seed, far=3.0, dtype=torch.float64):
    """Return the features and labels of a few pictures, unseen ones, and how many classes."""
    centres = randn(classes, width, seed=seed, dtype=dtype) + far
    labels = torch.cat([torch.full((1 + (k + each) % 4,), k) for k in range(classes)])
    labels = labels[torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))]
    seen = centres[labels] + 0.8 * randn(len(labels), width, seed=seed + 1, dtype=dtype)
    unseen = centres + 0.8 * randn(classes, width, seed=seed + 2, dtype=dtype)
    return seen, labels, unseen, classes


@hidden("few_shot", says="ten classes, a few pictures of each", weight=2)
def shot_ten(student):
    return student.few_shot(*shots(10, 3, 16, seed=381), 2.0)


@hidden("few_shot", says="many more features than pictures", weight=2)
def shot_wide(student):
    return student.few_shot(*shots(4, 2, 60, seed=384), 0.05)


@hidden("few_shot", says="many more pictures than features")
def shot_many(student):
    seen, labels, unseen, classes = shots(6, 1, 2, seed=387)
    more = torch.cat([seen + 0.1 * k for k in range(5)]), labels.repeat(5)
    return student.few_shot(*more, unseen, classes, 0.7)


@hidden("few_shot", says="ridges from small to large, and none named")
def shot_ridges(student):
    given = shots(3, 2, 5, seed=390)
    return [student.few_shot(*given, *ridge) for ridge in ((), (0.02,), (20.0,), (1e4,))]


@hidden("few_shot", says="classes that nobody has shown, the first and the last among them")
def shot_missing(student):
    seen, labels, unseen, _ = shots(3, 3, 4, seed=393)
    return student.few_shot(seen, 2 * labels + 1, unseen, 8, 0.5)


@hidden("few_shot", says="a single unseen picture, and features far from zero")
def shot_single(student):
    seen, labels, unseen, classes = shots(4, 2, 6, seed=396, far=50.0)
    return student.few_shot(seen, labels, unseen[2:3], classes, 0.3)


@hidden("few_shot", says="single precision: the same dtype comes back", tolerance=1e-3)
def shot_single_precision(student):
    return student.few_shot(*shots(3, 3, 4, seed=399, dtype=torch.float32), 3.0)


@hidden("few_shot", says="what was given is left as it was", weight=0.5)
def shot_keeps(student):
    return after(student.few_shot, *shots(3, 2, 4, seed=402), 1.5)
