"""Average precision: by hand, by laws, by writing the definition out, and by COCO's own code."""

import contextlib
import io

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursekit.boxes.average_precision import (
    CAPS,
    RECALLS,
    SIZES,
    THRESHOLDS,
    average_precision,
    curve,
    evaluate,
    match,
)
from coursekit.boxes.geometry import Objects


def truth(*rows, crowd=None, areas=None) -> Objects:
    """One object a row: label, then corners."""
    return Objects(
        labels=torch.tensor([row[0] for row in rows], dtype=torch.long),
        boxes=torch.tensor([row[1:] for row in rows], dtype=torch.double).reshape(-1, 4),
        crowd=None if crowd is None else torch.tensor(crowd, dtype=torch.bool),
        areas=None if areas is None else torch.tensor(areas, dtype=torch.double),
    )


def found(*rows) -> Objects:
    """One detection a row: label, score, then corners."""
    return Objects(
        labels=torch.tensor([row[0] for row in rows], dtype=torch.long),
        boxes=torch.tensor([row[2:] for row in rows], dtype=torch.double).reshape(-1, 4),
        scores=torch.tensor([row[1] for row in rows], dtype=torch.double),
    )


BOX, OTHER, FAR = (0, 0, 40, 40), (100, 0, 140, 40), (300, 300, 340, 340)


