"""T5: every task is text to text (Raffel et al., 2020).

An encoder and a decoder as in `seq2seq.py`, made simpler: the norm comes first, only divides by
the root mean square and has no bias, and neither has any linear map. Positions are not added to the
embeddings. Instead each head adds to its scores a learned number that depends on the distance
between query and key (`RelativeBias`); all blocks of a stack share the numbers. The book explains
it in "T5 and BART".

The paper is silent on three things that its code does: scores are not divided by √Dh, since queries
start smaller instead; the output is multiplied by 1/√D before it meets the embeddings; decoding
starts with the padding token. Later versions (1.1, mT5 and ByT5) have a gate in the feed-forward
network and an output matrix of their own, before which nothing is multiplied.
Shapes: B batch, S source, T target, D width, H heads, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

from torch import Tensor, nn

from coursekit._base.checks import check_config
from coursekit.activations import ACTIVATIONS
from coursekit.biases import RelativeBias
from coursekit.blocks import Stack
from coursekit.embedding import WordEmbedding
from coursekit.models.encoder_decoder import EncoderDecoder

Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]


@dataclass(frozen=True, kw_only=True)
class T5Config:
    """Sizes and choices of a `T5`; the defaults are those of T5-small."""

    vocabulary: int = 32_128
    width: int = 512
    depth: int = 6  # blocks in the encoder
    decoder_depth: int | None = None  # None: as many in the decoder
    heads: int = 8
    head_width: int = 64  # need not be width / heads
    hidden: int = 2048
    activation: Activation = "relu"
    gated: bool = False  # a second linear map times the activated one; with "gelu_tanh" in T5 1.1
    buckets: int = 32  # of distances between query and key
    max_distance: int = 128  # from here on all distances share a bucket
    dropout: float = 0.1  # everywhere: embeddings, weights, hidden layers, sublayers, output
    eps: float = 1e-6
    tied: bool = True  # the embedding is the output matrix, too
    scale_output: bool = True  # by 1/√D before it meets the embeddings
    pad: int = 0
    start: int = 0
    end: int = 1

    def __post_init__(self) -> None:
        check_config(self, ids=("pad", "start", "end"))

    @property
    def depth_of_decoder(self) -> int:
        """How many blocks the decoder has."""
        return self.depth if self.decoder_depth is None else self.decoder_depth

    @classmethod
    def small(cls, **changes: Any) -> Self:
        """T5-small, 60 million parameters."""
        return cls(**changes)

    @classmethod
    def base(cls, **changes: Any) -> Self:
        """T5-base, 220 million parameters; the paper's baseline."""
        return cls(**{"width": 768, "depth": 12, "heads": 12, "hidden": 3072, **changes})

    @classmethod
    def t5_1_1_small(cls, **changes: Any) -> Self:
        """T5 1.1 small, 77 million parameters."""
        sizes = {"depth": 8, "heads": 6, "hidden": 1024}
        parts = {"activation": "gelu_tanh", "gated": True, "tied": False, "scale_output": False}
        return cls(**{**sizes, **parts, **changes})

    @classmethod
    def t5_1_1_base(cls, **changes: Any) -> Self:
        """T5 1.1 base, 248 million parameters."""
        sizes = {"width": 768, "depth": 12, "heads": 12, "hidden": 2048}
        return cls.t5_1_1_small(**{**sizes, **changes})

    @classmethod
    def mt5_small(cls, **changes: Any) -> Self:
        """mT5-small, 300 million parameters, most of them the vectors of 101 languages' pieces."""
        return cls.t5_1_1_small(**{"vocabulary": 250_112, **changes})

    @classmethod
    def byt5_small(cls, **changes: Any) -> Self:
        """ByT5-small, 300 million parameters: reads bytes, and is deeper where it reads."""
        sizes = {"vocabulary": 384, "width": 1472, "depth": 12, "decoder_depth": 4, "hidden": 3584}
        return cls.t5_1_1_small(**{**sizes, **changes})


class T5(EncoderDecoder):
    """Encoder, decoder, one embedding for both and for the output, two sets of distances.

    Untied, the output has a matrix of its own.
    """

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = WordEmbedding(config.vocabulary, config.width)
        self.output = None
        if not config.tied:
            self.output = nn.Linear(config.width, config.vocabulary, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        distances: dict[str, Any] = {
            "heads": config.heads,
            "buckets": config.buckets,
            "max_distance": config.max_distance,
        }
        self.encoder_bias = RelativeBias(**distances)
        self.decoder_bias = RelativeBias(**distances, bidirectional=False)
        block: dict[str, Any] = {
            "width": config.width,
            "heads": config.heads,
            "head_width": config.head_width,
            "hidden": config.hidden,
            "norm": "pre",
            "rms_norm": True,
            "activation": ACTIVATIONS[config.activation],
            "gated": config.gated,
            "dropout": config.dropout,
            "bias": False,
            "scale": 1.0,
            "eps": config.eps,
        }
        self.encoder = Stack(depth=config.depth, **block)
        self.decoder = Stack(depth=config.depth_of_decoder, **block, cross_attention=True)
        self._initialise()

    def _initialise(self) -> None:
        """Start so that every product has a variance of about 1, with q taking up the 1/√Dh."""
        width, head_width = self.config.width, self.config.head_width
        nn.init.normal_(self.embedding.weight, std=1.0)
        if self.output is not None:
            nn.init.normal_(self.output.weight, std=width**-0.5)
        for bias in (self.encoder_bias, self.decoder_bias):
            nn.init.normal_(bias.weight, std=width**-0.5)
        for block in (*self.encoder.blocks, *self.decoder.blocks):
            for name in ("self_attention", "cross_attention"):
                if (attention := getattr(block, name, None)) is not None:
                    q, k, v = attention.qkv.weight.data.split(attention.sizes)
                    nn.init.normal_(q, std=(width * head_width) ** -0.5)
                    nn.init.normal_(k, std=width**-0.5)
                    nn.init.normal_(v, std=width**-0.5)
                    nn.init.normal_(attention.out.weight, std=(len(v)) ** -0.5)
            nn.init.normal_(block.feed_forward.expand.weight, std=width**-0.5)
            if self.config.gated:
                nn.init.normal_(block.feed_forward.gate.weight, std=width**-0.5)
            nn.init.normal_(block.feed_forward.contract.weight, std=self.config.hidden**-0.5)

    def embed_source(self, source: Tensor, first: int | Tensor) -> Tensor:
        """source (B, S) -> (B, S, D); positions are in the bias, not in the vectors."""
        return self.dropout(self.embedding(source))

    def embed_target(self, target: Tensor, first: int | Tensor) -> Tensor:
        """target (B, T) -> (B, T, D), as `embed_source`."""
        return self.embed_source(target, first)

    def source_bias(self, S: int) -> Tensor:
        """Return the encoder's distances (H, S, S), the same in every block."""
        return self.encoder_bias(S)

    def target_bias(self, T: int, past: int) -> Tensor:
        """Return the decoder's distances (H, T, past + T): the queries are the last T."""
        return self.decoder_bias(T, past + T)

    def finish(self, x: Tensor) -> Tensor:
        """x (B, T, D), the output of a stack -> the same with dropout."""
        return self.dropout(x)

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden (..., D) -> logits (..., V); 1/√D, as the embeddings have a variance of 1."""
        if self.config.scale_output:
            hidden = hidden * self.config.width**-0.5
        return self.embedding.scores(hidden) if self.output is None else self.output(hidden)
