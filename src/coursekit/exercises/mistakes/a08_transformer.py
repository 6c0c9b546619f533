"""Wrong answers to assignment 8, as people give them; the hints are in `../a08_transformer.py`.

Each beam search and each BLEU is whole, so that it can stand in a cell of its own.
"""

# ruff: noqa: D101, D102, D103 -- what is wrong with each is said where it becomes a Misconception
from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def forced_not_shifted(
    target: Tensor, start: int = 1, pad: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    return target.clone(), target, target != pad


def forced_to_the_left(
    target: Tensor, start: int = 1, pad: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    gap = torch.full_like(target[:, :1], pad)
    return torch.cat([target[:, 1:], gap], dim=1), target, target != pad


def forced_both(target: Tensor, start: int = 1, pad: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    return target[:, :-1], target[:, 1:], target[:, 1:] != pad


def forced_nothing_dropped(
    target: Tensor, start: int = 1, pad: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    first = torch.full_like(target[:, :1], start)
    return torch.cat([first, target], dim=1), target, target != pad


def forced_rolled(target: Tensor, start: int = 1, pad: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    return target.roll(1, dims=1), target, target != pad


def forced_first_overwritten(
    target: Tensor, start: int = 1, pad: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    first = torch.full_like(target[:, :1], start)
    return torch.cat([first, target[:, 1:]], dim=1), target, target != pad


def forced_real_inputs(
    target: Tensor, start: int = 1, pad: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    first = torch.full_like(target[:, :1], start)
    inputs = torch.cat([first, target[:, :-1]], dim=1)
    return inputs, target, inputs != pad


def forced_pads_scored(
    target: Tensor, start: int = 1, pad: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    first = torch.full_like(target[:, :1], start)
    return torch.cat([first, target[:, :-1]], dim=1), target, target == pad


def forced_end_unscored(
    target: Tensor, start: int = 1, pad: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    first = torch.full_like(target[:, :1], start)
    follows = torch.cat([target[:, 1:], torch.full_like(first, pad)], dim=1)
    return torch.cat([first, target[:, :-1]], dim=1), target, (target != pad) & (follows != pad)


class Tied(nn.Module):
    """What all wrong versions of the shared matrix have in common: the matrix."""

    def __init__(self, *, vocabulary: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocabulary, width) / math.sqrt(width))

    def forward(self, tokens: Tensor) -> Tensor:
        return self.weight[tokens] * math.sqrt(self.weight.shape[1])

    def scores(self, hidden: Tensor) -> Tensor:
        return hidden @ self.weight.T


class TiedBare(Tied):
    def forward(self, tokens: Tensor) -> Tensor:
        return self.weight[tokens]


class TiedDivided(Tied):
    def forward(self, tokens: Tensor) -> Tensor:
        return self.weight[tokens] / math.sqrt(self.weight.shape[1])


class TiedNoRoot(Tied):
    def forward(self, tokens: Tensor) -> Tensor:
        return self.weight[tokens] * self.weight.shape[1]


class TiedByVocabulary(Tied):
    def forward(self, tokens: Tensor) -> Tensor:
        return self.weight[tokens] * math.sqrt(self.weight.shape[0])


class TiedScoresScaled(Tied):
    def scores(self, hidden: Tensor) -> Tensor:
        return hidden @ self.weight.T * math.sqrt(self.weight.shape[1])


class TiedScoresDivided(Tied):
    def scores(self, hidden: Tensor) -> Tensor:
        return hidden @ self.weight.T / math.sqrt(self.weight.shape[1])


class TiedSoftmax(Tied):
    def scores(self, hidden: Tensor) -> Tensor:
        return (hidden @ self.weight.T).softmax(dim=-1)


class TiedStartsLarge(Tied):
    def __init__(self, *, vocabulary: int, width: int) -> None:
        super().__init__(vocabulary=vocabulary, width=width)
        self.weight = nn.Parameter(torch.randn(vocabulary, width))


class TiedPlainTable(TiedBare):
    def __init__(self, *, vocabulary: int, width: int) -> None:
        super().__init__(vocabulary=vocabulary, width=width)
        self.weight = nn.Parameter(torch.randn(vocabulary, width))


class TiedNot(Tied):
    def __init__(self, *, vocabulary: int, width: int) -> None:
        super().__init__(vocabulary=vocabulary, width=width)
        self.output = nn.Linear(width, vocabulary, bias=False)

    def scores(self, hidden: Tensor) -> Tensor:
        return self.output(hidden)


def loss_over_padding(logits: Tensor, labels: Tensor, pad: int, smoothing: float = 0.1) -> Tensor:
    log_p = logits.log_softmax(dim=-1)
    right = -log_p.gather(-1, labels[..., None])[..., 0]
    return ((1 - smoothing) * right - smoothing * log_p.mean(dim=-1)).mean()


def loss_over_places(logits: Tensor, labels: Tensor, pad: int, smoothing: float = 0.1) -> Tensor:
    log_p = logits.log_softmax(dim=-1)
    right = -log_p.gather(-1, labels[..., None])[..., 0]
    each = (1 - smoothing) * right - smoothing * log_p.mean(dim=-1)
    return (each * (labels != pad)).mean()


def loss_by_sentence(logits: Tensor, labels: Tensor, pad: int, smoothing: float = 0.1) -> Tensor:
    log_p, real = logits.log_softmax(dim=-1), labels != pad
    right = -log_p.gather(-1, labels[..., None])[..., 0]
    each = (1 - smoothing) * right - smoothing * log_p.mean(dim=-1)
    return ((each * real).sum(dim=-1) / real.sum(dim=-1)).mean()


def loss_summed(logits: Tensor, labels: Tensor, pad: int, smoothing: float = 0.1) -> Tensor:
    log_p = logits.log_softmax(dim=-1)
    right = -log_p.gather(-1, labels[..., None])[..., 0]
    each = (1 - smoothing) * right - smoothing * log_p.mean(dim=-1)
    return (each * (labels != pad)).sum()


def loss_certain(logits: Tensor, labels: Tensor, pad: int, smoothing: float = 0.1) -> Tensor:
    log_p = logits.log_softmax(dim=-1)
    right = -log_p.gather(-1, labels[..., None])[..., 0]
    return right[labels != pad].mean()


def loss_share_lost(logits: Tensor, labels: Tensor, pad: int, smoothing: float = 0.1) -> Tensor:
    log_p = logits.log_softmax(dim=-1)
    right = -log_p.gather(-1, labels[..., None])[..., 0]
    return ((1 - smoothing) * right)[labels != pad].mean()


def loss_among_the_others(
    logits: Tensor, labels: Tensor, pad: int, smoothing: float = 0.1
) -> Tensor:
    log_p = logits.log_softmax(dim=-1)
    right = -log_p.gather(-1, labels[..., None])[..., 0]
    others = (-log_p.sum(dim=-1) - right) / (logits.shape[-1] - 1)
    return ((1 - smoothing) * right + smoothing * others)[labels != pad].mean()


def loss_others_only(logits: Tensor, labels: Tensor, pad: int, smoothing: float = 0.1) -> Tensor:
    log_p = logits.log_softmax(dim=-1)
    right = -log_p.gather(-1, labels[..., None])[..., 0]
    others = (-log_p.sum(dim=-1) - right) / logits.shape[-1]
    return ((1 - smoothing) * right + smoothing * others)[labels != pad].mean()


def loss_without_pad_word(
    logits: Tensor, labels: Tensor, pad: int, smoothing: float = 0.1
) -> Tensor:
    log_p = logits.log_softmax(dim=-1)
    right = -log_p.gather(-1, labels[..., None])[..., 0]
    others = (-log_p.sum(dim=-1) - right + log_p[..., pad]) / (logits.shape[-1] - 2)
    return ((1 - smoothing) * right + smoothing * others)[labels != pad].mean()


def loss_share_added(logits: Tensor, labels: Tensor, pad: int, smoothing: float = 0.1) -> Tensor:
    log_p = logits.log_softmax(dim=-1)
    right = -log_p.gather(-1, labels[..., None])[..., 0]
    return (right - smoothing * log_p.mean(dim=-1))[labels != pad].mean()


def loss_changed_over(logits: Tensor, labels: Tensor, pad: int, smoothing: float = 0.1) -> Tensor:
    log_p = logits.log_softmax(dim=-1)
    right = -log_p.gather(-1, labels[..., None])[..., 0]
    return (smoothing * right - (1 - smoothing) * log_p.mean(dim=-1))[labels != pad].mean()


def beam_of_logits(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    logs, running, complete = table.tolist(), [([], 0.0)], []
    for _ in range(longest):
        rows = [(text, score, logs[text[-1] if text else start]) for text, score in running]
        grown = [([*text, w], score + p) for text, score, row in rows for w, p in enumerate(row)]
        grown.sort(key=lambda pair: -pair[1])
        complete += [pair for pair in grown[:beams] if pair[0][-1] == end]
        running = [pair for pair in grown if pair[0][-1] != end][:beams]
    rated = [(text, score / ((5 + len(text)) / 6) ** alpha) for text, score in complete + running]
    return max(rated, key=lambda pair: pair[1])


def beam_of_one(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    logs, text, score = table.log_softmax(dim=-1), [], 0.0
    while len(text) < longest and end not in text:
        best = logs[text[-1] if text else start].max(dim=-1)
        text, score = [*text, best.indices.item()], score + best.values.item()
    return text, score / ((5 + len(text)) / 6) ** alpha


def beam_each_its_own(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    logs, running, complete = table.log_softmax(dim=-1).tolist(), [([], 0.0)], []
    for place in range(longest):
        grown = []
        for text, score in running:
            row = logs[text[-1] if text else start]
            best = sorted(range(len(row)), key=lambda w: -row[w])[: 1 if place else beams]
            grown += [([*text, w], score + row[w]) for w in best]
        complete += [pair for pair in grown if pair[0][-1] == end]
        running = [pair for pair in grown if pair[0][-1] != end]
    rated = [(text, score / ((5 + len(text)) / 6) ** alpha) for text, score in complete + running]
    return max(rated, key=lambda pair: pair[1])


def beam_past_the_end(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    logs, running = table.log_softmax(dim=-1).tolist(), [([], 0.0)]
    for _ in range(longest):
        rows = [(text, score, logs[text[-1] if text else start]) for text, score in running]
        grown = [([*text, w], score + p) for text, score, row in rows for w, p in enumerate(row)]
        running = sorted(grown, key=lambda pair: -pair[1])[:beams]
    rated = [(text, score / ((5 + len(text)) / 6) ** alpha) for text, score in running]
    return max(rated, key=lambda pair: pair[1])


def beam_shrinks(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    logs, running, complete = table.log_softmax(dim=-1).tolist(), [([], 0.0)], []
    for _ in range(longest):
        rows = [(text, score, logs[text[-1] if text else start]) for text, score in running]
        grown = [([*text, w], score + p) for text, score, row in rows for w, p in enumerate(row)]
        grown.sort(key=lambda pair: -pair[1])
        complete += [pair for pair in grown[:beams] if pair[0][-1] == end]
        running = [pair for pair in grown[:beams] if pair[0][-1] != end]
    rated = [(text, score / ((5 + len(text)) / 6) ** alpha) for text, score in complete + running]
    return max(rated, key=lambda pair: pair[1])


def beam_takes_every_end(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    logs, running, complete = table.log_softmax(dim=-1).tolist(), [([], 0.0)], []
    for _ in range(longest):
        rows = [(text, score, logs[text[-1] if text else start]) for text, score in running]
        grown = [([*text, w], score + p) for text, score, row in rows for w, p in enumerate(row)]
        grown.sort(key=lambda pair: -pair[1])
        complete += [pair for pair in grown if pair[0][-1] == end]
        running = [pair for pair in grown if pair[0][-1] != end][:beams]
    rated = [(text, score / ((5 + len(text)) / 6) ** alpha) for text, score in complete + running]
    return max(rated, key=lambda pair: pair[1])


def beam_stops_at_once(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    logs, running, complete = table.log_softmax(dim=-1).tolist(), [([], 0.0)], []
    while not complete and len(running[0][0]) < longest:
        rows = [(text, score, logs[text[-1] if text else start]) for text, score in running]
        grown = [([*text, w], score + p) for text, score, row in rows for w, p in enumerate(row)]
        grown.sort(key=lambda pair: -pair[1])
        complete += [pair for pair in grown[:beams] if pair[0][-1] == end]
        running = [pair for pair in grown if pair[0][-1] != end][:beams]
    done = complete or running
    rated = [(text, score / ((5 + len(text)) / 6) ** alpha) for text, score in done]
    return max(rated, key=lambda pair: pair[1])


def beam_unfinished_lost(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    logs, running, complete = table.log_softmax(dim=-1).tolist(), [([], 0.0)], []
    for _ in range(longest):
        rows = [(text, score, logs[text[-1] if text else start]) for text, score in running]
        grown = [([*text, w], score + p) for text, score, row in rows for w, p in enumerate(row)]
        grown.sort(key=lambda pair: -pair[1])
        complete += [pair for pair in grown[:beams] if pair[0][-1] == end]
        running = [pair for pair in grown if pair[0][-1] != end][:beams]
    done = complete or running
    rated = [(text, score / ((5 + len(text)) / 6) ** alpha) for text, score in done]
    return max(rated, key=lambda pair: pair[1])


def beam_times_penalty(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    logs, running, complete = table.log_softmax(dim=-1).tolist(), [([], 0.0)], []
    for _ in range(longest):
        rows = [(text, score, logs[text[-1] if text else start]) for text, score in running]
        grown = [([*text, w], score + p) for text, score, row in rows for w, p in enumerate(row)]
        grown.sort(key=lambda pair: -pair[1])
        complete += [pair for pair in grown[:beams] if pair[0][-1] == end]
        running = [pair for pair in grown if pair[0][-1] != end][:beams]
    rated = [(text, score * ((5 + len(text)) / 6) ** alpha) for text, score in complete + running]
    return max(rated, key=lambda pair: pair[1])


def beam_without_penalty(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    logs, running, complete = table.log_softmax(dim=-1).tolist(), [([], 0.0)], []
    for _ in range(longest):
        rows = [(text, score, logs[text[-1] if text else start]) for text, score in running]
        grown = [([*text, w], score + p) for text, score, row in rows for w, p in enumerate(row)]
        grown.sort(key=lambda pair: -pair[1])
        complete += [pair for pair in grown[:beams] if pair[0][-1] == end]
        running = [pair for pair in grown if pair[0][-1] != end][:beams]
    return max(complete + running, key=lambda pair: pair[1])


def beam_mean_per_word(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    logs, running, complete = table.log_softmax(dim=-1).tolist(), [([], 0.0)], []
    for _ in range(longest):
        rows = [(text, score, logs[text[-1] if text else start]) for text, score in running]
        grown = [([*text, w], score + p) for text, score, row in rows for w, p in enumerate(row)]
        grown.sort(key=lambda pair: -pair[1])
        complete += [pair for pair in grown[:beams] if pair[0][-1] == end]
        running = [pair for pair in grown if pair[0][-1] != end][:beams]
    rated = [(text, score / len(text) ** alpha) for text, score in complete + running]
    return max(rated, key=lambda pair: pair[1])


def beam_end_not_counted(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    logs, running, complete = table.log_softmax(dim=-1).tolist(), [([], 0.0)], []
    for _ in range(longest):
        rows = [(text, score, logs[text[-1] if text else start]) for text, score in running]
        grown = [([*text, w], score + p) for text, score, row in rows for w, p in enumerate(row)]
        grown.sort(key=lambda pair: -pair[1])
        complete += [pair for pair in grown[:beams] if pair[0][-1] == end]
        running = [pair for pair in grown if pair[0][-1] != end][:beams]
    sized = [(text, score, len(text) - text.count(end)) for text, score in complete + running]
    rated = [(text, score / ((5 + size) / 6) ** alpha) for text, score, size in sized]
    return max(rated, key=lambda pair: pair[1])


def bleu_not_clipped(candidates: list[list[str]], references: list[list[str]]) -> float:
    logs, ours, theirs = 0.0, sum(map(len, candidates)), sum(map(len, references))
    for n in (1, 2, 3, 4):
        found = total = 0
        for said, wanted in zip(candidates, references):
            grams = [said[i : i + n] for i in range(len(said) - n + 1)]
            known = [wanted[i : i + n] for i in range(len(wanted) - n + 1)]
            found, total = found + sum(gram in known for gram in grams), total + len(grams)
        if not found:
            return 0.0
        logs += math.log(found / total) / 4
    return 100 * min(1.0, math.exp(1 - theirs / ours)) * math.exp(logs)


def bleu_each_once(candidates: list[list[str]], references: list[list[str]]) -> float:
    logs, ours, theirs = 0.0, sum(map(len, candidates)), sum(map(len, references))
    for n in (1, 2, 3, 4):
        found = total = 0
        for said, wanted in zip(candidates, references):
            grams = {tuple(said[i : i + n]) for i in range(len(said) - n + 1)}
            known = {tuple(wanted[i : i + n]) for i in range(len(wanted) - n + 1)}
            found, total = found + len(grams & known), total + len(grams)
        if not found:
            return 0.0
        logs += math.log(found / total) / 4
    return 100 * min(1.0, math.exp(1 - theirs / ours)) * math.exp(logs)


def bleu_recall(candidates: list[list[str]], references: list[list[str]]) -> float:
    logs, ours, theirs = 0.0, sum(map(len, candidates)), sum(map(len, references))
    for n in (1, 2, 3, 4):
        found = total = 0
        for said, wanted in zip(candidates, references):
            grams = [tuple(said[i : i + n]) for i in range(len(said) - n + 1)]
            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n + 1)]
            found += sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
            total += len(known)
        if not found:
            return 0.0
        logs += math.log(found / total) / 4
    return 100 * min(1.0, math.exp(1 - theirs / ours)) * math.exp(logs)


def bleu_last_one_missing(candidates: list[list[str]], references: list[list[str]]) -> float:
    logs, ours, theirs = 0.0, sum(map(len, candidates)), sum(map(len, references))
    for n in (1, 2, 3, 4):
        found = total = 0
        for said, wanted in zip(candidates, references):
            grams = [tuple(said[i : i + n]) for i in range(len(said) - n)]
            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n)]
            found += sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
            total += len(grams)
        if not found:
            return 0.0
        logs += math.log(found / total) / 4
    return 100 * min(1.0, math.exp(1 - theirs / ours)) * math.exp(logs)


def bleu_arithmetic(candidates: list[list[str]], references: list[list[str]]) -> float:
    mean, ours, theirs = 0.0, sum(map(len, candidates)), sum(map(len, references))
    for n in (1, 2, 3, 4):
        found = total = 0
        for said, wanted in zip(candidates, references):
            grams = [tuple(said[i : i + n]) for i in range(len(said) - n + 1)]
            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n + 1)]
            found += sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
            total += len(grams)
        mean += found / max(total, 1) / 4
    return 100 * min(1.0, math.exp(1 - theirs / ours)) * mean


def bleu_no_fourth_root(candidates: list[list[str]], references: list[list[str]]) -> float:
    logs, ours, theirs = 0.0, sum(map(len, candidates)), sum(map(len, references))
    for n in (1, 2, 3, 4):
        found = total = 0
        for said, wanted in zip(candidates, references):
            grams = [tuple(said[i : i + n]) for i in range(len(said) - n + 1)]
            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n + 1)]
            found += sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
            total += len(grams)
        if not found:
            return 0.0
        logs += math.log(found / total)
    return 100 * min(1.0, math.exp(1 - theirs / ours)) * math.exp(logs)


def bleu_not_short(candidates: list[list[str]], references: list[list[str]]) -> float:
    logs = 0.0
    for n in (1, 2, 3, 4):
        found = total = 0
        for said, wanted in zip(candidates, references):
            grams = [tuple(said[i : i + n]) for i in range(len(said) - n + 1)]
            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n + 1)]
            found += sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
            total += len(grams)
        if not found:
            return 0.0
        logs += math.log(found / total) / 4
    return 100 * math.exp(logs)


def bleu_long_punished(candidates: list[list[str]], references: list[list[str]]) -> float:
    logs, ours, theirs = 0.0, sum(map(len, candidates)), sum(map(len, references))
    for n in (1, 2, 3, 4):
        found = total = 0
        for said, wanted in zip(candidates, references):
            grams = [tuple(said[i : i + n]) for i in range(len(said) - n + 1)]
            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n + 1)]
            found += sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
            total += len(grams)
        if not found:
            return 0.0
        logs += math.log(found / total) / 4
    return 100 * min(1.0, math.exp(1 - ours / theirs)) * math.exp(logs)


def bleu_long_rewarded(candidates: list[list[str]], references: list[list[str]]) -> float:
    logs, ours, theirs = 0.0, sum(map(len, candidates)), sum(map(len, references))
    for n in (1, 2, 3, 4):
        found = total = 0
        for said, wanted in zip(candidates, references):
            grams = [tuple(said[i : i + n]) for i in range(len(said) - n + 1)]
            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n + 1)]
            found += sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
            total += len(grams)
        if not found:
            return 0.0
        logs += math.log(found / total) / 4
    return 100 * math.exp(1 - theirs / ours) * math.exp(logs)


def bleu_by_sentence(candidates: list[list[str]], references: list[list[str]]) -> float:
    scores = []
    for said, wanted in zip(candidates, references):
        logs = 0.0
        for n in (1, 2, 3, 4):
            grams = [tuple(said[i : i + n]) for i in range(len(said) - n + 1)]
            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n + 1)]
            found = sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
            logs += math.log(found / len(grams)) / 4 if found else -math.inf
        short = min(1.0, math.exp(1 - len(wanted) / len(said)))
        scores.append(100 * short * math.exp(logs))
    return sum(scores) / len(scores)


def bleu_one_bag(candidates: list[list[str]], references: list[list[str]]) -> float:
    logs, ours, theirs = 0.0, sum(map(len, candidates)), sum(map(len, references))
    for n in (1, 2, 3, 4):
        grams = [tuple(said[i : i + n]) for said in candidates for i in range(len(said) - n + 1)]
        known = [tuple(text[i : i + n]) for text in references for i in range(len(text) - n + 1)]
        found = sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
        if not found:
            return 0.0
        logs += math.log(found / len(grams)) / 4
    return 100 * min(1.0, math.exp(1 - theirs / ours)) * math.exp(logs)


def bleu_of_one(candidates: list[list[str]], references: list[list[str]]) -> float:
    logs, ours, theirs = 0.0, sum(map(len, candidates)), sum(map(len, references))
    for n in (1, 2, 3, 4):
        found = total = 0
        for said, wanted in zip(candidates, references):
            grams = [tuple(said[i : i + n]) for i in range(len(said) - n + 1)]
            known = [tuple(wanted[i : i + n]) for i in range(len(wanted) - n + 1)]
            found += sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
            total += len(grams)
        if not found:
            return 0.0
        logs += math.log(found / total) / 4
    return min(1.0, math.exp(1 - theirs / ours)) * math.exp(logs)


def average_is_sum(checkpoints: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    found = {}
    for name, first in checkpoints[0].items():
        total = sum(state[name].double() for state in checkpoints)
        found[name] = total.to(first.dtype) if first.is_floating_point() else first.clone()
    return found


def average_is_last(checkpoints: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: weight.clone() for name, weight in checkpoints[-1].items()}


def average_by_halves(checkpoints: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    found = {name: weight.clone() for name, weight in checkpoints[0].items()}
    for state in checkpoints[1:]:
        for name, weight in state.items():
            if weight.is_floating_point():
                found[name] = ((found[name].double() + weight.double()) / 2).to(weight.dtype)
    return found


def average_in_halves(checkpoints: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    found = {}
    for name, first in checkpoints[0].items():
        mean = sum(state[name] for state in checkpoints) / len(checkpoints)
        found[name] = mean if first.is_floating_point() else first.clone()
    return found


def average_of_whole_numbers(checkpoints: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    found = {}
    for name, first in checkpoints[0].items():
        mean = sum(state[name].double() for state in checkpoints) / len(checkpoints)
        found[name] = mean.to(first.dtype) if first.is_floating_point() else mean
    return found


def average_widened(checkpoints: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    found = {}
    for name, first in checkpoints[0].items():
        mean = sum(state[name].float() for state in checkpoints) / len(checkpoints)
        found[name] = mean if first.is_floating_point() else first.clone()
    return found


def average_into_the_first(checkpoints: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    found = checkpoints[0]
    for name, first in found.items():
        if first.is_floating_point():
            first.copy_(sum(state[name].double() for state in checkpoints) / len(checkpoints))
    return found


def average_whole_numbers_left_out(checkpoints: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    found = {}
    for name, first in checkpoints[0].items():
        if first.is_floating_point():
            mean = sum(state[name].double() for state in checkpoints) / len(checkpoints)
            found[name] = mean.to(first.dtype)
    return found
