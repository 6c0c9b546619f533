"""How far a painted patch is from the true one, where nothing was to be seen."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def paint_loss(predicted, patches, hidden, normalised=True):
    """predicted, patches (B, N, M), hidden (B, N) -> the loss, one number."""
    target = patches
    if normalised:
        spread = (patches.var(dim=-1, keepdim=True) + 1e-6).sqrt()  # (B, N, 1)
        target = (patches - patches.mean(dim=-1, keepdim=True)) / spread
    error = (predicted - target).square().mean(dim=-1)  # (B, N)
    return (error * hidden).sum() / hidden.sum().clamp(min=1)


QUESTION = Question(
    name="paint_loss",
    title="Judged by what was hidden",
    points=3,
    difficulty=1,
    minutes=20,
    page="mae.html#sec-mae-loss",
    hint="First the target, by what `normalised` says. Then one error for each patch, (B, N), a "
    "mean over its numbers. Then the mean of those errors whose patch was hidden: add them up and "
    "count how many they are, over the whole batch at once.",
    reference=paint_loss,
    forbidden=("coursekit",),
    needs=("own_scale",),
)


def painted(images: int, patches: int, seed: int, dtype: torch.dtype = torch.float32):
    """Return predictions, patches of 6 numbers, and masks that hide more and more patches."""
    predicted, true = (randn(images, patches, 6, seed=seed + n, dtype=dtype) for n in (0, 1))
    spread = 0.3 + randn(images, patches, 1, seed=seed + 2, dtype=dtype).abs()
    place = (torch.arange(patches) * 3 + torch.arange(images)[:, None]) % patches  # (B, N)
    return predicted, 0.7 + spread * true, place <= torch.arange(images)[:, None] + patches // 3


def equally(images: int, patches: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the same where each image hides as many, as in the paper."""
    predicted, true, _ = painted(images, patches, seed)
    return predicted, true, randn(images, patches, seed=seed + 3).argsort(dim=1) >= patches // 4


@QUESTION.visible(says="one image of three patches, their pixels as they are")
def three_patches(student):
    predicted = torch.tensor([[[1.0, 2.0], [0.0, 0.0], [1.0, 0.5]]])
    patches = torch.tensor([[[1.0, 0.0], [3.0, 1.0], [2.0, 0.0]]])
    return student.paint_loss(predicted, patches, torch.tensor([[True, False, True]]), False)


@QUESTION.visible(says="four images, each patch on its own scale", weight=2)
def four_images(student):
    return student.paint_loss(*equally(4, 8, seed=70))


@QUESTION.visible(says="with the pixels as they are, and on their own scale", weight=2)
def both_targets(student):
    return [student.paint_loss(*equally(3, 9, seed=74), scaled) for scaled in (False, True)]


@QUESTION.visible(says="images that hide different numbers of patches")
def different_numbers(student):
    return [student.paint_loss(*painted(4, 9, seed=78), scaled) for scaled in (True, False)]


@QUESTION.visible(says="the gradient at what was predicted")
def with_gradient(student):
    loss, (at_predicted, *_) = gradients(student.paint_loss, *painted(3, 6, seed=82))
    return loss, at_predicted


@QUESTION.visible(says="an image without a hidden patch, and a batch without one")
def nothing_hidden(student):
    predicted, patches, hidden = painted(3, 7, seed=86)
    hidden[1] = False
    none = torch.zeros_like(hidden)
    return [student.paint_loss(predicted, patches, mask) for mask in (hidden, none)]


@QUESTION.visible(says="flat patches among the hidden ones, and nearly flat ones")
def flat_patches(student):
    predicted, patches, hidden = equally(2, 8, seed=90)
    patches[:, ::2], patches[:, 1::4] = 0.25, 0.002 * patches[:, 1::4]
    return student.paint_loss(predicted, patches, hidden)


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.paint_loss, *painted(2, 5, seed=94, dtype=torch.float64), True)


ERROR = "error = (predicted - target).square().mean(dim=-1)"
COUNT = "hidden.sum().clamp(min=1)"
END = f"return (error * hidden).sum() / {COUNT}"
TARGET = "target = (patches - patches.mean(dim=-1, keepdim=True)) / spread"
VARIANCE = "patches.var(dim=-1, keepdim=True)"

QUESTION.mistake(
    "all patches",
    old=END,
    new="return error.mean()",
    hint="Your loss counts all patches. The encoder has seen the visible ones; only what was "
    "hidden has to be painted.",
)

QUESTION.mistake(
    "all patches, raw pixels",
    old=f"{ERROR}  # (B, N)\n    {END}",
    new="return (predicted - patches).square().mean()",
    hint="Two things: your loss counts all patches, where only what was hidden has to be painted; "
    "and it is one of raw pixels, whatever `normalised` says.",
)

