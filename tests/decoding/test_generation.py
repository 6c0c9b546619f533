"""Decoding on a made-up model whose scores depend on all it has read: no network involved."""

import copy
import itertools
import math
import pickle
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from coursekit.cache import StackCache
from coursekit.decoding.generation import (
    State,
    _stay,
    beam_search,
    generate,
    left_pad,
    power_penalty,
    stream,
    wu_penalty,
)
from coursekit.decoding.sampling import greedy, keep_top_k, keep_top_p, sample
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.models.seq2seq import Seq2SeqConfig, Seq2SeqTransformer

PENALTIES = {"wu": wu_penalty, "power": power_penalty}


class Memory:
    """The state of a `Table`: every token read so far, row by row."""

    def __init__(self) -> None:
        self.read: torch.Tensor | None = None  # (B, S)

    def reorder(self, index: torch.Tensor) -> None:
        self.read = self.read[index]


class Table:
    """Random logits for each history; a mixed-up or stale history gives others at once."""

    def __init__(self, vocabulary: int = 4, seed: int = 0, spread: float = 1.5) -> None:
        self.vocabulary, self.seed, self.spread = vocabulary, seed, spread
        self.rows: list[int] = []  # how many rows each call had

    def row(self, history: list[int]) -> torch.Tensor:
        number = self.seed
        for token in history:
            number = (number * 31 + token + 1) % 1_000_003
        noise = torch.Generator().manual_seed(number)
        return self.spread * torch.randn(self.vocabulary, generator=noise, dtype=torch.double)

    def decode(self, tokens: torch.Tensor, state: Memory) -> torch.Tensor:
        self.rows.append(len(tokens))
        past = tokens[:, :0] if state.read is None else state.read
        state.read = torch.cat([past, tokens], dim=1)
        return torch.stack([self.row(history) for history in state.read.tolist()])

    def log_probability(self, prompt: list[int], text: list[int]) -> float:
        return sum(
            self.row(prompt + text[:t]).log_softmax(-1)[token].item()
            for t, token in enumerate(text)
        )


class Script:
    """Write the given rows, whatever was read."""

    def __init__(self, *rows: list[int], vocabulary: int = 10) -> None:
        self.texts, self.vocabulary, self.step = torch.tensor(rows), vocabulary, 0
        self.rows: list[int] = []

    def decode(self, tokens: torch.Tensor, state: Memory) -> torch.Tensor:
        self.rows.append(len(tokens))
        if state.read is None:
            state.read = torch.arange(len(tokens))[:, None]  # which script each row follows
        following = self.texts[state.read[:, 0], self.step]
        self.step += 1
        return torch.nn.functional.one_hot(following, self.vocabulary).float()


def texts_of(vocabulary: int, longest: int, end: int | None) -> list[list[int]]:
    """Every complete text: it ends in `end`, or has `longest` tokens; no end before its last."""
    texts = []
    for length in range(1, longest + 1):
        for text in itertools.product(range(vocabulary), repeat=length):
            if end in text[:-1] or (length < longest and text[-1] != end):
                continue
            texts.append(list(text))
    return texts


NAN, INF = math.nan, math.inf
PROMPTS = torch.tensor([[1, 2], [3, 1], [2, 2]])


# Greedy, the end, the limits


def test_greedy_takes_the_likeliest_token_after_what_was_written():
    table = Table(vocabulary=9)
    tokens = generate(table, PROMPTS, Memory(), longest=6)
    for prompt, row in zip(PROMPTS.tolist(), tokens.tolist()):
        for t, token in enumerate(row):
            assert token == table.row(prompt + row[:t]).argmax()
    assert tokens.shape == (3, 6)


def test_a_finished_row_leaves_the_batch_and_the_last_one_stops_the_work():
    script = Script([5, 0, 7, 7, 7, 7], [5, 6, 7, 8, 0, 7], [5, 6, 0, 7, 7, 7])
    tokens = generate(script, PROMPTS, Memory(), longest=6, end=0, pad=9)
    assert tokens.tolist() == [[5, 0, 9, 9, 9], [5, 6, 7, 8, 0], [5, 6, 0, 9, 9]]
    assert script.rows == [3, 3, 2, 1, 1]


