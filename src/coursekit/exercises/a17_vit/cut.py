"""A picture as a sequence: patches in reading order, each the list of its numbers."""

from __future__ import annotations

import re

import torch

from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def cut(images, patch):
    """images (B, C, R, L), the side of a patch -> patches (B, N, P·P·C)."""
    B, C, R, L = images.shape
    if R % patch or L % patch:
        raise ValueError(f"patches of {patch} do not divide pictures of {R} x {L} pixels")
    x = images.reshape(B, C, R // patch, patch, L // patch, patch)  # (B, C, rows, P, columns, P)
    x = x.permute(0, 2, 4, 3, 5, 1)  # (B, rows, columns, P, P, C)
    return x.reshape(B, -1, patch * patch * C)


QUESTION = Question(
    name="cut",
    title="A picture as a sequence",
    points=5,
    difficulty=2,
    minutes=30,
    page="vit.html#sec-vit-patches",
    hint="Begin with one picture of one channel, 4 × 4 pixels with the numbers 0 to 15, and "
    "patches of 2: write down by hand what must come out. Then either two loops, over the rows of "
    "patches and the columns of patches, or two axes made into four; in what order must these four "
    "stand, and where does the channel go, before they are made into one again?",
    reference=cut,
    forbidden=("coursekit",),
)


def refused(student, shape, patch):
    """Say how the answer refuses, and which of the three numbers its sentence leaves out."""
    numbers = (patch, *shape[2:])
    try:
        found = student.cut(torch.zeros(shape), patch)
    except ValueError as error:
        said = re.findall(r"\d+", str(error))
        missing = [number for number in numbers if str(number) not in said]
        return f"a ValueError that does not name {missing}" if missing else "a ValueError"
    except Exception as error:
        return type(error).__name__
    return f"no error, {tuple(getattr(found, 'shape', ()))}"


def counted(*shape, dtype=torch.float32):
    """Pictures whose numbers count from 0, so that one sees where each has gone."""
    return torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)


@QUESTION.visible(says="one channel, 4 × 4 pixels that count from 0, patches of 2")
def sixteen_pixels(student):
    return student.cut(counted(1, 1, 4, 4), 2)


@QUESTION.visible(says="two pictures of three channels, wider than high", weight=2)
def wider_than_high(student):
    return student.cut(counted(2, 3, 4, 6), 2)


@QUESTION.visible(says="higher than wide, and a patch of three")
def higher_than_wide(student):
    return student.cut(randn(1, 2, 9, 3), 3), student.cut(randn(3, 1, 6, 3, seed=1), 3)


@QUESTION.visible(says="patches of one pixel, and one patch for the whole picture")
def smallest_and_largest(student):
    return student.cut(randn(2, 3, 2, 3, seed=2), 1), student.cut(randn(2, 3, 4, 4, seed=3), 4)


@QUESTION.visible(says="whole numbers from 0 to 255, as a photograph is stored")
def photograph(student):
    return student.cut(counted(1, 3, 4, 8, dtype=torch.uint8), 4)


@QUESTION.visible(says="gradients")
def with_gradients(student):
    return gradients(student.cut, randn(2, 2, 4, 6, seed=4), 2)


@QUESTION.visible(says="patches that do not divide the rows, the columns, or both")
def not_divided(student):
    shapes = (3, 10, 8), (3, 8, 10), (1, 9, 14), (1, 2, 8), (1, 6, 12), (2, 16, 3)
    return [refused(student, (2, *shape), 4) for shape in shapes]


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.cut, randn(1, 2, 4, 4, seed=5, dtype=torch.float64), 2)


CHECK = (
    "    if R % patch or L % patch:\n"
    '        raise ValueError(f"patches of {patch} do not divide pictures of {R} x {L} pixels")\n'
)
SPLIT = "images.reshape(B, C, R // patch, patch, L // patch, patch)"
ORDER = "x = x.permute(0, 2, 4, 3, 5, 1)"
ORDERED = f"{ORDER}  # (B, rows, columns, P, P, C)\n    return x.reshape(B, -1, patch * patch * C)"
TAKEN = f"x = {SPLIT}  # (B, C, rows, P, columns, P)\n"
EVERYTHING = CHECK.lstrip() + "    " + TAKEN + "    " + ORDERED
RETURN = "return x.reshape(B, -1, patch * patch * C)"

