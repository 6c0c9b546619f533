"""Beam search as a tree that grows, on the translator, running in the page.

Each step shows the candidates: those that go on, those that are complete, those that are dropped.
The search is that of `coursekit.decoding.beam_search`, and a test holds the two equal. The book has
it in "The Transformer that translates".
"""

from __future__ import annotations

from html import escape
from typing import Any

import torch
from torch import Tensor

from coursekit.decoding.generation import Hypotheses, beam_search
from coursekit.figures.live.figure import Live
from coursekit.figures.live.packed_models import tokenizer_of, trained_model
from coursekit.figures.live.still import svg
from coursekit.training.records import trained
from coursekit.training.translation import END, LONGER, PAD, START

ROOM = (733, 928)  # pixels from top to bottom, on a wide screen and on a telephone
SENTENCE = "David went up to Jerusalem."
BEAMS, ALPHA = 2, 0.6
STEPS = 3  # that are shown at first


def beam_tree() -> Live:
    """Return the tree of a search that finds a better text than greedy writing does."""
    state = {"sentence": SENTENCE, "beams": BEAMS, "alpha": ALPHA, "steps": STEPS}
    model = trained_model("translation")
    return Live("beam_tree", state, _still(), tuple(state), model, ROOM)


def translations(sentence: str, beams: int, alpha: float) -> Hypotheses:
    """Return what the package's beam search writes for a sentence."""
    model: Any = trained("translation")
    source = torch.tensor([tokenizer_of("translation").encode(sentence)])  # (1, S)
    state, first = model.start(source), torch.tensor([[START]])
    longest = source.shape[1] + LONGER
    return beam_search(
        model, first, state, beams=beams, longest=longest, end=END, pad=PAD, alpha=alpha
    )


def _running_sums(sentence: str, tokens: list[int]) -> list[float]:
    """Return log p of the text after each of its tokens."""
    source = tokenizer_of("translation").encode(sentence)
    with torch.no_grad():
        logits = trained("translation")(
            torch.tensor([source]), torch.tensor([[START, *tokens[:-1]]])
        )  # (1, T, V)
    logs: Tensor = logits[0].log_softmax(dim=-1)[range(len(tokens)), tokens]  # (T,)
    return logs.cumsum(dim=0).tolist()


def _still() -> str:
    """Return the two best texts of a search as two branches, in the colours of the page."""
    tokenizer = tokenizer_of("translation")
    hypotheses = translations(SENTENCE, BEAMS, ALPHA)
    texts = [[t for t in row if t != PAD] for row in hypotheses.tokens[0].tolist()]
    shared = next(n for n, (a, b) in enumerate(zip(*texts, strict=False)) if a != b)
    told, nodes = [], []
    for line, tokens in enumerate(texts):
        sums = _running_sums(SENTENCE, tokens)
        words = ["end" if t == END else tokenizer.decode([t]).strip() for t in tokens]
        told.append(f"“{tokenizer.decode(tokens[:-1])}”, {sums[-1]:.2f}".replace("-", "−"))
        boxes, edges, labels = [], [], []
        for n in range(shared if line else 0, len(tokens)):
            x, y = 84 * n + 4, 26 + 66 * line
            if n:
                edges.append(f"M{x - 12} {26 if n == shared else y}L{x} {y}")
            boxes.append(f'<rect x="{x}" y="{y - 22}" width="72" height="44" rx="4"/>')
            labels.append(
                f'<text x="{x + 36}" y="{y - 8}">{escape(words[n])}</text>'
                f'<text x="{x + 36}" y="{y + 11}">{sums[n]:.2f}</text>'.replace(">-", ">−")
            )
        colour = "#56B4E9" if line else "#009E73"
        nodes += [
            f'<path d="{"".join(edges)}" stroke="currentColor"/>',
            f'<g fill="{colour}" fill-opacity="0.35">{"".join(boxes)}</g>',
            *labels,
        ]
    alt = (
        f"Beam search of width {BEAMS} translates “{SENTENCE}”. Its two complete texts, with the "
        f"logarithms of their probabilities: {'; '.join(told)}."
    )
    width = 84 * max(map(len, texts))
    return svg(width, 120, alt, "".join(nodes), size=15, middle=True, central=True)
