"""Which tokens are hidden, what stands there instead, and what is asked: BERT's 80/10/10."""

from __future__ import annotations

import torch

from coursekit.check.probe import Chance, after
from coursetools.questions import hidden, visible


def hide_tokens(tokens, coins, fate, words, special, mask, rate=0.15):
    """tokens, coins, fate, words (B, T) -> what the model reads (B, T), labels (B, T)."""
    text = ~torch.isin(tokens, torch.tensor(special))
    chosen = text & (coins < rate)
    hidden, swapped = chosen & (fate < 0.8), chosen & (fate >= 0.8) & (fate < 0.9)
    read = torch.where(swapped, words, tokens).masked_fill(hidden, mask)
    return read, tokens.masked_fill(~chosen, -100)


def drawn(*shape, seed, dtype=torch.float32):
    """Return tokens with [CLS], [SEP] and padding in their rows, coins, fates and words."""
    chance = Chance(7000 + seed)
    tokens, words = chance.randint(1000, 9000, (2, *shape))
    tokens[:, 0], tokens[:, shape[1] // 2], tokens[:, -3:] = 101, 102, torch.tensor([102, 0, 0])
    return tokens, *chance.rand(2, *shape, dtype=dtype), words


@visible("one sentence, half of it chosen, every fate")
def one_sentence(student):
    tokens = torch.tensor([[101, 21, 22, 23, 24, 25, 26, 27, 102, 0]])
    coins = torch.tensor([[0.01, 0.1, 0.2, 0.3, 0.9, 0.05, 0.8, 0.7, 0.02, 0.0]])
    fate = torch.tensor([[0.1, 0.5, 0.85, 0.95, 0.2, 0.82, 0.86, 0.99, 0.88, 0.3]])
    words = torch.tensor([[40, 41, 42, 43, 44, 25, 46, 47, 48, 49]])
    return student.hide_tokens(tokens, coins, fate, words, [0, 101, 102], 103, rate=0.5)


@visible("three sentences at the usual rate")
def three_sentences(student):
    return student.hide_tokens(*drawn(3, 60, seed=0), special=[0, 101, 102], mask=103)


@visible("everything chosen, other ids")
def everything_chosen(student):
    tokens, coins, fate, words = drawn(2, 20, seed=1)
    return student.hide_tokens(tokens, coins, fate, words, [101, 0, 102], 7, rate=1.0)


@visible("a fate of exactly 0.8 or 0.9")
def on_the_border(student):
    fate = torch.tensor([[0.8, 0.9, 0.0, 0.8, 0.9]], dtype=torch.float64)
    tokens, words = torch.tensor([[5, 6, 7, 8, 9], [15, 16, 17, 18, 19]])[:, None]
    return student.hide_tokens(tokens, fate / 2, fate, words, [0], 3, rate=0.5)


@visible("what was given stays as it was")
def what_was_given_stays(student):
    return after(student.hide_tokens, *drawn(2, 12, seed=2), [0, 101, 102], 103, 0.6)


@hidden("many sentences, separators in their middle too", weight=2)
def hide_many(student):
    return student.hide_tokens(*drawn(20, 64, seed=301), [0, 101, 102], 103)


@hidden("a coin that equals the rate")
def hide_coin(student):
    tokens, coins, fate, words = drawn(2, 16, seed=302)
    return student.hide_tokens(
        tokens, (4 * coins).round() / 4, fate, words, [0, 101, 102], 103, 0.5
    )


@hidden("nothing chosen, and nothing but special tokens")
def hide_nothing(student):
    tokens, coins, fate, words = drawn(2, 10, seed=303)
    special = torch.full_like(tokens, 102)
    return (
        student.hide_tokens(tokens, coins, fate, words, [101, 102, 0], 103, rate=0.0),
        student.hide_tokens(special, coins, fate, words, [101, 102, 0], 103, rate=1.0),
    )


@hidden("the special tokens of another vocabulary", weight=2)
def hide_other(student):
    tokens, coins, fate, words = drawn(3, 40, seed=304)
    tokens[tokens == 0], words[0, :5], special = 1, 1, [2, 1, 101, 102, 5]
    return student.hide_tokens(tokens, coins, fate, words, special, 8999, rate=0.7)


@hidden("a random word that is the word itself")
def hide_itself(student):
    tokens, coins, fate, _ = drawn(2, 30, seed=305)
    return student.hide_tokens(tokens, coins, fate, tokens.clone(), [0, 101, 102], 103, rate=0.9)


@hidden("fates on a border, with unequal coins")
def hide_border(student):
    fate = torch.tensor([[0.9, 0.8, 0.8, 0.9, 0.1, 0.95]], dtype=torch.float64)
    coins = torch.tensor([[0.1, 0.3, 0.1, 0.3, 0.0, 0.2]], dtype=torch.float64)
    tokens, words = torch.arange(20, 26)[None], torch.arange(30, 36)[None]
    return student.hide_tokens(tokens, coins, fate, words, [0], 9, rate=0.25)


@hidden("all that was given is left as it was")
def hide_keeps(student):
    return after(student.hide_tokens, *drawn(3, 12, seed=306), [0, 102, 101], 103, 0.8)
