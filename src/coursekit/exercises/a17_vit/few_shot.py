"""A classifier from a few labelled pictures, in closed form: a ridge on frozen features."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def few_shot(features, labels, unseen, classes, ridge=1.0):
    """features (N, D), labels (N,), unseen (M, D) -> classes found (M,), scores (M, K)."""
    middle = features.mean(dim=0)  # (D,)
    x = features - middle  # (N, D)
    y = 2.0 * F.one_hot(labels, classes).to(x.dtype) - 1.0  # (N, K)
    eye = torch.eye(x.shape[1], dtype=x.dtype)  # (D, D)
    w = torch.linalg.solve(x.T @ x + ridge * eye, x.T @ y)  # (D, K)
    scores = (unseen - middle) @ w + y.mean(dim=0)  # (M, K)
    return scores.argmax(dim=1), scores


QUESTION = Question(
    name="few_shot",
    title="A classifier without training",
    points=4,
    difficulty=2,
    minutes=30,
    page="vit.html#sec-vit-fewshot",
    hint="Five lines, one for each symbol: the mean of the few, their centred features, their "
    "targets, the matrix, the scores. Write the shape behind each. Do not invert a matrix where "
    "you can ask torch to solve an equation. And what has to be done to the unseen features before "
    "they meet the matrix?",
    reference=few_shot,
    forbidden=("coursekit",),
)


def _pictures(few, unseen, width, classes, seed, dtype=torch.float64):
    """Features around a middle for each class and far from zero, labels, unseen features."""
    middles = randn(classes, width, seed=seed, dtype=dtype)
    labels = torch.arange(few) ** 2 % classes  # some classes have more than others
    offset = 2.0 + randn(width, seed=seed + 1, dtype=dtype)
    features = middles[labels] + 0.7 * randn(few, width, seed=seed + 2, dtype=dtype) + offset
    kinds = torch.arange(unseen) % classes
    return (
        features,
        labels,
        middles[kinds] + randn(unseen, width, seed=seed + 3, dtype=dtype) + offset,
        classes,
    )


@QUESTION.visible(says="two pictures with one number each")
def two_pictures(student):
    features, unseen = torch.tensor([[1.0], [3.0]]), torch.tensor([[2.5], [0.0], [5.0]])
    return student.few_shot(features, torch.tensor([0, 1]), unseen, 2, 2.0)


@QUESTION.visible(says="twelve pictures of three classes", weight=2)
def twelve_pictures(student):
    return student.few_shot(*_pictures(12, 6, 4, 3, seed=1), 0.5)


@QUESTION.visible(says="fewer pictures than features, and a small ridge")
def few_and_wide(student):
    return student.few_shot(*_pictures(5, 4, 9, 3, seed=5), 1e-3)


@QUESTION.visible(says="the ridge unless told otherwise; and three others")
def ridges(student):
    given = _pictures(8, 5, 3, 4, seed=9)
    others = [student.few_shot(*given, ridge) for ridge in (0.01, 3.0, 1000.0)]
    return student.few_shot(*given), others


@QUESTION.visible(says="classes without a picture among the few")
def classes_without(student):
    features, labels, unseen, _ = _pictures(9, 5, 4, 3, seed=13)
    return student.few_shot(features, labels + 1, unseen, 6, 0.3)


@QUESTION.visible(says="unseen pictures one by one, and all of them together")
def one_by_one(student):
    features, labels, unseen, classes = _pictures(7, 3, 3, 3, seed=17)
    alone = [student.few_shot(features, labels, one[None], classes, 0.2) for one in unseen]
    return alone, student.few_shot(features, labels, unseen, classes, 0.2)


@QUESTION.visible(says="what was given stays as it was; single precision", tolerance=1e-4)
def what_was_given_stays(student):
    return after(student.few_shot, *_pictures(9, 4, 3, 3, seed=21, dtype=torch.float32), 2.0)


CENTRE = "x = features - middle"
TARGETS = "y = 2.0 * F.one_hot(labels, classes).to(x.dtype) - 1.0"
SOLVE = "torch.linalg.solve(x.T @ x + ridge * eye, x.T @ y)"
SCORES = "scores = (unseen - middle) @ w + y.mean(dim=0)"
RETURN = "return scores.argmax(dim=1), scores"
MIDDLE = "middle = features.mean(dim=0)"

QUESTION.mistake(
    "no ridge",
    old=SOLVE,
    new="torch.linalg.pinv(x) @ y",
    hint="You leave the ridge out. With fewer pictures than features there are then weights "
    "without end that fit perfectly, and these fit the noise: add λ along the diagonal.",
)

QUESTION.mistake(
    "no ridge, solved",
    old=SOLVE,
    new="torch.linalg.solve(x.T @ x, x.T @ y)",
    hint="You leave the ridge out. With fewer pictures than features the matrix cannot be solved, "
    "and otherwise the noise is fitted: add λ along the diagonal.",
)

QUESTION.mistake(
    "ridge everywhere",
    old="ridge * eye",
    new="ridge",
    hint="You add λ to every number of the matrix. It belongs on the diagonal alone: λ times the "
    "identity.",
)

QUESTION.mistake(
    "ridge for each picture",
    old="ridge * eye",
    new="len(x) * ridge * eye",
    hint="You multiply λ by the number of pictures, or, which is the same, divide both products by "
    "it. That belongs to a mean of squares; here the squares are summed.",
)

QUESTION.mistake(
    "divided on one side",
    old="x.T @ x + ridge * eye, x.T @ y",
    new="x.T @ x / len(x) + ridge * eye, x.T @ y",
    hint="You divide one of the two products by the number of pictures. Here the squares are "
    "summed: divide neither.",
)

QUESTION.mistake(
    "ridge squared",
    old="ridge * eye",
    new="ridge**2 * eye",
    hint="You square λ. Its plain value stands on the diagonal.",
)

QUESTION.mistake(
    "half of the ridge",
    old="ridge * eye",
    new="ridge / 2 * eye",
    hint="You halve λ. Its plain value stands on the diagonal.",
)

QUESTION.mistake(
    "twice the ridge",
    old="ridge * eye",
    new="2 * ridge * eye",
    hint="You double λ. Its plain value stands on the diagonal.",
)

QUESTION.mistake(
    "ridge taken off",
    old="+ ridge * eye",
    new="- ridge * eye",
    hint="You take λ off the diagonal. It is added.",
)

QUESTION.mistake(
    "always a ridge of one",
    old="ridge * eye",
    new="eye",
    hint="Your λ is 1, whatever the argument `ridge` says.",
)

QUESTION.mistake(
    "targets 0 and 1",
    old=TARGETS,
    new="y = F.one_hot(labels, classes).to(x.dtype)",
    hint="Your targets are 0 and 1. They are −1 and 1 here, as in the paper.",
)

QUESTION.mistake(
    "targets 0 and 1 that are centred",
    old=f"{TARGETS}  # (N, K)",
    new="y = F.one_hot(labels, classes).to(x.dtype)\n    y = y - y.mean(dim=0)",
    hint="Your targets are 0 and 1 with their mean taken off. They are −1 and 1, and what a mean "
    "picture gets is added at the end.",
)

QUESTION.mistake(
    "softmax targets",
    old=TARGETS,
    new="y = F.one_hot(labels, classes).to(x.dtype).softmax(dim=1)",
    hint="You take a softmax of the targets. They are plain numbers: 1 for the picture's own "
    "class, −1 for all others.",
)

QUESTION.mistake(
    "softmax of −1 and 1",
    old=TARGETS,
    new="y = (2.0 * F.one_hot(labels, classes).to(x.dtype) - 1.0).softmax(dim=1)",
    hint="You take a softmax of the targets. They are plain numbers: 1 for the picture's own "
    "class, −1 for all others.",
)

QUESTION.mistake(
    "targets of the wrong sign",
    old=TARGETS,
    new="y = 1.0 - 2.0 * F.one_hot(labels, classes).to(x.dtype)",
    hint="Your own class has the target −1, and all others have 1. It is the other way round.",
)

QUESTION.mistake(
    "a row of targets sums to zero",
    old=TARGETS,
    new="y = F.one_hot(labels, classes).to(x.dtype) * classes / (classes - 1) - 1 / (classes - 1)",
    hint="Your other classes share −1 among them. Each of them has the target −1.",
)

QUESTION.mistake(
    "zeros for the others, minus one in all",
    old=TARGETS,
    new="y = F.one_hot(labels, classes).to(x.dtype) - 1.0",
    hint="Your own class has the target 0. It has 1, and all others −1.",
)

QUESTION.mistake(
    "classes that are there",
    old=TARGETS,
    new="y = 2.0 * F.one_hot(labels).to(x.dtype) - 1.0",
    hint="You have as many columns as the largest label says. There are `classes` of them, with "
    "or without a picture among the few.",
)

QUESTION.mistake(
    "classes that were met",
    old=TARGETS,
    new="y = 2.0 * (labels[:, None] == labels.unique()).to(x.dtype) - 1.0",
    hint="Only classes that have a picture get a column in yours, and the numbers of the classes "
    "shift. There are `classes` columns, whether met or not.",
)

QUESTION.mistake(
    "labels as numbers",
    old=TARGETS,
    new="y = labels[:, None].to(x.dtype).expand(-1, classes)",
    hint="You fit the number of the class. Class 2 is not between 1 and 3: each class has a target "
    "of its own.",
)

QUESTION.mistake(
    "centring on test",
    old="(unseen - middle)",
    new="(unseen - unseen.mean(dim=0))",
    hint="You centre the unseen features on their own mean. A picture's class must not depend on "
    "which others happen to be looked at with it: take off the mean of the few.",
)

QUESTION.mistake(
    "centring on all",
    old=MIDDLE,
    new="middle = torch.cat([features, unseen]).mean(dim=0)",
    hint="The unseen features have gone into your mean. A picture's class must not depend on which "
    "others are looked at with it: the mean of the few alone.",
)

QUESTION.mistake(
    "centring on the unseen alone",
    old=MIDDLE,
    new="middle = unseen.mean(dim=0)",
    hint="You take the mean of the unseen features. It is that of the few which have labels.",
)

QUESTION.mistake(
    "the unseen not centred",
    old="(unseen - middle)",
    new="unseen",
    hint="You centre the few and not the unseen. The weights are made for features from which the "
    "mean of the few was taken off.",
)

QUESTION.mistake(
    "not centred",
    old=MIDDLE,
    new="middle = torch.zeros_like(features[0])",
    hint="You do not take the mean off. The ridge then punishes the model for where the features "
    "lie, and not only for how they differ.",
)

QUESTION.mistake(
    "not centred, nothing added",
    old=f"{SCORES}  # (M, K)",
    new="w = torch.linalg.solve(features.T @ features + ridge * eye, features.T @ y)\n"
    "    scores = unseen @ w",
    hint="You leave out both the mean of the features, taken off, and the mean of the targets, "
    "added at the end.",
)

QUESTION.mistake(
    "a column of ones, with a ridge",
    old=f"{SCORES}  # (M, K)",
    new="z = torch.cat([features, torch.ones_like(features[:, :1])], dim=1)\n"
    "    more = ridge * torch.eye(z.shape[1], dtype=z.dtype)\n"
    "    w = torch.linalg.solve(z.T @ z + more, z.T @ y)\n"
    "    scores = unseen @ w[:-1] + w[-1]",
    hint="You add a column of ones in place of the centring, and the ridge pulls its weight to 0 "
    "as well. Where a mean picture lies should cost nothing: centre, or leave the ridge out at "
    "that one place of the diagonal.",
)

QUESTION.mistake(
    "one mean for all features",
    old=MIDDLE,
    new="middle = features.mean()",
    hint="You take one mean over everything. Each feature has its own: a mean over the pictures.",
)

QUESTION.mistake(
    "each picture's own mean",
    old=f"{MIDDLE}  # (D,)\n    {CENTRE}",
    new="middle = unseen.mean(dim=1, keepdim=True)\n"
    "    x = features - features.mean(dim=1, keepdim=True)",
    hint="You take off each picture's mean over its features. The mean is over the pictures, one "
    "for each feature.",
)

QUESTION.mistake(
    "the mean of the targets not added",
    old=SCORES,
    new="scores = (unseen - middle) @ w",
    hint="The mean of the targets is missing. A class with few pictures among the few should begin "
    "lower than one with many.",
)

QUESTION.mistake(
    "the mean of the targets taken off",
    old="@ w + y",
    new="@ w - y",
    hint="You take the mean of the targets off at the end. It is added: that is what a mean "
    "picture gets.",
)

QUESTION.mistake(
    "one mean of all targets",
    old="y.mean(dim=0)",
    new="y.mean()",
    hint="You add one mean of all targets. Each class has its own.",
)

QUESTION.mistake(
    "argmin",
    old="argmax",
    new="argmin",
    hint="You take the class with the smallest score. The score is near 1 for the right one.",
)

QUESTION.mistake(
    "the largest by amount",
    old="scores.argmax",
    new="scores.abs().argmax",
    hint="You take the score farthest from 0. A score of −1 says no; the largest one counts.",
)

QUESTION.mistake(
    "argmax over the pictures",
    old="argmax(dim=1)",
    new="argmax(dim=0)",
    hint="You look for the best picture of each class. For each picture look along its row, over "
    "the classes.",
)

QUESTION.mistake(
    "scores first",
    old=RETURN,
    new="return scores, scores.argmax(dim=1)",
    hint="Your two results have changed places: the classes come first, then the scores.",
)

QUESTION.mistake(
    "classes alone",
    old=RETURN,
    new="return scores.argmax(dim=1)",
    hint="You return the classes alone. A tuple is asked for: the classes, and the scores that "
    "they come from.",
)

QUESTION.mistake(
    "scores alone",
    old=RETURN,
    new="return scores",
    hint="You return the scores alone. A tuple is asked for: the classes, and the scores that "
    "they come from.",
)

QUESTION.mistake(
    "a softmax of the scores",
    old=RETURN,
    new="return scores.argmax(dim=1), scores.softmax(dim=1)",
    hint="You take a softmax of the scores. They were fitted to −1 and 1, not to be logits: return "
    "them as they are.",
)

QUESTION.mistake(
    "lists",
    old=RETURN,
    new="return scores.argmax(dim=1).tolist(), scores",
    hint="Your classes are a list. A tensor (M,) is asked for.",
)

QUESTION.mistake(
    "features of length one",
    old=f"{MIDDLE}  # (D,)",
    new="features, unseen = F.normalize(features, dim=1), F.normalize(unseen, dim=1)\n"
    "    middle = features.mean(dim=0)",
    hint="You bring all features to length 1 first. Only their mean is taken off here.",
)

QUESTION.mistake(
    "divided by the spread",
    old=f"{MIDDLE}  # (D,)",
    new="spread = features.std(dim=0)\n"
    "    features, unseen = features / spread, unseen / spread\n"
    "    middle = features.mean(dim=0)",
    hint="You divide each feature by its spread. Only its mean is taken off here.",
)

QUESTION.mistake(
    "divided by the plain spread",
    old=f"{MIDDLE}  # (D,)",
    new="spread = features.std(dim=0, unbiased=False)\n"
    "    features, unseen = features / spread, unseen / spread\n"
    "    middle = features.mean(dim=0)",
    hint="You divide each feature by its spread. Only its mean is taken off here.",
)

QUESTION.mistake(
    "the nearest mean",
    old=SCORES,
    new="means = torch.stack([features[labels == k].mean(dim=0) for k in range(classes)])\n"
    "    scores = -torch.cdist(unseen, means).nan_to_num(nan=torch.inf)",
    hint="You compare with the mean of each class. That is another classifier; solve for the "
    "weights that fit all targets.",
)

QUESTION.mistake(
    "in double precision",
    old=RETURN,
    new="return scores.argmax(dim=1), scores.double()",
    hint="Your scores are float64, whatever the dtype of the features.",
)

QUESTION.mistake(
    "in single precision",
    old=RETURN,
    new="return scores.argmax(dim=1), scores.float()",
    hint="Your scores are float32, whatever the dtype of the features.",
)

QUESTION.mistake(
    "written into the features",
    old=CENTRE,
    new="x = features.sub_(middle)",
    hint="The scores are right, but you have taken the mean off the features that you were given: "
    "-= and what ends in an underscore write into them.",
)

QUESTION.mistake(
    "written into the unseen",
    old="(unseen - middle)",
    new="unseen.sub_(middle)",
    hint="The scores are right, but you have taken the mean off the unseen features that you were "
    "given: -= and what ends in an underscore write into them.",
)
