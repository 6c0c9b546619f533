"""Every attention head of the small BERT on a sentence that the reader types, running in the page.

Some heads look at a neighbour, whatever the words are. An untrained model of the same size is the
control. The weights are those of the training `bert`. The book has it in "Many heads".
"""

from __future__ import annotations

from html import escape
from typing import Any

import torch
from torch import Tensor

from coursekit.analysis.capture import capture
from coursekit.figures.live.figure import Live
from coursekit.figures.live.packed_models import tokenizer_of, trained_model
from coursekit.figures.live.still import svg
from coursekit.training.records import trained

ROOM = (706, 1188)  # pixels from top to bottom, on a wide screen and on a telephone
SENTENCE = "The king of Israel said to the people, and they answered him."
SPREAD = 0.02  # standard deviation of BERT's matrices before training
SHADES = 5  # of the still picture
CELL, GAP = 5, 14


def attention_heads(
    sentence: str = SENTENCE, *, block: int = 2, head: int = 2, piece: int = 3
) -> Live:
    """Return BERT at a sentence; blocks, heads and tokens are counted from 1, [CLS] being 1."""
    chosen: dict[str, Any] = {"sentence": sentence, "block": block, "head": head, "piece": piece}
    chosen["model_is"] = "trained"
    model = trained_model("bert")
    still = _still(sentence, block, head)
    return Live("attention_heads", chosen | {"spread": SPREAD}, still, tuple(chosen), model, ROOM)


def sentence_looks(sentence: str, model: Any = None) -> tuple[list[int], list[Tensor]]:
    """Return the tokens read (T) and each block's weights (H, T, T), of a BERT or of ours."""
    model = trained("bert") if model is None else model
    tokenizer = tokenizer_of("bert")
    cls, sep = map(tokenizer.token_to_id, ("[CLS]", "[SEP]"))
    tokens = [cls, *tokenizer.encode(sentence), sep]
    with torch.no_grad():
        seen = capture(model, torch.tensor([tokens]))
    return tokens, [weights[0] for weights in seen.weights["bert.encoder.self_attention"]]


def _still(sentence: str, block: int, head: int) -> str:
    """Return the maps of all heads, a row for each block, in the colours of the page."""
    tokens, looks = sentence_looks(sentence)
    names = [tokenizer_of("bert").id_to_token(token) for token in tokens]
    told = ", ".join(
        f"{name} at {names[int(row.argmax())]} ({float(row.max()):.0%})"
        for name, row in zip(names, looks[block - 1][head - 1], strict=True)
    )
    alt = (
        f"The attention weights of every head of a small BERT that reads “{sentence}”. "
        f"Where head {block}.{head} looks most from each token: {told}."
    )
    side = CELL * len(tokens)
    step = side + GAP
    maps = "".join(
        f'<g transform="translate({step * h + 1} {(step + 16) * b + 18})">'
        f'<text x="0" y="-5">{b + 1}.{h + 1}</text>{_map(weights)}</g>'
        for b, heads in enumerate(looks)
        for h, weights in enumerate(heads)
    )
    width, height = step * len(looks[0]), (step + 16) * len(looks)
    return svg(width, height + 4, escape(alt, quote=False), maps, size=13, widest="30rem")


def _map(weights: Tensor) -> str:
    """Return one head's weights (T, T): rows look, columns are looked at."""
    levels = (SHADES * weights).round()  # (T, T)
    cells = "".join(
        f'<path opacity="{level / SHADES:.1f}" d="'
        + "".join(
            f"M{CELL * s} {CELL * t}h{CELL}v{CELL}h-{CELL}z"
            for t, s in (levels == level).nonzero().tolist()
        )
        + '"/>'
        for level in levels.unique().tolist()
        if level
    )
    side = CELL * len(weights)
    return (
        f'<g fill="#0072B2">{cells}</g><rect width="{side}" height="{side}" fill="none" '
        'stroke="currentColor" stroke-opacity="0.4"/>'
    )
