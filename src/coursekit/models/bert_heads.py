"""What BERT is used for: one small layer on top, and everything is trained (Devlin et al., 2019).

Three heads cover the paper's four kinds of task: the class of one sentence or of a pair
(`BertClassifier`), a tag for every token (`BertTagger`), and the span of a passage that answers a
question (`BertSpan` and `best_span`). A fourth, `BertMultipleChoice`, compares answers. Each takes
a `Bert`, fresh or pre-trained. `BertFeatures` is the other way: the encoder stays as it is, and
what it says about each token becomes the input of another model.
The book explains all of it in "BERT".
Shapes: B batch, T length, D width, C classes, L layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from coursekit._base.checks import check_choice, check_tensor, check_under, check_whole
from coursekit.models.bert import Bert, BertConfig, initialise
from coursekit.models.spans import Span, SpanLogits, best_span  # noqa: F401  had their home here
from coursekit.models.weights import bert as table
from coursekit.models.weights.rules import HuggingFace, Rule, same


class BertClassifier(HuggingFace):
    """The class of a sentence, or of a pair of sentences that the segments tell apart.

    Only the pooled [CLS] is read. `classes=1` makes a regression, as the paper does for STS-B.
    """

    def __init__(self, bert: Bert, *, classes: int) -> None:
        super().__init__()
        _check_head(bert, classes)
        if bert.pooler is None:
            raise ValueError(
                f"{type(self).__name__} reads the pooled [CLS]: make the Bert with its pooler"
            )
        self.bert = bert
        self.dropout = nn.Dropout(bert.config.dropout_of_head)
        self.classifier = nn.Linear(bert.config.width, classes)
        initialise(self.classifier)

    def forward(
        self,
        tokens: Tensor,
        segments: Tensor | None = None,
        keep: Tensor | None = None,
        *,
        head_mask: Tensor | None = None,
    ) -> Tensor:
        """Tokens, segments, keep (B, T) -> logits (B, C)."""
        hidden = self.bert(tokens, segments, keep, head_mask=head_mask)  # (B, T, D)
        return self.classifier(self.dropout(self.bert.pool(hidden)))  # (B, C)

    @classmethod
    def from_huggingface(cls, theirs: Mapping[str, Tensor], config: BertConfig) -> BertClassifier:
        """Build from the state dict of `BertForSequenceClassification`."""
        bert = Bert(config, pooler=True)
        return cls(bert, classes=_rows(theirs, "classifier")).load_huggingface(theirs)

    def rules(self) -> list[Rule]:
        """Return the names of `BertForSequenceClassification`."""
        if self.bert.config.skip_padding:
            raise ValueError("transformers classifies with RoBERTa as RobertaClassifier does")
        return _rules(self, "classifier", pooler=True)


class RobertaClassifier(HuggingFace):
    """The class of a sentence or a pair, without the layer that next-sentence training would leave.

    RoBERTa is not trained on next sentences, so a new layer stands where the pooler was.
    """

    def __init__(self, bert: Bert, *, classes: int) -> None:
        super().__init__()
        _check_head(bert, classes)
        if bert.pooler is not None:
            raise ValueError("RobertaClassifier has a layer of its own: make the Bert pooler=False")
        self.bert = bert
        self.dropout = nn.Dropout(bert.config.dropout_of_head)
        self.dense = nn.Linear(bert.config.width, bert.config.width)
        self.classifier = nn.Linear(bert.config.width, classes)
        initialise(self.dense)
        initialise(self.classifier)

    def forward(
        self,
        tokens: Tensor,
        segments: Tensor | None = None,
        keep: Tensor | None = None,
        *,
        head_mask: Tensor | None = None,
    ) -> Tensor:
        """Tokens, segments, keep (B, T) -> logits (B, C)."""
        first = self.bert(tokens, segments, keep, head_mask=head_mask)[:, 0]  # (B, D)
        first = self.dense(self.dropout(first)).tanh()  # (B, D)
        return self.classifier(self.dropout(first))  # (B, C)

    @classmethod
    def from_huggingface(
        cls, theirs: Mapping[str, Tensor], config: BertConfig
    ) -> RobertaClassifier:
        """Build from the state dict of `RobertaForSequenceClassification`."""
        model = cls(Bert(config, pooler=False), classes=_rows(theirs, "classifier.out_proj"))
        return model.load_huggingface(theirs)

    def rules(self) -> list[Rule]:
        """Return the names of `RobertaForSequenceClassification`."""
        dense = same("dense", "classifier.dense")
        return _rules(self, "classifier", "classifier.out_proj") + dense


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
        check_tensor(tokens, "tokens")
        if tokens.ndim != 3:
            raise ValueError(
                f"tokens must have shape (batch, answers, length), found {tuple(tokens.shape)}"
            )
        flat = (None if x is None else x.flatten(0, 1) for x in (tokens, segments, keep))
        return super().forward(*flat, head_mask=head_mask).view(tokens.shape[:2])  # (B, N)

    @classmethod
    def from_huggingface(
        cls, theirs: Mapping[str, Tensor], config: BertConfig
    ) -> BertMultipleChoice:
        """Build from the state dict of `BertForMultipleChoice` or RoBERTa's."""
        return cls(Bert(config, pooler=True)).load_huggingface(theirs)

    def rules(self) -> list[Rule]:
        """Return the names of `BertForMultipleChoice` or RoBERTa's."""
        return _rules(self, "classifier", pooler=True)


