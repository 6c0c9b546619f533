"""What "Many heads" says about the heads of the small BERT, over verses, with an untrained control.

And what the live dictionary of "Prompts, and what they can teach" shows, over many texts.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from coursekit.analysis import capture
from coursekit.analysis.heads import weight_on
from coursekit.data.verses import verses
from coursekit.models.bert import BertForPreTraining
from coursekit.models.gpt import GPT
from coursekit.objectives.rows import pad_rows
from coursekit.tokenizers import WordPiece
from coursekit.training.records import result, trained

ROOT = Path(__file__).resolve().parents[2]
VERSES = 100


@pytest.fixture(scope="module")
def looks():
    """Return the mean weight of each of BERT's heads on kinds of tokens, by what it reads."""
    reader = WordPiece(result("bert")["tables"]["vocabulary"])
    cls, sep = map(reader.token_to_id, ("[CLS]", "[SEP]"))
    rows = pad_rows(
        [[cls, *reader.encode(pair.english), sep] for pair in verses("test")[:VERSES]], 0
    )  # (B, T)
    real, T = rows != 0, rows.shape[1]
    words = real & (rows != cls) & (rows != sep)
    coin = torch.Generator().manual_seed(0)
    other = torch.randint(sep + 2, len(reader), rows.shape, generator=coin)
    shuffled = rows.clone()
    for row, here in zip(shuffled, words):
        row[here] = row[here][torch.randperm(int(here.sum()), generator=coin)]
    ahead = torch.arange(T) - torch.arange(T)[:, None]
    both = real[:, :, None] & real[:, None]  # (B, T, T)

    def on_each(model, rows):
        with torch.no_grad():
            seen = capture(model, rows, keep=real).weights["bert.encoder.self_attention"]
        weights = torch.cat(seen, dim=1)  # (B, 16, T, T)
        same = (rows[:, :, None] == rows[:, None]) & (ahead != 0)
        chosen = {"before": ahead == -1, "after": ahead == 1, "same": same,
                  "cls": rows[:, None] == cls}  # fmt: skip
        found = {name: weight_on(weights, both & where) for name, where in chosen.items()}
        apart = weights.argmax(dim=-1) - torch.arange(T)  # (B, 16, T): where most of it goes
        inner = real[:, None] & real.roll(-1, 1)[:, None]  # neither the first nor the last
        inner[..., 0] = False
        for name, step in {"most before": -1, "most after": 1}.items():
            hits = ((apart == step) & inner).sum(dim=(0, 2)) / inner.sum()
            found[name] = hits
        return found

    bert: Any = trained("bert")
    controls = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        controls.append(on_each(BertForPreTraining(bert.config).eval(), rows))
    return SimpleNamespace(
        verse=on_each(bert, rows),
        shuffled=on_each(bert, shuffled),
        random=on_each(bert, torch.where(words, other, rows)),
        controls=controls,
    )


def test_three_heads_are_positional_and_no_untrained_head_is(looks):
    """ "Positional": the largest weight is on one neighbour nine times in ten."""
    for name, heads in {"before": [5], "after": [2, 4]}.items():
        assert (looks.verse[f"most {name}"] > 0.9).nonzero().flatten().tolist() == heads
        assert (looks.verse[name][heads] > 0.85).all()
        for control in looks.controls:
            assert control[name].max() < 0.06 and control[f"most {name}"].max() < 0.2


def test_positional_heads_do_not_read_the_words(looks):
    for name, heads in {"before": [5], "after": [2, 4]}.items():
        for others in (looks.random, looks.shuffled):
            assert (others[name] - looks.verse[name])[heads].abs().max() < 0.03


def test_one_head_looks_at_the_delimiter_by_the_words_and_not_by_their_order(looks):
    verse, shuffled, random = (one["cls"] for one in (looks.verse, looks.shuffled, looks.random))
    most = int(verse.argmax())
    assert divmod(most, 4) == (2, 2)  # head 3.3
    others = torch.cat([verse[:most], verse[most + 1 :]])
    assert verse[most] > 0.2 > 3 * others.max()
    assert abs(shuffled[most] - verse[most]) < 0.02 and random[most] < 0.06
    assert max(control["cls"].max() for control in looks.controls) < 0.06


def test_no_head_prefers_other_copies_of_its_own_word(looks):
    control = max(control["same"].max() for control in looks.controls)
    assert looks.verse["same"].max() < 1.5 * control


# --- The dictionary ---


@pytest.fixture(scope="module")
def texts():
    """Return new texts (500, 39), the digits that follow (500,) and where they are (500, 39)."""
    path = ROOT / "notebooks/training/examples.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = next("".join(cell["source"]) for cell in cells if cell["id"] == "lookups")
    given: dict[str, Any] = {}
    exec(code, given)
    rows, shown = given["lookups"](700, torch.Generator().manual_seed(77))
    rows = rows[shown[:, -1]][:500]
    assert len(rows) == 500
    read = rows[:, :-1]  # (B, T): the last digit is what is asked for
    answers = torch.zeros_like(read, dtype=torch.bool)
    answers[:, 1::2] = read[:, 0:-1:2] == read[:, -1:]
    return read, rows[:, -1], answers


def weights_of(model, read):
    with torch.no_grad():
        seen = capture(model, read)
    return seen.output[:, -1], seen.weights["stack.self_attention"]


def test_a_previous_token_head_and_induction_heads_look_the_entry_up(texts):
    read, digits, answers = texts
    model: Any = trained("examples")
    logits, (first, second) = weights_of(model, read)
    before = first.diagonal(-1, -2, -1)[..., 0::2].mean(dim=(0, 2))  # (H,): from digit to letter
    found = (second[:, :, -1] * answers[:, None]).sum(dim=-1).mean(dim=0)  # (H,)
    even = answers.float().mean()
    assert before.argmax() == 1 and before.max() > 0.85
    assert found.min() > 0.5 > 3 * even and (logits.argmax(-1) == digits).float().mean() > 0.98
    for seed in (1, 2):  # the control
        torch.manual_seed(seed)
        _, (first, second) = weights_of(GPT(model.config).eval(), read)
        assert first.diagonal(-1, -2, -1)[..., 0::2].mean(dim=(0, 2)).max() < 0.15
        assert (second[:, :, -1] * answers[:, None]).sum(-1).mean(0).max() < 1.3 * even


def test_one_block_does_not_find_it(texts):
    read, digits, answers = texts
    logits, (weights,) = weights_of(trained("one_block"), read)
    assert (logits.argmax(-1) == digits).float().mean() < 0.6
    assert (weights[:, :, -1] * answers[:, None]).sum(-1).mean(0).max() < 0.5
    metrics = result("one_block")["metrics"]
    assert metrics["new, shown"] < 0.6 and metrics["new pairs, shown"] < 0.05
