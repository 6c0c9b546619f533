"""The loss of an answer when nobody knows which of the retrieved documents is the right one."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def marginal_loss(relevance, logs):
    """relevance (B, Z), logs (B, Z) -> the loss, one number."""
    shares = relevance.log_softmax(dim=-1)  # (B, Z), log p(z | x)
    joint = shares + logs  # (B, Z), log p(y, z | x)
    return -joint.logsumexp(dim=-1).mean()


QUESTION = Question(
    name="marginal_loss",
    title="A sum over documents",
    points=5,
    difficulty=2,
    minutes=30,
    page="alignment.html#sec-alignment-retrieval",
    hint="Write down the probability of one question with two documents first, then its logarithm. "
    "A product inside the sum becomes a sum of logarithms, but the sum itself does not become "
    "anything simple: it needs the exponentials, and these only after the largest of the row has "
    "been taken off. torch has a function for the shares in logs and one for such a sum.",
    reference=marginal_loss,
    forbidden=("coursekit",),
)


def found(
    questions: int, documents: int, seed: int, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor]:
    """Return relevances, and log probabilities of answers of a few tokens."""
    relevance = 1.5 * randn(questions, documents, seed=seed, dtype=dtype) + 1
    return relevance, -1 - 2 * randn(questions, documents, seed=seed + 1, dtype=dtype).abs()


@QUESTION.visible(says="one question, two documents")
def two_documents(student):
    return student.marginal_loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[-3.0, -0.5]]))


@QUESTION.visible(says="four questions, five documents each", weight=2)
def four_questions(student):
    return student.marginal_loss(*found(4, 5, seed=1))


@QUESTION.visible(says="gradients, for the retriever and for the reader")
def with_gradients(student):
    return gradients(student.marginal_loss, *found(3, 4, seed=3))


@QUESTION.visible(says="long answers, and relevances far from zero")
def long_answers(student):
    relevance, logs = found(3, 4, seed=5)
    apart = torch.tensor([[150.0], [300.0], [900.0]])
    given = (relevance, logs - 15), (relevance, 20 * logs - 200), (300 * relevance, logs - apart)
    return [student.marginal_loss(*both) for both in given]


@QUESTION.visible(says="documents that make the answer impossible")
def impossible(student):
    relevance, logs = found(3, 5, seed=7)
    logs[0, :4], logs[1, 2] = -torch.inf, -torch.inf
    return [student.marginal_loss(relevance * n, logs - 15 * n) for n in (1, 200)]


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.marginal_loss, *found(2, 3, seed=9, dtype=torch.float64))


SHARES = "relevance.log_softmax(dim=-1)"
END = "return -joint.logsumexp(dim=-1).mean()"

QUESTION.mistake(
    "sum of logs",
    old=END,
    new="return -(shares.exp() * logs).sum(dim=-1).mean()",
    hint="You average the logarithms, each document with its share. The probabilities are what "
    "adds up, and the logarithm is taken of their sum: one document that has the answer is then "
    "enough.",
)

QUESTION.mistake(
    "logs summed over the documents",
    old=END,
    new="return -joint.sum(dim=-1).mean()",
    hint="You add up the logarithms of all documents, which multiplies their probabilities, as if "
    "every document had to be right. One or another is: add probabilities.",
)

QUESTION.mistake(
    "mean of the joint logs",
    old=END,
    new="return -joint.mean(dim=-1).mean()",
    hint="You take the mean of the joint logarithms over the documents. What is asked for is the "
    "logarithm of a sum of probabilities.",
)

QUESTION.mistake(
    "best document only",
    old=END,
    new="return -joint.amax(dim=-1).mean()",
    hint="You count the best document alone. The others have a probability too: sum over all.",
)

QUESTION.mistake(
    "the retriever's favourite only",
    old=END,
    new="best = relevance.argmax(dim=-1, keepdim=True)\n    return -logs.gather(-1, best).mean()",
    hint="You ask the reader about the most relevant document alone. Then the retriever gets no "
    "gradient, and nothing tells it that another document would have been better.",
)

QUESTION.mistake(
    "the reader's favourite only",
    old=END,
    new="return -logs.amax(dim=-1).mean()",
    hint="You take the document with which the reader is surest of the right answer. Whoever asks "
    "the question does not know which one that is: sum over all, each with its share.",
)

QUESTION.mistake(
    "the retriever ignored",
    old=f"shares = {SHARES}",
    new="shares = torch.zeros_like(logs).log_softmax(dim=-1)",
    hint="Every document has the same share in yours, whatever its relevance.",
)

QUESTION.mistake(
    "the retriever left out",
    old="joint = shares + logs",
    new="joint = logs",
    hint="You sum the reader's probabilities, and no share of a document comes in. The result may "
    "be above 1, which no probability is.",
)

QUESTION.mistake(
    "the mean of logs",
    old=END,
    new="return -logs.mean()",
    hint="You average the reader's logarithms over everything. The shares of the documents are "
    "missing, and the sum belongs inside the logarithm.",
)

QUESTION.mistake(
    "softmax over the batch",
    old="log_softmax(dim=-1)",
    new="log_softmax(dim=0)",
    hint="Your softmax runs down the batch, so that the questions compete for a document. The "
    "documents of one question compete: the last axis.",
)

QUESTION.mistake(
    "softmax over batch and documents",
    old=SHARES,
    new="relevance.flatten().log_softmax(dim=-1).reshape(relevance.shape)",
    hint="Your shares add up to 1 over all questions together. They do so for each question.",
)

QUESTION.mistake(
    "summed over the batch",
    old="joint.logsumexp(dim=-1).mean()",
    new="joint.logsumexp(dim=0).mean()",
    hint="You sum the probabilities down the batch. It is the documents of one question that are "
    "summed over.",
)

QUESTION.mistake(
    "retriever detached",
    old=SHARES,
    new="relevance.detach().log_softmax(dim=-1)",
    hint="The number is right, but the retriever gets no gradient. This loss is all that it has to "
    "learn from: do not detach its shares, and make no numbers of them on the way.",
)

QUESTION.mistake(
    "reader detached",
    old="shares + logs",
    new="shares + logs.detach()",
    hint="The number is right, but the reader gets no gradient. It learns from this loss as well.",
)

QUESTION.mistake(
    "no gradient",
    old="dim=-1).mean()",
    new="dim=-1).mean().detach()",
    hint="Your loss has no gradient. Nothing can be learned from it.",
)

QUESTION.mistake(
    "relevance not normalised",
    old=SHARES,
    new="relevance",
    hint="You take the relevances for logarithms of probabilities. Only a softmax makes shares of "
    "them that add up to 1.",
)

QUESTION.mistake(
    "the logarithm after the softmax",
    old=SHARES,
    new="relevance.softmax(dim=-1).log()",
    hint="Your softmax rounds small shares to 0, whose logarithm is minus infinity. The document "
    "with the answer may be one of them: take softmax and logarithm in one step.",
)

QUESTION.mistake(
    "shares added to logs",
    old=SHARES,
    new="relevance.softmax(dim=-1)",
    hint="You add a share to a logarithm. Either both are logarithms, and are added, or both are "
    "probabilities, and are multiplied.",
)

QUESTION.mistake(
    "logs multiplied",
    old="shares + logs",
    new="shares * logs",
    hint="You multiply two logarithms. A product of probabilities is a sum of their logarithms.",
)

QUESTION.mistake(
    "each document a yes or a no",
    old=SHARES,
    new="torch.nn.functional.logsigmoid(relevance)",
    hint="You put each relevance through a sigmoid, for itself. The documents compete: one softmax "
    "over those of a question.",
)

QUESTION.mistake(
    "the reader normalised over the documents",
    old="shares + logs",
    new="shares + logs.log_softmax(dim=-1)",
    hint="You normalise the reader's probabilities over the documents. They are probabilities of "
    "answers, one for each document, and need not add up to 1 across documents.",
)

QUESTION.mistake(
    "mean over the documents",
    old="return -joint.logsumexp(dim=-1).mean()",
    new="return -(joint.logsumexp(dim=-1) - torch.tensor(float(joint.shape[-1])).log()).mean()",
    hint="You average the products over the documents. The shares already add up to 1, so their "
    "weighted sum is a mean; do not divide by the number of documents again.",
)

QUESTION.mistake(
    "exponentials first",
    old=END,
    new="return -joint.exp().sum(dim=-1).log().mean()",
    hint="You go back to probabilities and sum those. Those of long answers are too small for "
    "float32 and become 0, whose logarithm is minus infinity. Take the largest logarithm of the "
    "row off first, and add it again at the end.",
)

QUESTION.mistake(
    "a small number in the logarithm",
    old=END,
    new="return -joint.exp().sum(dim=-1).add(1e-9).log().mean()",
    hint="You add a small number within the logarithm. A long answer then costs about 20, however "
    "unlikely it is, and teaches nothing.",
)

QUESTION.mistake(
    "probabilities kept off zero",
    old=END,
    new="return -joint.exp().sum(dim=-1).clamp(min=1e-9).log().mean()",
    hint="You keep the probability from falling below a small number. Long answers are below it, "
    "all of them, and would cost the same.",
)

QUESTION.mistake(
    "the largest of all rows taken off",
    old=END,
    new="top = joint.max()\n    return -(top + (joint - top).exp().sum(dim=-1).log()).mean()",
    hint="You take off the largest of all rows. A row far below it still becomes 0: each row has "
    "its own largest.",
)

QUESTION.mistake(
    "the largest not added again",
    old=END,
    new="top = joint.amax(dim=-1, keepdim=True)\n"
    "    return -(joint - top).exp().sum(dim=-1).log().mean()",
    hint="You take the largest logarithm of each row off, which is right, but do not add it again "
    "after the logarithm.",
)

QUESTION.mistake(
    "no logarithm",
    old=END,
    new="return -joint.logsumexp(dim=-1).exp().mean()",
    hint="You return minus the probability. The loss is minus its logarithm.",
)

QUESTION.mistake(
    "logarithm of the batch's mean",
    old=END,
    new="return -joint.logsumexp(dim=-1).exp().mean().log()",
    hint="You average the probabilities of the questions and take one logarithm. Each question has "
    "its own loss, and those are averaged.",
)

QUESTION.mistake(
    "sign",
    old="return -joint",
    new="return joint",
    hint="Your loss is negative, and falls as the right answer becomes less likely. A minus is "
    "missing.",
)

QUESTION.mistake(
    "the sum of the questions",
    old="dim=-1).mean()",
    new="dim=-1).sum()",
    hint="You add up the losses of the questions. Their mean is asked for, or the loss grows with "
    "the batch.",
)

QUESTION.mistake(
    "divided by all documents",
    old="joint.logsumexp(dim=-1).mean()",
    new="joint.logsumexp(dim=-1).sum() / logs.numel()",
    hint="You divide by B · Z. There is one loss a question: divide by B.",
)

QUESTION.mistake(
    "a loss for each question",
    old="dim=-1).mean()",
    new="dim=-1)",
    hint="You return a loss for each question. Take their mean.",
)

for low in (-20, -100, -1000):
    QUESTION.mistake(
        f"{low} for minus infinity",
        old="shares + logs",
        new=f"shares + logs.masked_fill(logs == -torch.inf, {low})",
        hint=f"You put {low} in place of minus infinity. Other documents may be less likely than "
        "that; leave it, its exponential is 0 and adds nothing.",
    )

QUESTION.mistake(
    "logs kept above −100",
    old="shares + logs",
    new="shares + logs.clamp(min=-100)",
    hint="You raise what is below −100. Answers of many tokens are that unlikely, and the reader "
    "has to learn from them too.",
)

QUESTION.mistake(
    "impossible documents out of the softmax",
    old="relevance.log",
    new="relevance.masked_fill(logs == -torch.inf, -torch.inf).log",
    hint="You take documents without the answer out of the softmax, and so the others get their "
    "share. Whoever retrieves does not know the answer: they keep the share they have, and the "
    "retriever learns to give them less.",
)

QUESTION.mistake(
    "nan to zero",
    old="shares + logs",
    new="shares + logs.nan_to_num(neginf=0.0)",
    hint="You put 0 in place of minus infinity. The logarithm 0 is certainty; where the answer is "
    "impossible the probability is 0, not the logarithm.",
)

QUESTION.mistake(
    "a plain number",
    old="dim=-1).mean()",
    new="dim=-1).mean().item()",
    hint="You return a plain number, which has no gradient. Leave it a tensor.",
)

QUESTION.mistake(
    "written into the logs",
    old="shares + logs",
    new="logs.add_(shares)",
    hint="You write into `logs`: what ends in an underscore, and += too, changes what you were "
    "given, and torch cannot go backwards through a leaf that was changed.",
)

QUESTION.mistake(
    "written into the logs' data",
    old="joint = shares + logs",
    new="joint = shares + logs\n    logs.data.add_(shares)",
    hint="The number is right, but `logs` is no longer what you were given. Make a new tensor.",
)

QUESTION.mistake(
    "in single precision",
    old="dim=-1).mean()",
    new="dim=-1).mean().float()",
    hint="Your loss is float32, whatever the dtype of what you were given.",
)