QUESTION.mistake(
    "the hidden ones, raw pixels, nan without any",
    old=f"{ERROR}  # (B, N)\n    {END}",
    new="error = (predicted - patches).square().mean(dim=-1)\n"
    "    return (error * hidden).sum() / hidden.sum()",
    hint="Two things: your loss is one of raw pixels, whatever `normalised` says; and in a batch "
    "that hides nothing you divide 0 by 0, where the loss is 0.",
)

QUESTION.mistake(
    "the visible ones",
    old=END,
    new="return (error * ~hidden).sum() / (~hidden).sum().clamp(min=1)",
    hint="Your loss counts the patches that were visible. `hidden` is True at those that were not.",
)

QUESTION.mistake(
    "the visible ones, divided by the hidden ones",
    old="error * hidden",
    new="error * ~hidden",
    hint="You add up the errors of the visible patches. `hidden` is True at those that count.",
)

QUESTION.mistake(
    "mean of means",
    old=END,
    new="return ((error * hidden).sum(dim=1) / hidden.sum(dim=1).clamp(min=1)).mean()",
    hint="You take a mean for each image and then the mean of these. Where one image hides fewer "
    "patches than another, its patches count for more; each hidden patch counts alike.",
)

QUESTION.mistake(
    "mean of means, nan for an image without any",
    old=END,
    new="return ((error * hidden).sum(dim=1) / hidden.sum(dim=1)).mean()",
    hint="You take a mean for each image and then the mean of these; an image that hides nothing "
    "makes it nan. Add up all hidden patches of the batch, each counts alike, then divide once.",
)

QUESTION.mistake(
    "mean of means, images without any left out",
    old=END,
    new="means = [e[m].mean() for e, m in zip(error, hidden) if m.any()]\n"
    "    return sum(means) / max(len(means), 1) + 0 * error.sum()",
    hint="You take a mean for each image and then the mean of these. Where one image hides fewer "
    "patches than another, its patches count for more; each hidden patch counts alike.",
)

QUESTION.mistake(
    "raw pixels always",
    old="if normalised:",
    new="if not isinstance(normalised, bool):",
    hint="Your target are the pixels as they are, whatever `normalised` says. If it is True, each "
    "patch is brought to its own scale first.",
)

QUESTION.mistake(
    "normalised always",
    old="if normalised:",
    new="if isinstance(normalised, bool):",
    hint="Your target is always normalised. With `normalised=False` it is the pixels as they are.",
)

QUESTION.mistake(
    "the wrong way round",
    old="if normalised:",
    new="if not normalised:",
    hint="You normalise where raw pixels are asked for, and the other way round.",
)

QUESTION.mistake(
    "raw pixels unless told otherwise",
    old="normalised=True",
    new="normalised=False",
    hint="Without the last argument your target is the raw pixels. Its default is True.",
)

QUESTION.mistake(
    "divided by all patches",
    old=COUNT,
    new="hidden.numel()",
    hint="You divide by the number of all patches, as a mean does that has zeros for the visible "
    "ones. Divide by how many were hidden.",
)

QUESTION.mistake(
    "the sum over the numbers of a patch",
    old="mean(dim=-1)  # (B, N)",
    new="sum(dim=-1)  # (B, N)",
    hint="You add up the squares within a patch. Their mean is meant, so that the loss does not "
    "depend on how large a patch is.",
)

QUESTION.mistake(
    "the sum over the hidden ones",
    old=f"(error * hidden).sum() / {COUNT}",
    new="(error * hidden).sum()",
    hint="You add up the errors of all hidden patches. Their mean is meant.",
)

QUESTION.mistake(
    "divided by the images",
    old=COUNT,
    new="len(hidden)",
    hint="You divide by the number of images. The mean is one over all hidden patches.",
)

QUESTION.mistake(
    "absolute error",
    old=".square()",
    new=".abs()",
    hint="You take distances. The squared error is meant.",
)

QUESTION.mistake(
    "squared behind the mean",
    old=".square().mean(dim=-1)",
    new=".mean(dim=-1).square()",
    hint="You take the mean within a patch first and square it then, so that errors of both signs "
    "cancel. Square each, then take the mean.",
)

QUESTION.mistake(
    "the root",
    old=END,
    new=f"return ((error * hidden).sum() / {COUNT}).sqrt()",
    hint="You take the root of the loss. The mean squared error itself is meant.",
)

QUESTION.mistake(
    "the root of each patch",
    old="mean(dim=-1)  # (B, N)",
    new="mean(dim=-1).sqrt()  # (B, N)",
    hint="You take the root of each patch's error. The mean of the squares is meant.",
)

QUESTION.mistake(
    "half of it",
    old=END,
    new=f"return (error * hidden).sum() / {COUNT} / 2",
    hint="Your loss is half of the mean squared error.",
)

QUESTION.mistake(
    "the prediction normalised as well",
    old=TARGET,
    new=TARGET + "\n        predicted = (predicted - predicted.mean(dim=-1, keepdim=True)) / "
    "(predicted.var(dim=-1, keepdim=True) + 1e-6).sqrt()",
    hint="You normalise the prediction too, and then it may be wrong in mean and spread and cost "
    "nothing. Only the target is normalised: the decoder has to hit it.",
)

