"""Calls that would answer a question without answering it, found in the source by `ast`.

`check` names them to the learner, the grader shows them to a human. Nobody loses points by a list.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

# Each table names all that computes the same: a way that is missing here is a way round.
BLOCKS = (  # whole blocks and what is made of them
    "torch.nn.Transformer",
    "torch.nn.TransformerEncoder",
    "torch.nn.TransformerEncoderLayer",
    "torch.nn.TransformerDecoder",
    "torch.nn.TransformerDecoderLayer",
)
ATTENTION = (  # attention as a whole
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
    "torch.nn.attention",
    *BLOCKS,
    "coursekit",
)
SOFTMAX = (
    "torch.softmax",
    "torch.special.softmax",
    "torch.sparse.softmax",
    "torch.masked.softmax",
    "torch.nn.functional.softmax",
    "torch.nn.Softmax",
    "torch.nn.Softmax2d",
    "torch.Tensor.softmax",
    "torch.log_softmax",  # its logarithm
    "torch.special.log_softmax",
    "torch.sparse.log_softmax",
    "torch.masked.log_softmax",
    "torch.nn.functional.log_softmax",
    "torch.nn.LogSoftmax",
    "torch.nn.AdaptiveLogSoftmaxWithLoss",
    "torch.Tensor.log_softmax",
    "torch.masked.softmin",  # of the scores turned round
    "torch.nn.functional.softmin",
    "torch.nn.Softmin",
    "torch.nn.functional.gumbel_softmax",
    "torch.logsumexp",  # the logarithm of the sum; a softmax is its gradient
    "torch.special.logsumexp",
    "torch.masked.logsumexp",
    "torch.Tensor.logsumexp",
    "torch.logcumsumexp",
    "torch.Tensor.logcumsumexp",
    "torch.logaddexp",
    "torch.logaddexp2",
    "torch.masked.logaddexp",
    "torch.Tensor.logaddexp",
    "torch.Tensor.logaddexp2",
    "numpy.logaddexp",
    "numpy.logaddexp2",
    "torch.nn.functional.cross_entropy",  # as is the gradient of this, but for a one
    "torch.nn.CrossEntropyLoss",
    "torch.nn.functional.linear_cross_entropy",
    "torch.nn.LinearCrossEntropyLoss",
    "torch.distributions",  # Categorical(logits=...).probs
    "scipy",
    "sklearn",
    *ATTENTION,  # of scores as queries, with the identity for keys and values
)

ALWAYS = ("coursekit.check.check", "coursekit.check.submit_check")  # may be called
THERE = ("torch", "numpy", "math")  # when graded; of others nothing is (`grading.hiding`)
METHOD = "torch.Tensor."
USUAL = {"F": "torch.nn.functional", "nn": "torch.nn", "np": "numpy"}  # where no import is seen


def used(source: str, forbidden: Iterable[str], imports: str = "") -> list[str]:
    """Return which of the dotted names in `forbidden` the Python in `source` uses, in their order.

    `imports` is the source of the cells before, whose imports say what `F` is. A name stands for
    all below it ("coursekit"), and "torch.Tensor.softmax" for `.softmax(...)` on any value. Source
    that is not Python uses nothing.
    """
    forbidden = tuple(forbidden)
    trees = [tree for text in (imports, source) if (tree := _parse(text)) is not None]
    if not trees or not forbidden or (answer := _parse(source)) is None:
        return []
    names = dict(USUAL)
    for tree in trees:
        names.update(imported(tree))
    calls: set[str] = set()
    for node in ast.walk(answer):
        if isinstance(node, (ast.Attribute, ast.Name)):
            calls.update(_matches(dotted_name(node, names), forbidden))
            if isinstance(node, ast.Attribute) and not _is_module(node.value, names):
                calls.update({METHOD + node.attr} & set(forbidden))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for dotted in imported(node).values():
                calls.update(_matches(dotted, forbidden))
    return [name for name in forbidden if name in calls]


def spelled(name: str) -> str:
    """Return a forbidden name as a learner writes it."""
    if name.startswith(METHOD):
        return f".{name.removeprefix(METHOD)}()"
    name = name.replace("torch.nn.functional.", "F.")
    return name.replace("torch.nn.", "nn.")


def _parse(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def imported(tree: ast.AST) -> dict[str, str]:
    """Return the names that imports bind, and the dotted name behind each."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                target = alias.name if alias.asname else alias.name.split(".")[0]
                names[alias.asname or target] = target
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def dotted_name(node: ast.expr, names: dict[str, str]) -> str:
    """Return the dotted name that an expression spells, "" for none; `names` are of imports."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([names.get(node.id, node.id), *parts])


def _matches(dotted: str, forbidden: tuple[str, ...]) -> list[str]:
    if dotted in ALWAYS:
        return []
    return [name for name in forbidden if dotted == name or dotted.startswith(f"{name}.")]


def _is_module(node: ast.expr, names: dict[str, str]) -> bool:
    """Return whether a dot after `node` asks a module for a name, as in `torch.softmax`."""
    return dotted_name(node, names).split(".")[0] in {"torch", "numpy", "math", "coursekit"}
