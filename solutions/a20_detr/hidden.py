"""The hidden cases of assignment 20: students may read what a case `says`, and nothing else."""

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, randn

# --- giou


def frames(shape, seed, widest=0.7, dtype=torch.float32):
    """Return boxes around many places, a few of them very thin."""
    numbers = randn(*shape, 4, seed=seed, dtype=torch.float64).sigmoid()
    numbers[..., 2:] = 0.01 + widest * numbers[..., 2:] ** 1.5
    return numbers.to(dtype)


@hidden("giou", says="two hundred pairs", weight=2)
def giou_many(student):
    return student.giou(frames((200,), 401), frames((200,), 402))


@hidden("giou", says="all pairs in each of two images", weight=2)
def giou_pairs(student):
    return student.giou(frames((2, 3, 1), 403), frames((2, 1, 6), 404))


@hidden("giou", says="four boxes with four others, and with one")
def giou_square(student):
    four, others = frames((4,), 405), frames((4,), 406)
    return student.giou(four, others), student.giou(four, others[:1]), student.giou(four, others[3])


@hidden("giou", says="one box and one other")
def giou_single(student):
    return [student.giou(frames((), seed, 0.4), frames((), seed + 9)) for seed in (407, 408, 409)]


@hidden("giou", says="boxes far apart, farther and farther away")
def giou_far(student):
    steps = torch.tensor([0.5, 2.0, 9.0, 400.0, -3.0])
    one = torch.tensor([-1.0, 4.0, 1.5, 0.5]).repeat(5, 1)
    aside, below = one.clone(), one.clone()
    aside[:, 0] += steps + 1.6
    below[:, 1] -= steps - 7
    return student.giou(one, aside), student.giou(below, one), student.giou(aside, below)


@hidden("giou", says="boxes that touch at a side or a corner, or lie around one another")
def giou_touch(student):
    one = torch.tensor([4.0, 4.0, 2.0, 2.0]).expand(4, 4).clone()
    near = [[6.0, 4.0, 2.0, 4.0], [2.0, 6.0, 2.0, 2.0], [4.0, 4.0, 8.0, 6.0], [4.0, 4.0, 1.0, 2.0]]
    return student.giou(one, torch.tensor(near))


@hidden("giou", says="lines and points among boxes")
def giou_flat(student):
    flat = frames((6,), 411)
    flat[::2, 2], flat[1::3, 3] = 0.0, 0.0
    flat[3] = torch.tensor([0.25, 0.75, 0.0, 0.0])
    same = flat.clone()
    return student.giou(flat, same), student.giou(flat[:, None], flat.flip(0))


@hidden("giou", says="very small boxes")
def giou_tiny(student):
    return [
        student.giou(frames((8,), 413) * size, frames((8,), 414) * size) for size in (1e-3, 0.02)
    ]


@hidden("giou", says="gradients of all pairs", weight=2)
def giou_gradients(student):
    return gradients(student.giou, frames((3, 1), 415), frames((5,), 416))


@hidden("giou", says="double precision", tolerance=1e-12)
def giou_double(student):
    return student.giou(*(frames((9,), seed, dtype=torch.float64) for seed in (417, 418)))


@hidden("giou", says="what was given is left as it was", weight=0.5)
def giou_keeps(student):
    return after(student.giou, frames((4,), 419), frames((4,), 420))


# --- pair_up and set_loss


def crowd(objects, queries, kinds, seed, near=0.5, dtype=torch.float32):
    """Return what a model says of images with so many objects each, and these."""
    chance = torch.Generator().manual_seed(9000 + seed)
    kind = [torch.randperm(max(kinds, n), generator=chance)[:n] % kinds for n in objects]
    true = [frames((n,), seed + 20 + n, 0.4, dtype=torch.float64) for n in objects]
    said = 1.2 * randn(len(objects), queries, kinds + 1, seed=seed, dtype=torch.float64)
    boxes = frames((len(objects), queries), seed + 1, 0.4, dtype=torch.float64)
    for image, n in enumerate(objects):
        if n:
            about = torch.randint(n, (queries,), generator=chance)
            boxes[image] = near * true[image][about] + (1 - near) * boxes[image]
            said[image, torch.arange(queries), kind[image][about]] += 1.5
    return said.to(dtype), boxes.to(dtype), kind, [box.to(dtype) for box in true]


