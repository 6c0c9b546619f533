"""Distillation: learn from what a teacher says, not only from the label.

Soft targets (Hinton et al., 2015) are the teacher's whole distribution, warmed by a temperature;
hard targets (Touvron et al., 2021, the DeiT paper) are only the class that the teacher decides for.
The book explains it in "DeiT and MAE".
Shapes: B batch, V classes.
"""

from __future__ import annotations

from typing import Literal

import torch.nn.functional as F
from torch import Tensor

from coursekit._base.checks import (
    check_choice,
    check_fraction,
    check_numbers,
    check_positive,
    check_shape,
)


def hard_distillation(student: Tensor, teacher: Tensor) -> Tensor:
    """Cross-entropy with the teacher's choice: student, teacher (B, V) logits -> ()."""
    _check(student, teacher)
    check_numbers(teacher, "the teacher's logits")
    return F.cross_entropy(student, teacher.argmax(dim=-1))


def soft_distillation(student: Tensor, teacher: Tensor, *, temperature: float = 3.0) -> Tensor:
    """T² KL(teacher ‖ student) at temperature T: student, teacher (B, V) logits -> ().

    The temperature divides the gradient by T², hence the factor. The mean is taken over the batch;
    DeiT's code also divides by the number of classes, which the paper's equation 2 does not.
    """
    _check(student, teacher)
    check_positive(temperature=temperature)
    student, teacher = student / temperature, teacher.detach() / temperature
    log_student, log_teacher = student.log_softmax(dim=-1), teacher.log_softmax(dim=-1)  # (B, V)
    gap = log_teacher - log_student  # (B, V)
    gap = gap.masked_fill(log_teacher.isneginf(), 0.0)  # 0 · log 0 = 0: a class of probability 0
    return temperature**2 * (log_teacher.exp() * gap).sum() / len(student)


def distillation(
    label_logits: Tensor,
    teacher_logits: Tensor,
    teacher: Tensor,
    labels: Tensor,
    *,
    kind: Literal["hard", "soft"] = "hard",
    weight: float | None = None,
    temperature: float = 3.0,
) -> Tensor:
    """Return (1 − λ) · cross-entropy with the label + λ · the teacher's loss -> ().

    `label_logits` (B, V) come from the head that learns `labels` (B,), `teacher_logits` (B, V) from
    the head that learns the logits `teacher` (B, V); a model without a distillation token gives the
    same for both. λ is `weight`: 1/2 for "hard", 0.1 for "soft", as in the paper, unless given.
    """
    check_choice(("hard", "soft"), kind=kind)
    if weight is None:
        weight = 0.5 if kind == "hard" else 0.1
    check_fraction(weight=weight)
    check_positive(temperature=temperature)
    truth = F.cross_entropy(label_logits, labels)
    if kind == "hard":
        taught = hard_distillation(teacher_logits, teacher)
    else:
        taught = soft_distillation(teacher_logits, teacher, temperature=temperature)
    return (1 - weight) * truth + weight * taught


def _check(student: Tensor, teacher: Tensor) -> None:
    check_shape(student, "student", "batch, classes")
    check_shape(teacher, "teacher", student.shape)
    if not len(student):
        raise ValueError("a batch must be not empty, found no row")