def scene(seed: int, images: int = 4, classes: int = 3, most: int = 6) -> tuple[list, list]:
    """Random objects of all sizes, some of them crowds, and detections near and far from them."""
    draw = np.random.default_rng(seed)
    pictures, answers = [], []
    for _ in range(images):
        n, extra = draw.integers(0, most + 1), draw.integers(0, most)
        corner = draw.integers(0, 60, (n, 2))
        size = draw.choice([12, 24, 32, 50, 80, 96, 130], (n, 2))
        boxes = np.concatenate([corner, corner + size], axis=1)
        labels = draw.integers(classes, size=n)
        crowd = draw.random(n) < 0.2
        areas = np.where(draw.random(n) < 0.5, size.prod(1), size.prod(1) // 2)
        pictures.append(truth(*np.column_stack([labels, boxes]).tolist(), crowd=crowd, areas=areas))
        near = np.repeat(boxes, 2, axis=0) + draw.integers(-4, 5, (2 * n, 4))
        loose = draw.integers(0, 60, (extra, 2))
        loose = np.concatenate([loose, loose + draw.integers(5, 120, (extra, 2))], axis=1)
        every = np.concatenate([near, loose])
        names = np.concatenate([np.repeat(labels, 2), draw.integers(classes, size=extra)])
        scores = draw.integers(1, 8, len(every)) / 8  # few values: ties everywhere
        answers.append(found(*np.column_stack([names, scores, every]).tolist()))
    return answers, pictures


def test_perfect_is_1_and_nothing_is_0():
    pictures = [truth((0, *BOX), (2, *OTHER)), truth(), truth((2, 0, 0, 200, 200))]
    perfect = [found(*[(int(c), 0.9, *box) for c, box in zip(p.labels, p.boxes.tolist())])
               for p in pictures]  # fmt: skip
    table = average_precision(perfect, pictures)
    assert table["AP"] == table["AP50"] == table["AP75"] == table["AR100"] == 1
    assert table["AP_medium"] == table["AP_large"] == table["AR_large"] == 1
    assert table["AP_small"] == table["AR_small"] == -1  # there is none
    table = average_precision([found()] * 3, pictures)
    assert table["AP"] == table["AR100"] == 0
    assert set(average_precision([found()], [truth()]).values()) == {-1}


@pytest.mark.parametrize(
    ("answers", "ap50"),
    [
        # right: precision 1 up to recall 1/2, that is at 51 of 101 levels
        ([(0, 0.9, *BOX)], 51 / 101),
        # right, wrong, right: precision 1 up to 1/2, then 2/3 up to 1
        ([(0, 0.9, *BOX), (0, 0.8, *FAR), (0, 0.7, *OTHER)], (51 + 50 * 2 / 3) / 101),
        # wrong, right, right: the best precision to the right of any recall is 2/3
        ([(0, 0.9, *FAR), (0, 0.8, *BOX), (0, 0.7, *OTHER)], 2 / 3),
        # right, right, wrong: what comes after the last hit costs nothing
        ([(0, 0.9, *BOX), (0, 0.8, *OTHER), (0, 0.7, *FAR)], 1),
        # the same object twice: the second is wrong, and comes first of the rest
        ([(0, 0.9, *BOX), (0, 0.8, *BOX), (0, 0.7, *OTHER)], (51 + 50 * 2 / 3) / 101),
        # right box, wrong class
        ([(1, 0.9, *BOX)], 0),
    ],
)
def test_by_hand(answers, ap50):
    picture = truth((0, *BOX), (0, *OTHER))
    assert average_precision([found(*answers)], [picture])["AP50"] == pytest.approx(ap50)


def test_the_ten_thresholds():
    """A box of 40 × 40, found 40 × 31 in size: IoU 0.775 passes 0.50 … 0.75, six of ten."""
    table = average_precision([found((0, 0.9, 0, 0, 40, 31))], [truth((0, *BOX))])
    assert table["AP"] == pytest.approx(0.6) and table["AR100"] == pytest.approx(0.6)
    assert table["AP50"] == table["AP75"] == 1
    table = average_precision([found((0, 0.9, 0, 0, 40, 20))], [truth((0, *BOX))])
    assert table["AP"] == pytest.approx(0.1) and table["AP75"] == 0  # exactly 0.5 is enough


def test_caps_are_for_each_image():
    rows = [(0, 20 * i, 0, 20 * i + 10, 10) for i in range(12)]
    right = [(0, 0.5 - i / 100, *row[1:]) for i, row in enumerate(rows)]
    table = average_precision([found(*right)] * 2, [truth(*rows)] * 2)
    assert table["AR1"] == pytest.approx(1 / 12) and table["AR10"] == pytest.approx(10 / 12)
    assert table["AR100"] == table["AP"] == 1
    wrong = [(0, 0.9, 500 + 20 * i, 0, 510 + 20 * i, 10) for i in range(100)]
    assert average_precision([found(*wrong, *right)], [truth(*rows)])["AR100"] == 0


def test_sizes_look_away_from_other_objects():
    picture = truth((0, 0, 0, 20, 20), (0, 100, 100, 150, 150), (0, 200, 200, 400, 400))
    answers = found((0, 0.9, 200, 200, 400, 400), (0, 0.8, 0, 0, 20, 20))
    table = average_precision([answers], [picture])
    assert [table[f"AP_{name}"] for name in ("small", "medium", "large")] == [1, 0, 1]
    assert table["AR100"] == pytest.approx(2 / 3)
    # A wrong detection counts against the size that it has.
    answers = found((0, 0.95, 500, 500, 510, 510), (0, 0.9, 200, 200, 400, 400),
                    (0, 0.8, 0, 0, 20, 20))  # fmt: skip
    table = average_precision([answers], [picture])
    assert [table[f"AP_{name}"] for name in ("small", "medium", "large")] == [0.5, 0, 1]
    # On the border an object is of both sizes; its outline counts, not its box.
    table = average_precision([found((0, 1, 0, 0, 32, 32))], [truth((0, 0, 0, 32, 32))])
    assert (table["AP_small"], table["AP_medium"], table["AP_large"]) == (1, 1, -1)
    outline = truth((0, 0, 0, 100, 100), areas=[1000.0])
    table = average_precision([found((0, 1, 0, 0, 100, 100))], [outline])
    assert (table["AP_small"], table["AP_large"]) == (1, -1)


def test_crowds_are_neither_found_nor_missed():
    crowded = truth((0, *BOX), (0, 100, 100, 300, 300), crowd=[0, 1])
    inside = [(0, 0.95, 110 + i, 110, 130 + i, 130) for i in range(5)]  # small, but lie inside
    table = average_precision([found(*inside, (0, 0.9, *BOX))], [crowded])
    assert table["AP"] == 1 and table["AR100"] == 1
    half = (0, 0.95, 80, 110, 119, 130)  # 19 of 39 columns inside: below one half
    table = average_precision([found(half, (0, 0.9, *BOX))], [crowded])
    assert table["AP50"] == pytest.approx(0.5)


def test_an_object_that_counts_is_preferred_to_a_crowd():
    both = truth((0, 0, 0, 44, 44), (0, *BOX), crowd=[1, 0])
    table = average_precision([found((0, 0.9, 0, 0, 40, 36))], [both])  # IoU 0.9, in the crowd 1
    assert table["AP50"] == 1
    overlap, ignored = np.array([[0.6, 0.9]]), np.array([False, True])
    thresholds = np.array([0.5, 0.7, 0.95])
    assert match(overlap, ignored, ignored, thresholds)[:, 0].tolist() == [0, 1, -1]


def test_a_taken_object_leaves_the_next_best():
    overlap = np.array([[0.9, 0.6], [0.8, 0.7], [0.8, 0.7]])
    none = np.array([False, False])
    assert match(overlap, none, none, np.array([0.5]))[0].tolist() == [0, 1, -1]
    assert match(overlap, none, none, np.array([0.75]))[0].tolist() == [0, -1, -1]
    half = np.array([[0.6, 0.6], [0.6, 0.0]])  # of two equals COCO takes the last, that is the 1
    assert match(half, none, none, np.array([0.5]))[0].tolist() == [1, 0]
    assert match(np.zeros((2, 0)), none[:0], none[:0], np.array([0.5])).tolist() == [[-1, -1]]


def test_the_curve():
    precision, recall = curve(np.array([True, False, True, False]), total=4)
    assert recall == 0.5
    assert precision[:26].tolist() == [1] * 26  # recall 0 … 0.25
    assert precision[26:51].tolist() == pytest.approx([2 / 3] * 25)
    assert precision[51:].tolist() == [0] * 50
    assert curve(np.array([], dtype=bool), total=3)[1] == 0


def definition(answers: list, pictures: list) -> dict:
    """COCO's rules once more: sets and sorted lists, one threshold and one object at a time."""
    answers = [list(zip(a.labels.tolist(), a.scores.tolist(), a.boxes.tolist())) for a in answers]
    pictures = [
        list(zip(p.labels.tolist(), p.boxes.tolist(), p.crowd.tolist(), p.areas.tolist()))
        for p in pictures
    ]

    def overlap(a, b, crowd):
        width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        both = max(width, 0) * max(height, 0)
        own, other = (a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1])
        return both / (own if crowd else own + other - both)

    def one(threshold, label, low, high, cap):
        marks, total = [], 0  # (−score, image, rank, hit) of every detection that counts
        for image, (answer, picture) in enumerate(zip(answers, pictures)):
            objects = []
            for i, (name, box, crowd, area) in enumerate(picture):
                if name == label:
                    counts = not crowd and low <= area <= high
                    objects.append((box, crowd, counts, i))
                    total += counts
            mine = [(-s, i, box) for i, (name, s, box) in enumerate(answer) if name == label]
            used = set()
            for rank, (score, _, box) in enumerate(sorted(mine)[:cap]):
                options = [
                    (counts, overlap(box, b, crowd), i, counts)
                    for b, crowd, counts, i in objects
                    if (crowd or i not in used) and overlap(box, b, crowd) >= threshold
                ]
                size = (box[2] - box[0]) * (box[3] - box[1])
                if options:
                    _, _, i, counts = max(options)
                    used.add(i)
                    if counts:
                        marks.append((score, image, rank, 1))
                elif low <= size <= high:
                    marks.append((score, image, rank, 0))
        if total == 0:
            return None
        hits = [hit for *_, hit in sorted(marks)]
        points = [
            (sum(hits[: n + 1]) / total, sum(hits[: n + 1]) / (n + 1)) for n in range(len(hits))
        ]
        levels = [max((p for r, p in points if r >= level), default=0) for level in RECALLS]
        return sum(levels) / 101, sum(hits) / total

    def mean(which, name, cap, thresholds):
        low, high = SIZES[name]
        labels = {name for picture in pictures for name, *_ in picture}
        values = [one(t, label, low, high, cap) for t in thresholds for label in labels]
        values = [value[which] for value in values if value is not None]
        return sum(values) / len(values) if values else -1

    every = THRESHOLDS.tolist()
    table = {"AP": mean(0, "all", 100, every), "AP50": mean(0, "all", 100, every[:1]),
             "AP75": mean(0, "all", 100, every[5:6])}  # fmt: skip
    table |= {f"AP_{name}": mean(0, name, 100, every) for name in list(SIZES)[1:]}
    table |= {f"AR{cap}": mean(1, "all", cap, every) for cap in CAPS}
    return table | {f"AR_{name}": mean(1, name, 100, every) for name in list(SIZES)[1:]}


