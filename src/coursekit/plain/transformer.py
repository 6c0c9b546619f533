"""The Transformer on a page: attention is all you need (Vaswani et al., 2017).

An encoder reads the source in both directions, a decoder writes the target and looks at the source
while it does; each sublayer is followed by "add and normalise" (Post-LN). Dropout is left out, and
attention with its four matrices is that of `coursekit.heads`. `models/seq2seq.py` is the same model
with what real use needs. The book explains it in "The Transformer that translates".
Shapes: B batch, S source length, T target length, D width, V vocabulary.
"""

from __future__ import annotations

from torch import Tensor, nn

from coursekit.feed_forward import FeedForward
from coursekit.heads import MultiHeadAttention
from coursekit.masks import causal, padding
from coursekit.positions import SinusoidalPosition


class EncoderBlock(nn.Module):
    """Attend to the whole source, then a feed-forward network on each word."""

    def __init__(self, *, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(width=width, heads=heads, bias=False)
        self.self_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width=width, hidden=hidden)
        self.feed_norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x (B, S, D), mask (B, 1, 1, S) -> (B, S, D)."""
        x = self.self_norm(x + self.self_attention(x, mask=mask))
        return self.feed_norm(x + self.feed_forward(x))


class DecoderBlock(nn.Module):
    """Attend to what is written, then to the source, then a feed-forward network on each word."""

    def __init__(self, *, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(width=width, heads=heads, bias=False)
        self.self_norm = nn.LayerNorm(width)
        self.cross_attention = MultiHeadAttention(width=width, heads=heads, bias=False)
        self.cross_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width=width, hidden=hidden)
        self.feed_norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, memory: Tensor, past: Tensor, mask: Tensor) -> Tensor:
        """x (B, T, D), memory (B, S, D), past (T, T), mask (B, 1, 1, S) -> (B, T, D)."""
        x = self.self_norm(x + self.self_attention(x, mask=past))
        x = self.cross_norm(x + self.cross_attention(x, memory, mask=mask))  # keys: the memory
        return self.feed_norm(x + self.feed_forward(x))


class PlainTransformer(nn.Module):
    """Encoder, decoder and one matrix of words; the sizes are those of the paper's base model."""

    def __init__(
        self, *, vocabulary: int = 37_000, width: int = 512, depth: int = 6, heads: int = 8,
        hidden: int = 2048, pad: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.pad, self.scale = pad, width**0.5
        self.embedding = nn.Embedding(vocabulary, width)  # of source, target and output
        nn.init.normal_(self.embedding.weight, std=width**-0.5)  # times `scale`: a variance of 1
        self.positions = SinusoidalPosition(width=width)  # adds sine waves, learns nothing
        sizes = {"width": width, "heads": heads, "hidden": hidden}
        self.encoder = nn.ModuleList(EncoderBlock(**sizes) for _ in range(depth))
        self.decoder = nn.ModuleList(DecoderBlock(**sizes) for _ in range(depth))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """source (B, S), target (B, T) -> logits (B, T, V): the word that follows each target word.

        The target begins with the start token. Its padding is at the end, unseen.
        """
        mask = padding(source, self.pad)  # (B, 1, 1, S): the source's padding is masked
        memory = self.positions(self.embedding(source) * self.scale)  # (B, S, D)
        for block in self.encoder:
            memory = block(memory, mask)  # (B, S, D)
        past = causal(target.shape[1], device=target.device)  # (T, T): no position sees a later one
        x = self.positions(self.embedding(target) * self.scale)  # (B, T, D)
        for block in self.decoder:
            x = block(x, memory, past, mask)  # (B, T, D)
        return x @ self.embedding.weight.T  # (B, T, V)
