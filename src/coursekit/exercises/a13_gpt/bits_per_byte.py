"""What a model pays for a text, in bits for each byte, whatever its tokens are."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def bits_per_byte(logits, tokens, texts, pad):
    """logits (B, T, V), tokens (B, T), B strings -> bits for each byte of all texts, one number."""
    asked = tokens[:, 1:]  # (B, T - 1): nobody predicts the start
    logs = logits[:, :-1].log_softmax(dim=-1)  # (B, T - 1, V)
    found = logs.gather(-1, asked[..., None])[..., 0]  # (B, T - 1)
    nats = -found[asked != pad].sum().item()
    return nats / math.log(2) / sum(len(text.encode()) for text in texts)


QUESTION = Question(
    name="bits_per_byte",
    title="The same currency for all",
    points=4,
    difficulty=2,
    minutes=25,
    page="gpt.html#sec-gpt-bits",
    hint="Two sums and one division. Write the tokens of a short row below each other with the "
    "place whose logits tell each of them: which token is told by nobody, and which logits tell "
    "nothing that is in the row? The second sum needs nothing but the strings; what is a string "
    "on disk?",
    reference=bits_per_byte,
    forbidden=("coursekit",),
)

PAD = 0


def _rows(*texts: str) -> Tensor:
    """A start, 1, the tokens of each text, and padding; a token is one letter, é, or a pair."""
    pieces = ["", "", *"abcdeéñ€😀 ", "ab", "dé", "€ "]
    rows = []
    for text in texts:
        row = [1]
        while text:
            piece = max((p for p in pieces[2:] if text.startswith(p)), key=len)
            row.append(pieces.index(piece))
            text = text[len(piece) :]
        rows.append(row)
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def _asked(*texts: str, seed: int, dtype: torch.dtype = torch.float32) -> tuple[Any, ...]:
    tokens = _rows(*texts)
    return 2 * randn(*tokens.shape, 15, seed=seed, dtype=dtype), tokens, list(texts), PAD


@QUESTION.visible(says="one text of plain letters, a byte each")
def plain_letters(student):
    return student.bits_per_byte(*_asked("abba cab", seed=1))


@QUESTION.visible(says="letters of two, three and four bytes")
def many_bytes(student):
    return student.bits_per_byte(*_asked("dé€ ñ😀b", seed=2))


@QUESTION.visible(says="three texts of several lengths", weight=2)
def three_texts(student):
    return student.bits_per_byte(*_asked("a €", "dédé abba é", "cccc dab", seed=3))


@QUESTION.visible(says="all logits equal")
def all_equal(student):
    _, tokens, texts, pad = _asked("bé", "dab ab", seed=4)
    return student.bits_per_byte(torch.full((*tokens.shape, 16), 3.0), tokens, texts, pad)


@QUESTION.visible(says="the start has the same id as the padding")
def start_is_padding(student):
    logits, tokens, texts, pad = _asked("eñ a", "ab", "dé", seed=5)
    return student.bits_per_byte(logits, tokens.masked_fill(tokens == 1, pad), texts, pad)


@QUESTION.visible(says="logits in the thousands; what was given stays as it was")
def thousands(student):
    logits, *rest = _asked("b é", "cdab", seed=6)
    return after(student.bits_per_byte, 1000 * logits - 20_000, *rest)


LOGS = "logits[:, :-1].log_softmax(dim=-1)"
BYTES = "sum(len(text.encode()) for text in texts)"
NATS = "-found[asked != pad].sum().item()"
END = f"return nats / math.log(2) / {BYTES}"

QUESTION.mistake(
    "per token",
    old=BYTES,
    new="(asked != pad).sum().item()",
    hint="You divide by the number of tokens. How long a token is depends on the tokenizer; a byte "
    "is the same for all.",
)

QUESTION.mistake(
    "nats per token",
    old=END,
    new="return nats / (asked != pad).sum().item()",
    hint="Yours is the usual loss, nats for each token. The same sum is asked for in bits, and "
    "divided by the bytes of the texts.",
)

QUESTION.mistake(
    "nats",
    old=" / math.log(2)",
    new="",
    hint="Your sum is in nats, since torch takes natural logarithms. A bit is smaller: a choice of "
    "two equal ones costs 1 bit and 0.69 nats.",
)

QUESTION.mistake(
    "nats the wrong way",
    old="nats / math.log(2)",
    new="nats * math.log(2)",
    hint="You multiply by the logarithm of 2. A bit is smaller than a nat, so there are more of "
    "them.",
)

QUESTION.mistake(
    "decimal logarithms",
    old="math.log(2)",
    new="math.log(10)",
    hint="You count in decimal digits. A choice of two equal ones costs 1 bit.",
)

QUESTION.mistake(
    "characters for bytes",
    old="len(text.encode())",
    new="len(text)",
    hint="You count characters. In UTF-8 é has two bytes and € three.",
)

QUESTION.mistake(
    "nats per character",
    old=END,
    new="return nats / sum(len(text) for text in texts)",
    hint="Two things: your sum is in nats, and you count characters, of which é has two bytes.",
)

QUESTION.mistake(
    "UTF-16",
    old="text.encode()",
    new='text.encode("utf-16-le")',
    hint="You count the bytes of UTF-16, where a has two as well. UTF-8 is asked for.",
)

QUESTION.mistake(
    "words",
    old="len(text.encode())",
    new="len(text.split())",
    hint="You divide by the number of words. Bytes are asked for.",
)

QUESTION.mistake(
    "no shift",
    old=f"asked = tokens[:, 1:]  # (B, T - 1): nobody predicts the start\n    logs = {LOGS}",
    new="asked = tokens.masked_fill(torch.arange(tokens.shape[1]) == 0, pad)\n"
    "    logs = logits.log_softmax(dim=-1)",
    hint="You ask the logits at a token for this token itself. They tell the one behind it.",
)

QUESTION.mistake(
    "no shift, first token counted",
    old=f"asked = tokens[:, 1:]  # (B, T - 1): nobody predicts the start\n    logs = {LOGS}",
    new="asked = tokens\n    logs = logits.log_softmax(dim=-1)",
    hint="You ask the logits at a token for this token itself, and count the start, which nobody "
    "predicts. They tell the one behind it.",
)

QUESTION.mistake(
    "first token counted",
    old=f"asked = tokens[:, 1:]  # (B, T - 1): nobody predicts the start\n    logs = {LOGS}",
    new="asked = tokens\n    logs = logits.roll(1, dims=1).log_softmax(dim=-1)",
    hint="You count the start as well, at the price that the logits of the last place give it. "
    "Nobody predicts the start: it costs nothing.",
)

QUESTION.mistake(
    "the second token not counted",
    old=NATS,
    new="-found[:, 1:][asked[:, 1:] != pad].sum().item()",
    hint="You leave out the first token of the text, too. The start predicts it, so it costs like "
    "others.",
)

QUESTION.mistake(
    "padding counted",
    old="found[asked != pad]",
    new="found",
    hint="You count what the padding costs. It is no text.",
)

QUESTION.mistake(
    "the place of the padding",
    old="found[asked != pad]",
    new="found[tokens[:, :-1] != pad]",
    hint="You leave out the places that read padding, in place of those that should tell it: the "
    "last token of a short text tells padding, and a start may look like padding.",
)

QUESTION.mistake(
    "the mean of the texts",
    old=f"{NATS}\n    {END}",
    new="[-one[row != pad].sum().item() for one, row in zip(found, asked)]\n"
    "    each = [n / math.log(2) / len(t.encode()) for n, t in zip(nats, texts)]\n"
    "    return sum(each) / len(each)",
    hint="You take the mean of the texts' own numbers, so that a short text counts as much as a "
    "long one. Divide all bits by all bytes.",
)

QUESTION.mistake(
    "the mean of the tokens",
    old="sum().item()",
    new="mean().item()",
    hint="You divide the mean over the tokens by the bytes. It is the sum: one division is enough.",
)

QUESTION.mistake(
    "bytes for each bit",
    old=END,
    new=f"return {BYTES} * math.log(2) / nats",
    hint="Yours is upside down: bytes for each bit.",
)

QUESTION.mistake(
    "a perplexity",
    old=END,
    new=f"return 2 ** (nats / math.log(2) / {BYTES})",
    hint="You raise 2 to that power, which is a perplexity for each byte. The bits themselves are "
    "asked for.",
)

QUESTION.mistake(
    "the sign",
    old=NATS,
    new="found[asked != pad].sum().item()",
    hint="Your number is below 0. What is likely costs little, and nothing costs less than "
    "nothing: a minus is missing.",
)

QUESTION.mistake(
    "bytes in the end, too",
    old=BYTES,
    new="sum(len(text.encode()) + 1 for text in texts)",
    hint="You count one byte too many for each text. The start has no bytes.",
)

QUESTION.mistake(
    "probabilities",
    old=".log_softmax(dim=-1)",
    new=".softmax(dim=-1)",
    hint="You add up probabilities. A token costs the logarithm of its probability, with a minus.",
)

QUESTION.mistake(
    "logits for logarithms",
    old=".log_softmax(dim=-1)",
    new="",
    hint="You add up logits. They become logarithms of probabilities by a log-softmax.",
)

QUESTION.mistake(
    "a softmax along the text",
    old="log_softmax(dim=-1)",
    new="log_softmax(dim=1)",
    hint="Your softmax runs along the text. The tokens of the vocabulary compete: the last axis.",
)

QUESTION.mistake(
    "the logarithm after the softmax",
    old=".log_softmax(dim=-1)",
    new=".softmax(dim=-1).log()",
    hint="Your softmax rounds small shares to 0, whose logarithm is minus infinity. Take both in "
    "one step.",
)

QUESTION.mistake(
    "a tensor",
    old=NATS,
    new="-found[asked != pad].sum()",
    hint="You return a tensor. A plain number is asked for: .item() makes one of it.",
)

QUESTION.mistake(
    "the number of each text",
    old=f"{NATS}\n    {END}",
    new="[-one[row != pad].sum().item() for one, row in zip(found, asked)]\n"
    "    return [n / math.log(2) / len(t.encode()) for n, t in zip(nats, texts)]",
    hint="You return a number for each text. One for all of them is asked for.",
)

QUESTION.mistake(
    "written into the logits",
    old=LOGS,
    new="logits.sub_(logits.logsumexp(dim=-1, keepdim=True))[:, :-1]",
    hint="The number is right, but the logits that you were given have changed: what ends in an "
    "underscore changes them where they lie.",
)
