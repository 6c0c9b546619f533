"""What assignment 10 calls right hides the same tokens as the course's own masking.

The other answers of this assignment stand beside the course's parts in `test_parts.py`.
"""

from __future__ import annotations

import ours
import pytest
import torch

from coursekit.objectives.masked_lm import mlm_mask
from coursekit.objectives.special_tokens import SpecialTokens
from coursetools.questions import catalogue

RIGHT = catalogue.references(ours.load("a10_bert"))
VOCABULARY = 60


@pytest.mark.parametrize("rate", [0.15, 0.6, 1.0])
def test_hidden_tokens_are_those_of_the_courses_masking(rate):
    special = SpecialTokens(pad=0, cls=1, sep=2, mask=3, others=(4,))
    tokens = torch.randint(5, VOCABULARY, (8, 40), generator=torch.Generator().manual_seed(1))
    tokens[:, 0], tokens[:, 20], tokens[::2, 30:] = 1, 2, 0
    theirs = mlm_mask(
        tokens, special, VOCABULARY, rate=rate, generator=torch.Generator().manual_seed(7)
    )
    chance = torch.Generator().manual_seed(7)  # the same numbers, drawn in the same order
    coins, fate = (torch.rand(tokens.shape, generator=chance) for _ in range(2))
    ordinary = special.ordinary(VOCABULARY)
    words = ordinary[torch.randint(len(ordinary), tokens.shape, generator=chance)]
    read, labels = RIGHT.hide_tokens(tokens, coins, fate, words, list(special.ids), 3, rate)
    assert torch.equal(read, theirs.inputs) and torch.equal(labels, theirs.labels)
    changed = read != tokens
    assert (changed & (read != 3)).any() and (theirs.chosen & ~changed).any()


def test_chance_hides_as_many_as_the_paper_says():
    tokens = torch.full((100, 1000), 9)
    coins, fate = torch.rand(2, *tokens.shape, generator=torch.Generator().manual_seed(3))
    read, labels = RIGHT.hide_tokens(tokens, coins, fate, tokens + 1, [0], 3)
    chosen = labels == 9
    shares = [(read[chosen] == one).float().mean().item() for one in (3, 10, 9)]
    assert chosen.float().mean().item() == pytest.approx(0.15, abs=0.01)
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.01)
