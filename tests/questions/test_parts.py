"""What an assignment calls right is what the course's own parts and torch compute, on every case.

Our answers are written as a learner would write them, so that a mistake is an edit of them. The
parts were written elsewhere and for other ends.
"""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace

import ours
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from coursekit import activations, heads, kernels, masks
from coursekit.analysis.depth import distance_to_equal_rows
from coursekit.analysis.relations import best_offset, largest_other, offset_share
from coursekit.attention import attention, attention_weights, masked_softmax, nadaraya_watson
from coursekit.decoding.sampling import keep_top_k, keep_top_p
from coursekit.decoding.spans import best_span
from coursekit.local import local_attention
from coursekit.models.bert import Bert, BertConfig, MaskedLMHead
from coursekit.models.bert_heads import BertClassifier, sentence_vectors
from coursekit.models.encoder_decoder import shift_right
from coursekit.models.gpt_heads import (
    Marks,
    classification,
    entailment,
    multiple_choice,
    similarity,
)
from coursekit.objectives.denoising import split_sentences
from coursekit.objectives.input_formats import full_sentences
from coursekit.objectives.label_smoothing import smoothed_cross_entropy
from coursekit.objectives.masked_lm import TABLE_8, mlm_mask
from coursekit.objectives.next_sentence import SentencePair, encode_pair
from coursekit.objectives.preferences import dpo_loss, reward_loss, rlhf_reward
from coursekit.objectives.rows import pad_rows
from coursekit.objectives.span_corruption import SpanCorruption, replace_spans
from coursekit.objectives.special_tokens import SpecialTokens
from coursekit.positions import Rotary, shift_matrix, sinusoidal
from coursekit.tokenizers.byte_bpe import show, unshow
from coursekit.tokenizers.unigram import best_segmentation
from coursekit.training import finetuning
from coursekit.training.schedules import vaswani

read = ours.module("a13_gpt", "shared").read


def causal_mask(T, S, ahead):
    return masks.causal(T + ahead, S + ahead)[ahead:, :S]


def padding_mask(tokens, end):
    before = [row.index(end) + 1 if end in row else len(row) for row in tokens.tolist()]
    return masks.lengths(before, tokens.shape[1])


def window_attention(q, k, v, radius):
    shape = (*q.shape[:-1], v.shape[-1])
    q, k, v = (x.reshape(-1, 1, *x.shape[-2:]) for x in (q, k, v))
    return local_attention(q, k, v, radius=radius).reshape(shape)


class MultiHead(nn.Module):
    def __init__(self, *, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, memory=None, mask=None):
        memory = x if memory is None else memory
        projected = (self.query(x), self.key(memory), self.value(memory))
        q, k, v = (heads.split_heads(y, self.heads) for y in projected)
        mask = None if mask is None else mask[:, None]
        return self.out(heads.merge_heads(attention(q, k, v, mask)))


def head_contributions(x, weight):
    return torch.einsum("bhtd,ohd->bhto", x, weight.unflatten(1, (x.shape[1], -1)))


def grouped_attention(q, k, v):
    times = q.shape[1] // k.shape[1]
    return attention(q, k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1))


def cached_attention(q, k, v, past=None):
    if past is not None:
        k, v = torch.cat([past[0], k], dim=-2), torch.cat([past[1], v], dim=-2)
    return attention(q, k, v, causal=True), (k, v)


def turn(x, places, base=10_000.0):
    return Rotary(width=x.shape[-1], base=base)(x, position_ids=places)


class RotaryAttention(nn.Module):
    def __init__(self, *, width, base=10_000.0):
        super().__init__()
        self.query, self.key = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.value, self.base = nn.Linear(width, width, bias=False), base

    def forward(self, x, places):
        q, k = (turn(part(x), places, self.base) for part in (self.query, self.key))
        return attention(q, k, self.value(x))


class TokenNorm(nn.LayerNorm):
    def __init__(self, *, width, eps=1e-5):
        super().__init__(width, eps=eps)


class ByteAlphabet:
    def write(self, text):
        return show(text.encode())

    def read(self, symbols):
        return unshow(symbols).decode(errors="replace")


def accumulate(weight, batches, pad=0):
    """All tokens in one big batch, which is what small ones have to equal."""
    x = torch.cat([x.flatten(0, 1) for x, _ in batches])
    labels = torch.cat([labels.flatten() for _, labels in batches])
    with torch.enable_grad():
        w = weight.detach().clone().requires_grad_()
        return torch.autograd.grad(F.cross_entropy(x @ w.T, labels, ignore_index=pad), w)[0]


def pair_input(first, second, length, cls=101, sep=102, pad=0):
    special = SpecialTokens(pad=pad, cls=cls, sep=sep, mask=10**6)
    made = encode_pair(SentencePair(first, second, True), special, max_length=length)
    real, filled = [1] * len(made.tokens), [0] * length  # what is padded to the longest of two
    rows = ((made.tokens, pad), (made.segments, 0), (real, 0))
    tokens, segments, keep = (pad_rows([row, filled], fill)[0] for row, fill in rows)
    return tokens, segments, keep.bool()


