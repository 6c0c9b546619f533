"""From the scores of all tokens to the shares that the next one is drawn by."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def next_token(logits, temperature=1.0, top_k=None, top_p=1.0):
    """logits (B, V) -> the probability of each token to be the next, (B, V)."""
    ranked, order = (logits / temperature).sort(dim=-1, descending=True)  # (B, V)
    if top_k is not None:
        ranked[:, top_k:] = -torch.inf
    shares = ranked.softmax(dim=-1)  # (B, V)
    before = torch.zeros_like(shares)
    before[:, 1:] = shares.cumsum(dim=-1)[:, :-1]  # what the likelier ones have together
    kept = shares * ((before < top_p) | (top_p == 1.0))
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, order, kept)


QUESTION = Question(
    name="next_token",
    title="The shares of the next token",
    points=4,
    difficulty=2,
    minutes=30,
    page="gpt.html#sec-gpt-sampling",
    hint="Three steps, one after the other, and print the shares after each. Sorting helps: in a "
    "row that falls, top-k keeps the beginning, and so does top-p. For the latter ask of each "
    "token what the likelier ones have together, itself not counted. What is sorted has to go "
    "back to its own place at the end.",
    reference=next_token,
    forbidden=("coursekit",),
)


def _known(*rows: list[float]) -> Tensor:
    """Logits whose softmax gives these shares."""
    return torch.tensor(rows, dtype=torch.float64).log().float() + 1.5


def _drawn(rows: int, words: int, seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return 2 * randn(rows, words, seed=seed, dtype=dtype)


@QUESTION.visible(says="the temperature alone: 0.5, 1 and 2")
def temperature_alone(student):
    return [student.next_token(_drawn(2, 5, seed=1), temperature=one) for one in (0.5, 1.0, 2.0)]


@QUESTION.visible(says="top-k alone: 1, 2, as many as there are, and more")
def top_k_alone(student):
    return [student.next_token(_drawn(3, 6, seed=2), top_k=k) for k in (1, 2, 6, 9)]


@QUESTION.visible(says="top-p alone: a nucleus of one, of some, of nearly all")
def top_p_alone(student):
    shares = [0.05, 0.45, 0.08, 0.3, 0.12]
    return [student.next_token(_known(shares), top_p=p) for p in (0.2, 0.7, 0.8, 0.97)]


@QUESTION.visible(says="rows with nuclei of several sizes")
def several_nuclei(student):
    rows = [0.01, 0.95, 0.01, 0.03], [0.28, 0.24, 0.22, 0.26], [0.6, 0.05, 0.25, 0.1]
    return student.next_token(_known(*rows), top_p=0.7)


@QUESTION.visible(says="all three at once", weight=2)
def all_three(student):
    given = _drawn(3, 9, seed=5)
    return [
        student.next_token(given.clone(), 0.7, 4, 0.9),
        student.next_token(given.clone(), 1.6, 5, 0.8),
        student.next_token(_known([0.4, 0.3, 0.2, 0.06, 0.04]), 1.0, 2, 0.5),
        student.next_token(_known([0.3, 0.26, 0.24, 0.12, 0.08]), 1.0, 3, 0.68),
    ]


@QUESTION.visible(says="what was given stays as it was; double precision", tolerance=1e-9)
def what_was_given_stays(student):
    return after(student.next_token, _drawn(2, 7, seed=6, dtype=torch.float64), 0.8, 5, 0.85)


SORT = "(logits / temperature).sort(dim=-1, descending=True)"
CUT = "ranked[:, top_k:] = -torch.inf"
KEPT = "(before < top_p) | (top_p == 1.0)"
TOP_K = f"    if top_k is not None:\n        {CUT}\n"
NORM = "    kept = kept / kept.sum(dim=-1, keepdim=True)\n"
LAST = "return torch.zeros_like(kept).scatter(-1, order, kept)"

QUESTION.mistake(
    "temperature after the softmax",
    old=SORT,
    new="(logits.softmax(dim=-1) / temperature).sort(dim=-1, descending=True)",
    hint="You divide the shares by the temperature, and take a softmax of them again. It divides "
    "the logits: a ratio of shares becomes a power of itself.",
)

QUESTION.mistake(
    "shares divided by the temperature",
    old="(logits / temperature).sort(dim=-1, descending=True)  # (B, V)",
    new="logits.sort(dim=-1, descending=True)",
    hint="Your temperature has no effect: it is left out, or it divides the shares, and making "
    "them sum to 1 undoes that. It divides the logits, before the softmax.",
)

QUESTION.mistake(
    "multiplied by the temperature",
    old="logits / temperature",
    new="logits * temperature",
    hint="You multiply by the temperature, so a high one sharpens. Hot is wild: it divides.",
)

QUESTION.mistake(
    "temperature last",
    old="    ranked, order = (logits",
    new="    if temperature != 1.0:\n"
    "        kept = next_token(logits, 1.0, top_k, top_p)\n"
    "        return (kept.log() / temperature).softmax(dim=-1)\n"
    "    ranked, order = (logits",
    hint="You cut with the shares as they are at temperature 1, and apply the temperature to what "
    "is left. It comes first: at a high temperature the nucleus holds more tokens.",
)

QUESTION.mistake(
    "top-k after top-p",
    old="    ranked, order = (logits",
    new="    if top_k is not None and top_p < 1.0:\n"
    "        logits, temperature = next_token(logits, temperature, None, top_p).log(), 1.0\n"
    "        top_p = 1.0\n"
    "    ranked, order = (logits",
    hint="You measure top-p by the shares of the whole vocabulary. First top-k cuts, and what is "
    "left sums to 1 again; only then is the nucleus taken, of these shares.",
)

QUESTION.mistake(
    "either of the two",
    old="    ranked, order = (logits",
    new="    top_p = 1.0 if top_k is not None else top_p\n    ranked, order = (logits",
    hint="With a top_k you leave top_p out. Both are applied, top-k first.",
)

QUESTION.mistake(
    "the crossing token left out",
    old=KEPT,
    new="(shares.cumsum(dim=-1) <= top_p) | (top_p == 1.0) | (before == 0)",
    hint="Your nucleus stops before it has reached top_p. The token that crosses the line is in: "
    "together they have top_p or more.",
)

QUESTION.mistake(
    "the crossing token left out, even the first",
    old=KEPT,
    new="(shares.cumsum(dim=-1) <= top_p) | (top_p == 1.0)",
    hint="Your nucleus stops before it has reached top_p, and where the first token alone has more "
    "than that nothing is left: 0 divided by 0. The token that crosses the line is in.",
)

QUESTION.mistake(
    "one token too many",
    old="before[:, 1:] = shares.cumsum(dim=-1)[:, :-1]",
    new="before[:, 2:] = shares.cumsum(dim=-1)[:, :-2]",
    hint="Your nucleus has one token too many. It is the smallest set that reaches top_p: behind "
    "the token that crosses the line it ends.",
)

QUESTION.mistake(
    "not renormalised",
    old=NORM,
    new="",
    hint="After top-p your shares sum to less than 1. Divide what is left by its sum.",
)

QUESTION.mistake(
    "not renormalised anywhere",
    old=NORM,
    new="    kept = (logits / temperature).softmax(dim=-1).gather(-1, order)\n"
    "    kept = kept * (ranked > -torch.inf)\n"
    "    before = kept.cumsum(dim=-1) - kept\n"
    "    kept = kept * ((before < top_p) | (top_p == 1.0))\n",
    hint="You set shares to 0 and leave the others as they are, so a row no longer sums to 1. What "
    "is left has to be divided by its sum, after top-k and after top-p.",
)

QUESTION.mistake(
    "zero for minus infinity",
    old=CUT,
    new="ranked[:, top_k:] = 0.0",
    hint="What top-k cuts off has the logit 0 in yours, and e⁰ is a share like others. Minus "
    "infinity has none.",
)

QUESTION.mistake(
    "top-k of the shares as logits",
    old=CUT,
    new="ranked = ranked.softmax(dim=-1)\n        ranked[:, top_k:] = 0.0",
    hint="You cut the shares with top-k and take a softmax of them once more. A softmax wants "
    "logits; shares are divided by their sum.",
)

QUESTION.mistake(
    "the least likely",
    old=", descending=True",
    new="",
    hint="You keep the tokens with the smallest logits. Sort from the largest to the smallest.",
)

QUESTION.mistake(
    "left in sorted order",
    old=LAST,
    new="return kept",
    hint="Your shares are sorted. The share of token n belongs to place n of the row.",
)

QUESTION.mistake(
    "gathered for scattered",
    old=LAST,
    new="return kept.gather(-1, order)",
    hint="The shares are right, but not at their places: order[i] says which token the i-th of the "
    "sorted row is, so the i-th share goes to place order[i]. Taking it from there is the way back "
    "to front.",
)

QUESTION.mistake(
    "a threshold",
    old=KEPT,
    new="(shares >= top_p) | (top_p == 1.0)",
    hint="You keep the tokens that have a share of top_p each. It is what the kept ones have "
    "together.",
)

QUESTION.mistake(
    "a share of the likeliest",
    old=KEPT,
    new="(shares >= top_p * shares[:, :1]) | (top_p == 1.0)",
    hint="You keep what has at least top_p times the share of the likeliest. That is another rule "
    "(min-p); here the sum of those that are kept decides.",
)

QUESTION.mistake(
    "top_p as what is cut",
    old="before < top_p)",
    new="before < 1 - top_p)",
    hint="Your nucleus has 1 − top_p together. With top_p = 0.9 it is nine tenths that stay.",
)

QUESTION.mistake(
    "one more than k",
    old=CUT,
    new="ranked[:, top_k + 1 :] = -torch.inf",
    hint="You keep one token more than top_k.",
)

QUESTION.mistake(
    "k above the vocabulary",
    old=CUT,
    new="ranked.topk(top_k, dim=-1)\n        ranked[:, top_k:] = -torch.inf",
    hint="Where top_k is larger than the vocabulary yours raises an error. Then all tokens stay.",
)

QUESTION.mistake(
    "the first row's bound for all",
    old=CUT,
    new="ranked = ranked.masked_fill(ranked < ranked[0, :top_k][-1], -torch.inf)",
    hint="The k-th logit of one row is the bound for all of your rows. Each row has its own.",
)

QUESTION.mistake(
    "the largest of the whole batch",
    old=CUT,
    new="least = ranked.flatten().sort(descending=True).values[:top_k][-1]\n"
    "        ranked = ranked.masked_fill(ranked < least, -torch.inf)",
    hint="You keep the k largest logits of the whole batch. Each row keeps k of its own.",
)

QUESTION.mistake(
    "the first row's nucleus for all",
    old="(before < top_p)",
    new="(before < top_p)[:1]",
    hint="All your rows keep as many tokens as the first. Each row has a nucleus of its own size.",
)

QUESTION.mistake(
    "a softmax down the batch",
    old="ranked.softmax(dim=-1)",
    new="ranked.softmax(dim=0)",
    hint="Your softmax runs down the batch. The tokens of a row are what is chosen from: the last "
    "axis.",
)

QUESTION.mistake(
    "logarithms",
    old=LAST,
    new="return torch.zeros_like(kept).scatter(-1, order, kept).log()",
    hint="You return logarithms of the shares. The shares themselves are asked for.",
)

QUESTION.mistake(
    "scores",
    old=LAST,
    new="scores = ranked.masked_fill(kept == 0, -torch.inf)\n"
    "    return scores.scatter(-1, order, scores)",
    hint="You return scores, minus infinity where a token is cut off. Shares are asked for.",
)

QUESTION.mistake(
    "the likeliest token",
    old=LAST,
    new="return logits.argmax(dim=-1)",
    hint="You return one token for each row. The shares of all tokens are asked for; nothing is "
    "chosen yet.",
)

QUESTION.mistake(
    "a token drawn",
    old=LAST,
    new="return order.gather(1, torch.multinomial(kept, 1))[:, 0]",
    hint="You draw a token for each row. The shares by which it would be drawn are asked for.",
)

QUESTION.mistake(
    "divided in place",
    old="ranked, order = (logits / temperature)",
    new="logits /= temperature\n    ranked, order = logits",
    hint="The shares are right, but the logits that you were given have changed: `/=` divides them "
    "where they lie.",
)

QUESTION.mistake(
    "cut in place",
    old=LAST,
    new="found = torch.zeros_like(kept).scatter(-1, order, kept)\n"
    "    logits[found == 0] = -torch.inf\n    return found",
    hint="The shares are right, but there are minus infinities in the logits that you were given. "
    "Write into a copy.",
)

QUESTION.mistake(
    "in single precision",
    old=LAST,
    new="return torch.zeros_like(kept).scatter(-1, order, kept).float()",
    hint="Your shares are float32, whatever the dtype of the logits.",
)

QUESTION.mistake(
    "no top-p",
    old=KEPT,
    new="before >= 0",
    hint="Your top_p has no effect.",
)

QUESTION.mistake(
    "no top-k",
    old=TOP_K,
    new="",
    hint="Your top_k has no effect.",
)

QUESTION.mistake(
    "top-k a share of the vocabulary",
    old=CUT,
    new="ranked[:, max(ranked.shape[1] - top_k, 1) :] = -torch.inf",
    hint="You leave k tokens out. It is k tokens that stay.",
)
