"""What a training notebook says reaches its result as plain JSON, or is refused in a sentence."""

from __future__ import annotations

import copy
import json
import math
import pickle
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from coursekit._base.errors import CourseError
from coursekit.training import records
from coursekit.training.records import (
    RESULT,
    SETTINGS,
    Settings,
    choose,
    in_short,
    plain,
    record,
    result,
    sweep_result,
)

machine = import_module("coursekit.training.hardware")
SMOKE = {"minutes": 1, "steps": 2, "lr": 0.5, "norm": "post", "tied": True, "sizes": [1], "x": None}
CPU = {**SMOKE, "minutes": 25, "steps": 200}
GPU = {**SMOKE, "minutes": 20, "steps": 9000}


def chosen(profile="cpu", **changes):
    return choose(profile, smoke=SMOKE, cpu=CPU, gpu=GPU, changes=changes)


@pytest.fixture
def shown(monkeypatch):
    """Return what would be displayed in a notebook."""
    seen = []
    monkeypatch.setattr(records, "_display", seen.append)
    return seen


# -- Profiles ----------------------------------------------------------------------------------


def test_a_profile_has_its_values_and_changes_take_their_place(shown):
    assert dict(chosen("gpu")) == GPU
    assert dict(chosen(steps=None, lr=None)) == CPU
    settings = chosen(steps=7, lr=1, norm="pre", tied=False, sizes=(1, 2), x="any")
    assert settings.steps == 7 and settings["norm"] == "pre" and settings.x == "any"
    assert (settings.lr, type(settings.lr)) == (1.0, float)
    assert settings.sizes == [1, 2] and settings.tied is False
    assert shown[-1][SETTINGS] == dict(settings)
    assert shown[-1]["text/plain"].startswith("cpu: minutes=25, steps=7, lr=1.0, norm='pre'")
    assert CPU["steps"] == 200


def test_settings_do_not_change_and_can_be_copied(shown):
    settings = chosen()
    for attempt in (lambda: setattr(settings, "lr", 2), lambda: settings.__setitem__("lr", 2)):
        with pytest.raises(AttributeError):
            attempt()
    with pytest.raises(AttributeError, match="there is no setting 'width'; there are minutes, st"):
        _ = settings.width
    for other in (
        copy.copy(settings),
        copy.deepcopy(settings),
        pickle.loads(pickle.dumps(settings)),
    ):
        assert isinstance(other, Settings) and other == settings and other.lr == 0.5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lr": "fast"}, "lr is 'fast'; a number such as 0.5 is expected"),
        ({"lr": True}, "lr is True; a number such as 0.5"),
        ({"lr": math.nan}, "lr is 'nan'; a number such as 0.5"),
        ({"steps": 1.5}, "steps is 1.5; a whole number such as 200"),
        ({"steps": True}, "steps is True; a whole number"),
        ({"norm": 1}, "norm is 1; text such as 'post'"),
        ({"tied": 1}, "tied is 1; true or false such as True"),
        ({"sizes": 1}, r"sizes is 1; a list such as \[1\]"),
        (
            {"width": 1},
            "width is not a setting of this training; there are steps, lr, norm, tied, si",
        ),
        ({"width": None}, "width is not a setting"),
        ({"minutes": 1}, "minutes is not a setting"),
    ],
)
def test_a_change_that_does_not_fit_is_one_sentence(change, said):
    with pytest.raises(ValueError, match=said) as caught:
        chosen(**change)
    assert "\n" not in str(caught.value)


def test_the_three_profiles_fit_each_other():
    with pytest.raises(ValueError, match="the profile is smoke, cpu, gpu, found 'tpu'"):
        chosen("tpu")
    for name in ("cpu", "gpu"):
        odd = {"smoke": SMOKE, "cpu": SMOKE, "gpu": SMOKE, name: {**SMOKE, "width": 3}}
        with pytest.raises(ValueError, match=f"smoke and {name} differ in names: width"):
            choose("smoke", **odd)
    for minutes in (None, 0, "1", True, math.inf):
        wrong = {**SMOKE, "minutes": minutes}
        with pytest.raises(ValueError, match="the profile gpu needs minutes, its budget"):
            choose("cpu", smoke=SMOKE, cpu=CPU, gpu=wrong)
    for name in ("items", "_lr", "learning rate"):
        values = {"minutes": 1, name: 1}
        with pytest.raises(ValueError, match="cannot be the name of a setting"):
            choose("cpu", smoke=values, cpu=values, gpu=values)


# -- Records -----------------------------------------------------------------------------------