@hidden("pair_up", says="eight images of 20 queries", weight=2)
def pair_many(student):
    return student.pair_up(*crowd((12, 3, 7, 9, 15, 1, 4, 8), 20, 9, 431))


@hidden("pair_up", says="queries that all speak of nearly the same place", weight=2)
def pair_close(student):
    return student.pair_up(*crowd((6, 8, 7), 12, 2, 441, near=0.9))


@hidden("pair_up", says="one cost alone, with any weight", weight=2)
def pair_single_cost(student):
    given = crowd((6, 5, 9), 11, 9, 451)
    return [
        student.pair_up(*given, weights) for weights in ((3, 0, 0), (0.0, 0.5, 0.0), (0, 0, 7.0))
    ]


@hidden("pair_up", says="many triples of weights")
def pair_weights(student):
    given = crowd((7, 6), 13, 3, 461)
    triples = ((1, 1, 1), (9, 1, 1), (1, 9, 0), (0, 2, 5), (2, 0, 5), (4, 2, 9))
    return [student.pair_up(*given, weights) for weights in triples]


@hidden("pair_up", says="images without objects among others, and nothing but such images")
def pair_empty(student):
    return student.pair_up(*crowd((0, 3, 0, 5), 6, 4, 471)), student.pair_up(
        *crowd((0, 0), 3, 4, 472)
    )


@hidden("pair_up", says="as many objects as queries")
def pair_full(student):
    return student.pair_up(*crowd((8, 8), 8, 4, 481)), student.pair_up(*crowd((1,), 1, 1, 482))


@hidden("pair_up", says="as many images as queries, objects and classes")
def pair_square(student):
    return student.pair_up(*crowd((6, 6, 6, 6, 6, 6), 6, 5, 491))


@hidden("pair_up", says="two objects that are nearly alike")
def pair_twins(student):
    said, boxes, kind, true = crowd((4, 4), 9, 3, 501)
    for image in range(2):
        kind[image][1], true[image][1] = kind[image][0], true[image][0] * 1.02
    return student.pair_up(said, boxes, kind, true)


@hidden("pair_up", says="logits in the thousands")
def pair_sure(student):
    said, *others = crowd((5, 2), 7, 4, 511)
    return student.pair_up(3000 * said, *others)


@hidden("pair_up", says="a model in training")
def pair_training(student):
    return gradients(student.pair_up, *crowd((2, 4), 6, 3, 521))[0]


@hidden("pair_up", says="double precision; what was given is left as it was", weight=0.5)
def pair_keeps(student):
    return after(student.pair_up, *crowd((3, 1), 5, 3, 531, dtype=torch.float64))


def dealt(objects, queries, kinds, seed, dtype=torch.float32):
    """Return the same, and queries by lot for the objects of each image."""
    chance = torch.Generator().manual_seed(9500 + seed)
    lot = [torch.randperm(queries, generator=chance)[:n] for n in objects]
    return *crowd(objects, queries, kinds, seed, dtype=dtype), lot


@hidden("set_loss", says="eight images of 20 queries", weight=2)
def loss_many(student):
    return student.set_loss(*dealt((12, 3, 7, 9, 15, 1, 4, 8), 20, 9, 541))


@hidden("set_loss", says="weights of no object from small to large", weight=2)
def loss_weights(student):
    given = dealt((4, 2, 1), 9, 4, 551)
    return [student.set_loss(*given, weight) for weight in (0.01, 0.3, 1, 2.5)]


@hidden("set_loss", says="images without objects among others")
def loss_some_empty(student):
    return student.set_loss(*dealt((0, 5, 0, 1), 7, 3, 561))


@hidden("set_loss", says="every query has an object")
def loss_full(student):
    return student.set_loss(*dealt((6, 6), 6, 4, 571)), student.set_loss(*dealt((1,), 1, 2, 572))


@hidden("set_loss", says="no object in the whole batch, and the gradient at the logits")
def loss_nothing(student):
    losses, (at_logits, *_) = gradients(student.set_loss, *dealt((0, 0, 0), 4, 5, 581))
    return losses, at_logits


@hidden("set_loss", says="as many images as queries, objects and classes")
def loss_square(student):
    return student.set_loss(*dealt((5, 5, 5, 5, 5), 5, 4, 591))


@hidden("set_loss", says="gradients", weight=2)
def loss_gradients(student):
    return gradients(student.set_loss, *dealt((3, 0, 4), 8, 4, 601), 0.2)


