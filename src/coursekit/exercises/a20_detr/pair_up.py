"""Which query answers for which object: all pairs together as cheap as they can be."""

from __future__ import annotations

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from coursekit.exercises.a20_detr.giou import giou
from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def pair_up(logits, boxes, labels, true, weights=(1.0, 5.0, 2.0)):
    """logits (B, Q, C + 1), boxes (B, Q, 4), lists of (n,) and (n, 4) -> a list of (n,) queries."""
    likely = logits.softmax(dim=-1)  # (B, Q, C + 1)
    found = []
    for b in range(len(labels)):
        sure = likely[b][:, labels[b]].T  # (n, Q)
        apart = (true[b][:, None] - boxes[b]).abs().sum(dim=-1)  # (n, Q)
        overlap = giou(true[b][:, None], boxes[b])  # (n, Q)
        cost = -weights[0] * sure + weights[1] * apart - weights[2] * overlap  # (n, Q)
        _, queries = linear_sum_assignment(cost.detach().numpy())
        found.append(torch.from_numpy(queries))
    return found


QUESTION = Question(
    name="pair_up",
    title="Who answers for what",
    points=5,
    difficulty=3,
    minutes=40,
    page="detr.html#sec-detr-matching",
    hint="Take one image at a time. Its costs are a table with a row for each object and a column "
    "for each query, and each of the three terms is such a table of its own: build them one by one "
    "and look at their shapes. Which column of the probabilities has the class of an object? The "
    "smallest sum over a whole table is then found for you; look up in which order its two answers "
    "stand.",
    reference=pair_up,
    forbidden=("coursekit",),
    needs=("giou",),
)


def guesses(
    counts: tuple[int, ...],
    queries: int,
    classes: int,
    seed: int,
    dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, Tensor, list[Tensor], list[Tensor]]:
    """Return what a half-trained model says, and the true objects, `counts` of them in each image.

    Most queries speak of some object, with a box and a class that are somewhat wrong, so that
    several of them compete for it. No class comes twice where there are classes enough.
    """
    B = len(counts)
    chance = torch.Generator().manual_seed(seed)
    labels = [torch.randperm(max(classes, n), generator=chance)[:n] % classes for n in counts]
    true = [
        torch.cat([0.2 + 0.6 * x[:, :2], 0.05 + 0.45 * x[:, 2:]], dim=-1)
        for x in (torch.rand(n, 4, generator=chance, dtype=torch.float64) for n in counts)
    ]
    logits = 1.5 * randn(B, queries, classes + 1, seed=seed + 1, dtype=torch.float64)
    boxes = randn(B, queries, 4, seed=seed + 2, dtype=torch.float64).sigmoid()
    boxes = torch.cat([boxes[..., :2], 0.05 + 0.5 * boxes[..., 2:]], dim=-1)
    for b, n in enumerate(counts):
        for q in range(queries if n else 0):
            about = int(torch.randint(n, (), generator=chance))
            boxes[b, q] = 0.6 * true[b][about] + 0.4 * boxes[b, q]
            logits[b, q, labels[b][about]] += 1.0
    logits, boxes = logits.to(dtype), boxes.to(dtype)
    return logits, boxes, labels, [box.to(dtype) for box in true]


@QUESTION.visible(says="one image: two objects of one class, three queries")
def one_image(student):
    logits = torch.tensor([[[2.0, 0.0], [1.0, 0.0], [-1.0, 2.0]]])
    boxes = torch.tensor([[[0.6, 0.5, 0.2, 0.2], [0.2, 0.5, 0.2, 0.3], [0.9, 0.9, 0.1, 0.1]]])
    true = torch.tensor([[0.5, 0.5, 0.2, 0.2], [0.65, 0.5, 0.2, 0.2]])
    return student.pair_up(logits, boxes, [torch.tensor([0, 0])], [true])


@QUESTION.visible(says="three images with 4, 2 and 6 objects, nine queries", weight=2)
def three_images(student):
    return student.pair_up(*guesses((4, 2, 6), 9, 5, seed=20))


