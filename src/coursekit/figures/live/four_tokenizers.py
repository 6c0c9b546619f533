"""A text of the reader's own, cut by the chapter's four tokenizers; the BPEs merge by merge.

The vocabularies come to the page without weights (`vocabularies`). The book has it in
"Tokenization".
"""

from __future__ import annotations

from html import escape

from coursekit.figures.live.figure import Live
from coursekit.figures.live.packed_models import trained_model
from coursekit.figures.live.still import svg
from coursekit.figures.live.vocabularies import SIZE, four
from coursekit.tokenizers.base import Tokenizer
from coursekit.tokenizers.byte_bpe import ByteBPE, unshow

TEXT = "Hello, y'all! How are you 😊 ?"
ROOM = (585, 960)  # pixels from top to bottom, on a wide screen and on a telephone
WIDE, LETTER, GAP = 620, 9.1, 4  # of the still picture, of a letter, between two boxes
FILLS = ("#56B4E9", "#E69F00")


def four_tokenizers() -> Live:
    """Return the four at the sentence that the chapter's table begins with."""
    state = {"text": TEXT, "merges": SIZE}
    model = trained_model("four_tokenizers")
    return Live("four_tokenizers", state, _still(), tuple(state), model, ROOM)


def shown_tokens(tokenizer: Tokenizer, text: str) -> list[str]:
    """Return the tokens of `text` as they are shown: spaces and word ends as signs, bytes in hex.

    >>> shown_tokens(four()["BPE"], "the 😊")
    ['the·', '[UNK]']
    """
    tokens = tokenizer.tokens(text)
    if isinstance(tokenizer, ByteBPE):
        tokens = [_characters(unshow(token)) for token in tokens]
    signs = {" ": "␣", "\t": "⇥", "</w>": "·"}
    for old, new in signs.items():
        tokens = [token.replace(old, new) for token in tokens]
    return tokens


def _characters(token: bytes) -> str:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return token.hex(" ").upper()


def _still() -> str:
    """Return the cuts of the four as rows of boxes, in the colours of the page."""
    parts, told, y = [], [], 16.0
    for name, tokenizer in four().items():
        tokens = shown_tokens(tokenizer, TEXT)
        lost = tokens.count("[UNK]")
        counted = f"{len(tokens)} tokens" + (f", {lost} unknown" if lost else "")
        told.append(f"{name} {counted}")
        parts.append(f'<text y="{y}" font-weight="bold">{name}</text>')
        parts.append(f'<text x="{WIDE}" y="{y}" text-anchor="end">{counted}</text>')
        x, y = 0.0, y + 18
        for n, token in enumerate(tokens):
            width = LETTER * len(token) + 9
            if x + width > WIDE:
                x, y = 0.0, y + 30
            parts.append(_box(x, y, width, token, n))
            x += width + GAP
        y += 56
    alt = f"“{TEXT}” cut by four tokenizers into boxes: {'; '.join(told)}."
    return svg(WIDE, round(y - 16), alt, "".join(parts))


def _box(x: float, y: float, width: float, token: str, n: int) -> str:
    """Return a token in its box; what is unknown has a broken line round it."""
    lost = token == "[UNK]"
    colour = "#D55E00" if lost else FILLS[n % 2]
    return (
        f'<rect x="{x + 1:.1f}" y="{y - 7}" width="{width - 2:.1f}" height="25" rx="4" '
        f'fill="{colour}" fill-opacity="0.2" stroke="{colour}" '
        f'stroke-dasharray="{"5 3" if lost else "none"}"/>'
        f'<text x="{x + width / 2:.1f}" y="{y + 11}" text-anchor="middle" font-size="15" '
        f'font-family="monospace">{escape(token)}</text>'
    )