@hidden("set_loss", says="boxes that are right cost nothing")
def loss_perfect(student):
    said, boxes, kind, true, lot = dealt((3, 2), 6, 4, 611)
    boxes = boxes.clone()
    for image, queries in enumerate(lot):
        boxes[image, queries] = true[image]
    return student.set_loss(said, boxes, kind, true, lot)


@hidden("set_loss", says="logits in the thousands: gradients")
def loss_thousands(student):
    said, *others = dealt((2, 3), 6, 3, 621)
    return gradients(student.set_loss, -4000 * said, *others)


@hidden("set_loss", says="double precision", tolerance=1e-8)
def loss_double(student):
    return student.set_loss(*dealt((3, 5, 1), 6, 5, 631, dtype=torch.float64))


@hidden("set_loss", says="what was given is left as it was", weight=0.5)
def loss_keeps(student):
    return after(student.set_loss, *dealt((2, 3), 5, 3, 641), 0.4)


# --- ap_50


def hunt(counts, images, seed, rounds=2, alarms=3, unknown=2):
    """Return a detector that looks `rounds` times for each object, and objects by class.

    No count may share a factor with 100, for a recall of just a level between 0 and 1 would let the
    rounding of a division decide.
    """
    hazard = torch.Generator().manual_seed(seed)
    owner = torch.randint(images, (sum(counts),), generator=hazard)
    kind = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    parts = []
    for image in range(images):
        true = kind[owner == image]
        n, d = len(true), rounds * int((owner == image).sum()) + alarms
        target = torch.arange(d) % max(n, 1)
        real = torch.arange(d) < rounds * n
        cover = 0.35 * torch.rand(d, n, generator=hazard)
        good = 0.3 + 0.68 * torch.rand(d, generator=hazard)
        label = torch.randint(len(counts) + unknown, (d,), generator=hazard)
        if n:
            cover[real, target[real]] = good[real]
            again = (target + 1) % n
            cover[real, again[real]] += 0.5 * torch.rand(int(real.sum()), generator=hazard)
            cover = cover.clamp(max=0.99)
            wrong = torch.rand(d, generator=hazard) < 0.1
            label = torch.where(real & ~wrong, true[target], label)
        sure = torch.rand(d, generator=hazard) * 0.7 + 0.3 * good * real
        shuffled = torch.randperm(d, generator=hazard)
        parts.append((sure[shuffled], label[shuffled], true, cover[shuffled]))
    return [list(part) for part in zip(*parts)]


def plain(student, *given):
    """Return the number, also where it is a tensor: that is asked once only."""
    told = student.ap_50(*given)
    return float(told)


@hidden("ap_50", says="five classes in twelve images", weight=2)
def ap_many(student):
    return plain(student, *hunt((9, 13, 7, 3, 11), 12, 701))


@hidden("ap_50", says="one class, many images", weight=2)
def ap_one_class(student):
    return plain(student, *hunt((27,), 15, 702, unknown=0))


@hidden("ap_50", says="one image, three classes")
def ap_one_image(student):
    return plain(student, *hunt((3, 7, 1), 1, 703, rounds=3))


@hidden("ap_50", says="each object is found four times")
def ap_four_times(student):
    return plain(student, *hunt((7, 9), 5, 704, rounds=4, alarms=0))


@hidden("ap_50", says="false alarms and nothing else")
def ap_alarms(student):
    scores, labels, true, overlaps = hunt((3, 7), 4, 705, rounds=0, alarms=6)
    there = plain(student, scores, labels, true, overlaps)
    overlaps[0], labels[0] = overlaps[0] + 0.4, labels[0].clone()
    if len(true[0]):
        labels[0][0] = true[0][0]
    return there, plain(student, scores, labels, true, overlaps, 0.4)


@hidden("ap_50", says="nothing was found at all, or nothing of one class")
def ap_nothing(student):
    scores, labels, true, overlaps = hunt((7, 3, 9), 5, 706)
    silent = plain(
        student, [x[:0] for x in scores], [x[:0] for x in labels], true, [x[:0] for x in overlaps]
    )
    keep = [x != 1 for x in labels]
    return silent, plain(
        student,
        *([x[k] for x, k in zip(part, keep)] for part in (scores, labels)),
        true,
        [x[k] for x, k in zip(overlaps, keep)],
    )