@QUESTION.visible(says="each of the three costs alone", weight=2)
def each_cost_alone(student):
    given = guesses((5, 3), 8, 6, seed=24)  # for two objects of one class could change places
    return [student.pair_up(*given, weights) for weights in ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0))]


@QUESTION.visible(says="two costs at a time, and other weights")
def two_costs(student):
    given = guesses((5, 6), 10, 3, seed=28)
    return [
        student.pair_up(*given, weights)
        for weights in ((2.0, 1.0, 0), (6.0, 0, 1.0), (0, 1.0, 1.0), (3.0, 0.5, 2.5))
    ]


@QUESTION.visible(says="an image without objects, and as many objects as queries")
def none_and_all(student):
    return student.pair_up(*guesses((0, 6, 1), 6, 4, seed=32))


@QUESTION.visible(says="as many images as objects and queries")
def all_alike(student):
    return student.pair_up(*guesses((5, 5, 5, 5, 5), 5, 4, seed=36))


@QUESTION.visible(says="many objects in many images", weight=2)
def many(student):
    return student.pair_up(*guesses((9, 7, 8, 12, 6, 10), 14, 6, seed=40))


@QUESTION.visible(says="a model in training, whose numbers ask for gradients")
def in_training(student):
    return gradients(student.pair_up, *guesses((3, 2), 5, 3, seed=44))[0]


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.pair_up, *guesses((2, 3), 6, 3, seed=48, dtype=torch.float64))


LIKELY = "likely = logits.softmax(dim=-1)"
SURE = "sure = likely[b][:, labels[b]].T"
APART = "apart = (true[b][:, None] - boxes[b]).abs().sum(dim=-1)"
OVERLAP = "overlap = giou(true[b][:, None], boxes[b])"
COST = "cost = -weights[0] * sure + weights[1] * apart - weights[2] * overlap"
SOLVED = "_, queries = linear_sum_assignment(cost.detach().numpy())"
KEEP = "found.append(torch.from_numpy(queries))"
END = "return found"

QUESTION.mistake(
    "greedy, object by object",
    old=SOLVED,
    new="table, queries = cost.detach().clone().numpy(), []\n"
    "        for row in table:\n"
    "            queries.append(row.argmin())\n"
    "            table[:, queries[-1]] = float('inf')\n"
    "        queries = torch.tensor(queries, dtype=torch.int64).numpy()",
    hint="You let the objects choose one after the other. An early one may take the query that a "
    "later one needs much more: all pairs together have to be as cheap as they can be.",
)

QUESTION.mistake(
    "greedy, the cheapest pair first",
    old=SOLVED,
    new="table, queries = cost.detach().clone(), torch.zeros(len(cost), dtype=torch.int64)\n"
    "        for _ in range(len(cost)):\n"
    "            row, column = divmod(int(table.argmin()), table.shape[1])\n"
    "            queries[row] = column\n"
    "            table[row], table[:, column] = float('inf'), float('inf')\n"
    "        queries = queries.numpy()",
    hint="You take the cheapest pair, then the cheapest of those that are left, and so on. The "
    "last pairs may be dear then: all of them together have to be as cheap as they can be.",
)

QUESTION.mistake(
    "to each object its cheapest",
    old=SOLVED,
    new="queries = cost.detach().argmin(dim=1).numpy()",
    hint="You give each object its cheapest query, and some query gets two objects. Each query may "
    "answer for one object at most.",
)

QUESTION.mistake(
    "the queries choose",
    old=SOLVED,
    new="table, queries = cost.detach().clone(), torch.zeros(len(cost), dtype=torch.int64)\n"
    "        for column in range(min(table.shape)):\n"
    "            row = int(table[:, column].argmin())\n"
    "            queries[row], table[row] = column, float('inf')\n"
    "        queries = queries.numpy()",
    hint="You let the first queries choose among the objects, and the others get none. Each object "
    "needs a query, whichever of them it is, and all pairs together are to be cheap.",
)

