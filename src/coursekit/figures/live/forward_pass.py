"""A forward pass of the writer, step by step, on a sentence of one's own, running in the page.

Every step from token to next token is a box that opens to its numbers, to the line of code that
computes them and to the section that explains them. The book has it in "GPT".
"""

from __future__ import annotations

import inspect
from html import escape
from importlib import import_module
from typing import Any, NamedTuple

import torch
from torch import Tensor

from coursekit.analysis.capture import capture
from coursekit.figures.live.figure import Live
from coursekit.figures.live.packed_models import tokenizer_of, trained_model
from coursekit.figures.live.still import svg
from coursekit.training.records import trained

ROOM = (980, 1715)  # pixels from top to bottom, on a wide screen and on a telephone
SENTENCE = "The people of the United"
YEAR = "1900:"
BLOCK, HEAD = 4, 4  # counted from 1
SHOWN = 4  # next tokens of the still picture
WIDE = 460  # of a row of the still picture


class Step(NamedTuple):
    """Where a step is explained, and the line of code that computes it."""

    section: str
    code: str  # what has the line in it: a function or a method
    line: str  # how the line begins


PLAIN, BLOCKS = "coursekit.plain.gpt.PlainGPT.forward", "coursekit.plain.gpt.GPTBlock.forward"
STEPS = {
    "tokens": Step(
        "sec-tokenization-bytes", "coursekit.tokenizers.base.Tokenizer.encode", "ids.extend"
    ),
    "embedding": Step("sec-gpt-decoder", PLAIN, "x = self.tokens"),
    "norm": Step("sec-blocks-placement", BLOCKS, "y = self.attention_norm"),
    "qkv": Step("sec-heads-split", BLOCKS, "q, k, v = self.qkv"),
    "turn": Step(
        "sec-positions-relative", "coursekit.positions.Rotary.turn", "return torch.cat"
    ),
    "scores": Step("sec-scaling-variance", "coursekit.kernels.scaled_dot", "return dot"),
    "mask": Step(
        "sec-masking-causal", "coursekit.attention.masked_softmax", "scores = scores.masked_fill"
    ),
    "shares": Step(
        "sec-kernels-lookup", "coursekit.attention.masked_softmax", "return scores.softmax(dim=-1)."
    ),
    "mixed": Step("sec-kernels-self", "coursekit.attention.attention", "return F.dropout"),
    "attended": Step("sec-blocks-residual", BLOCKS, "x = x + self.out"),
    "read": Step("sec-blocks-placement", BLOCKS, "y = gelu_tanh"),
    "hidden": Step("sec-blocks-ffn", BLOCKS, "y = gelu_tanh"),
    "fed": Step("sec-blocks-residual", BLOCKS, "return x + self.contract"),
    "final": Step("sec-gpt-decoder", PLAIN, "x = self.final_norm"),
    "next": Step("sec-gpt-sampling", PLAIN, "return x @ self.tokens"),
}  # fmt: skip


def forward_pass(sentence: str = SENTENCE) -> Live:
    """Return the writer at a sentence, opened at what its last token takes of each token."""
    state = {"sentence": sentence, "token": 0, "block": BLOCK, "head": HEAD, "box": "shares"}
    return Live(
        "forward_pass",
        state | {"code": {name: code_line(step) for name, step in STEPS.items()}},
        _still(sentence),
        linked=tuple(state),
        model=trained_model("writer"),
        room=ROOM,
        leads={name: f"{{ref}}`{step.section}`" for name, step in STEPS.items()},
        sources={name: step.code for name, step in STEPS.items()},
    )


def code_line(step: Step) -> str:
    """Return the line of a step as it stands in the code; there must be one."""
    name = step.code
    inside: list[str] = []
    while True:
        name, _, last = name.rpartition(".")
        inside.insert(0, last)
        if last[0].isupper() or not any(part[0].isupper() for part in name.split(".")):
            break
    value: Any = import_module(name)
    for part in inside:
        value = getattr(value, part)
    lines = [line.strip() for line in inspect.getsource(value).split("\n")]
    (line,) = (line for line in lines if line.startswith(step.line))
    return line


def read_tokens(sentence: str) -> list[int]:
    """Return the tokens that the figure has the writer read: the year's, and the sentence's."""
    tokenizer = tokenizer_of("writer")
    year = [number for character in YEAR for number in tokenizer.encode(character)]
    return year + tokenizer.encode(f" {sentence}")