def test_without_a_pad_token_the_end_fills_up():
    script = Script([5, 0, 7], [5, 6, 0], [0, 6, 7])
    tokens = generate(script, PROMPTS, Memory(), longest=3, end=0)
    assert tokens.tolist() == [[5, 0, 0], [5, 6, 0], [0, 0, 0]]


def test_each_row_may_have_its_own_limit():
    script = Script([1, 2, 3], [4, 5, 6], [7, 8, 9])
    tokens = generate(script, PROMPTS, Memory(), longest=torch.tensor([2, 1, 3]), pad=0)
    assert tokens.tolist() == [[1, 2, 0], [4, 0, 0], [7, 8, 9]]
    assert script.rows == [3, 2, 1]


@pytest.mark.parametrize("seed", range(4))
def test_a_batch_equals_its_items(seed):
    table = Table(vocabulary=6, seed=seed)
    longest = torch.tensor([9, 4, 7])
    together = generate(table, PROMPTS, Memory(), longest=longest, end=0, pad=-1)
    best, scores = beam_search(table, PROMPTS, Memory(), beams=3, longest=longest, end=0, pad=-1)
    for row, limit in enumerate(longest.tolist()):
        prompt = PROMPTS[row : row + 1]
        alone = generate(table, prompt, Memory(), longest=limit, end=0, pad=-1)
        assert together[row, : alone.shape[1]].tolist() == alone[0].tolist()
        assert together[row, alone.shape[1] :].eq(-1).all()
        alone, score = beam_search(table, prompt, Memory(), beams=3, longest=limit, end=0, pad=-1)
        assert best[row, :, : alone.shape[2]].tolist() == alone[0].tolist()
        assert best[row, :, alone.shape[2] :].eq(-1).all()
        torch.testing.assert_close(scores[row], score[0])


def test_streaming_yields_the_same_tokens_one_step_at_a_time():
    for end in (None, 0):
        whole = generate(Table(), PROMPTS, Memory(), longest=7, end=end)
        table = Table()
        steps = stream(table, PROMPTS, Memory(), longest=7, end=end)
        for t in range(whole.shape[1]):
            assert next(steps).tolist() == whole[:, t].tolist()
            assert len(table.rows) == t + 1  # nothing is computed ahead of what was asked for
        assert next(steps, None) is None and len(table.rows) == whole.shape[1]


def test_streaming_is_without_gradients_and_leaves_the_caller_s_mode_alone():
    class Learned(Table):
        def decode(self, tokens, state):
            assert not torch.is_grad_enabled()
            return super().decode(tokens, state)

    for _ in stream(Learned(), PROMPTS, Memory(), longest=3):
        assert torch.is_grad_enabled()


# Sampling


def test_top_k_keeps_exactly_k():
    logits = torch.tensor([[1.0, 3.0, 2.0, 0.0], [5.0, 5.0, 5.0, 5.0]])
    kept = keep_top_k(logits, 2)
    assert kept[0].tolist() == [-math.inf, 3.0, 2.0, -math.inf]
    assert kept.isfinite().sum(-1).tolist() == [2, 2]  # also where all are alike
    assert torch.equal(keep_top_k(logits, 4), logits)
    assert torch.equal(keep_top_k(logits, 99), logits)


@pytest.mark.parametrize(
    ("p", "kept"),
    [
        (0.01, [3]),
        (0.49, [3]),
        (0.5, [3]),  # 0.5 reaches it exactly: no second token is needed
        (0.51, [3, 0]),
        (0.74, [3, 0]),
        (0.76, [3, 0, 2]),
        (0.9, [3, 0, 2, 4]),
        (0.95, [3, 0, 2, 4, 1]),
        (1.0, [3, 0, 2, 4, 1]),
    ],
)
def test_top_p_is_the_smallest_set_that_reaches_p(p, kept):
    probabilities = torch.tensor([[0.25, 0.0625, 0.125, 0.5, 0.0625]], dtype=torch.double)
    probabilities[0, 4] += 0.01
    probabilities[0, 1] -= 0.01
    logits = keep_top_p(probabilities.log(), p)
    assert logits.isfinite().nonzero()[:, 1].tolist() == sorted(kept)
    torch.testing.assert_close(logits[0, kept].exp(), probabilities[0, kept])