QUESTION.mistake(
    "logarithms for probabilities",
    old=LIKELY,
    new="likely = logits.log_softmax(dim=-1)",
    hint="You take the logarithm of the probability, as in a cross-entropy. The cost has the "
    "probability itself, which is of the size of the other two.",
)

QUESTION.mistake(
    "logits for probabilities",
    old=LIKELY,
    new="likely = logits",
    hint="You take the logits of the class. They are not comparable from query to query: make "
    "probabilities of them first.",
)

QUESTION.mistake(
    "a softmax over the queries",
    old=LIKELY,
    new="likely = logits.softmax(dim=1)",
    hint="Your softmax goes over the queries. Each query has a distribution of its own, over the "
    "classes.",
)

QUESTION.mistake(
    "a softmax over the images",
    old=LIKELY,
    new="likely = logits.softmax(dim=0)",
    hint="Your softmax goes over the images of the batch. Each query has a distribution of its "
    "own, over the classes.",
)

QUESTION.mistake(
    "a sigmoid",
    old=LIKELY,
    new="likely = logits.sigmoid()",
    hint="You take a sigmoid of each logit. The probabilities of a query's classes, “no object” "
    "among them, have the sum 1.",
)

QUESTION.mistake(
    "without no object",
    old=LIKELY,
    new="likely = logits[..., :-1].softmax(dim=-1)",
    hint="You leave “no object” out of the softmax. A query that says “nothing here” then seems as "
    "sure of a class as any other; the probabilities are those of all C + 1 classes.",
)

QUESTION.mistake(
    "the best class, whatever it is",
    old=SURE,
    new="sure = likely[b].max(dim=-1).values.expand(len(labels[b]), -1)",
    hint="You take the largest probability of each query, whatever its class. What counts for an "
    "object is the probability of its own class.",
)

QUESTION.mistake(
    "some object or none",
    old=SURE,
    new="sure = (1 - likely[b][:, -1]).expand(len(labels[b]), -1)",
    hint="You take the probability that a query sees anything at all. What counts for an object is "
    "the probability of its own class.",
)

QUESTION.mistake(
    "the best class is right or wrong",
    old=SURE,
    new="sure = (likely[b].argmax(dim=-1) == labels[b][:, None]).to(boxes.dtype)",
    hint="You ask only whether a query's best class is the object's. How probable it finds that "
    "class is the cost, also where another one is ahead.",
)

QUESTION.mistake(
    "classes counted from 1",
    old=SURE,
    new="sure = likely[b][:, labels[b] + 1].T",
    hint="You look one class too far. Classes count from 0, and “no object” is the last.",
)

QUESTION.mistake(
    "labels of the first image",
    old="likely[b][:, labels[b]]",
    new="likely[b][:, labels[0].repeat(len(labels[b]) + 1)[: len(labels[b])]]",
    hint="You ask all images for the classes of the first. Each image has labels of its own.",
)

QUESTION.mistake(
    "probabilities of the first image",
    old="likely[b][:, labels[b]]",
    new="likely[0][:, labels[b]]",
    hint="You take the probabilities of the first image for all of them. Each image has queries of "
    "its own.",
)

QUESTION.mistake(
    "boxes of the first image",
    old=f"{APART}  # (n, Q)\n        {OVERLAP}",
    new="apart = (true[b][:, None] - boxes[0]).abs().sum(dim=-1)\n"
    "        overlap = giou(true[b][:, None], boxes[0])",
    hint="You compare the objects of all images with the boxes that were found in the first. Each "
    "image has queries of its own.",
)

