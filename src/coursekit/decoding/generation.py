"""Decoding: writing one token after the other, each of them chosen from the model's scores.

Every model that writes (`GPT`, `Seq2SeqTransformer`, `T5`, `Bart`) has `start(...)`, which returns
a fresh `State`, and `decode(tokens, state)`, which reads new tokens (B, T) and returns the logits
(B, V) of what follows the last of them. What it has read before is in the state. Nothing here knows
more about a model than that. Call `eval()` first, unless dropout is wanted.
Shapes: B batch, T length of the prompt, V vocabulary, K beams, L longest text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from coursekit._base.checks import check_choice, check_ids, check_int, check_number, check_shape
from coursekit.cache import StackCache
from coursekit.decoding.fast_step import QuickStack
from coursekit.decoding.sampling import check_scores, greedy

End = int | Sequence[int] | Tensor | None  # the token, or tokens, after which a text is complete


@dataclass
class State:
    """What a decoder remembers between two steps."""

    cache: StackCache
    keep: Tensor | None = None  # (B, S): False at the left padding of prompts, None without any
    memory: Tensor | None = None  # (B, S', D): what the encoder made of the source
    memory_mask: Tensor | None = None  # (B, 1, 1, S'): False at its padding
    positions: int | None = None  # how many tokens the decoder can read, None without a limit
    quick: QuickStack | None = None  # the blocks without their modules, where that is possible
    in_pieces: bool = False  # whether several calls of `decode` read the prompts, not one
    owner: Callable[[], object] | None = None  # a weak reference to the model it belongs to

    def __post_init__(self) -> None:
        self.prompt = None if self.keep is None else tuple(self.keep.shape)  # (B, T)
        if self.keep is not None:
            check_shape(self.keep, "keep", "batch, length", torch.bool)
            self.keep = None if self.keep.all() else self.keep

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled or copied: not the model, which is loaded on its own.

        The copy decodes with any model of the same weights, without the quick form of its blocks.
        """
        return vars(self) | {"quick": None, "owner": None}

    def check_owner(self, model: object) -> None:
        """Raise unless the state was started by `model`: another one's keys mean nothing to it."""
        if self.owner is not None and self.owner() is not model:
            raise ValueError(
                "the state belongs to another model: decode with the model whose start() made it"
            )

    @property
    def length(self) -> int:
        """How many positions have been read, left padding included."""
        return self.cache.length

    def keep_with(self, tokens: Tensor) -> Tensor | None:
        """Return `keep` (B, length + T) with the next tokens (B, T); None: all of them are real.

        The prompts must be those that `keep` was made for; what follows them is real.
        """
        rows, end = len(tokens), self.length + tokens.shape[1]
        if self.prompt is not None and self.length < self.prompt[1]:  # still reading the prompts
            read = min(end, self.prompt[1]) if self.in_pieces else self.prompt[1]
            if (rows, end) != (self.prompt[0], read):
                raise ValueError(
                    f"keep must have the shape of the prompts {(rows, end)}, found {self.prompt}"
                )
        if self.keep is None:
            return None
        return F.pad(self.keep, (0, max(end - self.keep.shape[1], 0)), value=True)[:, :end]

    def reorder(self, index: Tensor) -> None:
        """Keep the batch rows in `index` (B',), as beam search does when beams die or double."""
        self.cache.reorder(index)
        for name in ("keep", "memory", "memory_mask"):
            rows = getattr(self, name)
            if rows is not None:
                setattr(self, name, rows[index])
        if self.prompt is not None:
            self.prompt = (len(index), self.prompt[1])


class Decoder(Protocol):
    """A model that writes, or a table of probabilities in a test."""

    def decode(self, tokens: Tensor, state: State) -> Tensor:
        """tokens (B, T) -> logits (B, V) of what follows the last of them."""


