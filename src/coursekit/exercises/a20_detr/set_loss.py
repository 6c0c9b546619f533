"""What a set of classes and boxes costs, once it is known which query answers for which object."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit.exercises.a20_detr.giou import giou
from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def set_loss(logits, boxes, labels, true, pairs, no_object=0.1):
    """logits (B, Q, C + 1), boxes (B, Q, 4), three lists -> the losses: class, L1, GIoU."""
    nothing = logits.shape[-1] - 1
    answer = torch.full(logits.shape[:2], nothing)  # (B, Q)
    for b in range(len(pairs)):
        answer[b, pairs[b]] = labels[b]
    weight = logits.new_ones(nothing + 1)  # (C + 1,)
    weight[nothing] = no_object
    classes = F.cross_entropy(logits.flatten(0, 1), answer.flatten(), weight)
    found = torch.cat([boxes[b, pairs[b]] for b in range(len(pairs))])  # (N, 4)
    right = torch.cat(true)  # (N, 4)
    count = max(len(right), 1)
    distance = (found - right).abs().sum() / count
    return classes, distance, (1 - giou(found, right)).sum() / count


QUESTION = Question(
    name="set_loss",
    title="What a wrong set costs",
    points=4,
    difficulty=2,
    minutes=35,
    page="detr.html#sec-detr-loss",
    hint="Two tasks that share nothing but the pairs. For the classes write down what each query "
    "of each image should have said: at first “no object” everywhere, then the label of its object "
    "for those that have one. For the boxes collect the queries that have an object, in the order "
    "of the objects, into one list over all images; what they are compared with is a list of the "
    "same length.",
    reference=set_loss,
    forbidden=("coursekit",),
    needs=("giou",),
)


def matched(
    counts: tuple[int, ...],
    queries: int,
    classes: int,
    seed: int,
    dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, Tensor, list[Tensor], list[Tensor], list[Tensor]]:
    """Return predictions, `counts` of objects in each image, and a query for each of them."""
    B, chance = len(counts), torch.Generator().manual_seed(seed)
    logits = 2 * randn(B, queries, classes + 1, seed=seed, dtype=dtype)
    boxes = randn(B, queries, 4, seed=seed + 1, dtype=dtype).sigmoid()
    labels = [torch.randint(classes, (n,), generator=chance) for n in counts]
    true = [0.5 * randn(n, 4, seed=seed + 2 + n, dtype=dtype).sigmoid() + 0.2 for n in counts]
    pairs = [torch.randperm(queries, generator=chance)[:n] for n in counts]
    return logits, boxes, labels, true, pairs


@QUESTION.visible(says="one image, two queries, one object")
def one_object(student):
    return student.set_loss(
        torch.tensor([[[0.0, 0.0], [0.0, 2.0]]]),
        torch.tensor([[[0.5, 0.5, 0.4, 0.2], [0.9, 0.1, 0.2, 0.2]]]),
        [torch.tensor([0])],
        [torch.tensor([[0.6, 0.5, 0.2, 0.4]])],
        [torch.tensor([0])],
    )


@QUESTION.visible(says="three images with 2, 4 and 1 objects", weight=2)
def three_images(student):
    return student.set_loss(*matched((2, 4, 1), 7, 5, seed=60))


@QUESTION.visible(says="another weight of “no object”, and all weights alike")
def other_weights(student):
    given = matched((3, 1), 6, 3, seed=66)
    return [student.set_loss(*given, weight) for weight in (0.5, 1.0)]


@QUESTION.visible(says="as many objects as queries, and an image without any", weight=2)
def full_and_empty(student):
    return student.set_loss(*matched((5, 0, 2), 5, 4, seed=72))


@QUESTION.visible(says="a batch without an object")
def no_object_at_all(student):
    return student.set_loss(*matched((0, 0), 4, 3, seed=78))


@QUESTION.visible(says="gradients at the logits and at the boxes", weight=2)
def with_gradients(student):
    return gradients(student.set_loss, *matched((3, 2), 5, 4, seed=84))


@QUESTION.visible(says="logits in the thousands")
def thousands(student):
    logits, *given = matched((1, 2), 4, 3, seed=90)
    return gradients(student.set_loss, 2000 * logits, *given)


@QUESTION.visible(says="what was given stays as it was; double precision", tolerance=1e-8)
def what_was_given_stays(student):
    return after(student.set_loss, *matched((2, 3), 5, 3, seed=96, dtype=torch.float64))


ANSWER = "answer[b, pairs[b]] = labels[b]"
EMPTY = "answer = torch.full(logits.shape[:2], nothing)"
LOOP = f"for b in range(len(pairs)):\n        {ANSWER}"
CLASSES = "classes = F.cross_entropy(logits.flatten(0, 1), answer.flatten(), weight)"
FOUND = "found = torch.cat([boxes[b, pairs[b]] for b in range(len(pairs))])"
RIGHT = "right = torch.cat(true)"
COUNT = "count = max(len(right), 1)"
DISTANCE = "distance = (found - right).abs().sum() / count"
OVERLAP = "(1 - giou(found, right)).sum() / count"
END = f"return classes, distance, {OVERLAP}"

QUESTION.mistake(
    "no object like any class",
    old="weight[nothing] = no_object",
    new="weight[nothing] = 1.0",
    hint="“No object” counts in your class loss like any other class. It is the answer of most "
    "queries, and its weight is `no_object`.",
)

QUESTION.mistake(
    "always a tenth",
    old="weight[nothing] = no_object",
    new="weight[nothing] = 0.1",
    hint="“No object” always has the weight 0.1 with you. It is `no_object`, whatever that is.",
)

QUESTION.mistake(
    "another weight unless told",
    old="no_object=0.1",
    new="no_object=1.0",
    hint="Without the last argument “no object” counts fully with you. The default is 0.1.",
)

QUESTION.mistake(
    "the weights the wrong way round",
    old="weight[nothing] = no_object",
    new="weight[:nothing] = no_object",
    hint="You give the small weight to the real classes. It is “no object” that gets it, the last "
    "class.",
)

QUESTION.mistake(
    "the first class has the small weight",
    old="weight[nothing] = no_object",
    new="weight[0] = no_object",
    hint="You give the small weight to class 0. “No object” is the last class.",
)

QUESTION.mistake(
    "no object first",
    old="nothing = logits.shape[-1] - 1\n",
    new="nothing, logits = logits.shape[-1] - 1, logits.roll(-1, -1)\n",
    hint="You take class 0 for “no object” and count the others from 1. Classes count from 0, and "
    "“no object” is the last.",
)

QUESTION.mistake(
    "weights left out below",
    old=CLASSES,
    new="classes = F.cross_entropy(\n"
    "        logits.flatten(0, 1), answer.flatten(), weight, reduction='none'\n"
    "    ).mean()",
    hint="Your class loss is divided by the number of all queries. Each counts as much as its "
    "weight: divide by the sum of the weights, as a weighted mean does.",
)

QUESTION.mistake(
    "the class loss by the objects",
    old=CLASSES,
    new="classes = F.cross_entropy(\n"
    "        logits.flatten(0, 1), answer.flatten(), weight, reduction='sum'\n"
    "    ) / max(sum(map(len, true)), 1)",
    hint="You divide the class loss by the number of objects, as the other two. It is a weighted "
    "mean over all queries: divide by the sum of their weights.",
)

QUESTION.mistake(
    "the sum of the class losses",
    old=CLASSES,
    new="classes = F.cross_entropy(\n"
    "        logits.flatten(0, 1), answer.flatten(), weight, reduction='sum'\n"
    "    )",
    hint="You add up the class losses of all queries. Their weighted mean is meant.",
)

QUESTION.mistake(
    "a class loss for each image",
    old=CLASSES,
    new="classes = torch.stack(\n"
    "        [F.cross_entropy(one, said, weight) for one, said in zip(logits, answer)]\n"
    "    ).mean()",
    hint="You take a weighted mean within each image, and then the mean over the images. One mean "
    "over all queries of the batch is meant.",
)

QUESTION.mistake(
    "empty queries left out",
    old=CLASSES,
    new="busy = answer != nothing\n"
    "    classes = F.cross_entropy(logits[busy], answer[busy]) if busy.any() else 0 * logits.sum()",
    hint="Your class loss is that of the queries that have an object. The others are to learn to "
    "say “no object”.",
)

QUESTION.mistake(
    "empty queries left out, nan without any",
    old=CLASSES,
    new="busy = answer != nothing\n    classes = F.cross_entropy(logits[busy], answer[busy])",
    hint="Your class loss is that of the queries that have an object, and nan where none has. The "
    "others are to learn to say “no object”.",
)

QUESTION.mistake(
    "probabilities for logits",
    old="F.cross_entropy(logits.flatten(0, 1)",
    new="F.cross_entropy(logits.softmax(dim=-1).flatten(0, 1)",
    hint="You give the cross-entropy probabilities. It takes a softmax itself, and wants logits.",
)

QUESTION.mistake(
    "the logarithm of a softmax",
    old=CLASSES,
    new="likely = logits.softmax(dim=-1).log().flatten(0, 1)\n"
    "    classes = F.nll_loss(likely, answer.flatten(), weight)",
    hint="You take the logarithm of a softmax, and logits in the thousands make that the logarithm "
    "of 0. log_softmax and cross_entropy bear them.",
)

QUESTION.mistake(
    "labels in the order of the queries",
    old=LOOP,
    new="for b in range(len(pairs)):\n        answer[b, pairs[b].sort().values] = labels[b]",
    hint="Your class loss hands out the labels in the order of the queries, as a boolean mask "
    "does. The first of the pairs belongs to the first label, wherever its query stands.",
)

QUESTION.mistake(
    "boxes in the order of the queries",
    old="boxes[b, pairs[b]]",
    new="boxes[b, pairs[b].sort().values]",
    hint="You take the boxes out in the order of the queries, as a boolean mask does. They are "
    "compared with the objects in their order: the first of the pairs with the first object.",
)

QUESTION.mistake(
    "everything in the order of the queries",
    old="nothing = logits.shape[-1] - 1\n",
    new="nothing = logits.shape[-1] - 1\n    pairs = [one.sort().values for one in pairs]\n",
    hint="You have lost who answers for whom: labels and boxes go to the queries in the queries' "
    "order, as with a boolean mask. The first of the pairs belongs to the first object.",
)

QUESTION.mistake(
    "the first queries",
    old="nothing = logits.shape[-1] - 1\n",
    new="nothing = logits.shape[-1] - 1\n    pairs = [torch.arange(len(one)) for one in pairs]\n",
    hint="You compare the first query with the first object, and so on. `pairs` says which query "
    "answers for which object.",
)

QUESTION.mistake(
    "pairs the wrong way round",
    old="nothing = logits.shape[-1] - 1\n",
    new="nothing = logits.shape[-1] - 1\n"
    "    turned = [one.argsort() for one in pairs]\n"
    "    pairs = [one.sort().values for one in pairs]\n"
    "    labels = [x[t.argsort()] for x, t in zip(labels, turned)]\n"
    "    true = [x[t.argsort()] for x, t in zip(true, turned)]\n",
    hint="You have the direction of the pairs the wrong way round: they hold, for each object in "
    "its order, the number of its query.",
)

QUESTION.mistake(
    "the labels in all images",
    old=ANSWER,
    new="answer[:, pairs[b]] = labels[b]",
    hint="You write the labels of each image into the rows of all images. They belong to their own "
    "image.",
)

QUESTION.mistake(
    "boxes of the first image",
    old="boxes[b, pairs[b]]",
    new="boxes[0, pairs[b]]",
    hint="You take the boxes of all images out of the first, perhaps since you look for them in "
    "one list of the whole batch. The numbers of the queries count from 0 in every image.",
)

QUESTION.mistake(
    "answers in one long list",
    old=ANSWER,
    new="answer.view(-1)[pairs[b]] = labels[b]",
    hint="You put the queries of all images into one list, and then write all labels into the "
    "first image. Numbers count from 0 in every image.",
)

ZEROS = (
    "target = torch.zeros_like(boxes)\n"
    "    for b in range(len(pairs)):\n"
    "        target[b, pairs[b]] = true[b]\n"
    "    found, right = boxes.flatten(0, 1), target.flatten(0, 1)\n"
)

QUESTION.mistake(
    "boxes of empty queries",
    old=f"{FOUND}  # (N, 4)\n    {RIGHT}  # (N, 4)\n    {COUNT}",
    new=f"{ZEROS}    count = max(sum(map(len, true)), 1)",
    hint="You compare the boxes of empty queries too, with zeros. A query that says “no object” "
    "may put its box where it likes: only those with an object count.",
)

QUESTION.mistake(
    "boxes of empty queries, divided by queries",
    old=f"{FOUND}  # (N, 4)\n    {RIGHT}  # (N, 4)\n    {COUNT}",
    new=f"{ZEROS}    count = len(found)",
    hint="You compare the boxes of empty queries too, with zeros, and divide by all queries. Only "
    "queries with an object count, and their number is what is divided by.",
)

QUESTION.mistake(
    "boxes of empty queries, in the L1 alone",
    old=DISTANCE,
    new="target = torch.zeros_like(boxes)\n"
    "    for b in range(len(pairs)):\n"
    "        target[b, pairs[b]] = true[b]\n"
    "    distance = (boxes - target).abs().sum() / count",
    hint="In your L1 loss the boxes of empty queries are compared with zeros. Only those with an "
    "object count.",
)

QUESTION.mistake(
    "divided by queries",
    old=COUNT,
    new="count = boxes.shape[0] * boxes.shape[1]",
    hint="You divide the losses of the boxes by the number of all queries. Divide by the number of "
    "objects in the batch.",
)

QUESTION.mistake(
    "divided by the queries of an image",
    old=COUNT,
    new="count = boxes.shape[1]",
    hint="You divide the losses of the boxes by the number of queries of an image. Divide by the "
    "number of objects in the batch.",
)

QUESTION.mistake(
    "divided by images",
    old=COUNT,
    new="count = len(pairs)",
    hint="You divide the losses of the boxes by the number of images. Divide by the number of "
    "objects in the batch.",
)

QUESTION.mistake(
    "not divided",
    old=COUNT,
    new="count = 1",
    hint="You add up the losses of the boxes. Divide them by the number of objects in the batch.",
)

QUESTION.mistake(
    "a mean over the four numbers",
    old=DISTANCE,
    new="distance = (found - right).abs().sum() / (4 * count)",
    hint="Your L1 loss is a quarter of what it should be, as torch's l1_loss has it: the four "
    "differences of a box are added up, and the mean goes over the objects.",
)

QUESTION.mistake(
    "a mean over the four numbers, nan without objects",
    old=END,
    new="return classes, F.l1_loss(found, right), (1 - giou(found, right)).mean()",
    hint="Two things: torch's l1_loss takes a mean over the four numbers of a box too, where their "
    "sum is meant; and a mean over no object is nan, where the loss is 0.",
)

QUESTION.mistake(
    "0 divided by 0",
    old=COUNT,
    new="count = len(right)",
    hint="In a batch without objects you divide 0 by 0. Both losses of boxes are 0 there: divide "
    "by 1 at least.",
)

QUESTION.mistake(
    "one more for an image without objects",
    old=COUNT,
    new="count = sum(max(len(one), 1) for one in true)",
    hint="You count at least one object for each image. It is the batch that counts as 1 at least; "
    "images without objects count for nothing.",
)

QUESTION.mistake(
    "a mean for each image",
    old=END,
    new="parts = list(zip(found.split([len(p) for p in pairs]), true))\n"
    "    distance = sum((f - r).abs().sum() / max(len(r), 1) for f, r in parts) / len(pairs)\n"
    "    overlap = sum((1 - giou(f, r)).sum() / max(len(r), 1) for f, r in parts) / len(pairs)\n"
    "    return classes, distance, overlap",
    hint="You take a mean within each image and then one over the images. Each object of the batch "
    "counts alike: add up over the batch, then divide once.",
)

QUESTION.mistake(
    "a mean for each image, images without objects left out",
    old=END,
    new="parts = [one for one in zip(found.split([len(p) for p in pairs]), true) if len(one[1])]\n"
    "    many = max(len(parts), 1)\n"
    "    distance = sum((f - r).abs().sum() / len(r) for f, r in parts) / many + 0 * boxes.sum()\n"
    "    overlap = sum((1 - giou(f, r)).mean() for f, r in parts) / many + 0 * boxes.sum()\n"
    "    return classes, distance, overlap",
    hint="You take a mean within each image and then one over the images that have objects. Each "
    "object of the batch counts alike: add up over the batch, then divide once.",
)

QUESTION.mistake(
    "squares for distances",
    old="(found - right).abs()",
    new="(found - right).square()",
    hint="You square the differences. L1 adds up their absolute values.",
)

QUESTION.mistake(
    "straight distances",
    old="(found - right).abs().sum()",
    new="(found - right).square().sum(dim=-1).sqrt().sum()",
    hint="You take straight distances, roots of sums of squares. L1 adds up absolute values.",
)

QUESTION.mistake(
    "differences that cancel",
    old="(found - right).abs().sum()",
    new="(found - right).sum(dim=-1).abs().sum()",
    hint="You add up the four differences of a box before you take the absolute value, so that "
    "differences of both signs cancel.",
)

QUESTION.mistake(
    "distances of corners",
    old=DISTANCE,
    new="corners = [\n"
    "        torch.cat([x[:, :2] - x[:, 2:] / 2, x[:, :2] + x[:, 2:] / 2], dim=-1)\n"
    "        for x in (found, right)\n"
    "    ]\n"
    "    distance = (corners[0] - corners[1]).abs().sum() / count",
    hint="Your L1 loss is that of the corners. It is that of the four numbers as they are: "
    "centres, widths and heights.",
)

QUESTION.mistake(
    "the GIoU for its loss",
    old="(1 - giou(found, right)).sum()",
    new="giou(found, right).sum()",
    hint="Your third number is the generalized IoU, which grows as boxes get better. The loss is 1 "
    "minus it.",
)

QUESTION.mistake(
    "the GIoU with a minus alone",
    old="(1 - giou(found, right)).sum()",
    new="(-giou(found, right)).sum()",
    hint="Your third number is the negative of the generalized IoU. The loss is 1 minus it, and 0 "
    "where the boxes are the same.",
)

QUESTION.mistake(
    "the overlap clipped",
    old="(1 - giou(found, right))",
    new="(1 - giou(found, right).clamp(min=0))",
    hint="You clip the overlap at 0, so that boxes that do not touch get no gradient. The "
    "generalized IoU is used as it is.",
)

QUESTION.mistake(
    "every pair of boxes",
    old="(1 - giou(found, right)).sum()",
    new="(1 - giou(found[:, None], right)).sum()",
    hint="You compare every box that was found with every object. Each is compared with its own "
    "object alone.",
)

QUESTION.mistake(
    "the losses in another order",
    old=END,
    new=f"return classes, {OVERLAP}, distance",
    hint="Your second and third loss have changed places: class, then L1, then generalized IoU.",
)

QUESTION.mistake(
    "one sum",
    old=END,
    new=f"return classes + 5 * distance + 2 * {OVERLAP}",
    hint="You return one number. The three losses are asked for, without weights.",
)

QUESTION.mistake(
    "weighted",
    old=END,
    new=f"return classes, 5 * distance, 2 * {OVERLAP}",
    hint="You multiply the losses with the weights 5 and 2 already. They are asked for without.",
)

QUESTION.mistake(
    "a list",
    old=END,
    new=f"return [classes, distance, {OVERLAP}]",
    hint="You return a list. A tuple is asked for.",
)

QUESTION.mistake(
    "one tensor",
    old=END,
    new=f"return torch.stack([classes, distance, {OVERLAP}])",
    hint="You return one tensor with three numbers. A tuple of three tensors is asked for.",
)

QUESTION.mistake(
    "plain numbers",
    old=END,
    new=f"return classes.item(), distance.item(), ({OVERLAP}).item()",
    hint="You return plain numbers, through which no gradient flows. Leave them tensors.",
)

QUESTION.mistake(
    "no gradient at the boxes",
    old="boxes[b, pairs[b]]",
    new="boxes.detach()[b, pairs[b]]",
    hint="The numbers are right, but no gradient reaches the boxes.",
)

QUESTION.mistake(
    "no gradient at the logits",
    old="F.cross_entropy(logits.flatten(0, 1)",
    new="F.cross_entropy(logits.detach().flatten(0, 1)",
    hint="The numbers are right, but no gradient reaches the logits.",
)

QUESTION.mistake(
    "in single precision",
    old=END,
    new=f"return classes.float(), distance.float(), ({OVERLAP}).float()",
    hint="Your losses are float32, whatever the dtype of what you were given.",
)

QUESTION.mistake(
    "written into the logits",
    old=CLASSES,
    new=f"{CLASSES}\n    logits.data[:] = logits.softmax(dim=-1)",
    hint="The losses are right, but the logits are no longer what you were given.",
)

QUESTION.mistake(
    "written into the boxes",
    old=RIGHT,
    new=f"{RIGHT}\n    boxes.data[answer == nothing] = 0",
    hint="The losses are right, but the boxes are no longer what you were given. Leave those of "
    "empty queries alone as well.",
)

QUESTION.mistake(
    "weights in single precision",
    old="logits.new_ones(nothing + 1)",
    new="torch.ones(nothing + 1)",
    hint="Your weights of the classes are float32 whatever the logits are, and torch refuses to "
    "mix. Make them in the dtype of the logits.",
)

QUESTION.mistake(
    "weights in single precision, a mean over the four numbers, nan without objects",
    old=f"weight = logits.new_ones(nothing + 1)  # (C + 1,)\n    weight[nothing] = no_object\n"
    f"    {CLASSES}\n    {FOUND}  # (N, 4)\n    {RIGHT}  # (N, 4)\n    {COUNT}\n"
    f"    {DISTANCE}\n    {END}",
    new="weight = torch.ones(nothing + 1)\n    weight[nothing] = no_object\n"
    f"    {CLASSES}\n    {FOUND}\n    {RIGHT}\n"
    "    return classes, F.l1_loss(found, right), (1 - giou(found, right)).mean()",
    hint="Three things: torch's l1_loss takes a mean over the four numbers of a box too, where "
    "their sum is meant; a mean over no object is nan, where the loss is 0; and the weights of the "
    "classes need the dtype of the logits.",
)

QUESTION.mistake(
    "weights in single precision, boxes in the order of the queries",
    old=f"weight = logits.new_ones(nothing + 1)  # (C + 1,)\n    weight[nothing] = no_object\n"
    f"    {CLASSES}\n    {FOUND}",
    new="weight = torch.ones(nothing + 1)\n    weight[nothing] = no_object\n"
    f"    {CLASSES}\n"
    "    found = torch.cat([boxes[b, pairs[b].sort().values] for b in range(len(pairs))])",
    hint="Two things: you take the boxes out in the order of the queries, as a boolean mask does, "
    "where the first of the pairs belongs to the first object; and the weights of the classes need "
    "the dtype of the logits.",
)

QUESTION.mistake(
    "no object like any class, a mean over the four numbers, nan without objects",
    old=f"weight[nothing] = no_object\n    {CLASSES}\n    {FOUND}  # (N, 4)\n"
    f"    {RIGHT}  # (N, 4)\n    {COUNT}\n    {DISTANCE}\n    {END}",
    new=f"{CLASSES}\n    {FOUND}\n    {RIGHT}\n"
    "    return classes, F.l1_loss(found, right), (1 - giou(found, right)).mean()",
    hint="Three things: “no object” counts like any other class, where it has the weight "
    "`no_object`; torch's l1_loss takes a mean over the four numbers of a box too, where their sum "
    "is meant; and a mean over no object is nan, where the loss is 0.",
)
