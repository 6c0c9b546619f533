"""Distillation at the edges; the formulas are tested with DeiT, in `models/test_deit.py`."""

import pytest
import torch
import torch.nn.functional as F

from coursekit.objectives.distillation import hard_distillation, soft_distillation


def test_a_class_that_the_teacher_excludes_adds_nothing():
    torch.manual_seed(0)
    student, teacher = torch.randn(3, 5, requires_grad=True), torch.randn(3, 5)
    want = F.kl_div(
        (student / 3).log_softmax(-1), (teacher / 3).log_softmax(-1),
        reduction="batchmean", log_target=True,
    )  # fmt: skip
    torch.testing.assert_close(soft_distillation(student, teacher), 9 * want)
    teacher[:, 2] = -torch.inf
    found = soft_distillation(student, teacher)
    assert found.isfinite() and torch.autograd.grad(found, student)[0].isfinite().all()
    nearly = soft_distillation(student, teacher.masked_fill(teacher.isneginf(), -1e6))
    torch.testing.assert_close(found, nearly)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x, y: hard_distillation(x, x.tolist()), TypeError, "teacher must be a tensor"),
    ],
)
def test_bad_input_gets_a_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call(torch.zeros(3, 5), torch.tensor([0, 4, 2]))


def test_without_a_factor_ten_times_the_temperature_leaves_nearly_a_hundredth():
    scores = torch.tensor([[2.0, -6, 4, 0, 3, -7, 6, -8, -2, -7]])
    lengths = []
    for T in (3.0, 30.0):
        student = torch.zeros(1, 10, requires_grad=True)
        loss = soft_distillation(student, scores, temperature=T)
        lengths.append(torch.autograd.grad(loss, student)[0].norm() / T**2)
    assert 70 < lengths[0] / lengths[1] < 100
