"""What several questions of this assignment use."""

from __future__ import annotations

from coursekit.check.probe import randn


def fill(module, shapes, seed=40, scale=0.4):
    """Load weights that are always the same; their names are in the question."""
    module.load_state_dict(
        {
            name: randn(*shape, seed=number) * scale
            for number, (name, shape) in enumerate(shapes.items(), seed)
        }
    )
    return module


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
