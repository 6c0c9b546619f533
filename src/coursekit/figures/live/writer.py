"""The writer of the chapter on GPT, running in the page: what may come next, and what is drawn.

The reader sets the year, the beginning and the three knobs of sampling; the weights are those of
the training `writer`, and the arithmetic is that of `models/gpt.js`.
"""

from __future__ import annotations

from html import escape

import torch

from coursekit._base.checks import check_int
from coursekit.figures.live.figure import Live
from coursekit.figures.live.packed_models import tokenizer_of, trained_model
from coursekit.figures.live.still import svg
from coursekit.training.records import trained

KNOBS = {"temperature": 1.0, "top_k": 0, "top_p": 1.0}  # 0: all tokens
SHOWN = 10  # bars of the still picture
ROOM = (682, 906)  # pixels from top to bottom, on a wide screen and on a telephone
LINE = 30  # between two bars


def writer(prompt: str = "The United States have", *, year: int = 1815, seed: int = 1) -> Live:
    """Return the writer with a beginning, at a year; `seed` is that of what it draws."""
    check_int(year=year, seed=seed)
    state = {"prompt": prompt, "year": year, **KNOBS, "seed": seed, "tokens": []}
    return Live(
        "writer",
        state,
        _still(prompt, year),
        linked=tuple(state),
        model=trained_model("writer"),
        room=ROOM,
    )


def _still(prompt: str, year: int) -> str:
    """Return a picture of the likeliest tokens behind a beginning, in the colours of the page."""
    tokenizer = tokenizer_of("writer")
    begun = [number for character in f"{year}:" for number in tokenizer.encode(character)]
    with torch.no_grad():
        logits = trained("writer")(torch.tensor([begun + tokenizer.encode(f" {prompt}")]))[0, -1]
    best = logits.softmax(dim=-1).topk(SHOWN)  # 2 × (SHOWN,)
    shares = best.values.tolist()
    words = [tokenizer.decode([number]).strip() for number in best.indices.tolist()]
    told = ", ".join(f"{word} {share:.0%}" for word, share in zip(words, shares, strict=True))
    alt = f"What the writer puts behind “{year}: {prompt}”, the likeliest first: {told}."
    rows = []
    for place, (word, share) in enumerate(zip(words, shares, strict=True)):
        y = LINE * place + LINE / 2
        rows.append(
            f'<text x="112" y="{y}" text-anchor="end">{escape(word)}</text>'
            f'<rect x="122" y="{y - 9}" width="{210 * share / shares[0]:.1f}" height="18" '
            'fill="#0072B2"/>'
            f'<text x="{130 + 210 * share / shares[0]:.1f}" y="{y}">{share:.1%}</text>'
        )
    return svg(400, LINE * SHOWN, alt, "".join(rows), widest="31rem", central=True)