QUESTION.mistake(
    "across images",
    old=f"{SOLVED}\n        {KEEP}",
    new="found.append(cost)\n"
    "    rows = torch.cat([\n"
    "        -weights[0] * likely.flatten(0, 1)[:, labels[b]].T\n"
    "        + weights[1] * (true[b][:, None] - boxes.flatten(0, 1)).abs().sum(dim=-1)\n"
    "        - weights[2] * giou(true[b][:, None], boxes.flatten(0, 1))\n"
    "        for b in range(len(labels))\n"
    "    ])\n"
    "    _, queries = linear_sum_assignment(rows.detach().numpy())\n"
    "    found = list(torch.from_numpy(queries).split([len(one) for one in labels]))",
    hint="You match the objects of the whole batch with the queries of the whole batch. A query "
    "can answer only for an object of its own image.",
)

QUESTION.mistake(
    "across images, numbers within one",
    old=f"{SOLVED}\n        {KEEP}",
    new="found.append(cost)\n"
    "    rows = torch.cat([\n"
    "        -weights[0] * likely.flatten(0, 1)[:, labels[b]].T\n"
    "        + weights[1] * (true[b][:, None] - boxes.flatten(0, 1)).abs().sum(dim=-1)\n"
    "        - weights[2] * giou(true[b][:, None], boxes.flatten(0, 1))\n"
    "        for b in range(len(labels))\n"
    "    ])\n"
    "    _, queries = linear_sum_assignment(rows.detach().numpy())\n"
    "    queries = torch.from_numpy(queries) % boxes.shape[1]\n"
    "    found = list(queries.split([len(one) for one in labels]))",
    hint="You match the objects of the whole batch with the queries of the whole batch, and count "
    "the queries within each image only at the end. A query can answer only for an object of its "
    "own image.",
)

QUESTION.mistake(
    "numbers that run on",
    old=KEEP,
    new="found.append(torch.from_numpy(queries) + b * boxes.shape[1])",
    hint="Your pairs are right, but the numbers of the queries run on from image to image. Each "
    "image counts its queries from 0.",
)

QUESTION.mistake(
    "the sign of the GIoU",
    old="- weights[2] * overlap",
    new="+ weights[2] * overlap",
    hint="You add the generalized IoU to the cost, so that a good overlap is dear. It has to make "
    "a pair cheaper.",
)

QUESTION.mistake(
    "the sign of the class",
    old="-weights[0] * sure",
    new="weights[0] * sure",
    hint="You add the probability to the cost, so that a query that is sure of the class is dear. "
    "It has to make a pair cheaper.",
)

QUESTION.mistake(
    "the sign of class and GIoU",
    old=COST,
    new="cost = weights[0] * sure + weights[1] * apart + weights[2] * overlap",
    hint="You add the probability and the generalized IoU to the cost. What is good about a pair "
    "has to make it cheaper; the distance alone is added.",
)

QUESTION.mistake(
    "the sign of the distance",
    old="+ weights[1] * apart",
    new="- weights[1] * apart",
    hint="You subtract the distance, so that far boxes are cheap. It has to make a pair dearer.",
)

QUESTION.mistake(
    "the dearest",
    old="linear_sum_assignment(cost.detach().numpy())",
    new="linear_sum_assignment(cost.detach().numpy(), maximize=True)",
    hint="You look for the largest sum, or have all signs the wrong way round. The pairs are to be "
    "cheap.",
)

QUESTION.mistake(
    "no class",
    old="-weights[0] * sure + ",
    new="",
    hint="The classes do not count in your cost.",
)

QUESTION.mistake(
    "no distance",
    old=" + weights[1] * apart",
    new="",
    hint="The L1 distance of the boxes does not count in your cost.",
)

QUESTION.mistake(
    "no overlap",
    old=" - weights[2] * overlap",
    new="",
    hint="The generalized IoU does not count in your cost.",
)

QUESTION.mistake(
    "the mean distance",
    old=".abs().sum(dim=-1)",
    new=".abs().mean(dim=-1)",
    hint="You take the mean of the four differences. Their sum is meant; the weight 5 is made for "
    "that.",
)

QUESTION.mistake(
    "the squared distance",
    old=".abs().sum(dim=-1)",
    new=".square().sum(dim=-1)",
    hint="You square the differences. L1 adds up their absolute values.",
)

