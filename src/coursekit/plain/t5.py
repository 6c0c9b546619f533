"""T5 on a page: every task is text to text (Raffel et al., 2020).

An encoder and a decoder, made simpler: the norm comes first and only divides (Pre-LN, RMSNorm), no
linear map has a bias, and positions are numbers added to the attention scores, one for each head
and bucket of distance, the same in all blocks. Dropout is left out. `models/t5.py` is the same
model with what real use needs, and the later versions. The book explains it in "T5 and BART".
Shapes: B batch, S source, T target, D width, H heads, Dh head width, V vocabulary.
"""

from __future__ import annotations

from torch import Tensor, nn

from coursekit.attention import attention
from coursekit.biases import RelativeBias
from coursekit.feed_forward import FeedForward
from coursekit.heads import merge_heads, split_heads
from coursekit.kernels import dot
from coursekit.masks import causal, padding
from coursekit.norms import RMSNorm


class T5Attention(nn.Module):
    """Four matrices; the scores are bare dot products, not divided by √Dh."""

    def __init__(self, *, width: int, heads: int, head_width: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, heads * head_width, bias=False)
        self.key = nn.Linear(width, heads * head_width, bias=False)
        self.value = nn.Linear(width, heads * head_width, bias=False)
        self.out = nn.Linear(heads * head_width, width, bias=False)
        nn.init.normal_(self.query.weight, std=(width * head_width) ** -0.5)  # here is the 1/√Dh

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, bias: Tensor | None) -> Tensor:
        """x (B, T, D) looks at memory (B, S, D) -> (B, T, D); `bias` (H, T, S) is on the scores."""
        q = split_heads(self.query(x), self.heads)  # (B, H, T, Dh)
        k = split_heads(self.key(memory), self.heads)  # (B, H, S, Dh)
        v = split_heads(self.value(memory), self.heads)  # (B, H, S, Dh)
        y = attention(q, k, v, mask, kernel=dot, bias=bias)  # (B, H, T, Dh)
        return self.out(merge_heads(y))  # (B, T, D)


class EncoderBlock(nn.Module):
    """Look at the whole source, then think about each word; normalise before each step."""

    def __init__(self, *, width: int, heads: int, head_width: int, hidden: int) -> None:
        super().__init__()
        self.self_norm = RMSNorm(width, eps=1e-6)
        self.self_attention = T5Attention(width=width, heads=heads, head_width=head_width)
        self.feed_norm = RMSNorm(width, eps=1e-6)
        self.feed_forward = FeedForward(width=width, hidden=hidden, bias=False)

    def forward(self, x: Tensor, bias: Tensor, mask: Tensor) -> Tensor:
        """x (B, S, D), bias (H, S, S), mask (B, 1, 1, S) -> (B, S, D)."""
        y = self.self_norm(x)
        x = x + self.self_attention(y, y, mask, bias)
        return x + self.feed_forward(self.feed_norm(x))


class DecoderBlock(nn.Module):
    """Look at what is written, then at the source, then think about each word."""

    def __init__(self, *, width: int, heads: int, head_width: int, hidden: int) -> None:
        super().__init__()
        self.self_norm = RMSNorm(width, eps=1e-6)
        self.self_attention = T5Attention(width=width, heads=heads, head_width=head_width)
        self.cross_norm = RMSNorm(width, eps=1e-6)
        self.cross_attention = T5Attention(width=width, heads=heads, head_width=head_width)
        self.feed_norm = RMSNorm(width, eps=1e-6)
        self.feed_forward = FeedForward(width=width, hidden=hidden, bias=False)

    def forward(
        self, x: Tensor, past: Tensor, bias: Tensor, memory: Tensor, mask: Tensor
    ) -> Tensor:
        """x (B, T, D), past (T, T), bias (H, T, T); memory (B, S, D), mask (B, 1, 1, S)."""
        y = self.self_norm(x)
        x = x + self.self_attention(y, y, past, bias)
        x = x + self.cross_attention(self.cross_norm(x), memory, mask, bias=None)
        return x + self.feed_forward(self.feed_norm(x))


class PlainT5(nn.Module):
    """Encoder, decoder, one matrix of words, two tables of distances; the sizes of T5-small."""

    def __init__(
        self, *, vocabulary: int = 32_128, width: int = 512, depth: int = 6, heads: int = 8,
        head_width: int = 64, hidden: int = 2048, pad: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.pad, self.factor = pad, width**-0.5
        self.embedding = nn.Embedding(vocabulary, width)  # of source, target and output
        self.encoder_bias = RelativeBias(heads=heads)  # (32, H): a number for each bucket and head
        self.decoder_bias = RelativeBias(heads=heads, bidirectional=False)  # all of it for the past
        sizes = {"width": width, "heads": heads, "head_width": head_width, "hidden": hidden}
        self.encoder = nn.ModuleList(EncoderBlock(**sizes) for _ in range(depth))
        self.encoder_norm = RMSNorm(width, eps=1e-6)
        self.decoder = nn.ModuleList(DecoderBlock(**sizes) for _ in range(depth))
        self.decoder_norm = RMSNorm(width, eps=1e-6)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """source (B, S), target (B, T) -> logits (B, T, V); the target begins with padding."""
        mask = padding(source, self.pad)  # (B, 1, 1, S): the source's padding is masked
        bias = self.encoder_bias(source.shape[1])  # (H, S, S): one for all blocks
        memory = self.embedding(source)  # (B, S, D)
        for block in self.encoder:
            memory = block(memory, bias, mask)  # (B, S, D)
        memory = self.encoder_norm(memory)
        past = causal(target.shape[1], device=target.device)  # (T, T): no position sees a later one
        bias = self.decoder_bias(target.shape[1])  # (H, T, T)
        x = self.embedding(target)  # (B, T, D)
        for block in self.decoder:
            x = block(x, past, bias, memory, mask)  # (B, T, D)
        x = self.decoder_norm(x) * self.factor  # the embeddings have a variance of 1, not of 1 / D
        return x @ self.embedding.weight.T  # (B, T, V)
