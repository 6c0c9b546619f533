"""Rates by layer, a fresh top, the best of many starts: by hand, and as laws that hold for all."""

from itertools import combinations, pairwise, product
from statistics import mean

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from coursekit.models.bert import Bert, BertConfig, BertForPreTraining
from coursekit.models.bert_heads import BertClassifier, BertSpan, BertTagger, RobertaClassifier
from coursekit.training.finetuning import expected_best, fresh_top, layer_rates, stop_early
from coursekit.training.schedules import attach, linear

SMALL = BertConfig(vocabulary=30, width=8, depth=3, heads=2, hidden=16, positions=12, dropout=0.0)
MODELS = {
    "Bert": lambda: Bert(SMALL),
    "Bert without a pooler": lambda: Bert(SMALL, pooler=False),
    "BertClassifier": lambda: BertClassifier(Bert(SMALL), classes=2),
    "RobertaClassifier": lambda: RobertaClassifier(Bert(SMALL, pooler=False), classes=2),
    "BertTagger": lambda: BertTagger(Bert(SMALL), classes=7),
    "BertSpan": lambda: BertSpan(Bert(SMALL)),
    "BertForPreTraining": lambda: BertForPreTraining(SMALL),
}
DISTANCES = {  # of a Bert of three blocks; what is not named is the head of the task
    "pooler": 0, "encoder.blocks.2": 1, "encoder.blocks.1": 2, "encoder.blocks.0": 3,
    "embeddings": 4,
}  # fmt: skip
TOKENS = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])


def distance(name: str) -> int:
    """Return how far from the top a parameter of this name stands."""
    name = name.removeprefix("bert.")
    return next((far for start, far in DISTANCES.items() if name.startswith(start)), 0)


def by_parameter(groups, what: str) -> dict[nn.Parameter, float]:
    """Return parameter -> setting; each parameter may stand in one group only."""
    every = [(weight, group[what]) for group in groups for weight in group["params"]]
    assert len({id(weight) for weight, _ in every}) == len(every)
    return dict(every)


# --- rates ---


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weight_decay", [None, 0.01])
def test_each_layer_has_its_rate_and_nothing_is_left_out(name, weight_decay):
    model = MODELS[name]()
    groups = layer_rates(model, 1.0, 0.5, weight_decay=weight_decay)
    rates = by_parameter(groups, "lr")
    assert set(rates) == set(model.parameters())
    for parameter, weight in model.named_parameters():
        assert rates[weight] == 0.5 ** distance(parameter), parameter
    order = [group["lr"] for group in groups]
    assert order == sorted(order, reverse=True) and min(order) == 1 / 16


@pytest.mark.parametrize("name", MODELS)
def test_biases_and_norms_do_not_decay(name):
    model = MODELS[name]()
    decays = by_parameter(layer_rates(model, 1.0, 0.5, weight_decay=0.01), "weight_decay")
    for parameter, weight in model.named_parameters():
        exempt = parameter.endswith("bias") or "norm" in parameter
        assert decays[weight] == (0.0 if exempt else 0.01), parameter
    assert all("weight_decay" not in group for group in layer_rates(model, 1.0, 0.5))


@given(
    depth=st.integers(1, 4),
    lr=st.floats(1e-6, 1.0),
    decay=st.floats(0.1, 1.0),
    weight_decay=st.none() | st.floats(0, 1),
)
@settings(max_examples=25)
def test_from_layer_to_layer_the_rate_is_multiplied(depth, lr, decay, weight_decay):
    config = BertConfig(vocabulary=9, width=4, depth=depth, heads=1, hidden=4, positions=4)
    model = BertTagger(Bert(config, pooler=False), classes=2)
    groups = layer_rates(model, lr, decay, weight_decay=weight_decay)
    assert sum(len(group["params"]) for group in groups) == len(list(model.parameters()))
    rates = by_parameter(groups, "lr")
    heights = [model.classifier, *reversed(model.bert.encoder.blocks), model.bert.embeddings]
    tops = [{rates[weight] for weight in part.parameters()} for part in heights]
    assert all(len(rate) == 1 for rate in tops)  # one rate a layer
    line = [rate.pop() for rate in tops]
    assert line[0] == lr and len(line) == depth + 2
    for above, below in pairwise(line):
        assert below == pytest.approx(above * decay)


