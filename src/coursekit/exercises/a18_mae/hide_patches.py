"""Which patches of an image a masked autoencoder may read, and how they find their places again."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def hide_patches(noise, ratio):
    """noise (B, N), the share to hide -> keep (B, K), hidden (B, N), restore (B, N)."""
    N = noise.shape[1]
    K = int(N * (1 - ratio))
    order = noise.argsort(dim=1)  # (B, N), which patch stands at each place of the list
    restore = order.argsort(dim=1)  # (B, N), at which place of the list each patch stands
    return order[:, :K], restore >= K, restore


QUESTION = Question(
    name="hide_patches",
    title="Three quarters are gone",
    points=4,
    difficulty=2,
    minutes=25,
    page="mae.html#sec-mae-hide",
    hint="Do it on paper for the four numbers of the example. Sorting their places by their "
    "numbers gives the shuffled list. It says which patch stands where; you also need the other "
    "direction, where each patch stands, which is the inverse of a permutation. A patch is hidden "
    "if it stands too far back in the list.",
    reference=hide_patches,
    forbidden=("coursekit",),
)


def drawn(images: int, patches: int, seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return numbers for the patches of some images; about half of them lie below zero."""
    return 3 * randn(images, patches, seed=seed, dtype=dtype)


@QUESTION.visible(says="one image of five patches")
def one_image(student):
    return student.hide_patches(torch.tensor([[0.5, 0.2, 0.8, 0.1, 0.4]]), 0.5)


@QUESTION.visible(says="three images of 16 patches, three quarters hidden", weight=2)
def three_quarters(student):
    return student.hide_patches(drawn(3, 16, seed=1).sigmoid(), 0.75)


@QUESTION.visible(says="shares of 49 patches that are no whole numbers")
def no_whole_numbers(student):
    return [student.hide_patches(drawn(2, 49, seed=2), ratio) for ratio in (0.75, 0.9, 0.3)]


@QUESTION.visible(says="nothing hidden, and all but one")
def nothing_hidden(student):
    return [student.hide_patches(drawn(4, 9, seed=3), ratio) for ratio in (0.0, 0.85)]


@QUESTION.visible(says="as many images as patches; any numbers")
def as_many(student):
    return student.hide_patches(drawn(6, 6, seed=4), 0.6)


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.hide_patches, drawn(2, 10, seed=5, dtype=torch.float64), 0.55)


SHARE = "int(N * (1 - ratio))"
ORDER = "order = noise.argsort(dim=1)"
END = "return order[:, :K], restore >= K, restore"

QUESTION.mistake(
    "the ratio of those that stay",
    old=SHARE,
    new="int(N * ratio)",
    hint="You keep the share that should be hidden: `ratio` says how many patches go. With 0.75 a "
    "quarter stays.",
)

QUESTION.mistake(
    "rounded up",
    old=SHARE,
    new="N - int(N * ratio)",
    hint="Your number of patches that stay is rounded up. Where the shares are no whole numbers "
    "one patch more is hidden: it is the number of those that stay that is rounded down.",
)

QUESTION.mistake(
    "to the nearest",
    old=SHARE,
    new="round(N * (1 - ratio))",
    hint="You round to the nearest whole number. int cuts off what stands behind the point.",
)

QUESTION.mistake(
    "the batch counted",
    old="noise.shape[1]",
    new="noise.shape[0]",
    hint="You take a share of the images of the batch. It is a share of the patches of each: "
    "noise is (B, N), and N stands at the end.",
)

QUESTION.mistake(
    "sorted once",
    old="order.argsort(dim=1)",
    new="order",
    hint="You have sorted once. That says which patch stands at each place of the list; `restore` "
    "and `hidden` need the inverse, at which place of the list each patch stands.",
)

QUESTION.mistake(
    "restore sorted once",
    old=END,
    new="return order[:, :K], restore >= K, order",
    hint="Your `restore` is the shuffled list, which says what stands at each place. Its inverse "
    "is asked for: where does each patch stand? Try the small example on paper.",
)

