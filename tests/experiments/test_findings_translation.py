"""What "The Transformer that translates" and the page on ablations say of the committed runs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from coursekit import masks
from coursekit.analysis import capture
from coursekit.analysis.heads import heads_off, weight_on
from coursekit.data.verses import verses
from coursekit.tokenizers import ByteBPE
from coursekit.training import translation
from coursekit.training.records import trained

RESULTS = Path(__file__).resolve().parents[2] / "results"


def runs(path):
    """Return the perplexity of each run of a sweep by its name."""
    found = json.loads((RESULTS / path).read_text(encoding="utf-8"))["runs"]
    return {run["name"]: run["metrics"]["perplexity"] for run in found}


def test_the_transformer_reaches_the_recurrent_network_s_last_perplexity_in_fewer_steps():
    curves = json.loads((RESULTS / "translation/cpu.json").read_text(encoding="utf-8"))["curves"]
    end = curves["rnnsearch"][-1]
    reached = next(row["step"] for row in curves["transformer"] if row["valid"] < end["valid"])
    assert reached < 0.8 * end["step"] == 0.8 * curves["transformer"][-1]["step"]
    assert math.exp(end["valid"]) > 1.2 * math.exp(curves["transformer"][-1]["valid"])


def test_label_smoothing_hurts_perplexity_and_gains_no_accuracy():
    practice = json.loads((RESULTS / "practice/cpu.json").read_text(encoding="utf-8"))
    without, smoothed = practice["tables"]["smoothing"]
    assert (without["smoothing"], smoothed["smoothing"]) == (0, 0.1)
    assert smoothed["perplexity"] > 1.05 * without["perplexity"]
    assert smoothed["accuracy"] < without["accuracy"]
    assert smoothed["bleu"] < without["bleu"]


def test_many_heads_are_worse_and_one_head_with_wide_keys_is_best():
    table, suspects = runs("ablations/cpu-table3.json"), runs("ablations/cpu-suspects.json")
    base = [table[name] for name in ("base", "base, seed 2", "base, seed 3")]
    assert table["A heads=1"] < table["A heads=4"] < min(base)
    assert max(base) < table["A heads=16"] < table["A heads=32"]
    assert max(base) < table["B keys=32"] < table["B keys=16"]
    assert suspects["heads=1 keys=8"] > max(base) > min(base) > table["A heads=1"]
    assert suspects["heads=8 keys=64"] < table["A heads=1"]


def test_depth_and_width_pay():
    table = runs("ablations/cpu-table3.json")
    for more, less in (("base", "C depth=2"), ("base", "C width=256"), ("base", "C hidden=1024"),
                       ("C width=1024", "base"), ("C hidden=4096", "base"),
                       ("big", "C width=1024")):  # fmt: skip
        assert table[more] < table[less] - 1, (more, less)


def test_dropout_and_learned_positions_turn_round_in_a_longer_training():
    table, long = runs("ablations/cpu-table3.json"), runs("ablations/cpu-suspects.json")
    bases = [long["long, base"], long["long, base, seed 2"]]
    assert table["D dropout=0.0"] < table["base"] < table["D dropout=0.2"]
    for seed in ("", ", seed 2"):
        assert long[f"long, no dropout{seed}"] > 1.5 * max(bases)
        assert long[f"long, no dropout{seed}"] > table["D dropout=0.0"]
    assert table["E learned"] < table["base"] and long["long, learned positions"] > max(bases) + 1
    assert table["D smoothing=0.0"] < table["base"] < table["D smoothing=0.2"]
    assert long["long, no smoothing"] < min(bases) and long["long, one head"] < min(bases) - 1


@pytest.fixture(scope="module")
def translator():
    """Return the translator that was kept, and 64 test verses as tokens."""
    texts = [text for pair in verses("train", longest=20) for text in (pair.english, pair.french)]
    tokenizer = ByteBPE.train(texts, vocabulary_size=2000, special=translation.SPECIAL)
    return trained("translation", RESULTS), translation.encode(
        verses("test", longest=20)[:64], tokenizer
    )


def test_no_head_of_the_encoder_keeps_to_a_neighbour_and_some_of_the_decoder_do(translator):
    model, pairs = translator
    batch = translation.collate(pairs)
    with torch.no_grad():
        weights = capture(model, batch.source, batch.target_in).weights
    ahead = torch.arange(batch.source.shape[1])
    ahead = ahead - ahead[:, None]
    real = batch.source != translation.PAD
    for block in weights["encoder.self_attention"]:
        for step in (-1, 0, 1):
            chosen = real[:, :, None] & real[:, None] & (ahead == step)
            assert weight_on(block, chosen).max() < 0.15
    real, T = batch.target_in != translation.PAD, batch.target_in.shape[1]
    before = real[:, :, None] & torch.eye(T, dtype=torch.bool).roll(-1, 1) & masks.causal(T)
    written = weights["decoder.self_attention"]
    assert max(weight_on(block, before).max() for block in written) > 0.2


def test_cross_attention_needs_its_heads_most_and_the_encoder_least(translator):
    model, pairs = translator
    blocks = {
        "encoder": [block.self_attention for block in model.encoder.blocks],
        "own": [block.self_attention for block in model.decoder.blocks],
        "cross": [block.cross_attention for block in model.decoder.blocks],
    }
    whole, lost = translation.mean_loss(model, pairs), {}
    for name, layers in blocks.items():
        with heads_off(layers, torch.zeros(8)):
            lost[name] = translation.mean_loss(model, pairs) - whole
    assert 0 < lost["encoder"] < 0.3 < lost["own"] < lost["cross"] - 0.5


def test_what_the_page_quotes_of_the_translations_was_written():
    """Some of it in the beginning of a sentence of its own."""
    path = RESULTS / "translation/cpu.json"
    examples = json.loads(path.read_text(encoding="utf-8"))["tables"]["examples"]
    written = [row["average"] for row in examples]
    ours = "L'Éternel me connaît", "J'ai envoyé", "vous vous vous vous", "une peau", "conduits!"
    ours += "selon ta bonté, selon ta bonté", "dans les yeux de l'Éternel", "une lumière"
    ours += "les anciens", "et les scribes", "Mais vous, frères", "dans la maison de l'Éternel"
    assert [text for text in ours if not any(text in one for one in written)] == []
    both = [f"{row['average']} {row['rnnsearch']}" for row in examples]
    assert all(any(word in one for one in both) for word in ("Là-diera", "Chaisse", "choseil"))
    (lost,) = (row for row in examples if "Moab" in row["english"])
    assert "moab" not in (lost["average"] + lost["rnnsearch"]).lower()
    assert "moab" in lost["word_by_word"].lower()


def test_every_model_was_measured_as_often_as_the_page_says():
    done = json.loads((RESULTS / "translation/cpu.json").read_text(encoding="utf-8"))
    assert all(len(rows) == done["settings"]["looks"] for rows in done["curves"].values())
    assert any(row["beams"] == 4 and row["alpha"] == 0.6 for row in done["tables"]["beams"])