@given(
    logits=st.lists(st.floats(-8, 8), min_size=1, max_size=12, unique=True),
    p=st.floats(0.01, 0.99),
)
def test_the_nucleus_reaches_p_and_is_minimal(logits, p):
    row = torch.tensor([logits], dtype=torch.double)
    share = row.softmax(-1)[0]
    inside = keep_top_p(row, p)[0].isfinite()
    assert share[inside].sum() >= p - 1e-9
    assert share[inside].sum() - share[inside].min() < p + 1e-9
    if not inside.all():
        assert share[inside].min() >= share[~inside].max()


def test_the_tails_are_cut_as_the_reference_cuts_them():
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    torch.manual_seed(0)
    logits = 3 * torch.randn(50, 30, dtype=torch.double)
    for k in (1, 5, 30):
        torch.testing.assert_close(keep_top_k(logits, k), TopKLogitsWarper(k)(None, logits))
    for p in (0.1, 0.5, 0.9, 0.999):
        torch.testing.assert_close(keep_top_p(logits, p), TopPLogitsWarper(p)(None, logits))
    cut = TemperatureLogitsWarper(0.7)(None, logits)
    cut = TopPLogitsWarper(0.8)(None, TopKLogitsWarper(6)(None, cut))
    drawn = torch.multinomial(cut.softmax(-1), 1, generator=torch.Generator().manual_seed(1))[:, 0]
    ours = sample(
        logits, temperature=0.7, top_k=6, top_p=0.8, generator=torch.Generator().manual_seed(1)
    )
    assert torch.equal(ours, drawn)


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"temperature": 0.5},
        {"temperature": 2.0},
        {"top_k": 3},
        {"top_p": 0.8},
        {"temperature": 1.5, "top_k": 4, "top_p": 0.9},
    ],
)
def test_samples_have_the_distribution_that_was_asked_for(choices):
    """Chi-square with a fixed seed: the counts of 20,000 draws against the probabilities."""
    logits = torch.tensor([0.0, 1.0, 2.0, -1.0, 0.5, 1.5], dtype=torch.double)
    share = (logits / choices.get("temperature", 1.0)).exp()
    ranked = share.argsort(descending=True)
    share[ranked[choices.get("top_k", 6) :]] = 0.0
    share /= share.sum()
    total = 0.0
    for token in ranked.tolist():
        if total >= choices.get("top_p", 1.0):
            share[token] = 0.0
        total += share[token].item()
    share /= share.sum()
    noise = torch.Generator().manual_seed(0)
    drawn = sample(logits.expand(20_000, -1), generator=noise, **choices)
    counts = drawn.bincount(minlength=6)
    assert counts[share == 0].eq(0).all()
    inside = share > 0
    assert chisquare(counts[inside].numpy(), 20_000 * share[inside].numpy()).pvalue > 0.01


def test_one_seed_gives_one_text_and_another_seed_another():
    def write(seed: int) -> list:
        noise = torch.Generator().manual_seed(seed)
        choose = partial(sample, temperature=2.0, generator=noise)
        return generate(Table(9), PROMPTS, Memory(), longest=8, choose=choose).tolist()

    assert write(1) == write(1) != write(2)


def test_a_low_temperature_or_one_candidate_is_greedy():
    expected = generate(Table(9), PROMPTS, Memory(), longest=6, choose=greedy)
    for choose in (
        partial(sample, temperature=1e-4),
        partial(sample, top_k=1),
        partial(sample, top_p=1e-9),
    ):
        assert torch.equal(
            generate(Table(9), PROMPTS, Memory(), longest=6, choose=choose), expected
        )


