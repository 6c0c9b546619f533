"""Detectors in training: boxes follow their pictures, objects stay with their pictures."""

import pytest
import torch

from coursekit.boxes.geometry import Objects
from coursekit.data.scenes import Scene
from coursekit.models.detr import Detector, DETRConfig
from coursekit.objectives.detection import DetectionLoss
from coursekit.training.detection import (
    collate_objects,
    detect,
    detection_items,
    random_mirror,
    set_loss,
)
from coursekit.training.saved_model import pack

OFF = {"dropout": 0.0, "attention_dropout": 0.0, "hidden_dropout": 0.0}
RESNET = {"block": "basic", "depths": [1, 1], "width": 4}


def small(**changes) -> Detector:
    torch.manual_seed(0)
    sizes = {"classes": 3, "queries": 5, "channels": 8, "width": 8, "heads": 2, "hidden": 8} | OFF
    return Detector(DETRConfig(**(sizes | {"encoder_depth": 1, "decoder_depth": 2} | changes)),
                    resnet=RESNET)  # fmt: skip


def painted(*corners: tuple[int, int, int, int], side: int = 32) -> Scene:
    """A black picture with a white rectangle in each box."""
    image = torch.zeros(3, side, side, dtype=torch.uint8)
    for x0, y0, x1, y1 in corners:
        image[:, y0:y1, x0:x1] = 255
    boxes = torch.tensor(corners, dtype=torch.float32).reshape(-1, 4)
    return Scene(image, boxes, torch.arange(len(corners)))


SCENES = [painted((2, 4, 10, 20)), painted(), painted((0, 0, 4, 4), (20, 8, 32, 12))]


def seen(batch, picture: int) -> list[list[int]]:
    """Where the white is, looked up in the picture at each of its boxes: x0, y0, x1, y1."""
    found = []
    for x, y, width, height in batch.targets()[picture].boxes.tolist():
        mask = torch.zeros(32, 32, dtype=torch.bool)
        x0, y0 = round((x - width / 2) * 32), round((y - height / 2) * 32)
        x1, y1 = round((x + width / 2) * 32), round((y + height / 2) * 32)
        mask[y0:y1, x0:x1] = True
        white = (batch.images[picture] > 0).all(dim=0)
        assert (white & mask).sum() == mask.sum()  # all of the box is white
        found.append([x0, y0, x1, y1])
    return found


def test_boxes_become_parts_and_bytes_become_minus_one_to_one():
    batch = collate_objects(detection_items(SCENES))
    assert batch.images.shape == (3, 3, 32, 32)
    assert batch.images.min() == -1 and batch.images.max() == 1
    assert batch.counts.tolist() == [1, 0, 2]
    assert [len(objects) for objects in batch.targets()] == [1, 0, 2]
    assert batch.targets()[0].boxes.tolist() == [[6 / 32, 12 / 32, 8 / 32, 16 / 32]]
    assert batch.targets()[2].labels.tolist() == [0, 1]
    assert seen(batch, 2) == [[0, 0, 4, 4], [20, 8, 32, 12]]


def test_maps_are_left_as_they_are():
    maps = torch.randn(2, 8, 4, 4)
    nothing = Objects(labels=torch.zeros(0).long(), boxes=torch.zeros(0, 4))
    batch = collate_objects([(maps[0], nothing), (maps[1], nothing)])
    assert torch.equal(batch.images, maps) and batch.counts.tolist() == [0, 0]


def test_a_mirrored_picture_takes_its_boxes_along():
    batch = collate_objects(detection_items(SCENES))
    turned = random_mirror(batch, share=1.0)
    assert torch.equal(turned.images, batch.images.flip(3))
    assert seen(turned, 0) == [[22, 4, 30, 20]]
    assert seen(turned, 2) == [[28, 0, 32, 4], [0, 8, 12, 12]]
    assert torch.equal(random_mirror(batch, share=0.0).boxes, batch.boxes)


def test_each_picture_is_mirrored_or_not_on_its_own():
    batch = collate_objects(detection_items([SCENES[2]] * 40))
    turned = random_mirror(batch, generator=torch.Generator().manual_seed(0))
    moved = [not torch.equal(a, b) for a, b in zip(turned.images, batch.images)]
    assert 8 < sum(moved) < 32
    for picture, was in enumerate(moved):
        assert seen(turned, picture)[0] == ([28, 0, 32, 4] if was else [0, 0, 4, 4])


def test_the_loss_has_two_means_whose_sum_is_the_objective():
    """One over the weights of 3 × 5 queries, of which 3 have an object; one over the 3 objects."""
    model, objective = small(), DetectionLoss()
    model.eval()
    batch = collate_objects(detection_items(SCENES))
    (classes, weights), (boxes, objects) = set_loss(objective)(model, batch)
    expected, _ = objective(model(batch.images), batch.targets())
    assert (weights, objects) == (pytest.approx(3 + 12 * 0.1), 3)
    torch.testing.assert_close(classes / weights + boxes / objects, expected)


def test_detections_of_many_pictures_are_those_of_one_after_another():
    model = small().train()
    items = detection_items(SCENES)
    layers = detect(model, items, batch=2)
    assert model.training and len(layers) == 2
    assert layers[0].logits.shape == (3, 5, 4) and layers[1].boxes.shape == (3, 5, 4)
    model.eval()
    for index, item in enumerate(items):
        said = model(collate_objects([item]).images)
        torch.testing.assert_close(layers[1].boxes[index], said.boxes[0], atol=1e-5, rtol=1e-4)
        first = said.earlier[0]
        torch.testing.assert_close(layers[0].logits[index], first.logits[0], atol=1e-5, rtol=1e-4)
    assert len(detect(small(auxiliary=False), items)) == 1


def test_a_detector_is_built_again_from_what_is_kept_of_it():
    model = small()
    _, about = pack(model)  # builds it again, and compares the names of the weights
    assert about["options"] == {"resnet": RESNET}
    assert model(torch.randn(2, 3, 32, 32)).grid == (4, 4)  # a stride of 8


def test_a_map_that_does_not_fit_gets_a_sentence():
    with pytest.raises(ValueError, match="has 8 channels, and the DETR reads 16"):
        small(channels=16)
