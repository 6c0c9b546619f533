"""Wrong answers to assignment 9, as people give them; the hints are in `../a09_training.py`.

They have no types, for a learner's cell has none, and nine names in a row are enough to read.
"""

# ruff: noqa: D103, ANN001, ANN201 -- what is wrong with each is said where it becomes a Misconception
from __future__ import annotations

import math

import torch
import torch.nn.functional as F


def rate_larger(step, width, warmup=4000):
    return width**-0.5 * max(step**-0.5, step * warmup**-1.5)


def rate_wider_is_faster(step, width, warmup=4000):
    return width**0.5 * min(step**-0.5, step * warmup**-1.5)


def rate_no_width(step, width, warmup=4000):
    return min(step**-0.5, step * warmup**-1.5)


def rate_from_zero(step, width, warmup=4000):
    step = step - 1
    return width**-0.5 * min(max(step, 1) ** -0.5, step * warmup**-1.5)


def rate_one_ahead(step, width, warmup=4000):
    step = step + 1
    return width**-0.5 * min(step**-0.5, step * warmup**-1.5)


def rate_no_warmup(step, width, warmup=4000):
    return width**-0.5 * step**-0.5


def rate_stays(step, width, warmup=4000):
    return width**-0.5 * min(warmup**-0.5, step * warmup**-1.5)


def rate_too_steep(step, width, warmup=4000):
    return width**-0.5 * min(step**-0.5, step * warmup**-0.5)


def rate_no_root(step, width, warmup=4000):
    return width**-0.5 * min(warmup**0.5 / step, step * warmup**-1.5)


def clip_each(gradients, limit):
    norm = math.sqrt(sum(float(g.square().sum()) for g in gradients.values()))
    return {name: g * min(1.0, limit / g.norm()) for name, g in gradients.items()}, norm


def clip_numbers(gradients, limit):
    norm = math.sqrt(sum(float(g.square().sum()) for g in gradients.values()))
    return {name: g.clamp(-limit, limit) for name, g in gradients.items()}, norm


def clip_always(gradients, limit):
    norm = math.sqrt(sum(float(g.square().sum()) for g in gradients.values()))
    return {name: g * (limit / norm) for name, g in gradients.items()}, norm


def clip_norms_added(gradients, limit):
    norm = sum(float(g.norm()) for g in gradients.values())
    return {name: g * min(1.0, limit / norm) for name, g in gradients.items()}, norm


def clip_no_root(gradients, limit):
    norm = sum(float(g.square().sum()) for g in gradients.values())
    return {name: g * min(1.0, limit / norm) for name, g in gradients.items()}, norm


def clip_mean_square(gradients, limit):
    numbers = torch.cat([g.flatten() for g in gradients.values()])
    norm = float(numbers.square().mean().sqrt())
    return {name: g * min(1.0, limit / norm) for name, g in gradients.items()}, norm


def clip_largest(gradients, limit):
    norm = max(float(g.abs().max()) for g in gradients.values())
    return {name: g * min(1.0, limit / norm) for name, g in gradients.items()}, norm


def clip_dropped(gradients, limit):
    norm = math.sqrt(sum(float(g.square().sum()) for g in gradients.values()))
    return {name: g * (norm <= limit) for name, g in gradients.items()}, norm


def clip_says_after(gradients, limit):
    norm = math.sqrt(sum(float(g.square().sum()) for g in gradients.values()))
    return {name: g * min(1.0, limit / norm) for name, g in gradients.items()}, min(norm, limit)


def clip_in_place(gradients, limit):
    norm = math.sqrt(sum(float(g.square().sum()) for g in gradients.values()))
    return {name: g.mul_(min(1.0, limit / norm)) for name, g in gradients.items()}, norm