def blank_scores(hidden, chosen, words, head):
    vocabulary, width = words.shape
    module = MaskedLMHead(BertConfig(vocabulary=vocabulary, width=width, heads=1)).to(hidden.dtype)
    module.load_state_dict(head)
    return module(hidden, lambda h, bias: F.linear(h, words, bias), chosen)


def relation_accuracy(weights, pairs, words):
    """Weights to what is no word are taken away, as `word_weights` does it."""
    start, goal = pairs.T
    seen = largest_other(weights * words[:, None, None], start)  # (B, H)
    related = [SimpleNamespace(offset=int(offset)) for offset in goal - start]
    offset = best_offset(related)
    return (seen == goal[:, None]).float().mean(dim=0), offset, offset_share(related, offset)


def fill_inputs(documents, length, cls=0, sep=2):
    special = SpecialTokens(pad=10**6, cls=cls, sep=sep, mask=10**6 + 1)
    return full_sentences(documents, special, max_length=length)


def fresh_masks(tokens, special, mask, epoch, seed, copies=None, rate=0.15):
    pad, cls, sep, *others = (one for one in special if one != mask)
    ids = SpecialTokens(pad=pad, cls=cls, sep=sep, mask=mask, others=tuple(others))
    version = epoch if copies is None else epoch % copies
    chance = torch.Generator().manual_seed(1000 * seed + version)
    always = TABLE_8["100/0/0"]
    made = mlm_mask(tokens, ids, 60_000, rate=rate, replacement=always, generator=chance)
    return made.inputs, made.labels


def find_translation(first, keep_first, second, keep_second):
    cosines = sentence_vectors(first, keep_first) @ sentence_vectors(second, keep_second).T
    found = [cosines.topk(1, dim=dim).indices.flatten() for dim in (1, 0)]
    return *found, *[(one == torch.arange(len(one))).double().mean().item() for one in found]


def layer_rates(names, depth, peak, decay):
    """The groups that an optimiser is given for a BERT of so many blocks and its head."""
    sizes = {"vocabulary": 3, "width": 2, "heads": 1, "hidden": 2, "positions": 2}
    bert = Bert(BertConfig(depth=max(depth, 1), **sizes))
    model = BertClassifier(bert, classes=2)
    if not depth:  # no Bert is without blocks; the embeddings lie one step below the head
        bert.encoder.blocks = nn.ModuleList()
    groups = finetuning.layer_rates(model, peak, decay)
    rates = {weight: group["lr"] for group in groups for weight in group["params"]}
    homes = {"embeddings": bert.embeddings, "pooler": bert.pooler}

    def rate(name):
        first, second = name.split(".")[:2]
        blocks = bert.encoder.blocks
        home = blocks[int(second)] if first == "blocks" else homes.get(first, model.classifier)
        (found,) = {rates[weight] for weight in home.parameters()}
        return found

    return {name: rate(name) for name in names}


def span_loss(start, end, first, last, passage):
    """One cross-entropy over the tokens of the passage alone, cut out of each row."""
    losses = []
    for row, inside in enumerate(passage):
        begin = int(inside.nonzero()[0])
        for scores, place in ((start, first), (end, last)):
            losses.append(F.cross_entropy(scores[row][inside], place[row] - begin))
    return torch.stack(losses).mean()


def next_token(logits, temperature=1.0, top_k=None, top_p=1.0):
    """What `choosing.sample` draws from."""
    logits = logits / temperature
    logits = logits if top_k is None else keep_top_k(logits, top_k)
    return keep_top_p(logits, top_p).softmax(dim=-1)


def bits_per_byte(logits, tokens, texts, pad):
    """The course's loss, nats for each token, in the other currency."""
    labels = tokens[:, 1:].flatten()
    tokens = (labels != pad).sum().item()
    rows = logits[:, :-1].flatten(0, 1)
    loss = smoothed_cross_entropy(rows, labels, smoothing=0.0, pad=pad).item()
    return loss * tokens / math.log(2) / sum(len(text.encode()) for text in texts)


def task_sequences(task, texts, marks, model, head):
    start, delimiter, extract = marks
    marks = Marks(start=start, delimiter=delimiter, extract=extract, pad=start)
    made = {
        "classification": lambda: [classification(texts[0], marks)],
        "entailment": lambda: [entailment(*texts, marks)],
        "similarity": lambda: similarity(*texts, marks),
        "choice": lambda: multiple_choice(texts[0], texts[1:], marks),
    }[task]()
    rows = [read(model, torch.tensor([one]), torch.arange(len(one))[None])[0][0] for one in made]
    last = torch.stack([row[one.index(extract)] for row, one in zip(rows, made)])  # (N, D)
    return made, F.linear(last, head)[:, 0] if task == "choice" else F.linear(last, head).sum(dim=0)


def prefer(policy, reference, answer, beta=0.1):
    """The course's DPO takes one log probability for each answer."""
    sums = [side.where(answer, 0.0).sum(dim=-1) for side in (policy, reference)]  # (2, B) each
    return dpo_loss(*sums[0], *sums[1], beta=beta).loss


