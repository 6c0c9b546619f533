"""The two losses of a GAN that stops pushing what is already far enough: the hinge."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def hinge(real, fake):
    """Scores of real and of made pictures -> the loss of the discriminator, of the generator."""
    judge = (1 - real).relu().mean() + (1 + fake).relu().mean()
    return judge, -fake.mean()


QUESTION = Question(
    name="hinge",
    title="Far enough is enough",
    points=3,
    difficulty=1,
    minutes=15,
    page="sagan.html#sec-sagan-hinge",
    hint="Take one real picture with the score 0.4. How much is missing to 1? That is what it "
    "costs, and nothing if it has more. For a made one look at the other side, below −1. The "
    "generator's loss has no corner in it.",
    reference=hinge,
    forbidden=("coursekit",),
)


def scores(
    reals: int, fakes: int, seed: int, scale: float = 1.6, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor]:
    """Return scores of real and of made pictures, on both sides of 1 and of -1."""
    real, fake = (scale * randn(n, seed=seed + n, dtype=dtype) for n in (reals, fakes))
    return real + 0.8, fake - 0.6


@QUESTION.visible(says="two real pictures and two made ones")
def two_and_two(student):
    return student.hinge(torch.tensor([2.0, 0.5]), torch.tensor([-3.0, 0.25]))


@QUESTION.visible(says="eight of each", weight=2)
def eight(student):
    return student.hinge(*scores(8, 8, seed=1))


@QUESTION.visible(says="more real pictures than made ones, and fewer")
def unequal(student):
    return student.hinge(*scores(9, 3, seed=3)), student.hinge(*scores(2, 7, seed=5))


@QUESTION.visible(says="gradients")
def with_gradients(student):
    return gradients(student.hinge, *scores(6, 5, seed=7))


@QUESTION.visible(says="gradients of scores that are far on the right side, and on the wrong one")
def far_away(student):
    real, fake = torch.tensor([30.0, 4.0, 800.0]), torch.tensor([-500.0, -6.0])
    return gradients(student.hinge, real, fake), gradients(student.hinge, -real, -fake)


@QUESTION.visible(says="a score for each patch: three axes")
def patches(student):
    real, fake = scores(24, 12, seed=9)
    return student.hinge(real.reshape(4, 2, 3), fake.reshape(2, 2, 3))


@QUESTION.visible(says="what was given stays as it was; double precision", tolerance=1e-10)
def what_was_given_stays(student):
    return after(student.hinge, *scores(4, 5, seed=11, dtype=torch.float64))


REAL, FAKE = "(1 - real).relu().mean()", "(1 + fake).relu().mean()"
JUDGE, END = f"judge = {REAL} + {FAKE}", "return judge, -fake.mean()"

for name, old, new, hint in (
    (
        "fake sign",
        "1 + fake",
        "1 - fake",
        "You ask made pictures for a score of 1 or more, as you ask the real ones. The "
        "discriminator wants theirs at −1 or below.",
    ),
    (
        "real sign",
        "1 - real",
        "1 + real",
        "You ask real pictures for a score of −1 or less. The discriminator wants theirs at 1 or "
        "above.",
    ),
    (
        "both signs",
        JUDGE,
        "judge = (1 + real).relu().mean() + (1 - fake).relu().mean()",
        "Real and made pictures have changed places in your discriminator's loss: it would learn "
        "to give the made ones high scores.",
    ),
    (
        "generator clipped",
        "-fake.mean()",
        "(1 - fake).relu().mean()",
        "You give the generator a hinge of its own. Its loss is the mean score with a minus, "
        "without a corner: a picture that fools already may go on.",
    ),
    (
        "generator clipped at zero",
        "-fake.mean()",
        "(-fake).relu().mean()",
        "You cut the generator's loss off at 0. Its loss is the mean score with a minus, and may "
        "be negative.",
    ),
    (
        "generator clipped, as the discriminator's with a minus",
        "-fake.mean()",
        "-(1 + fake).relu().mean()",
        "You turn the discriminator's loss around for the generator. Pictures below −1 would then "
        "have no gradient, though they have most to learn; the generator's loss has no ReLU.",
    ),
    (
        "generator clipped between both margins",
        "-fake.mean()",
        "-fake.clamp(-1, 1).mean()",
        "You clip the scores in the generator's loss. It is the mean of all as they are, with a "
        "minus.",
    ),
    (
        "the generator's sign",
        "-fake.mean()",
        "fake.mean()",
        "Your generator's loss falls with the score of its pictures. It wants high scores: a minus "
        "is missing.",
    ),
    (
        "the generator learns from real pictures",
        "-fake.mean()",
        "real.mean() - fake.mean()",
        "The scores of real pictures are in your generator's loss. It has no part in them.",
    ),
    (
        "the generator gets the sum",
        "-fake.mean()",
        "-fake.sum()",
        "You add up the scores for the generator. Their mean is asked for.",
    ),
    (
        "mean before ReLU",
        JUDGE,
        "judge = (1 - real.mean()).relu() + (1 + fake.mean()).relu()",
        "You take the mean first, then the ReLU. A very good score would then pay for a bad one; "
        "each picture has its own hinge.",
    ),
    (
        "mean before ReLU for real pictures",
        REAL,
        "(1 - real.mean()).relu()",
        "For real pictures you take the mean first, then the ReLU. Each picture has its own hinge.",
    ),
    (
        "mean before ReLU for made pictures",
        FAKE,
        "(1 + fake.mean()).relu()",
        "For made pictures you take the mean first, then the ReLU. Each picture has its own hinge.",
    ),
    (
        "one ReLU around all",
        JUDGE,
        "judge = (1 - real.mean() + 1 + fake.mean()).relu()",
        "You put one ReLU around the whole loss. Each score has its own, for real and for made "
        "pictures.",
    ),
    (
        "one ReLU around each pair",
        JUDGE,
        "pairs = min(real.numel(), fake.numel())\n"
        "    gaps = real.flatten()[:pairs] - fake.flatten()[:pairs]\n"
        "    judge = (1 - gaps).relu().mean()",
        "You compare real pictures with made ones in pairs. Each score is held against a fixed "
        "mark, 1 or −1.",
    ),
    (
        "labels 0 and 1",
        JUDGE,
        "judge = (1 - real).relu().mean() + fake.relu().mean()",
        "You let made pictures off at a score of 0. The marks are 1 and −1, not 1 and 0.",
    ),
    (
        "no margin",
        JUDGE,
        "judge = (-real).relu().mean() + fake.relu().mean()",
        "You let scores off as soon as they are on the right side of 0. They should be 1 away "
        "from it.",
    ),
    (
        "squared errors to 0 and 1",
        f"{JUDGE}\n    {END}",
        "judge = (real - 1).square().mean() + fake.square().mean()\n"
        "    return judge, (fake - 1).square().mean()",
        "You square the distance to 1 and 0: that is least squares. A hinge costs what is missing "
        "to the mark, and beyond it nothing.",
    ),
    (
        "squared errors to 1 and −1",
        JUDGE,
        "judge = (real - 1).square().mean() + (fake + 1).square().mean()",
        "You square the distance to 1 and −1. A hinge costs what is missing to the mark, as it is, "
        "and beyond it nothing.",
    ),
    (
        "a squared hinge",
        JUDGE,
        "judge = (1 - real).relu().square().mean() + (1 + fake).relu().square().mean()",
        "You square what is missing. It counts as it is.",
    ),
    (
        "the cross-entropy of labels 0 and 1",
        f"{JUDGE}\n    {END}",
        "judge = -torch.sigmoid(real).log().mean() - torch.sigmoid(-fake).log().mean()\n"
        "    return judge, -torch.sigmoid(fake).log().mean()",
        "You take sigmoids and the labels 0 and 1, as the first GANs did. A hinge needs neither a "
        "sigmoid nor a logarithm.",
    ),
    (
        "the cross-entropy, in one step",
        f"{JUDGE}\n    {END}",
        "from torch.nn.functional import softplus\n\n"
        "    judge = softplus(-real).mean() + softplus(fake).mean()\n"
        "    return judge, softplus(-fake).mean()",
        "You take the cross-entropy with the labels 0 and 1, as the first GANs did. A hinge costs "
        "what is missing to 1 or −1, and beyond the mark nothing.",
    ),
    (
        "rounded corners",
        JUDGE,
        "from torch.nn.functional import softplus\n\n"
        "    judge = softplus(1 - real).mean() + softplus(1 + fake).mean()",
        "You take softplus for the ReLU. A hinge has a sharp corner: what is far enough costs "
        "nothing and has no gradient.",
    ),
    (
        "no ReLU",
        JUDGE,
        "judge = (1 - real).mean() + (1 + fake).mean()",
        "The ReLU is missing in your discriminator's loss. What is beyond its mark should cost "
        "nothing, and not earn anything either.",
    ),
    (
        "the difference of the means",
        JUDGE,
        "judge = fake.mean() - real.mean()",
        "Your discriminator's loss is that of a Wasserstein GAN. A hinge stops at 1 and −1.",
    ),
    (
        "min without a minus",
        JUDGE,
        "judge = (real - 1).clamp(max=0).mean() + (-1 - fake).clamp(max=0).mean()",
        "Your discriminator's loss is negative. The formula with min has a minus before each mean.",
    ),
    (
        "max for min",
        JUDGE,
        "judge = -(real - 1).relu().mean() - (-1 - fake).relu().mean()",
        "You reward what is beyond the mark, and what is not yet there costs nothing. It is the "
        "other way round.",
    ),
    (
        "absolute value",
        JUDGE,
        "judge = (1 - real).abs().mean() + (1 + fake).abs().mean()",
        "You take the absolute distance to the mark. What is beyond it costs nothing: max(0, …).",
    ),
    (
        "one mean for both",
        JUDGE,
        "from torch import cat\n\n"
        "    judge = cat([(1 - real).relu().flatten(), (1 + fake).relu().flatten()]).mean()",
        "You take one mean over real and made pictures together. Each kind has a mean of its own, "
        "and the two are added.",
    ),
    (
        "halved",
        JUDGE,
        f"judge = ({REAL} + {FAKE}) / 2",
        "You halve the discriminator's loss. The two means are added.",
    ),
    (
        "sums",
        JUDGE,
        "judge = (1 - real).relu().sum() + (1 + fake).relu().sum()",
        "You add up the pictures for the discriminator. Each kind has a mean, or the loss grows "
        "with the batch.",
    ),
    (
        "a mean over the batch only",
        JUDGE,
        "judge = (1 - real).relu().sum() / len(real) + (1 + fake).relu().sum() / len(fake)",
        "You divide by the number of pictures where there is a score for each patch. The mean is "
        "over all scores.",
    ),
    (
        "the mean of those that cost something",
        JUDGE,
        "judge = (1 - real)[real < 1].mean() + (1 + fake)[fake > -1].mean()",
        "You average over the scores that cost something. All count, those that cost nothing with "
        "a 0; else the loss is nan where there are none.",
    ),
    (
        "real pictures only",
        JUDGE,
        f"judge = {REAL}",
        "Made pictures are missing in your discriminator's loss.",
    ),
    (
        "made pictures only",
        JUDGE,
        f"judge = {FAKE}",
        "Real pictures are missing in your discriminator's loss.",
    ),
    (
        "one loss",
        END,
        "return judge - fake.mean()",
        "You return one number. The two networks have a loss each: a tuple of two.",
    ),
    (
        "the generator's first",
        END,
        "return -fake.mean(), judge",
        "Your losses have changed places: the discriminator's comes first.",
    ),
    (
        "a list",
        END,
        "return [judge, -fake.mean()]",
        "You return a list. A tuple is asked for.",
    ),
    (
        "plain numbers",
        END,
        "return judge.item(), -fake.mean().item()",
        "You return plain numbers, which have no gradient. Leave them tensors.",
    ),
    (
        "made pictures detached for the discriminator",
        "1 + fake",
        "1 + fake.detach()",
        "The numbers are right, but the scores of made pictures get no gradient from the "
        "discriminator's loss. The training detaches the *pictures*; their scores are the "
        "discriminator's own.",
    ),
    (
        "made pictures detached for the generator",
        "-fake.mean()",
        "-fake.detach().mean()",
        "The numbers are right, but the generator's loss has no gradient. Nothing can be learned "
        "from it.",
    ),
    (
        "no gradient",
        END,
        "return judge.detach(), -fake.detach().mean()",
        "Your losses have no gradient. Nothing can be learned from them.",
    ),
    (
        "in single precision",
        END,
        "return judge.float(), -fake.mean().float()",
        "Your losses are float32, whatever the dtype of the scores.",
    ),
    (
        "written into the scores",
        JUDGE,
        "real.data.clamp_(max=1), fake.data.clamp_(min=-1)\n    " + JUDGE,
        "You cut off the scores that you were given: what ends in an underscore changes them, and "
        "the generator's loss needs them as they were. Make new tensors.",
    ),
):
    QUESTION.mistake(name, old=old, new=new, hint=hint)
