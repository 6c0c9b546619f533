"""Where heads look: is the word that a head sees most the one that grammar names?

The method is that of Clark et al. (2019, section 4). Weights between pieces become weights between
words; each head then guesses, from a word, the other word that it gives the largest weight. Of 72
heads one is always the luckiest, so a head is chosen on one part of the sentences and judged on
another. Beside it are three that know no grammar: the best fixed offset ("two words to the
left"), an untrained encoder, whose best head is chosen likewise, and a random guess. The sentences
come from `coursekit.data.relations`; the book shows the table in "BERT".
Shapes: B sentences, T pieces, W words, H heads; depth, the number of layers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from statistics import mean

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from coursekit._base.checks import check_int, check_numbers, check_shape, check_tensor
from coursekit.analysis.capture import capture
from coursekit.data.relations import Related
from coursekit.models.bert import Bert, BertConfig
from coursekit.tokenizers.wordpiece import WordPiece

HEADER = (  # of `relation_rows`; shares in percent
    "relation", "best head", "right", "best offset", "right", "untrained", "guessing",
)  # fmt: skip


def encode_words(sentences: Sequence[Related], tokenizer: WordPiece) -> tuple[Tensor, Tensor]:
    """Return tokens (B, T) and which word each belongs to (B, T): −1 is none of them.

    [CLS], [SEP] and padding are no words.
    """
    start, end, pad = map(tokenizer.token_to_id, ("[CLS]", "[SEP]", "[PAD]"))
    tokens, words = [], []
    for sentence in sentences:
        pieces = [tokenizer.encode(word) for word in sentence.words]
        if not all(pieces):
            raise ValueError(f"{sentence.words[pieces.index([])]!r} has no pieces, expected a word")
        owners = [number for number, word in enumerate(pieces) for _ in word]
        tokens.append(torch.tensor([start, *chain(*pieces), end]))
        words.append(torch.tensor([-1, *owners, -1]))
    return pad_sequence(tokens, True, pad), pad_sequence(words, True, -1)  # (B, T), (B, T)


def word_weights(weights: Tensor, words: Tensor) -> Tensor:
    """Turn weights between pieces (B, H, T, T) into weights between words (B, H, W, W).

    `words` (B, T) is that of `encode_words`. What goes to a word is the sum over its pieces, what
    comes from a word their mean. What a row lacks to 1 went to tokens that are no words.
    """
    check_tensor(weights, "weights")
    check_shape(words, "words", "batch, length")
    B, T = words.shape
    if weights.ndim != 4 or weights.shape[0] != B or weights.shape[2:] != (T, T):
        raise ValueError(
            f"weights must have shape ({B}, heads, {T}, {T}), found {tuple(weights.shape)}"
        )
    part = F.one_hot(words + 1)[..., 1:].to(weights.dtype)[:, None]  # (B, 1, T, W)
    pieces = part.sum(dim=2)[..., None].clamp_min(1)  # (B, 1, W, 1): how many a word has
    to = weights @ part  # (B, H, T, W)
    return part.mT @ to / pieces  # (B, H, W, W)


def largest_other(weights: Tensor, rows: Tensor) -> Tensor:
    """Return which other word each head sees most from one word (B, H): −1 if it sees no other.

    `weights` are those between words (B, H, W, W), `rows` (B,) says which word looks.
    """
    sentences = torch.arange(len(rows), device=rows.device)
    row = weights[sentences, :, rows]  # (B, H, W), a copy
    row[sentences, :, rows] = 0.0  # a word is not related to itself
    check_numbers(row, "weights")
    largest = row.max(dim=-1)  # (B, H)
    return largest.indices.masked_fill(largest.values <= 0, -1)


@torch.no_grad()
def relation_hits(
    model: Bert, tokenizer: WordPiece, sentences: Sequence[Related], *, batch: int = 64
) -> Tensor:
    """Return (N, depth, H), True where a head looks from a sentence's dependent at its head.

    The mean over the first axis is the accuracy of every head.
    """
    check_int(batch=batch, sentences=len(sentences))
    if model.training:
        raise ValueError("the model must be in eval mode, found training mode: dropout hides words")
    hits = []
    for some in (sentences[n : n + batch] for n in range(0, len(sentences), batch)):
        tokens, words = encode_words(some, tokenizer)  # (B, T), (B, T)
        keep = tokens != tokenizer.token_to_id("[PAD]")
        weights = capture(model, tokens, keep=keep).weights["encoder.self_attention"]
        related = torch.tensor([(one.dependent, one.head) for one in some])  # (B, 2)
        largest = [largest_other(word_weights(w, words), related[:, 0]) for w in weights]
        hits.append(torch.stack(largest, dim=1) == related[:, 1, None, None])  # (B, depth, H)
    return torch.cat(hits)  # (N, depth, H)


def judged_head(choosing: Tensor, judging: Tensor) -> tuple[int, int, float]:
    """Return layer and number, from 0, of the head that is best in `choosing`, and its share.

    Both are hits (N, depth, H), of two sets of sentences; the share is that of `judging`.
    """
    best = int(choosing.double().mean(dim=0).argmax())
    layer, head = divmod(best, choosing.shape[-1])
    return layer, head, judging[:, layer, head].double().mean().item()


def best_offset(sentences: Sequence[Related]) -> int:
    """Return the commonest distance from dependent to head, the shortest of several."""
    counts = Counter(one.offset for one in sentences)
    return min(counts, key=lambda offset: (-counts[offset], abs(offset), offset))


def offset_share(sentences: Sequence[Related], offset: int) -> float:
    """Return in what share of the sentences the head is at this distance."""
    check_int(-math.inf, offset=offset)
    return sum(one.offset == offset for one in sentences) / len(sentences)


def guess_share(sentences: Sequence[Related]) -> float:
    """Return how often one is right who points at any other word."""
    return mean(1 / (len(one.words) - 1) for one in sentences)


def fresh(config: BertConfig, seed: int = 0) -> Bert:
    """Return an untrained encoder of the same size; torch's own random state is left alone."""
    check_int(0, seed=seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Bert(config, pooler=False).eval()


def relation_rows(
    model: Bert,
    untrained: Sequence[Bert],
    tokenizer: WordPiece,
    parts: Iterable[tuple[Sequence[Related], Sequence[Related]]],
) -> list[list[str | float]]:
    """Return a row of `HEADER` for each pair (sentences to choose on, sentences to judge on).

    Layers and heads count from 1 here, as in the paper: 8-11 is head 11 of layer 8. Of several
    `untrained` encoders each chooses its own best head, and their mean is shown.
    """
    check_int(untrained=len(untrained))
    rows: list[list[str | float]] = []
    for choose, judge in parts:
        heads = []
        for encoder in (model, *untrained):
            hits = [relation_hits(encoder, tokenizer, some) for some in (choose, judge)]
            heads.append(judged_head(*hits))
        (layer, head, right), *lucky = heads
        offset = best_offset(choose)
        shares = [offset_share(judge, offset), mean(share for *_, share in lucky)]
        shares = [100 * share for share in (right, *shares, guess_share(judge))]
        name = f"{layer + 1}-{head + 1}"
        rows.append([choose[0].relation, name, shares[0], f"{offset:+d}", *shares[1:]])
    return rows