def left_pad(
    prompts: Sequence[Sequence[int]], pad: int | None = None
) -> tuple[Tensor, Tensor | None]:
    """Lists of token ids -> tokens (B, T) and keep (B, T), False at the padding in front.

    The padding is on the left, so that every prompt ends where the new text begins. Prompts of
    one length need none, and `keep` is None.
    """
    prompts = [p.tolist() if isinstance(p, Tensor) else p for p in prompts]
    for prompt in prompts:
        kinds = {type(token) for token in prompt} if isinstance(prompt, Sequence) else {None}
        if not kinds <= {int}:
            raise TypeError(f"each prompt must be a list of token ids, found {prompt!r:.50}")
    lengths = [len(prompt) for prompt in prompts]
    if not lengths or 0 in lengths:
        raise ValueError(f"there must be prompts of at least one token, found lengths {lengths}")
    if pad is not None:
        check_int(0, pad=pad)
    longest = max(lengths)
    if min(lengths) == longest:
        return torch.tensor([list(prompt) for prompt in prompts]), None
    if pad is None:
        raise ValueError(f"prompts of different lengths {lengths} need a pad token")
    gaps = [longest - length for length in lengths]
    rows = [[pad] * gap + list(prompt) for gap, prompt in zip(gaps, prompts)]
    keep = torch.arange(longest) >= torch.tensor(gaps)[:, None]
    return torch.tensor(rows), keep  # (B, T), (B, T)


# Writing a text from left to right.


@torch.no_grad()
def stream(
    model: Decoder,
    tokens: Tensor,
    state: State,
    *,
    longest: int | Tensor,
    end: End = None,
    pad: int | None = None,
    choose: Callable[[Tensor], Tensor] = greedy,
) -> Iterator[Tensor]:
    """Continue the prompts `tokens` (B, T): yield the next token of every row (B,), step by step.

    A row is finished after the `end` token (or one of several), or when it has `longest` new tokens
    (one number, or one for each row (B,)); from then on it holds `pad`, or the first `end` without
    one. Finished rows leave the batch and cost nothing; nothing is computed after the last.
    """
    longest, ends, fill = _check(tokens, state, longest, end, pad)  # (B,), (E,)
    running = torch.arange(len(tokens), device=tokens.device)  # (R,): the rows still being written
    shortest = int(longest.min())
    for length in range(1, int(longest.max()) + 1):
        logits = model.decode(tokens, state)  # (R, V)
        if length == 1:
            _check_ends(ends, logits.shape[-1])
        token = choose(logits)  # (R,)
        step = longest.new_full(longest.shape, fill)  # (B,)
        step[running] = token
        yield step
        if end is not None or length >= shortest:  # some rows may be finished
            goes_on = longest[running] > length  # (R,)
            if end is not None:
                goes_on = goes_on & ~_is_end(token, ends)
            if not goes_on.any():
                return
            if not goes_on.all():
                running, token = running[goes_on], token[goes_on]
                state.reorder(goes_on.nonzero()[:, 0])
        tokens = token[:, None]  # (R, 1): the state knows all that came before


def generate(
    model: Decoder,
    tokens: Tensor,
    state: State,
    *,
    longest: int | Tensor,
    end: End = None,
    pad: int | None = None,
    choose: Callable[[Tensor], Tensor] = greedy,
) -> Tensor:
    """Return what `stream` yields, as one tensor of new tokens (B, ≤ L), without the prompts."""
    steps = stream(model, tokens, state, longest=longest, end=end, pad=pad, choose=choose)
    return torch.stack(list(steps), dim=1)  # (B, ≤ L)


# Beam search: keep the K best beginnings, not only one.


def wu_penalty(length: int | Tensor, alpha: float) -> float | Tensor:
    """((5 + |Y|) / 6)^α, by which Wu et al. (2016) and Vaswani et al. (2017) divide a score."""
    check_number(alpha=alpha)
    return ((5 + length) / 6) ** alpha


def power_penalty(length: int | Tensor, alpha: float) -> float | Tensor:
    """|Y|^α, the `length_penalty` of Hugging Face; with α = 1 the mean over the tokens."""
    check_number(alpha=alpha)
    return length**alpha


