"""Assignment 6, to the page "Blocks": a soft bend, a network for each token, a norm, and what they
make with attention: a block, and a stack of blocks.

The wrong answers, each with the hint for whoever gave it, are in `mistakes/a06_blocks.py`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coursekit.activations import gelu
from coursekit.analysis.depth import distance_to_equal_rows
from coursekit.exercises.mistakes import a06_blocks as wrong
from coursekit.exercises.probe import gradients, randn
from coursekit.exercises.question import Assignment, Case, Misconception, Question, Written

READY_GELU = ("torch.nn.functional.gelu", "torch.nn.GELU", "torch.special.ndtr", "coursekit")
READY_NORM = (
    "torch.nn.LayerNorm",
    "torch.nn.RMSNorm",
    "torch.nn.GroupNorm",
    "torch.nn.functional.layer_norm",
    "torch.nn.functional.group_norm",
    "torch.layer_norm",
    "torch.native_layer_norm",
    "coursekit",
)
READY_BLOCK = (
    "torch.nn.TransformerEncoderLayer",
    "torch.nn.TransformerEncoder",
    "torch.nn.Transformer",
    "coursekit",
)

# --- gelu


GELU = Question(
    name="gelu",
    title="A coin that x weighs",
    points=2,
    difficulty=1,
    minutes=10,
    hint="Φ(x) = ½ (1 + erf(x / √2)), and torch.erf works on each number of a tensor. Then it is "
    "one product.",
    page="blocks.html#sec-blocks-gelu",
    reference=gelu,
    cases=(
        Case(
            "five numbers", lambda student: student.gelu(torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0]))
        ),
        Case("a batch", lambda student: student.gelu(2 * randn(2, 3, 4))),
        Case("far from zero", lambda student: student.gelu(torch.tensor([[-50.0, 50.0, 1000.0]]))),
        Case("gradients", lambda student: gradients(student.gelu, randn(3, 4, seed=1))),
    ),
    misconceptions=(
        Misconception(
            "the tanh",
            wrong.gelu_by_tanh,
            "This is the imitation with a tanh, off by less than 0.0005: GPT-2's, and close, but "
            "here the exact Φ is asked for. torch.erf has it.",
        ),
        Misconception(
            "the sigmoid",
            wrong.gelu_by_sigmoid,
            "This is the imitation σ(1.702 x), off by about 0.02 at worst. The exact Φ comes from "
            "torch.erf.",
        ),
        Misconception(
            "SiLU",
            wrong.gelu_is_silu,
            "x σ(x) is SiLU, a cousin. The gate here is Φ(x), the probability that a standard "
            "normal number lies below x.",
        ),
        Misconception(
            "ReLU",
            wrong.gelu_is_relu,
            "This is ReLU, whose gate is 0 or 1. GELU's gate is Φ(x), which is ½ at 0 and smooth.",
        ),
        Misconception(
            "no root of two",
            wrong.gelu_no_root,
            "You call erf(x). The error function belongs to a normal of variance ½; for the "
            "standard one it is erf(x / √2).",
        ),
        Misconception(
            "no half",
            wrong.gelu_no_half,
            "Twice as large as it should be: 1 + erf runs from 0 to 2, and a probability from 0 "
            "to 1.",
        ),
        Misconception(
            "the gate alone",
            wrong.gelu_gate_only,
            "You return Φ(x), the probability of the coin. If it shows 1 you keep x: multiply.",
        ),
    ),
    forbidden=READY_GELU,
)

# --- FeedForward


class _FeedForward(nn.Module):
    """Two linear maps with GELU between them, the same for each token."""

    def __init__(self, *, width: int, hidden: int) -> None:
        super().__init__()
        self.expand = nn.Linear(width, hidden)
        self.contract = nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        """x (..., D) -> (..., D)."""
        return self.contract(gelu(self.expand(x)))


def weights(module: nn.Module, seed: int = 0, scale: float = 0.5) -> dict[str, Tensor]:
    """Return random weights for `module`, by name: always the same for the same names."""
    shapes = {name: weight.shape for name, weight in sorted(module.state_dict().items())}
    return {
        name: scale * randn(*shape, seed=seed + n)
        for n, (name, shape) in enumerate(shapes.items(), 1)
    }


def _fed(student: object, x: Tensor, hidden: int) -> Tensor:
    module = student.FeedForward(width=x.shape[-1], hidden=hidden)
    module.load_state_dict(weights(_FeedForward(width=x.shape[-1], hidden=hidden)))
    return module(x)


FEED = Question(
    name="FeedForward",
    title="A network for each token alone",
    points=3,
    difficulty=1,
    minutes=15,
    hint="In __init__ two nn.Linear, self.expand and self.contract. In forward: widen, bend, "
    "narrow. nn.Linear works on the last axis and leaves all others alone, so each token passes "
    "by itself.",
    page="blocks.html#sec-blocks-ffn",
    reference=_FeedForward,
    cases=(
        Case(
            "one token of two numbers",
            lambda student: _fed(student, torch.tensor([[1.0, -2.0]]), 3),
        ),
        Case("two sentences of four tokens", lambda student: _fed(student, randn(2, 4, 5), 20)),
        Case("narrower in the middle", lambda student: _fed(student, randn(3, 6, seed=1), 4)),
        Case(
            "names and shapes of the weights",
            lambda student: {
                name: list(weight.shape)
                for name, weight in student.FeedForward(width=3, hidden=7).state_dict().items()
            },
        ),
    ),
    misconceptions=(
        Misconception(
            "no bend",
            wrong.NoBend,
            "Your result equals that without an activation. Two linear maps in a row are one "
            "linear map; gelu between them makes the wide middle worth having.",
        ),
        Misconception(
            "bend at the end",
            wrong.BendLast,
            "The activation comes last in yours. It stands between the two maps; the output must "
            "be free to be negative.",
        ),
        Misconception(
            "bent twice",
            wrong.BendTwice,
            "You bend the output as well. There is one activation, between the two maps.",
        ),
        Misconception(
            "relu for gelu",
            wrong.BendIsRelu,
            "Your network has a ReLU, like the one of 2017. Here it is gelu.",
        ),
        Misconception(
            "the tanh in the middle",
            wrong.BendByTanh,
            "Your results are those of GELU with the tanh, off in the fourth digit. Use the exact "
            "one: your gelu, or F.gelu without approximate.",
        ),
        Misconception(
            "residual inside",
            wrong.AddsItself,
            "You add x to the result. That is right for the block, which will do it; done here as "
            "well, it would be done twice.",
        ),
    ),
    forbidden=("coursekit",),
    needs=("gelu",),
)

# --- apart


APART = Question(
    name="apart",
    title="How many tokens are left?",
    points=2,
    difficulty=1,
    minutes=15,
    hint="x.mean(dim=-2, keepdim=True) is the mean token, (..., 1, D). Subtract it, square, sum "
    "over the last two axes, take the root; divide by the same of x. "
    ".norm(dim=(-2, -1)) is root, sum and squares in one.",
    page="blocks.html#sec-blocks-collapse",
    reference=distance_to_equal_rows,
    cases=(
        Case(
            "two tokens of two numbers",
            lambda student: student.apart(torch.tensor([[3.0, 1.0], [1.0, 3.0]])),
        ),
        Case("five tokens, width 3", lambda student: student.apart(randn(5, 3) + 1)),
        Case(
            "a batch of four sentences",
            lambda student: student.apart(randn(4, 6, 3) + 0.5),
            weight=2,
        ),
        Case(
            "twice the same token",
            lambda student: student.apart(torch.tensor([[1.0, 2.0, -4.0], [1.0, 2.0, -4.0]])),
        ),
    ),
    misconceptions=(
        Misconception(
            "mean of each token",
            wrong.apart_from_own_mean,
            "You subtract from each token the mean of its own numbers. The mean token is the mean "
            "over the tokens, axis -2.",
        ),
        Misconception(
            "one mean for all numbers",
            wrong.apart_from_one_number,
            "You subtract one number. The mean token is a vector: a mean over the tokens alone, "
            "axis -2, with keepdim=True.",
        ),
        Misconception(
            "not divided",
            wrong.apart_not_divided,
            "You return the length of what differs, which doubles when the tokens double. Divide "
            "by the length of x.",
        ),
        Misconception(
            "squares for lengths",
            wrong.apart_squared,
            "Your number is the square of the right one. Lengths are asked for, so take roots.",
        ),
        Misconception(
            "divided by the mean token",
            wrong.apart_by_the_mean,
            "You divide by the common part. Divide by the length of x itself; then the result "
            "lies between 0 and 1.",
        ),
        Misconception(
            "a number for each token",
            wrong.apart_each_token,
            "You return a number for each token. Sum over tokens and width, both: (..., T, D) "
            "becomes (...).",
        ),
        Misconception(
            "one number for the batch",
            wrong.apart_all_together,
            "You take the norm of the whole batch. Each sentence has a number of its own: only "
            "the last two axes go.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- TokenNorm


class _TokenNorm(nn.LayerNorm):
    """Layer normalisation, by torch."""

    def __init__(self, *, width: int, eps: float = 1e-5) -> None:
        super().__init__(width, eps=eps)


def _normed(student: object, x: Tensor, eps: float = 1e-5) -> Tensor:
    module = student.TokenNorm(width=x.shape[-1], eps=eps)
    module.load_state_dict(weights(_TokenNorm(width=x.shape[-1]), scale=1.0))
    return module(x)


NORM = Question(
    name="TokenNorm",
    title="Bring it to size",
    points=4,
    difficulty=2,
    minutes=25,
    hint="Mean and variance along the last axis, with keepdim=True. The variance divides by the "
    "width: x.var(..., correction=0), or the mean of the squares of x - mean. eps is added to the "
    "variance, before the root. The two nn.Parameter, self.weight and self.bias, come last.",
    page="blocks.html#sec-blocks-residual",
    reference=_TokenNorm,
    cases=(
        Case(
            "a fresh norm, one token of four numbers",
            lambda student: student.TokenNorm(width=4)(torch.tensor([[1.0, 2.0, 3.0, 6.0]])),
        ),
        Case("gain and bias loaded", lambda student: _normed(student, randn(5, 4) + 1)),
        Case("a batch of two", lambda student: _normed(student, 3 * randn(2, 5, 6) - 1)),
        Case("eps of a half", lambda student: _normed(student, randn(3, 4, seed=1), 0.5)),
        Case(
            "names and start of the weights",
            lambda student: {
                name: weight.tolist()
                for name, weight in student.TokenNorm(width=3).state_dict().items()
            },
        ),
    ),
    misconceptions=(
        Misconception(
            "unbiased variance",
            wrong.NormUnbiased,
            "You divide the squares by the width minus 1, which is what .var and .std do unless "
            "told otherwise. Nothing is estimated here: divide by the width, correction=0.",
        ),
        Misconception(
            "eps outside the root",
            wrong.NormEpsOutside,
            "You add eps to the standard deviation. It belongs under the root, to the variance: "
            "the difference shows for quiet tokens and for a large eps.",
        ),
        Misconception(
            "unbiased, and eps outside the root",
            wrong.NormUnbiasedEpsOutside,
            "Two things at once: .std divides by the width minus 1 unless it is told "
            "correction=0, and eps belongs to the variance, under the root.",
        ),
        Misconception(
            "over the tokens",
            wrong.NormOverWords,
            "You take mean and variance over the tokens of a sentence. Each token is normalised by "
            "itself, over its own numbers: the last axis.",
        ),
        Misconception(
            "over the whole sentence",
            wrong.NormOverSentence,
            "All tokens of a sentence share one mean and one variance in yours. Each token has its "
            "own: the last axis only.",
        ),
        Misconception(
            "batch normalisation",
            wrong.NormOfBatch,
            "Yours is batch normalisation: each number is compared with the same number of all "
            "other tokens. A token must not depend on its company; take the last axis.",
        ),
        Misconception(
            "gain and bias forgotten",
            wrong.NormBare,
            "A fresh norm passes. With gain and bias loaded, it must multiply by self.weight and "
            "add self.bias.",
        ),
        Misconception(
            "bias before the gain",
            wrong.NormBiasFirst,
            "You add the bias and multiply by the gain afterwards, so the bias is multiplied too. "
            "Gain first.",
        ),
        Misconception(
            "mean not subtracted",
            wrong.NormNoMean,
            "You divide by the root mean square and do not subtract the mean. That is RMSNorm, "
            "T5's and Llama's. LayerNorm subtracts the mean first.",
        ),
        Misconception(
            "no root",
            wrong.NormNoRoot,
            "You divide by the variance. Divide by its root, or loud tokens come out quieter than "
            "quiet ones.",
        ),
    ),
    forbidden=READY_NORM,
)

# --- Block


class _Block(nn.Module):
    """Attention and a feed-forward network, each added to what was there."""

    def __init__(self, *, width: int, heads: int, hidden: int, placement: str = "pre") -> None:
        super().__init__()
        self.placement = placement
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.feed_forward = _FeedForward(width=width, hidden=hidden)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) -> (B, T, D)."""
        if self.placement == "post":
            x = self.norm1(x + self._attend(x))
            return self.norm2(x + self.feed_forward(x))
        x = x + self._attend(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))

    def _attend(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, need_weights=False)[0]


