"""The two losses of a GAN that stops pushing what is already far enough: the hinge."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursekit.check.variants import variants
from coursetools.questions import hidden, visible

mine = variants(margin=(1.0, 0.5, 2.0, 1.5, 3.0))


def hinge(real, fake):
    """Scores of real and of made pictures -> the loss of the discriminator, of the generator."""
    missing, beyond = (mine.margin - real).relu(), (mine.margin + fake).relu()
    return missing.mean() + beyond.mean(), -fake.mean()


def scores(*of_the_margin, dtype=torch.float32):
    """Return scores, in units of the margin."""
    return mine.margin * torch.tensor(of_the_margin, dtype=dtype)


def judged(reals, fakes, seed, dtype=torch.float32):
    """Return scores of real and of made pictures, on all sides of both marks."""
    return [2 * mine.margin * randn(n, seed=seed + n, dtype=dtype) for n in (reals, fakes)]


@visible("two real pictures and two made ones")
def two_and_two(student):
    return student.hinge(scores(2.0, 0.5), scores(-3.0, 0.25))


@visible("more real pictures than made ones, and fewer", weight=2)
def unequal(student):
    return student.hinge(*judged(9, 3, seed=3)), student.hinge(*judged(2, 7, seed=5))


@visible("a score for each patch, three axes: gradients")
def patches(student):
    real, fake = judged(24, 12, seed=9)
    return gradients(student.hinge, real.reshape(4, 2, 3), fake.reshape(2, 2, 3))


@visible("gradients of scores that are far on the right side, and on the wrong one")
def far_away(student):
    real, fake = scores(30.0, 4.0, 800.0), scores(-500.0, -6.0)
    return gradients(student.hinge, real, fake), gradients(student.hinge, -real, -fake)


@visible("what was given stays as it was; double precision", tolerance=1e-10)
def what_was_given_stays(student):
    return after(student.hinge, *judged(4, 5, seed=11, dtype=torch.float64))


@hidden("many scores", weight=2)
def hinge_many(student):
    return student.hinge(*judged(64, 48, seed=601))


@hidden("one of each, on all sides")
def hinge_one(student):
    marks = (-1.5, -0.5, 0.5, 1.5)
    return [student.hinge(scores(r), scores(f)) for r in marks for f in marks]


@hidden("one score that is very good and one that is very bad", weight=2)
def hinge_mixed(student):
    return student.hinge(scores(50.0, -50.0), scores(-70.0, 40.0))


@hidden("gradients", weight=2)
def hinge_gradients(student):
    return gradients(student.hinge, *judged(7, 7, seed=603, dtype=torch.float64))


@hidden("a column of scores, and a map of them: gradients")
def hinge_maps(student):
    real, fake = judged(12, 24, seed=605)
    return gradients(student.hinge, real[:, None], fake.reshape(2, 1, 3, 4))


@hidden("double precision", tolerance=1e-12)
def hinge_double(student):
    return student.hinge(*judged(5, 6, seed=607, dtype=torch.float64))


@hidden("everything far enough, nothing left to learn")
def hinge_done(student):
    return gradients(student.hinge, scores(1.5, 9.0), scores(-2.0, -1.25, -4.0))


@hidden("what was given is left as it was", weight=0.5)
def hinge_keeps(student):
    return after(student.hinge, *judged(4, 3, seed=609))
