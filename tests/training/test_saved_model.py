"""A model that a training keeps comes back as it was, and nothing else is taken for it."""

from __future__ import annotations

import base64
import json
import os

import pytest
import torch
from torch import nn

from coursekit._base.errors import CourseError
from coursekit.models import (
    GPT,
    BertConfig,
    BertForPreTraining,
    GPTConfig,
    Seq2SeqConfig,
    Seq2SeqTransformer,
)
from coursekit.training import records, saved_model
from coursekit.training.records import KEEP, RESULT, record, trained
from coursetools.experiments.results import write_result

SIZES = {"vocabulary": 9, "width": 8, "depth": 1, "heads": 2, "hidden": 8}


def a_model(seed=0, **changes):
    torch.manual_seed(seed)
    return Seq2SeqTransformer(Seq2SeqConfig(**{**SIZES, **changes}))


@pytest.fixture
def keep(tmp_path, monkeypatch):
    """Return a function that keeps a model as the result of the training `toy`."""
    (tmp_path / "_config.yml").touch()
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")

    def keeping(model, loss=1.0, profile="cpu"):
        content, about = saved_model.pack(model)
        file = tmp_path / "results" / "toy" / f"{profile}.json"
        result = {"name": "toy", "profile": profile, "metrics": {"loss": loss}, "model": about}
        write_result(file, result, base64.b64encode(content).decode())
        return file

    return keeping


def same(one, other):
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a.half(), b.half()) for a, b in pairs)


def test_a_model_comes_back_as_it_was_but_for_half_of_each_number(keep):
    model = a_model(norm="pre", dropout=0.25)
    file = keep(model)
    state = torch.random.get_rng_state()
    found = trained("toy")
    assert torch.equal(torch.random.get_rng_state(), state)  # a notebook's seeds stay its own
    assert type(found) is Seq2SeqTransformer and found.config == model.config
    assert not found.training and same(found, model)
    assert {w.dtype for w in found.state_dict().values()} == {torch.float32}
    assert sorted(path.name for path in file.parent.iterdir()) == ["cpu.json", "cpu.safetensors"]
    about = json.loads(file.read_text())["model"]
    assert about["weights"] == sum(w.numel() for w in model.parameters())
    assert file.with_suffix(".safetensors").stat().st_size < 2.5 * about["weights"] + 8000


@pytest.mark.parametrize("options", [{}, {"next_sentence": False}, {"masked_lm": False}])
def test_what_a_model_was_made_with_beside_its_config_comes_back(keep, options):
    model = BertForPreTraining(BertConfig(**SIZES, positions=4), **options)
    keep(model)
    found = trained("toy")
    assert found.state_dict().keys() == model.state_dict().keys() and same(found, model)


def test_a_model_that_its_config_would_not_build_is_not_kept():
    model = a_model()
    model.more = nn.Linear(2, 2)
    with pytest.raises(TypeError, match="has other weights when it is built from its config"):
        record(metrics={"loss": 1.0}, model=model)


def test_the_best_profile_that_keeps_a_model_is_taken(keep):
    file = keep(a_model())
    write_result(file.with_name("gpu.json"), {"profile": "gpu"}, None)
    assert records.result("toy")["profile"] == "gpu"
    assert same(trained("toy"), a_model())
    keep(a_model(seed=1), profile="gpu")
    assert same(trained("toy"), a_model(seed=1))


def test_a_torn_file_or_another_one_is_refused(keep):
    file = keep(a_model())
    weights = file.with_suffix(".safetensors")
    whole = weights.read_bytes()
    for content in (whole[:-1], b"", saved_model.pack(a_model(seed=1))[0]):
        weights.write_bytes(content)
        with pytest.raises(CourseError, match=r"toy/cpu\.safetensors has the SHA-256 .* expects"):
            trained("toy")
    weights.unlink()
    with pytest.raises(CourseError, match=r"cpu\.safetensors is missing; cpu\.json beside it"):
        trained("toy")


def test_another_config_is_refused(keep):
    file = keep(a_model())
    result = json.loads(file.read_text())
    result["model"]["config"]["heads"] = 4
    file.write_text(json.dumps(result))
    said = r"has the config heads=2, and cpu\.json says heads=4; the two are not of one training"
    with pytest.raises(CourseError, match=said):
        trained("toy")