def _blocked(student: object, x: Tensor, heads: int, hidden: int, placement: str) -> Tensor:
    sizes = {"width": x.shape[-1], "heads": heads, "hidden": hidden, "placement": placement}
    module = student.Block(**sizes)
    module.load_state_dict(weights(_Block(**sizes)))
    return module(x)


BLOCK = Question(
    name="Block",
    title="A block, with the norm where you want it",
    points=6,
    difficulty=3,
    minutes=40,
    hint="Two halves of one form: attention, then the feed-forward network. Post-LN: "
    "x = norm(x + f(x)). Pre-LN: x = x + f(norm(x)). nn.MultiheadAttention wants query, key and "
    "value, all three the same here, and returns a pair, of which you want the first.",
    page="blocks.html#sec-blocks-placement",
    reference=_Block,
    cases=(
        Case(
            "Pre-LN, two tokens of four numbers",
            lambda student: _blocked(student, randn(1, 2, 4), 1, 6, "pre"),
        ),
        Case(
            "Post-LN, two tokens of four numbers",
            lambda student: _blocked(student, randn(1, 2, 4), 1, 6, "post"),
        ),
        Case(
            "Pre-LN, two heads, three sentences",
            lambda student: _blocked(student, 2 * randn(3, 5, 8), 2, 12, "pre"),
        ),
        Case(
            "Post-LN, two heads, three sentences",
            lambda student: _blocked(student, 2 * randn(3, 5, 8), 2, 12, "post"),
        ),
        Case(
            "names and shapes of the weights",
            lambda student: {
                name: list(weight.shape)
                for name, weight in student.Block(width=4, heads=2, hidden=6).state_dict().items()
            },
        ),
    ),
    misconceptions=(
        Misconception(
            "Pre and Post changed over",
            wrong.PlacementsChangedOver,
            'Your "pre" is Post-LN and your "post" is Pre-LN. Post: the norm comes after the '
            "addition, norm(x + f(x)). Pre: it comes before the sublayer, x + f(norm(x)).",
        ),
        Misconception(
            "Pre-LN sold as Post-LN",
            wrong.AlwaysPre,
            "Your Pre-LN is right, and your Post-LN is Pre-LN as well. In Post-LN the norm stands "
            "on the main path: norm(x + f(x)).",
        ),
        Misconception(
            "Post-LN sold as Pre-LN",
            wrong.AlwaysPost,
            "Your Post-LN is right, and your Pre-LN is Post-LN as well. In Pre-LN the norm stands "
            "in the branch and nothing touches the main path: x + f(norm(x)).",
        ),
        Misconception(
            "residual missing",
            wrong.NoResidual,
            "What was there is gone: you pass on f(x) and not x + f(x). Twice, once for each half.",
        ),
        Misconception(
            "residual around attention only",
            wrong.OneResidual,
            "Attention is added to x in yours, the result of the feed-forward network replaces "
            "it. Both are added.",
        ),
        Misconception(
            "the normalised x added",
            wrong.ResidualOfNormed,
            "In Pre-LN you overwrite x with norm(x), and so add to the normalised one. Only the "
            "sublayer gets the normalised x; what is added to is x as it was.",
        ),
        Misconception(
            "only queries normalised",
            wrong.QueriesNormed,
            "In Pre-LN you normalise the queries, while keys and values are taken from the bare x. "
            "All three are the normalised x.",
        ),
        Misconception(
            "one norm for both halves",
            wrong.OneNorm,
            "You use norm1 twice. Each half has a norm of its own, with its own gain and bias.",
        ),
        Misconception(
            "attention across the batch",
            wrong.BatchAttends,
            "Your tokens attend to the tokens at the same place of other sentences. "
            "nn.MultiheadAttention takes the first axis for the length unless it is told "
            "batch_first=True.",
        ),
        Misconception(
            "both halves side by side",
            wrong.SideBySide,
            "Your feed-forward network reads x as it was before attention. It comes second and "
            "works on what the token has just heard.",
        ),
    ),
    forbidden=READY_BLOCK,
    needs=("FeedForward", "TokenNorm"),
)