QUESTION.mistake(
    "kept by the inverse",
    old="return order[:, :K]",
    new="return restore[:, :K]",
    hint="You cut `keep` out of the inverse. The first K of the shuffled list stay, and the list "
    "is what the first sorting gives.",
)

QUESTION.mistake(
    "list and inverse exchanged",
    old=END,
    new="return restore[:, :K], order >= K, order",
    hint="List and inverse have changed places. Sorting once says which patch stands at each place "
    "of the list: `keep` comes from that. Where each patch stands is its inverse.",
)

QUESTION.mistake(
    "the inverse of order, not of place",
    old="order.argsort(dim=1)",
    new="order.flip(1)",
    hint="You turn the list around. The inverse of a permutation is another thing: if place 0 of "
    "the list has patch 3, then `restore` has a 0 at place 3.",
)

QUESTION.mistake(
    "the ratio of those that stay, sorted once",
    old="order.argsort(dim=1)  # (B, N), at which place of the list each patch stands\n    return "
    "order[:, :K], restore >= K, restore",
    new="order\n    K = int(N * ratio)\n    return order[:, :K], restore >= K, restore",
    hint="Two things: `ratio` is the share that is hidden, and you keep it; and you have sorted "
    "once, which says which patch stands at each place, where the inverse is asked for.",
)

QUESTION.mistake(
    "what any image keeps",
    old="restore >= K",
    new="(restore >= K).all(dim=0).expand_as(restore)",
    hint="A patch counts as visible in all your images if one of them keeps it: an index such as "
    "x[:, keep] goes through all rows. Ask each row for itself, or use scatter.",
)

QUESTION.mistake(
    "the mask of those that stay",
    old="restore >= K",
    new="restore < K",
    hint="Your mask is True where a patch stays. It is called `hidden`: True where it is gone.",
)

QUESTION.mistake(
    "the mask in the order of the list",
    old="restore >= K",
    new="(torch.arange(N) >= K).expand_as(restore)",
    hint="Your mask is in the order of the shuffled list, first those that stay. Each patch should "
    "be marked at its place in the image: restore the order of the mask as well.",
)

QUESTION.mistake(
    "the mask by the list",
    old="restore >= K",
    new="order >= K",
    hint="You compare the numbers of the patches with K, in the order of the list. A patch is "
    "hidden if its place in the list is K or more: ask the inverse.",
)

QUESTION.mistake(
    "one more stays",
    old="restore >= K",
    new="restore > K",
    hint="Your mask hides one patch fewer than it should. Places count from 0, so the first K "
    "patches of the list are those at the places 0 to K − 1.",
)

QUESTION.mistake(
    "each by its own coin",
    old="restore >= K",
    new="noise >= 1 - ratio",
    hint="You hide each patch by its own number, so that some images lose more than others. All "
    "have to keep K patches, or they do not fit in one batch: sort, and take the first K.",
)

QUESTION.mistake(
    "a mask of whole numbers",
    old="restore >= K",
    new="(restore >= K).long()",
    hint="Your mask has the numbers 0 and 1. A boolean one is asked for, True at what is hidden.",
)

QUESTION.mistake(
    "a mask of floats",
    old="restore >= K",
    new="(restore >= K).float()",
    hint="Your mask has floating point numbers, as the paper's code has. Here it is boolean, True "
    "at what is hidden.",
)

QUESTION.mistake(
    "the largest stay",
    old=ORDER,
    new="order = noise.argsort(dim=1, descending=True)",
    hint="You keep the patches with the largest numbers. The list begins with the smallest.",
)

QUESTION.mistake(
    "one mask for the batch",
    old=ORDER,
    new="order = noise[:1].argsort(dim=1).expand_as(noise)",
    hint="All your images lose the same patches, those of the first. Each image has a row of "
    "numbers, and so a mask of its own.",
)

