"""How good a detector is, in COCO's way: the mean over the classes of an area under a curve."""

from __future__ import annotations

import torch

from coursekit.check.probe import Chance, after
from coursetools.questions import hidden, visible


def ap_50(scores, labels, true_labels, overlaps, threshold=0.5):
    """Lists, an entry for each image: (d,), (d,), (n,), (d, n) -> the mean AP, a number."""
    values = []
    for c in torch.cat(true_labels).unique().tolist():
        hits = []  # for each detection of the class: its score, and has it found an object?
        for score, label, true, overlap in zip(scores, labels, true_labels, overlaps):
            free = true == c  # (n,)
            for d in score.argsort(descending=True).tolist():
                if label[d] == c:
                    worth = overlap[d].where(free, -1.0)  # (n,)
                    hit = bool((worth >= threshold).any())
                    if hit:
                        free[worth.argmax()] = False
                    hits.append((score[d].item(), hit))
        total = sum(int((true == c).sum()) for true in true_labels)
        right, curve = 0, []  # recall and precision behind each detection
        for n, (_, hit) in enumerate(sorted(hits, reverse=True), 1):
            right += hit
            curve.append((right / total, right / n))
        best = [max((p for r, p in curve if r >= k / 100), default=0.0) for k in range(101)]
        values.append(sum(best) / len(best))
    return sum(values) / len(values)


def hunt(counts, images, seed, rounds=2, alarms=3, unknown=2):
    """Return a detector that looks `rounds` times for each object, and objects by class.

    No count may share a factor with 100, for a recall of just a level between 0 and 1 would let the
    rounding of a division decide.
    """
    hazard = Chance(seed)
    owner = hazard.randint(images, (sum(counts),))
    kind = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    parts = []
    for image in range(images):
        true = kind[owner == image]
        n, d = len(true), rounds * int((owner == image).sum()) + alarms
        target = torch.arange(d) % max(n, 1)
        real = torch.arange(d) < rounds * n
        cover = 0.35 * hazard.rand(d, n)
        good = 0.3 + 0.68 * hazard.rand(d)
        label = hazard.randint(len(counts) + unknown, (d,))
        if n:
            cover[real, target[real]] = good[real]
            again = (target + 1) % n
            cover[real, again[real]] += 0.5 * hazard.rand(int(real.sum()))
            cover = cover.clamp(max=0.99)
            wrong = hazard.rand(d) < 0.1
            label = torch.where(real & ~wrong, true[target], label)
        sure = hazard.rand(d) * 0.7 + 0.3 * good * real
        shuffled = hazard.randperm(d)
        parts.append((sure[shuffled], label[shuffled], true, cover[shuffled]))
    return [list(part) for part in zip(*parts)]


def plain(student, *given):
    """Return the number, also where it is a tensor: only the last case asks whether it is one."""
    return float(student.ap_50(*given))


@visible("one image, one class: three objects, four detections")
def one_image(student):
    overlap = [[0.7, 0.1, 0.0], [0.2, 0.4, 0.0], [0.1, 0.5, 0.1], [0.8, 0.0, 0.3]]
    scores, classes = torch.tensor([0.9, 0.8, 0.6, 0.3]), torch.zeros(4).long()
    return plain(student, [scores], [classes], [classes[:3]], [torch.tensor(overlap)])


@visible("one class in five images", weight=2)
def one_class(student):
    return plain(student, *hunt((13,), 5, 110, unknown=0))


@visible("three classes in six images", weight=2)
def three_classes(student):
    return plain(student, *hunt((9, 7, 11), 6, 111, unknown=0))


@visible("classes that nobody found or that are nowhere; images with nothing in them, or found")
def nobody_and_nowhere(student):
    scores, labels, true, overlaps = hunt((7, 9), 5, 112)
    true[1] = torch.cat([true[1], torch.tensor([8])])
    overlaps[1] = torch.cat([overlaps[1], torch.full((len(overlaps[1]), 1), 0.1)], dim=1)
    for part in (scores, labels, overlaps):
        part[0] = part[0][:0]
    scores.append(torch.tensor([0.95, 0.45])), labels.append(torch.tensor([1, 0]))
    true.append(torch.zeros(0, dtype=torch.int64)), overlaps.append(torch.zeros(2, 0))
    return plain(student, scores, labels, true, overlaps)


@visible("other thresholds", weight=2)
def other_thresholds(student):
    given = hunt((9, 13), 6, 114)
    return [plain(student, *given, threshold) for threshold in (0.4, 0.75, 0.9)]


