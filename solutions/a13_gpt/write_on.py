"""Several texts written on at once, with a cache: nothing is read twice."""

from __future__ import annotations

import torch

from coursekit.check.probe import after
from coursetools.questions import hidden, visible

from .shared import prompts_of, read, small_gpt


def write_on(model, prompts, steps, end, pad):
    """prompts (B, T), padded on the right -> the tokens written behind them, (B, N)."""
    lengths, running = (prompts != pad).sum(dim=1), prompts[:, 0] != pad  # (B,), all True
    places = torch.arange(prompts.shape[1]).expand_as(prompts)
    places = places.masked_fill(prompts == pad, -1)  # (B, T)
    states, cache = read(model, prompts, places)
    last = states[torch.arange(len(prompts)), lengths - 1]  # (B, D)
    written, token = [], None
    for step in range(steps):
        if step > 0:
            states, cache = read(model, token[:, None], (lengths + step - 1)[:, None], cache)
            last = states[:, -1]  # (B, D)
        token = (last @ model["output"]).argmax(dim=-1)  # (B,)
        token = token.masked_fill(~running, pad)
        written.append(token)
        running = running & (token != end)
        if not running.any():
            break
    return torch.stack(written, dim=1)


def went(student, model, prompts, *others):
    """Return what was written, how many tokens of a row each `read` has read, and the prompts."""
    found, left = after(student.write_on, model, prompts, *others)
    return {"written": found, "read by each call": left[0]["log"], "the prompts": left[1]}


@visible("three prompts of one length, nothing ends")
def one_length(student):
    return went(student, small_gpt(2), prompts_of(5, 5, 5, seed=12), 6, 99, 0)


@visible("four prompts of several lengths, nothing ends", weight=2)
def several_lengths(student):
    return went(student, small_gpt(0), prompts_of(4, 2, 6, 1, seed=5), 6, 99, 0)


@visible("rows that end, one after the other", weight=2)
def rows_end(student):
    return went(student, small_gpt(0), prompts_of(4, 2, 6, seed=15), 14, 2, 0)


@visible("an end within the prompts")
def ends_within(student):
    prompts = torch.tensor([[17, 4, 7, 3, 12], [4, 9, 17, 0, 0], [3, 17, 0, 0, 0]])
    return went(student, small_gpt(0), prompts, 9, 17, 0)


@visible("one step, and another id for the padding")
def one_step(student):
    prompts = prompts_of(3, 7, 5, seed=10, pad=19)
    return [went(student, small_gpt(2), prompts, steps, 13, 19) for steps in (1, 3)]


@hidden("eight prompts, some of which end", weight=2)
def on_eight(student):
    prompts = prompts_of(3, 9, 1, 5, 2, 7, 9, 4, seed=220)
    return went(student, small_gpt(1), prompts, 12, 7, 0)


@hidden("a larger model, a long text")
def on_long(student):
    model = small_gpt(32, vocabulary=50, width=24, length=80)
    return went(student, model, prompts_of(11, 6, 17, seed=221, vocabulary=50), 50, 99, 0)


@hidden("every row ends at once")
def on_once(student):
    prompts = torch.tensor([[1, 3], [1, 11], [2, 3], [2, 11]])
    return went(student, small_gpt(2), prompts, 10, 13, 0)


@hidden("prompts of one token, and a single step")
def on_one(student):
    return (
        went(student, small_gpt(2), prompts_of(1, 1, 1, seed=223), 7, 99, 0),
        went(student, small_gpt(4), prompts_of(1, 4, 2, seed=226), 1, 99, 0),
    )


@hidden("ends within the prompts, and another id for the padding")
def on_within(student):
    prompts = torch.tensor([[10, 10, 8, 19, 19], [10, 19, 19, 19, 19], [9, 10, 4, 10, 7]])
    return went(student, small_gpt(0), prompts, 11, 10, 19)


@hidden("a row alone gives what it gives beside others")
def on_alone(student):
    prompts = prompts_of(6, 2, 4, seed=228)
    rows = [went(student, small_gpt(2), prompts[n : n + 1, :k], 8, 99, 0) for n, k in ((1, 2),)]
    return rows, went(student, small_gpt(2), prompts, 8, 99, 0)
