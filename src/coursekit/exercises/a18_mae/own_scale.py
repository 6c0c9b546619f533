"""What a masked autoencoder should paint, each patch on its own scale, and how a picture comes of
what it has painted.
"""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def own_scale(patches, painted, eps=1e-6):
    """patches, painted (B, N, M) -> target (B, N, M), pixels (B, N, M)."""
    mean = patches.mean(dim=-1, keepdim=True)  # (B, N, 1)
    spread = (patches.var(dim=-1, keepdim=True) + eps).sqrt()  # (B, N, 1)
    return (patches - mean) / spread, painted * spread + mean


QUESTION = Question(
    name="own_scale",
    title="Each patch on its own scale",
    points=4,
    difficulty=2,
    minutes=25,
    page="mae.html#sec-mae-loss",
    hint="Two numbers belong to each patch, its mean and its spread, both taken over its pixels: "
    "keep the axis, so that they fit to the patch. The second result is the first one solved for "
    "the pixels. The spread of a flat patch is 0 without the small number.",
    reference=own_scale,
    forbidden=("coursekit",),
)


def cut(images: int, patches: int, numbers: int, seed: int, dtype: torch.dtype = torch.float32):
    """Return patches, each with a mean and a spread of its own, and what a decoder has painted."""
    mean, spread, painted = (
        randn(images, patches, size, seed=seed + n, dtype=dtype)
        for n, size in enumerate((1, 1, numbers))
    )
    pixels = randn(images, patches, numbers, seed=seed + 3, dtype=dtype)
    return 0.5 + mean + (0.2 + spread.abs()) * pixels, 0.8 * painted


def flat(seed: int) -> tuple[Tensor, Tensor]:
    """Return patches of which one is flat, and one nearly so."""
    patches, painted = cut(2, 4, 12, seed)
    patches[0, 1], patches[1, 2] = 0.25, 0.5 + 0.001 * patches[1, 2]
    return patches, painted


@QUESTION.visible(says="two images of two patches, three numbers each")
def two_images(student):
    patches = torch.tensor([[[1.0, 4.0, 7.0], [0.0, 0.0, 3.0]], [[5.0, 6.0, 4.0], [2.0, 9.0, 4.0]]])
    painted = torch.tensor([[[0.0, 2.0, -1.0], [1.0, 0.0, 0.0]]]).repeat(2, 1, 1)
    return student.own_scale(patches, painted)


@QUESTION.visible(says="three images of four patches, 12 numbers each", weight=2)
def three_images(student):
    return student.own_scale(*cut(3, 4, 12, seed=10))


@QUESTION.visible(says="a flat patch, and one that is nearly flat")
def flat_patches(student):
    return student.own_scale(*flat(seed=20))


@QUESTION.visible(says="other values of eps")
def other_eps(student):
    return [student.own_scale(*cut(2, 3, 6, seed=30), eps) for eps in (0.5, 1e-3, 4.0)]


@QUESTION.visible(says="what was painted is the target: the patches come back")
def there_and_back(student):
    patches, painted = cut(2, 4, 6, seed=40)
    target, _ = student.own_scale(patches, painted)
    return student.own_scale(patches, target)


@QUESTION.visible(says="pixels from 0 to 255, hardly any of them different", tolerance=2e-3)
def bytes_of_a_sky(student):
    patches, painted = cut(2, 3, 48, seed=50)
    return student.own_scale(200 + 0.4 * patches, painted)


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.own_scale, *cut(2, 3, 3, seed=60, dtype=torch.float64))


MEAN = "patches.mean(dim=-1, keepdim=True)"
SPREAD = "(patches.var(dim=-1, keepdim=True) + eps).sqrt()"
BOTH = f"mean = {MEAN}  # (B, N, 1)\n    spread = {SPREAD}"
TARGET = "(patches - mean) / spread"
PIXELS = "painted * spread + mean"
END = f"return {TARGET}, {PIXELS}"


