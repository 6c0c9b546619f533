"""A training runs with the values that are asked for, is kept whole, and survives what kills it."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict

import nbformat
import pytest

from coursekit._base.errors import CourseError
from coursekit.training.computing import Computing
from coursetools import cli
from coursetools.course import Course
from coursetools.experiments import live_output, train
from coursetools.experiments.live_output import Live
from coursetools.experiments.train import WORKER, find
from coursetools.jobs.pool import Pool
from coursetools.notebooks.parameters_cell import parameters, parse_settings

from .conftest import CHOOSE, RECORD

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
# Counts to `steps` in its checkpoint; where it stood at the start becomes a metric.
COUNTS = """\
import time
from pathlib import Path
state = Path(checkpoints) / "state"
start = step = int(state.read_text()) if state.exists() else 0
while step < settings.steps:
    step += 1
    state.with_suffix(".new").write_text(str(step))
    state.with_suffix(".new").replace(state)  # whole at every moment, as a checkpoint is
    time.sleep(pause)
record(metrics={"start": start, "end": step})"""


def ask(captured, *arguments):
    """Run the command line; return exit code, stdout and stderr."""
    code = cli.main(list(arguments))
    said = captured.readouterr()
    return code, said.out, said.err


def outputs(path):
    """Return the outputs of each cell by its id, texts in one piece."""
    with open(path, encoding="utf-8") as file:
        cells = nbformat.read(file, as_version=4).cells
    return {cell.id: cell.get("outputs", []) for cell in cells}


def test_a_profile_from_the_command_to_its_result(lab, capfd, monkeypatch):
    monkeypatch.setattr(train, "cores", lambda: 3)
    lab.training(
        "toy",
        "import os, sys, time\nprint(os.getcwd(), os.environ['OMP_NUM_THREADS'])\n"
        "for n in range(3):\n    print(f'\\rstep {n}', end='', file=sys.stderr, flush=True)",
        'record(metrics={"loss": 1.25, "bleu": 21.3}, curves={"toy": [{"step": 1, "loss": 3.0}]},'
        ' tables={"t": [[1, "a"]]}, data={"verses": "ab12"})\n"torch" in sys.modules',
    )
    code, out, err = ask(capfd, "train", "toy")
    assert code == 0
    folder = next((lab.root / "_build/training/toy").iterdir())
    assert re.fullmatch(r"cpu-[0-9a-f]{8}", folder.name)
    copy = f"_build/training/toy/{folder.name}/toy.ipynb"
    assert lab.files() == {
        copy,
        f"_build/training/toy/{folder.name}/begun.json",
        "results/toy/cpu.json",
    }
    assert {"1.25", "21.3", copy, "results/toy/cpu.json"} <= set(out.split())
    cells = dict(re.findall(r"^cell (\d)/7: (\S+)$", err, re.MULTILINE))
    assert cells["4"] == "injected-parameters" and cells["7"] == "step-4"
    assert "step 0" in err.splitlines()

    shown = outputs(lab.root / copy)
    assert shown["step-3"][0]["text"] == f"{lab.root / 'notebooks/training'} 3\n"
    assert shown["step-4"][-1]["data"]["text/plain"] == "False"  # no torch: these tests are quick
    assert "| bleu | 21.3 |" in shown["step-4"][0]["data"]["text/markdown"]
    assert str(lab.root) not in (lab.root / copy).read_text().replace(
        str(lab.root / "notebooks/training") + " 3", ""
    )

    result = json.loads((lab.root / "results/toy/cpu.json").read_text())
    assert result.pop("key") == find(Course(lab.root), "toy").key
    assert 0 < result.pop("seconds") < 300
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", result.pop("finished"))
    hardware = result.pop("hardware")
    assert set(hardware) == {"cpu", "cores", "memory_GB", "gpu"}
    assert (hardware["cores"], hardware["gpu"]) == (3, None)
    assert {"python", "coursekit", "torch"} <= set(result.pop("versions"))
    assert (result["name"], result["profile"], result["seed"]) == ("toy", "cpu", 1)
    assert result["settings"] == {"minutes": 1, "steps": 5, "lr": 0.5} and result["set"] == {}
    assert result["metrics"] == {"loss": 1.25, "bleu": 21.3}
    assert result["curves"] == {"toy": [{"step": 1, "loss": 3.0}]}
    assert result["tables"] == {"t": [[1, "a"]]} and result["data"] == {"verses": "ab12"}
    assert result["processes"] == 1 and result["computing"] == asdict(Computing())


def test_what_is_set_reaches_the_notebook_and_is_no_result_of_the_profile(lab, capsys):
    lab.training("toy", RECORD)
    line = ["train", "toy", "--profile", "gpu", "--set", "lr=3e-4", "--set", "seed=7"]
    code, out, err = ask(capsys, *line, "--quiet")
    assert (code, err) == (0, "")
    (folder,) = (lab.root / "_build/training/toy").iterdir()
    assert out.splitlines()[-1] == f"result: _build/training/toy/{folder.name}/toy.json"
    result = json.loads((folder / "toy.json").read_text())
    assert result["settings"] == {"minutes": 1, "steps": 9, "lr": 3e-4}
    assert result["metrics"] == {"loss": 7.0003, "steps": 9}
    assert (result["seed"], result["set"]) == (7, {"lr": 3e-4, "seed": 7})
    assert result["profile"] == "gpu"
    assert not (lab.root / "results").exists()


@pytest.fixture
def answers(monkeypatch):
    """Put answers in the place of processes; return the jobs that were asked for."""
    asked = []
    said = {
        "metrics": {"loss": 1.0},
        "curves": {},
        "tables": {},
        "data": {},
        "hardware": {"cpu": "x", "cores": 1, "memory_GB": 1.0, "gpu": None},
        "versions": {},
        "computing": {},
    }
    good = {"ok": True, "seconds": 1.0, "said": said, "settings": {}, "notebook": "{}"}
    given = {}

    def run(self, jobs):
        asked.extend(jobs)
        for job in jobs:
            yield job, {**good, **given}

    monkeypatch.setattr(Pool, "run", run)
    asked_and_given = type("Answers", (), {"jobs": asked, "given": given})
    return asked_and_given


def test_a_smoke_run_is_no_result_of_the_book(lab, answers, capsys):
    lab.training("toy", RECORD)
    assert ask(capsys, "train", "toy", "--profile", "smoke")[0] == 0
    assert not (lab.root / "results").exists()
    assert any(re.fullmatch(r"_build/training/toy/smoke-\w+/toy\.json", f) for f in lab.files())


def test_other_values_have_another_folder_and_the_same_ones_the_same(lab, answers):
    lab.training("toy", RECORD)
    toy = find(Course(lab.root), "toy")
    for changes in ({}, {"lr": 1}, {"lr": 2}, {"lr": 1}):
        train.train(toy, changes=changes, quiet=True)
    folders = [job["parameters"]["checkpoints"] for job in answers.jobs]
    assert len(set(folders)) == 3 and folders[1] == folders[3]
    assert all(folder.startswith("../../_build/training/toy/cpu-") for folder in folders)


def test_the_old_result_stays_until_the_new_one_is_whole(lab, answers, monkeypatch):
    lab.training("toy", RECORD)
    toy = find(Course(lab.root), "toy")
    before = train.train(toy, quiet=True).file.read_bytes()
    answers.given["said"] = {"metrics": {"loss": float}}  # what JSON cannot hold
    with pytest.raises(KeyError):
        train.train(toy, quiet=True)
    del answers.given["said"]

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        train.train(toy, quiet=True)
    assert (lab.root / "results/toy/cpu.json").read_bytes() == before
    assert not [name for name in lab.files() if name.endswith(".tmp")]


# -- What goes wrong ---------------------------------------------------------------------------


def test_failures_keep_the_notebook_and_the_last_result(lab, capsys):
    lab.training("toy", "print('seen')", "x = 1\ny = x / 0\n" + RECORD)
    old = lab.root / "results" / "toy" / "cpu.json"
    old.parent.mkdir(parents=True)
    old.write_text("{}")
    code, out, err = ask(capsys, "train", "toy", "--quiet")
    assert (code, out) == (1, "")
    (folder,) = (lab.root / "_build/training/toy").iterdir()
    kept = folder / "toy.failed.ipynb"
    for fact in ("toy.ipynb", "step-4", "line 2", "y = x / 0", "ZeroDivisionError", kept.name):
        assert fact in err
    assert err.count("\n") == 1
    assert outputs(kept)["step-3"][0]["text"] == "seen\n"
    assert outputs(kept)["step-4"][0]["ename"] == "ZeroDivisionError"
    assert old.read_text() == "{}"
    assert not (folder / "toy.ipynb").exists()


@POSIX
def test_each_way_to_fail_has_its_sentence(lab):
    """All in one process, which a failed notebook does not take along."""
    cases = {
        "silent": (["x = 1"], ["record(metrics=...)"], ""),
        "dead": (
            ["import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"], ["kernel died"], "step-3"
        ),
        "slow": (["import time\ntime.sleep(600)"], ["limit", "minutes", "--budget"], "step-3"),
        "nan": (["record(metrics={'bleu': float('nan')})"], ["metrics.bleu", "nan"], "step-3"),
        "kind": ([RECORD], ["lr", "'fast'", "0.5"], "step-2"),
        "other": ([RECORD], ["coursekit", "Python", "torch"], ""),
        "fine": ([RECORD], [], None),
    }  # fmt: skip
    jobs = []
    for name, (cells, _, _) in cases.items():
        lab.training(name, *cells)
        changes = {"profile": "smoke", **({"lr": "fast"} if name == "kind" else {})}
        jobs.append(
            find(Course(lab.root), name).job(changes, timeout=2.0 if name == "slow" else 600.0)
        )
        if name == "other":  # as on another machine
            jobs[-1] |= {"folder": None, "source": None, "key": "made by other code"}
    with Pool(WORKER, 1) as pool:
        for job, answer in pool.run(jobs):
            _, facts, cell = cases[job["name"]]
            while job["name"] == "slow" and answer["cell"] != cell and job["timeout"] < 600:
                job["timeout"] *= 5  # on a busy machine two seconds are not enough to begin
                with Pool(WORKER, 1) as more:
                    ((_, answer),) = more.run([job])
            for fact in facts:
                assert fact.format(job["timeout"]) in answer["error"], job["name"]
            assert answer.get("cell") == cell, job["name"]
            assert job["name"] == "other" or json.loads(answer["notebook"])["cells"]
            assert answer["ok"] == (job["name"] == "fine")


@pytest.mark.parametrize(
    ("arguments", "code", "facts"),
    [
        (["boat"], 1, ["boat", "plain", "toy"]),
        (["toy", "--set", "width=3"], 1, ["--set", "width", "seed"]),
        (["toy", "--set", "profile=gpu"], 1, ["sets profile", "--profile"]),
        (["toy", "--set", "checkpoints=x"], 1, ["sets checkpoints", "--resume DIR"]),
        (["toy", "--set", "processes=2"], 1, ["sets processes", "--processes"]),
        (["toy", "--set", "lr"], 1, ["--set lr", "NAME=VALUE"]),
        (["toy", "--set", "lr=1", "--set", "lr=2"], 1, ["--set lr", "twice"]),
        (["toy", "--processes", "2"], 1, ["toy", "loop", "processes"]),
        (["toy", "--set", "precision=bf16"], 1, ["toy", "loop", "precision"]),
        (["toy", "--log", "wandb"], 1, ["toy", "loop", "log"]),
        (["toy", "--all"], 1, ["--all", "name one"]),
        (["--all", "--set", "lr=1"], 1, ["--all", "--set"]),
        (["--all", "--keep"], 1, ["--all", "--keep"]),
        (["--resume", "toy"], 1, ["coursekit train NAME --resume"]),
        (["--rehearse"], 1, ["coursekit train NAME --rehearse"]),
        (["--budget", "2"], 1, ["coursekit train NAME --budget"]),
        (["--all", "--budget", "0"], 2, ["'0'", "minutes above 0"]),
        (["toy", "--rehearse", "--resume"], 1, ["--rehearse", "--resume"]),
        (["toy", "--sweep", "x.toml", "--resume", "d"], 1, ["--resume DIR", "--sweep"]),
        (["toy", "--cluster", "tcp://x"], 1, ["--cluster", "--sweep"]),
        (["plain", "--resume"], 1, ["plain", "checkpoints"]),
        (["toy", "--profile", "tpu"], 2, ["--profile tpu"]),
        (["toy", "--processes", "0"], 2, ["'0'", "from 1"]),
        (["toy", "--budget", "nan"], 2, ["'nan'", "minutes above 0"]),
    ],
)
def test_what_cannot_be_asked_for_is_one_sentence(lab, capsys, arguments, code, facts):
    lab.training("toy", RECORD)
    lab.training("plain", RECORD, parameters='profile = "cpu"\nseed = 1')
    got, out, err = ask(capsys, "train", *arguments)
    assert (got, out) == (code, "")
    assert all(fact in err for fact in facts) and err.count("\n") == 1
    assert not any(name.endswith(".ipynb") for name in lab.files())


def test_a_notebook_without_parameters_is_named(lab, course):
    course.notebook("bare", "x = 1", folder="notebooks/training")
    with pytest.raises(CourseError, match=r"bare\.ipynb .*parameters"):
        find(Course(lab.root), "bare")


def test_a_package_that_is_missing_is_named(lab, monkeypatch):
    monkeypatch.setattr(train, "find_spec", lambda name: None)
    with pytest.raises(CourseError, match=r"papermill.*coursekit\[train\]"):
        find(Course(lab.root), "toy")


def test_two_runs_of_the_same_values_do_not_mix(lab, answers):
    lab.training("toy", RECORD)
    toy = find(Course(lab.root), "toy")
    folder = train.train(toy, quiet=True).executed.parent
    with (
        train.only_one(folder, "held"),
        pytest.raises(CourseError, match="another run of toy"),
    ):
        train.train(toy, quiet=True)
    train.train(toy, quiet=True)


# -- Killed and taken up again -----------------------------------------------------------------


@POSIX
def test_killed_with_9_and_resumed(lab, capsys, family, alive, until):
    child = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', "
    child += "'import time; time.sleep(600)'])"
    lab.training("toy", child, "pause = 0.2 if seed == 1 else 0\n" + COUNTS)
    run = lab.start("train", "toy", "--set", "steps=2000")
    (lab.root / "here").touch()

    def state():
        return [*lab.root.glob("_build/training/toy/*/checkpoints/state")]

    until(lambda: state() or run.poll() is not None, "the first checkpoint")
    below = family(run.pid)
    assert len(below) >= 3  # worker, kernel, the kernel's child
    run.kill()
    run.communicate(timeout=300)
    until(lambda: not alive(below), "the end of all that it started")
    (file,) = state()
    reached = int(file.read_text())
    assert 0 < reached < 2000

    path = lab.root / "notebooks/training/toy.ipynb"
    edited = path.read_text().replace("pause = 0.2", "pause = 0.0")
    good = path.read_text()
    path.write_text(edited)
    code, _, err = ask(capsys, "train", "toy", "--set", "steps=2000", "--resume")
    assert code == 1
    assert "toy" in err and "changed" in err
    path.write_text(good)
    file.write_text("1999")  # so that little is left to do
    code, out, _ = ask(capsys, "train", "toy", "--set", "steps=2000", "--resume", "--quiet")
    assert code == 0
    assert "start  1,999" in out and "end    2,000" in out
    assert not [name for name in lab.files() if name.endswith(".tmp")]


def test_resume_takes_what_is_there_and_a_new_run_empties_it(lab, answers, capsys):
    lab.training("toy", RECORD)
    toy = find(Course(lab.root), "toy")
    trained = train.train(toy, resume=True)
    folder, seconds = trained.executed.parent, trained.result["seconds"]
    assert "no checkpoints" in capsys.readouterr().err
    state = folder / "checkpoints" / "state"
    state.write_text("1")
    begun = folder / "begun.json"
    assert json.loads(begun.read_text())["seconds"] < seconds == 1.0
    begun.write_text(json.dumps({**json.loads(begun.read_text()), "seconds": 60.0}))
    assert train.train(toy, resume=True).result["seconds"] == 61.0  # what earlier attempts took
    assert state.exists() and capsys.readouterr().err == ""
    train.train(toy, changes={"lr": 1}, quiet=True)
    assert state.exists()
    train.train(toy, quiet=True)
    assert not state.exists() and state.parent.is_dir()


@POSIX
def test_ctrl_c_lets_the_training_save_itself(lab, family, alive, until):
    lab.training(
        "toy",
        "import time\nfrom pathlib import Path\nstate = Path(checkpoints) / 'state'\n"
        "try:\n    state.write_text('begun')\n    time.sleep(600)\n"
        "finally:\n    state.write_text('saved')",
    )
    run = lab.start("train", "toy")
    until(lambda: [*lab.root.glob("_build/**/state")] or run.poll() is not None, "the training")
    below = family(run.pid)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does
    out, err = run.communicate(timeout=300)
    assert (run.returncode, out) == (130, "")
    assert "interrupted" in err.splitlines()[-1] and "--resume" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert alive(below) == []
    (state,) = lab.root.glob("_build/**/state")
    assert state.read_text() == "saved"


@POSIX
def test_a_time_limit_saves_and_a_drive_that_stays_carries_on(lab, capsys, tmp_path):
    lab.training("toy", "pause = 0.2\n" + COUNTS)
    line = ["train", "toy", "--set", "steps=2000", "--resume", str(tmp_path), "--quiet"]
    state = tmp_path / "toy"
    limit = 8
    while not [*state.glob("*/checkpoints/state")]:  # a busy machine takes long to begin
        code, out, err = ask(capsys, *line, "--budget", str(limit / 60))
        assert (code, out) == (1, "")
        assert "limit" in err and "--resume" in err and "--budget" in err
        limit *= 3
    (file,) = state.glob("*/checkpoints/state")
    reached = int(file.read_text())
    assert 0 < reached < 2000
    shutil.rmtree(lab.root / "_build")  # the machine is lost
    file.write_text("1999")
    code, out, err = ask(capsys, *line)
    assert (code, err) == (0, "")
    assert "start  1,999" in out and "end    2,000" in out


REGRESSION = """\
import torch
from torch import nn
from coursekit.training.batches import Batches
from coursekit.training.callbacks import Evaluate
from coursekit.training.loop import train

