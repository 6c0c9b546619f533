"""The hidden cases of assignment 6: students may read what a case `says`, and nothing else."""

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, gradients, module_gradients, randn


def fill(module, shapes, seed=40, scale=0.4):
    """Load weights that are always the same; their names are in the question."""
    module.load_state_dict(
        {
            name: randn(*shape, seed=number) * scale
            for number, (name, shape) in enumerate(shapes.items(), seed)
        }
    )
    return module


# --- gelu


@hidden("gelu", says="double precision", tolerance=1e-12)
def gelu_double(student):
    return student.gelu(3 * randn(4, 5, dtype=torch.float64))


@hidden("gelu", says="what is kept and what is dropped add up", weight=2)
def gelu_sum(student):
    x = torch.linspace(-4, 4, 33)
    kept, dropped = student.gelu(x), -student.gelu(-x)
    assert (kept + dropped - x).abs().max() < 1e-5
    return kept


@hidden("gelu", says="the dip")
def gelu_dip(student):
    x = torch.linspace(-1.5, 0, 151)
    found = student.gelu(x)
    assert abs(float(x[found.argmin()]) + 0.75) < 0.02
    return found.min()


@hidden("gelu", says="a single number")
def gelu_scalar(student):
    return student.gelu(torch.tensor(0.3))


@hidden("gelu", says="the input is left as it was")
def gelu_keeps(student):
    return after(student.gelu, randn(3, 4))


@hidden("gelu", says="gradients on both sides of zero")
def gelu_gradients(student):
    return gradients(student.gelu, torch.tensor([-3.0, -0.75, 0.0, 1.5]))


# --- FeedForward


def feed(student, width, hidden_width, seed=40):
    shapes = {
        "expand.weight": (hidden_width, width),
        "expand.bias": (hidden_width,),
        "contract.weight": (width, hidden_width),
        "contract.bias": (width,),
    }
    return fill(student.FeedForward(width=width, hidden=hidden_width), shapes, seed)


@hidden("FeedForward", says="each token by itself", weight=2)
def feed_tokens(student):
    module, x = feed(student, 4, 9), randn(2, 5, 4)
    together = module(x)
    assert (together[:, 3] - module(x[:, 3])).abs().max() < 1e-5
    return together


@hidden("FeedForward", says="a middle of one number")
def feed_narrow(student):
    return feed(student, 3, 1)(randn(4, 3))


@hidden("FeedForward", says="gradients at input and weights", weight=2)
def feed_gradients(student):
    return module_gradients(feed(student, 3, 8), randn(4, 3))


@hidden("FeedForward", says="large numbers")
def feed_large(student):
    return feed(student, 4, 6)(100 * randn(3, 4))


@hidden("FeedForward", says="the input is left as it was")
def feed_keeps(student):
    return after(feed(student, 4, 6), randn(2, 3, 4))


# --- apart


@hidden("apart", says="one token only")
def apart_one(student):
    return student.apart(torch.tensor([[2.0, -3.0, 1.0]]))


@hidden("apart", says="larger tokens are not further apart", weight=2)
def apart_scaled(student):
    x = randn(6, 4) + 1
    small, large = student.apart(x), student.apart(1000 * x)
    assert (small - large).abs() < 1e-5
    return large


@hidden("apart", says="several axes in front", weight=2)
def apart_axes(student):
    return student.apart(randn(2, 3, 5, 4) + 0.3)


@hidden("apart", says="tokens that are nearly equal, in double precision", tolerance=1e-12)
def apart_near(student):
    token = randn(1, 5, dtype=torch.float64)
    return student.apart(token + 1e-4 * randn(7, 5, seed=1, dtype=torch.float64))


@hidden("apart", says="tokens without a common part")
def apart_opposite(student):
    return student.apart(torch.tensor([[1.0, -2.0], [-1.0, 2.0]]))


# --- TokenNorm


def norm(student, width, eps=1e-5, seed=40):
    shapes = {"weight": (width,), "bias": (width,)}
    return fill(student.TokenNorm(width=width, eps=eps), shapes, seed, scale=1.0)


@hidden("TokenNorm", says="a token a hundred times as large, and one moved up")
def norm_moved(student):
    module, x = norm(student, 8), randn(3, 8)
    return module(100 * x), module(x + 5)


@hidden("TokenNorm", says="quiet tokens", weight=2)
def norm_quiet(student):
    return norm(student, 6)(0.003 * randn(2, 4, 6))


@hidden("TokenNorm", says="the eps unless told otherwise")
def norm_default(student):
    return student.TokenNorm(width=6)(0.003 * randn(2, 4, 6))


@hidden("TokenNorm", says="a token of equal numbers")
def norm_constant(student):
    return norm(student, 4)(torch.full((2, 4), 3.0))


@hidden("TokenNorm", says="no sentence of a batch changes another", weight=2)
def norm_company(student):
    module, x = norm(student, 5), randn(2, 4, 5)
    louder = torch.cat([x[:1], 10 * x[1:]])
    first = module(x)[0]
    assert (first - module(louder)[0]).abs().max() < 1e-6
    return first