# Beam search


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("end", [None, 0])
@pytest.mark.parametrize(("name", "alpha"), [("wu", 0.6), ("wu", 0.0), ("power", 1.0)])
def test_enough_beams_are_an_exhaustive_search(seed, end, name, alpha):
    """V^(L−1) beams lose nothing: the K best texts of all, in order, with their scores."""
    V, L = 3, 4
    table, penalty = Table(V, seed), PENALTIES[name]
    prompts = PROMPTS[:2] % V
    tokens, scores = beam_search(
        table,
        prompts,
        Memory(),
        beams=V ** (L - 1),
        longest=L,
        end=end,
        pad=-1,
        alpha=alpha,
        penalty=penalty,
        stop="never",
    )
    for row, prompt in enumerate(prompts.tolist()):
        every = [
            (table.log_probability(prompt, text) / penalty(len(text), alpha), text)
            for text in texts_of(V, L, end)
        ]
        every.sort(reverse=True)
        assert len(every) >= V ** (L - 1)
        for k, (score, text) in enumerate(every[: V ** (L - 1)]):
            assert tokens[row, k].tolist() == text + [-1] * (L - len(text))
            assert scores[row, k].item() == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_v_beams_are_exhaustive_over_two_steps(seed):
    V, table = 6, Table(6, seed)
    best = beam_search(table, PROMPTS, Memory(), beams=V, longest=2, alpha=0.0)
    for row, prompt in enumerate(PROMPTS.tolist()):
        score, text = max((table.log_probability(prompt, t), t) for t in texts_of(V, 2, None))
        assert best.tokens[row, 0].tolist() == text
        assert best.scores[row, 0].item() == pytest.approx(score)


@pytest.mark.parametrize("seed", range(5))
def test_one_beam_without_penalty_is_greedy(seed):
    table = Table(7, seed)
    expected = generate(table, PROMPTS, Memory(), longest=8, end=0)
    best = beam_search(table, PROMPTS, Memory(), beams=1, longest=8, end=0, alpha=0.0, stop="full")
    assert torch.equal(best.tokens[:, 0], expected)


@pytest.mark.parametrize("stop", ["hopeless", "full", "never"])
def test_the_scores_are_those_of_the_texts_and_fall(stop):
    table = Table(5, seed=3)
    tokens, scores = beam_search(
        table, PROMPTS, Memory(), beams=4, longest=9, end=0, pad=-1, alpha=0.7, stop=stop
    )
    assert (scores.diff(dim=1) <= 0).all()
    for row, prompt in enumerate(PROMPTS.tolist()):
        for text, score in zip(tokens[row].tolist(), scores[row].tolist()):
            text = [token for token in text if token != -1]
            assert text[-1] == 0 or len(text) == 9
            expected = table.log_probability(prompt, text) / wu_penalty(len(text), 0.7)
            assert score == pytest.approx(expected)
        assert len({tuple(text) for text in tokens[row].tolist()}) == 4


class Fixed(Table):
    """Probabilities by history, written down; what is not, goes to token 1."""

    def __init__(self, rows: dict[tuple[int, ...], list[float]]) -> None:
        super().__init__(vocabulary=3)
        self.given = rows

    def row(self, history):
        given = self.given.get(tuple(history[1:]), [0.0, 1.0, 0.0])
        return torch.tensor(given, dtype=torch.double).log()


def test_two_beams_find_what_greedy_misses():
    #                                     end  a    b
    fixed = Fixed({(): [0.0, 0.6, 0.4], (1,): [0.4, 0.3, 0.3], (2,): [0.9, 0.05, 0.05]})
    start = torch.tensor([[0]])
    assert generate(fixed, start, Memory(), longest=2, end=0).tolist() == [[1, 0]]
    tokens, scores = beam_search(fixed, start, Memory(), beams=2, longest=2, end=0, alpha=0.0)
    assert tokens[0].tolist() == [[2, 0], [1, 0]]
    assert scores[0].exp().tolist() == pytest.approx([0.36, 0.24])


