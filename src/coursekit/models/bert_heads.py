"""Heads of BERT: one small layer on top for each task, and all is trained (Devlin et al., 2019).

Three heads cover the paper's four kinds of task: the class of one sentence or of a pair
(`BertClassifier`), a tag for every token (`BertTagger`), and the span of a passage that answers a
question (`BertSpan` and `best_span`). A fourth, `BertMultipleChoice`, compares answers. Each takes
a `Bert`, fresh or pre-trained. `BertFeatures` is the other way: the encoder stays as it is, and
its hidden states become the input of another model.
The book explains all of it in "BERT".
Shapes: B batch, T length, D width, C classes, L layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit._base.checks import check_choice, check_int, check_keep, check_shape, check_under
from coursekit.decoding.spans import SpanLogits
from coursekit.models.bert import Bert, BertConfig, initialise


class BertHead(nn.Module):
    """What the heads share: a `Bert`, and dropout on what they read of its hidden states."""

    def __init__(self, bert: Bert) -> None:
        super().__init__()
        check_under(bert, Bert)
        self.bert = bert
        self.dropout = nn.Dropout(bert.config.dropout_of_head)

    def forward(
        self,
        tokens: Tensor,
        segments: Tensor | None = None,
        keep: Tensor | None = None,
        *,
        head_mask: Tensor | None = None,
    ) -> Any:
        """Tokens, segments, keep (B, T) -> what the head's `read` returns."""
        return self.read(self.bert(tokens, segments, keep, head_mask=head_mask))

    def read(self, hidden: Tensor) -> Any:
        """Hidden states (B, T, D) -> the head's answer."""
        raise NotImplementedError


class BertClassifier(BertHead):
    """The class of a sentence, or of a pair of sentences that the segments tell apart.

    Only the pooled [CLS] is read. `classes=1` makes a regression, as the paper does for STS-B.
    """

    def __init__(self, bert: Bert, *, classes: int) -> None:
        super().__init__(bert)
        check_int(classes=classes)
        if bert.pooler is None:
            raise ValueError(
                f"{type(self).__name__} reads the pooled [CLS]: make the Bert with its pooler"
            )
        self.classifier = nn.Linear(bert.config.width, classes)
        initialise(self.classifier)

    def read(self, hidden: Tensor) -> Tensor:
        """Hidden states (B, T, D) -> logits (B, C)."""
        return self.classifier(self.dropout(self.bert.pool(hidden)))  # (B, C)


class RobertaClassifier(BertHead):
    """The class of a sentence or a pair, by a new layer in the place of the pooler.

    RoBERTa is not trained on next sentences, so it has no pooler.
    """

    def __init__(self, bert: Bert, *, classes: int) -> None:
        super().__init__(bert)
        check_int(classes=classes)
        if bert.pooler is not None:
            raise ValueError("RobertaClassifier has a layer of its own: make the Bert pooler=False")
        self.dense = nn.Linear(bert.config.width, bert.config.width)
        self.classifier = nn.Linear(bert.config.width, classes)
        initialise(self.dense)
        initialise(self.classifier)

    def read(self, hidden: Tensor) -> Tensor:
        """Hidden states (B, T, D) -> logits (B, C)."""
        first = self.dense(self.dropout(hidden[:, 0])).tanh()  # (B, D)
        return self.classifier(self.dropout(first))  # (B, C)


class BertMultipleChoice(BertClassifier):
    """Which of N answers: each is read with the question, and gets a score (SWAG, RACE).

    The scores are to be compared by a softmax over the answers. RoBERTa does the same.
    """

    def __init__(self, bert: Bert) -> None:
        super().__init__(bert, classes=1)

    def forward(
        self,
        tokens: Tensor,
        segments: Tensor | None = None,
        keep: Tensor | None = None,
        *,
        head_mask: Tensor | None = None,
    ) -> Tensor:
        """Tokens, segments, keep (B, N, T) -> scores (B, N)."""
        check_shape(tokens, "tokens", "batch, answers, length")
        others = [None if x is None else x.flatten(0, 1) for x in (segments, keep)]  # (B · N, T)
        scores = super().forward(tokens.flatten(0, 1), *others, head_mask=head_mask)  # (B · N, 1)
        return scores.view(tokens.shape[:2])  # (B, N)