@hidden("TokenNorm", says="several axes in front")
def norm_axes(student):
    return norm(student, 4, eps=0.1)(randn(2, 3, 2, 4))


@hidden("TokenNorm", says="gradients at input and weights", weight=2)
def norm_gradients(student):
    return module_gradients(norm(student, 6, eps=1e-3), randn(3, 6))


@hidden("TokenNorm", says="the input is left as it was")
def norm_keeps(student):
    return after(norm(student, 4), randn(3, 4))


# --- Block


def block_shapes(width, hidden_width, prefix=""):
    shapes = {
        "attention.in_proj_weight": (3 * width, width),
        "attention.in_proj_bias": (3 * width,),
        "attention.out_proj.weight": (width, width),
        "attention.out_proj.bias": (width,),
        "feed_forward.expand.weight": (hidden_width, width),
        "feed_forward.expand.bias": (hidden_width,),
        "feed_forward.contract.weight": (width, hidden_width),
        "feed_forward.contract.bias": (width,),
    }
    norms = {f"norm{n}.{part}": (width,) for n in (1, 2) for part in ("weight", "bias")}
    return {prefix + name: shape for name, shape in {**shapes, **norms}.items()}


def block(student, placement, width=6, heads=3, hidden_width=8):
    module = student.Block(width=width, heads=heads, hidden=hidden_width, placement=placement)
    return fill(module, block_shapes(width, hidden_width))


@hidden("Block", says="one token only")
def block_one_token(student):
    x = randn(2, 1, 6)
    return block(student, "pre")(x), block(student, "post")(x)


@hidden("Block", says="shuffled tokens give shuffled outputs")
def block_shuffled(student):
    module, x = block(student, "pre"), randn(2, 5, 6)
    order = torch.tensor([3, 0, 4, 1, 2])
    return module(x)[:, order], module(x[:, order])


@hidden("Block", says="no sentence of a batch changes another", weight=2)
def block_company(student):
    module, x = block(student, "post"), randn(3, 4, 6)
    return module(x)[1], module(x[1:2])[0]


@hidden("Block", says="Pre-LN: where both halves say nothing, x comes through", weight=2)
def block_quiet(student):
    module = student.Block(width=4, heads=2, hidden=6, placement="pre")
    shapes = block_shapes(4, 6)
    module.load_state_dict({name: torch.zeros(*shape) for name, shape in shapes.items()})
    x = 3 * randn(2, 5, 4)
    found = module(x)
    assert (found - x).abs().max() < 1e-6
    return found


@hidden("Block", says="Post-LN: the size of the output is that of a norm")
def block_sized(student):
    module = student.Block(width=6, heads=2, hidden=8, placement="post")
    shapes = block_shapes(6, 8)
    filled = {name: 0.4 * randn(*shape, seed=n) for n, (name, shape) in enumerate(shapes.items())}
    for n in (1, 2):
        filled |= {f"norm{n}.weight": torch.ones(6), f"norm{n}.bias": torch.zeros(6)}
    module.load_state_dict(filled)
    return module(50 * randn(2, 3, 6))


@hidden("Block", says="gradients at input and weights, Pre-LN", weight=2)
def block_gradients_pre(student):
    return module_gradients(block(student, "pre"), randn(2, 4, 6))


@hidden("Block", says="gradients at input and weights, Post-LN", weight=2)
def block_gradients_post(student):
    return module_gradients(block(student, "post"), randn(2, 4, 6))


@hidden("Block", says="the norm stands before unless told otherwise")
def block_default(student):
    module = student.Block(width=4, heads=1, hidden=5)
    return fill(module, block_shapes(4, 5))(randn(2, 3, 4))


# --- Stack


def stack(student, depth, placement, width=4):
    shapes = {}
    for layer in range(depth):
        shapes |= block_shapes(width, 7, f"blocks.{layer}.")
    if placement == "pre":
        shapes |= {"final.weight": (width,), "final.bias": (width,)}
    module = student.Stack(depth=depth, width=width, heads=2, hidden=7, placement=placement)
    return fill(module, shapes)


@hidden("Stack", says="one block, Post-LN")
def stack_one(student):
    return stack(student, 1, "post")(randn(2, 3, 4))


@hidden("Stack", says="eight blocks, Pre-LN", weight=2)
def stack_deep(student):
    return stack(student, 8, "pre")(randn(2, 5, 4))


@hidden("Stack", says="eight blocks, Post-LN", weight=2)
def stack_deep_post(student):
    return stack(student, 8, "post")(randn(2, 5, 4))


@hidden("Stack", says="every block has weights of its own")
def stack_own_weights(student):
    names = stack(student, 3, "pre").state_dict()
    return sorted(name for name in names if name.endswith("expand.bias"))


@hidden("Stack", says="gradients at input and weights", weight=2)
def stack_gradients(student):
    return module_gradients(stack(student, 2, "pre"), randn(2, 3, 4))


@hidden("Stack", says="the norm stands before unless told otherwise")
def stack_default(student):
    module = student.Stack(depth=1, width=4, heads=2, hidden=7)
    shapes = {**block_shapes(4, 7, "blocks.0."), "final.weight": (4,), "final.bias": (4,)}
    return fill(module, shapes)(randn(1, 3, 4))