def test_the_penalty_decides_between_short_and_long():
    """`end` at once has 0.30, the best text of three tokens 0.7 · 0.6 · 0.65 = 0.27."""
    fixed = Fixed({(): [0.3, 0.7, 0.0], (1,): [0.0, 0.4, 0.6], (1, 1): [0.9, 0.1, 0.0]})
    fixed.given[(1, 2)] = [0.0, 0.35, 0.65]
    start = torch.tensor([[0]])
    search = partial(beam_search, fixed, start, beams=3, longest=3, end=0, pad=9)
    assert search(Memory(), alpha=0.0).tokens[0, 0].tolist() == [0, 9, 9]
    for penalty in (wu_penalty, power_penalty):
        tokens = search(Memory(), alpha=1.0, penalty=penalty).tokens
        assert tokens[0, 0].tolist() == [1, 2, 2]
    assert search(Memory(), alpha=-1.0).tokens[0, 0].tolist() == [0, 9, 9]


def test_the_penalties_are_the_formulas():
    assert wu_penalty(1, 0.6) == 1.0  # a single token is not changed
    assert wu_penalty(7, 0.6) == pytest.approx(2**0.6)
    assert wu_penalty(13, 1.0) == pytest.approx(3.0)
    assert power_penalty(8, 1.0) == 8 and power_penalty(9, 0.5) == pytest.approx(3.0)
    for penalty in (wu_penalty, power_penalty):
        assert penalty(17, 0.0) == 1.0
        lengths = torch.tensor([1, 7, 20])
        expected = [penalty(length, 0.6) for length in (1, 7, 20)]
        assert penalty(lengths, 0.6).tolist() == pytest.approx(expected)


def test_the_three_ways_to_stop():
    """`end` is likely at once, then all is even for a step, then a long certain text begins."""
    fixed = Fixed({(): [0.48, 0.52, 0.0], (1,): [0.5, 0.5, 0.0], (1, 1): [1 / 3, 1 / 3, 1 / 3]})

    def search(stop: str) -> tuple[list[int], int]:
        fixed.rows = []
        best = beam_search(
            fixed, torch.tensor([[0]]), Memory(), beams=2, longest=10, end=0, pad=9, alpha=1.0,
            penalty=power_penalty, stop=stop,
        )  # fmt: skip
        return sorted(best.tokens[0].ne(9).sum(dim=1).tolist()), len(fixed.rows)

    assert search("full") == ([1, 2], 2)  # two complete texts are enough
    assert search("hopeless") == ([1, 2], 3)  # log(0.52 · ½ · ⅓) / 3 is below log 0.48
    assert search("never") == ([10, 10], 10)  # but a tenth of it is above


def test_where_length_costs_more_never_stops_no_earlier_than_hopeless():
    """With α < 0 a longer text can only lose; the bound is then that of the present length."""
    fixed = Fixed({(): [0.4, 0.6, 0.0], (1,): [0.1, 0.9, 0.0], (1, 1): [1.0, 0.0, 0.0]})
    for stop in ("hopeless", "never"):
        best = beam_search(
            fixed, torch.tensor([[0]]), Memory(), beams=2, longest=10, end=0, pad=9, alpha=-1.0,
            penalty=power_penalty, stop=stop,
        )  # fmt: skip
        texts = [[token for token in text if token != 9] for text in best.tokens[0].tolist()]
        assert texts == [[0], [1, 1, 0]], stop  # 3 log 0.54 is above 2 log 0.06


@pytest.mark.parametrize("make", [
    lambda: GPT(GPTConfig(vocabulary=9, width=8, depth=2, heads=2, positions=12)),
    lambda: Seq2SeqTransformer(
        Seq2SeqConfig(vocabulary=9, width=8, depth=2, heads=2, hidden=16, pad=0, start=1, end=2)
    ),
])  # fmt: skip
def test_a_state_belongs_to_one_model_and_can_be_pickled(make):
    torch.manual_seed(0)
    model, other = make().eval(), make().eval()
    tokens, source = torch.tensor([[3, 4, 5]]), torch.tensor([[6, 7, 8, 3]])
    with torch.no_grad():
        state = model.start() if isinstance(model, GPT) else model.start(source)
        model.decode(tokens, state)
        with pytest.raises(ValueError, match="belongs to another model"):
            other.decode(tokens[:, :1], state)
        copies = [pickle.loads(pickle.dumps(state)), copy.deepcopy(state)]
        expected = model.decode(tokens[:, :1], state)
        for again in copies:
            torch.testing.assert_close(model.decode(tokens[:, :1], again), expected)


