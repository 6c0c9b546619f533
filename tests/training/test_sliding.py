"""A window that is slid: what is cut out, what it learns from, where it looks, what stays."""

import pytest
import torch
from torch import nn

from coursekit.boxes.geometry import Objects, iou, to_centres, to_corners
from coursekit.training.detection import Pictures
from coursekit.training.sliding import (
    ENOUGH,
    NOTHING,
    all_windows,
    crop,
    draw_windows,
    scan,
    window_loss,
    without_duplicates,
)


def pictures() -> Pictures:
    """Three pictures: two objects, none, one."""
    torch.manual_seed(0)
    boxes = torch.tensor([[0.3, 0.3, 0.2, 0.3], [0.7, 0.7, 0.3, 0.3], [0.5, 0.4, 0.25, 0.2]])
    return Pictures(
        torch.randn(3, 3, 32, 32), torch.tensor([2, 0, 1]), boxes, torch.tensor([2, 0, 1])
    )


def test_a_window_as_large_as_its_copy_is_copied_pixel_by_pixel():
    images = torch.randn(2, 3, 32, 32)
    corners = torch.tensor([[4.0, 8.0, 12.0, 16.0], [0.0, 0.0, 8.0, 8.0], [24.0, 20.0, 32.0, 28.0]])
    cut = crop(images, torch.tensor([1, 0, 1]), to_centres(corners / 32), side=8)
    expected = [images[1, :, 8:16, 4:12], images[0, :, :8, :8], images[1, :, 20:28, 24:32]]
    torch.testing.assert_close(cut, torch.stack(expected), atol=1e-5, rtol=0)


def test_a_window_is_stretched_to_its_side():
    images = torch.zeros(1, 3, 32, 32)
    images[:, :, 8:16, 4:20] = 1.0
    box = torch.tensor([[12 / 32, 12 / 32, 16 / 32, 8 / 32]])
    cut = crop(images, torch.tensor([0]), box)
    assert cut.shape == (1, 3, 24, 24) and (cut[..., 2:-2, 2:-2] == 1).all()


def test_windows_to_learn_from_say_what_they_show():
    batch = pictures()
    own = torch.tensor([0, 0, 2])
    shown = set()
    for seed in range(30):
        torch.manual_seed(seed)
        picture, boxes, labels = draw_windows(batch, empty=6, sides=(0.1, 0.4))
        for where, box, label in zip(picture.tolist(), boxes, labels.tolist()):
            overlap = iou(to_corners(box), to_corners(batch.boxes[own == where]))  # (n,)
            most = overlap.max().item() if len(overlap) else 0.0
            if label == -1:
                assert most <= NOTHING + 1e-6
            else:
                assert most >= ENOUGH - 1e-6
                assert label == batch.labels[own == where][overlap.argmax()]
            shown.add((where, label))
        assert (boxes[:, 2] == boxes[:, 3]).all()  # squares
    assert shown == {(0, 2), (0, 0), (0, -1), (1, -1), (2, 1), (2, -1)}


def test_windows_anywhere_lie_inside_and_have_sides_in_between():
    batch = pictures()
    _, boxes, labels = draw_windows(batch, empty=400, sides=(0.2, 0.3))
    far = boxes[labels == -1]
    corners = to_corners(far)
    assert corners.min() >= -1e-6 and corners.max() <= 1 + 1e-6
    assert far[:, 2].min() >= 0.2 and far[:, 2].max() <= 0.3 and far[:, 2].max() > 0.29


class Sees(nn.Module):
    """Says the last class everywhere: the background."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(classes + 1))

    def forward(self, windows):
        return (self.bias + 0 * windows.mean()).expand(len(windows), -1)


def test_the_background_is_the_last_class():
    model = Sees(3)
    loss = window_loss((0.1, 0.4))
    torch.manual_seed(1)
    _, _, labels = draw_windows(pictures(), sides=(0.1, 0.4))
    torch.manual_seed(1)
    total, number = loss(model, pictures())
    assert number == len(labels)
    torch.testing.assert_close(total / number, torch.tensor(4.0).log())
    (total / number).backward()
    share = (labels == -1).float().mean()  # the gradient pulls up what is asked for
    torch.testing.assert_close(model.bias.grad[3], 0.25 - share)


def test_all_windows_reach_both_ends_and_move_on_by_a_quarter():
    windows = all_windows(32, [8, 16])
    corners = to_corners(windows) * 32
    assert len(windows) == 13**2 + 5**2
    assert corners.min() == 0 and corners.max() == 32
    small = corners[windows[:, 2] == 0.25]
    assert small[:, 0].unique().tolist() == list(range(0, 25, 2))
    assert {tuple(box) for box in small.tolist()} >= {(0, 24, 8, 32), (24, 0, 32, 8)}
    with pytest.raises(ValueError, match="side"):
        all_windows(32, [0])


class Bright(nn.Module):
    """Class 0 where a window is bright to its border, class 1 (nothing) elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(20.0))

    def forward(self, windows):
        light = windows.mean(dim=(1, 2, 3)) - 0.9
        return self.factor * torch.stack([light, -light], dim=1)


def test_a_scan_finds_a_bright_square_once():
    image = torch.zeros(3, 32, 32)
    image[:, 8:16, 20:28] = 1.0
    found = scan(Bright(), image, all_windows(32, [6, 8, 12]))
    best = found.scores.argmax()
    assert (iou(found.boxes[best], torch.tensor([20.0, 8.0, 28.0, 16.0])) > 0.5).all()
    assert found.labels.tolist() == [0] * len(found)
    overlap = iou(found.boxes[:, None], found.boxes)
    assert (overlap - torch.eye(len(found)) <= 0.3).all() and (found.scores >= 0.05).all()
    assert len(scan(Bright(), torch.zeros(3, 32, 32), all_windows(32, [8]))) == 0


def test_duplicates_go_within_a_kind_only():
    box, near = [0.0, 0.0, 10.0, 10.0], [1.0, 0.0, 11.0, 10.0]
    found = Objects(
        labels=torch.tensor([3, 3, 5]),
        boxes=torch.tensor([near, box, box]),
        scores=torch.tensor([0.5, 0.9, 0.1]),
    )
    kept = without_duplicates(found)
    assert sorted(zip(kept.labels.tolist(), kept.scores.tolist())) == [
        (3, pytest.approx(0.9)),
        (5, pytest.approx(0.1)),
    ]
    assert len(without_duplicates(found, overlap=0.95)) == 3
    nothing = Objects(labels=torch.zeros(0).long(), boxes=torch.zeros(0, 4), scores=torch.zeros(0))
    assert len(without_duplicates(nothing)) == 0


def test_true_objects_have_no_duplicates_to_find():
    true = Objects(labels=torch.zeros(1).long(), boxes=torch.zeros(1, 4))
    with pytest.raises(ValueError, match="detections must have scores"):
        without_duplicates(true)