ORDERS = (
    (
        "rows and columns of patches swapped",
        "x = x.permute(0, 4, 2, 3, 5, 1)",
        "Your patches follow column by column. One reads a picture like a page: the first row of "
        "patches from left to right, then the next row.",
    ),
    (
        "rows and columns of pixels swapped",
        "x = x.permute(0, 2, 4, 5, 3, 1)",
        "The patches are in order, but within each your pixels follow column by column. They too "
        "are read row by row.",
    ),
    (
        "rows and columns swapped",
        "x = x.permute(0, 4, 2, 5, 3, 1)",
        "You read column by column, the patches as well as the pixels in them. Rows come first, "
        "in both.",
    ),
    (
        "channels first",
        "x = x.permute(0, 2, 4, 1, 3, 5)",
        "In your patches the whole of the first channel comes first, then the next one. Here the "
        "channels of one pixel stay together: the channel is the axis that changes fastest.",
    ),
    (
        "channels between rows and columns",
        "x = x.permute(0, 2, 4, 3, 1, 5)",
        "In your patches each row of pixels is written once for each channel. The channels of one "
        "pixel stay together: the channel is the axis that changes fastest.",
    ),
    (
        "view without transpose",
        "x = images",
        "You reshape the pictures, and nothing has changed its place: each of your patches is a "
        "stretch of one channel, cut off where it is full. A patch has some of the pixels of "
        "several rows, so the axes have to be split and put in another order first.",
    ),
    (
        "view with the channels last",
        "x = images.permute(0, 2, 3, 1)",
        "You move the channels behind the pixels, which is right, but then reshape: each of your "
        "patches is a piece of one row of pixels. A patch is a square, so rows and columns of "
        "pixels have to be split as well.",
    ),
    (
        "split the wrong way round",
        "x = images.reshape(B, C, patch, R // patch, patch, L // patch).permute(0, 3, 5, 2, 4, 1)",
        "Your patches are made of pixels that lie far apart. When an axis is split into two, the "
        "first of the two counts the patches and the second one the pixels within a patch.",
    ),
)

for what, line, said in ORDERS:
    QUESTION.mistake(what, old=ORDER, new=line, hint=said)

for what, line, said in ORDERS:
    QUESTION.mistake(
        f"{what}, and no check",
        old=EVERYTHING,
        new=f"{TAKEN}    {line}\n    {RETURN}",
        hint=f"Two things. {said} And a patch that does not divide the picture should be refused "
        "with a ValueError of your own.",
    )

QUESTION.mistake(
    "remainder dropped",
    old=CHECK,
    new="    images = images[:, :, : R // patch * patch, : L // patch * patch]\n"
    "    R, L = images.shape[2:]\n",
    hint="Where the patches do not divide the picture you leave pixels out at the right and at the "
    "bottom, and nobody hears of it. Raise a ValueError that says what does not fit.",
)

QUESTION.mistake(
    "remainder filled with zeros",
    old=CHECK,
    new="    images = torch.nn.functional.pad(images, (0, -L % patch, 0, -R % patch))\n"
    "    R, L = images.shape[2:]\n",
    hint="Where the patches do not divide the picture you fill it up with zeros. Nobody asked for "
    "a black border: raise a ValueError that says what does not fit.",
)

QUESTION.mistake(
    "no check",
    old=CHECK,
    new="",
    hint="All patches are right. But where they do not divide the picture your answer breaks "
    "somewhere within, with a sentence about shapes that helps nobody. Look first, and raise a "
    "ValueError that names the patch and the picture.",
)

