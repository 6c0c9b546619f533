"""Does a head look where grammar says, and more often than one who only counts places?"""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def relation_accuracy(weights, pairs, words):
    """weights (B, H, T, T), pairs (B, 2), words (B, T) -> shares (H,), offset, its share."""
    sentence, (start, goal) = torch.arange(len(pairs)), pairs.T  # (B,) each
    others = words.clone()  # (B, T)
    others[sentence, start] = False
    rows = weights[sentence, :, start].masked_fill(~others[:, None], -1.0)  # (B, H, T)
    hits = rows.argmax(dim=-1) == goal[:, None]  # (B, H)
    offsets = (goal - start).tolist()
    offset = max(set(offsets), key=offsets.count)
    return hits.float().mean(dim=0), offset, offsets.count(offset) / len(offsets)


QUESTION = Question(
    name="relation_accuracy",
    title="Does it look where grammar says?",
    points=5,
    difficulty=3,
    minutes=35,
    page="bert.html#sec-bert-looks",
    hint="Take one sentence first: weights[b, h, i] are the weights with which place i looks, and "
    "the largest of them, after those that do not count have been put out of the race, must be at "
    "j. The share of right ones over the sentences is a mean over b. For the offset make a list "
    "of all j - i and count.",
    reference=relation_accuracy,
    forbidden=("coursekit",),
)


def _sentences(lengths: list[int]) -> Tensor:
    """True at the words: [CLS] stands before them, [SEP] and padding behind, (B, T)."""
    place = torch.arange(max(lengths) + 2)
    return (place >= 1) & (place <= torch.tensor(lengths)[:, None])


def _looks(pairs: list[tuple[int, int]], lengths: list[int], heads: int, seed: int) -> Tensor:
    """Weights (B, H, T, T) of heads that look at [SEP] and themselves, and some where they should.

    Head 0 often looks from the first to the second of a pair, head 1 back from the second; what
    one place sees most is often not what sees it most.
    """
    words = _sentences(lengths)
    T = words.shape[1]
    scores = 1.5 * randn(len(pairs), heads, T, T, seed=seed)
    for b, ((i, j), length) in enumerate(zip(pairs, lengths)):
        scores[b, :, :, length + 1] += 3.0 * (b % 3 == 0)  # [SEP]
        scores[b, :, i, i] += 4.0 * (b % 3 == 1)
        scores[b, 0, i, j] += 3.0
        if heads > 1:
            scores[b, 1, j, i] += 4.0
        scores[b, :, :, length + 2 :] = -torch.inf
    return scores.softmax(dim=-1)


@QUESTION.visible(says="one sentence of three words, two heads")
def three_words(student):
    weights = torch.tensor(
        [
            [[0.6, 0.1, 0.1, 0.1, 0.1], [0.1, 0.2, 0.1, 0.2, 0.4], [0.1, 0.2, 0.3, 0.2, 0.2]],
            [[0.2, 0.3, 0.3, 0.1, 0.1], [0.1, 0.3, 0.4, 0.1, 0.1], [0.3, 0.3, 0.2, 0.1, 0.1]],
        ]
    )
    rest = torch.tensor([[0.1, 0.5, 0.1, 0.2, 0.1], [0.2, 0.2, 0.2, 0.2, 0.2]]).expand(2, 2, 5)
    weights = torch.cat([weights, rest], dim=1)[None]  # (1, 2, 5, 5)
    return student.relation_accuracy(weights, torch.tensor([[1, 3]]), _sentences([3]))


@QUESTION.visible(says="six sentences of several lengths, three heads")
def six_sentences(student):
    pairs, lengths = [(4, 2), (5, 3), (2, 5), (6, 4), (1, 2), (3, 6)], [5, 7, 6, 6, 4, 8]
    weights = _looks(pairs, lengths, heads=3, seed=1)
    return student.relation_accuracy(weights, torch.tensor(pairs), _sentences(lengths))


@QUESTION.visible(says="nine sentences, most of them one word to the right", weight=2)
def to_the_right(student):
    pairs = [(1, 2), (3, 4), (2, 3), (5, 4), (4, 3), (6, 7), (7, 2), (5, 6), (1, 6)]
    lengths = [7, 8, 7, 9, 7, 8, 7, 7, 8]
    weights = _looks(pairs, lengths, heads=4, seed=2)
    return student.relation_accuracy(weights, torch.tensor(pairs), _sentences(lengths))


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    pairs, lengths = [(2, 1), (3, 1), (4, 3)], [3, 5, 4]
    weights = _looks(pairs, lengths, heads=2, seed=3)
    return after(student.relation_accuracy, weights, torch.tensor(pairs), _sentences(lengths))


QUESTION.mistake(
    "argmax over queries",
    old="weights[sentence, :, start]",
    new="weights[sentence, :, :, start]",
    hint="You look down a column: who looks at this word? The question is where this word looks. "
    "weights[b, h, i] is the row of place i, and sums to 1.",
)

QUESTION.mistake(
    "direction reversed",
    old="(start, goal) = torch.arange(len(pairs)), pairs.T",
    new="(goal, start) = torch.arange(len(pairs)), pairs.T",
    hint="You start at the second place of a pair and look for the first. The direction is from "
    "pairs[b, 0] to pairs[b, 1].",
)