def test_a_model_whose_code_has_changed_is_refused(keep, monkeypatch):
    keep(a_model())
    monkeypatch.setattr(saved_model, "_built", lambda about: a_model(width=4))
    with pytest.raises(CourseError, match=r"does not fit .*Seq2SeqTransformer as it is today") as e:
        trained("toy")
    assert "\n" not in str(e.value)


def test_only_models_of_the_course_are_built(keep):
    file = keep(a_model())
    content, about = saved_model.pack(a_model())
    text = content.decode("latin-1").replace("coursekit.models.seq2seq", "coursekit.notmod.seq2seq")
    bad = text.encode("latin-1")
    about = {
        **about,
        "class": about["class"].replace(".models.", ".notmod."),
        "config_class": about["config_class"].replace(".models.", ".notmod."),
        "sha256": saved_model.checksum(bad),
    }
    write_result(file, {"model": about}, base64.b64encode(bad).decode())
    with pytest.raises(CourseError, match=r"is not in coursekit\.models"):
        trained("toy")


def test_a_training_without_a_model_says_so(keep):
    file = keep(a_model())
    write_result(file, {"profile": "cpu"}, None)
    assert not file.with_suffix(".safetensors").exists()  # it was of another run
    with pytest.raises(CourseError, match=r"results/toy/cpu\.json keeps no model; coursekit train"):
        trained("toy")


def test_what_cannot_be_kept_is_one_sentence(monkeypatch):
    with pytest.raises(TypeError, match=r"a model of coursekit\.models is kept, with its config"):
        record(metrics={"loss": 1.0}, model=nn.Linear(2, 2))
    wide = a_model(vocabulary=600_000)
    said = r"has 4,80\d,\d{3} weights, 9\.6 MB in half precision; at most 8 MB are kept"
    with pytest.raises(ValueError, match=said):
        record(metrics={"loss": 1.0}, model=wide)
    other = GPT(GPTConfig(vocabulary=300_000, positions=4, width=8, depth=1, heads=2))
    with pytest.raises(ValueError, match=r"4\.8 MB in half precision; at most 4 MB are kept"):
        record(metrics={"loss": 1.0}, model=other)
    large = a_model()
    large.embedding.weight.data[0, 0] = 1e6
    with pytest.raises(ValueError, match="values that half precision does not hold"):
        record(metrics={"loss": 1.0}, model=large)


def test_the_weights_are_written_where_they_are_asked_for(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(records, "_display", seen.append)
    record(metrics={"loss": 1.0}, model=a_model())
    monkeypatch.setenv(KEEP, str(tmp_path / "model.safetensors"))
    model = GPT(GPTConfig(vocabulary=9, positions=4, width=8, depth=1, heads=2))
    record(metrics={"loss": 1.0}, model=model)
    about = seen[1][RESULT]["model"]
    assert saved_model.checksum((tmp_path / "model.safetensors").read_bytes()) == about["sha256"]
    assert about["config"]["positions"] == 4 and seen[0][RESULT]["model"]["config"]["heads"] == 2


@pytest.mark.parametrize("calls", range(4))
def test_killed_between_any_two_writes_a_whole_pair_is_found(keep, monkeypatch, calls):
    """The weights wait, the result, the weights in their place: killed after none, one, two."""
    file = keep(a_model(seed=1), loss=1.0)
    left = [calls]
    replace = os.replace

    def killed(*paths):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        replace(*paths)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        if calls < 3:
            with pytest.raises(KeyboardInterrupt):
                keep(a_model(seed=2), loss=2.0)
        else:
            keep(a_model(seed=2), loss=2.0)
    new = calls >= 2
    assert records.result("toy")["metrics"] == {"loss": 2.0 if new else 1.0}
    assert same(trained("toy"), a_model(seed=2 if new else 1))
    keep(a_model(seed=3), loss=3.0)  # and the next one clears what was left
    assert sorted(path.name for path in file.parent.iterdir()) == ["cpu.json", "cpu.safetensors"]
    assert same(trained("toy"), a_model(seed=3))