def over(dim: str) -> str:
    """Return the two lines with mean and spread over other axes."""
    return BOTH.replace("dim=-1", f"dim={dim}")


QUESTION.mistake(
    "over the image",
    old=BOTH,
    new=over("(1, 2)"),
    hint="Your mean and variance are those of the whole image. Each patch has its own: over its M "
    "numbers, the last axis alone.",
)

QUESTION.mistake(
    "over the batch",
    old=BOTH,
    new=over("(0, 1, 2)"),
    hint="Your mean and variance are those of the whole batch. Each patch has its own.",
)

QUESTION.mistake(
    "over the patches",
    old=BOTH,
    new=over("1"),
    hint="You take mean and variance over the patches of an image, for each pixel of a patch. Take "
    "them over the pixels, for each patch: the last axis.",
)

QUESTION.mistake(
    "over the images",
    old=BOTH,
    new=over("0"),
    hint="You take mean and variance over the images of the batch, as batch normalisation does. "
    "Each patch has its own, over its M numbers.",
)


@QUESTION.mistake(
    "each channel for itself",
    hint="You give each of three channels its own mean and variance. A patch has one of each, over "
    "all its numbers: the colours keep their differences.",
)
def each_channel(patches, painted, eps=1e-6):
    x = patches.unflatten(-1, (-1, 3))  # (B, N, pixels, 3)
    mean = x.mean(dim=-2, keepdim=True)
    variance = x.var(dim=-2, keepdim=True) if x.shape[-2] > 1 else torch.zeros_like(mean)
    spread = (variance + eps).sqrt()
    back = painted.unflatten(-1, (-1, 3)) * spread + mean
    return ((x - mean) / spread).flatten(-2), back.flatten(-2)


@QUESTION.mistake(
    "over the channels",
    hint="You take mean and variance over the three colours of each pixel. They belong to the "
    "patch: over all its numbers, pixels and colours together.",
)
def over_channels(patches, painted, eps=1e-6):
    x = patches.unflatten(-1, (-1, 3))  # (B, N, pixels, 3)
    mean, spread = x.mean(dim=-1, keepdim=True), (x.var(dim=-1, keepdim=True) + eps).sqrt()
    back = painted.unflatten(-1, (-1, 3)) * spread + mean
    return ((x - mean) / spread).flatten(-2), back.flatten(-2)


QUESTION.mistake(
    "the biased variance",
    old="patches.var(dim=-1, keepdim=True)",
    new="patches.var(dim=-1, keepdim=True, correction=0)",
    hint="You divide the squares by M. The unbiased variance, as in the paper's code, divides by "
    "M − 1, and is what torch's var computes if it is told nothing else.",
)

QUESTION.mistake(
    "the biased variance, eps outside of the root",
    old=SPREAD,
    new="patches.std(dim=-1, keepdim=True, correction=0) + eps",
    hint="Two things: you divide the squares by M, where the unbiased variance divides by M − 1; "
    "and the eps is added to the variance, within the root.",
)

QUESTION.mistake(
    "the biased variance, no eps",
    old=SPREAD,
    new="patches.std(dim=-1, keepdim=True, correction=0)",
    hint="Two things: you divide the squares by M, where the unbiased variance divides by M − 1; "
    "and the eps is missing, so that a patch of equal numbers becomes nan.",
)

QUESTION.mistake(
    "over the image, the biased variance",
    old=BOTH,
    new=over("(1, 2)").replace("keepdim=True) +", "keepdim=True, correction=0) +"),
    hint="Two things: your mean and variance are those of the whole image, where each patch has "
    "its own; and the variance is divided by how many numbers there are, and not by one less.",
)

QUESTION.mistake(
    "layer norm",
    old=END,
    new="target = torch.nn.functional.layer_norm(patches, patches.shape[-1:], eps=eps)\n"
    "    return target, painted * spread + mean",
    hint="You use a layer norm. It is nearly the same, but its variance is the biased one, divided "
    "by M; here it is divided by M − 1.",
)

