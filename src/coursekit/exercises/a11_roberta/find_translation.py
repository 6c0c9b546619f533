"""Do two languages meet? Each sentence looks for its translation among all of the other's."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def find_translation(first, keep_first, second, keep_second):
    """first (N, T, D), second (N, S, D), each with its keep -> there (N,), back (N,), two shares"""
    vectors = []
    for hidden, keep in ((first, keep_first), (second, keep_second)):
        total = hidden.masked_fill(~keep[..., None], 0.0).sum(dim=1)  # (N, D)
        vectors.append(F.normalize(total / keep.sum(dim=1)[:, None], dim=-1))
    cosines = vectors[0] @ vectors[1].T  # (N, N)
    there, back = cosines.argmax(dim=1), cosines.argmax(dim=0)  # (N,) each
    right = [(found == torch.arange(len(found))).float().mean().item() for found in (there, back)]
    return there, back, *right


QUESTION = Question(
    name="find_translation",
    title="Which verse is this one's translation?",
    points=5,
    difficulty=3,
    minutes=35,
    page="roberta.html#sec-roberta-aligned",
    hint="First a vector for each sentence: set the states at padding to 0 (masked_fill; a "
    "product would keep nan), sum over the tokens, divide by how many are real. Then length 1. "
    "The product of the one table with the other, turned, has a row for each sentence of the "
    "first language and a column for each of the second. A right one lies on its diagonal.",
    reference=find_translation,
    forbidden=("coursekit",),
)


def _keep(*lengths: int) -> Tensor:
    """True at the tokens of sentences that have these lengths, (N, longest + 1)."""
    return torch.arange(max(lengths) + 1) < torch.tensor(lengths)[:, None]


def _states(keep: Tensor, width: int, seed: int, noise: float) -> Tensor:
    """States of sentences that share a meaning, each loud or soft, with large ones at padding."""
    N, T = keep.shape
    meaning = randn(N, 1, width, seed=77) + 0.8 * randn(1, 1, width, seed=78)
    states = meaning + noise * randn(N, T, width, seed=seed)
    states[:, 0] = 2 * randn(N, width, seed=seed + 1)  # [CLS] knows nothing of the meaning
    states = states * (0.2 + 3 * randn(N, 1, 1, seed=seed + 2).abs())
    return torch.where(keep[..., None], states, 20 * randn(N, T, width, seed=seed + 3))


def _verses(width: int, *lengths: int, seed: int, noise: float = 1.0) -> tuple[Tensor, ...]:
    """N sentences in two languages; those of the second have other lengths, and nearly as many."""
    keeps = _keep(*lengths), _keep(*[length % 5 + 4 for length in lengths])
    states = [_states(keep, width, seed + 10 * n, noise) for n, keep in enumerate(keeps)]
    return states[0], keeps[0], states[1], keeps[1]


@QUESTION.visible(says="three verses")
def three_verses(student):
    return student.find_translation(*_verses(4, 3, 5, 4, seed=1))


@QUESTION.visible(says="eight verses, much padding", weight=2)
def eight_verses(student):
    return student.find_translation(*_verses(6, 9, 3, 6, 12, 4, 5, 7, 3, seed=2, noise=2.0))


@QUESTION.visible(says="twelve verses, and the same in the other order", weight=2)
def twelve_verses(student):
    a, keep_a, b, keep_b = _verses(8, *[4, 9, 5, 6] * 3, seed=3, noise=3.0)
    one = student.find_translation(a.clone(), keep_a.clone(), b.clone(), keep_b.clone())
    return one, student.find_translation(b, keep_b, a, keep_a)


@QUESTION.visible(says="nan at padding")
def nan_at_padding(student):
    a, keep_a, b, keep_b = _verses(5, 4, 7, 5, 6, seed=4, noise=1.5)
    a = a.masked_fill(~keep_a[..., None], torch.nan)
    b = b.masked_fill(~keep_b[..., None], torch.nan)
    return student.find_translation(a, keep_a, b, keep_b)


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    return after(student.find_translation, *_verses(5, 4, 3, 6, 5, seed=5, noise=2.0))


QUESTION.mistake(
    "not normalised",
    old="F.normalize(total / keep.sum(dim=1)[:, None], dim=-1)",
    new="total / keep.sum(dim=1)[:, None]",
    hint="Your vectors keep their lengths, and so a long one is near to everybody. The cosine "
    "compares directions: bring each vector to length 1 first.",
)

QUESTION.mistake(
    "sums, not normalised",
    old="F.normalize(total / keep.sum(dim=1)[:, None], dim=-1)",
    new="total",
    hint="You sum the states and compare the sums as they are: long sentences and loud ones are "
    "near to everybody. The cosine compares directions, so bring each vector to length 1.",
)

for side, way in (("first", "back"), ("second", "there")):
    QUESTION.mistake(
        f"the {side} not normalised",
        old="F.normalize(total / keep.sum(dim=1)[:, None], dim=-1)",
        new=f"total if hidden is {side} else F.normalize(total, dim=-1)",
        hint=f"The vectors of the {side} language keep their lengths in yours. The search in the "
        f"other language does not notice, but `{way}` does: it compares them with one another.",
    )

QUESTION.mistake(
    "normalised across the sentences",
    old="[:, None], dim=-1)",
    new="[:, None], dim=0)",
    hint="You normalise down the columns, each number across all sentences. The length of a "
    "sentence's own vector has to be 1: along the last axis.",
)

QUESTION.mistake(
    "tokens normalised, not sentences",
    old="hidden.masked_fill(~keep[..., None], 0.0).sum(dim=1)  # (N, D)\n"
    "        vectors.append(F.normalize(total / keep.sum(dim=1)[:, None], dim=-1))",
    new="F.normalize(hidden, dim=-1).masked_fill(~keep[..., None], 0.0).sum(dim=1)\n"
    "        vectors.append(total / keep.sum(dim=1)[:, None])",
    hint="You bring each token to length 1 and then take the mean, whose length is no longer 1. "
    "First the mean, then its length.",
)

QUESTION.mistake(
    "tokens normalised first",
    old="hidden.masked_fill(",
    new="F.normalize(hidden, dim=-1).masked_fill(",
    hint="You bring each token to length 1 before the mean as well. The mean is of the states as "
    "they are; only it is normalised.",
)

QUESTION.mistake(
    "axes exchanged",
    old="cosines.argmax(dim=1), cosines.argmax(dim=0)",
    new="cosines.argmax(dim=0), cosines.argmax(dim=1)",
    hint="`there` and `back` have changed places. For each sentence of the first language look "
    "along its row, over those of the second.",
)

QUESTION.mistake(
    "one direction only",
    old="cosines.argmax(dim=1), cosines.argmax(dim=0)",
    new="cosines.argmax(dim=1), cosines.argmax(dim=1)",
    hint="You search from the first language to the second, and return that twice. Back is a "
    "search of its own: the nearest of A's neighbours need not have A for its nearest.",
)

QUESTION.mistake(
    "one direction, turned round",
    old="cosines.argmax(dim=1), cosines.argmax(dim=0)",
    new="cosines.argmax(dim=1), cosines.argmax(dim=1).argsort()",
    hint="Your way back is the way there, turned round. It is a search of its own: several "
    "sentences may have the same nearest one.",
)

QUESTION.mistake(
    "[CLS] for the mean",
    old="hidden.masked_fill(~keep[..., None], 0.0).sum(dim=1)",
    new="hidden[:, 0]",
    hint="You take the state of [CLS] for the sentence. Nobody has taught it to stand for one; the "
    "mean over all real tokens is asked for.",
)

QUESTION.mistake(
    "[CLS] left out",
    old="hidden.masked_fill(~keep[..., None], 0.0).sum(dim=1)",
    new="hidden.masked_fill(~keep[..., None], 0.0)[:, 1:].sum(dim=1)",
    hint="You leave the first token out of the mean. Every token counts where `keep` is True.",
)

QUESTION.mistake(
    "[CLS] and [SEP] left out",
    old="hidden.masked_fill(~keep[..., None], 0.0).sum(dim=1)",
    new="torch.stack([h[k][1:-1].sum(dim=0) for h, k in zip(hidden, keep)])",
    hint="You leave the first and the last token out of the mean. Every token counts where `keep` "
    "is True.",
)

QUESTION.mistake(
    "padding in the mean",
    old="hidden.masked_fill(~keep[..., None], 0.0).sum(dim=1)",
    new="hidden.sum(dim=1)",
    hint="You take the mean over padding as well. Whatever stands there is no word: only places "
    "where `keep` is True count.",
)

QUESTION.mistake(
    "padding alone",
    old="~keep[..., None], 0.0",
    new="keep[..., None], 0.0",
    hint="You take the mean over the padding, and leave the words out. True in `keep` is a real "
    "token.",
)

QUESTION.mistake(
    "nan times zero",
    old="hidden.masked_fill(~keep[..., None], 0.0).sum(dim=1)",
    new="(hidden * keep[..., None]).sum(dim=1)",
    hint="You multiply by `keep`, and nan times 0 is nan. What stands at padding may be anything: "
    "put a 0 there with masked_fill or torch.where, or pick the real tokens out.",
)

QUESTION.mistake(
    "the largest for the mean",
    old="hidden.masked_fill(~keep[..., None], 0.0).sum(dim=1)  # (N, D)",
    new="hidden.masked_fill(~keep[..., None], -torch.inf).amax(dim=1)",
    hint="You take the largest of each number over the tokens. The mean over the real tokens is "
    "asked for.",
)

QUESTION.mistake(
    "the last token for the mean",
    old="hidden.masked_fill(~keep[..., None], 0.0).sum(dim=1)  # (N, D)",
    new="hidden[torch.arange(len(keep)), keep.sum(dim=1) - 1]",
    hint="You take the state of the last real token, [SEP]. The mean over all real tokens is asked "
    "for.",
)

QUESTION.mistake(
    "cosines for places",
    old="return there, back",
    new="there, back = cosines.amax(dim=1), cosines.amax(dim=0)\n    return there, back",
    hint="You return how near the nearest one is. Which one it is was asked for: its number, as "
    "argmax gives it.",
)

QUESTION.mistake(
    "each taken once",
    old="    right = ",
    new="    left, place = cosines.clone(), len(cosines)\n"
    "    for _ in range(place):\n"
    "        i, j = divmod(int(left.argmax()), place)\n"
    "        there[i], back[j] = j, i\n"
    "        left[i], left[:, j] = -torch.inf, -torch.inf\n"
    "    right = ",
    hint="In yours a sentence that has been found is gone for all others. Each looks for its "
    "nearest by itself; several may find the same one.",
)

QUESTION.mistake(
    "farthest",
    old="cosines.argmax(dim=1), cosines.argmax(dim=0)",
    new="cosines.argmin(dim=1), cosines.argmin(dim=0)",
    hint="You look for the smallest cosine, as for a distance. The nearest has the largest.",
)

QUESTION.mistake(
    "distances, not normalised",
    old="F.normalize(total / keep.sum(dim=1)[:, None], dim=-1))\n"
    "    cosines = vectors[0] @ vectors[1].T",
    new="total / keep.sum(dim=1)[:, None])\n    cosines = -torch.cdist(*vectors)",
    hint="You compare distances of vectors of all lengths. Soft sentences are then near to "
    "everybody; the cosine compares directions alone.",
)

QUESTION.mistake(
    "the sign lost",
    old="cosines = vectors[0] @ vectors[1].T",
    new="cosines = (vectors[0] @ vectors[1].T).abs()",
    hint="You drop the sign of the cosine. Two vectors in opposite directions are far apart, not "
    "near.",
)

QUESTION.mistake(
    "the same number left out",
    old="vectors[0] @ vectors[1].T  # (N, N)",
    new="(vectors[0] @ vectors[1].T).fill_diagonal_(-torch.inf)",
    hint="You leave the diagonal out, as if a sentence must not find itself. These are two "
    "languages, and the diagonal holds the translations.",
)

QUESTION.mistake(
    "searched at home",
    old="vectors[0] @ vectors[1].T",
    new="vectors[0] @ vectors[0].T",
    hint="You compare the first language with itself, where each sentence finds itself. It has to "
    "search among the sentences of the other.",
)

QUESTION.mistake(
    "one share for both",
    old="return there, back, *right",
    new="return there, back, sum(right) / 2, sum(right) / 2",
    hint="Your two shares are one: you average both directions. They may differ a good deal, and "
    "that says something: return each.",
)

QUESTION.mistake(
    "right both ways",
    old="(found == torch.arange(len(found))).float().mean().item() for found in (there, back)",
    new="((there == back) & (back == torch.arange(len(back)))).float().mean().item() for _ in "
    "(there, back)",
    hint="You count the sentences that are found in both directions. Each direction has its own "
    "share.",
)

QUESTION.mistake(
    "agreement for truth",
    old="(found == torch.arange(len(found)))",
    new="(there[back] == torch.arange(len(found)))",
    hint="You count the pairs that choose each other. They may agree and both be wrong: right is "
    "what has the same number in both languages.",
)

QUESTION.mistake(
    "counts for shares",
    old=".float().mean().item()",
    new=".float().sum().item()",
    hint="You count the right ones. Their share is asked for: divide by the number of sentences.",
)

QUESTION.mistake(
    "in percent",
    old="return there, back, *right",
    new="return there, back, *(100 * share for share in right)",
    hint="Your shares are in percent. They lie between 0 and 1.",
)

QUESTION.mistake(
    "shares as tensors",
    old=".mean().item()",
    new=".mean()",
    hint="Your shares are tensors. They should be plain numbers: .item() makes one.",
)

QUESTION.mistake(
    "padding written over",
    old="    vectors = []",
    new="    first[~keep_first], second[~keep_second] = 0.0, 0.0\n    vectors = []",
    hint="The results are right, but you have written zeros into the states that you were given. "
    "Work on a copy: masked_fill without the underscore makes one.",
)
