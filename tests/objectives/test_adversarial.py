"""The hinge losses: by hand, where their gradients stop, and bad input."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.objectives.adversarial import hinge_discriminator, hinge_generator

numbers = st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=6).map(torch.tensor)


def test_the_numbers_of_the_page():
    real, fake = torch.tensor([2.0, 0.5]), torch.tensor([-0.5, -3.0])
    assert hinge_discriminator(real, fake).item() == 0.5  # (0 + 0.5) / 2 + (0.5 + 0) / 2
    assert hinge_generator(fake).item() == 1.75


@given(numbers, numbers)
def test_one_picture_after_the_other(real, fake):
    by_hand = sum(max(0.0, 1 - r) for r in real.tolist()) / len(real)
    by_hand += sum(max(0.0, 1 + f) for f in fake.tolist()) / len(fake)
    assert hinge_discriminator(real, fake).item() == pytest.approx(by_hand, abs=1e-5)
    assert hinge_generator(fake).item() == pytest.approx(-sum(fake.tolist()) / len(fake), abs=1e-5)


def test_who_is_far_enough_has_no_gradient_and_the_generator_always_has():
    real = torch.tensor([3.0, 0.0]).requires_grad_()
    fake = torch.tensor([-3.0, 0.0, 5.0]).requires_grad_()
    hinge_discriminator(real, fake).backward()
    torch.testing.assert_close(real.grad, torch.tensor([0, -1 / 2]))
    torch.testing.assert_close(fake.grad, torch.tensor([0, 1 / 3, 1 / 3]))
    painted = torch.tensor([-30.0, 30.0]).requires_grad_()
    hinge_generator(painted).backward()
    torch.testing.assert_close(painted.grad, torch.tensor([-1 / 2, -1 / 2]))