def test_a_finished_prompt_leaves_the_search():
    class Short(Table):
        def row(self, history):  # the prompt [3, 1] ends at once, the others never
            scores = super().row(history).clone()
            scores[0] = 50.0 if history[0] == 3 else -50.0
            return scores

    table = Short()
    tokens, _ = beam_search(table, PROMPTS, Memory(), beams=2, longest=5, end=0, stop="full")
    assert table.rows == [3, 6, 4, 4, 4]  # prompts are read once; then two beams each
    assert tokens.shape == (3, 2, 5) and tokens[1, 0].eq(0).all()


def test_fewer_texts_than_beams():
    tokens, scores = beam_search(Table(2), PROMPTS % 2, Memory(), beams=4, longest=1, pad=9)
    assert sorted(tokens[0, :2, 0].tolist()) == [0, 1]
    assert scores[:, :2].isfinite().all() and scores[:, 2:].isneginf().all()


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=4),
)
def test_beams_stay_in_their_place_where_they_can(parents):
    parent = torch.tensor(parents)
    order = _stay(parent)
    assert order.sort(dim=1).values.tolist() == [list(range(5))] * len(parents)
    for row, placed in zip(parents, parent.gather(1, order)):
        assert all(placed[k] == k for k in set(row))


# Several ends


def test_a_row_is_finished_after_any_of_several_ends():
    script = Script([5, 0, 7, 7], [5, 6, 7, 8], [5, 6, 1, 7])
    tokens = generate(script, PROMPTS, Memory(), longest=4, end=[1, 0])
    assert tokens.tolist() == [[5, 0, 1, 1], [5, 6, 7, 8], [5, 6, 1, 1]]
    assert script.rows == [3, 3, 2, 1]


@pytest.mark.parametrize("write", [
    partial(generate, longest=7), partial(generate, longest=7, choose=None),
    partial(beam_search, beams=3, longest=4),
])  # fmt: skip
def test_one_end_in_a_list_or_a_tensor_is_the_end_itself(write):
    found = []
    for end in (0, [0], (0,), torch.tensor([0]), torch.tensor(0), [0, 0]):
        if "choose" in write.keywords:
            noise = torch.Generator().manual_seed(3)
            write.keywords["choose"] = partial(sample, generator=noise)
        found.append(write(Table(), PROMPTS, Memory(), end=end, pad=9))
    for other in found[1:]:
        for one, two in zip(found[0], other):
            torch.testing.assert_close(one, two)


@given(st.integers(0, 10_000), st.sets(st.integers(0, 3), min_size=2, max_size=3))
def test_a_wide_beam_finds_the_best_of_all_texts_with_several_ends(seed, ends):
    """With room for every beginning, nothing can be missed."""
    table, longest = Table(vocabulary=4, seed=seed), 3
    texts = [
        list(text)
        for length in range(1, longest + 1)
        for text in itertools.product(range(4), repeat=length)
        if not ends & set(text[:-1]) and (length == longest or text[-1] in ends)
    ]
    for prompt in PROMPTS[:2].tolist():
        found = beam_search(
            table, torch.tensor([prompt]), Memory(), beams=16, longest=longest, end=sorted(ends),
            pad=9, alpha=0.6, stop="never",
        )  # fmt: skip
        best = max(
            (table.log_probability(prompt, text) / wu_penalty(len(text), 0.6), text)
            for text in texts
        )
        assert found.scores[0, 0].item() == pytest.approx(best[0])
        assert [t for t in found.tokens[0, 0].tolist() if t != 9] == best[1]


# The state, prompts, bad input


