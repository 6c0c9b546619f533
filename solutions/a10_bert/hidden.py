"""The hidden cases of assignment 10: students may read what a case `says`, and nothing else."""

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, randn

# --- hide_tokens


def drawn(*shape, seed, dtype=torch.float32):
    """Return tokens with [CLS], [SEP] and padding in their rows, coins, fates and words."""
    chance = torch.Generator().manual_seed(7000 + seed)
    tokens, words = torch.randint(1000, 9000, (2, *shape), generator=chance)
    tokens[:, 0], tokens[:, shape[1] // 2], tokens[:, -3:] = 101, 102, torch.tensor([102, 0, 0])
    return tokens, *torch.rand(2, *shape, generator=chance, dtype=dtype), words


@hidden("hide_tokens", says="many sentences, separators in their middle too", weight=2)
def hide_many(student):
    return student.hide_tokens(*drawn(20, 64, seed=301), [0, 101, 102], 103)


@hidden("hide_tokens", says="a coin that equals the rate")
def hide_coin(student):
    tokens, coins, fate, words = drawn(2, 16, seed=302)
    return student.hide_tokens(
        tokens, (4 * coins).round() / 4, fate, words, [0, 101, 102], 103, 0.5
    )


@hidden("hide_tokens", says="nothing chosen, and nothing but special tokens")
def hide_nothing(student):
    tokens, coins, fate, words = drawn(2, 10, seed=303)
    special = torch.full_like(tokens, 102)
    return (
        student.hide_tokens(tokens, coins, fate, words, [101, 102, 0], 103, rate=0.0),
        student.hide_tokens(special, coins, fate, words, [101, 102, 0], 103, rate=1.0),
    )


@hidden("hide_tokens", says="the special tokens of another vocabulary", weight=2)
def hide_other(student):
    tokens, coins, fate, words = drawn(3, 40, seed=304)
    tokens[tokens == 0], words[0, :5], special = 1, 1, [2, 1, 101, 102, 5]
    return student.hide_tokens(tokens, coins, fate, words, special, 8999, rate=0.7)


@hidden("hide_tokens", says="a random word that is the word itself")
def hide_itself(student):
    tokens, coins, fate, _ = drawn(2, 30, seed=305)
    return student.hide_tokens(tokens, coins, fate, tokens.clone(), [0, 101, 102], 103, rate=0.9)


@hidden("hide_tokens", says="fates on a border, with unequal coins")
def hide_border(student):
    fate = torch.tensor([[0.9, 0.8, 0.8, 0.9, 0.1, 0.95]], dtype=torch.float64)
    coins = torch.tensor([[0.1, 0.3, 0.1, 0.3, 0.0, 0.2]], dtype=torch.float64)
    tokens, words = torch.arange(20, 26)[None], torch.arange(30, 36)[None]
    return student.hide_tokens(tokens, coins, fate, words, [0], 9, rate=0.25)


@hidden("hide_tokens", says="all that was given is left as it was")
def hide_keeps(student):
    return after(student.hide_tokens, *drawn(3, 12, seed=306), [0, 102, 101], 103, 0.8)


# --- pair_input


@hidden("pair_input", says="many lengths of both texts", weight=2)
def pair_many(student):
    sizes = [(a, b) for a in (1, 4, 9) for b in (1, 5, 8)]
    return [
        student.pair_input([*range(200, 200 + a)], [*range(300, 300 + b)], 11) for a, b in sizes
    ]


@hidden("pair_input", says="one of them alone is longer than the row", weight=2)
def pair_long(student):
    return (
        student.pair_input([*range(40, 70)], [7, 8], 9),
        student.pair_input([7, 8], [*range(40, 70)], 9),
        student.pair_input([*range(40, 70)], [*range(80, 120)], 8),
    )


@hidden("pair_input", says="the shortest row, a token of each")
def pair_short(student):
    return student.pair_input([31, 32, 33], [41, 42], 5), student.pair_input([31], [41], 5)


@hidden("pair_input", says="the ids of RoBERTa's vocabulary")
def pair_other(student):
    return student.pair_input([9, 101, 12], [102, 14], 11, 0, 2, 1)


@hidden("pair_input", says="a short row, and one with much padding; lists as they were")
def pair_padded(student):
    cut = after(student.pair_input, [*range(40, 60)], [*range(80, 90)], 12)
    return cut, after(student.pair_input, [500, 600], [700], 40)


# --- blank_scores


def weights(width, vocabulary, seed, scale=1.0, dtype=torch.float32):
    """Return the head's weights, none of them what it is in a fresh model."""
    return {
        "transform.weight": scale * randn(width, width, seed=seed, dtype=dtype) / width**0.5,
        "transform.bias": scale * randn(width, seed=seed + 1, dtype=dtype),
        "norm.weight": 1 + randn(width, seed=seed + 2, dtype=dtype) / 3,
        "norm.bias": randn(width, seed=seed + 3, dtype=dtype),
        "bias": randn(vocabulary, seed=seed + 4, dtype=dtype),
    }


def places(*shape, seed):
    return randn(*shape, seed=seed) > 0.8


@hidden("blank_scores", says="a batch of long sentences", weight=2)
def scores_long(student):
    hidden_states, chosen = randn(6, 30, 12, seed=320), places(6, 30, seed=321)
    return student.blank_scores(
        hidden_states, chosen, randn(50, 12, seed=322), weights(12, 50, 323)
    )


@hidden("blank_scores", says="no blank at all: no rows")
def scores_none(student):
    given = randn(2, 5, 4, seed=330), torch.zeros(2, 5).bool(), randn(9, 4, seed=331)
    return student.blank_scores(*given, weights(4, 9, 332))


@hidden("blank_scores", says="every place is a blank")
def scores_all(student):
    given = randn(2, 3, 8, seed=340), torch.ones(2, 3).bool(), randn(8, 8, seed=341)
    return student.blank_scores(*given, weights(8, 8, 342))


@hidden("blank_scores", says="double precision", tolerance=1e-11)
def scores_double(student):
    given = randn(2, 7, 6, seed=350, dtype=torch.float64), places(2, 7, seed=351)
    words = randn(5, 6, seed=352, dtype=torch.float64)
    return student.blank_scores(*given, words, weights(6, 5, 353, dtype=torch.float64))


@hidden("blank_scores", says="very small numbers before the norm")
def scores_small(student):
    given = randn(1, 4, 16, seed=360), torch.ones(1, 4).bool(), randn(6, 16, seed=361)
    return student.blank_scores(*given, weights(16, 6, 362, scale=3e-4))


@hidden("blank_scores", says="gradients", weight=2)
def scores_gradients(student):
    given = randn(2, 6, 5, seed=370), places(2, 6, seed=371), randn(10, 5, seed=372)
    return gradients(student.blank_scores, *given, weights(5, 10, 373))


@hidden("blank_scores", says="large scores stay as they are")
def scores_large(student):
    given = randn(1, 3, 4, seed=380), torch.tensor([[True, False, True]])
    return student.blank_scores(*given, 100 * randn(6, 4, seed=381), weights(4, 6, 382))


# --- answer_span


def between(first, last, length):
    """Return where the passages lie, (B, T)."""
    places = range(length)
    return torch.tensor([[a <= place <= b for place in places] for a, b in zip(first, last)])


@hidden("answer_span", says="many passages, several greatest lengths", weight=2)
def span_many(student):
    start, end = 2 * randn(12, 25, seed=401), 2 * randn(12, 25, seed=402)
    passage = between([2 + n for n in range(12)], [23 - n // 3 for n in range(12)], 25)
    return [student.answer_span(start, end, passage, longest) for longest in (1, 2, 5, 25)]


@hidden("answer_span", says="the greatest length unless told otherwise", weight=2)
def span_default(student):
    start, end = torch.zeros(3, 60), torch.zeros(3, 60)
    passage = between([4] * 3, [57] * 3, 60)
    start[:, 10], start[:, 20], start[:, 12] = 5.0, 3.0, 2.0
    for row, last in enumerate((38, 39, 40)):  # 29, 30 and 31 tokens from place 10
        end[row, last], end[row, 49], end[row, 11] = 6.0, 5.5, 1.0
    return student.answer_span(start, end, passage)


@hidden("answer_span", says="a passage of one token")
def span_one(student):
    start, end = randn(2, 6, seed=405), randn(2, 6, seed=406)
    return student.answer_span(start, end, between([3, 5], [3, 5], 6))


@hidden("answer_span", says="scores far below zero", weight=2)
def span_negative(student):
    start, end = randn(5, 18, seed=407) - 30, randn(5, 18, seed=408) - 20
    return student.answer_span(start, end, between([4, 5, 6, 7, 8], [16] * 5, 18), 3)


@hidden("answer_span", says="the best end comes before the best start, in double precision")
def span_crossed(student):
    place = torch.arange(16, dtype=torch.float64)
    start = torch.stack([place / 3, (place - 9).abs() / 4]) + randn(2, 16, seed=409) / 9
    end = torch.stack([-place / 4, 3 - place.sqrt()]) + randn(2, 16, seed=410) / 9
    return student.answer_span(start.double(), end.double(), between([2, 3], [14, 13], 16), 6)


@hidden("answer_span", says="row by row, the same answers")
def span_rows(student):
    start, end = randn(4, 12, seed=411), randn(4, 12, seed=412)
    passage = between([1, 2, 3, 4], [10, 9, 10, 8], 12)
    one = [student.answer_span(*(x[n : n + 1] for x in (start, end, passage)), 5) for n in range(4)]
    return student.answer_span(start, end, passage, 5), one


# --- relation_accuracy


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
    chance = torch.Generator().manual_seed(8000 + seed)
    lengths = torch.randint(6, 11, (count,), generator=chance).tolist()
    pairs = []
    for number, length in enumerate(lengths):
        i = int(torch.randint(3, length + 1, (), generator=chance))
        j = i - 2 if number % 5 < 2 else int(torch.randint(1, length + 1, (), generator=chance))
        pairs.append((i, j if j != i else i - 1))
    return pairs, lengths


@hidden("relation_accuracy", says="forty sentences, six heads", weight=2)
def relation_many(student):
    pairs, lengths = drawn_pairs(40, 421)
    given = looked(pairs, lengths, 6, 422), torch.tensor(pairs), spoken(lengths)
    return student.relation_accuracy(*given)


@hidden("relation_accuracy", says="one head, and as many heads as sentences", weight=2)
def relation_heads(student):
    pairs, lengths = drawn_pairs(7, 423)
    words = spoken(lengths)
    return [
        student.relation_accuracy(looked(pairs, lengths, n, 424), torch.tensor(pairs), words)
        for n in (1, 7)
    ]


@hidden("relation_accuracy", says="one sentence of two words")
def relation_short(student):
    given = looked([(2, 1)], [2], 3, 425), torch.tensor([[2, 1]]), spoken([2])
    return student.relation_accuracy(*given)


@hidden("relation_accuracy", says="double precision: the shares are float32 all the same")
def relation_double(student):
    pairs, lengths = drawn_pairs(10, 426)
    weights_ = looked(pairs, lengths, 2, 427, dtype=torch.float64)
    return student.relation_accuracy(weights_, torch.tensor(pairs), spoken(lengths))


@hidden("relation_accuracy", says="special tokens in the middle of a sentence")
def relation_middle(student):
    pairs, lengths = [(1, 3), (6, 4), (7, 9), (2, 4), (8, 3)], [9, 9, 9, 9, 9]
    words = spoken(lengths)
    words[:, 5] = False
    weights_ = looked(pairs, lengths, 3, 428)
    weights_[:, :, :, 5] += 1.0
    weights_ = weights_ / weights_.sum(dim=-1, keepdim=True)
    return student.relation_accuracy(weights_, torch.tensor(pairs), words)


@hidden("relation_accuracy", says="what was given is left as it was")
def relation_keeps(student):
    pairs, lengths = drawn_pairs(4, 429)
    given = looked(pairs, lengths, 2, 430), torch.tensor(pairs), spoken(lengths)
    return after(student.relation_accuracy, *given)
