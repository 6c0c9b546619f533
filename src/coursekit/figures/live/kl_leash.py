"""The leash of RLHF and DPO: five answers, their rewards to move, and the best policy for each β.

The reference is the reviewer of the chapter "Retrieval and alignment", which gives each answer its
probability; the rewards are made up. The best policy is that of the chapter's formula,
π ∝ π_ref · exp(r / β).
"""

from __future__ import annotations

import json
import tempfile
from functools import cache
from html import escape
from pathlib import Path

import torch
from torch import Tensor

from coursekit.figures.live.figure import Live
from coursekit.figures.live.still import svg
from coursekit.objectives.preferences import answer_mask, sequence_log_probability
from coursekit.objectives.rows import pad_rows
from coursekit.tokenizers.byte_bpe import ByteBPE
from coursekit.training.records import result, trained

ANSWERS = {  # and their rewards
    "This is a great film.": 1.0,
    "This is a bad movie.": -1.0,
    "This is not a good movie.": 0.0,
    "This is a beautiful film.": 1.5,
    "This is a funny comedy.": 2.0,
}
BETA = 1.0
SHOWN = (4.0, 1.0, 0.25, 0.1)  # leashes of the still picture
ROOM = (1006, 1396)  # pixels from top to bottom, on a wide screen and on a telephone
COLUMN, LINE = 118, 34


def kl_leash() -> Live:
    """Return the five answers on the leash β = 1."""
    start = list(ANSWERS.values())
    moved = {"rewards": start, "beta": BETA, "chosen": 0, "rejected": 1}
    state = {"answers": list(ANSWERS), "reference": log_reference().tolist(), "start": start}
    return Live("kl_leash", state | moved, _still(), linked=tuple(moved), room=ROOM)


@cache
def log_reference() -> Tensor:
    """Return the log-probability of each answer (A), the reviewer's, if it says no others."""

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "tokenizer.json")
        file.write_text(json.dumps(result("reviewer")["tables"]["tokenizer"]), encoding="utf-8")
        tokenizer = ByteBPE.load(file)
    end = tokenizer.token_to_id("<end>")
    rows = [[end, *tokenizer.encode(text), end] for text in ANSWERS]
    tokens, lengths = pad_rows(rows, end), torch.tensor([len(row) for row in rows])
    answer = answer_mask(torch.ones_like(lengths), lengths, tokens.shape[1])  # (A, T)
    with torch.no_grad():
        logits = trained("reviewer")(tokens)
        return sequence_log_probability(logits, tokens, answer).double().log_softmax(dim=0)


def leashed(rewards: Tensor, beta: float) -> Tensor:
    """Rewards (A) -> the log-probabilities of the best policy on the leash β, (A)."""
    return (log_reference() + rewards / beta).log_softmax(dim=0)


def _still() -> str:
    """Return the probabilities of each answer under the reference and on four leashes, as bars."""
    rewards = torch.tensor(list(ANSWERS.values()), dtype=torch.float64)
    columns = {"reference": log_reference()} | {f"β = {b:g}": leashed(rewards, b) for b in SHOWN}
    shares = {name: log.exp().tolist() for name, log in columns.items()}
    told = "; ".join(
        f"{name}: {max(row):.0%} for “{list(ANSWERS)[row.index(max(row))]}”"
        for name, row in shares.items()
    )
    alt = f"Five answers, their probabilities under the reference and on four leashes. {told}."
    left = 270
    parts = []
    for x, (name, row) in enumerate(shares.items()):
        at = left + COLUMN * x
        parts.append(f'<text x="{at}" y="12" font-weight="bold">{name}</text>')
        colour = "#0072B2" if x else "#E69F00"
        for y, share in enumerate(row, start=1):
            parts.append(
                f'<rect x="{at}" y="{LINE * y - 8}" width="{60 * share:.1f}" height="18" '
                f'fill="{colour}"/><text x="{at + 4 + 60 * share:.0f}" y="{LINE * y + 1}">'
                f"{100 * share:.0f}%</text>"
            )
    for y, (text, reward) in enumerate(ANSWERS.items(), start=1):
        told = f"{reward:g}".replace("-", "−")
        parts.append(
            f'<text x="0" y="{LINE * y + 1}">{escape(text)}</text>'
            f'<text x="240" y="{LINE * y + 1}" text-anchor="end">{told}</text>'
        )
    parts.append('<text x="240" y="12" text-anchor="end" font-weight="bold">reward</text>')
    width, height = left + COLUMN * len(shares) - 8, LINE * len(ANSWERS) + 18
    return svg(width, height, alt, "".join(parts), size=17, central=True)
