"""Operations and energy, against figures worked out by hand and printed ones."""

from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from coursekit.analysis.energy import (
    PUBLISHED,
    SUSTAINED,
    Training,
    flops_by_clock,
    flops_by_count,
    kilowatt_hours,
)
from coursekit.models.gpt import GPT, GPTConfig

KNOWN = {training.name: training for training in PUBLISHED}


def test_a_worked_value_of_each():
    assert flops_by_count(65e6, 2.5e9) == pytest.approx(9.75e17)
    assert flops_by_count(10, 3, training=False) == 60
    assert flops_by_clock(2, 5.0) == 36_000
    assert kilowatt_hours(24, 250) == 6
    assert kilowatt_hours(24, 250, pue=1.5) == 9


def test_the_footnote_gives_table_2():
    assert SUSTAINED == {"K80": 2.8e12, "K40": 3.7e12, "M40": 6.0e12, "P100": 9.5e12}
    for name, hours, printed in (("base", 12, 3.3e18), ("big", 84, 2.3e19)):
        found = flops_by_clock(8 * hours, SUSTAINED["P100"])
        assert float(f"{found:.1e}") == printed == KNOWN[f"Transformer {name}"].flops


def test_the_count_is_what_torch_counts():
    """6ND: torch's counter on a whole step, less what tokens do with tokens."""
    config = GPTConfig(
        vocabulary=64, width=32, depth=2, heads=2, positions=8,
        dropout=0.0, attention_dropout=0.0, embedding_dropout=0.0,
    )  # fmt: skip
    B, T = 3, 8
    with torch.device("meta"):
        model = GPT(config)
        tokens = torch.zeros(B, T, dtype=torch.long)
        with FlopCounterMode(display=False) as forward:
            loss = model(tokens).sum()
        with FlopCounterMode(display=False) as both:
            model(tokens).sum().backward()
    del loss
    matrices = sum(p.numel() for p in model.parameters() if p.ndim == 2) - T * config.width
    attention = config.depth * 4 * B * T * T * config.width
    counted = flops_by_count(matrices, B * T, training=False)
    assert forward.get_total_flops() == counted + attention
    assert both.get_total_flops() == flops_by_count(matrices, B * T) + 3 * attention


@pytest.mark.parametrize("training", PUBLISHED, ids=lambda training: training.name)
def test_what_is_printed_is_met(training):
    found = [value for value in (training.counted, training.clocked) if value is not None]
    if training.flops is not None:
        near = training.clocked if training.clocked is not None else training.counted
        assert near == pytest.approx(training.flops, rel=0.01)
    if training.kwh is not None:
        assert training.energy == pytest.approx(training.kwh, rel=0.01)
    assert found and training.days > 0
    assert (
        training.clocked is None
        or training.counted is None
        or training.counted < 1.01 * training.clocked
        or training.name == "T5 11B"  # counted as if each token met both sides: the page says so
    )  # no machine does less than the model needs


def test_every_source_is_in_the_bibliography():
    bibliography = Path(__file__, "../../../book/references.bib").resolve().read_text("utf-8")
    for training in PUBLISHED:
        for key in training.sources:
            assert f"{{{key},\n" in bibliography, key
    assert len(KNOWN) == len(PUBLISHED)


def test_days_and_what_nobody_printed():
    assert KNOWN["Transformer base"].days == 0.5
    assert KNOWN["Transformer big"].days == 3.5
    assert KNOWN["GPT-3"].days == pytest.approx(14.8)
    assert KNOWN["T5 11B"].counted > 1.6 * KNOWN["T5 11B"].clocked
    assert KNOWN["PaLM"].energy is None
    assert KNOWN["BLOOM"].clocked is None


def test_bad_numbers_are_named():
    with pytest.raises(ValueError, match="tokens"):
        flops_by_count(1, 0)
    with pytest.raises(ValueError, match="sustained"):
        flops_by_clock(1, -1)
    with pytest.raises(ValueError, match="pue"):
        kilowatt_hours(1, 1, pue=0.9)
    with pytest.raises(ValueError, match=r"watts must be more than 0, found -1 \(x\)"):
        Training(
            name="x", sources=(), device="y", devices=1, device_hours=1, parameters=1, watts=-1
        )


def test_what_is_published_is_what_the_page_says():
    known = {training.name: training for training in PUBLISHED}
    base, palm = known["Transformer base"], known["PaLM"]
    assert (base.devices, base.pue, round(8 * base.watts)) == (8, 1.58, 1416)
    assert palm.parameters == 540e9 and palm.device_hours == 6144 * 24 * (50 + 14 / 2)