QUESTION.mistake(
    "sorted over the batch",
    old="noise.argsort(dim=1)",
    new="noise.argsort(dim=0)",
    hint="You sort along the batch, so that images compete with each other. Sort the patches of "
    "each image: dim=1.",
)

QUESTION.mistake(
    "all images in one list",
    old=ORDER,
    new="order = noise.flatten().argsort().argsort().reshape(noise.shape).argsort(dim=1) "
    "+ N * torch.arange(len(noise))[:, None]",
    hint="Your numbers of patches run on from image to image. Each image counts its patches from "
    "0 anew.",
)

QUESTION.mistake(
    "nothing shuffled",
    old=ORDER,
    new="order = torch.arange(N).expand_as(noise)",
    hint="You keep the first K patches of every image, whatever the numbers in `noise` say.",
)

QUESTION.mistake(
    "those that stay, sorted",
    old="return order[:, :K]",
    new="return order[:, :K].sort(dim=1).values",
    hint="Your `keep` is sorted as the patches stand in the image. It belongs in the order of the "
    "shuffled list, or `restore` puts the wrong patches back.",
)

QUESTION.mistake(
    "both groups in the order of the image",
    old=ORDER,
    new="order = torch.cat([noise.argsort(dim=1)[:, :K].sort(dim=1).values, "
    "noise.argsort(dim=1)[:, K:].sort(dim=1).values], dim=1)",
    hint="You sort the patches that stay, and the hidden ones, as they stand in the image. That "
    "is sound in itself, but the shuffled list is asked for: by the numbers in `noise` alone.",
)

QUESTION.mistake(
    "the hidden ones",
    old="return order[:, :K]",
    new="return order[:, K:]",
    hint="You return the hidden patches. `keep` has those that stay, the first K of the list.",
)

QUESTION.mistake(
    "the last of the list",
    old="return order[:, :K]",
    new="return order[:, N - K :]",
    hint="Your `keep` has the last K of the list, those with the largest numbers. The first ones "
    "stay.",
)

QUESTION.mistake(
    "the numbers themselves",
    old="return order[:, :K]",
    new="return noise.sort(dim=1).values[:, :K]",
    hint="You return the random numbers. Which patches they belong to is asked for: argsort, or "
    "the indices that sort gives as well.",
)

QUESTION.mistake(
    "a mask for those that stay",
    old="return order[:, :K]",
    new="return restore < K",
    hint="Your `keep` is a mask. It should have the numbers of the patches, (B, K), in the order "
    "of the list.",
)

QUESTION.mistake(
    "restore for those that stay alone",
    old=END,
    new="return order[:, :K], restore >= K, restore[:, :K]",
    hint="Your `restore` has K places. The decoder puts mask tokens in the list behind those that "
    "stayed, and all N patches have to find their places.",
)

QUESTION.mistake(
    "mask and restore exchanged",
    old=END,
    new="return order[:, :K], restore, restore >= K",
    hint="Your second and third result have changed places: first `keep`, then the mask, then "
    "`restore`.",
)

QUESTION.mistake(
    "two results",
    old=END,
    new="return order[:, :K], restore >= K",
    hint="You return two results. The third, `restore`, brings the patches back to their places.",
)

QUESTION.mistake(
    "in 32 bits",
    old=ORDER,
    new="order = noise.argsort(dim=1).int()",
    hint="Your places have 32 bits. They are int64, as argsort gives them.",
)

QUESTION.mistake(
    "counted from 1",
    old="return order[:, :K]",
    new="return order[:, :K] + 1",
    hint="You count the patches from 1, perhaps since the class token stands before them. Here "
    "they count from 0.",
)

QUESTION.mistake(
    "sorted in place",
    old="return order",
    new="noise.copy_(noise.sort(dim=1).values)\n    return order",
    hint="The answer is right, but `noise` is no longer what you were given. Sort into a new "
    "tensor.",
)
