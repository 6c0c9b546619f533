"""A block: attention and a network, each added to what was there."""

from __future__ import annotations

from torch import Tensor, nn

from coursekit.exercises.a06_blocks.feed_forward import FeedForward
from coursekit.exercises.a06_blocks.shared import READY_BLOCK, weights
from coursekit.exercises.probe import randn
from coursekit.exercises.question import Question


class Block(nn.Module):
    def __init__(self, *, width, heads, hidden, placement="pre"):
        super().__init__()
        self.placement = placement
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.feed_forward = FeedForward(width=width, hidden=hidden)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        """x (B, T, width) -> (B, T, width)."""
        if self.placement == "post":
            x = self.norm1(x + self.attend(x))
            return self.norm2(x + self.feed_forward(x))
        x = x + self.attend(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))

    def attend(self, x):
        return self.attention(x, x, x, need_weights=False)[0]


QUESTION = Question(
    name="Block",
    title="A block, with the norm where you want it",
    points=6,
    difficulty=3,
    minutes=40,
    page="blocks.html#sec-blocks-placement",
    hint="Two halves of one form: attention, then the feed-forward network. Post-LN: "
    "x = norm(x + f(x)). Pre-LN: x = x + f(norm(x)). nn.MultiheadAttention wants query, key and "
    "value, all three the same here, and returns a pair, of which you want the first.",
    reference=Block,
    forbidden=READY_BLOCK,
    needs=("FeedForward", "TokenNorm"),
)


def _blocked(student: object, x: Tensor, heads: int, hidden: int, placement: str) -> Tensor:
    sizes = {"width": x.shape[-1], "heads": heads, "hidden": hidden, "placement": placement}
    module = student.Block(**sizes)
    module.load_state_dict(weights(Block(**sizes)))
    return module(x)


@QUESTION.visible(says="Pre-LN, two tokens of four numbers")
def pre_ln_two_tokens_of_four(student):
    return _blocked(student, randn(1, 2, 4), 1, 6, "pre")


@QUESTION.visible(says="Post-LN, two tokens of four numbers")
def post_ln_two_tokens_of_four(student):
    return _blocked(student, randn(1, 2, 4), 1, 6, "post")


@QUESTION.visible(says="Pre-LN, two heads, three sentences")
def pre_ln_two_heads_three_sentences(student):
    return _blocked(student, 2 * randn(3, 5, 8), 2, 12, "pre")


@QUESTION.visible(says="Post-LN, two heads, three sentences")
def post_ln_two_heads_three_sentences(student):
    return _blocked(student, 2 * randn(3, 5, 8), 2, 12, "post")


@QUESTION.visible(says="names and shapes of the weights")
def names_and_shapes_of_the_weights(student):
    return {
        name: list(weight.shape)
        for name, weight in student.Block(width=4, heads=2, hidden=6).state_dict().items()
    }


QUESTION.mistake(
    "Pre and Post changed over",
    old='== "post"',
    new='== "pre"',
    hint='Your "pre" is Post-LN and your "post" is Pre-LN. Post: the norm comes after the '
    "addition, norm(x + f(x)). Pre: it comes before the sublayer, x + f(norm(x)).",
)

QUESTION.mistake(
    "Pre-LN sold as Post-LN",
    old='if self.placement == "post":',
    new="if False:",
    hint="Your Pre-LN is right, and your Post-LN is Pre-LN as well. In Post-LN the norm stands "
    "on the main path: norm(x + f(x)).",
)

QUESTION.mistake(
    "Post-LN sold as Pre-LN",
    old='if self.placement == "post":',
    new="if True:",
    hint="Your Post-LN is right, and your Pre-LN is Post-LN as well. In Pre-LN the norm stands "
    "in the branch and nothing touches the main path: x + f(norm(x)).",
)


@QUESTION.mistake(
    "residual missing",
    hint="What was there is gone: you pass on f(x) and not x + f(x). Twice, once for each half.",
)
class NoResidual(Block):
    def forward(self, x):
        if self.placement == "post":
            return self.norm2(self.feed_forward(self.norm1(self.attend(x))))
        return self.feed_forward(self.norm2(self.attend(self.norm1(x))))


QUESTION.mistake(
    "residual around attention only",
    old=(
        "return self.norm2(x + self.feed_forward(x))\n"
        "        x = x + self.attend(self.norm1(x))\n"
        "        return x + self.feed_forward(self.norm2(x))"
    ),
    new=(
        "return self.norm2(self.feed_forward(x))\n"
        "        x = x + self.attend(self.norm1(x))\n"
        "        return self.feed_forward(self.norm2(x))"
    ),
    hint="Attention is added to x in yours, the result of the feed-forward network replaces "
    "it. Both are added.",
)

QUESTION.mistake(
    "the normalised x added",
    old=("x = x + self.attend(self.norm1(x))\n        return x + self.feed_forward(self.norm2(x))"),
    new=(
        "x = self.norm1(x)\n"
        "        x = self.norm2(x + self.attend(x))\n"
        "        return x + self.feed_forward(x)"
    ),
    hint="In Pre-LN you overwrite x with norm(x), and so add to the normalised one. Only the "
    "sublayer gets the normalised x; what is added to is x as it was.",
)

QUESTION.mistake(
    "only queries normalised",
    old="x + self.attend(self.norm1(x))",
    new="x + self.attention(self.norm1(x), x, x, need_weights=False)[0]",
    hint="In Pre-LN you normalise the queries, while keys and values are taken from the bare x. "
    "All three are the normalised x.",
)

QUESTION.mistake(
    "one norm for both halves",
    old=(
        "return self.norm2(x + self.feed_forward(x))\n"
        "        x = x + self.attend(self.norm1(x))\n"
        "        return x + self.feed_forward(self.norm2(x))"
    ),
    new=(
        "return self.norm1(x + self.feed_forward(x))\n"
        "        x = x + self.attend(self.norm1(x))\n"
        "        return x + self.feed_forward(self.norm1(x))"
    ),
    hint="You use norm1 twice. Each half has a norm of its own, with its own gain and bias.",
)

QUESTION.mistake(
    "attention across the batch",
    old="return self.attention(x, x, x, need_weights=False)[0]",
    new=(
        "x = x.transpose(0, 1)\n"
        "        return self.attention(x, x, x, need_weights=False)[0].transpose(0, 1)"
    ),
    hint="Your tokens attend to the tokens at the same place of other sentences. "
    "nn.MultiheadAttention takes the first axis for the length unless it is told "
    "batch_first=True.",
)


@QUESTION.mistake(
    "both halves side by side",
    hint="Your feed-forward network reads x as it was before attention. It comes second and "
    "works on what the token has just heard.",
)
class SideBySide(Block):
    def forward(self, x):
        if self.placement == "post":
            return self.norm2(self.norm1(x + self.attend(x)) + self.feed_forward(x))
        return x + self.attend(self.norm1(x)) + self.feed_forward(self.norm2(x))