torch.manual_seed(seed)
torch.randn(int(__import__("os").environ.get("RANK", 0)))  # processes whose draws differ
model = nn.Linear(4, 1)
rows = list(torch.randn(64, 4, generator=torch.Generator().manual_seed(0)))

def loss(model, x):
    return (model(x) - x.sum(-1, keepdim=True)).square().sum(), len(x)

history = train(
    model, Batches(rows, torch.stack, size=16, seed=seed), loss,
    torch.optim.SGD(model.parameters(), lr=0.05), steps=settings.steps,
    checkpoint=f"{checkpoints}/model.pt", callbacks=[Evaluate(every=1)],
)
record(metrics={"loss": history.last["loss"], "draw": torch.rand(1).item()})"""


def test_two_processes_train_one_notebook_as_one_does(lab, capsys):
    lab.training("toy", REGRESSION)
    toy = find(Course(lab.root), "toy")
    alone = train.train(toy, profile="gpu", quiet=True, threads=1)
    assert alone.file == lab.root / "results/toy/gpu.json"
    both = train.train(
        toy, profile="gpu", quiet=True, threads=1, processes=2, changes={"micro_batches": 2}
    )
    assert both.file == alone.file  # how it was computed makes no other result
    assert both.result["computing"]["micro_batches"] == 2 and both.result["processes"] == 2
    assert both.result["metrics"]["loss"] == pytest.approx(alone.result["metrics"]["loss"], 1e-5)
    assert len(both.result["curves"]) == len(alone.result["curves"])


def test_a_process_that_fails_ends_the_others_with_its_sentence(lab):
    fails = REGRESSION.replace("model = nn", "assert RANK == 0, 'too hot'\nmodel = nn")
    lab.training("toy", "import os\nRANK = int(os.environ.get('RANK', 0))", fails)
    with pytest.raises(CourseError, match=r"process 2 of 2 .*too hot"):
        train.train(find(Course(lab.root), "toy"), quiet=True, threads=1, processes=2)


def test_a_tracker_that_is_not_installed_is_refused_before_anything_runs(lab, monkeypatch):
    lab.training("toy", REGRESSION)
    real = train.find_spec
    monkeypatch.setattr(train, "find_spec", lambda n: None if n == "trackio" else real(n))
    monkeypatch.setattr(train, "_answer", lambda *_: pytest.fail("it has begun"))
    with pytest.raises(CourseError, match="trackio"):
        train.train(find(Course(lab.root), "toy"), log="trackio", quiet=True)


def test_the_precision_is_set_like_the_other_ways_of_computing(lab, capsys):
    lab.training("toy", REGRESSION)
    code, _, err = ask(capsys, "train", "toy", "--set", "precision=fp8")
    assert code == 1 and "fp8" in err and "bf16" in err
    command = ("train", "toy", "--profile", "smoke", "--set", "precision=bf16", "--quiet")
    assert ask(capsys, *command)[0] == 0
    (file,) = (lab.root / "_build" / "training" / "toy").glob("*/toy.json")
    assert json.loads(file.read_text())["computing"]["precision"] == "bf16"


# -- All of them -------------------------------------------------------------------------------


def test_alone_it_lists_what_is_to_do_and_all_does_it(lab, capsys, monkeypatch):
    for name in ("bert", "alpha", "broken"):
        cell = "1 / 0" if name == "broken" else RECORD
        lab.training(name, cell)
    done = lab.root / "results/alpha/gpu.json"
    done.parent.mkdir(parents=True)
    done.write_text(json.dumps({"hardware": {"cpu": "x", "gpu": "T4"}}))
    code, out, err = ask(capsys, "train", "--profile", "gpu")
    assert (code, err) == (0, "")
    *rows, total = out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["bert", "broken", "alpha"]  # what is done, last
    assert ["to do" in row for row in rows] == [True, True, False] and "T4" in rows[2]
    assert total.startswith("2 of 3 ")
    assert "3 of 3 " in ask(capsys, "train")[1]  # by the profile cpu
    code, out, err = ask(capsys, "train", "--all", "--profile", "gpu", "--quiet")
    assert code == 1 and out.startswith("bert: done\n")
    assert "broken.ipynb, cell step-3" in out and "1 of 3 to do" in out
    code, out, _ = ask(capsys, "train", "--all", "--profile", "gpu", "--quiet")
    assert code == 1 and "bert: done" not in out


# -- The parts ---------------------------------------------------------------------------------


def test_parameters_are_read_and_not_run(lab):
    path = lab.training("toy", parameters='a = b = None\nc: int = 3  # x\nd = [1, "x"]\ne = f()')
    assert parameters(json.loads(path.read_text())) == {
        "a": None,
        "b": None,
        "c": 3,
        "d": [1, "x"],
        "e": None,
    }
    assert parameters({"cells": [Course_code("a = = 1")]}) == {}


def Course_code(source):
    return {"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": [source]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3e-4", 3e-4),
        ("3", 3),
        ("true", True),
        ("null", None),
        ('"3"', "3"),
        ("[1, 2]", [1, 2]),
        ("post", "post"),
        ("a=b", "a=b"),
        ("", ""),
        ("NaN", "NaN"),
    ],
)
def test_a_value_is_json_or_else_text(text, value):
    (found,) = parse_settings([f"x={text}"]).values()
    assert found == value and type(found) is type(value)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_every_character():
    file = Terminal()
    heard = Live(file)
    heard.message({"msg_type": "stream", "content": {"name": "stderr", "text": "\r1/9 \x1b[1m"}})
    heard.message({"msg_type": "status", "content": {}})
    heard.print("\r2/9\n", "stderr")
    assert file.getvalue() == "\r1/9 \x1b[1m\r2/9\n"


def test_a_log_gets_a_bar_now_and_then(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(live_output.time, "monotonic", lambda: now[0])
    file = io.StringIO()
    heard = Live(file, every=10)
    heard.print("begun\nhalf a ")
    heard.print("line\n")
    for step in range(30):
        heard.print(f"\r\x1b[1mstep {step}")
        now[0] += 1
    heard.print("\rstep 30\ndone\n")
    said = file.getvalue().splitlines()
    assert said == ["begun", "half a line", "step 0", "step 10", "step 20", "step 30", "done"]


@pytest.mark.parametrize("file", [io.StringIO(), Terminal()])
def test_what_one_leaves_open_another_does_not_go_on_with(file):
    heard = Live(file)
    heard.print("\r1/9", "stderr")
    heard.print("\r2/9", "stderr")
    heard.print("loss 3\n", "stdout")
    heard.print("\r3/9", "stderr")
    heard.cell(2, 3, "next")
    expected = ["1/9", "2/9", "loss 3", "3/9", "cell 2/3: next"]
    said = [line for line in file.getvalue().replace("\r", "\n").split("\n") if line]
    assert said == expected


def test_a_silent_one_says_nothing():
    file = io.StringIO()
    Live(file, silent=True).print("x\n")
    assert file.getvalue() == ""


def test_a_result_is_json_with_a_point_on_a_line():
    value = {"a": {}, "b": [], "c": {"x": [{"step": 1, "y": [1, 2]}]}, "d": [1, "é"], "e": None}
    text = train.as_text(value)
    assert json.loads(text) == value
    assert text.endswith("}\n") and '\n "d": [1, "é"],\n' in text
    assert train.as_text({}) == "{}\n"


@pytest.mark.parametrize("name", ["train", "results"])
def test_help_loads_no_heavy_module(name):
    program = (
        "import sys; from coursetools.cli import main\n"
        f"code = main([{name!r}, '--help'])\n"
        "heavy = {'torch', 'numpy', 'nbformat', 'papermill', 'tqdm', 'yaml', 'distributed'}\n"
        "sys.exit(code or sorted(heavy & set(sys.modules)) or 0)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert f"coursekit {name}" in run.stdout


def test_the_notebooks_of_these_tests_have_the_form(lab):
    from coursetools.notebooks.lint import lint

    assert [str(problem) for problem in lint(lab.training("toy", RECORD))] == []
    assert "choose" in CHOOSE
