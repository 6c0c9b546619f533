"""Assignment 4, to the page "Many heads": cut the width and join it again, several questions at
once, what each head adds, and one word at a time.

The wrong answers, each with the hint for whoever gave it, are in `mistakes/a04_heads.py`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coursekit.assignments.forbidden import LIBRARY
from coursekit.attention import attention
from coursekit.exercises.mistakes import a04_heads as wrong
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Assignment, Case, Misconception, Question, Written
from coursekit.heads import merge_heads, split_heads

# --- split_heads


SPLIT = Question(
    name="split_heads",
    title="Cut the width",
    points=2,
    difficulty=1,
    minutes=10,
    hint="Two steps. Cut the last axis in two, (B, T, H, Dh), which moves nothing; then swap the "
    "axes of the places and of the heads.",
    page="heads.html#sec-heads-split",
    reference=split_heads,
    cases=(
        Case(
            "two places, width 4, two heads",
            lambda student: student.split_heads(torch.arange(8.0).reshape(1, 2, 4), 2),
        ),
        Case(
            "two sentences, five places, width 12, three heads",
            lambda student: student.split_heads(randn(2, 5, 12), 3),
        ),
        Case(
            "six places, width 12, six heads",
            lambda student: student.split_heads(randn(1, 6, 12, seed=1), 6),
        ),
    ),
    misconceptions=(
        Misconception(
            "reshaped without a transpose",
            wrong.split_view,
            "Your shape is right and your numbers are in the wrong places: reshape keeps the order "
            "of the numbers, so your first head holds the whole width of the first words and not "
            "the first columns of all words. Cut the last axis alone, then transpose.",
        ),
        Misconception(
            "not transposed",
            wrong.split_not_transposed,
            "You have cut the width, (B, T, H, Dh). Attention takes the last two axes for places "
            "and width, so the heads must move in front of the places: transpose(1, 2).",
        ),
        Misconception(
            "columns dealt out in turn",
            wrong.split_interleaved,
            "You deal the columns out like cards: the first head gets columns 0, H, 2H … A head "
            "holds neighbours: the first Dh columns, the next Dh, and so on.",
        ),
        Misconception(
            "heads taken for the width of a head",
            wrong.split_by_width,
            "heads is how many there are; you take it for the width of each. The width of a head "
            "is the whole width divided by heads.",
        ),
        Misconception(
            "heads before the batch",
            wrong.split_heads_in_front,
            "Your heads are the first axis. The batch stays in front: (B, H, T, Dh).",
        ),
        Misconception(
            "the sequence cut in place of the width",
            wrong.split_the_sequence,
            "You cut the sequence into pieces. Every head sees all the places, and of each a piece "
            "of its width: cut the last axis.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- merge_heads


MERGE = Question(
    name="merge_heads",
    title="Side by side again",
    points=2,
    difficulty=1,
    minutes=10,
    hint="The way back, in reverse order: first swap heads and places, (B, T, H, Dh), then make "
    "one axis of the last two. flatten(-2) and reshape do that; view wants .contiguous() first.",
    page="heads.html#sec-heads-split",
    reference=merge_heads,
    cases=(
        Case(
            "two heads of width 2, three places",
            lambda student: student.merge_heads(torch.arange(12.0).reshape(1, 2, 3, 2)),
        ),
        Case(
            "two sentences, three heads of width 4",
            lambda student: student.merge_heads(randn(2, 3, 5, 4)),
        ),
        Case(
            "six heads of width 1",
            lambda student: student.merge_heads(randn(2, 6, 3, 1, seed=1)),
        ),
    ),
    misconceptions=(
        Misconception(
            "reshaped without a transpose",
            wrong.merge_view,
            "Your shape is right and your numbers are in the wrong places: reshape keeps their "
            "order, so one row of yours holds several places of one head. Swap heads and places "
            "first.",
        ),
        Misconception(
            "columns dealt out in turn",
            wrong.merge_interleaved,
            "You take one column of each head in turn. The heads stand side by side, each with "
            "all its columns: (B, T, H, Dh) before the last two axes become one.",
        ),
        Misconception(
            "heads added up",
            wrong.merge_sum,
            "You add the heads up. Here they only stand side by side; the adding up is done by "
            "the matrix that comes after.",
        ),
        Misconception(
            "heads averaged",
            wrong.merge_mean,
            "You average the heads, and with that they are one head again. They stand side by "
            "side, H times as wide as each.",
        ),
        Misconception(
            "joined along the batch",
            wrong.merge_along_batch,
            "Your heads are joined along the first axis, the batch: that is where torch.concat "
            "joins unless it is told dim=-1. (One lecture deck fell into it too.)",
        ),
        Misconception(
            "joined along the places",
            wrong.merge_along_places,
            "Your heads stand one behind the other, as H times as many places. They should stand "
            "side by side: T rows, H·Dh columns.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- MultiHead


class _MultiHead(nn.Module):
    """Four linear layers with names of their own; what is between them is the course's."""

    def __init__(self, *, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(
        self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """x (B, T, D), memory (B, S, D), mask (B, T, S) -> (B, T, D)."""
        memory = x if memory is None else memory
        projected = (self.query(x), self.key(memory), self.value(memory))
        q, k, v = (split_heads(y, self.heads) for y in projected)  # (B, H, T or S, Dh)
        mask = None if mask is None else mask[:, None]  # (B, 1, T, S)
        return self.out(merge_heads(attention(q, k, v, mask)))


def _layer(student: object, width: int, heads: int) -> object:
    """Build the module and give it weights that are always the same."""
    layer = student.MultiHead(width=width, heads=heads)
    names = ("query", "key", "value", "out")
    weights = {f"{n}.weight": randn(width, width, seed=11 + i) / 2 for i, n in enumerate(names)}
    biases = {f"{n}.bias": randn(width, seed=21 + i) for i, n in enumerate(names)}
    layer.load_state_dict({**weights, **biases})
    return layer


def _mask() -> Tensor:
    return (randn(3, 5, 5, seed=31) > 0) | torch.eye(5, dtype=torch.bool)  # one for each sentence


MULTI = Question(
    name="MultiHead",
    title="Several questions at once",
    points=6,
    difficulty=3,
    minutes=40,
    hint="Project (x gives the queries, memory or x the keys and values), split each, attend with "
    "the root of the width of a head, merge, and project once more. The scores are (B, H, T, S); "
    "a mask (B, T, S) needs an axis for the heads behind the batch.",
    page="heads.html#sec-heads-split",
    reference=_MultiHead,
    cases=(
        Case("three words, one head", lambda student: _layer(student, 4, 1)(randn(1, 3, 4))),
        Case(
            "two sentences, three heads",
            lambda student: _layer(student, 12, 3)(randn(2, 5, 12)),
        ),
        Case(
            "keys and values from other sentences",
            lambda student: _layer(student, 12, 2)(randn(2, 4, 12), memory=randn(2, 6, 12, seed=1)),
        ),
        Case(
            "three sentences, three heads, a mask for each sentence",
            lambda student: _layer(student, 12, 3)(randn(3, 5, 12, seed=2), mask=_mask()),
        ),
        Case(
            "names and shapes of the weights",
            lambda student: {
                name: list(weight.shape)
                for name, weight in student.MultiHead(width=12, heads=3).state_dict().items()
            },
        ),
    ),
    misconceptions=(
        Misconception(
            "scaled by the model width",
            wrong.ModelWidth,
            "You divide by the root of the model's width. A score is a sum over the width of one "
            "head, width / heads, and that is what counts. With one head the two agree.",
        ),
        Misconception(
            "no scale",
            wrong.NoScale,
            "Your output equals the one without a scale. Divide the scores by the root of the "
            "width of a head.",
        ),
        Misconception(
            "output projection forgotten",
            wrong.NoOutput,
            "You return the heads side by side. One matrix is still to come, self.out: without it "
            "the first columns of the output would hear of the first head only.",
        ),
        Misconception(
            "split without a transpose",
            wrong.SplitByView,
            "With one head you are right, with more not: your heads are split by a reshape that "
            "keeps the order of the numbers, so they mix words. Cut the last axis, then transpose.",
        ),
        Misconception(
            "merged without a transpose",
            wrong.MergeByView,
            "With one head you are right, with more not: your heads are merged by a reshape alone, "
            "and a row gets several places of one head. Transpose first, then flatten.",
        ),
        Misconception(
            "neither split nor merged with a transpose",
            wrong.BothByView,
            "With one head you are right, with more not: you split and merge by reshape alone. The "
            "two undo each other, so that all looks well, but in between each head holds a stretch "
            "of the sentence. The last question of this notebook is about that.",
        ),
        Misconception(
            "the mask's batch taken for the heads",
            wrong.MaskOverHeads,
            "Your mask (B, T, S) meets scores (B, H, T, S), and broadcasting starts at the end: "
            "your B is taken for the heads, in silence where B = H. Give it an axis of length 1 "
            "for the heads: mask[:, None].",
        ),
        Misconception(
            "only the first head masked",
            wrong.MaskFirstHead,
            "You mask the first head; the others still see everything. mask[:, None] broadcasts "
            "to all of them.",
        ),
        Misconception(
            "polarity",
            wrong.Polarity,
            "You forbid where the mask is True. True means may attend: fill where it is False, "
            "~mask.",
        ),
        Misconception(
            "mask not used",
            wrong.NoMask,
            "All is right but for the mask, which changes nothing in your output. Put -inf into "
            "the scores where it is False, before the softmax.",
        ),
        Misconception(
            "softmax over the heads",
            wrong.OverHeads,
            "Your weights sum to 1 over the heads. Each head is a question of its own: in each, "
            "the weights of a query run over the keys, the last axis.",
        ),
        Misconception(
            "memory not used",
            wrong.NoMemory,
            "You take keys and values from x even where a memory is given. Then x only asks, and "
            "the memory answers: keys and values come from it.",
        ),
    ),
    forbidden=LIBRARY,
    needs=("split_heads", "merge_heads"),
)

# --- head_contributions


def _head_contributions(x: Tensor, weight: Tensor) -> Tensor:
    """x (B, H, T, Dh), weight (D, H·Dh) -> (B, H, T, D)."""
    bands = weight.unflatten(1, (x.shape[1], -1))  # (D, H, Dh)
    return torch.einsum("bhtd,ohd->bhto", x, bands)


CONTRIBUTIONS = Question(
    name="head_contributions",
    title="A sum of heads",
    points=3,
    difficulty=2,
    minutes=20,
    hint="nn.Linear computes x @ weight.T, so a column of weight belongs to an input, and the "
    "inputs are the heads side by side: head h has the columns from h·Dh to (h + 1)·Dh. Multiply "
    "each head by its own band.",
    page="heads.html#sec-heads-split",
    reference=_head_contributions,
    cases=(
        Case(
            "one place, two heads of width 1",
            lambda student: student.head_contributions(
                torch.tensor([[[[3.0]], [[5.0]]]]), torch.tensor([[1.0, 2.0], [10.0, 20.0]])
            ),
        ),
        Case(
            "three heads of width 2, a square weight",
            lambda student: student.head_contributions(randn(2, 3, 4, 2), randn(6, 6, seed=1)),
        ),
        Case(
            "two heads of width 4, out to width 5",
            lambda student: student.head_contributions(randn(2, 2, 3, 4), randn(5, 8, seed=1)),
        ),
    ),
    misconceptions=(
        Misconception(
            "bands of rows",
            wrong.bands_of_rows,
            "You cut the rows of weight. The formula on the page has W on the right, xW, and bands "
            "of rows; nn.Linear keeps the transpose, so here the bands are columns.",
        ),
        Misconception(
            "columns dealt out in turn",
            wrong.bands_interleaved,
            "You give a head every H-th column. The heads stand side by side, so each has a block "
            "of Dh neighbouring columns.",
        ),
        Misconception(
            "already added up",
            wrong.bands_summed,
            "You return the sum of all heads. Here it is asked for head by head, "
            "(B, H, T, D); its sum over the heads is what you have.",
        ),
        Misconception(
            "one band for all",
            wrong.bands_first_only,
            "All your heads go through the first band. Head h has its own: the columns from h·Dh "
            "to (h + 1)·Dh.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- grouped_attention


def _grouped_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """q (B, H, T, Dh), k and v (B, G, S, Dh) -> (B, H, T, Dh)."""
    times = q.shape[1] // k.shape[1]
    return attention(q, k.repeat_interleave(times, dim=1), v.repeat_interleave(times, dim=1))


def _groups(heads: int, groups: int) -> tuple[Tensor, Tensor, Tensor]:
    return randn(2, heads, 3, 4), randn(2, groups, 5, 4, seed=1), randn(2, groups, 5, 6, seed=2)


GROUPED = Question(
    name="grouped_attention",
    title="Many questions, few memories",
    points=3,
    difficulty=2,
    minutes=15,
    hint="H // G neighbouring query heads share one head of keys and values. Write each of these "
    "H // G times in a row, so that there are H of them, and go on as always. "
    "repeat_interleave and repeat are not the same.",
    page="heads.html#sec-heads-cache",
    reference=_grouped_attention,
    cases=(
        Case(
            "four heads share two",
            lambda student: student.grouped_attention(
                torch.zeros(1, 4, 1, 1),
                torch.zeros(1, 2, 2, 1),
                torch.tensor([[[[1.0], [3.0]], [[10.0], [30.0]]]]),
            ),
        ),
        Case(
            "six heads share two",
            lambda student: student.grouped_attention(*_groups(6, 2)),
        ),
        Case("four heads share one", lambda student: student.grouped_attention(*_groups(4, 1))),
        Case(
            "three heads, each its own",
            lambda student: student.grouped_attention(*_groups(3, 3)),
        ),
    ),
    misconceptions=(
        Misconception(
            "every other head",
            wrong.grouped_tiled,
            "You write the memories one after the other and then again, so head 0 and head G share "
            "one. Neighbours share: 0 0 1 1, not 0 1 0 1. That is repeat_interleave.",
        ),
        Misconception(
            "the first memory for all",
            wrong.grouped_first_only,
            "All your heads read the first head of keys and values. That is right where there is "
            "one; here each group has its own.",
        ),
        Misconception(
            "memories averaged",
            wrong.grouped_mean_of_keys,
            "You average the keys and values of all groups. Each group keeps its own; what is "
            "shared is shared by the query heads of one group.",
        ),
        Misconception(
            "queries averaged",
            wrong.grouped_mean_of_queries,
            "You average the queries of a group and get one head for each. All H heads still ask "
            "their own question; only what they read is shared.",
        ),
        Misconception(
            "no scale",
            wrong.grouped_no_scale,
            "Your output equals the one without a scale. Divide the scores by the root of the "
            "width of a head.",
        ),
    ),
    forbidden=LIBRARY,
)

# --- cached_attention

Past = tuple[Tensor, Tensor]


def _cached_attention(
    q: Tensor, k: Tensor, v: Tensor, past: Past | None = None
) -> tuple[Tensor, Past]:
    """q, k, v (B, H, T, Dh), past 2 × (B, H, S, Dh) -> (B, H, T, Dh) and 2 × (B, H, S + T, Dh)."""
    if past is not None:
        k, v = torch.cat([past[0], k], dim=-2), torch.cat([past[1], v], dim=-2)
    return attention(q, k, v, causal=True), (k, v)


def _tokens(count: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = (randn(2, 3, count, 4, seed=seed + n) for n in range(3))
    return q, k, v


def _past(count: int) -> Past:
    return _tokens(count, seed=10)[1:]


def _one_by_one(student: object, count: int) -> tuple[Tensor, Past]:
    """Write `count` tokens, each with what the call before has kept."""
    tokens, past, written = _tokens(count), None, []
    for place in range(count):
        now = [x[:, :, place : place + 1] for x in tokens]
        out, past = student.cached_attention(*now, past)
        written.append(out)
    return torch.cat(written, dim=-2), past


CACHED = Question(
    name="cached_attention",
    title="One word at a time",
    points=4,
    difficulty=3,
    minutes=30,
    hint="Join first: the old keys, then the new ones, along the axis of the places; values too. "
    "The queries are the newest T of these places, so query t may see the keys up to S + t. What "
    "you have joined is what you hand back.",
    page="heads.html#sec-heads-cache",
    reference=_cached_attention,
    cases=(
        Case(
            "four tokens and no past",
            lambda student: student.cached_attention(*_tokens(4)),
        ),
        Case(
            "one new token behind three",
            lambda student: student.cached_attention(*_tokens(1), _past(3)),
        ),
        Case(
            "two new tokens behind three",
            lambda student: student.cached_attention(*_tokens(2), _past(3)),
        ),
        Case("six tokens, one by one", lambda student: _one_by_one(student, 6)),
    ),
    misconceptions=(
        Misconception(
            "new queries stand at the start",
            wrong.cached_top_left,
            "Your causal mask has its corner at the upper left: a new token sees the oldest key "
            "and nothing else. The queries are the last T of S + T places, so the triangle moves "
            "to the right by S.",
        ),
        Misconception(
            "new tokens see each other",
            wrong.cached_all_seen,
            "You use no causal mask. A single new token needs none, since nothing is ahead of it; "
            "but several new ones must not see those that come after them.",
        ),
        Misconception(
            "new keys in front",
            wrong.cached_new_first,
            "You put the new keys in front of the old ones. They come behind: old first, then new, "
            "or every mask and every position after it is wrong.",
        ),
        Misconception(
            "only the new kept",
            wrong.cached_only_new,
            "Your output is right, but you hand back the new keys and values alone. The next token "
            "needs all of them: hand back what you have joined.",
        ),
        Misconception(
            "past not used",
            wrong.cached_past_unused,
            "You keep the past and do not look at it: your new tokens see only one another. The "
            "scores run over all S + T keys.",
        ),
        Misconception(
            "no scale",
            wrong.cached_no_scale,
            "Your output equals the one without a scale. Divide the scores by the root of the "
            "width of a head.",
        ),
    ),
    forbidden=LIBRARY,
)

ASSIGNMENT = Assignment(
    name="a04_heads",
    title="Many heads",
    questions=(SPLIT, MERGE, MULTI, CONTRIBUTIONS, GROUPED, CACHED),
    written=(
        Written(
            name="undone",
            title="Two mistakes that hide each other",
            points=3,
            minutes=20,
            page="heads.html#sec-heads-split",
        ),
    ),
)