@hidden("ap_50", says="false alarms in images without objects, some of them very certain")
def ap_elsewhere(student):
    scores, labels, true, overlaps = hunt((9, 7), 4, 707)
    for sure in (0.99, 0.66, 0.33):
        scores.insert(1, torch.tensor([sure, sure - 0.11]))
        labels.insert(1, torch.tensor([0, 1]))
        true.insert(1, torch.zeros(0, dtype=torch.int64))
        overlaps.insert(1, torch.zeros(2, 0))
    return plain(student, scores, labels, true, overlaps)


@hidden("ap_50", says="class ids with gaps")
def ap_gaps(student):
    scores, labels, true, overlaps = hunt((7, 3, 3), 6, 708)
    return plain(student, scores, [7 * x + 2 for x in labels], [7 * x + 2 for x in true], overlaps)


@hidden("ap_50", says="everything is found, with and without false alarms")
def ap_everything(student):
    true = [torch.tensor([0, 0, 1]), torch.tensor([1, 0, 1])]
    second = [[0.5, 0.1, 0.0], [0.2, 0.97, 0.1], [0.3, 0.0, 0.8], [0.4, 0.3, 0.1]]
    overlaps = [0.9 * torch.eye(3), torch.tensor(second)]
    labels = [true[0].clone(), torch.tensor([1, 0, 1, 0])]
    scores = [torch.tensor([0.2, 0.8, 0.3]), torch.tensor([0.9, 0.5, 0.6, 0.1])]
    best = plain(student, scores, labels, true, overlaps)
    scores[1] = torch.tensor([0.9, 0.5, 0.6, 0.4])
    return best, plain(student, scores, labels, true, overlaps)


@hidden("ap_50", says="thresholds from low to high")
def ap_thresholds(student):
    given = hunt((11, 9, 3), 8, 709)
    return [plain(student, *given, threshold) for threshold in (0.3, 0.55, 0.7, 0.85, 0.95)]


@hidden("ap_50", says="an overlap of just the threshold")
def ap_just(student):
    overlaps = [torch.tensor([[0.5, 0.0, 0.0], [0.0, 0.75, 0.0], [0.0, 0.0, 0.25]])]
    given = [torch.tensor([0.9, 0.8, 0.7])], [torch.zeros(3).long()], [torch.zeros(3).long()]
    return [plain(student, *given, overlaps, threshold) for threshold in (0.25, 0.5, 0.75)]


@hidden("ap_50", says="what was given is left as it was", weight=0.5)
def ap_keeps(student):
    return after(student.ap_50, *hunt((3, 1), 2, 710))


# --- places_2d


def corner(sizes):
    """Return the masks of a batch of pictures of these heights and widths."""
    tall, wide = (max(size[axis] for size in sizes) for axis in (0, 1))
    down, right = torch.arange(tall)[:, None], torch.arange(wide)
    return torch.stack([(down < rows) & (right < columns) for rows, columns in sizes])


@hidden("places_2d", says="twelve rows and twenty columns, width 64", weight=2)
def places_large(student):
    return student.places_2d(corner([(12, 20)]), 64)


@hidden("places_2d", says="four pictures padded to one size", weight=2)
def places_padded(student):
    return student.places_2d(corner([(3, 9), (8, 4), (5, 5), (1, 2)]), 16)


@hidden("places_2d", says="the same picture with and without padding")
def places_same(student):
    padded = student.places_2d(corner([(4, 6), (9, 11)]), 8)
    return padded[:1, :4, :6], student.places_2d(corner([(4, 6)]), 8)


@hidden("places_2d", says="one pixel, one row, one column")
def places_small(student):
    return [student.places_2d(corner([size]), 12) for size in ((1, 1), (1, 6), (7, 1))]


@hidden("places_2d", says="width 4, and as many rows as columns as numbers")
def places_alike(student):
    return student.places_2d(corner([(4, 4), (4, 4), (2, 3), (3, 1)]), 4)


@hidden("places_2d", says="pictures that are mirrored or scattered")
def places_scattered(student):
    mirrored = corner([(3, 4), (5, 6)]).flip(1, 2)
    return student.places_2d(mirrored, 8), student.places_2d(randn(3, 5, 6, seed=801) > -0.5, 8)


@hidden("places_2d", says="a picture that is only padding")
def places_nothing(student):
    keep = corner([(3, 3), (2, 3)])
    keep[1] = False
    return student.places_2d(keep, 8)


@hidden("places_2d", says="what was given is left as it was", weight=0.5)
def places_keeps(student):
    return after(student.places_2d, corner([(2, 5), (3, 3)]), 12)