QUESTION.mistake(
    "an assertion",
    old=CHECK,
    new="    assert R % patch == 0 and L % patch == 0\n",
    hint="You assert that the patches divide the picture, which raises an AssertionError. A "
    "ValueError is asked for, with a sentence.",
)

QUESTION.mistake(
    "None for a sentence",
    old=CHECK,
    new="    if R % patch or L % patch:\n        return None\n",
    hint="Where the patches do not divide the picture you return None, and the error comes later, "
    "elsewhere. Raise a ValueError at once.",
)

QUESTION.mistake(
    "rows alone looked at",
    old="R % patch or L % patch",
    new="R % patch",
    hint="You look whether the patches divide the rows. The columns may not fit either.",
)

QUESTION.mistake(
    "columns alone looked at",
    old="R % patch or L % patch",
    new="L % patch",
    hint="You look whether the patches divide the columns. The rows may not fit either.",
)

QUESTION.mistake(
    "refused only if neither fits",
    old="R % patch or L % patch",
    new="R % patch and L % patch",
    hint="You refuse a picture if neither its rows nor its columns fit. One of the two is enough.",
)

QUESTION.mistake(
    "the number of pixels looked at",
    old="R % patch or L % patch",
    new="R * L % patch**2",
    hint="You look whether the number of pixels can be divided. 2 × 8 pixels are as many as one "
    "patch of 4 × 4 has, and yet there is no such patch in them: look at rows and columns.",
)

QUESTION.mistake(
    "a sentence without numbers",
    old='f"patches of {patch} do not divide pictures of {R} x {L} pixels"',
    new='"the patch does not divide the picture"',
    hint="Your ValueError does not say which patch and which picture. Whoever reads it wants the "
    "three numbers: the patch, the rows, the columns.",
)

QUESTION.mistake(
    "a sentence with the patch alone",
    old=" do not divide pictures of {R} x {L} pixels",
    new=" do not divide the picture",
    hint="Your ValueError names the patch, and not the rows and columns of the picture that it "
    "does not fit.",
)

QUESTION.mistake(
    "a sentence with the picture alone",
    old="patches of {patch} do",
    new="the patches do",
    hint="Your ValueError names the rows and columns, and not the patch that does not fit.",
)


@QUESTION.mistake(
    "unfold, as it is",
    hint="You use torch's unfold as it is. It has the patches last and not second, the channels of "
    "a patch one after the other, drops what does not fit, and takes no whole numbers.",
)
def unfold(images, patch):
    return torch.nn.functional.unfold(images, patch, stride=patch)


@QUESTION.mistake(
    "unfold, turned",
    hint="You use torch's unfold. Within a patch it has the whole of one channel before the next, "
    "where here the channels of a pixel stay together; it drops what does not fit, without a "
    "word; and it takes no whole numbers. Slices, or reshape and permute, do what is asked.",
)
def unfold_turned(images, patch):
    return torch.nn.functional.unfold(images, patch, stride=patch).transpose(1, 2)


QUESTION.mistake(
    "patch by patch of all pictures",
    old=RETURN,
    new="return x.reshape(-1, patch * patch * C)",
    hint="Your pictures have become one: the axis B is gone. Each picture has a sequence of its "
    "own.",
)

QUESTION.mistake(
    "the grid kept",
    old=RETURN,
    new="return x.reshape(B, R // patch, L // patch, -1)",
    hint="Your patches still stand in rows and columns. A Transformer reads a sequence: make one "
    "axis of the two.",
)

QUESTION.mistake(
    "the pixels kept",
    old=RETURN,
    new="return x.reshape(B, -1, patch * patch, C)",
    hint="Pixels and channels are still two axes in your patches. One linear map is to read them: "
    "make one list of numbers of each patch.",
)

QUESTION.mistake(
    "small pictures",
    old=RETURN,
    new="return x.reshape(B, -1, patch, patch, C)",
    hint="Your patches are still small pictures. One linear map is to read them: make one list of "
    "numbers of each.",
)