QUESTION.mistake(
    "no eps",
    old=" + eps",
    new="",
    hint="You leave the eps out. Where all numbers of a patch are equal the variance is 0, and "
    "0/0 is nan.",
)

QUESTION.mistake(
    "eps for flat patches alone",
    old=SPREAD,
    new="patches.var(dim=-1, keepdim=True).clamp(min=eps).sqrt()",
    hint="You raise a variance below eps to eps, and leave the others alone. The eps is added to "
    "each, also where it hardly counts.",
)

QUESTION.mistake(
    "a spread of one for flat patches",
    old=SPREAD,
    new="patches.std(dim=-1, keepdim=True)\n    spread = spread.where(spread > 0, 1.0)",
    hint="You treat patches of equal numbers on their own, and leave the eps out otherwise. It is "
    "added to every variance, and then nothing has to be asked.",
)

QUESTION.mistake(
    "eps outside of the root",
    old=SPREAD,
    new="patches.std(dim=-1, keepdim=True) + eps",
    hint="You add the eps to the standard deviation, behind the root. It is added to the variance, "
    "within the root.",
)

QUESTION.mistake(
    "always 1e-6",
    old="+ eps",
    new="+ 1e-6",
    hint="Your eps is 0.000001, whatever the argument says.",
)

QUESTION.mistake(
    "eps one way only",
    old=PIXELS,
    new="painted * patches.std(dim=-1, keepdim=True) + mean",
    hint="The target has an eps in it, and the way back has none, so that a nearly flat patch does "
    "not come back. Both divide and multiply by one and the same number.",
)

QUESTION.mistake(
    "eps at the way back only",
    old=TARGET,
    new="(patches - mean) / patches.std(dim=-1, keepdim=True)",
    hint="The way back has an eps in it, and the target has none. Both divide and multiply by one "
    "and the same number.",
)

QUESTION.mistake(
    "divided by the variance",
    old=SPREAD,
    new="patches.var(dim=-1, keepdim=True) + eps",
    hint="You divide by the variance. Its root is what has the unit of a pixel.",
)

QUESTION.mistake(
    "the mean alone",
    old=SPREAD,
    new="torch.ones_like(mean)",
    hint="You take the mean off and leave the spread as it is. Each patch is divided by its own.",
)

QUESTION.mistake(
    "the spread alone",
    old=MEAN,
    new="torch.zeros_like(patches[..., :1])",
    hint="You divide by the spread and leave the mean where it is. It is taken off first.",
)

QUESTION.mistake(
    "the mean taken off behind",
    old=TARGET,
    new="patches / spread - mean",
    hint="You divide first and take the mean off afterwards. The mean is one of pixels: take it "
    "off them, then divide.",
)

QUESTION.mistake(
    "from darkest to brightest",
    old=BOTH,
    new="mean = patches.amin(dim=-1, keepdim=True)\n"
    "    spread = patches.amax(dim=-1, keepdim=True) - mean + eps",
    hint="You bring each patch between 0 and 1, by its darkest and its brightest pixel. Mean and "
    "variance are asked for.",
)

QUESTION.mistake(
    "the mean of the absolute values",
    old=SPREAD,
    new="(patches - mean).abs().mean(dim=-1, keepdim=True) + eps",
    hint="Your spread is the mean of the distances from the mean. The root of the variance is "
    "asked for: a mean of squares.",
)

QUESTION.mistake(
    "the mean of the squares less the square of the mean",
    old="patches.var(dim=-1, keepdim=True)",
    new="((patches.square().mean(dim=-1, keepdim=True) - mean.square()) * patches.shape[-1] "
    "/ (patches.shape[-1] - 1)).clamp(min=0)",
    hint="You take a variance as the mean of the squares less the square of the mean. In a bright "
    "patch both are large and nearly equal, and their difference has few right digits. Take the "
    "mean off first.",
)