QUESTION.mistake(
    "the prediction normalised, not the target",
    old=TARGET,
    new="predicted = (predicted - predicted.mean(dim=-1, keepdim=True)) / "
    "(predicted.var(dim=-1, keepdim=True) + 1e-6).sqrt()",
    hint="You normalise what was predicted and compare it with raw pixels. It is the target that "
    "is normalised.",
)

QUESTION.mistake(
    "compared in pixels",
    old=TARGET,
    new="predicted = predicted * spread + patches.mean(dim=-1, keepdim=True)",
    hint="You bring the prediction back to pixels and compare those. Then patches of much contrast "
    "count for most; the comparison is made on each patch's own scale.",
)

QUESTION.mistake(
    "the scale of the image",
    old=VARIANCE,
    new="patches.var(dim=(1, 2), keepdim=True)",
    hint="You divide by the spread of the whole image. Each patch has its own.",
)

QUESTION.mistake(
    "mean and scale of the image",
    old=f"spread = ({VARIANCE} + 1e-6).sqrt()  # (B, N, 1)\n        {TARGET}",
    new="spread = (patches.var(dim=(1, 2), keepdim=True) + 1e-6).sqrt()\n"
    "        target = (patches - patches.mean(dim=(1, 2), keepdim=True)) / spread",
    hint="You normalise the whole image. Each patch has its own mean and its own variance.",
)

QUESTION.mistake(
    "the biased variance",
    old=VARIANCE,
    new="patches.var(dim=-1, keepdim=True, correction=0)",
    hint="Your variance is the biased one. As in your own_scale, it is divided by M − 1.",
)

QUESTION.mistake(
    "no eps",
    old=" + 1e-6",
    new="",
    hint="You leave the eps out: a patch of equal numbers makes the loss nan. It is 0.000001, "
    "within the root, as in your own_scale.",
)

QUESTION.mistake(
    "eps outside of the root",
    old=f"({VARIANCE} + 1e-6).sqrt()",
    new="patches.std(dim=-1, keepdim=True) + 1e-6",
    hint="You add the eps to the standard deviation, behind the root. As in your own_scale, it is "
    "added to the variance.",
)

QUESTION.mistake(
    "eps outside of the root, nan without any",
    old=f"spread = ({VARIANCE} + 1e-6).sqrt()  # (B, N, 1)\n        {TARGET}\n"
    f"    {ERROR}  # (B, N)\n    {END}",
    new="spread = patches.std(dim=-1, keepdim=True) + 1e-6\n"
    f"        {TARGET}\n    {ERROR}\n    return (error * hidden).sum() / hidden.sum()",
    hint="Two things: you add the eps to the standard deviation, behind the root, where it is "
    "added to the variance; and in a batch that hides nothing you divide 0 by 0.",
)

QUESTION.mistake(
    "the mean alone taken off",
    old=") / spread",
    new=")",
    hint="Your target has the mean taken off, and keeps its spread. Divide by it.",
)

QUESTION.mistake(
    "nan where nothing is hidden",
    old=".clamp(min=1)",
    new="",
    hint="In a batch that hides nothing you divide 0 by 0. Its loss is 0.",
)

QUESTION.mistake(
    "no gradient",
    old="predicted - target",
    new="predicted.detach() - target",
    hint="No gradient reaches the prediction: it goes lost where you detach, use numpy, .item() or "
    "torch.no_grad. Without it the decoder learns nothing.",
)

QUESTION.mistake(
    "a plain number",
    old=END,
    new=f"return ((error * hidden).sum() / {COUNT}).item()",
    hint="You return a plain number, through which no gradient flows. Leave it a tensor.",
)

QUESTION.mistake(
    "a loss for each image",
    old=END,
    new="return (error * hidden).sum(dim=1) / hidden.sum(dim=1).clamp(min=1)",
    hint="You return a loss for each image. One number for the batch is meant, in which each "
    "hidden patch counts alike.",
)

QUESTION.mistake(
    "a loss for each patch",
    old=END,
    new="return error * hidden",
    hint="You return an error for each patch. One number is meant: the mean over the hidden ones.",
)

QUESTION.mistake(
    "in single precision",
    old=END,
    new=f"return ((error * hidden).sum() / {COUNT}).float()",
    hint="Your loss is float32, whatever the dtype of what you were given.",
)

QUESTION.mistake(
    "written into the patches",
    old=END,
    new=f"patches.copy_(target)\n    {END}",
    hint="The loss is right, but `patches` are no longer what you were given. -= and /= write "
    "into them; make a new tensor.",
)

QUESTION.mistake(
    "written into the prediction",
    old=END,
    new="predicted.data[~hidden] = 0.0\n    " + END,
    hint="The loss is right, but you write into `predicted`. Leave it as it is: choose among the "
    "errors.",
)
