"""One linear layer on GPT for every task: the task is written into the input, not into the model.

Radford et al. (2018), section 3.3 and figure 1, turn each task into token sequences that the
pre-trained model can read from left to right. A start token opens a sequence, a delimiter is
between its parts, and at the extract token, the last, the model has read all: the vector there goes
into the one new layer.

    classification    start text extract
    entailment        start premise delimiter hypothesis extract
    similarity        start a delimiter b extract, and b before a; the two vectors are added
    multiple choice   start context delimiter answer extract, for each answer; softmax over answers

The three tokens are new: `add_tokens` makes room for them. While a model is tuned it may go on
predicting the text (the paper's auxiliary objective, L = L_task + λ L_text with λ = 0.5), so every
head returns the text's logits on request. Departures: none from the paper's figure; its code also
gives the new layer a bias and dropout, and both are arguments here. The book explains it in "GPT".
Shapes: B batch, T length, D width, C classes, N answers, V vocabulary.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_fraction, check_int, check_shape, check_under, readable
from coursekit.models.gpt import GPT

Ids = Sequence[int]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Marks:
    """The ids of the three special tokens, and of the padding after short sequences."""

    start: int
    delimiter: int
    extract: int
    pad: int

    def __post_init__(self) -> None:
        check_int(least=0, **dataclasses.asdict(self))
        if self.extract in (self.start, self.delimiter, self.pad):
            raise ValueError(f"the extract token must differ from the other three, found {self}")


# The input transformations: texts as token ids in, one or more sequences out.


def classification(text: Ids, marks: Marks) -> list[int]:
    """Start, text, extract."""
    return [marks.start, *text, marks.extract]


def entailment(premise: Ids, hypothesis: Ids, marks: Marks) -> list[int]:
    """Start, premise, delimiter, hypothesis, extract."""
    return [marks.start, *premise, marks.delimiter, *hypothesis, marks.extract]


def similarity(a: Ids, b: Ids, marks: Marks) -> list[list[int]]:
    """Both orders, for neither text is the first one."""
    return [entailment(a, b, marks), entailment(b, a, marks)]


def multiple_choice(context: Ids, answers: Sequence[Ids], marks: Marks) -> list[list[int]]:
    """One sequence for each answer; `context` is the document followed by the question."""
    return [entailment(context, answer, marks) for answer in answers]


def collate(examples: Sequence[Ids] | Sequence[Sequence[Ids]], marks: Marks) -> Tensor:
    """Sequences, or equally long lists of sequences -> tokens (B, T) or (B, N, T), padded right.

    Behind the extract token nothing matters: the model looks back only, and so needs no mask.
    """
    if not examples:
        raise ValueError("there must be at least one example, found none")
    if _nested(examples):
        counts = {len(example) for example in examples}
        if len(counts) > 1:
            raise ValueError(
                f"every example needs as many sequences as the others, found {sorted(counts)}"
            )
        rows = [row for example in examples for row in example]
        return collate(rows, marks).unflatten(0, (len(examples), -1))  # (B, N, T)
    T = max(map(len, examples))
    return torch.tensor([[*row, *[marks.pad] * (T - len(row))] for row in examples])  # (B, T)


def _nested(
    examples: Sequence[Ids] | Sequence[Sequence[Ids]],
) -> TypeGuard[Sequence[Sequence[Ids]]]:
    return not isinstance(examples[0][0], int)


def add_tokens(gpt: GPT, count: int) -> GPT:
    """Return the model with `count` more tokens at the end of its vocabulary, drawn anew."""
    check_int(count=count)
    config = dataclasses.replace(gpt.config, vocabulary=gpt.config.vocabulary + count)
    weight, state = gpt.tokens.weight, gpt.state_dict()
    larger = GPT(config).to(device=weight.device, dtype=weight.dtype)
    for name in ("tokens.weight", "output.weight"):  # the latter where it is not tied
        if name in state:
            new = larger.state_dict()[name][-count:]  # (count, D)
            state[name] = torch.cat([state[name], new])
    larger.load_state_dict(state)
    return larger.train(gpt.training)


class Head(nn.Module):
    """What all heads share: the vector at the extract token, and one linear layer.

    `outputs` is the number of classes, or 1 for a score. `dropout` is on that vector.
    """

    def __init__(
        self, gpt: GPT, *, extract: int, outputs: int, bias: bool = True, dropout: float = 0.1
    ) -> None:
        super().__init__()
        check_under(gpt, GPT)
        check_int(outputs=outputs)
        check_int(0, extract=extract)
        check_fraction(dropout=dropout)
        if extract >= gpt.config.vocabulary:
            raise ValueError(
                f"the extract token must lie within the vocabulary of {gpt.config.vocabulary}, "
                f"found {extract}: `add_tokens` makes room"
            )
        self.gpt, self.extract = gpt, extract
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(gpt.config.width, outputs, bias=bias)
        nn.init.normal_(self.output.weight, std=0.02)
        if bias:
            nn.init.zeros_(self.output.bias)

    def read(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """tokens (B, T) -> the vectors everywhere (B, T, D) and at the extract token (B, D)."""
        x = self.gpt.hidden(tokens)  # (B, T, D)
        at_extract = tokens == self.extract  # (B, T)
        if readable(at_extract) and (at_extract.sum(dim=1) != 1).any():
            counts = at_extract.sum(dim=1).tolist()
            raise ValueError(
                f"every sequence needs the extract token {self.extract} once, found it {counts} "
                "times"
            )
        row = torch.arange(x.shape[0], device=x.device)  # (B,)
        last = x[row, at_extract.int().argmax(dim=1)]  # (B, D): there is one True in each row
        return x, self.dropout(last)  # (B, T, D), (B, D)

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (..., T) -> scores, as the head's `score` says."""
        return self.score(tokens)[0]

    def with_text(self, tokens: Tensor) -> ScoresAndText:
        """Tokens (..., T) -> scores, and logits (..., T, V) for the auxiliary objective."""
        scores, x = self.score(tokens)
        return ScoresAndText(scores, self.gpt.read_out(x))

    def score(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Tokens (..., T) -> scores, and the vectors (..., T, D) that they were read from."""
        raise NotImplementedError


class ScoresAndText(NamedTuple):
    """A head's answer and the language model's, for a loss on both."""

    scores: Tensor
    logits: Tensor  # (..., T, V)


class GPTClassifier(Head):
    """Classification and entailment: one sequence, `outputs` classes."""

    def score(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """tokens (B, T) -> scores (B, C) and vectors (B, T, D)."""
        check_shape(tokens, "tokens", "batch, length")
        x, last = self.read(tokens)  # (B, T, D), (B, D)
        return self.output(last), x


class GPTSimilarity(Head):
    """Similarity: the same two texts in both orders, their vectors added."""

    def score(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """tokens (B, 2, T) -> scores (B, C) and vectors (B, 2, T, D)."""
        check_shape(tokens, "tokens", "batch, 2, length")
        x, last = self.read(tokens.flatten(0, 1))  # (B·2, T, D), (B·2, D)
        both = last.unflatten(0, (-1, 2)).sum(dim=1)  # (B, D)
        return self.output(both), x.unflatten(0, (-1, 2))


class GPTMultipleChoice(Head):
    """Multiple choice: one score for each answer, to be compared by a softmax over the answers."""

    def __init__(self, gpt: GPT, *, extract: int, bias: bool = True, dropout: float = 0.1) -> None:
        super().__init__(gpt, extract=extract, outputs=1, bias=bias, dropout=dropout)

    def score(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """tokens (B, N, T) -> scores (B, N) and vectors (B, N, T, D)."""
        check_shape(tokens, "tokens", "batch, answers, length")
        N = tokens.shape[1]
        x, last = self.read(tokens.flatten(0, 1))  # (B·N, T, D), (B·N, D)
        scores = self.output(last).view(-1, N)  # (B, N)
        return scores, x.unflatten(0, (-1, N))