class Hypotheses(NamedTuple):
    """What beam search found, the best first."""

    tokens: Tensor  # (B, K, ≤ L): new tokens, `pad` after the end
    scores: Tensor  # (B, K): log-probability over length penalty; −∞ if fewer than K texts exist


Stop = Literal["hopeless", "full", "never"]


@torch.no_grad()
def beam_search(
    model: Decoder,
    tokens: Tensor,
    state: State,
    *,
    beams: int,
    longest: int | Tensor,
    end: End = None,
    pad: int | None = None,
    alpha: float = 0.6,
    penalty: Callable[[int | Tensor, float], float | Tensor] = wu_penalty,
    stop: Stop = "hopeless",
) -> Hypotheses:
    """Continue the prompts `tokens` (B, T) by the K = `beams` texts with the best score found.

    The score is log p(text) / penalty(number of its tokens, α). A text is complete after `end`, or
    with `longest` new tokens, as in `stream`. `stop` says when a prompt is done: "full", as soon as
    K texts are complete; "hopeless", when also no running beam could beat the worst of them if it
    stopped at its present length; "never", when none could at any length (Hugging Face's
    `early_stopping` True, False and "never").
    """
    longest, ends, fill = _check(tokens, state, longest, end, pad)  # (B,), (E,)
    check_int(beams=beams)
    check_choice(get_args(Stop), stop=stop)
    B, K, L, device = len(tokens), beams, int(longest.max()), tokens.device
    logits = model.decode(tokens, state)  # (B, V): each prompt is read once, not once a beam
    _check_ends(ends, logits.shape[-1])
    logits = logits.repeat_interleave(K, dim=0)  # (R·K, V)
    state.reorder(torch.arange(B, device=device).repeat_interleave(K))
    hypotheses = Hypotheses(
        tokens=tokens.new_full((B, K, L), fill),
        scores=logits.new_full((B, K), -torch.inf),
    )
    texts = hypotheses.tokens.clone()  # (R, K, L): what the running beams have written
    scores = hypotheses.scores.clone()  # (R, K): their log-probabilities
    scores[:, 0] = 0.0  # all beams begin alike: one counts, or they would stay alike
    rows = torch.arange(B, device=device)  # (R,): the prompts still being continued
    for length in range(1, L + 1):
        V = logits.shape[-1]
        shares = logits.log_softmax(dim=-1).view(-1, K, V)  # (R, K, V)
        check_scores(shares[:, :, 0])
        total = (scores[:, :, None] + shares).flatten(1)  # (R, K·V): every beam by every token
        # Each beam ends in as many ways as there are ends, mostly one: K of the best 2K can go on.
        best, flat = total.topk(min(K + K * max(len(ends), 1), K * V), dim=1)  # (R, 2K)
        parent, token = flat // V, flat % V  # (R, 2K)
        candidates = _rows_of(texts, parent)  # (R, 2K, L)
        candidates[:, :, length - 1] = token
        ended = (longest[rows] == length)[:, None].expand_as(token)  # (R, 2K)
        if end is not None:
            ended = ended | _is_end(token, ends)

        # Complete texts: those among the K best compete with the ones found before.
        new = (best / penalty(length, alpha)).masked_fill(~ended, -torch.inf)[:, :K]  # (R, K)
        pool = torch.cat([hypotheses.scores[rows], new], dim=1)  # (R, 2K)
        complete, index = pool.topk(K, dim=1)  # (R, K)
        pool = torch.cat([hypotheses.tokens[rows], candidates[:, :K]], dim=1)  # (R, 2K, L)
        hypotheses.scores[rows], hypotheses.tokens[rows] = complete, _rows_of(pool, index)

        # Running texts: the K best of the others, unless none of them can still win.
        scores, index = best.masked_fill(ended, -torch.inf).topk(K, dim=1)  # (R, K)
        parent, token = parent.gather(1, index), token.gather(1, index)  # (R, K)
        texts = _rows_of(candidates, index)  # (R, K, L)
        if stop == "full":
            goes_on = complete[:, -1].isneginf() & ~scores[:, 0].isneginf()  # (R,)
        else:
            patient = stop == "never" and alpha > 0
            hope = scores[:, 0] / penalty(longest[rows] if patient else length, alpha)  # (R,)
            goes_on = hope > complete[:, -1]
        if not goes_on.any():
            break
        order = _stay(parent)  # (R, K)
        scores, texts = scores.gather(1, order), _rows_of(texts, order)
        parent, token = parent.gather(1, order), token.gather(1, order)
        first = torch.arange(0, parent.numel(), K, device=device)[:, None]  # (R, 1)
        state.reorder((first + parent)[goes_on].flatten())
        rows, scores, texts = rows[goes_on], scores[goes_on], texts[goes_on]
        logits = model.decode(token[goes_on].view(-1, 1), state)  # (R·K, V)
    return Hypotheses(hypotheses.tokens[:, :, :length], hypotheses.scores)