def test_an_optimiser_moves_each_layer_by_its_rate():
    """The first step of Adam is as long as the rate, whatever the gradient."""
    torch.manual_seed(0)
    model = BertClassifier(Bert(SMALL), classes=2).double().eval()
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    optimiser = torch.optim.AdamW(layer_rates(model, 0.01, 0.5, weight_decay=0.0), eps=1e-30)
    schedule = attach(optimiser, linear(warmup=1, total=5))
    model(TOKENS).square().sum().backward()
    optimiser.step()
    schedule.step()
    for name, weight in model.named_parameters():
        longest = (weight - before[name]).abs().max().item()
        assert longest == pytest.approx(0.01 * 0.5 ** distance(name), rel=0.01), name
    assert optimiser.param_groups[0]["lr"] == pytest.approx(0.01 * 3 / 4)
    assert optimiser.param_groups[-1]["lr"] == pytest.approx(0.01 / 16 * 3 / 4)


def test_without_a_rate_for_what_is_below_the_head_learns_alone():
    rates = by_parameter(layer_rates(model := MODELS["BertSpan"](), 0.1, 0.0), "lr")
    moving = {name for name, weight in model.named_parameters() if rates[weight]}
    assert moving == {"span.weight", "span.bias", "bert.pooler.weight", "bert.pooler.bias"}


# --- a fresh top ---


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("layers", [0, 1, 2, 3])
def test_the_top_is_as_new_and_the_rest_is_as_it_was(name, layers):
    torch.manual_seed(0)
    model = MODELS[name]()
    with torch.no_grad():
        for weight in model.parameters():
            weight.fill_(7.0)
    assert fresh_top(model, layers) is model
    fresh = {"pooler", *(f"encoder.blocks.{2 - n}" for n in range(layers))}
    drawn = []
    for parameter, weight in model.named_parameters():
        if not any(parameter.removeprefix("bert.").startswith(part) for part in fresh):
            assert (weight == 7).all(), parameter
        elif parameter.endswith("bias"):
            assert (weight == 0).all(), parameter
        elif "norm" in parameter:
            assert (weight == 1).all(), parameter
        else:
            drawn.append(weight.flatten())
    if drawn:
        drawn = torch.cat(drawn)
        assert drawn.mean().item() == pytest.approx(0, abs=0.008)
        assert drawn.std().item() == pytest.approx(0.02, rel=0.25)


def test_a_fresh_top_follows_the_seed():
    torch.manual_seed(1)
    first = fresh_top(MODELS["Bert"](), 1).pooler.weight
    torch.manual_seed(1)
    assert torch.equal(first, fresh_top(MODELS["Bert"](), 1).pooler.weight)
    assert not torch.equal(first, fresh_top(MODELS["Bert"](), 1).pooler.weight)


# --- the best of n ---


def test_the_best_of_two_by_hand():
    """Of 9 ordered draws with replacement 1 has the best 1, 3 have 2 and 5 have 3."""
    assert expected_best([2, 3, 1], 2) == pytest.approx(22 / 9)
    assert expected_best([2, 3, 1], 2, replacement=False) == pytest.approx((2 + 3 + 3) / 3)
    assert expected_best([2, 3, 1], 3, replacement=False) == pytest.approx(3)
    assert expected_best([2, 3, 1], 3) == pytest.approx((1 + 7 * 2 + 19 * 3) / 27)
    assert expected_best([0.5], 1) == 0.5


scores_of_runs = st.lists(st.integers(-3, 3).map(lambda n: n / 2), min_size=1, max_size=5)


@given(scores=scores_of_runs, data=st.data())
def test_the_best_of_n_is_the_mean_over_all_draws(scores, data):
    n = data.draw(st.integers(1, len(scores)))
    with_, without = product(scores, repeat=n), combinations(scores, n)
    assert expected_best(scores, n) == pytest.approx(mean(map(max, with_)))
    assert expected_best(scores, n, replacement=False) == pytest.approx(mean(map(max, without)))


