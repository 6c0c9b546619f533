"""What assignment 13 calls right is what the course's decoder writes, and what numpy fits.

The other answers stand beside the course's parts in `test_parts.py`.
"""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import ours
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.check.probe import randn
from coursekit.decoding.generation import generate, left_pad
from coursekit.decoding.sampling import sample
from coursetools.assignments.sources import source
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook as notebook
from coursetools.questions import catalogue
from coursetools.questions.wrong import source_of

ROOT = Path(__file__).parents[2]
RIGHT = catalogue.references(ours.load("a13_gpt"))
SHARED = ours.module("a13_gpt", "shared")
read, small_gpt = SHARED.read, SHARED.small_gpt


def test_the_notebook_gives_the_function_that_we_read_with():
    cells = notebook(source(Course(ROOT), "a13_gpt"))["cells"]
    (given_cell,) = [cell["source"] for cell in cells if cell["id"] == "read"]
    assert source_of(read).strip() in given_cell


def whole(model, tokens):
    """Tokens (T,) -> states (T, D), without a cache and without padding, as a loop."""
    rows = []
    for t in range(len(tokens)):
        x = model["tokens"][tokens[: t + 1]] + model["places"][: t + 1]
        scores = x @ model["key"] @ (x[-1] @ model["query"]) / x.shape[-1] ** 0.5
        rows.append(x[-1] + scores.softmax(dim=0) @ (x @ model["value"]))
    return torch.stack(rows)


def test_the_small_gpt_reads_the_same_in_pieces_beside_padding_and_at_once():
    model, tokens = small_gpt(3), torch.tensor([4, 9, 2, 2, 7, 5])
    expected = whole(model, tokens)
    places = torch.arange(6)[None]
    states, _ = read(model, tokens[None], places)
    torch.testing.assert_close(states[0], expected)
    row = torch.cat([tokens[:4], torch.tensor([0, 0])])[None]
    first, cache = read(model, row, torch.tensor([[0, 1, 2, 3, -1, -1]]))
    second, _ = read(model, tokens[None, 4:], places[:, 4:], cache)
    torch.testing.assert_close(torch.cat([first[0, :4], second[0]]), expected)
    assert first.isfinite().all() and model["log"] == [6, 6, 2]


class Slow:
    """A decoder for `generate`: reads everything again at each step, from a left-padded batch."""

    def __init__(self, model, keep):
        self.model, self.keep = model, keep

    def start(self):
        return SimpleNamespace(rows=None, positions=None, keep=None, reorder=self.reorder)

    def decode(self, tokens, state):
        if state.rows is None:
            lengths = [int(row.sum()) for row in self.keep]
            state.rows = [row[-n:] for row, n in zip(tokens, lengths)]
        else:
            state.rows = [torch.cat(pair) for pair in zip(state.rows, tokens)]
        self.state = state
        return torch.stack(
            [whole(self.model, row)[-1] @ self.model["output"] for row in state.rows]
        )

    def reorder(self, index):
        self.state.rows = [self.state.rows[n] for n in index.tolist()]


@pytest.mark.parametrize("seed", [0, 2, 5])
@pytest.mark.parametrize("lengths", [(5,), (3, 7, 1, 4)])
def test_what_is_written_is_what_the_courses_decoder_writes(lengths, seed):
    chance = torch.Generator().manual_seed(seed)
    rows = [torch.randint(2, 20, (n,), generator=chance).tolist() for n in lengths]
    padded = torch.tensor([row + [0] * (max(lengths) - len(row)) for row in rows])
    tokens, keep = left_pad(rows, 0)
    keep = torch.ones_like(tokens, dtype=torch.bool) if keep is None else keep
    slow = Slow(small_gpt(seed), keep)
    theirs = generate(slow, tokens, slow.start(), longest=12, end=5, pad=0)
    model = small_gpt(seed)
    ours = RIGHT.write_on(model, padded, 12, 5, 0)
    assert ours.tolist() == theirs.tolist()
    assert model["log"] == [max(lengths)] + [1] * (ours.shape[1] - 1)


def test_no_case_asks_for_a_choice_that_rounding_could_turn():
    """Nor does a model ever write the padding as a token of its own."""
    _, question = ours.find("write_on")
    calls = []

    def write_on(*given):
        calls.append([x.clone() if torch.is_tensor(x) else x for x in given])
        return RIGHT.write_on(*given)

    for case in (*question.cases, *question.hidden):
        case.run(SimpleNamespace(write_on=write_on))
    assert len(calls) > 12
    for model, prompts, steps, end, pad in calls:
        for prompt in prompts:
            text = prompt[prompt != pad]
            for _ in range(steps):
                best = (whole(model, text)[-1] @ model["output"]).topk(2)
                assert best.values[0] - best.values[1] > 1e-3
                assert best.indices[0] != pad
                text = torch.cat([text, best.indices[:1]])
                if text[-1] == end:
                    break


def test_what_is_drawn_has_the_shares_that_were_computed():
    logits = 2 * randn(1, 8, seed=3)
    shares = RIGHT.next_token(logits, 1.3, 5, 0.9)
    chance = torch.Generator().manual_seed(0)
    drawn = sample(logits.expand(20_000, -1), temperature=1.3, top_k=5, top_p=0.9, generator=chance)
    found = drawn.bincount(minlength=8) / 20_000
    assert 1 < (shares > 0).sum() < 5
    torch.testing.assert_close(found, shares[0], atol=0.012, rtol=0)


@given(
    st.lists(
        st.tuples(st.integers(1, 40), st.floats(0.5, 9.0).map(lambda x: round(x, 3))),
        min_size=2,
        max_size=30,
        unique=True,
    )
)
def test_the_frontier_is_the_lower_edge_and_numpy_fits_the_same_line(points):
    cloud = [(6 * 10 * n, loss) for n, loss in points]
    edge = [
        (c, loss)
        for c, loss in cloud
        if all((x, y) == (c, loss) or x > c or y > loss for x, y in cloud)
    ]
    runs = [(15, 5, points[::2]), (12, 2, points[1::2])]
    if len(edge) < 2:
        return
    slope, height = np.polyfit(*np.log(edge).T, deg=1)
    a, b = RIGHT.power_law(runs)
    assert b == pytest.approx(-slope, rel=1e-6, abs=1e-9)
    assert math.log(a) == pytest.approx(height, rel=1e-6, abs=1e-7)


def test_each_size_has_its_part_of_the_frontier_in_the_cases():
    _, question = ours.find("power_law")
    (case,) = [case for case in question.cases if case.says == "four sizes"]
    given_runs = []
    case.run(SimpleNamespace(power_law=given_runs.extend))
    cloud = [(6 * (n - e) * d, loss, n) for n, e, curve in given_runs for d, loss in curve]
    edge = [p for p in cloud if not any(q[0] <= p[0] and q[1] < p[1] for q in cloud)]
    assert {size for _, _, size in edge} == {size for size, _, _ in given_runs}
    assert len(edge) < len(cloud)