class BertTagger(HuggingFace):
    """One class for every token: names, parts of speech, the comma that follows.

    A word of several WordPieces is tagged at its first, or at its last where the tag says what
    follows the word; leave the others out of the loss.
    """

    def __init__(self, bert: Bert, *, classes: int) -> None:
        super().__init__()
        _check_head(bert, classes)
        self.bert = bert
        self.dropout = nn.Dropout(bert.config.dropout_of_head)
        self.classifier = nn.Linear(bert.config.width, classes)
        initialise(self.classifier)

    def forward(
        self,
        tokens: Tensor,
        segments: Tensor | None = None,
        keep: Tensor | None = None,
        *,
        head_mask: Tensor | None = None,
    ) -> Tensor:
        """Tokens, segments, keep (B, T) -> logits (B, T, C)."""
        hidden = self.bert(tokens, segments, keep, head_mask=head_mask)  # (B, T, D)
        return self.classifier(self.dropout(hidden))  # (B, T, C)

    @classmethod
    def from_huggingface(cls, theirs: Mapping[str, Tensor], config: BertConfig) -> BertTagger:
        """Build from the state dict of `BertForTokenClassification` or RoBERTa's."""
        model = cls(Bert(config, pooler=False), classes=_rows(theirs, "classifier"))
        return model.load_huggingface(theirs)

    def rules(self) -> list[Rule]:
        """Return the names of `BertForTokenClassification` or RoBERTa's."""
        return _rules(self, "classifier")


class BertSpan(HuggingFace):
    """Where the answer to a question stands in a passage: two learned vectors S and E (SQuAD).

    The loss is the mean of two cross-entropies over the T places, one for the true start and one
    for the true end. The question is segment 0, the passage segment 1.
    """

    def __init__(self, bert: Bert) -> None:
        super().__init__()
        _check_head(bert, classes=2)
        self.bert = bert
        self.span = nn.Linear(bert.config.width, 2)  # rows: S, E
        initialise(self.span)

    def forward(
        self,
        tokens: Tensor,
        segments: Tensor | None = None,
        keep: Tensor | None = None,
        *,
        head_mask: Tensor | None = None,
    ) -> SpanLogits:
        """Tokens, segments, keep (B, T) -> `SpanLogits`, padding included; see `best_span`."""
        logits = self.span(self.bert(tokens, segments, keep, head_mask=head_mask))  # (B, T, 2)
        start, end = logits.unbind(dim=-1)  # 2 × (B, T)
        return SpanLogits(start, end)

    @classmethod
    def from_huggingface(cls, theirs: Mapping[str, Tensor], config: BertConfig) -> BertSpan:
        """Build from the state dict of `BertForQuestionAnswering` or RoBERTa's."""
        return cls(Bert(config, pooler=False)).load_huggingface(theirs)

    def rules(self) -> list[Rule]:
        """Return the names of `BertForQuestionAnswering` or RoBERTa's."""
        return _rules(self, "span", "qa_outputs")


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
                return torch.cat(hidden[-4:], dim=-1)  # (B, T, 4D)
        mixed = torch.stack(hidden[-len(self.weights) :])  # (L, B, T, D)
        shares = self.weights.softmax(dim=0)  # (L,)
        return self.scale * torch.einsum("l,lbtd->btd", shares, mixed)  # (B, T, D)


def _check_head(bert: Bert, classes: int) -> None:
    check_under(bert, Bert)
    check_whole(classes=classes)


def _rows(theirs: Mapping[str, Tensor], name: str) -> int:
    """How many classes their layer `name` tells apart."""
    if f"{name}.bias" not in theirs:
        raise ValueError(f"the weights lack '{name}.bias', which this model needs")
    return len(theirs[f"{name}.bias"])


def _rules(
    model: nn.Module, head: str, theirs: str | None = None, *, pooler: bool = False
) -> list[Rule]:
    """Name the encoder and the last layer, `head`."""
    config = model.bert.config
    encoder = table.encoder(config.depth, family=config.family, pooler=pooler)
    return encoder + same(head, theirs or head)