@given(scores=scores_of_runs, replacement=st.booleans())
def test_from_the_mean_upwards(scores, replacement):
    curve = [expected_best(scores, n, replacement=replacement) for n in range(1, len(scores) + 1)]
    assert curve[0] == pytest.approx(mean(scores))
    assert all(later >= sooner - 1e-9 for sooner, later in pairwise(curve))
    assert max(curve) <= max(scores) + 1e-9
    assert expected_best(scores[::-1], 1) == pytest.approx(curve[0])


# --- many starts, stopped early ---

CURVES = [
    [0.5, 0.6, 0.7, 0.70],
    [0.6, 0.5, 0.6, 0.90],
    [0.4, 0.9, 0.9, 0.95],  # a late one
    [0.7, 0.6, 0.6, 0.80],
]


@pytest.mark.parametrize(
    ("looks", "run", "score", "parts"),
    [
        ((), 2, 0.95, 4 + 4 + 4 + 4),
        ({1}, 1, 0.90, 4 + 2 + 2 + 2),
        ({1, 2}, 3, 0.80, 4 + 2 + 1 + 1),
        ({2}, 2, 0.95, 4 + 4 + 2 + 2),
        ([1, 2, 3], 3, 0.80, 4 + 2 + 1 + 1),
    ],
)
def test_who_survives_and_what_it_saves(looks, run, score, parts):
    found = stop_early(CURVES, looks)
    assert (found.run, found.score) == (run, score)
    assert found.saved == pytest.approx(1 - parts / 16)


def test_the_middle_one_stays_and_of_equal_ones_the_earlier():
    assert stop_early([[1, 1], [2, 2], [3, 3]], {1}).saved == pytest.approx(1 - 5 / 6)
    assert stop_early([[2, 5], [2, 5]], {1}) == (0, 5.0, 0.25, (2, 1))
    assert stop_early([[1, 5], [3, 5]], ()).run == 0  # who led before does not count
    assert stop_early([[1, 5]], {1}) == (0, 5.0, 0.0, (2,))


curves_of_runs = st.integers(2, 5).flatmap(
    lambda parts: st.lists(
        st.lists(st.integers(0, 9), min_size=parts, max_size=parts), min_size=1, max_size=7
    )
)


@given(curves=curves_of_runs, data=st.data())
def test_stopping_saves_and_never_gains(curves, data):
    parts = len(curves[0])
    looks = data.draw(st.sets(st.integers(1, parts - 1)))
    found, whole = stop_early(curves, looks), stop_early(curves, ())
    assert whole.saved == 0 and whole.score == max(curve[-1] for curve in curves)
    assert found.score == curves[found.run][-1] <= whole.score
    assert 0 <= found.saved < 1
    assert (found.saved > 0) == (len(looks) > 0 and len(curves) > 1)
    steady = [[level] * parts for level in range(len(curves))]
    assert stop_early(steady, looks).run == len(curves) - 1  # who always leads is never stopped


# --- bad input ---


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: layer_rates(nn.Linear(2, 2), 1, 1), "a Bert, or stand on one .* found Linear"),
        (lambda: fresh_top(Bert(SMALL), 4), "at most 3, the blocks of this Bert, found 4"),
        (lambda: fresh_top(nn.Linear(2, 2), 1), "found Linear"),
        (lambda: expected_best([1, 2], 3), "the number of runs made, 2, found 3"),
        (lambda: expected_best([1, 2], 3, replacement=False), "runs made, 2, found 3"),
        (lambda: expected_best([], 1), "the number of runs made, 0, found 1"),
        (lambda: expected_best([1, float("nan")], 1), "found NaN"),
        (lambda: expected_best([1, "2"], 1), r"scores\[1\] must be a number, found '2'"),
        (lambda: stop_early([], {1}), "found 0 runs"),
        (lambda: stop_early([[1, 2], [1]], {1}), r"found 2 runs with \[1, 2\] scores"),
        (lambda: stop_early([[]], ()), "found 1 runs"),
        (lambda: stop_early([[1, 2]], {2}), "after 1 to 1 parts, found 2"),
        (lambda: stop_early([[1, 2]], {0}), "must be above 0, found 0"),
        (lambda: stop_early([[1, float("nan")]], {1}), "found NaN"),
    ],
)  # fmt: skip
def test_bad_input_gets_a_sentence(call, said):
    with pytest.raises((TypeError, ValueError), match=said) as caught:
        call()
    assert "\n" not in str(caught.value)