def test_a_record_is_plain_json_and_a_table(shown):
    loss = torch.tensor(1.5, requires_grad=True)
    record(
        metrics={"loss": loss, "bleu": np.float32(21.25), "steps": np.int64(1200), "none": None},
        curves={"model": [{"step": 1, "loss": torch.tensor([1.0, 2.0])}]},
        tables={"counts": np.arange(4).reshape(2, 2), "words": ("a", True)},
        data={"verses": "ab"},
    )
    (data,) = shown
    said = data[RESULT]
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    assert said["metrics"] == {"loss": 1.5, "bleu": 21.25, "steps": 1200, "none": None}
    assert said["curves"] == {"model": [{"step": 1, "loss": [1.0, 2.0]}]}
    assert said["tables"] == {"counts": [[0, 1], [2, 3]], "words": ["a", True]}
    assert said["data"] == {"verses": "ab"}
    assert said["hardware"]["cores"] == torch.get_num_threads()
    assert said["versions"]["torch"] == torch.__version__
    assert data["text/markdown"].splitlines() == [
        "| metric | value |",
        "| :-- | --: |",
        "| loss | 1.5 |",
        "| bleu | 21.25 |",
        "| steps | 1,200 |",
        "| none | – |",
    ]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"metrics": {}}, "record needs at least one metric"),
        ({"metrics": {"bleu": math.nan}}, "metrics.bleu is nan; a number that is finite"),
        ({"metrics": {"bleu": torch.tensor(-math.inf)}}, "metrics.bleu is -inf"),
        ({"metrics": {"bleu": "high"}}, "metrics.bleu is a str; a number is expected"),
        ({"metrics": {"bleu": [1]}}, "metrics.bleu is a list; a number is expected"),
        ({"curves": {"a": [{"loss": 1.0}, {"loss": math.nan}]}}, r"curves.a\[1\].loss is nan"),
        ({"tables": {"a": {4: 1}}}, "tables.a has the key 4; keys are text"),
        ({"tables": {"a": {1}}}, "tables.a is a set; JSON has numbers, text, lists and keys"),
        ({"data": {"a": object()}}, "data.a is a object"),
    ],
)
def test_what_json_cannot_hold_is_named(shown, what, said):
    with pytest.raises((ValueError, TypeError), match=said):
        record(**{"metrics": {"x": 1}, **what})
    assert shown == []


def test_plain_keeps_the_kinds():
    for value in (True, 1, 1.0, "1", None, [], {}):
        assert plain(value, "x") == value and type(plain(value, "x")) is type(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (21.3, "21.3"),
        (0.000123456, "0.0001235"),
        (12345.678, "12,345.7"),
        (1200, "1,200"),
        (3.0, "3"),
        (None, "–"),
        ("a", "a"),
        (True, "True"),
    ],
)
def test_numbers_in_short(value, text):
    assert in_short(value) == text


def test_outside_a_notebook_nothing_is_displayed(capsys):
    record(metrics={"loss": 1.0})
    assert capsys.readouterr().out == ""


# -- Hardware ----------------------------------------------------------------------------------


def test_the_hardware_has_no_name_of_the_machine(monkeypatch):
    found = machine.hardware()
    assert list(found) == ["cpu", "cores", "memory_GB", "gpu"]
    assert found["cpu"] == machine.processor() != ""
    assert found["memory_GB"] is None or 0.1 < found["memory_GB"] < 1e5
    assert machine.cores() >= 1
    gpus = SimpleNamespace(
        cuda=SimpleNamespace(is_available=lambda: True, get_device_name=lambda: "Big GPU"),
        get_num_threads=lambda: 5,
    )
    monkeypatch.setitem(machine.sys.modules, "torch", gpus)
    assert (machine.hardware()["gpu"], machine.hardware()["cores"]) == ("Big GPU", 5)
    monkeypatch.delitem(machine.sys.modules, "torch")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert (machine.hardware()["gpu"], machine.hardware()["cores"]) == (None, 7)


# -- Results in the book -----------------------------------------------------------------------


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Return a course of files, with the working directory in it."""
    (tmp_path / "_config.yml").touch()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "results" / "toy").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "notebooks")
    return tmp_path


def test_the_best_result_is_that_of_the_gpu(course):
    folder = course / "results" / "toy"
    (folder / "smoke.json").write_text('{"profile": "smoke"}')
    said = (
        r"there is no results/toy/cpu\.json yet; coursekit train toy --profile cpu makes it "
        "on this machine"
    )
    with pytest.raises(CourseError, match=said):
        result("toy")
    for profile in ("cpu", "gpu"):
        (folder / f"{profile}.json").write_text(json.dumps({"profile": profile}))
        (folder / f"{profile}-heads.json").write_text(json.dumps({"runs": [profile]}))
        assert result("toy") == {"profile": profile}
        assert sweep_result("toy", "heads") == {"runs": [profile]}
    assert result("toy", course / "results") == {"profile": "gpu"}
    with pytest.raises(CourseError, match=r"cpu-depth\.json .* --sweep \S+/toy/depth\.toml"):
        sweep_result("toy", "depth")
    (folder / "gpu.json").write_text("{")
    with pytest.raises(CourseError, match=r"results/toy/gpu\.json is not JSON"):
        result("toy")


def test_outside_a_course_the_results_are_those_of_the_package(tmp_path, monkeypatch):
    ours = Path(records.__file__).parents[3] / "results"
    assert result("translation", tmp_path) == json.loads(
        (ours / "translation/cpu.json").read_text()
    )
    installed = (
        tmp_path / "site-packages" / "coursekit"
    )  # as pip leaves it, folders of a course or not
    (installed / "results" / "toy").mkdir(parents=True)
    (installed / "results" / "toy" / "cpu.json").write_text('{"profile": "came along"}')
    monkeypatch.setattr(records, "__file__", str(installed / "training" / "records.py"))
    assert result("toy", tmp_path) == {"profile": "came along"}
    (tmp_path / "_config.yml").touch()  # somebody's own site is no course
    assert result("toy", tmp_path) == {"profile": "came along"}
    (tmp_path / "notebooks").mkdir()
    with pytest.raises(CourseError, match="there is no results/toy"):
        result("toy", tmp_path)