class BertTagger(BertHead):
    """One class for every token: names, parts of speech, the comma that follows.

    A word of several WordPieces is tagged at its first, or at its last where the tag says what
    follows the word; leave the others out of the loss.
    """

    def __init__(self, bert: Bert, *, classes: int) -> None:
        super().__init__(bert)
        check_int(classes=classes)
        self.classifier = nn.Linear(bert.config.width, classes)
        initialise(self.classifier)

    def read(self, hidden: Tensor) -> Tensor:
        """Hidden states (B, T, D) -> logits (B, T, C)."""
        return self.classifier(self.dropout(hidden))  # (B, T, C)


class BertSpan(BertHead):
    """Where the answer to a question is in a passage: two learned vectors S and E (SQuAD).

    The loss is the mean of two cross-entropies over the T places, one for the true start and one
    for the true end. The question is segment 0, the passage segment 1.
    """

    def __init__(self, bert: Bert) -> None:
        super().__init__(bert)
        self.span = nn.Linear(bert.config.width, 2)  # rows: S, E
        initialise(self.span)

    def read(self, hidden: Tensor) -> SpanLogits:
        """Hidden states (B, T, D) -> `SpanLogits`, padding included; see `best_span`."""
        start, end = self.span(hidden).unbind(dim=-1)  # 2 × (B, T)
        return SpanLogits(start, end)


Layers = Literal[
    "embeddings", "second_to_last", "last", "weighted_last_four", "concat_last_four", "weighted_all"
]


class BertFeatures(nn.Module):
    """Hidden states -> features of each token: the choices of the paper's Table 7 (NER).

    Dev F1 there: embeddings 91.0, second_to_last 95.6, last 94.9, weighted_last_four 95.9,
    concat_last_four 96.1, weighted_all 95.5; fine-tuning all of BERT gives 96.4. A weighted sum has
    a learned weight for each layer, Σ softmax(w)_l h_l, times a learned factor (Peters et al.,
    2018, from where feature extraction comes; BERT's paper does not say how it weighs).

    The encoder's part needs no gradient and is worth keeping:

        with torch.no_grad():
            hidden = capture(bert.eval(), tokens, keep=keep).states["encoder"]
    """

    def __init__(self, config: BertConfig, layers: Layers) -> None:
        super().__init__()
        check_choice(get_args(Layers), layers=layers)
        if "four" in layers and config.depth < 4:
            raise ValueError(f"{layers} needs four blocks, found a Bert of {config.depth}")
        self.layers, self.depth = layers, config.depth
        self.width = config.width * (4 if layers == "concat_last_four" else 1)
        if layers.startswith("weighted"):
            mixed = 4 if layers == "weighted_last_four" else config.depth
            self.weights = nn.Parameter(torch.zeros(mixed))  # equal shares at first
            self.scale = nn.Parameter(torch.ones(()))

    def forward(self, hidden: Sequence[Tensor]) -> Tensor:
        """Hidden, depth + 1 states (B, T, D), the embeddings first -> (B, T, `self.width`)."""
        if len(hidden) != self.depth + 1:
            raise ValueError(
                f"expected the embeddings and {self.depth} hidden states, found {len(hidden)}"
            )
        match self.layers:
            case "embeddings":
                return hidden[0]  # (B, T, D)
            case "second_to_last":
                return hidden[-2]  # (B, T, D)
            case "last":
                return hidden[-1]  # (B, T, D)
            case "concat_last_four":
                return torch.cat(list(hidden[-4:]), dim=-1)  # (B, T, 4D)
        mixed = torch.stack(list(hidden[-len(self.weights) :]))  # (L, B, T, D)
        shares = self.weights.softmax(dim=0)  # (L,)
        return self.scale * torch.einsum("l,lbtd->btd", shares, mixed)  # (B, T, D)


def sentence_vectors(hidden: Tensor, keep: Tensor) -> Tensor:
    """Hidden states (B, T, D), keep (B, T) -> (B, D) of length 1: the mean over the real tokens.

    The dot product of two of them is the cosine of their angle, and says how alike the sentences
    are in meaning.
    """
    check_keep(keep, hidden[..., 0])
    if not keep.any(dim=1).all():
        row = int((~keep.any(dim=1)).nonzero()[0])
        raise ValueError(f"every sentence needs a real token, but row {row} is only padding")
    real = keep[..., None]  # (B, T, 1)
    mean = hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)  # (B, D)
    return F.normalize(mean, dim=-1)  # (B, D)
