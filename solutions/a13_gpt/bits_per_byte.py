"""What a model pays for a text, in bits for each byte, whatever its tokens are."""

from __future__ import annotations

import math

import torch

from coursekit.check.probe import after, randn
from coursetools.questions import hidden, visible


def bits_per_byte(logits, tokens, texts, pad):
    """logits (B, T, V), tokens (B, T), B strings -> bits for each byte of all texts, one number."""
    asked = tokens[:, 1:]  # (B, T - 1): nobody predicts the start
    logs = logits[:, :-1].log_softmax(dim=-1)  # (B, T - 1, V)
    found = logs.gather(-1, asked[..., None])[..., 0]  # (B, T - 1)
    nats = -found.masked_fill(asked == pad, 0.0).sum(dim=1)  # (B,)
    sizes = torch.tensor([len(text.encode()) for text in texts])  # (B,)
    return (nats.sum() / math.log(2) / sizes.sum()).item()


def lettered(*texts, seed, vocabulary=0, dtype=torch.float32):
    """Each letter of the texts is a token, from 2 on; 1 is the start and 0 the padding."""
    letters = sorted({letter for text in texts for letter in text})
    rows = [[1, *(letters.index(letter) + 2 for letter in text)] for text in texts]
    longest = max(map(len, rows))
    tokens = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    words = vocabulary or len(letters) + 2
    return 3 * randn(*tokens.shape, words, seed=seed, dtype=dtype), tokens, list(texts), 0


@visible("one text of plain letters, a byte each")
def plain_letters(student):
    return student.bits_per_byte(*lettered("abba cab", seed=1))


@visible("letters of two, three and four bytes")
def many_bytes(student):
    return student.bits_per_byte(*lettered("dé€ ñ😀b", seed=2))


@visible("three texts, with tokens of several letters", weight=2)
def three_texts(student):
    tokens = torch.tensor([[1, 5, 2, 7, 0, 0], [1, 3, 6, 6, 2, 4], [1, 4, 8, 0, 0, 0]])
    return student.bits_per_byte(
        2 * randn(3, 6, 9, seed=3), tokens, ["a €b", "dédé abba é", "cccc dab"], 0
    )


@visible("the start has the same id as the padding")
def start_is_padding(student):
    logits, tokens, texts, pad = lettered("eñ a", "ab", "dé", seed=5)
    return student.bits_per_byte(logits, tokens.masked_fill(tokens == 1, pad), texts, pad)


@visible("logits in the thousands; what was given stays as it was")
def thousands(student):
    logits, *rest = lettered("b é", "cdab", seed=6)
    return after(student.bits_per_byte, 1000 * logits - 20_000, *rest)


@hidden("many texts of many lengths", weight=2)
def bits_many(student):
    texts = ["in the beginning", "日本語", "où?", "Straße und Übermut", "x", "naïve café", "λόγος"]
    return student.bits_per_byte(*lettered(*texts, seed=230))


@hidden("an empty text among others")
def bits_empty(student):
    return student.bits_per_byte(*lettered("", "ab é", "", "c", seed=231))


@hidden("logits that know the text, and some that know it one place off")
def bits_known(student):
    _, tokens, texts, pad = lettered("été", "à la mode", seed=232)
    words = int(tokens.max()) + 1
    ahead = torch.nn.functional.one_hot(tokens.roll(-1, dims=1), words).float()
    here = torch.nn.functional.one_hot(tokens, words).float()
    return [student.bits_per_byte(9 * one, tokens, texts, pad) for one in (ahead, here)]


@hidden("logits in the tens of thousands")
def bits_huge(student):
    logits, *rest = lettered("grün", "blau", seed=233)
    return student.bits_per_byte(20_000 * logits + 50_000, *rest)


@hidden("other ids for start and padding, alike and not")
def bits_ids(student):
    logits, tokens, texts, _ = lettered("kein Wörterbuch", "ja", "nein", seed=234)
    same = tokens.masked_fill(tokens == 1, 0)
    wide = lettered("abc", "ñ", seed=235, vocabulary=40)
    turned = wide[1].masked_fill(wide[1] == 0, 39)
    return [
        student.bits_per_byte(logits.clone(), same, list(texts), 0),
        student.bits_per_byte(wide[0], turned, wide[2], 39),
    ]


@hidden("double precision; what was given stays", tolerance=1e-10)
def bits_double(student):
    return after(student.bits_per_byte, *lettered("één", "twee", seed=236, dtype=torch.float64))
