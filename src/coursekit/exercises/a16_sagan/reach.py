"""How much of a picture a place behind many convolutions sees, and where that window lies."""

from __future__ import annotations

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def reach(layers, place=0):
    """Layers (kernel, stride, dilation, padding), a place behind them -> size, step, centre."""
    size, step, centre = 1, 1, 0.0
    for kernel, stride, dilation, padding in layers:
        size += (kernel - 1) * dilation * step
        centre += ((kernel - 1) * dilation / 2 - padding) * step
        step *= stride
    return size, step, centre + place * step


QUESTION = Question(
    name="reach",
    title="How far a convolution sees",
    points=4,
    difficulty=2,
    minutes=30,
    page="sagan.html#sec-sagan-reach",
    hint="Go through the layers from the first to the last, and keep three numbers: how wide the "
    "window is, by how much it moves from one place to the next, and where that of place 0 has its "
    "middle. A kernel's own places lie as far apart, seen from the picture, as neighbours did "
    "before this layer.",
    reference=reach,
    forbidden=("coursekit",),
)


@QUESTION.visible(says="one convolution")
def one_convolution(student):
    return [student.reach([layer]) for layer in ((3, 1, 1, 0), (5, 1, 1, 2), (1, 1, 1, 0))]


@QUESTION.visible(says="convolutions with stride 1, one above the other")
def stacked(student):
    return [student.reach([(3, 1, 1, 1)] * depth) for depth in (2, 3, 8)]


@QUESTION.visible(says="strides, and pooling between convolutions", weight=2)
def strides(student):
    stack = [(3, 1, 1, 1), (2, 2, 1, 0), (3, 3, 1, 0), (2, 2, 1, 0), (5, 1, 1, 1)]
    return [student.reach(stack[:depth]) for depth in (2, 3, 4, 5)]


@QUESTION.visible(says="dilations")
def dilations(student):
    wave = [(3, 1, 1, 0), (3, 1, 2, 0), (3, 1, 4, 3), (2, 1, 8, 0)]
    return student.reach(wave), student.reach([(4, 2, 3, 1), (2, 3, 2, 0), (3, 1, 5, 2)])


@QUESTION.visible(says="other places than the first")
def other_places(student):
    layers = [(4, 2, 1, 1), (3, 3, 1, 1), (2, 1, 1, 0)]
    return [student.reach(layers, place) for place in (1, 5, 40)]


@QUESTION.visible(says="windows that begin before the picture")
def before_the_picture(student):
    return [student.reach([(3, 2, 2, 4), (5, 1, 1, 3)], place) for place in (0, 1)]


@QUESTION.visible(says="no layer at all, and layers that change nothing", weight=0.5)
def no_layer(student):
    return student.reach([]), student.reach([], 7), student.reach([(1, 1, 3, 0), (1, 2, 1, 0)], 3)


@QUESTION.visible(says="the list of layers stays as it was")
def list_stays(student):
    return after(student.reach, [(4, 2, 1, 1), (4, 2, 1, 0), (3, 1, 2, 1)])


SIZE = "size += (kernel - 1) * dilation * step"
CENTRE = "centre += ((kernel - 1) * dilation / 2 - padding) * step"
LOOP = "for kernel, stride, dilation, padding in layers:"
BODY = f"        {SIZE}\n        {CENTRE}\n        step *= stride\n"
END = "return size, step, centre + place * step"