@settings(max_examples=12)
@given(st.integers(0, 10**6))
def test_equal_to_the_definition_written_out(seed):
    answers, pictures = scene(seed, images=3, classes=2, most=4)
    assert average_precision(answers, pictures) == pytest.approx(definition(answers, pictures))


@pytest.mark.parametrize("seed", range(6))
def test_equal_to_the_code_of_coco(seed):
    coco, cocoeval = (
        pytest.importorskip(f"pycocotools.{name}", reason="COCO's own code is not installed")
        for name in ("coco", "cocoeval")
    )
    answers, pictures = scene(seed, images=8, classes=4, most=40 if seed == 0 else 8)
    data = {"images": [{"id": i} for i in range(1, 9)],
            "categories": [{"id": c} for c in range(4)], "annotations": []}  # fmt: skip
    results = []
    for image, (answer, picture) in enumerate(zip(answers, pictures), 1):
        for i in range(len(picture)):
            x1, y1, x2, y2 = picture.boxes[i].tolist()
            data["annotations"].append({
                "id": len(data["annotations"]) + 1, "image_id": image,
                "category_id": int(picture.labels[i]), "bbox": [x1, y1, x2 - x1, y2 - y1],
                "area": float(picture.areas[i]), "iscrowd": int(picture.crowd[i]),
            })  # fmt: skip
        for i in range(len(answer)):
            x1, y1, x2, y2 = answer.boxes[i].tolist()
            results.append({
                "image_id": image, "category_id": int(answer.labels[i]),
                "bbox": [x1, y1, x2 - x1, y2 - y1], "score": float(answer.scores[i]),
            })  # fmt: skip
    with contextlib.redirect_stdout(io.StringIO()):
        reference = coco.COCO()
        reference.dataset = data
        reference.createIndex()
        judge = cocoeval.COCOeval(reference, reference.loadRes(results), "bbox")
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    table = average_precision(answers, pictures)
    assert list(table.values()) == pytest.approx(judge.stats.tolist(), abs=1e-12)
    ours = evaluate(answers, pictures)
    chosen = [reference.getCatIds().index(label) for label in ours.classes]
    np.testing.assert_allclose(ours.precision, judge.eval["precision"][:, :, chosen], atol=1e-12)
    np.testing.assert_allclose(ours.recall, judge.eval["recall"][:, chosen], atol=1e-12)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.randoms())