def _check(
    tokens: Tensor, state: State, longest: int | Tensor, end: End, pad: int | None
) -> tuple[Tensor, Tensor, int]:
    """Return `longest` for each row (B,), the ends (E,), and what fills a row after its end."""
    if not isinstance(tokens, Tensor) or tokens.dtype not in (torch.int64, torch.int32):
        kind = tokens.dtype if isinstance(tokens, Tensor) else type(tokens).__name__
        raise TypeError(
            "the prompts must be a tensor of token ids (int64 or int32), which `left_pad` makes of "
            f"lists, found {kind}"
        )
    check_shape(tokens, "the prompts", "batch, length")
    B, T = tokens.shape
    keep = getattr(state, "keep", None)
    if keep is not None and not keep[:, -1].all():
        raise ValueError("the padding of a prompt must be on the left, before its text")
    longest = torch.as_tensor(longest, device=tokens.device)
    if longest.ndim:
        check_shape(longest, "longest", (B,))
    longest = longest.expand(B)
    check_int(longest=int(longest.min()))
    room = getattr(state, "positions", None)
    if room is not None and T + int(longest.max()) - 1 > room:  # the last token is never read
        raise ValueError(
            f"the model reads at most {room} tokens: a prompt of {T} leaves room for "
            f"{max(room - T + 1, 0)} new ones, found longest={int(longest.max())}"
        )
    end = end.tolist() if isinstance(end, Tensor) else end
    end_ids = [] if end is None else list(end) if isinstance(end, Iterable) else [end]
    ragged = end is not None or bool((longest != longest[0]).any())
    if pad is not None:
        check_int(-torch.inf, pad=pad)
    fill = end_ids[0] if pad is None and end_ids else pad
    if fill is None and ragged:
        raise ValueError("rows of different lengths need a pad token, found pad=None")
    ends = torch.tensor(end_ids, dtype=torch.long, device=tokens.device)
    return longest, ends, 0 if fill is None else fill


def _check_ends(ends: Tensor, vocabulary: int) -> None:
    for number in ends.tolist():
        check_ids(vocabulary, end=number)


def _is_end(token: Tensor, ends: Tensor) -> Tensor:
    """Whether each of the tokens (...) is one of the ends (E,)."""
    return (token[..., None] == ends).any(dim=-1)  # (...)


def _rows_of(texts: Tensor, index: Tensor) -> Tensor:
    """texts (R, N, L), index (R, M) -> (R, M, L)."""
    return texts.gather(1, index[:, :, None].expand(-1, -1, texts.shape[-1]))


def _stay(parent: Tensor) -> Tensor:
    """The parents of new beams (R, K) -> an order of them in which child k has parent k if it can.

    One child of each surviving beam stays in its parent's place, where the cache already holds its
    past; only the others, in the places of beams that died, need a copy.
    """
    place = torch.arange(parent.shape[1], device=parent.device)  # (K,)
    earlier = (parent[:, :, None] == parent[:, None, :]).tril(-1).any(dim=-1)  # (R, K)
    dead = ~(parent[:, :, None] == place).any(dim=1)  # (R, K): nobody's parent
    target = parent.clone()  # (R, K)
    target[earlier] = dead.nonzero()[:, 1]  # as many in each row as there are younger siblings
    return target.argsort(dim=1)
