"""BERT fills a blank in the page, and its output layer is asked at every layer (the "logit lens").

The reader writes a sentence and hides a word. The output layer was trained on the last block's
outputs only; on earlier ones it shows what can already be read there in the same way. The book has
it in "BERT".
"""

from __future__ import annotations

from html import escape
from typing import Any

import torch
from torch import Tensor

from coursekit.figures.live.figure import Live
from coursekit.figures.live.packed_models import tokenizer_of, trained_model
from coursekit.figures.live.still import svg
from coursekit.training.records import trained

ROOM = (842, 1070)  # pixels from top to bottom, on a wide screen and on a telephone
SENTENCE = "The word of Yahweh came to Jonah."
PLACE = 5  # which word is hidden
FIRST = 3  # guesses of each layer in the still picture
LINE = 42


def logit_lens() -> Live:
    """Return BERT at the sentence with which its chapter begins, with the verb hidden."""
    state = {"sentence": SENTENCE, "place": PLACE, "follow": ""}
    return Live("logit_lens", state, _still(), tuple(state), trained_model("bert"), ROOM)


def layer_logits(text: str) -> Tensor:
    """Text with one [MASK] -> the logits there (L + 1, V) of the input and of every block."""
    tokenizer = tokenizer_of("bert")
    model: Any = trained("bert")
    cls, sep, mask = map(tokenizer.token_to_id, ("[CLS]", "[SEP]", "[MASK]"))
    before, behind = map(tokenizer.encode, text.split("[MASK]"))
    tokens = torch.tensor([[cls, *before, mask, *behind, sep]])  # (1, T)
    with torch.no_grad():
        x = model.bert.embeddings(tokens, torch.zeros_like(tokens))  # (1, T, D)
        states = torch.stack([h[0, len(before) + 1] for h in model.bert.encoder.states(x)])
        return model.masked_lm(states, model.bert.embeddings.tokens.scores)  # (L + 1, V)


def _still() -> str:
    """Return the first guesses of each layer as a picture, in the colours of the page."""
    tokenizer = tokenizer_of("bert")
    words = SENTENCE.split()
    hidden = words[PLACE - 1]
    words[PLACE - 1] = "[MASK]"
    shares = layer_logits(" ".join(words)).softmax(dim=-1)  # (L + 1, V)
    of_hidden = shares[:, tokenizer.token_to_id(hidden)].tolist()
    names = ["before block 1", *(f"after block {n}" for n in range(1, len(shares)))]
    rows, told = [], []
    for n, (name, row) in enumerate(zip(names, shares, strict=True)):
        best = row.topk(FIRST)
        first = ", ".join(
            f"“{tokenizer.id_to_token(token)}” {share:.0%}"
            for share, token in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        )
        y = LINE * (n + 0.5)
        told.append(f"{name} {first}")
        rows.append(
            f'<text x="0" y="{y}">{name}</text><text x="330" y="{y}">{escape(first)}</text>'
            f'<rect x="130" y="{y - 9}" width="{180 * of_hidden[n]:.1f}" height="18" '
            'fill="#E69F00"/>'
        )
    blank = SENTENCE.replace(hidden, "___")
    alt = (
        f"BERT fills “{blank}”. The first guesses of its output layer at each layer: "
        f"{'; '.join(told)}. The bars are the shares of “{hidden}”, {of_hidden[-1]:.0%} at the end."
    )
    inside = (
        f'<g font-weight="bold"><text x="130" y="-14">share of “{hidden}”</text>'
        f'<text x="330" y="-14">first guesses</text></g>{"".join(rows)}'
    )
    return svg(620, LINE * len(names) + 28, alt, inside, top=-28, widest="44rem", central=True)
