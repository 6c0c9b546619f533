"""What classifiers of pictures read, their loss and their score."""

import pytest
import torch
from torch import nn

from coursekit.training import accuracy, as_input, class_scores, collate_pictures, picture_loss


def linear(classes: int = 3) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Dropout(0.9), nn.Linear(2 * 5 * 4, classes))


def test_bytes_become_minus_one_to_one_with_channels_in_front():
    images = torch.tensor([[[0, 255, 51]]], dtype=torch.uint8)
    torch.testing.assert_close(as_input(images), torch.tensor([[[[-1.0, 1.0, -0.6]]]]))
    coloured = torch.randint(0, 256, (2, 5, 4, 3), dtype=torch.uint8)
    assert as_input(coloured).shape == (2, 3, 5, 4)
    torch.testing.assert_close(as_input(coloured)[:, 1], as_input(coloured[..., 1])[:, 0])


@pytest.mark.parametrize(
    "images", [torch.zeros(2, 5, 4), torch.zeros(5, 4, dtype=torch.uint8)], ids=["float", "one"]
)
def test_other_images_are_refused(images):
    with pytest.raises(ValueError, match="must be bytes"):
        as_input(images)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_a_sum_that_the_loop_divides(smoothing):
    model = linear().eval()
    rows = [(torch.randn(2, 5, 4), torch.tensor(n % 3)) for n in range(7)]
    pictures, labels = collate_pictures(rows)
    summed, count = picture_loss(smoothing)(model, (pictures, labels))
    logs = model(pictures).log_softmax(dim=-1)
    shares = torch.nn.functional.one_hot(labels, 3) * (1 - smoothing) + smoothing / 3
    torch.testing.assert_close(summed, -(shares * logs).sum())
    assert count == 7


def test_scores_are_read_without_dropout_in_pieces_and_the_mode_stays():
    model = linear()
    pictures = torch.randn(7, 2, 5, 4)
    whole = class_scores(model, pictures)
    torch.testing.assert_close(class_scores(model, pictures, batch=3), whole)
    assert model.training
    torch.testing.assert_close(whole, model.eval()(pictures).detach())
    class_scores(model, pictures)
    assert not model.training


def test_accuracy_counts():
    model = linear()
    pictures = torch.randn(8, 2, 5, 4)
    labels = class_scores(model, pictures).argmax(dim=-1)
    assert accuracy(model, pictures, labels) == 1
    labels[:2] = (labels[:2] + 1) % 3
    assert accuracy(model, pictures, labels, batch=3) == 0.75
    with pytest.raises(ValueError, match="found 8 and 7"):
        accuracy(model, pictures, labels[:-1])
