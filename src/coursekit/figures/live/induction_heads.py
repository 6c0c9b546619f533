"""A dictionary in the prompt, looked up by a GPT of two blocks; one block is the control.

Both models run in the page: the two-block one of the training `examples`, and the one-block one of
`one_block`, which was trained three times as long. The book has it in "Prompts, and what they can
teach".
"""

from __future__ import annotations

from html import escape
from typing import Any

import torch
from torch import Tensor

from coursekit.analysis.capture import capture
from coursekit.figures.live.figure import Live
from coursekit.figures.live.packed_models import trained_model
from coursekit.figures.live.still import svg
from coursekit.training.records import trained

ROOM = (745, 1373)  # pixels from top to bottom, on a wide screen and on a telephone
PROMPT = "c7f2h0a4c7m9f2h"
SIGNS = "abcdefghijklmnop0123456789"  # the tokens
STEP, LEVEL = 26, 92  # of the still picture: from token to token, and from row to row
FAINT = 0.05


def induction_heads() -> Live:
    """Return both models at the prompt with which the page starts, at the heads that look it up."""
    two, single = (prompt_looks(PROMPT, name)[1] for name in ("examples", "one_block"))
    hit = PROMPT.index(PROMPT[-1]) + 1  # the digit that is the answer
    first, second = _best(previous_token(two[0])), _best(two[1][:, -1, hit])
    state = {
        "prompt": PROMPT,
        "first": first,
        "second": second,
        "single": _best(single[0][:, -1, hit]),
    }
    still = _still(two, first - 1, second - 1, hit)
    return Live("induction_heads", state, still, tuple(state), trained_model("examples"), ROOM)


def prompt_looks(prompt: str, name: str = "examples") -> tuple[Tensor, list[Tensor]]:
    """Return the probabilities (V) of what follows a prompt, and each block's weights (H, T, T)."""
    model: Any = trained(name)
    tokens = torch.tensor([[SIGNS.index(sign) for sign in prompt]])  # (1, T)
    with torch.no_grad():
        seen = capture(model, tokens)
    weights = [weights[0] for weights in seen.weights["stack.self_attention"]]
    return seen.output[0, -1].softmax(dim=-1), weights


def previous_token(weights: Tensor) -> Tensor:
    """Return each head's mean weight (..., H) from a digit on its letter, of (..., H, T, T)."""
    return weights.diagonal(-1, -2, -1)[..., 0::2].mean(dim=-1)  # digits are at 1, 3, 5, …


def _best(weights: Tensor) -> int:
    return int(weights.argmax()) + 1


def _still(looks: list[Tensor], first: int, second: int, hit: int) -> str:
    """Return both blocks' heads as lines between rows of tokens, and what the models predict."""
    last = len(PROMPT) - 1
    said = {}
    for name, title in {"examples": "two blocks", "one_block": "one block"}.items():
        chances = prompt_looks(PROMPT, name)[0]
        said[title] = f"{title}: {SIGNS[int(chances.argmax())]} ({float(chances.max()):.0%})"
    lines = [
        (0, s, t, float(looks[0][first, t, s]), t == hit and s == t - 1)
        for t in range(1, last, 2)
        for s in range(t + 1)
    ]
    lines += [(1, s, last, float(looks[1][second, last, s]), s == hit) for s in range(last + 1)]
    alt = (
        f"After {PROMPT} a GPT of two blocks and one of a single block predict a digit; "
        f"{'; '.join(said.values())}. In block 1, head {first + 1} looks from the digit "
        f"{PROMPT[hit]} at the letter {PROMPT[hit - 1]} before it "
        f"({float(looks[0][first, hit, hit - 1]):.0%}); in block 2, head {second + 1} looks from "
        f"the last letter at that digit ({float(looks[1][second, last, hit]):.0%})."
    )
    base = 2 * LEVEL + 20

    def x(t: int) -> float:
        return STEP * (t + 0.5) + 70

    drawn = [
        f'<line x1="{x(s)}" y1="{base - LEVEL * row - 12}" x2="{x(t)}" '
        f'y2="{base - LEVEL * (row + 1) + 12}" stroke="{"#D55E00" if key else "#0072B2"}" '
        f'stroke-width="2.5" stroke-opacity="{weight:.2f}"/>'
        for row, s, t, weight, key in lines
        if weight >= FAINT
    ]
    for row in range(3):
        for t in range(last if row == 2 else 0, last + 1):
            edge = "#D55E00" if row == 1 and t == hit else "currentColor"
            drawn.append(
                f'<rect x="{x(t) - 11}" y="{base - LEVEL * row - 11}" width="22" height="22" '
                f'rx="3" fill="none" stroke="{edge}" stroke-opacity="0.6"/>'
                f'<text x="{x(t)}" y="{base - LEVEL * row}" text-anchor="middle">{PROMPT[t]}</text>'
            )
    drawn += [f'<text x="0" y="{base - LEVEL * n}">block {n}</text>' for n in (1, 2)]
    told = "; ".join(said.values())
    drawn.append(f'<text x="70" y="{base + 34}">{escape(told)}</text>')
    return svg(STEP * (last + 1) + 76, base + 50, alt, "".join(drawn), widest="34rem", central=True)
