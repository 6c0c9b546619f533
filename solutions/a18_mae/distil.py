"""DeiT's loss: one head learns the labels, the other what a teacher says."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def distil(class_logits, distil_logits, teacher_logits, labels, temperature=None, weight=0.5):
    """Three times logits (B, K), labels (B,) -> the loss, one number."""
    truth = F.cross_entropy(class_logits, labels)
    if temperature is None:
        taught = F.cross_entropy(distil_logits, teacher_logits.argmax(dim=-1))
    else:
        student = (distil_logits / temperature).log_softmax(dim=-1)  # (B, K)
        teacher = (teacher_logits.detach() / temperature).log_softmax(dim=-1)  # (B, K)
        gap = (teacher.exp() * (teacher - student)).sum(dim=-1)  # (B,)
        taught = temperature**2 * gap.mean()
    return (1 - weight) * truth + weight * taught


def taught(rows, classes, seed, spread=1.5, dtype=torch.float32):
    """Return three times logits, and labels of which the teacher has every third one right."""
    said = tuple(spread * randn(rows, classes, seed=seed + n, dtype=dtype) for n in (0, 1, 2))
    number = torch.arange(rows)
    return *said, torch.where(number % 3 == 0, said[2].argmax(dim=1), (number * 7) % classes)


@visible("one image, two classes: hard, and soft at temperature 2")
def one_image(student):
    given = [torch.tensor([row]) for row in ([0.0, 1.0], [2.0, 0.0], [0.0, 3.0])]
    return [student.distil(*given, torch.tensor([0]), heat) for heat in (None, 2.0)]


@visible("six images, what the teacher decides for, and several temperatures", weight=2)
def six_images(student):
    return [student.distil(*taught(6, 5, seed=104), heat) for heat in (None, 3.0, 1.0, 0.5)]


@visible("other weights, hard and soft")
def other_weights(student):
    given = taught(4, 3, seed=108)
    return [student.distil(*given, heat, weight) for heat in (None, 4) for weight in (0, 0.1, 1)]


@visible("gradients, hard and soft")
def with_gradients(student):
    given = taught(5, 5, seed=112)
    return [gradients(student.distil, *given, heat, 0.3) for heat in (None, 2.5)]


@visible("logits in the thousands, hard and soft")
def thousands(student):
    given = taught(4, 6, seed=120, spread=3000.0)
    return [gradients(student.distil, *given, heat) for heat in (None, 3.0)]


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    given = taught(3, 4, seed=124, dtype=torch.float64)
    return [after(student.distil, *given, heat) for heat in (None, 2.0)]


@hidden("many images and many classes, hard", weight=2)
def distil_hard(student):
    return student.distil(*taught(32, 20, seed=351))


@hidden("many images and many classes, soft", weight=2)
def distil_soft(student):
    return [student.distil(*taught(32, 20, seed=355), heat, 0.1) for heat in (3, 5.5)]


@hidden("one image, two classes")
def distil_one(student):
    return [student.distil(*taught(1, 2, seed=359), heat, 0.7) for heat in (None, 0.8)]


@hidden("as many images as classes: gradients", weight=2)
def distil_gradients(student):
    given = taught(6, 6, seed=363)
    return [gradients(student.distil, *given, heat, 0.4) for heat in (None, 1.7)]


@hidden("both heads say what the teacher says, at the weights 0 and 1")
def distil_agree(student):
    _, _, teacher, labels = taught(4, 5, seed=367)
    said = teacher.clone(), teacher.clone(), teacher, labels
    return [student.distil(*said, heat, weight) for heat in (None, 2.0) for weight in (0.0, 1.0)]


@hidden("a shift of all logits of an image changes nothing")
def distil_shift(student):
    *said, labels = taught(4, 3, seed=371)
    moved = [x + 40 * n for n, x in enumerate(said, 1)]
    return [student.distil(*logits, labels, 2.5) for logits in (said, moved)]


@hidden("logits in the thousands: gradients")
def distil_thousands(student):
    given = taught(5, 4, seed=375, spread=4000.0)
    return [gradients(student.distil, *given, heat, 0.2) for heat in (None, 2.0)]


@hidden("double precision", tolerance=1e-12)
def distil_double(student):
    given = taught(3, 7, seed=379, dtype=torch.float64)
    return [student.distil(*given, heat) for heat in (None, 3.0)]


@hidden("what was given is left as it was", weight=0.5)
def distil_keeps(student):
    return [after(student.distil, *taught(3, 4, seed=383), heat) for heat in (None, 4.0)]