# --- Stack


class _Stack(nn.Module):
    """Blocks, one on the other, and one last norm where they leave their output unnormalised."""

    def __init__(
        self, *, depth: int, width: int, heads: int, hidden: int, placement: str = "pre"
    ) -> None:
        super().__init__()
        sizes = {"width": width, "heads": heads, "hidden": hidden, "placement": placement}
        self.blocks = nn.ModuleList(_Block(**sizes) for _ in range(depth))
        self.final = nn.LayerNorm(width) if placement == "pre" else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """x (B, T, D) -> (B, T, D)."""
        for block in self.blocks:
            x = block(x)
        return self.final(x)


def _stacked(student: object, x: Tensor, depth: int, placement: str) -> Tensor:
    sizes = {"width": x.shape[-1], "heads": 2, "hidden": 10, "placement": placement}
    module = student.Stack(depth=depth, **sizes)
    module.load_state_dict(weights(_Stack(depth=depth, **sizes)))
    return module(x)


STACK = Question(
    name="Stack",
    title="The pile",
    points=4,
    difficulty=2,
    minutes=20,
    hint="nn.ModuleList of `depth` blocks, each made anew, and a loop in forward in which x is "
    "replaced by what the block makes of it. self.final is nn.LayerNorm (or your TokenNorm) for "
    '"pre" and nn.Identity() for "post".',
    page="blocks.html#sec-blocks-placement",
    reference=_Stack,
    cases=(
        Case("one block, Pre-LN", lambda student: _stacked(student, randn(1, 3, 4), 1, "pre")),
        Case("three blocks, Pre-LN", lambda student: _stacked(student, randn(2, 5, 6), 3, "pre")),
        Case("three blocks, Post-LN", lambda student: _stacked(student, randn(2, 5, 6), 3, "post")),
        Case(
            "names of the weights",
            lambda student: {
                placement: sorted(
                    student.Stack(depth=2, width=4, heads=1, hidden=3, placement=placement)
                    .state_dict()
                    .keys()
                )
                for placement in ("pre", "post")
            },
        ),
    ),
    misconceptions=(
        Misconception(
            "one block many times",
            wrong.OneBlockOften,
            "All your layers are one and the same block: [block] * depth repeats the name, not the "
            "block. Make each anew: [Block(...) for _ in range(depth)].",
        ),
        Misconception(
            "a plain list",
            wrong.PlainList,
            "torch does not see the blocks in a Python list, so they have no weights to load, to "
            "train or to save. nn.ModuleList takes the list.",
        ),
        Misconception(
            "no last norm",
            wrong.NoFinalNorm,
            "Post-LN passes. A Pre-LN stack leaves its main path unnormalised, so one norm stands "
            "at the end, in self.final.",
        ),
        Misconception(
            "a last norm for Post-LN too",
            wrong.AlwaysFinalNorm,
            "Pre-LN passes. The last thing that a Post-LN block does is to normalise, so its "
            "stack has no norm of its own: nn.Identity().",
        ),
        Misconception(
            "last norm after each block",
            wrong.FinalEverywhere,
            "You apply self.final after each block, inside the loop. It stands behind the last one "
            "only.",
        ),
        Misconception(
            "placement not passed on",
            wrong.PlacementLost,
            "Your blocks are Pre-LN whatever `placement` says: give it to each Block.",
        ),
        Misconception(
            "each block reads the input",
            wrong.AllReadTheInput,
            "Each of your blocks gets the input, and only the last one counts. Block 2 reads what "
            "block 1 has made: x = block(x).",
        ),
        Misconception(
            "top block first",
            wrong.TopFirst,
            "Your blocks run in the wrong order: blocks.0 comes first.",
        ),
    ),
    forbidden=READY_BLOCK,
    needs=("Block", "TokenNorm"),
)

ASSIGNMENT = Assignment(
    name="a06_blocks",
    title="Blocks",
    questions=(GELU, FEED, APART, NORM, BLOCK, STACK),
    written=(
        Written(
            name="one_token",
            title="Thirty-two copies of one token",
            points=3,
            minutes=20,
            page="blocks.html#sec-blocks-collapse",
        ),
    ),
)
