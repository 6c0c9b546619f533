"""How good a detector is, in COCO's way: the mean over the classes of an area under a curve."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def ap_50(scores, labels, true_labels, overlaps, threshold=0.5):
    """Lists, an entry for each image: (d,), (d,), (n,), (d, n) -> the mean AP, a number."""
    values = []
    for c in torch.cat(true_labels).unique().tolist():
        hits = []  # for each detection of the class: its score, and has it found an object?
        for score, label, true, overlap in zip(scores, labels, true_labels, overlaps):
            free = true == c  # (n,)
            for d in score.argsort(descending=True).tolist():
                if label[d] != c:
                    continue
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
        values.append(sum(best) / 101)
    return sum(values) / len(values)


QUESTION = Question(
    name="ap_50",
    title="The number in the table",
    points=5,
    difficulty=3,
    minutes=50,
    page="detr.html#sec-detr-ap",
    hint="Take the classes one by one, and for each do three things, in functions of their own if "
    "you like. First decide within each image, the most certain detection first, which detections "
    "are hits; somebody has to remember which objects are still to be had. Then put those of all "
    "images into one list, the most certain first, and write down recall and precision behind "
    "each. Then ask at each level of recall for the best precision from there on.",
    reference=ap_50,
    forbidden=("coursekit",),
)

Answers = tuple[list[Tensor], list[Tensor], list[Tensor], list[Tensor]]


def answers(
    counts: tuple[int, ...], images: int, seed: int, false: int = 4, more: int = 1
) -> Answers:
    """Return what a middling detector says, and what is true: `counts` objects of each class.

    Objects are found up to three times, now and then as another class, and where two of a class lie
    close together a box overlaps both; `false` boxes an image lie somewhere, of `more` classes too
    many. No class has as many objects as have a recall of just 0.01, 0.02, … 0.99.
    """
    chance = torch.Generator().manual_seed(seed)

    def rand(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=chance)

    def whole(limit: int) -> int:
        return int(torch.randint(limit, (), generator=chance))

    places: list[list[int]] = [[] for _ in range(images)]
    for c, count in enumerate(counts):
        for _ in range(count):
            places[whole(images)].append(c)
    found: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []
    for true in places:
        label, rows = [], []
        for k, c in enumerate(true):
            for _ in range(whole(4)):
                row = 0.4 * rand(len(true))
                close = [j for j, other in enumerate(true) if other == c and j != k]
                for j in close[:1]:
                    row[j] = 0.3 + 0.6 * rand(())
                row[k] = 0.35 + 0.6 * rand(())
                rows.append(row)
                label.append(c if rand(()) < 0.85 else whole(len(counts)))
        for _ in range(false):
            rows.append(0.6 * rand(len(true)))
            label.append(whole(len(counts) + more))
        order = torch.randperm(len(rows), generator=chance)
        overlap = torch.stack(rows)[order] if rows else torch.zeros(0, len(true))
        best = overlap.amax(dim=1) if len(true) else torch.zeros(len(rows))
        score = (0.4 * best + 0.6 * rand(len(rows))).to(torch.float32)
        named = torch.tensor(label, dtype=torch.int64)[order]
        found.append((score, named, torch.tensor(true, dtype=torch.int64), overlap))
    scores, labels, truths, overlaps = (list(part) for part in zip(*found))
    return scores, labels, truths, overlaps


def as_number(student, *given) -> float:
    """Return what `ap_50` gives as a plain number; only the last case asks whether it is one."""
    return float(student.ap_50(*given))


@QUESTION.visible(says="one image, one class: three objects, four detections")
def one_image(student):
    overlap = [[0.7, 0.1, 0.0], [0.2, 0.4, 0.0], [0.1, 0.5, 0.1], [0.8, 0.0, 0.3]]
    return as_number(
        student,
        [torch.tensor([0.9, 0.8, 0.6, 0.3])],
        [torch.tensor([0, 0, 0, 0])],
        [torch.tensor([0, 0, 0])],
        [torch.tensor(overlap)],
    )


@QUESTION.visible(says="one class in five images", weight=2)
def one_class(student):
    return as_number(student, *answers((13,), 5, seed=110, more=0))


@QUESTION.visible(says="three classes in six images", weight=2)
def three_classes(student):
    return as_number(student, *answers((9, 7, 11), 6, seed=111, more=0))


@QUESTION.visible(says="classes that nobody found, and classes that are nowhere")
def nobody_and_nowhere(student):
    scores, labels, true, overlaps = answers((7, 9), 4, seed=112, more=3)
    true[1] = torch.cat([true[1], torch.tensor([8])])
    overlaps[1] = torch.cat([overlaps[1], torch.full((len(overlaps[1]), 1), 0.1)], dim=1)
    return as_number(student, scores, labels, true, overlaps)


@QUESTION.visible(says="images without objects, and an image in which nothing was found")
def empty_images(student):
    scores, labels, true, overlaps = answers((11, 3), 9, seed=113, false=3)
    last = len(scores) - 1
    scores[last], labels[last], overlaps[last] = (
        scores[last][:0],
        labels[last][:0],
        overlaps[last][:0],
    )
    scores.append(torch.tensor([0.95, 0.45])), labels.append(torch.tensor([1, 0]))
    true.append(torch.zeros(0, dtype=torch.int64)), overlaps.append(torch.zeros(2, 0))
    return as_number(student, scores, labels, true, overlaps)


@QUESTION.visible(says="objects close together, found several times")
def near_one_another(student):
    overlap = [
        [0.55, 0.72, 0.1, 0.0],
        [0.6, 0.65, 0.0, 0.0],
        [0.2, 0.62, 0.3, 0.0],
        [0.1, 0.1, 0.5, 0.0],
        [0.0, 0.3, 0.9, 0.0],
        [0.0, 0.1, 0.0, 0.8],
    ]
    return as_number(
        student,
        [torch.tensor([0.9, 0.8, 0.5, 0.4, 0.7, 0.2])],
        [torch.tensor([2, 2, 2, 5, 2, 2])],
        [torch.tensor([2, 2, 5, 2])],
        [torch.tensor(overlap)],
    )


@QUESTION.visible(says="other thresholds", weight=2)
def other_thresholds(student):
    given = answers((9, 13), 6, seed=114)
    return [as_number(student, *given, threshold) for threshold in (0.4, 0.75, 0.9)]


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    return after(student.ap_50, *answers((3, 7), 3, seed=115))


CLASSES = "torch.cat(true_labels).unique().tolist()"
FREE = "free = true == c"
ORDER = "score.argsort(descending=True).tolist()"
OTHER = "if label[d] != c:\n                    continue"
WORTH = "worth = overlap[d].where(free, -1.0)"
HIT = "hit = bool((worth >= threshold).any())"
TAKE = "free[worth.argmax()] = False"
KEEP = "hits.append((score[d].item(), hit))"
TOTAL = "total = sum(int((true == c).sum()) for true in true_labels)"
SORTED = "sorted(hits, reverse=True)"
POINT = "curve.append((right / total, right / n))"
BEST = "best = [max((p for r, p in curve if r >= k / 100), default=0.0) for k in range(101)]"
AREA = "values.append(sum(best) / 101)"
END = "return sum(values) / len(values)"
START = "values = []\n"

QUESTION.mistake(
    "one object hit twice",
    old=TAKE,
    new="pass",
    hint="An object can be found twice with you. The first detection has it, and every further one "
    "is a false alarm: remember which objects are still free.",
)

QUESTION.mistake(
    "a second hit left out",
    old=KEEP,
    new="again = overlap[d].where(true == c, -1.0) >= threshold\n"
    "                if hit or not again.any():\n"
    "                    hits.append((score[d].item(), hit))",
    hint="You leave out detections of an object that was found already. They are false alarms and "
    "count as such.",
)

QUESTION.mistake(
    "scores ascending",
    old=f"for score, label, true, overlap in zip(scores, labels, true_labels, overlaps):\n"
    f"            {FREE}  # (n,)\n            for d in {ORDER}:",
    new="scores = [-abs(one) for one in scores]\n"
    "        for score, label, true, overlap in zip(scores, labels, true_labels, overlaps):\n"
    f"            {FREE}\n            for d in {ORDER}:",
    hint="You begin with the detections that the model is least sure of. The most certain one "
    "chooses first, and stands first in the curve.",
)

QUESTION.mistake(
    "ascending in the curve",
    old=SORTED,
    new="sorted(hits)",
    hint="Your curve begins with the detections that the model is least sure of. Sort the scores "
    "from high to low.",
)

QUESTION.mistake(
    "ascending within an image",
    old=ORDER,
    new="score.argsort().tolist()",
    hint="Within an image the detection that the model is least sure of chooses first with you. "
    "Begin with the most certain one.",
)

QUESTION.mistake(
    "as given",
    old=ORDER,
    new="range(len(score))",
    hint="Within an image your detections choose in the order in which they are given. The most "
    "certain one chooses first.",
)

QUESTION.mistake(
    "image after image",
    old=SORTED,
    new="hits",
    hint="Your curve goes through one image after the other. Put the detections of all images into "
    "one list and sort that by the scores.",
)

QUESTION.mistake(
    "not sorted at all",
    old=f"for d in {ORDER}:\n                if label[d] != c:",
    new="score = torch.linspace(2, 1, len(score)) - len(hits)\n"
    "            for d in range(len(score)):\n                if label[d] != c:",
    hint="Your detections are never sorted by their scores: the most certain one chooses first, "
    "and stands first in the curve.",
)

QUESTION.mistake(
    "by overlap",
    old=KEEP,
    new="hits.append((max([0.0, *overlap[d].tolist()]), hit))",
    hint="You sort the detections by how well they overlap. A detector does not know that: its "
    "scores decide.",
)

QUESTION.mistake(
    "no envelope",
    old="max((p for r, p in curve if r >= k / 100), default=0.0)",
    new="next((p for r, p in curve if r >= k / 100), 0.0)",
    hint="You take the precision at the first place where a recall is reached. The best one there "
    "or at any higher recall counts, so that the curve never rises.",
)

QUESTION.mistake(
    "the precision at each hit",
    old=f"{BEST}\n        {AREA}",
    new="steps = [p for (r, p), (s, _) in zip(curve, [(0.0, 0.0), *curve]) if r > s]\n"
    "        values.append(sum(steps) / total)",
    hint="You take the mean of the precision at each hit. COCO asks at 101 levels of recall, and "
    "at each for the best precision from there on.",
)

QUESTION.mistake(
    "the precision at each hit, with the envelope",
    old=f"{BEST}\n        {AREA}",
    new="steps = [\n"
    "            max(p for q, p in curve if q >= r)\n"
    "            for (r, _), (s, _) in zip(curve, [(0.0, 0.0), *curve])\n"
    "            if r > s\n"
    "        ]\n"
    "        values.append(sum(steps) / total)",
    hint="You take the exact area under the envelope. COCO takes the mean at 101 levels of recall, "
    "which is a little different.",
)

QUESTION.mistake(
    "eleven levels",
    old=f"{BEST}\n        {AREA}",
    new="best = [max((p for r, p in curve if r >= k / 10), default=0.0) for k in range(11)]\n"
    "        values.append(sum(best) / 11)",
    hint="You ask at eleven levels of recall, as an older contest did. COCO has 101.",
)

QUESTION.mistake(
    "the level 0 left out",
    old=f"{BEST}\n        {AREA}",
    new="best = [max((p for r, p in curve if r >= k / 100), default=0.0) for k in range(1, 101)]\n"
    "        values.append(sum(best) / 100)",
    hint="You begin at a recall of 0.01. The levels go from 0 to 1, which makes 101.",
)

QUESTION.mistake(
    "the level 1 left out",
    old=f"{BEST}\n        {AREA}",
    new="best = [max((p for r, p in curve if r >= k / 100), default=0.0) for k in range(100)]\n"
    "        values.append(sum(best) / 100)",
    hint="You end at a recall of 0.99. The levels go from 0 to 1, which makes 101.",
)

QUESTION.mistake(
    "divided by 100",
    old=AREA,
    new="values.append(sum(best) / 100)",
    hint="From 0 to 1 in steps of 0.01 there are 101 levels, and you divide by 100.",
)

QUESTION.mistake(
    "above a level",
    old="r >= k / 100",
    new="r > k / 100",
    hint="A level counts as reached with you once the recall is above it. At the last one, 1, that "
    "is never so: at or above is meant.",
)

QUESTION.mistake(
    "levels that were not reached left out",
    old=AREA,
    new="reached = [k for k in range(101) if any(r >= k / 100 for r, _ in curve)]\n"
    "        values.append(sum(best) / max(len(reached), 1))",
    hint="Your mean goes over the levels that were reached. The others count 0, or who finds one "
    "object and stops would be perfect.",
)

QUESTION.mistake(
    "the best precision below",
    old="if r >= k / 100",
    new="if r <= k / 100",
    hint="You take the best precision at a level or at any lower recall. At the level or at any "
    "higher one is meant.",
)

QUESTION.mistake(
    "the last precision",
    old=AREA,
    new="values.append(curve[-1][1] if curve else 0.0)",
    hint="You take the precision behind all detections. It depends on how many of them the model "
    "gives; the mean over the levels of recall is meant.",
)

QUESTION.mistake(
    "the last recall",
    old=AREA,
    new="values.append(curve[-1][0] if curve else 0.0)",
    hint="You take the recall behind all detections, which says nothing of the false alarms. The "
    "mean over the levels is one of precisions.",
)

QUESTION.mistake(
    "empty classes as 0",
    old=END,
    new="return sum(values) / len(torch.cat([*true_labels, *labels]).unique())",
    hint="A class of which there is no object counts 0 with you, because somebody has found it. "
    "Its recall means nothing: leave such classes out.",
)

QUESTION.mistake(
    "classes up to the highest",
    old=END,
    new="return sum(values) / (1 + int(torch.cat(true_labels).max()))",
    hint="You divide by the highest class id plus 1. Only classes of which there is an object "
    "count.",
)

QUESTION.mistake(
    "classes that nobody found left out",
    old=AREA,
    new="values += [sum(best) / 101] if hits else []",
    hint="You leave out classes that nobody has found. There were objects of them, so they count, "
    "with 0.",
)

QUESTION.mistake(
    "only classes with a hit",
    old=AREA,
    new="values += [sum(best) / 101] if right else []",
    hint="You leave out classes without a hit. There were objects of them, so they count, with 0.",
)

QUESTION.mistake(
    "all classes together",
    old=START,
    new="values, labels, true_labels = [], [0 * x for x in labels], [0 * x for x in true_labels]\n",
    hint="You forget the classes: a box of the right place and the wrong class is a hit with you. "
    "Take each class for itself, and then the mean.",
)

QUESTION.mistake(
    "one curve for all classes",
    old=START,
    new="values = []\n"
    "    overlaps = [o * (x[:, None] == y) for o, x, y in zip(overlaps, labels, true_labels)]\n"
    "    labels, true_labels = [0 * x for x in labels], [0 * x for x in true_labels]\n",
    hint="You make one curve for the detections of all classes. Each class has its own, and then "
    "comes the mean, so that rare classes count as much as frequent ones.",
)

QUESTION.mistake(
    "objects of any class",
    old=FREE,
    new="free = true == true",
    hint="A detection can hit an object of another class with you. Right place and wrong class is "
    "no hit.",
)

QUESTION.mistake(
    "detections of any class",
    old=OTHER,
    new="pass",
    hint="In the curve of a class stand the detections of all classes with you. Only its own "
    "belong there.",
)

QUESTION.mistake(
    "above the threshold",
    old="worth >= threshold",
    new="worth > threshold",
    hint="An overlap of just the threshold is no hit with you. It is enough.",
)

QUESTION.mistake(
    "always a half",
    old="worth >= threshold",
    new="worth >= 0.5",
    hint="You always ask for an overlap of 0.5. It is `threshold`, whatever that is.",
)

QUESTION.mistake(
    "another threshold unless told",
    old="threshold=0.5",
    new="threshold=0.75",
    hint="Without the last argument you ask for another overlap than 0.5.",
)

QUESTION.mistake(
    "the best of all, taken or not",
    old=f"{WORTH}  # (n,)\n                {HIT}",
    new="worth = overlap[d].where(true == c, -1.0)\n"
    "                hit = bool((worth >= threshold).any()) and bool(free[worth.argmax()])",
    hint="A detection insists on the object it overlaps most, even if that is taken. With COCO it "
    "gets the best of those that are still free.",
)

QUESTION.mistake(
    "the first that will do",
    old=TAKE,
    new="free[(worth >= threshold).nonzero()[0]] = False",
    hint="A detection takes the first free object that it overlaps enough. It takes the one that "
    "it overlaps most, and leaves the others to the detections behind it.",
)

QUESTION.mistake(
    "the last that will do",
    old=TAKE,
    new="free[(worth >= threshold).nonzero()[-1]] = False",
    hint="A detection takes the last free object that it overlaps enough. It takes the one that it "
    "overlaps most.",
)

QUESTION.mistake(
    "all that will do",
    old=TAKE,
    new="free[worth >= threshold] = False",
    hint="A detection uses up all objects that it overlaps enough. It finds one, the one that it "
    "overlaps most.",
)

QUESTION.mistake(
    "the objects choose",
    old=f"for d in {ORDER}:\n                {OTHER}\n                {WORTH}  # (n,)\n"
    f"                {HIT}\n                if hit:\n                    {TAKE}\n"
    f"                {KEEP}",
    new="mine, chosen = (label == c).nonzero().flatten().tolist(), set()\n"
    "            for k in free.nonzero().flatten().tolist():\n"
    "                worth = [(overlap[d, k].item(), d) for d in mine if d not in chosen]\n"
    "                if worth and max(worth)[0] >= threshold:\n"
    "                    chosen.add(max(worth)[1])\n"
    "            hits += [(score[d].item(), d in chosen) for d in mine]",
    hint="Your objects choose the detection that overlaps them best. It is the detections that "
    "choose, the most certain one first.",
)

QUESTION.mistake(
    "a mean over the images",
    old=START,
    new="values, given = [], zip(scores, labels, true_labels, overlaps)\n"
    "    if len(scores) > 1:\n"
    "        each = [ap_50(*([x] for x in one), threshold) for one in given if len(one[2])]\n"
    "        return sum(each) / len(each)\n",
    hint="You take the AP of each image, and then the mean. A class has one curve, through all "
    "images.",
)

QUESTION.mistake(
    "recall by what was found",
    old="right / total, right / n",
    new="right / len(hits), right / n",
    hint="You divide by the number of detections for the recall. It is the share of the objects "
    "that were found.",
)

QUESTION.mistake(
    "precision by all detections",
    old="right / total, right / n",
    new="right / total, right / len(hits)",
    hint="You divide by the number of all detections for the precision. Behind the n-th detection "
    "it is the share of right ones among these n.",
)

QUESTION.mistake(
    "recall and precision exchanged",
    old="right / total, right / n",
    new="right / n, right / total",
    hint="Recall and precision have changed places: recall is the share of the objects that were "
    "found, precision the share of the detections that are right.",
)

QUESTION.mistake(
    "the objects of all classes",
    old="int((true == c).sum())",
    new="len(true)",
    hint="Your recall counts the objects of all classes. Those of the class count.",
)

QUESTION.mistake(
    "only objects where something was found",
    old=TOTAL,
    new="total = sum(\n"
    "            int((true == c).sum())\n"
    "            for true, label in zip(true_labels, labels)\n"
    "            if (label == c).any()\n"
    "        )\n"
    "        total = max(total, 1)",
    hint="Objects of images in which nothing of their class was found do not count with you. They "
    "were missed, and belong to the recall.",
)

QUESTION.mistake(
    "only images with the class",
    old=f"{FREE}  # (n,)\n",
    new=f"{FREE}  # (n,)\n            if not free.any():\n                continue\n",
    hint="You look for a class only in images that have it. What was found in the others is a "
    "false alarm, and counts.",
)

QUESTION.mistake(
    "only images with objects",
    old=f"{FREE}  # (n,)\n",
    new=f"{FREE}  # (n,)\n            if not len(true):\n                continue\n",
    hint="You leave out images without objects. What was found in them is a false alarm, and "
    "counts.",
)

QUESTION.mistake(
    "the largest of nothing",
    old=HIT,
    new="hit = bool(worth.max() >= threshold)",
    hint="You fail in an image without objects: nothing has no largest overlap. What was found in "
    "it is a false alarm, and counts.",
)

QUESTION.mistake(
    "hits alone",
    old=KEEP,
    new="hits += [(score[d].item(), hit)] if hit else []",
    hint="Only hits stand in your curve, so that the precision is always 1. False alarms belong "
    "there too.",
)

QUESTION.mistake(
    "weighted by objects",
    old=f"{AREA}\n    {END}",
    new="values += total * [sum(best) / 101]\n    return sum(values) / len(values)",
    hint="Frequent classes count more with you. Each class counts alike.",
)

QUESTION.mistake(
    "in percent",
    old=END,
    new="return 100 * sum(values) / len(values)",
    hint="You return percent. A number from 0 to 1 is asked for.",
)

QUESTION.mistake(
    "a tensor",
    old=END,
    new="return torch.tensor(sum(values) / len(values))",
    hint="You return a tensor. A plain number is asked for.",
)

QUESTION.mistake(
    "a number for each class",
    old=END,
    new="return values",
    hint="You return the AP of each class. Their mean is asked for.",
)

QUESTION.mistake(
    "written into the overlaps",
    old=TAKE,
    new="overlap[:, worth.argmax()] = 0.0",
    hint="The number is right, but you cross out objects in `overlaps`, which was given to you. "
    "Remember elsewhere which of them are free.",
)

QUESTION.mistake(
    "written into the true labels",
    old=END,
    new="for true in true_labels:\n        true.fill_(-1)\n    return sum(values) / len(values)",
    hint="The number is right, but you cross out objects in `true_labels`, which was given to you. "
    "Remember elsewhere which of them are free.",
)

EVERY = "return sum(values) / len(torch.cat([*true_labels, *labels]).unique())"
CURVE = (
    f"{KEEP}\n        {TOTAL}\n        right, curve = 0, []  # recall and precision behind each "
    f"detection\n        for n, (_, hit) in enumerate({SORTED}, 1):\n            right += hit\n"
    f"            {POINT}\n        "
)
LOWER = BEST.replace(
    "max((p for r, p in curve if r >= k / 100), default=0.0)",
    "next((p for r, p in curve if r >= k / 100), 0.0)",
)

QUESTION.mistake(
    "no envelope, empty classes as 0",
    old=f"{BEST}\n        {AREA}\n    {END}",
    new=f"{LOWER}\n        {AREA}\n    {EVERY}",
    hint="Two things: at each level the best precision there or at any higher recall counts, not "
    "the first one; and a class of which there is no object is left out.",
)

QUESTION.mistake(
    "the precision at each hit, empty classes as 0",
    old=f"{BEST}\n        {AREA}\n    {END}",
    new="steps = [p for (r, p), (s, _) in zip(curve, [(0.0, 0.0), *curve]) if r > s]\n"
    f"        values.append(sum(steps) / total)\n    {EVERY}",
    hint="Two things: you take the mean of the precision at each hit, where COCO asks at 101 "
    "levels of recall for the best precision from there on; and a class of which there is no "
    "object is left out.",
)

QUESTION.mistake(
    "one object hit twice, no envelope",
    old=f"{TAKE}\n                {CURVE}{BEST}",
    new=f"pass\n                {CURVE}{LOWER}",
    hint="Two things: an object can be found twice with you, where every further detection is a "
    "false alarm; and at each level the best precision there or at any higher recall counts.",
)

QUESTION.mistake(
    "one object hit twice, empty classes as 0",
    old=f"{TAKE}\n                {CURVE}{BEST}\n        {AREA}\n    {END}",
    new=f"pass\n                {CURVE}{BEST}\n        {AREA}\n    {EVERY}",
    hint="Two things: an object can be found twice with you, where every further detection is a "
    "false alarm; and a class of which there is no object is left out.",
)

QUESTION.mistake(
    "above the threshold, empty classes as 0",
    old=f"{HIT}\n                if hit:\n                    {TAKE}\n"
    f"                {CURVE}{BEST}\n        {AREA}\n    {END}",
    new="hit = bool((worth > threshold).any())\n                if hit:\n"
    f"                    {TAKE}\n                {CURVE}{BEST}\n        {AREA}\n    {EVERY}",
    hint="Two things: an overlap of just the threshold is enough; and a class of which there is no "
    "object is left out.",
)

QUESTION.mistake(
    "the place of the largest of nothing",
    old=HIT,
    new="hit = bool(worth[worth.argmax()] >= threshold)",
    hint="You fail in an image without objects: among nothing there is no largest overlap, and "
    "argmax refuses. What was found in such an image is a false alarm, and counts.",
)
