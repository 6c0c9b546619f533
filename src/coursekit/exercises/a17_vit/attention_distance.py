"""How far a head looks, in pixels: the distance to what it sees, weighted by its attention."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def attention_distance(weights, grid, patch):
    """weights (H, T, T), (rows, columns) of patches, the side of one -> pixels (H,)."""
    rows, columns = grid
    number = torch.arange(rows * columns)
    places = torch.stack([number // columns, number % columns], dim=1).to(weights.dtype)  # (N, 2)
    apart = places[:, None] - places  # (N, N, 2), in patches
    pixels = patch * apart.square().sum(dim=-1).sqrt()  # (N, N)
    seen = weights[:, 1:, 1:]  # (H, N, N)
    shares = seen / seen.sum(dim=-1, keepdim=True)
    far = (shares * pixels).sum(dim=-1)  # (H, N)
    return far.mean(dim=-1)


QUESTION = Question(
    name="attention_distance",
    title="How far a head looks",
    points=5,
    difficulty=3,
    minutes=35,
    page="vit.html#sec-vit-inside",
    hint="Make a table of distances first, (N, N), with no weights in it, and print it for a grid "
    "of 2 × 3: the patch with the number 3 stands right below the one with the number 0. Then the "
    "weights: which row and which column of them belong to no patch? What is left of a row no "
    "longer adds up to 1.",
    reference=attention_distance,
    forbidden=("coursekit",),
)


def _weights(heads, grid, seed, sharp=1.5, dtype=torch.float32):
    """Attention of several heads over a class token and the patches of a grid."""
    tokens = 1 + grid[0] * grid[1]
    return (sharp * randn(heads, tokens, tokens, seed=seed, dtype=dtype)).softmax(dim=-1)


@QUESTION.visible(says="one head, one row of three patches")
def three_patches(student):
    weights = torch.tensor(
        [
            [0.7, 0.1, 0.1, 0.1],
            [0.0, 0.5, 0.5, 0.0],
            [0.0, 0.5, 0.0, 0.5],
            [0.0, 1.0, 0.0, 0.0],
        ]
    )
    return student.attention_distance(weights[None], (1, 3), 10)


@QUESTION.visible(says="four heads, more columns than rows", weight=2)
def four_heads(student):
    return student.attention_distance(_weights(4, (2, 5), seed=1), (2, 5), 16)


@QUESTION.visible(says="more rows than columns, patches of 7 pixels")
def more_rows(student):
    return student.attention_distance(_weights(3, (4, 2), seed=2), (4, 2), 7)


@QUESTION.visible(says="half of the weight of some patches goes to the class token, or nearly all")
def class_token_seen(student):
    weights = _weights(2, (3, 3), seed=3)
    share = torch.tensor([0.5, 0.0, 0.99, 0.2, 0.9, 0.0, 0.5, 0.7, 0.1])[:, None]
    seen = weights[:, 1:, 1:] / weights[:, 1:, 1:].sum(dim=-1, keepdim=True) * (1 - share)
    weights[:, 1:] = torch.cat([share.expand(2, 9, 1), seen], dim=-1)
    return student.attention_distance(weights, (3, 3), 8)


@QUESTION.visible(says="heads that look at one place: the patch itself, the next row, a corner")
def one_place(student):
    rows, columns = 3, 4
    number = torch.arange(rows * columns)
    looked = number, (number + columns) % len(number), torch.zeros_like(number)
    weights = torch.zeros(3, 13, 13)
    weights[:, 0, 0] = 1.0
    for head, place in enumerate(looked):
        weights[head, 1 + number, 1 + place] = 1.0
    return student.attention_distance(weights, (rows, columns), 4)


@QUESTION.visible(says="six rows of six patches, and a single patch")
def larger(student):
    return student.attention_distance(_weights(2, (6, 6), seed=4), (6, 6), 14), (
        student.attention_distance(_weights(2, (1, 1), seed=5), (1, 1), 9)
    )


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    weights = _weights(2, (2, 3), seed=6, dtype=torch.float64)
    return after(student.attention_distance, weights, (2, 3), 5)


NUMBER = "number // columns, number % columns"
PIXELS = "patch * apart.square().sum(dim=-1).sqrt()"
SEEN = "seen = weights[:, 1:, 1:]  # (H, N, N)\n"
SHARES = "seen / seen.sum(dim=-1, keepdim=True)"
FAR = "far = (shares * pixels).sum(dim=-1)"
END = f"{FAR}  # (H, N)\n    return far.mean(dim=-1)"
ALL = f"{SEEN}    shares = {SHARES}\n    {END}"
PADDED = "pixels = torch.nn.functional.pad(pixels, (1, 0, 1, 0))\n    "
CENTRES = f"{NUMBER}], dim=1).to(weights.dtype)"

QUESTION.mistake(
    "patches, not pixels",
    old=PIXELS,
    new="apart.square().sum(dim=-1).sqrt()",
    hint="You count in patches. One step from patch to patch is `patch` pixels.",
)

QUESTION.mistake(
    "the side of a patch squared",
    old=PIXELS,
    new="patch**2 * apart.square().sum(dim=-1).sqrt()",
    hint="You multiply by the number of pixels in a patch. From centre to centre it is one side of "
    "a patch.",
)

QUESTION.mistake(
    "squared",
    old=PIXELS,
    new="patch**2 * apart.square().sum(dim=-1)",
    hint="You average squared distances, in pixels times pixels. The root belongs to each "
    "distance.",
)

QUESTION.mistake(
    "squared, in patches",
    old=PIXELS,
    new="patch * apart.square().sum(dim=-1)",
    hint="You average squared distances: the root of row and column squared and added is missing.",
)

QUESTION.mistake(
    "the root at the end",
    old=END,
    new="far = (shares * pixels.square()).sum(dim=-1)\n    return far.mean(dim=-1).sqrt()",
    hint="You take the root of the mean of the squares, which counts what is far too much. Each "
    "distance has its root, and these are averaged.",
)

QUESTION.mistake(
    "the root for each query",
    old=END,
    new="far = (shares * pixels.square()).sum(dim=-1).sqrt()\n    return far.mean(dim=-1)",
    hint="You take the root after the sum over the patches that are seen. Each distance has its "
    "root before it is weighted.",
)

QUESTION.mistake(
    "rows plus columns",
    old=PIXELS,
    new="patch * apart.abs().sum(dim=-1)",
    hint="You add steps down and steps to the side, as a taxi has to drive. The straight line is "
    "asked for.",
)

QUESTION.mistake(
    "the larger of rows and columns",
    old=PIXELS,
    new="patch * apart.abs().amax(dim=-1)",
    hint="You take the larger of steps down and steps to the side. The straight line is asked for.",
)

QUESTION.mistake(
    "steps in the sequence",
    old=PIXELS,
    new="patch * (number[:, None] - number).abs().to(weights.dtype)",
    hint="You take the difference of two numbers in the sequence for their distance. The patch "
    "right below another is a whole row of numbers later, and only one step away.",
)

QUESTION.mistake(
    "rows alone",
    old=PIXELS,
    new="patch * apart[..., 0].abs()",
    hint="You count the rows between two patches, and not the columns.",
)

QUESTION.mistake(
    "columns alone",
    old=PIXELS,
    new="patch * apart[..., 1].abs()",
    hint="You count the columns between two patches, and not the rows.",
)

QUESTION.mistake(
    "rows and columns of the grid swapped",
    old="rows, columns = grid",
    new="columns, rows = grid",
    hint="You have taken the columns of the grid for its rows, or number the patches column by "
    "column. `grid` is (rows, columns), and a row is as long as there are columns: patch n "
    "stands in row n // columns.",
)

QUESTION.mistake(
    "a square grid",
    old=NUMBER,
    new="number // round(len(number) ** 0.5), number % round(len(number) ** 0.5)",
    hint="You take the grid for a square. Its rows and columns are in `grid`.",
)

QUESTION.mistake(
    "class token left in",
    old=ALL,
    new=f"{PADDED}return (weights * pixels).sum(dim=-1).mean(dim=-1)",
    hint="The class token is still in yours, at a distance of 0 from all. It stands nowhere: leave "
    "its row out and its column too, and let what is left of each row add up to 1.",
)

QUESTION.mistake(
    "class token among the queries",
    old=ALL,
    new=f"{PADDED}seen = weights * torch.cat([torch.zeros(1), torch.ones(len(number))])\n"
    "    shares = (seen / seen.sum(dim=-1, keepdim=True)).to(weights.dtype)\n"
    "    return (shares * pixels).sum(dim=-1).mean(dim=-1)",
    hint="You have left the column of the class token out, but its row counts as one more patch "
    "that looks, with a distance of 0. Only the N patches look.",
)

QUESTION.mistake(
    "not divided again",
    old=SHARES,
    new="seen",
    hint="What goes to the class token counts as a distance of 0 in yours, since the rest of a row "
    "no longer adds up to 1. Divide it by its sum.",
)

QUESTION.mistake(
    "a softmax once more",
    old=SHARES,
    new="seen.softmax(dim=-1)",
    hint="You take a softmax of the weights, which makes them nearly equal. They are weights "
    "already; only divide by their sum.",
)

QUESTION.mistake(
    "the weights of the first row for the class token",
    old="weights[:, 1:, 1:]",
    new="weights[:, :-1, :-1]",
    hint="You leave the last token out. The class token stands first.",
)

QUESTION.mistake(
    "the class token's column stays",
    old="weights[:, 1:, 1:]",
    new="weights[:, 1:, :-1]",
    hint="You leave the last column out in place of the first, so that each weight meets the "
    "distance of another patch. The class token stands first, in the rows and in the columns.",
)

QUESTION.mistake(
    "the class token's row stays",
    old="weights[:, 1:, 1:]",
    new="weights[:, :-1, 1:]",
    hint="You leave the last row out in place of the first, so that each row of weights meets the "
    "distances of another patch. The class token stands first, in the rows and in the columns.",
)

QUESTION.mistake(
    "what the class token looks at",
    old=ALL,
    new="seen = weights[:, 0, 1:]\n"
    "    shares = seen / seen.sum(dim=-1, keepdim=True)\n"
    "    return (shares[:, None] * pixels).sum(dim=-1).mean(dim=-1)",
    hint="You take the row of the class token. It is the patches that look, and they have rows of "
    "their own.",
)

QUESTION.mistake(
    "unweighted",
    old=FAR,
    new="far = (0 * shares + pixels).mean(dim=-1)",
    hint="Your distances are not weighted, so that all heads have the same. Each distance counts "
    "as much as the patch is looked at.",
)

QUESTION.mistake(
    "what is looked at at all",
    old=FAR,
    new="far = ((shares > 0) * pixels).sum(dim=-1) / (shares > 0).sum(dim=-1)",
    hint="You count every patch that has a weight above 0 equally. Each distance counts as much as "
    "the patch is looked at.",
)

QUESTION.mistake(
    "what is looked at most",
    old=FAR,
    new="far = pixels.expand_as(shares).gather(-1, shares.argmax(-1, keepdim=True))[..., 0]",
    hint="You take the distance to the patch with the largest weight. All patches count, each with "
    "its weight.",
)

QUESTION.mistake(
    "the farthest that is looked at",
    old=FAR,
    new="far = (shares * pixels).amax(dim=-1)",
    hint="You take the largest of weight times distance. Their sum is the mean distance.",
)

QUESTION.mistake(
    "the distance to the middle of what is seen",
    old=FAR,
    new="far = patch * (shares @ places - places).square().sum(dim=-1).sqrt()",
    hint="You average the places first and take the distance to that middle. A head that looks far "
    "to the left and far to the right then looks at nothing but itself: first the distances, then "
    "their mean.",
)

QUESTION.mistake(
    "itself left out",
    old=SHARES,
    new="seen * (1 - torch.eye(len(number)))\n"
    "    shares = shares / shares.sum(dim=-1, keepdim=True)",
    hint="You leave out what a patch gives to itself. It counts, with a distance of 0.",
)

QUESTION.mistake(
    "divided by the sums of the columns",
    old="weights[:, 1:, 1:]",
    new="weights[:, 1:, 1:].transpose(1, 2)",
    hint="You divide by the sums of the columns, by what each patch is looked at. A row belongs to "
    "the patch that looks, and it is a row that has to add up to 1.",
)

QUESTION.mistake(
    "one sum for all patches",
    old=END,
    new="return (seen * pixels).sum(dim=(1, 2)) / seen.sum(dim=(1, 2))",
    hint="You divide once, by the sum of all weights, so that a patch which looks at the class "
    "token counts for less. Each patch that looks has its own mean, and these are averaged.",
)

QUESTION.mistake(
    "summed over the patches",
    old="far.mean(dim=-1)",
    new="far.sum(dim=-1)",
    hint="You add up the distances of the patches that look. Their mean is asked for.",
)

QUESTION.mistake(
    "divided by all tokens",
    old="far.mean(dim=-1)",
    new="far.sum(dim=-1) / weights.shape[-1]",
    hint="You divide by T, and the class token is one of these. N patches look.",
)

QUESTION.mistake(
    "the mean over patches and weights",
    old=FAR,
    new="far = (shares * pixels).mean(dim=-1)",
    hint="You divide by the number of patches once more. The weights of a row add up to 1, so "
    "their weighted sum is a mean already.",
)

QUESTION.mistake(
    "one number for all heads",
    old="far.mean(dim=-1)",
    new="far.mean()",
    hint="You average over the heads. They differ, and that is what one wants to see: a number for "
    "each.",
)

QUESTION.mistake(
    "a distance for each patch",
    old="far.mean(dim=-1)",
    new="far",
    hint="You return a distance for each patch that looks. Take the mean over these: (H,).",
)

QUESTION.mistake(
    "the mean over the heads",
    old="far.mean(dim=-1)",
    new="far.mean(dim=0)",
    hint="You average over the heads and keep the patches. It is the other way round: (H,).",
)

QUESTION.mistake(
    "the middle one of the patches",
    old="far.mean(dim=-1)",
    new="far.median(dim=-1).values",
    hint="You take the median of the patches that look. Their mean is asked for.",
)

QUESTION.mistake(
    "as a share of the picture",
    old="far.mean(dim=-1)",
    new="far.mean(dim=-1) / (patch * max(rows, columns))",
    hint="You divide by the side of the picture. Pixels are asked for.",
)

QUESTION.mistake(
    "from border to border",
    old=PIXELS,
    new="(patch * apart.square().sum(dim=-1).sqrt() - patch).clamp(min=0)",
    hint="You measure from border to border: neighbours are 0 apart in yours. From centre to "
    "centre they are one patch apart.",
)

QUESTION.mistake(
    "in single precision",
    old="far.mean(dim=-1)",
    new="far.mean(dim=-1).float()",
    hint="Your distances are float32, whatever the dtype of the weights.",
)

QUESTION.mistake(
    "a list",
    old="far.mean(dim=-1)",
    new="far.mean(dim=-1).tolist()",
    hint="You return a list. A tensor (H,) is asked for.",
)

QUESTION.mistake(
    "written into the weights",
    old=f"shares = {SHARES}",
    new="seen /= seen.sum(dim=-1, keepdim=True)\n    shares = seen",
    hint="The distances are right, but you have divided within the weights that you were given: a "
    "slice is no copy, and /= writes into it.",
)