QUESTION.mistake(
    "undone twice",
    old=PIXELS,
    new="(painted * spread + mean) * spread + mean",
    hint="You undo the scale twice. What was painted is on the patch's own scale: one product and "
    "one sum bring it back.",
)

QUESTION.mistake(
    "scaled twice",
    old=END,
    new=f"target = {TARGET}\n"
    "    target = (target - target.mean(dim=-1, keepdim=True)) / "
    "(target.var(dim=-1, keepdim=True) + eps).sqrt()\n"
    f"    return target, {PIXELS}",
    hint="You scale the patches twice. Where they are nearly flat, the second time makes large "
    "what the eps had kept small.",
)

QUESTION.mistake(
    "not undone",
    old=PIXELS,
    new="painted.clone()",
    hint="You hand over what was painted as it is. It is on the scale of each patch: give it the "
    "spread and the mean of the true patch back.",
)

QUESTION.mistake(
    "scaled once more",
    old=PIXELS,
    new="(painted - mean) / spread",
    hint="You scale what was painted, though it is on the patch's own scale already. The way back "
    "is asked for.",
)

QUESTION.mistake(
    "the mean added first",
    old=PIXELS,
    new="(painted + mean) * spread",
    hint="You add the mean and then multiply, so the mean is multiplied as well. The other way "
    "round: what was done last is undone first.",
)

QUESTION.mistake(
    "divided on the way back",
    old=PIXELS,
    new="painted / spread + mean",
    hint="You divide by the spread on the way back too. There you multiply.",
)

QUESTION.mistake(
    "the spread alone comes back",
    old=PIXELS,
    new="painted * spread",
    hint="Your way back forgets the mean.",
)

QUESTION.mistake(
    "the mean alone comes back",
    old=PIXELS,
    new="painted + mean",
    hint="Your way back forgets the spread.",
)

QUESTION.mistake(
    "back with the scale of what was painted",
    old=END,
    new=f"target = {TARGET}\n"
    "    mean = painted.mean(dim=-1, keepdim=True)\n"
    "    spread = (painted.var(dim=-1, keepdim=True) + eps).sqrt()\n"
    f"    return target, {PIXELS}",
    hint="You go back with mean and spread of what was painted. They are about 0 and 1 by "
    "training; the ones that are missing are those of the true patch.",
)

QUESTION.mistake(
    "the patches come back",
    old=PIXELS,
    new="(patches - mean) / spread * spread + mean",
    hint="You scale the patches and undo it, which gives the patches. It is what was painted that "
    "becomes pixels.",
)

QUESTION.mistake(
    "no pixel above one",
    old=PIXELS,
    new="(painted * spread + mean).clamp(0, 1)",
    hint="You cut off what lies below 0 or above 1. Nothing says that pixels lie there.",
)

QUESTION.mistake(
    "exchanged",
    old=END,
    new=f"return {PIXELS}, {TARGET}",
    hint="Your two results have changed places: the target comes first.",
)

QUESTION.mistake(
    "the target alone",
    old=END,
    new=f"return {TARGET}",
    hint="You return the target alone. The pixels of what was painted come second.",
)

QUESTION.mistake(
    "a list",
    old=END,
    new=f"return [{TARGET}, {PIXELS}]",
    hint="You return a list. A tuple of two tensors is asked for.",
)

QUESTION.mistake(
    "in single precision",
    old=END,
    new=f"return ({TARGET}).float(), ({PIXELS}).float()",
    hint="Your results are float32, whatever the dtype of what you were given.",
)

QUESTION.mistake(
    "in place",
    old=END,
    new=f"target = {TARGET}\n    return target, painted.mul_(spread).add_(mean)",
    hint="The numbers are right, but `painted` is no longer what you were given. *= and += write "
    "into it; make a new tensor.",
)

QUESTION.mistake(
    "the patches written over",
    old=END,
    new=f"return patches.sub_(mean).div_(spread), {PIXELS}",
    hint="The numbers are right, but `patches` are no longer what you were given. -= and /= write "
    "into them; make a new tensor.",
)