QUESTION.mistake(
    "the straight distance",
    old=".abs().sum(dim=-1)",
    new=".square().sum(dim=-1).sqrt()",
    hint="You take the straight distance, the root of the sum of squares. L1 adds up absolute "
    "values.",
)

QUESTION.mistake(
    "the distance of the corners",
    old=APART,
    new="mine, theirs = (\n"
    "            torch.cat([x[:, :2] - x[:, 2:] / 2, x[:, :2] + x[:, 2:] / 2], dim=-1)\n"
    "            for x in (true[b], boxes[b])\n"
    "        )\n"
    "        apart = (mine[:, None] - theirs).abs().sum(dim=-1)",
    hint="You take the distance of the corners. It is that of the four numbers as they are: "
    "centres, widths and heights.",
)

QUESTION.mistake(
    "the distance of the centres",
    old=".abs().sum(dim=-1)",
    new="[..., :2].abs().sum(dim=-1)",
    hint="Only the centres count in your distance. Width and height belong to it.",
)

QUESTION.mistake(
    "differences that cancel",
    old=".abs().sum(dim=-1)",
    new=".sum(dim=-1).abs()",
    hint="You add up the four differences and take the absolute value then, so that differences of "
    "both signs cancel.",
)

QUESTION.mistake(
    "the overlap clipped",
    old=OVERLAP,
    new="overlap = giou(true[b][:, None], boxes[b]).clamp(min=0)",
    hint="You clip the overlap at 0. The generalized IoU tells far boxes from near ones below 0.",
)

QUESTION.mistake(
    "weights ignored",
    old=COST,
    new="cost = -1.0 * sure + 5.0 * apart - 2.0 * overlap",
    hint="You use the weights 1, 5 and 2 whatever `weights` says.",
)

QUESTION.mistake(
    "no weights",
    old=COST,
    new="cost = apart - sure - overlap",
    hint="You add up the three costs as they are. Each has its weight.",
)

QUESTION.mistake(
    "other weights unless told",
    old="weights=(1.0, 5.0, 2.0)",
    new="weights=(1.0, 1.0, 1.0)",
    hint="Without the last argument your three costs count alike. The default is (1, 5, 2).",
)

QUESTION.mistake(
    "weights exchanged",
    old="weights[1] * apart - weights[2] * overlap",
    new="weights[2] * apart - weights[1] * overlap",
    hint="The weights of the distance and of the generalized IoU have changed places: they are "
    "those of the class, of the distance, of the overlap.",
)

QUESTION.mistake(
    "sorted by query",
    old=KEEP,
    new="found.append(torch.from_numpy(queries).sort().values)",
    hint="You return the right queries, sorted. The first is to answer for the first object, the "
    "second for the second: leave them in the order of the objects.",
)

QUESTION.mistake(
    "the objects, in the order of the queries",
    old=KEEP,
    new="found.append(torch.from_numpy(queries).argsort())",
    hint="You return objects in the order of the queries. Asked for is the other direction: for "
    "each object, in its order, the number of its query.",
)

QUESTION.mistake(
    "the rows",
    old=f"{SOLVED}\n        {KEEP}",
    new="objects, queries = linear_sum_assignment(cost.detach().numpy())\n"
    "        found.append(torch.from_numpy(objects))",
    hint="You return the first of the two answers, the rows, which are 0, 1, 2, and so on. The "
    "queries are the columns.",
)

QUESTION.mistake(
    "both answers",
    old=f"{SOLVED}\n        {KEEP}",
    new="objects, queries = linear_sum_assignment(cost.detach().numpy())\n"
    "        found.append((torch.from_numpy(objects), torch.from_numpy(queries)))",
    hint="You return a pair for each image, objects and queries. The queries alone are asked for, "
    "in the order of the objects.",
)

QUESTION.mistake(
    "the object of each query",
    old=KEEP,
    new="answers = torch.full((boxes.shape[1],), -1)\n"
    "        answers[torch.from_numpy(queries)] = torch.arange(len(queries))\n"
    "        found.append(answers)",
    hint="You return a number for each query, the object that it answers for. One for each object "
    "is asked for: its query.",
)