QUESTION.mistake(
    "turned",
    old=RETURN,
    new="return x.reshape(B, -1, patch * patch * C).transpose(1, 2)",
    hint="The last two axes have changed places: (B, N, P·P·C) is asked for, one row a patch.",
)

QUESTION.mistake(
    "so many patches",
    old=f"{TAKEN}    {ORDERED}",
    new="x = images.reshape(B, C, patch, R // patch, patch, L // patch)\n"
    "    return x.permute(0, 2, 4, 3, 5, 1).flatten(3).flatten(1, 2)",
    hint="You cut each side into `patch` pieces. `patch` is the side of a piece, in pixels.",
)

QUESTION.mistake(
    "square pictures",
    old="L // patch",
    new="R // patch",
    hint="You take as many columns of patches as rows. Pictures need not be square.",
)

QUESTION.mistake(
    "channels last in the pictures",
    old=f"B, C, R, L = images.shape\n{CHECK}    {TAKEN}    {ORDER}",
    new="B, R, L, C = images.shape\n"
    f"{CHECK}    x = images.reshape(B, R // patch, patch, L // patch, patch, C)\n"
    "    x = x.permute(0, 1, 3, 2, 4, 5)",
    hint="You take the last axis of the pictures for their channels. They come as (B, C, R, L), "
    "channels second.",
)

QUESTION.mistake(
    "channels in the other order",
    old=ORDER,
    new=f"{ORDER}.flip(-1)",
    hint="The channels of each pixel have changed their order in yours.",
)

QUESTION.mistake(
    "grey",
    old=RETURN,
    new="return x.float().mean(dim=-1).reshape(B, -1, patch * patch)",
    hint="You average over the channels, and the colours are gone. Each pixel keeps all its "
    "numbers.",
)

QUESTION.mistake(
    "the first channel",
    old=RETURN,
    new="return x[..., 0].reshape(B, -1, patch * patch)",
    hint="You keep the first channel only. Each pixel has C numbers, and all of them count.",
)

QUESTION.mistake(
    "one number a patch",
    old=RETURN,
    new="return x.float().mean(dim=(3, 4)).reshape(B, -1, C)",
    hint="You average over the pixels of a patch. Nothing is computed here: each patch keeps all "
    "its P·P·C numbers.",
)

QUESTION.mistake(
    "shares of 255",
    old=RETURN,
    new="return x.reshape(B, -1, patch * patch * C) / 255",
    hint="You divide by 255. Cut, and leave the numbers as they are.",
)

QUESTION.mistake(
    "floats",
    old=RETURN,
    new="return x.reshape(B, -1, patch * patch * C).float()",
    hint="The numbers are right, but always float32: from `torch.zeros` without a dtype, or "
    "`.float()`. Return the dtype of the pictures.",
)

QUESTION.mistake(
    "overlapping",
    old=EVERYTHING,
    new="x = images.unfold(2, patch, 1).unfold(3, patch, 1).permute(0, 2, 3, 4, 5, 1)\n"
    "    return x.flatten(3).flatten(1, 2)",
    hint="Your patches overlap: each begins one pixel after the last. The next patch begins where "
    "this one ends, and where the last does not fit a ValueError is asked for.",
)

QUESTION.mistake(
    "a list",
    old=RETURN,
    new="return list(x.reshape(B, -1, patch * patch * C).unbind(1))",
    hint="You return a list of patches. One tensor is asked for: torch.stack makes it, along the "
    "right axis.",
)

QUESTION.mistake(
    "stacked in front",
    old=RETURN,
    new="return x.reshape(B, -1, patch * patch * C).transpose(0, 1)",
    hint="Your patches stand before the pictures: (N, B, P·P·C). torch.stack has an argument that "
    "says where the new axis goes.",
)

QUESTION.mistake(
    "detached",
    old=RETURN,
    new="return x.reshape(B, -1, patch * patch * C).detach()",
    hint="The numbers are right, but no gradient gets back to the pictures. Leave out detach, "
    "`.data`, numpy and torch.tensor.",
)