@visible("what was given stays as it was")
def what_was_given_stays(student):
    return after(student.ap_50, *hunt((3, 7), 3, 115))


@hidden("five classes in twelve images", weight=2)
def ap_many(student):
    return plain(student, *hunt((9, 13, 7, 3, 11), 12, 701))


@hidden("one class, many images", weight=2)
def ap_one_class(student):
    return plain(student, *hunt((27,), 15, 702, unknown=0))


@hidden("one image, three classes")
def ap_one_image(student):
    return plain(student, *hunt((3, 7, 1), 1, 703, rounds=3))


@hidden("each object is found four times")
def ap_four_times(student):
    return plain(student, *hunt((7, 9), 5, 704, rounds=4, alarms=0))


@hidden("false alarms and nothing else")
def ap_alarms(student):
    scores, labels, true, overlaps = hunt((3, 7), 4, 705, rounds=0, alarms=6)
    there = plain(student, scores, labels, true, overlaps)
    overlaps[0], labels[0] = overlaps[0] + 0.4, labels[0].clone()
    if len(true[0]):
        labels[0][0] = true[0][0]
    return there, plain(student, scores, labels, true, overlaps, 0.4)


@hidden("nothing was found at all, nothing of one class, nothing in one image")
def ap_nothing(student):
    scores, labels, true, overlaps = hunt((7, 3, 9), 5, 706)
    silent = plain(
        student, [x[:0] for x in scores], [x[:0] for x in labels], true, [x[:0] for x in overlaps]
    )
    blank = [[part[0][:0], *part[1:]] for part in (scores, labels, overlaps)]
    one_blank = plain(student, blank[0], blank[1], true, blank[2])
    keep = [x != 1 for x in labels]
    return (
        silent,
        one_blank,
        plain(
            student,
            *([x[k] for x, k in zip(part, keep)] for part in (scores, labels)),
            true,
            [x[k] for x, k in zip(overlaps, keep)],
        ),
    )


@hidden("false alarms in images without objects, some of them very certain")
def ap_elsewhere(student):
    scores, labels, true, overlaps = hunt((9, 7), 4, 707)
    for sure in (0.99, 0.66, 0.33):
        scores.insert(1, torch.tensor([sure, sure - 0.11]))
        labels.insert(1, torch.tensor([0, 1]))
        true.insert(1, torch.zeros(0, dtype=torch.int64))
        overlaps.insert(1, torch.zeros(2, 0))
    return plain(student, scores, labels, true, overlaps)


@hidden("class ids with gaps")
def ap_gaps(student):
    scores, labels, true, overlaps = hunt((7, 3, 3), 6, 708)
    return plain(student, scores, [7 * x + 2 for x in labels], [7 * x + 2 for x in true], overlaps)


@hidden("everything is found, with and without false alarms")
def ap_everything(student):
    true = [torch.tensor([0, 0, 1]), torch.tensor([1, 0, 1])]
    second = [[0.5, 0.1, 0.0], [0.2, 0.97, 0.1], [0.3, 0.0, 0.8], [0.4, 0.3, 0.1]]
    overlaps = [0.9 * torch.eye(3), torch.tensor(second)]
    labels = [true[0].clone(), torch.tensor([1, 0, 1, 0])]
    scores = [torch.tensor([0.2, 0.8, 0.3]), torch.tensor([0.9, 0.5, 0.6, 0.1])]
    best = plain(student, scores, labels, true, overlaps)
    scores[1] = torch.tensor([0.9, 0.5, 0.6, 0.4])
    return best, plain(student, scores, labels, true, overlaps)


@hidden("thresholds from low to high")
def ap_thresholds(student):
    given = hunt((11, 9, 3), 8, 709)
    return [plain(student, *given, threshold) for threshold in (0.3, 0.55, 0.7, 0.85, 0.95)]


@hidden("an overlap of just the threshold")
def ap_just(student):
    overlaps = [torch.tensor([[0.5, 0.0, 0.0], [0.0, 0.75, 0.0], [0.0, 0.0, 0.25]])]
    given = [torch.tensor([0.9, 0.8, 0.7])], [torch.zeros(3).long()], [torch.zeros(3).long()]
    return [plain(student, *given, overlaps, threshold) for threshold in (0.25, 0.5, 0.75)]


@hidden("what was given is left as it was", weight=0.5)
def ap_keeps(student):
    return after(student.ap_50, *hunt((3, 1), 2, 710))
