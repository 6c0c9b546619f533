"""What the page on alignment says of the committed run on whole sentences."""

import json
from pathlib import Path

import numpy as np
import pytest

RESULTS = Path(__file__).resolve().parents[2] / "results"


@pytest.fixture(scope="module")
def run():
    return json.loads((RESULTS / "preferences" / "cpu.json").read_text(encoding="utf-8"))


def last(run, name):
    return run["curves"][name][-1]


def test_the_reward_model_is_a_poor_likeness_but_one(run):
    found = run["metrics"]
    assert 0.6 < found["in order"] < 0.7 and found["in order"] > found["in order before"] + 0.05


def test_at_equal_divergence_best_of_n_is_ahead_and_reinforce_passes_it(run):
    best, leash = run["tables"]["best"][-1], run["curves"]["REINFORCE, β 0.1"]
    for name in ("DPO, β 0.5", "DPO, β 0.1", "REINFORCE, β 0.1"):
        nearer = [row for row in run["curves"][name] if row["kl"] <= best["kl"]]
        assert all(row["opinion"] < best["opinion"] for row in nearer), name
    tried = run["tables"]["best"]
    for name in ("DPO, β 0.5", "DPO, β 0.1", "REINFORCE, β 0.1"):
        for row in run["curves"][name]:
            if row["kl"] <= best["kl"]:
                equal = np.interp(row["kl"], *zip(*((r["kl"], r["opinion"]) for r in tried)))
                assert equal > row["opinion"], (name, row["step"])
    one, *more = tried
    per_nat = [(row["opinion"] - one["opinion"]) / row["kl"] for row in more]
    assert per_nat == sorted(per_nat, reverse=True)  # the first nats are the cheapest
    first = next(row for row in leash if row["opinion"] > best["opinion"])
    assert 2.5 < first["kl"] < 3.5 and leash[-1]["opinion"] > best["opinion"] + 0.2
    assert best["judge's best"] > best["opinion"] + 0.4


def test_dpo_goes_nearly_as_far_as_reinforce_and_gains_less(run):
    direct, leash = last(run, "DPO, β 0.1"), last(run, "REINFORCE, β 0.1")
    assert direct["kl"] > 0.7 * leash["kl"] and direct["opinion"] < 0.6 * leash["opinion"]


def test_without_a_leash_reward_and_judge_rise_to_the_end_and_the_words_run_out(run):
    free, leash, before = (
        run["curves"]["REINFORCE, β 0.001"], last(run, "REINFORCE, β 0.1"), run["tables"]["before"],
    )  # fmt: skip
    for what in ("reward", "opinion"):
        values = [row[what] for row in free]
        assert values == sorted(values)
    assert free[-1]["opinion"] > 1.5 * leash["opinion"]
    assert free[-1]["words"] < before["words"] / 2 < leash["words"]
    assert leash["pieces"] < 0.7 * before["pieces"]


def test_another_seed_with_other_pairs_has_the_same_order(run):
    path = RESULTS / "preferences" / "cpu-again.json"
    (again,) = json.loads(path.read_text(encoding="utf-8"))["runs"]
    assert again["seed"] != run["seed"]
    ways = ("DPO, β 0.5", "DPO, β 0.1", "REINFORCE, β 0.1", "REINFORCE, β 0.001")
    for what in ("opinion", "kl"):
        for found in (run["metrics"], again["metrics"]):
            ends = [found[f"{way} at the end, {what}"] for way in ways]
            assert ends == sorted(ends)
    leash, free = (
        again["metrics"][f"{way} at the end, kl"] / run["metrics"][f"{way} at the end, kl"]
        for way in ways[2:]
    )
    assert 1.4 < leash < 1.7 and 0.2 < free < 0.3


def test_the_pairs_are_three_of_each_prompt_and_without_a_leash_the_second_run_goes_less_far(run):
    path = RESULTS / "preferences" / "cpu-again.json"
    (again,) = json.loads(path.read_text(encoding="utf-8"))["runs"]
    for some in (run, again):
        assert some["metrics"]["pairs"] == 3 * some["settings"]["prompts"]
    free = [some["metrics"]["REINFORCE, β 0.001 at the end, kl"] for some in (again, run)]
    assert 0.2 < free[0] / free[1] < 0.3