def kl_of_sample(policy, reference, answer):
    """What RLHF takes off a reward of 0 with beta 1."""
    sums = [side.where(answer, 0.0).sum(dim=-1) for side in (policy, reference)]  # (N,) each
    ratios = -rlhf_reward(torch.zeros_like(sums[0]), *sums, beta=1.0).detach()
    return ratios, ratios.mean().item()


def corrupt(tokens, spans, sentinel=32_099, end=1):
    setting = SpanCorruption(
        first_sentinel=sentinel, end=end, final_sentinel=True, shared_sentinels=True
    )
    hidden = torch.zeros(1, len(tokens), dtype=torch.bool)
    for start, stop in spans:
        hidden[0, start:stop] = True
    made = replace_spans(torch.tensor([tokens]), hidden, setting)
    return made.inputs[0].tolist(), made.targets[0].tolist()


def apart(x, keep):
    rows, kept = x.reshape(-1, *x.shape[-2:]), keep.reshape(-1, keep.shape[-1])
    found = [distance_to_equal_rows(row[real]) for row, real in zip(rows, kept)]
    return torch.stack(found).reshape(x.shape[:-2])


def expected_best(scores, n):
    best = partial(finetuning.expected_best, n=n, replacement=False)
    lifted = [score - min(scores) for score in scores]  # so that squares have the same order
    variance = best([x**2 for x in lifted]) - best(lifted) ** 2
    return best(scores), math.sqrt(max(variance, 0.0))


def shuffle_sentences(tokens, order, stops):
    sentences = split_sentences(torch.tensor(tokens, dtype=torch.long), stops)
    named = torch.tensor(order, dtype=torch.long).sort().values
    if not torch.equal(named, torch.arange(len(sentences))):
        raise ValueError(f"found the order {order}")
    return [token for number in order for token in sentences[number].tolist()]


PARTS = {
    "shares": masked_softmax,
    "gaussian_scores": lambda q, k, h: kernels.gaussian(q / h, k / h),
    "predict": nadaraya_watson,
    "self_attention": lambda x, wq, wk, wv: attention(x @ wq, x @ wk, x @ wv),
    "scaled_attention": lambda q, k, v: (attention(q, k, v), attention_weights(q, k)),
    "causal_mask": causal_mask,
    "padding_mask": padding_mask,
    "masked_shares": masked_softmax,
    "decoder_mask": lambda x, end: masks.causal(x.shape[-1]) & padding_mask(x, end),
    "window_attention": window_attention,
    "split_heads": lambda x, count: torch.stack(
        [heads.split_heads(part, count) for part in x.chunk(3, dim=-1)]
    ),
    "merge_heads": lambda x, keep: heads.merge_heads(x * keep[:, None, None]),
    "MultiHead": MultiHead,
    "head_contributions": head_contributions,
    "grouped_attention": grouped_attention,
    "cached_attention": cached_attention,
    "sinusoids": lambda places, width, base=10_000.0: sinusoidal(
        places, width, base=base, dtype=places.dtype
    ),
    "shift": lambda delta, width, base=10_000.0: shift_matrix(delta, width, base=base),
    "turn": turn,
    "RotaryAttention": RotaryAttention,
    "gelu": lambda x, sigma: sigma * activations.gelu(x / sigma),
    "apart": apart,
    "TokenNorm": TokenNorm,
    "ByteAlphabet": ByteAlphabet,
    "likeliest": lambda word, scores: best_segmentation(
        word, scores, max(map(len, scores), default=1)
    ),
    "teacher_forcing": lambda target, start=1, pad=0: (
        shift_right(target, start),
        target,
        target != pad,
    ),
    "smoothed_loss": lambda logits, labels, pad, smoothing=0.1: smoothed_cross_entropy(
        logits, labels, smoothing=smoothing, pad=pad
    ),
    "paper_rate": lambda step, width, warmup=4000: vaswani(width=width, warmup=warmup)(step),
    "accumulate": accumulate,
    "pair_input": pair_input,
    "blank_scores": blank_scores,
    "answer_span": lambda start, end, passage, longest=30: tuple(
        best_span(start, end, passage, longest=longest)[:2]
    ),
    "relation_accuracy": relation_accuracy,
    "fill_inputs": fill_inputs,
    "fresh_masks": fresh_masks,
    "find_translation": find_translation,
    "layer_rates": layer_rates,
    "expected_best": expected_best,
    "stop_early": lambda curves, looks: finetuning.stop_early(curves, looks)[:3],
    "span_loss": span_loss,
    "next_token": next_token,
    "bits_per_byte": bits_per_byte,
    "task_sequences": task_sequences,
    "pair_reward_loss": lambda chosen, rejected, margin=0.0: reward_loss(
        chosen, rejected, margin=margin
    ),
    "prefer": prefer,
    "kl_of_sample": kl_of_sample,
    "corrupt": corrupt,
    "shuffle_sentences": shuffle_sentences,
}


@pytest.mark.parametrize("name", PARTS)
def test_our_answer_and_the_part_of_the_course_agree_on_every_case(name):
    ours.agree(name, PARTS[name])
