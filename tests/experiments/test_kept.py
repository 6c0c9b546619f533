"""What a run records as its model reaches `results/`: also resumed, and of a sweep if asked for."""

from __future__ import annotations

import base64
import json

import pytest

from coursetools import cli
from coursetools.course import Course
from coursetools.experiments.train import WORKER, find
from coursetools.jobs.pool import Pool

MODEL = """\
import torch
from coursekit.models.gpt import GPT, GPTConfig
torch.manual_seed(seed)
model = GPT(GPTConfig(vocabulary=9, positions=4, width=8, depth=1, heads=2))
record(metrics={"loss": 1.0}, model=model)"""
ONCE = """\
from pathlib import Path
state = Path(checkpoints, "state") if checkpoints else None
if state and not state.exists():
    state.touch()
    raise RuntimeError("the power went")"""


def test_a_resumed_run_keeps_its_model_and_a_job_only_if_it_is_told(lab, capsys):
    lab.training("toy", ONCE, MODEL)
    results = lab.root / "results" / "toy"
    assert cli.main(["train", "toy", "--quiet"]) == 1
    assert "the power went" in capsys.readouterr().err and not results.exists()
    assert cli.main(["train", "toy", "--quiet", "--resume"]) == 0
    assert sorted(path.name for path in results.iterdir()) == ["cpu.json", "cpu.safetensors"]
    about = json.loads((results / "cpu.json").read_text())["model"]

    from coursekit.training.records import trained

    assert trained("toy", lab.root).config.positions == 4
    with Pool(WORKER, 1) as pool:
        ((_, answer),) = pool.run([find(Course(lab.root), "toy").job({})])
    assert answer["ok"] and "weights" not in answer
    assert answer["said"]["model"]["sha256"] == about["sha256"]


@pytest.fixture
def asked(monkeypatch):
    """Put answers in the place of processes; return the jobs that were asked for."""
    jobs = []
    parts = ("metrics", "curves", "tables", "data", "hardware", "versions", "computing")
    said = {part: {} for part in parts}
    good = {"ok": True, "seconds": 1.0, "settings": {}, "notebook": "{}"}
    model = {"sha256": "ab"}

    def run(self, given):
        jobs.extend(given)
        for job in given:
            weights = {"weights": base64.b64encode(b"w").decode()} if job["keep"] else {}
            yield job, {**good, "said": {**said, "model": model}, **weights}

    monkeypatch.setattr(Pool, "run", run)
    return jobs


def test_a_sweep_keeps_models_only_if_asked(lab, asked, capsys):
    lab.training("toy", MODEL)
    (lab.root / "heads.toml").write_text("[grid]\nlr = [0.5, 1.0]\n")
    command = ["train", "toy", "--quiet", "--sweep", "heads.toml"]
    folder = lab.root / "_build/training/toy/sweeps/cpu-heads"
    assert cli.main(command) == 0
    assert not [*folder.glob("*.safetensors")] and not any(job["keep"] for job in asked)
    assert "model" not in json.loads((folder / "lr=0.5.json").read_text())
    assert cli.main(command) == 0 and len(asked) == 2  # done
    assert cli.main([*command, "--keep"]) == 0  # done, but without a model
    assert [path.name for path in sorted(folder.glob("*.safetensors"))] == [
        "lr=0.5.safetensors",
        "lr=1.0.safetensors",
    ]
    assert [job["keep"] for job in asked] == [False, False, True, True]
    assert cli.main([*command, "--keep"]) == 0 and len(asked) == 4
    assert sorted(path.name for path in (lab.root / "results/toy").iterdir()) == ["cpu-heads.json"]
    capsys.readouterr()
    assert cli.main(["train", "toy", "--keep"]) == 1
    assert "--keep is for the runs of a --sweep" in capsys.readouterr().err


def test_a_sweep_that_is_to_keep_what_nobody_records_says_so(lab, asked, monkeypatch, capsys):
    lab.training("toy", MODEL)
    (lab.root / "heads.toml").write_text("[grid]\nlr = [0.5]\n")
    whole = Pool.run
    monkeypatch.setattr(
        Pool,
        "run",
        lambda *given: (
            (job, {k: v for k, v in answer.items() if k != "weights"})
            for job, answer in whole(*given)
        ),
    )
    assert cli.main(["train", "toy", "--quiet", "--sweep", "heads.toml", "--keep"]) == 1
    assert "lr=0.5: notebooks/training/toy.ipynb: records no model" in capsys.readouterr().out