@QUESTION.mistake(
    "rows reversed",
    hint="Your offset is right, but the heads are asked the other way round: the row is that of "
    "pairs[b, 0], and pairs[b, 1] should be found in it.",
)
def rows_reversed(weights, pairs, words):
    sentence, (goal, start) = torch.arange(len(pairs)), pairs.T
    others = words.clone()
    others[sentence, start] = False
    rows = weights[sentence, :, start].masked_fill(~others[:, None], -1.0)
    hits = rows.argmax(dim=-1) == goal[:, None]
    offsets = (start - goal).tolist()
    offset = max(set(offsets), key=offsets.count)
    return hits.float().mean(dim=0), offset, offsets.count(offset) / len(offsets)


QUESTION.mistake(
    "[SEP] counted",
    old="words.clone()",
    new="torch.ones_like(words)",
    hint="Your heads may look at [CLS] and [SEP] too, and there heads often look when they have "
    "nothing to say. Only places where `words` is True count.",
)

QUESTION.mistake(
    "the word itself counted",
    old="    others[sentence, start] = False\n",
    new="",
    hint="In yours a word may be its own answer. It is no relation to look at oneself: leave place "
    "i out too.",
)

QUESTION.mistake(
    "everything counted",
    old=".masked_fill(~others[:, None], -1.0)",
    new="",
    hint="You take the largest weight of the whole row. The special places and the word itself do "
    "not count: what is the largest among the others?",
)

QUESTION.mistake(
    "weights for hits",
    old="hits = rows.argmax(dim=-1) == goal[:, None]",
    new="hits = rows[sentence, :, goal]",
    hint="You average the weight at the right word. It is hits that count, right or wrong: is the "
    "right word the one with the largest weight?",
)

QUESTION.mistake(
    "heads and sentences exchanged",
    old="mean(dim=0)",
    new="mean(dim=1)",
    hint="You take the mean over the heads, one number for each sentence. It is over the "
    "sentences, one number for each head.",
)

QUESTION.mistake(
    "the best head alone",
    old="mean(dim=0), offset",
    new="mean(dim=0).max(), offset",
    hint="You return the best head's share. All heads are asked for, (H,).",
)

QUESTION.mistake(
    "counts for shares",
    old="hits.float().mean(dim=0)",
    new="hits.float().sum(dim=0)",
    hint="You count the hits. Their share is asked for: divide by the number of sentences.",
)

for others, chance in {
    "the other words": "(1 / others.sum(dim=-1)).mean().item()",
    "all words": "(1 / words.sum(dim=-1)).mean().item()",
    "the other places": "1 / (words.shape[-1] - 1)",
    "all places": "1 / words.shape[-1]",
}.items():
    QUESTION.mistake(
        f"chance, a guess among {others}",
        old="offsets.count(offset) / len(offsets)",
        new=chance,
        hint=f"Your baseline is a guess among {others}. One who always points the same number of "
        "places away does far better, without any grammar: that is the one to beat.",
    )

QUESTION.mistake(
    "the offset's sign",
    old="goal - start",
    new="start - goal",
    hint="Your offset has the wrong sign. It is the place looked at minus the place that looks: "
    "+1 is the next word.",
)

QUESTION.mistake(
    "the offset without its sign",
    old="(goal - start)",
    new="(goal - start).abs()",
    hint="You count distances to the left and to the right as one. A fixed offset points one way: "
    "two to the left is -2.",
)

QUESTION.mistake(
    "the mean offset",
    old="max(set(offsets), key=offsets.count)",
    new="round(sum(offsets) / len(offsets))",
    hint="You take the mean of the offsets, which may be right for no sentence at all. The one "
    "that is right most often is asked for.",
)

QUESTION.mistake(
    "the median offset",
    old="max(set(offsets), key=offsets.count)",
    new="sorted(offsets)[len(offsets) // 2]",
    hint="You take the median of the offsets. The one that is right most often is asked for.",
)

QUESTION.mistake(
    "written into the weights",
    old="rows = weights",
    new="weights.masked_fill_(~words[:, None, None], 0.0)\n    rows = weights",
    hint="The numbers are right, but you have written into `weights`. Work on a copy: clone, or "
    "masked_fill without the underscore.",
)

QUESTION.mistake(
    "written into a row",
    old="rows = weights",
    new="for b, i in enumerate(start.tolist()):\n"
    "        weights[b, :, i, ~others[b]] = 0.0\n"
    "    rows = weights",
    hint="The numbers are right, but `weights` has changed: a row that you take out of it by plain "
    "indices is a view, and what you write into it stands in `weights`. Clone it first.",
)

QUESTION.mistake(
    "written into the words",
    old="words.clone()",
    new="words",
    hint="The numbers are right, but you have written into `words`: the words of the pairs are no "
    "words any more for whoever comes next. Clone it first.",
)

QUESTION.mistake(
    "in percent",
    old="hits.float().mean(dim=0), offset, offsets.count(offset) / len(offsets)",
    new="100 * hits.float().mean(dim=0), offset, 100 * offsets.count(offset) / len(offsets)",
    hint="Your shares are in percent. They lie between 0 and 1.",
)

QUESTION.mistake(
    "written into the diagonal",
    old="rows = weights",
    new="weights.diagonal(dim1=-2, dim2=-1).zero_()\n    rows = weights",
    hint="The numbers are right, but the diagonal of `weights` is 0 now for everybody. Clone it "
    "before you write.",
)
