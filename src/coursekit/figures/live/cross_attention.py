"""The translator's cross-attention on a sentence of one's own, running in the page.

The reader types a sentence; the translator of the training `translation` writes it in French,
greedily, and all of its heads can be looked at, from either side. The book has it in "The
Transformer that translates".
"""

from __future__ import annotations

from html import escape
from typing import Any

import torch
from torch import Tensor

from coursekit.analysis.capture import capture
from coursekit.decoding.generation import generate
from coursekit.figures.live.figure import Live
from coursekit.figures.live.packed_models import tokenizer_of, trained_model
from coursekit.figures.live.still import svg
from coursekit.training.records import trained
from coursekit.training.translation import END, LONGER, START

ROOM = (740, 1027)  # pixels from top to bottom, on a wide screen and on a telephone
SENTENCE = "The king of Israel said to the people:"
CELL = 34


def cross_attention(sentence: str = SENTENCE, *, block: int = 2, head: int = 1) -> Live:
    """Return the translator at a sentence; blocks and heads are counted from 1."""
    state = {"sentence": sentence, "block": block, "head": head, "side": "french", "piece": 5}
    model = trained_model("translation")
    still = _still(sentence, block, head)
    return Live("cross_attention", state, still, tuple(state), model, ROOM)


def greedy_looks(sentence: str) -> tuple[list[int], list[int], list[Tensor]]:
    """Return the tokens read (S) and written (T), and of each block the weights (H, T, S)."""
    model: Any = trained("translation")
    source = tokenizer_of("translation").encode(sentence)
    read = torch.tensor([source])
    first = torch.tensor([[START]])
    with torch.no_grad():
        state = model.start(read)
        written = generate(model, first, state, longest=len(source) + LONGER, end=END)  # (1, T)
        seen = capture(model, read, torch.cat([first, written[:, :-1]], dim=1))
    return source, written[0].tolist(), [w[0] for w in seen.weights["decoder.cross_attention"]]


def _still(sentence: str, block: int, head: int) -> str:
    """Return the weights of one head as a grid, in the colours of the page."""
    tokenizer = tokenizer_of("translation")
    source, written, looks = greedy_looks(sentence)
    weights = looks[block - 1][head - 1]  # (T, S)
    read = [tokenizer.decode([token]).strip() for token in source]
    labels = ["end" if token == END else tokenizer.decode([token]).strip() for token in written]
    told = ", ".join(
        f"{word} at {read[int(row.argmax())]} ({float(row.max()):.0%})"
        for word, row in zip(labels, weights, strict=True)
    )
    alt = (
        f"The translator reads “{sentence}” and writes “{tokenizer.decode(written[:-1])}”. "
        f"Where head {head} of block {block} looked most for each piece: {told}."
    )
    left, top = 80, 74
    cells = "".join(
        f'<rect x="{left + CELL * s}" y="{top + CELL * t}" width="{CELL}" height="{CELL}" '
        f'opacity="{weights[t, s]:.2f}"/>'
        for t, s in (weights > 0.02).nonzero().tolist()
    )
    rows = "".join(
        f'<text x="{left - 8}" y="{top + CELL * (t + 0.5)}" text-anchor="end">{escape(word)}</text>'
        for t, word in enumerate(labels)
    )
    columns = "".join(
        f'<text transform="translate({left + CELL * (s + 0.5)} {top - 8}) rotate(-60)">'
        f"{escape(word)}</text>"
        for s, word in enumerate(read)
    )
    width, height = CELL * len(read), CELL * len(labels)
    inside = (
        f'<g fill="#0072B2">{cells}</g><rect x="{left}" y="{top}" width="{width}" '
        f'height="{height}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>'
        f"{rows}{columns}"
    )
    return svg(left + width + 30, top + height + 2, alt, inside, widest="30rem", central=True)
