"""Does a head look where grammar says, and more often than one who only counts places?"""

from __future__ import annotations

import torch

from coursekit.check.probe import Chance, after, randn
from coursetools.questions import hidden, visible

from .shared import between


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


def spoken(lengths):
    """Return where the words are: [CLS] before them, [SEP] and padding behind."""
    return between([1] * len(lengths), lengths, max(lengths) + 3)


def looked(pairs, lengths, heads, seed, dtype=torch.float32):
    """Return weights of heads that like [SEP] and themselves; some know the relation."""
    size = max(lengths) + 3
    scores = 1.5 * randn(len(pairs), heads, size, size, seed=seed, dtype=dtype)
    for n, ((i, j), size) in enumerate(zip(pairs, lengths)):
        scores[n, :, :, size + 1] += 2.5
        scores[n, :, i, i] += 2.5 * (n % 2)
        scores[n, n % heads, i, j] += 4.0
        scores[n, 0, i, j] += 2.0
        scores[n, heads - 1, j, i] += 3.0
        scores[n, :, :, size + 2 :] = -torch.inf
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


def drawn_pairs(count, seed):
    """Return pairs of places, most of them two to the left, and the sentences' lengths."""
    chance = Chance(8000 + seed)
    lengths = chance.randint(6, 11, (count,)).tolist()
    pairs = []
    for number, length in enumerate(lengths):
        i = int(chance.randint(3, length + 1, ()))
        j = i - 2 if number % 5 < 2 else int(chance.randint(1, length + 1, ()))
        pairs.append((i, j if j != i else i - 1))
    return pairs, lengths


@visible("one sentence of three words, two heads")
def three_words(student):
    weights = torch.tensor(
        [
            [[0.6, 0.1, 0.1, 0.1, 0.1], [0.1, 0.2, 0.1, 0.2, 0.4], [0.1, 0.2, 0.3, 0.2, 0.2]],
            [[0.2, 0.3, 0.3, 0.1, 0.1], [0.1, 0.3, 0.4, 0.1, 0.1], [0.3, 0.3, 0.2, 0.1, 0.1]],
        ]
    )
    rest = torch.tensor([[0.1, 0.5, 0.1, 0.2, 0.1], [0.2, 0.2, 0.2, 0.2, 0.2]]).expand(2, 2, 5)
    weights = torch.cat([weights, rest], dim=1)[None]  # (1, 2, 5, 5)
    return student.relation_accuracy(weights, torch.tensor([[1, 3]]), between([1], [3], 5))


@visible("six sentences of several lengths, three heads")
def six_sentences(student):
    pairs, lengths = [(4, 2), (5, 3), (2, 5), (6, 4), (1, 2), (3, 6)], [5, 7, 6, 6, 4, 8]
    weights = looked(pairs, lengths, 3, 1)
    return student.relation_accuracy(weights, torch.tensor(pairs), spoken(lengths))


@visible("nine sentences, most of them one word to the right", weight=2)
def to_the_right(student):
    pairs = [(1, 2), (3, 4), (2, 3), (5, 4), (4, 3), (6, 7), (7, 2), (5, 6), (1, 6)]
    lengths = [7, 8, 7, 9, 7, 8, 7, 7, 8]
    weights = looked(pairs, lengths, 4, 2)
    return student.relation_accuracy(weights, torch.tensor(pairs), spoken(lengths))


@visible("what was given stays as it was")
def what_was_given_stays(student):
    pairs, lengths = [(2, 1), (3, 1), (4, 3)], [3, 5, 4]
    weights = looked(pairs, lengths, 2, 3)
    return after(student.relation_accuracy, weights, torch.tensor(pairs), spoken(lengths))


@hidden("forty sentences, six heads", weight=2)
def relation_many(student):
    pairs, lengths = drawn_pairs(40, 421)
    given = looked(pairs, lengths, 6, 422), torch.tensor(pairs), spoken(lengths)
    return student.relation_accuracy(*given)


@hidden("one head, and as many heads as sentences", weight=2)
def relation_heads(student):
    pairs, lengths = drawn_pairs(7, 423)
    words = spoken(lengths)
    return [
        student.relation_accuracy(looked(pairs, lengths, n, 424), torch.tensor(pairs), words)
        for n in (1, 7)
    ]


@hidden("one sentence of two words")
def relation_short(student):
    given = looked([(2, 1)], [2], 3, 425), torch.tensor([[2, 1]]), spoken([2])
    return student.relation_accuracy(*given)


@hidden("double precision: the shares are float32 all the same")
def relation_double(student):
    pairs, lengths = drawn_pairs(10, 426)
    weights_ = looked(pairs, lengths, 2, 427, dtype=torch.float64)
    return student.relation_accuracy(weights_, torch.tensor(pairs), spoken(lengths))


@hidden("special tokens in the middle of a sentence")
def relation_middle(student):
    pairs, lengths = [(1, 3), (6, 4), (7, 9), (2, 4), (8, 3)], [9, 9, 9, 9, 9]
    words = spoken(lengths)
    words[:, 5] = False
    weights_ = looked(pairs, lengths, 3, 428)
    weights_[:, :, :, 5] += 1.0
    weights_ = weights_ / weights_.sum(dim=-1, keepdim=True)
    return student.relation_accuracy(weights_, torch.tensor(pairs), words)


@hidden("what was given is left as it was")
def relation_keeps(student):
    pairs, lengths = drawn_pairs(4, 429)
    given = looked(pairs, lengths, 2, 430), torch.tensor(pairs), spoken(lengths)
    return after(student.relation_accuracy, *given)