def adam_not_corrected(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    return w * (1 - lr * decay) - lr * m / (v.sqrt() + eps), m, v


def adam_mean_corrected(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    return w * (1 - lr * decay) - lr * m / (1 - betas[0] ** step) / (v.sqrt() + eps), m, v


def adam_step_before(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    done = torch.tensor(step - 1.0)
    mean, square = m / (1 - betas[0] ** done), v / (1 - betas[1] ** done)
    return w * (1 - lr * decay) - lr * mean / (square.sqrt() + eps), m, v


def adam_step_after(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    mean, square = m / (1 - betas[0] ** (step + 1)), v / (1 - betas[1] ** (step + 1))
    return w * (1 - lr * decay) - lr * mean / (square.sqrt() + eps), m, v


def adam_keeps_corrected(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = (betas[0] * m + (1 - betas[0]) * g) / (1 - betas[0] ** step)
    v = (betas[1] * v + (1 - betas[1]) * g**2) / (1 - betas[1] ** step)
    return w * (1 - lr * decay) - lr * m / (v.sqrt() + eps), m, v


def adam_eps_inside(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return w * (1 - lr * decay) - lr * mean / (square + eps).sqrt(), m, v


def adam_eps_corrected(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    mean, size = m / (1 - betas[0] ** step), (v.sqrt() + eps) / math.sqrt(1 - betas[1] ** step)
    return w * (1 - lr * decay) - lr * mean / size, m, v


def adam_no_root(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return w * (1 - lr * decay) - lr * mean / (square + eps), m, v


def adam_betas_changed_over(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = betas[1] * m + (1 - betas[1]) * g
    v = betas[0] * v + (1 - betas[0]) * g**2
    mean, square = m / (1 - betas[1] ** step), v / (1 - betas[0] ** step)
    return w * (1 - lr * decay) - lr * mean / (square.sqrt() + eps), m, v


def adam_shares_changed_over(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = (1 - betas[0]) * m + betas[0] * g
    v = (1 - betas[1]) * v + betas[1] * g**2
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return w * (1 - lr * decay) - lr * mean / (square.sqrt() + eps), m, v


def adam_uphill(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return w * (1 - lr * decay) + lr * mean / (square.sqrt() + eps), m, v


def adam_decay_divided(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    g = g + decay * w
    m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g**2
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return w - lr * mean / (square.sqrt() + eps), m, v


def adam_no_decay(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return w - lr * mean / (square.sqrt() + eps), m, v


def adam_decay_at_full_rate(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return w * (1 - decay) - lr * mean / (square.sqrt() + eps), m, v


def adam_decay_last(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m = betas[0] * m + (1 - betas[0]) * g
    v = betas[1] * v + (1 - betas[1]) * g**2
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return (w - lr * mean / (square.sqrt() + eps)) * (1 - lr * decay), m, v


def adam_in_place(w, g, m, v, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    m.mul_(betas[0]).add_((1 - betas[0]) * g)
    v.mul_(betas[1]).add_((1 - betas[1]) * g**2)
    mean, square = m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)
    return w.mul_(1 - lr * decay).sub_(lr * mean / (square.sqrt() + eps)), m, v


def trust_from_four(step, beta2=0.999):
    most = 2 / (1 - beta2) - 1
    known = most - 2 * step * beta2**step / (1 - beta2**step)
    if known <= 4:
        return known, None
    square = (known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known)
    return known, math.sqrt(square)


def trust_one_for_none(step, beta2=0.999):
    most = 2 / (1 - beta2) - 1
    known = most - 2 * step * beta2**step / (1 - beta2**step)
    if known <= 5:
        return known, 1.0
    square = (known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known)
    return known, math.sqrt(square)


def trust_zero_for_none(step, beta2=0.999):
    most = 2 / (1 - beta2) - 1
    known = most - 2 * step * beta2**step / (1 - beta2**step)
    if known <= 5:
        return known, 0.0
    square = (known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known)
    return known, math.sqrt(square)


def trust_no_root(step, beta2=0.999):
    most = 2 / (1 - beta2) - 1
    known = most - 2 * step * beta2**step / (1 - beta2**step)
    if known <= 5:
        return known, None
    return known, (known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known)


def trust_upside_down(step, beta2=0.999):
    most = 2 / (1 - beta2) - 1
    known = most - 2 * step * beta2**step / (1 - beta2**step)
    if known <= 5:
        return known, None
    square = (known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known)
    return known, 1 / math.sqrt(square)


def trust_last_quotient_missing(step, beta2=0.999):
    most = 2 / (1 - beta2) - 1
    known = most - 2 * step * beta2**step / (1 - beta2**step)
    if known <= 5:
        return known, None
    square = (known - 4) * (known - 2) / ((most - 4) * (most - 2))
    return known, math.sqrt(square)


def trust_not_twice(step, beta2=0.999):
    most = 2 / (1 - beta2) - 1
    known = most - step * beta2**step / (1 - beta2**step)
    if known <= 5:
        return known, None
    square = (known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known)
    return known, math.sqrt(square)


def trust_not_divided(step, beta2=0.999):
    most = 2 / (1 - beta2) - 1
    known = most - 2 * step * beta2**step
    if known <= 5:
        return known, None
    square = (known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known)
    return known, math.sqrt(square)


def trust_one_ahead(step, beta2=0.999):
    step, most = step + 1, 2 / (1 - beta2) - 1
    known = most - 2 * step * beta2**step / (1 - beta2**step)
    if known <= 5:
        return known, None
    square = (known - 4) * (known - 2) * most / ((most - 4) * (most - 2) * known)
    return known, math.sqrt(square)


def accumulate_mean_of_means(weight, batches, pad=0):
    w = weight.detach().clone().requires_grad_()
    for x, labels in batches:
        loss = F.cross_entropy((x @ w.T).flatten(0, 1), labels.flatten(), ignore_index=pad)
        (loss / len(batches)).backward()
    return w.grad


def accumulate_means_added(weight, batches, pad=0):
    w = weight.detach().clone().requires_grad_()
    for x, labels in batches:
        loss = F.cross_entropy((x @ w.T).flatten(0, 1), labels.flatten(), ignore_index=pad)
        loss.backward()
    return w.grad


def accumulate_sum(weight, batches, pad=0):
    w = weight.detach().clone().requires_grad_()
    for x, labels in batches:
        scores = (x @ w.T).flatten(0, 1)
        F.cross_entropy(scores, labels.flatten(), ignore_index=pad, reduction="sum").backward()
    return w.grad


def accumulate_by_sentences(weight, batches, pad=0):
    w = weight.detach().clone().requires_grad_()
    sentences = sum(len(labels) for _, labels in batches)
    for x, labels in batches:
        loss = F.cross_entropy((x @ w.T).flatten(0, 1), labels.flatten(), ignore_index=pad)
        (loss * len(labels) / sentences).backward()
    return w.grad


def accumulate_by_places(weight, batches, pad=0):
    w = weight.detach().clone().requires_grad_()
    places = sum(labels.numel() for _, labels in batches)
    for x, labels in batches:
        scores, flat = (x @ w.T).flatten(0, 1), labels.flatten()
        (F.cross_entropy(scores, flat, ignore_index=pad, reduction="sum") / places).backward()
    return w.grad


def accumulate_padding_scored(weight, batches, pad=0):
    w = weight.detach().clone().requires_grad_()
    places = sum(labels.numel() for _, labels in batches)
    for x, labels in batches:
        scores, flat = (x @ w.T).flatten(0, 1), labels.flatten()
        (F.cross_entropy(scores, flat, reduction="sum") / places).backward()
    return w.grad


def accumulate_emptied(weight, batches, pad=0):
    w = weight.detach().clone().requires_grad_()
    tokens = sum(int((labels != pad).sum()) for _, labels in batches)
    for x, labels in batches:
        w.grad, flat = None, labels.flatten()
        scores = (x @ w.T).flatten(0, 1)
        (F.cross_entropy(scores, flat, ignore_index=pad, reduction="sum") / tokens).backward()
    return w.grad


def accumulate_divided_twice(weight, batches, pad=0):
    w = weight.detach().clone().requires_grad_()
    tokens = sum(int((labels != pad).sum()) for _, labels in batches)
    for x, labels in batches:
        scores, flat = (x @ w.T).flatten(0, 1), labels.flatten()
        loss = F.cross_entropy(scores, flat, ignore_index=pad, reduction="sum") / tokens
        (loss / len(batches)).backward()
    return w.grad


def stop_looks_ahead(losses, patience):
    best = 0
    for now in range(len(losses)):
        best = now if losses[now] < losses[best] else best
        if now - best >= patience:
            return losses.index(min(losses)), now
    return best, len(losses) - 1


def stop_keeps_last(losses, patience):
    best = 0
    for now in range(len(losses)):
        best = now if losses[now] < losses[best] else best
        if now - best >= patience:
            return now, now
    return len(losses) - 1, len(losses) - 1


def stop_goes_back(losses, patience):
    best = 0
    for now in range(len(losses)):
        best = now if losses[now] < losses[best] else best
        if now - best >= patience:
            return best, now
    return max(len(losses) - 1 - patience, 0), len(losses) - 1


def stop_next_to_last(losses, patience):
    best = worse = 0
    for now in range(1, len(losses)):
        best = now if losses[now] < losses[best] else best
        worse = 0 if losses[now] < losses[now - 1] else worse + 1
        if worse >= patience:
            return best, now
    return best, len(losses) - 1


def stop_never_forgets(losses, patience):
    best = worse = 0
    for now in range(1, len(losses)):
        worse += not losses[now] < losses[best]
        best = now if losses[now] < losses[best] else best
        if worse >= patience:
            return best, now
    return best, len(losses) - 1


def stop_equal_is_better(losses, patience):
    best = 0
    for now in range(len(losses)):
        best = now if losses[now] <= losses[best] else best
        if now - best >= patience:
            return best, now
    return best, len(losses) - 1


def stop_one_later(losses, patience):
    best = 0
    for now in range(len(losses)):
        best = now if losses[now] < losses[best] else best
        if now - best > patience:
            return best, now
    return best, len(losses) - 1


def stop_at_first_rise(losses, patience):
    best = 0
    for now in range(1, len(losses)):
        if not losses[now] < losses[best]:
            return best, now
        best = now
    return best, len(losses) - 1


def stop_largest(losses, patience):
    best = 0
    for now in range(len(losses)):
        best = now if losses[now] > losses[best] else best
        if now - best >= patience:
            return best, now
    return best, len(losses) - 1


def stop_numbered_from_one(losses, patience):
    best = 0
    for now in range(len(losses)):
        best = now if losses[now] < losses[best] else best
        if now - best >= patience:
            return best + 1, now + 1
    return best + 1, len(losses)