@pytest.mark.parametrize("shape", [(1, 4), (2, 6), (2, 2), (3, 4), (2, 5), (2, 3)])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("kind", ["GPT", "Seq2Seq"])
def test_keep_must_be_that_of_the_prompt(shape, padded, kind):
    if kind == "GPT":
        net = GPT(GPTConfig(vocabulary=7, positions=9, width=4, heads=2, depth=1)).eval()
        start = net.start
    else:
        net = Seq2SeqTransformer(Seq2SeqConfig(vocabulary=7, width=4, heads=2, depth=1)).eval()
        start = partial(net.start, torch.ones(2, 3).long())
        start = lambda keep, start=start: start(prompt_keep=keep)  # noqa: E731
    keep = torch.ones(shape, dtype=torch.bool)
    keep[0, 0] = not padded
    prompt = torch.tensor([[1, 2, 3, 4], [3, 3, 2, 1]])
    sentence = r"keep must have the shape of the prompts \(2, 4\), found \(" + str(shape[0])
    for read in (
        lambda: net.decode(prompt, start(keep)),
        lambda: generate(net, prompt, start(keep), longest=2),
        lambda: beam_search(net, prompt, start(keep), beams=2, longest=2),
    ):
        with pytest.raises(ValueError, match=sentence):
            read()


def test_a_prompt_in_pieces_must_not_run_over_its_end():
    net = GPT(GPTConfig(vocabulary=7, positions=9, width=4, heads=2, depth=1)).eval()
    tokens, keep = torch.ones(2, 5).long(), torch.ones(2, 4, dtype=torch.bool)
    keep[0, 0] = False
    state = net.start(keep)
    state.in_pieces = True
    net.decode(tokens[:, :3], state)
    with pytest.raises(ValueError, match=r"the prompts \(2, 5\), found \(2, 4\)"):
        net.decode(tokens[:, :2], state)
    net.decode(tokens[:, :1], state)
    net.decode(tokens[:, :2], state)


@pytest.mark.parametrize("keep", [torch.ones(2, 4), torch.ones(4, dtype=torch.bool)])
def test_keep_must_be_boolean_of_two_axes(keep):
    with pytest.raises(ValueError, match=r"keep must be boolean with shape \(batch, length\)"):
        State(cache=StackCache(1), keep=keep)


def test_prompts_padded_on_the_right_are_not_continued():
    net = Seq2SeqTransformer(Seq2SeqConfig(vocabulary=7, width=4, heads=2, depth=1)).eval()
    prompt, keep = torch.ones(2, 4).long(), torch.ones(2, 4, dtype=torch.bool)
    keep[0, 3] = False
    with pytest.raises(ValueError, match="must be on the left"):
        generate(net, prompt, net.start(prompt, prompt_keep=keep), longest=2)