for name, old, new, hint in (
    (
        "strides ignored",
        BODY,
        "        size += (kernel - 1) * dilation\n"
        "        centre += (kernel - 1) * dilation / 2 - padding\n"
        "        step *= stride\n",
        "Behind a stride of 2 two neighbours lie two places of the picture apart, so a kernel "
        "there reaches twice as far. What a layer adds is multiplied by the strides of all layers "
        "below.",
    ),
    (
        "strides ignored in the size",
        SIZE,
        "size += (kernel - 1) * dilation",
        "Your centre is right, but the size forgets the strides: behind a stride of 2 each "
        "further place of a kernel is two places of the picture.",
    ),
    (
        "strides ignored in the centre",
        CENTRE,
        "centre += (kernel - 1) * dilation / 2 - padding",
        "Your sizes are right, but the centre forgets the strides: behind a stride of 2 half a "
        "kernel, and a place of padding too, are twice as far in the picture.",
    ),
    (
        "no strides anywhere",
        BODY,
        "        size += (kernel - 1) * dilation\n"
        "        centre += (kernel - 1) * dilation / 2 - padding\n",
        "Strides appear nowhere in yours. They multiply: the step of the window is the product of "
        "all of them, and what a layer adds counts by the product of those below.",
    ),
    (
        "the layer's own stride too",
        BODY,
        "        step *= stride\n" + BODY.replace("        step *= stride\n", ""),
        "You multiply by the stride of the layer itself before you add its kernel. Its stride says "
        "how far apart *its* outputs lie; its kernel still reads the places of the layer below.",
    ),
    (
        "the stride of this layer only",
        BODY,
        "        size += (kernel - 1) * dilation * stride\n"
        "        centre += ((kernel - 1) * dilation / 2 - padding) * stride\n"
        "        step *= stride\n",
        "You multiply what a layer adds by its own stride. It is the strides of the layers below, "
        "all of them, that say how far apart the places are which it reads.",
    ),
    (
        "the stride of the layer below only",
        "step *= stride",
        "step = stride",
        "You keep only the last stride. Strides multiply: behind two strides of 2 the "
        "window moves by 4.",
    ),
    (
        "strides added",
        "step *= stride",
        "step += stride",
        "You add the strides. They multiply: behind two strides of 3 the window moves by 9.",
    ),
    (
        "strides less one added",
        "step *= stride",
        "step += stride - 1",
        "You add up what the strides are above 1. They multiply: behind two strides of 3 the "
        "window moves by 9.",
    ),
    (
        "the last layer first",
        LOOP,
        "for kernel, stride, dilation, padding in layers[::-1]:",
        "You begin with the last layer. The list begins at the picture, and the strides that count "
        "for a layer are those of the layers before it.",
    ),
    (
        "sum of kernels",
        SIZE,
        "size += kernel * dilation * step - (size == 1)",
        "You add whole kernels. Two windows of neighbours overlap: a kernel adds one place less "
        "than it has.",
    ),
    (
        "sum of kernels, and one",
        SIZE,
        "size += kernel * dilation * step",
        "You add whole kernels to 1. The first place of a kernel adds nothing; only those beyond "
        "it widen the window.",
    ),
    (
        "begun at zero",
        "size, step, centre = 1, 1, 0.0",
        "size, step, centre = 0, 1, 0.0",
        "Your sizes are one too small. Without any layer a place sees itself: begin with 1.",
    ),
    (
        "product of kernels",
        SIZE,
        "size *= kernel",
        "You multiply kernels. Two 3-wide convolutions see 5 places, not 9, for the windows of "
        "neighbours overlap: each layer adds.",
    ),
    (
        "dilation ignored",
        f"{SIZE}\n        {CENTRE}",
        "size += (kernel - 1) * step\n        centre += ((kernel - 1) / 2 - padding) * step",
        "Dilation is missing: with a dilation of 2 every other place is read, and the same kernel "
        "reaches twice as far.",
    ),
    (
        "dilation ignored in the size",
        SIZE,
        "size += (kernel - 1) * step",
        "Your centre is right, but the size forgets the dilation, by which the places of a kernel "
        "lie apart.",
    ),
    (
        "dilation ignored in the centre",
        CENTRE,
        "centre += ((kernel - 1) / 2 - padding) * step",
        "Your sizes are right, but the centre forgets the dilation, by which the places of a "
        "kernel lie apart.",
    ),
    (
        "a dilated kernel one too wide",
        SIZE,
        "size += (kernel * dilation - 1) * step",
        "You take a dilated kernel to be kernel · dilation wide. Holes lie between its places and "
        "none behind the last: multiply the gaps, not the places.",
    ),
    (
        "a dilated kernel one too wide, in the centre as well",
        f"{SIZE}\n        {CENTRE}",
        "size += (kernel * dilation - 1) * step\n"
        "        centre += ((kernel * dilation - 1) / 2 - padding) * step",
        "You take a dilated kernel to be kernel · dilation wide, for size and centre. Holes lie "
        "between its places and none behind the last.",
    ),
    (
        "dilations add up over the layers",
        "step *= stride",
        "step *= stride * dilation",
        "You let the dilation of a layer go on in the layers above it, as a stride does. It "
        "stretches one kernel; its outputs are as near to each other as without it.",
    ),
    (
        "holes not counted",
        f"{SIZE}\n",
        "read = {0}\n"
        "        for k, s, d, _ in layers[::-1]:\n"
        "            read = {s * one + d * n for one in read for n in range(k)}\n"
        "        size = len(read)\n",
        "You count the places that are read. The size is from the first to the last of them, with "
        "the holes between.",
    ),
    (
        "padding widens the window",
        SIZE,
        "size += ((kernel - 1) * dilation + 2 * padding) * step",
        "You let padding widen the window. It adds zeros around the map and moves the window; the "
        "kernel stays as wide as it is.",
    ),
    (
        "padding narrows the window",
        SIZE,
        "size += ((kernel - 1) * dilation - padding) * step",
        "You take the padding off the size. It moves the window and leaves it as wide as it is.",
    ),
    (
        "padding ignored",
        " - padding",
        "",
        "Padding is missing in your centre. With padding 1 the window begins a place earlier.",
    ),
    (
        "padding on both sides",
        " - padding",
        " - 2 * padding",
        "You count padding twice. What is put behind the end does not move the window of place 0.",
    ),
    (
        "padding the wrong way",
        " - padding",
        " + padding",
        "Padding moves your window towards the end. It puts places before the first one, so that "
        "the window begins earlier.",
    ),
    (
        "padding without the step",
        CENTRE,
        "centre += (kernel - 1) * dilation / 2 * step - padding",
        "You count a place of padding as one place of the picture in every layer. Behind strides "
        "it is as far as their product.",
    ),
    (
        "the padding of the first layer only",
        END,
        "return size, step, (size - 1) / 2 - sum(p for *_, p in layers[:1]) + place * step",
        "You count the padding of the first layer only. Each layer has its own, and moves the "
        "window by it.",
    ),
    (
        "half of the size",
        END,
        "return size, step, size / 2 + place * step",
        "You take half of the size for the centre of place 0. Of the places 0, 1, 2 the middle one "
        "is 1, not 1.5; and padding moves the window.",
    ),
    (
        "half of the size, whole",
        END,
        "return size, step, float(size // 2) + place * step",
        "You take half of the size, rounded down, for the centre of place 0. Padding moves the "
        "window, and where the size is even the middle lies between two places.",
    ),
    (
        "whole numbers for the centre",
        "dilation / 2",
        "dilation // 2",
        "You round half kernels down. Where a kernel is even its middle lies between two places: "
        "the centre may be a half number.",
    ),
    (
        "half a kernel",
        "((kernel - 1) * dilation / 2",
        "(kernel * dilation / 2",
        "You move the centre by half a kernel. From the first place of a kernel to its middle it "
        "is half of one less than the kernel.",
    ),
    (
        "the beginning for the centre",
        CENTRE,
        "centre -= padding * step",
        "You return where the window begins. The centre lies half of the size less one behind it.",
    ),
    (
        "the end for the centre",
        "dilation / 2",
        "dilation",
        "You return the last place of the window. The centre lies in the middle of first and last.",
    ),
    (
        "the place ignored",
        " + place * step",
        "",
        "Your centre is always that of place 0. That of another place lies `place` steps further.",
    ),
    (
        "a step of one",
        "place * step",
        "place",
        "You move the window by one place of the picture for each place behind the layers. It "
        "moves by the product of the strides.",
    ),
    (
        "counted from one",
        "place * step",
        "(place - 1) * step",
        "You count places from 1. The first one is place 0.",
    ),
    (
        "moved by its size",
        "place * step",
        "place * size",
        "You move the window by its own size. Windows of neighbours overlap: they lie the product "
        "of the strides apart.",
    ),
    (
        "cut off at the picture's edge",
        "centre + place * step",
        "max(0.0, centre + place * step)",
        "You do not let the centre lie before the picture. Padding is a part of the window, and "
        "the centre may be below 0.",
    ),
    (
        "the window cut off at the picture's edge",
        END,
        "first = centre + place * step - (size - 1) / 2\n"
        "    last = first + size - 1\n"
        "    first = max(first, 0.0)\n"
        "    return int(last - first) + 1, step, (first + last) / 2",
        "You cut the window off where the picture begins. Padding is a part of it: the size is the "
        "same at every place.",
    ),
    (
        "the area",
        "return size,",
        "return size**2,",
        "You return how many places a square window has. One axis is asked for.",
    ),
    (
        "floats for whole numbers",
        END,
        "return float(size), float(step), centre + place * step",
        "Size and step should be ints.",
    ),
    (
        "without the step",
        END,
        "return size, centre + place * step",
        "You return two values. There are three: size, step and centre.",
    ),
    (
        "centre before step",
        END,
        "return size, centre + place * step, step",
        "Step and centre have changed places: size, step, centre is the order.",
    ),
    (
        "a list",
        END,
        "return [size, step, centre + place * step]",
        "You return a list. A tuple is asked for.",
    ),
    (
        "layers used up",
        LOOP,
        "while layers:\n        kernel, stride, dilation, padding = layers.pop(0)",
        "The numbers are right, but the list that you were given is empty now. Go through it "
        "with for.",
    ),
):
    QUESTION.mistake(name, old=old, new=new, hint=hint)