def test_laws(seed, random):
    """Order of images, monotone scores, names of classes and moving it all change nothing."""
    answers, pictures = scene(seed, images=3, classes=2)
    for answer in answers:  # without ties, for those go by order
        spread = torch.randperm(len(answer), generator=torch.Generator().manual_seed(seed))
        answer.scores.add_(spread / 1e6)
    expected = average_precision(answers, pictures)

    def changed(objects, shift=0.0, names=(0, 1), scores=lambda s: s):
        return Objects(
            labels=torch.tensor(names)[objects.labels],
            boxes=objects.boxes + shift,
            scores=None if objects.scores is None else scores(objects.scores),
            crowd=objects.crowd,
            areas=objects.areas,
        )

    for changes in ({"shift": 1000.0}, {"names": (7, 3)}, {"scores": lambda s: (3 * s).exp()}):
        again = average_precision(
            [changed(a, **changes) for a in answers], [changed(p, **changes) for p in pictures]
        )
        assert again == pytest.approx(expected)
    order = random.sample(range(3), 3)
    across = [a.scores.add(i / 1e9) for i, a in enumerate(answers)]  # no ties across images
    unique = [changed(a, scores=lambda _, s=s: s) for a, s in zip(answers, across)]
    turned = average_precision([unique[i] for i in order], [pictures[i] for i in order])
    assert turned == pytest.approx(average_precision(unique, pictures))
    assert all(value == -1 or 0 <= value <= 1 for value in expected.values())


@pytest.mark.parametrize(
    ("answers", "pictures", "sentence"),
    [
        ([], [], "at least one image"),
        ([found()], [], "the same images, got 1 and 0"),
        ([truth((0, *BOX))], [truth((0, *BOX))], "found in image 0 has no scores"),
        ([found((0, float("nan"), *BOX))], [truth()], "a score in image 0 is not finite"),
    ],
)
def test_bad_input_gets_a_sentence(answers, pictures, sentence):
    with pytest.raises(ValueError, match=sentence):
        average_precision(answers, pictures)


def test_the_limits_of_the_sizes_can_be_others_and_keep_their_names():
    true = [truth((0, *BOX), (0, *FAR))]  # of 1,600 pixels both: medium for COCO
    said = [found((0, 0.9, *BOX), (0, 0.8, *OTHER))]
    plain = average_precision(said, true)
    assert plain["AP_small"] == -1 and plain["AP_medium"] == pytest.approx(plain["AP"])
    limits = {"all": SIZES["all"], "small": (0, 2000), "medium": (2000, 3000), "large": (3000, 9e9)}
    other = average_precision(said, true, sizes=limits)
    assert other["AP_small"] == plain["AP_medium"] and other["AP_medium"] == -1
    assert other["AP"] == plain["AP"]
    with pytest.raises(ValueError, match="all, small, medium, large, found all, tiny"):
        evaluate(said, true, sizes={"all": (0, 1), "tiny": (0, 1)})