class Broken:
    """Says what no softmax can be taken of, after some steps."""

    def __init__(self, row: list[float], after: int = 0) -> None:
        self.row, self.after = torch.tensor([row, [0.0, 1.0, 2.0]]), after

    def decode(self, tokens: torch.Tensor, state: Memory) -> torch.Tensor:
        self.after -= 1
        state.read = tokens
        rows = self.row if self.after < 0 else torch.zeros(2, 3)
        return rows.repeat_interleave(len(tokens) // 2, dim=0)


@pytest.mark.parametrize("row", [[NAN, NAN, NAN], [0.0, NAN, 1.0], [NAN, -INF, 3.0]])
@pytest.mark.parametrize("after", [0, 2])
@pytest.mark.parametrize(
    "write",
    [
        generate,
        partial(generate, choose=sample),
        partial(generate, choose=partial(sample, top_k=2)),
        partial(generate, choose=partial(sample, top_p=0.5, temperature=0.3)),
        partial(beam_search, beams=2),
    ],
)
def test_what_is_no_number_is_not_decoded(write, after, row):
    with pytest.raises(ValueError, match="logits must be numbers to choose a token by, found NaN"):
        write(Broken(row, after), PROMPTS[:2], Memory(), longest=4)


@pytest.mark.parametrize("row", [[-INF, -INF, -INF], [INF, 0.0, 1.0]])
@pytest.mark.parametrize(
    "write", [generate, partial(generate, choose=sample), partial(beam_search, beams=2)]
)
def test_a_row_without_probabilities_is_not_decoded(write, row):
    with pytest.raises(ValueError, match="infinity, or a row of nothing but -inf"):
        write(Broken(row), PROMPTS[:2], Memory(), longest=4)


def test_forbidden_tokens_are_still_decoded():
    tokens = generate(Broken([-INF, 0.0, -INF]), PROMPTS[:2], Memory(), longest=2)
    assert tokens.tolist() == [[1, 1], [2, 2]]


@pytest.mark.parametrize("index", [[2, 0, 0, 1], [1, 0, 2], [0, 0, 1], [2, 2, 2], [1]])
def test_a_state_reorders_everything_it_holds(index):
    torch.manual_seed(0)
    cache, index = StackCache(2, capacity=9), torch.tensor(index)
    x = torch.randn(3, 2, 4, 5)
    for layer in (*cache.own, *cache.memory):
        layer.append(x, 2 * x)
    state = State(
        cache=cache,
        keep=torch.rand(3, 4) > 0.5,
        memory=torch.randn(3, 6, 5),
        memory_mask=torch.rand(3, 1, 1, 6) > 0.5,
    )
    before = (state.keep, state.memory, state.memory_mask)
    state.reorder(index)
    assert state.length == 4
    for old, new in zip(before, (state.keep, state.memory, state.memory_mask)):
        assert torch.equal(new, old[index])
    more = torch.randn(len(index), 2, 1, 5)
    for layer in (*cache.own, *cache.memory):
        keys, values = layer.append(more, more)
        assert torch.equal(keys, torch.cat([x[index], more], dim=2))
        assert torch.equal(values, torch.cat([2 * x[index], more], dim=2))


def test_prompts_are_padded_on_the_left():
    tokens, keep = left_pad([[5, 6, 7], [8], [9, 9]], pad=0)
    assert tokens.tolist() == [[5, 6, 7], [0, 0, 8], [0, 9, 9]]
    assert keep.tolist() == [[True] * 3, [False, False, True], [False, True, True]]
    tokens, keep = left_pad([[5, 6], [7, 8]])
    assert tokens.tolist() == [[5, 6], [7, 8]] and keep is None


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: left_pad([[1, 2], [3]]), r"different lengths \[2, 1\] need a pad token"),
        (lambda: left_pad([[1], []], pad=0), r"at least one token, found lengths \[1, 0\]"),
        (lambda: left_pad([]), r"at least one token, found lengths \[\]"),
        (lambda: sample(torch.zeros(1, 3), top_p=0.0), "top_p must be above 0 and at most 1"),
        (lambda: sample(torch.zeros(1, 3), top_p=1.5), "top_p must be .* found 1.5"),
        (
            lambda: generate(Table(), PROMPTS, Memory(), longest=torch.tensor([2, 3, 1])),
            "need a pad token",
        ),
        (lambda: sample(torch.zeros(1, 3), top_p=NAN), "top_p must be above 0 and at most 1"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def write(tokens=PROMPTS, **choices):
    return generate(Table(), tokens, Memory(), **{"longest": 3, "pad": 0} | choices)


def search(**choices):
    return beam_search(Table(), PROMPTS, Memory(), **{"beams": 2, "longest": 3, "pad": 0} | choices)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: write([[1, 2], [3, 1]]), "which `left_pad` makes of lists, found list"),
        (lambda: write(PROMPTS.float()), "token ids .*, found torch.float32"),
        (lambda: left_pad([1, 2]), "each prompt must be a list of token ids, found 1"),
        (lambda: left_pad(["ab"]), "each prompt must be a list of token ids, found 'ab'"),
        (lambda: left_pad([[1.5]]), r"each prompt must be a list of token ids, found \[1.5\]"),
    ],
)
def test_what_is_of_another_kind_gets_a_sentence_too(call, sentence):
    with pytest.raises(TypeError, match=sentence):
        call()
