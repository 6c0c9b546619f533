"""Batches: step n is the same in every run, and a pass reads everything once."""

from __future__ import annotations

from itertools import islice

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.objectives.next_sentence import PairInput, pad_pairs
from coursekit.training.batches import Batches, to_device
from coursekit.training.schedules import growth


def chosen(batches: Batches, count: int, first: int = 1) -> list[tuple[int, list[int]]]:
    return list(islice(batches.from_step(first), count))


@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 3), st.integers(1, 40), st.booleans())
def test_a_stream_that_begins_later_is_the_rest_of_the_whole(items, size, seed, first, sort):
    length = (lambda item: item % 7) if sort else None
    batches = Batches(range(items), list, size=size, seed=seed, length=length)
    assert chosen(batches, 10, first) == chosen(batches, first + 9)[first - 1 :]


@given(st.integers(1, 60), st.integers(1, 9), st.booleans())
def test_each_pass_reads_every_item_once(items, size, sort):
    length = (lambda item: item % 7) if sort else None
    batches = Batches(range(items), list, size=size, length=length)
    read = [i for _, batch in chosen(batches, 32 * items) for i in batch]
    assert len(read) == 32 * items * size
    assert {read.count(item) for item in range(items)} == {32 * size}


def test_passes_differ_and_seeds_differ():
    batches = Batches(range(30), list, size=30)
    (_, one), (_, two) = chosen(batches, 2)
    assert one != two and sorted(one) == sorted(two)
    assert chosen(Batches(range(30), list, size=30, seed=1), 1)[0][1] != one


def test_items_of_one_length_come_together():
    lengths = [i * 37 % 100 for i in range(1000)]
    spread = {}
    for sort in (False, True):
        batches = Batches(lengths, list, size=10, length=(lambda n: n) if sort else None)
        spans = [batches.collated(batch) for _, batch in chosen(batches, 100)]
        spread[sort] = sum(max(span) - min(span) for span in spans) / 100
    assert spread[True] < spread[False] / 8
    firsts = [min(span) for span in spans[:32]]
    assert firsts != sorted(firsts)  # short ones do not always come first


def test_the_size_may_grow():
    batches = Batches(range(100), list, size=growth(first=2, last=10, steps=8))
    assert [len(batch) for _, batch in chosen(batches, 10)] == [2, 3, 4, 5, 6, 7, 8, 9, 10, 10]


def test_the_size_may_grow_where_items_come_by_length():
    """The size was once asked for every 32 steps only."""
    size = growth(first=2, last=41, steps=39)
    batches = Batches(range(1000), list, size=size, length=lambda item: item % 50)
    steps = chosen(batches, 70)
    assert [len(batch) for _, batch in steps] == [size(step) for step in range(1, 71)]
    assert chosen(batches, 30, first=41) == steps[40:]
    spans = [max(batch, key=lambda i: i % 50) % 50 - min(batch, key=lambda i: i % 50) % 50
             for _, batch in steps]  # fmt: skip
    assert sum(spans) / len(spans) < 5  # of 50: still of about one length


def test_seeds_differ_in_the_order_of_batches_by_length():
    """All items are one pool here, so that the batches are the same and only their order is not."""
    orders = [
        [tuple(sorted(batch)) for _, batch in chosen(Batches(
            range(64), list, size=2, seed=seed, length=lambda item: item), 32)]
        for seed in (0, 1)
    ]  # fmt: skip
    assert sorted(orders[0]) == sorted(orders[1]) and orders[0] != orders[1]


def test_nothing_to_read_is_said():
    with pytest.raises(ValueError, match="at least one item"):
        Batches([], list, size=2)


def test_a_batch_is_moved_whatever_holds_its_tensors():
    pair = PairInput([1, 2, 3], [0, 0, 1], is_next=True)
    batch = {"pairs": (pad_pairs([pair], 0), [torch.ones(2), 7]), "name": "x"}
    there = to_device(batch, torch.device("meta"))
    pairs, (ones, number) = there["pairs"]
    assert pairs.tokens.is_meta and pairs.is_next.is_meta and ones.is_meta
    assert number == 7 and there["name"] == "x" and not batch["pairs"][0].tokens.is_meta