def trace(tokens: list[int]) -> dict[str, Tensor]:
    """Tokens (T) -> all that PyTorch computes on the way, by the names of `models/gpt.js`."""
    model: Any = trained("writer")
    states: dict[str, Tensor] = {}

    def keep(name: str, *, inputs: bool = False) -> Any:
        def hook(module: object, given: tuple[Any, ...], output: Any) -> None:
            states[name] = (given[0] if inputs else output)[0]

        return hook

    hooks = [model.stack.final.register_forward_hook(keep("final"))]
    for n, block in enumerate(model.stack.blocks):
        for module, name, inputs in (
            (block.self_residual.norm, "self.read", False),
            (block.self_attention.qkv, "qkv", False),
            (block.self_attention.out, "means", True),
            (block.self_attention.out, "self.change", False),
            (block.feed_residual.norm, "self.stream", True),
            (block.feed_residual.norm, "feed.read", False),
            (block.feed_forward.contract, "feed.hidden", True),
            (block.feed_forward.contract, "feed.change", False),
            (block, "feed.stream", False),
        ):
            hooks.append(module.register_forward_hook(keep(f"{n}.{name}", inputs=inputs)))
    try:
        with torch.no_grad():
            recorded = capture(model, torch.tensor([tokens]))
    finally:
        for hook in hooks:
            hook.remove()
    states["logits"] = recorded.output[0]
    states["embedding"] = recorded.states["stack"][0][0]
    heads = model.config.heads
    for n, block in enumerate(model.stack.blocks):
        for name, part in zip("qkv", states.pop(f"{n}.qkv").chunk(3, dim=-1), strict=True):
            states[f"{n}.self.{name}"] = _of_heads(part, heads)
        means = states.pop(f"{n}.means")
        states[f"{n}.self.means"] = _of_heads(means, heads)
        turn = block.self_attention.rotary
        q, k = (turn(states[f"{n}.self.{name}"][None])[0] for name in "qk")
        states[f"{n}.self.turned q"], states[f"{n}.self.turned k"] = q, k
        states[f"{n}.self.scores"] = q @ k.transpose(-1, -2) * block.self_attention.scale
        states[f"{n}.self.weights"] = recorded.weights["stack.self_attention"][n][0]
    return states


def _of_heads(x: Tensor, heads: int) -> Tensor:
    """x (T, H·Dh) -> (H, T, Dh)."""
    return x.unflatten(-1, (heads, -1)).transpose(0, 1)


def _still(sentence: str) -> str:
    """Return the last token's way as rows of coloured cells, and what may come next."""
    tokenizer = tokenizer_of("writer")
    ids = read_tokens(sentence)
    values = trace(ids)
    words = [tokenizer.decode([number]).strip() for number in ids]
    n, h = BLOCK - 1, HEAD - 1
    weights = values[f"{n}.self.weights"][h, -1]  # (T,)
    best = values["logits"][-1].softmax(dim=-1).topk(SHOWN)
    likely = ", ".join(
        f"{tokenizer.decode([number]).strip()} {share:.1%}"
        for share, number in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    )
    top = weights.topk(2)
    looks = ", ".join(
        f"{share:.0%} of “{words[place]}”"
        for share, place in zip(top.values.tolist(), top.indices.tolist(), strict=True)
    )
    alt = (
        f"“{words[-1]}”, the last token of “{YEAR} {sentence}”, on its way through the writer: its "
        "vector, query, key and value, its shares, the mixed value, the stream after each block, "
        f"as rows of coloured cells. Head {HEAD} of block {BLOCK} takes {looks}. "
        f"Likeliest next: {likely}."
    )
    rows = [("embedding", values["embedding"][-1])]
    rows += [
        (f"stream after block {m + 1}", values[f"{m}.feed.stream"][-1]) for m in range(BLOCK - 1)
    ]
    rows += [
        (f"{name}, block {BLOCK}, head {HEAD}", values[f"{n}.self.{name}"][h, -1]) for name in "qkv"
    ]
    rows += [
        ("shares of all tokens", weights),
        ("mixed values", values[f"{n}.self.means"][h, -1]),
        (f"stream after block {BLOCK}", values[f"{n}.feed.stream"][-1]),
    ]
    drawn = "".join(
        f'<text x="172" y="{24 * y + 12}" text-anchor="end">{name}</text><g transform="translate('
        f'182 {24 * y + 12}) scale({WIDE / len(row):.3f} 1)">{_strip(row)}</g>'
        for y, (name, row) in enumerate(rows)
    )
    foot = 24 * len(rows) + 14
    inside = (
        f'<g stroke-width="14">{drawn}</g>'
        f'<text x="172" y="{foot}" text-anchor="end">next token</text>'
        f'<text x="182" y="{foot}">{escape(likely)}</text>'
    )
    return svg(650, foot + 14, alt, inside, size=15, widest="44rem", central=True)


def _strip(row: Tensor) -> str:
    """Return a row of numbers as cells one wide: orange above zero, blue below, two strengths.

    Strong is what is above half of the largest but the few largest.
    """
    most = row.abs().quantile(0.97)
    level = (row / most * 2).round().clamp(-2, 2).int().tolist()
    parts = []
    for value in (-2, -1, 1, 2):
        cells, at = "", 0
        for x, one in enumerate(level):
            if one == value and (x == 0 or level[x - 1] != value):
                run = next((k for k, other in enumerate(level[x:]) if other != value), len(row) - x)
                cells += f"m{x - at} 0h{run}"
                at = x + run
        if cells:
            colour = "#0072B2" if value < 0 else "#E69F00"
            strength = "" if abs(value) == 2 else ' opacity=".45"'
            parts.append(f'<path d="M0 0{cells}" stroke="{colour}"{strength}/>')
    return "".join(parts)
