"""The loss of an answer when nobody knows which of the retrieved documents is the right one."""

from __future__ import annotations

import torch

from coursekit.check.probe import after, gradients, randn
from coursetools.questions import hidden, visible


def marginal_loss(relevance, logs):
    """relevance (B, Z), logs (B, Z) -> the loss, one number."""
    shares = relevance.log_softmax(dim=-1)  # (B, Z), log p(z | x)
    joint = shares + logs  # (B, Z), log p(y, z | x)
    return -joint.logsumexp(dim=-1).mean()


def retrieved(questions, documents, seed, dtype=torch.float32):
    """Return relevances, and log probabilities of short answers."""
    relevance = 2 * randn(questions, documents, seed=seed, dtype=dtype)
    return relevance, -0.1 - 3 * randn(questions, documents, seed=seed + 1, dtype=dtype).abs()


@visible("one question, two documents")
def two_documents(student):
    return student.marginal_loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[-3.0, -0.5]]))


@visible("four questions, five documents each", weight=2)
def four_questions(student):
    return student.marginal_loss(*retrieved(4, 5, seed=1))


@visible("gradients, for the retriever and for the reader")
def with_gradients(student):
    return gradients(student.marginal_loss, *retrieved(3, 4, seed=3))


@visible("long answers, and relevances far from zero")
def long_answers(student):
    relevance, logs = retrieved(3, 4, seed=5)
    apart = torch.tensor([[150.0], [300.0], [900.0]])
    given = (relevance, logs - 15), (relevance, 20 * logs - 200), (300 * relevance, logs - apart)
    return [student.marginal_loss(*both) for both in given]


@visible("documents that make the answer impossible")
def impossible(student):
    relevance, logs = retrieved(3, 5, seed=7)
    logs[0, :4], logs[1, 2] = -torch.inf, -torch.inf
    return [student.marginal_loss(relevance * n, logs - 15 * n) for n in (1, 200)]


@visible("what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.marginal_loss, *retrieved(2, 3, seed=9, dtype=torch.float64))


@hidden("many questions and many documents", weight=2)
def marginal_many(student):
    return student.marginal_loss(*retrieved(20, 32, seed=201))


@hidden("one document a question, and one question")
def marginal_one(student):
    return student.marginal_loss(*retrieved(5, 1, seed=203)), student.marginal_loss(
        *retrieved(1, 7, seed=205)
    )


@hidden("as many questions as documents: gradients", weight=2)
def marginal_gradients(student):
    return gradients(student.marginal_loss, *retrieved(4, 4, seed=207))


@hidden("double precision", tolerance=1e-12)
def marginal_double(student):
    return student.marginal_loss(*retrieved(3, 5, seed=209, dtype=torch.float64))


@hidden("very long answers: gradients")
def marginal_long(student):
    relevance, logs = retrieved(3, 4, seed=211)
    given = 100 * relevance - 5000, 30 * logs - torch.tensor([[900.0], [400.0], [2000.0]])
    return gradients(student.marginal_loss, *given)


@hidden("gradients where all documents but one make the answer impossible")
def marginal_impossible(student):
    relevance, logs = retrieved(3, 4, seed=213)
    logs[0, 1:], logs[2, :3] = -torch.inf, -torch.inf
    found = gradients(student.marginal_loss, relevance, logs - 300)
    return found, student.marginal_loss(relevance, logs - 2000)


@hidden("equal documents: relevance does not matter")
def marginal_equal(student):
    relevance, _ = retrieved(2, 6, seed=215)
    return gradients(student.marginal_loss, relevance, torch.full((2, 6), -1.5))


@hidden("what was given is left as it was")
def marginal_keeps(student):
    return after(student.marginal_loss, *retrieved(3, 3, seed=217))
