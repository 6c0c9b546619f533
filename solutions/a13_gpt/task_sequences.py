"""Tasks as sequences for a model that reads from left to right, and one linear layer on top."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible

from .shared import read, small_gpt


def task_sequences(task, texts, marks, model, head):
    """A task, its texts, lists of ids -> the sequences that are read, and the scores."""
    start, delimiter, extract = marks
    parts = [texts]
    if task == "similarity":
        parts = [texts, texts[::-1]]
    if task == "choice":
        parts = [[texts[0], answer] for answer in texts[1:]]
    sequences, vectors = [], []
    for first, *others in parts:
        behind = [token for text in others for token in (delimiter, *text)]
        sequence = [start, *first, *behind, extract]
        places = torch.arange(len(sequence))[None]
        states, _ = read(model, torch.tensor([sequence]), places)  # (1, T, D)
        sequences.append(sequence)
        vectors.append(states[0, -1])
    stacked = torch.stack(vectors)
    if task == "choice":
        return sequences, (stacked @ head.T)[:, 0]  # (N,)
    return sequences, stacked.sum(dim=0) @ head.T  # (C,)


def task(name, *texts, scores, seed, marks=(17, 18, 19), width=12, **more):
    """Return a task with its texts, a small GPT, and the layer on top of it."""
    head = randn(scores, width, seed=seed, **more)
    return name, list(map(list, texts)), marks, small_gpt(seed, width=width, **more), head


@visible("classification")
def classification(student):
    return student.task_sequences(*task("classification", [3, 4, 5, 6], scores=3, seed=1))


@visible("entailment")
def entailment(student):
    return student.task_sequences(*task("entailment", [3, 4, 5], [7, 8], scores=3, seed=2))


@visible("similarity", weight=2)
def similarity(student):
    return student.task_sequences(*task("similarity", [3, 9, 4], [5, 6], scores=2, seed=3))


@visible("a choice of three answers", weight=2)
def choice(student):
    given = task("choice", [3, 4, 5, 6], [7, 8], [9], [10, 3, 11], scores=1, seed=4)
    return student.task_sequences(*given)


@visible("other marks, double precision; the texts stay as they were", tolerance=1e-9)
def other_marks(student):
    texts, more = [[8, 9, 8], [11, 12]], {"marks": (5, 2, 3), "dtype": torch.float64}
    given = task("similarity", *texts, scores=3, seed=5, **more)
    found, left = after(student.task_sequences, *given)
    return found, left[1], student.task_sequences(*task("choice", *texts, scores=1, seed=6, **more))


@hidden("longer texts, several classes", weight=2)
def task_longer(student):
    long, other = [3 + n % 9 for n in range(14)], [4 + n % 5 for n in range(8)]
    return [
        student.task_sequences(*task("classification", long, scores=5, seed=240)),
        student.task_sequences(*task("entailment", long, other, scores=3, seed=241)),
        student.task_sequences(*task("similarity", long, other, scores=2, seed=242)),
    ]


@hidden("a choice of five, and of one")
def task_choices(student):
    answers = [[3 + n, *range(5, 5 + n)] for n in range(5)]
    return [
        student.task_sequences(*task("choice", [8, 9], *some, scores=1, seed=243))
        for some in (answers, answers[:1])
    ]


@hidden("texts of one token, and twice the same text")
def task_short(student):
    return [
        student.task_sequences(*task("similarity", [6], [6], scores=3, seed=244)),
        student.task_sequences(*task("entailment", [4], [5], scores=1, seed=245)),
        student.task_sequences(*task("choice", [7], [7], [7], scores=1, seed=246)),
    ]


@hidden("other marks, another width")
def task_marks(student):
    more = {"marks": (0, 9, 4), "width": 20}
    return [
        student.task_sequences(*task("similarity", [5, 6, 7], [8], scores=4, seed=247, **more)),
        student.task_sequences(*task("choice", [5, 6], [8], [7, 7], scores=1, seed=248, **more)),
    ]


@hidden("double precision", tolerance=1e-10)
def task_double(student):
    more = {"scores": 3, "dtype": torch.float64}
    return [
        student.task_sequences(*task("similarity", [5, 6, 7], [8, 9], seed=249, **more)),
        student.task_sequences(*task("classification", [5, 6, 7], seed=250, **more)),
    ]


@hidden("the texts stay as they were", weight=0.5)
def task_stay(student):
    said = []
    for name, count in (("classification", 1), ("entailment", 2), ("similarity", 2)):
        given = task(name, *[[3, 4, 5], [6, 7]][:count], scores=2, seed=251)
        read, (_, texts, *_) = after(student.task_sequences, *given)
        said.append((read, texts))
    return said