QUESTION.mistake(
    "arrays",
    old=KEEP,
    new="found.append(queries)",
    hint="You return arrays of numpy. Make tensors of them.",
)

QUESTION.mistake(
    "plain lists",
    old=KEEP,
    new="found.append(queries.tolist())",
    hint="You return plain lists of numbers. A tensor for each image is asked for.",
)

QUESTION.mistake(
    "in 32 bits",
    old=KEEP,
    new="found.append(torch.from_numpy(queries).int())",
    hint="Your numbers have 32 bits. They are to be int64, the type of indices.",
)

QUESTION.mistake(
    "all in one tensor",
    old=END,
    new="return torch.cat(found)",
    hint="You put the queries of all images into one tensor. A list is asked for, with a tensor "
    "for each image.",
)

QUESTION.mistake(
    "a tuple",
    old=END,
    new="return tuple(found)",
    hint="You return a tuple. A list is asked for.",
)

QUESTION.mistake(
    "images without objects left out",
    old=KEEP,
    new="found += [torch.from_numpy(queries)] if len(queries) else []",
    hint="You leave out images without objects. Each image has an entry in the list; theirs is an "
    "empty tensor.",
)

QUESTION.mistake(
    "floats for an image without objects",
    old=KEEP,
    new="found.append(torch.from_numpy(queries) if len(queries) else torch.tensor([]))",
    hint="An image without objects gets torch.tensor([]) with you, which is float32. The entry is "
    "empty and int64.",
)

QUESTION.mistake(
    "asks for gradients",
    old="cost.detach().numpy()",
    new="cost.numpy()",
    hint="You fail where the model is in training: a tensor that asks for gradients cannot be "
    "handed to numpy. Who answers for what has no gradient: detach the costs.",
)

QUESTION.mistake(
    "written into the boxes",
    old=LIKELY,
    new="likely = logits.softmax(dim=-1)\n"
    "    boxes, given = boxes.clone(), boxes\n"
    "    given.data.zero_()",
    hint="The pairs are right, but the boxes are no longer what you were given.",
)

STEPS = (
    f"    found = []\n    for b in range(len(labels)):\n        {SURE}  # (n, Q)\n"
    f"        {APART}  # (n, Q)\n        {OVERLAP}  # (n, Q)\n        {COST}  # (n, Q)\n"
)

QUESTION.mistake(
    "logarithms for probabilities, sorted by query",
    old=f"{LIKELY}  # (B, Q, C + 1)\n{STEPS}        {SOLVED}\n        {KEEP}",
    new=f"likely = logits.log_softmax(dim=-1)\n{STEPS}        {SOLVED}\n"
    "        found.append(torch.from_numpy(queries).sort().values)",
    hint="Two things: you take the logarithm of the probability, where the cost has the "
    "probability itself; and you return the queries sorted, where the first is to answer for the "
    "first object.",
)

QUESTION.mistake(
    "logarithms for probabilities, asks for gradients",
    old=f"{LIKELY}  # (B, Q, C + 1)\n{STEPS}        {SOLVED}",
    new=f"likely = logits.log_softmax(dim=-1)\n{STEPS}"
    "        _, queries = linear_sum_assignment(cost.numpy())",
    hint="Two things: you take the logarithm of the probability, where the cost has the "
    "probability itself; and a tensor that asks for gradients cannot be handed to numpy: detach "
    "the costs.",
)

QUESTION.mistake(
    "sorted by query, asks for gradients",
    old=f"{SOLVED}\n        {KEEP}",
    new="_, queries = linear_sum_assignment(cost.numpy())\n"
    "        found.append(torch.from_numpy(queries).sort().values)",
    hint="Two things: you return the queries sorted, where the first is to answer for the first "
    "object; and a tensor that asks for gradients cannot be handed to numpy: detach the costs.",
)
