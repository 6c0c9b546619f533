"""A sweep runs what it plans, once: whatever fails, dies or is killed in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from types import SimpleNamespace

import psutil
import pytest

from coursekit._base.errors import CourseError
from coursekit._base.progress import Progress
from coursetools import cli
from coursetools.course import Course
from coursetools.experiments import sweep, train_on_cluster
from coursetools.experiments.sweep_plan import plan
from coursetools.experiments.train import WORKER, find
from coursetools.jobs.cluster import connect
from coursetools.jobs.pool import Pool

from .conftest import RECORD

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
KNOWN = {"profile": "cpu", "seed": 1, "steps": None, "lr": None, "kind": None, "checkpoints": None}


def file(lab, text, name="heads"):
    path = lab.root / f"{name}.toml"
    path.write_text(text)
    return path


# -- What is planned ---------------------------------------------------------------------------


def test_a_plan_is_the_grid_then_the_single_runs_each_with_each_seed(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(
        "seeds = [1, 2]\n[fixed]\nsteps = 9\n[grid]\nlr = [0.1, 0.2]\nkind = ['a', 'b c']\n"
        "[[run]]\nname = 'A: no steps / at all'\nsteps = 0\n"
    )
    runs = plan(path, KNOWN)
    assert [run.stem for run in runs[::2]] == [
        "lr=0.1-kind=a-seed1",
        "lr=0.1-kind=b-c-seed1",
        "lr=0.2-kind=a-seed1",
        "lr=0.2-kind=b-c-seed1",
        "A-no-steps-at-all-seed1",
    ]
    assert [run.seed for run in runs] == [1, 2] * 5
    assert runs[2].name == "lr=0.1 kind=b c"
    assert runs[3].values == {"steps": 9, "lr": 0.1, "kind": "b c", "seed": 2}
    assert runs[9].values == {"steps": 0, "seed": 2}
    path.write_text("[[run]]\nname = 'seven'\nseed = 7\n")
    (run,) = plan(path, KNOWN)
    assert (run.stem, run.seed, run.values) == ("seven", None, {"seed": 7})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no runs; give it a table"),
        ("[grid]\nlr = [1]\nlr = [2]", "is not TOML"),
        ("grid = 3", r"grid of one\.toml should be a table, \[grid\]"),
        ("[grid]\nlr = 0.1", r"lr in \[grid\] of one\.toml should be a list of values"),
        ("[grid]\nlr = []", "should be a list of values"),
        (
            "[grid]\nwidth = [1]",
            "sets width, which is not a parameter; choose from seed",
        ),
        ("[grid]\nprofile = ['gpu']", "sets profile; that is what --profile is for"),
        ("[fixed]\nwidth = 1\n[grid]\nlr = [1]", r"\[fixed\] of one\.toml sets width"),
        ("[run]\nname = 'a'", r"should be tables, \[\[run\]\]"),
        ("[[run]]\nlr = 1", r"a \[\[run\]\] of one\.toml needs a name"),
        ("[[run]]\nname = 'a'\nwidth = 1", "the run 'a' of one.toml sets width"),
        ("[[run]]\nname = 'a b'\n[[run]]\nname = 'A-b'", "two runs of one.toml are called 'A-b'"),
        ("[grid]\nlr = [1, 1]", "two runs of one.toml are called 'lr=1'"),
        ("seeds = 3\n[grid]\nlr = [1]", "should be a list of whole numbers, found 3"),
        ("seeds = []\n[grid]\nlr = [1]", "should be a list of whole numbers"),
        ("seeds = [true]\n[grid]\nlr = [1]", "should be a list of whole numbers"),
        ("seeds = [1]\n[grid]\nseed = [1]", "sets seed, and so does seeds"),
        ("grids = 1", "one.toml has grids; a sweep has seeds, fixed, grid, run"),
        ("[grid]\nlr = [nan]", "holds what JSON does not"),
        ("[grid]\nlr = [2020-01-01]", "holds what JSON does not"),
    ],
)
def test_a_plan_that_makes_no_sense_is_one_sentence(tmp_path, text, said):
    path = tmp_path / "one.toml"
    path.write_text(text)
    with pytest.raises(CourseError, match=said) as caught:
        plan(path, KNOWN)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(CourseError, match="cannot be read: No such file"):
        plan(tmp_path / "none.toml", KNOWN)


# -- On this machine ---------------------------------------------------------------------------


@POSIX
def test_two_workers_a_failure_a_dead_kernel_and_what_is_done(lab, capsys, monkeypatch):
    died = "import os\nif settings.lr == 9:\n    os.kill(os.getpid(), 9)\n"
    path = lab.training("toy", died + "threads = os.environ['OMP_NUM_THREADS']\n" + RECORD)
    monkeypatch.setattr(sweep, "cores", lambda: 6)
    text = "seeds = [1, 2]\n[fixed]\nsteps = 3\n[grid]\nlr = [0.5]\n[[run]]\nname = 'The bad'\n"
    toml = file(lab, text + "lr = 9\n")
    line = ["train", "toy", "--sweep", str(toml)]
    assert cli.main(line) == 1
    said = capsys.readouterr()
    out = said.out.splitlines()
    assert out[0].split() == ["run", "seed", "seconds", "metrics"]
    assert [row.split()[:2] for row in out[1:3]] == [["lr=0.5", "1"], ["lr=0.5", "2"]]
    assert out[3] == "result: results/toy/cpu-heads.json"
    assert out[4].startswith("The bad, seed 1: notebooks/training/toy.ipynb, cell step-3: the ker")
    assert said.err.splitlines()[-1] == (
        "coursekit: error: 2 of 4 runs failed; the same command tries again"
    )
    assert sum(" 4/4: " in row for row in said.err.splitlines()) == 1

    folder = "_build/training/toy/sweeps/cpu-heads"
    assert lab.files() == {
        "results/toy/cpu-heads.json",
        *(f"{folder}/lr=0.5-seed{seed}.json" for seed in (1, 2)),
        *(f"{folder}/The-bad-seed{seed}.failed.ipynb" for seed in (1, 2)),
    }
    result = json.loads((lab.root / "results/toy/cpu-heads.json").read_text())
    assert [{k: v for k, v in run.items() if k != "seconds"} for run in result["runs"]] == [
        {
            "name": "lr=0.5",
            "seed": seed,
            "set": {"steps": 3, "lr": 0.5, "seed": seed},
            "settings": {"minutes": 1, "steps": 3, "lr": 0.5},
            "metrics": {"loss": 0.5 + seed, "steps": 3},
        }
        for seed in (1, 2)
    ]
    assert result["hardware"]["cores"] == 3  # six cores for two workers
    assert [row["name"] for row in result["failed"]] == ["The bad", "The bad"]
    assert (result["name"], result["profile"], result["sweep"]) == ("toy", "cpu", "heads")
    assert result["key"] == find(Course(lab.root), "toy").key

    # From here on no kernel is needed: only what is not done is asked for.
    asked = []

    def run(self, jobs):
        asked.append(sorted(job["run"] for job in jobs))
        yield from ((job, {"ok": False, "error": "no"}) for job in jobs)

    monkeypatch.setattr(Pool, "run", run)
    assert cli.main([*line, "--quiet"]) == 1
    assert asked.pop() == ["The-bad-seed1", "The-bad-seed2"]
    toml.write_text(toml.read_text().replace("steps = 3", "steps = 4"))
    assert cli.main([*line, "--quiet"]) == 1
    assert len(asked.pop()) == 4  # other values
    toml.write_text(text)
    toml.write_text(text.split("[[run]]")[0])
    assert cli.main([*line, "--resume"]) == 0
    assert asked.pop() == []
    assert "2 of 2 runs are done already" not in capsys.readouterr().err  # a bar of nothing
    path.write_text(path.read_text().replace("threads =", "threads_ ="))
    assert cli.main([*line, "--quiet"]) == 1
    assert len(asked.pop()) == 2  # another key


def test_a_smoke_sweep_is_no_result_of_the_book(lab, monkeypatch, capsys):
    lab.training("toy", RECORD)
    said = {
        "metrics": {"x": 1},
        "curves": {},
        "tables": {},
        "data": {},
        "versions": {},
        "computing": {},
    }
    said["hardware"] = {"cpu": "x", "cores": 1, "memory_GB": 1.0, "gpu": None}
    answer = {"ok": True, "seconds": 1.0, "said": said, "settings": {}, "notebook": "{}"}
    monkeypatch.setattr(Pool, "run", lambda self, jobs: ((job, answer) for job in jobs))
    toml = file(lab, "[grid]\nlr = [1]\n")
    line = ["train", "toy", "--sweep", str(toml), "--profile", "smoke"]
    assert cli.main(line) == 0
    assert not (lab.root / "results").exists()
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "result: _build/training/toy/sweeps/smoke-heads.json"
    assert cli.main([*line, "--set", "lr=2"]) == 1
    assert "--set does not go with --sweep" in capsys.readouterr().err
    broken = lab.root / "_build/training/toy/sweeps/smoke-heads/lr=1.json"
    broken.write_text('{"key": ')  # half a file is done again
    assert cli.main(line) == 0
    assert json.loads(broken.read_text())["metrics"] == {"x": 1}


@POSIX
def test_killed_with_9_a_sweep_loses_the_unfinished_run_only(lab, family, alive, until, capsys):
    lab.training(
        "toy",
        "import time, pathlib\n"
        "time.sleep(600 * (settings.lr == 2 and pathlib.Path('slow').exists()))",
        RECORD,
    )
    (lab.root / "notebooks/training/slow").touch()
    toml = file(lab, "[grid]\nlr = [1, 2]\n")
    run = lab.start("train", "toy", "--sweep", str(toml))
    first = lab.root / "_build/training/toy/sweeps/cpu-heads/lr=1.json"
    until(lambda: first.exists() or run.poll() is not None, "the first run")
    below = family(run.pid)
    assert below
    run.kill()
    run.communicate(timeout=300)
    until(lambda: not alive(below), "the end of all that it started")
    before = first.stat().st_mtime_ns
    (lab.root / "notebooks/training/slow").unlink()
    assert cli.main(["train", "toy", "--sweep", str(toml)]) == 0
    assert "1 of 2 runs are done already" in capsys.readouterr().err
    assert first.stat().st_mtime_ns == before
    result = json.loads((lab.root / "results/toy/cpu-heads.json").read_text())
    assert [row["name"] for row in result["runs"]] == ["lr=1", "lr=2"]
    assert result["failed"] == []


# -- On a cluster ------------------------------------------------------------------------------


def test_a_worker_of_the_cluster_killed_in_mid_run(lab, dask, monkeypatch, processes, until):
    address, workers = dask
    lab.training("toy", "import time\ntime.sleep(0.5)\n" + RECORD)
    toml = file(lab, "[grid]\nlr = [1, 2, 3, 4]\n")
    done = []

    class Killer(Progress):
        def advance(self, text):
            done.append(text)
            if len(done) == 1:
                busy = [w for w in workers if processes.below(w.pid)]
                busy[0].send_signal(signal.SIGKILL)
                until(lambda: busy[0].poll() is not None, "the end of the worker")

    @contextmanager
    def track(*_):
        yield Killer()

    monkeypatch.setattr(sweep, "track", track)
    toy = find(Course(lab.root), "toy")
    swept = sweep.sweep(toy, toml, cluster=address, quiet=True)
    assert sum(worker.poll() is not None for worker in workers) == 1
    assert [run["metrics"]["loss"] for run in swept.runs] == [2, 3, 4, 5]
    assert swept.failed == [] and len(done) == 4
    assert (lab.root / "results/toy/cpu-heads.json").is_file()

    # What nobody waits for ends on the worker that is left, with its kernel.
    long = lab.training("long", "import time\ntime.sleep(600)\n" + RECORD)
    job = {**find(Course(lab.root), "long").job({}), "folder": None, "source": None}
    client = connect(address, 15)
    (left,) = (worker for worker in workers if worker.poll() is None)
    future = client.submit(train_on_cluster.execute, job, WORKER, pure=False)

    def kernels():
        found = []
        for process in processes.below(left.pid):
            with suppress(psutil.NoSuchProcess):
                found += [process] * ("ipykernel_launcher" in process.cmdline())
        return found

    until(kernels, "the kernel")
    future.cancel(force=True)
    until(lambda: not processes.below(left.pid), "its end")
    client.close()
    assert long.is_file()


def test_a_worker_with_a_card_trains_one_at_a_time(lab, dask, monkeypatch, tmp_path):
    """Two workers of four threads each, which say that they have one GPU."""
    address, _ = dask
    lab.training(
        "toy",
        "import os, time\nbegan = time.time()\ntime.sleep(0.5)\n"
        "record(metrics={'card': int(os.environ['CUDA_VISIBLE_DEVICES']), 'began': began,"
        " 'ended': time.time(), 'lr': settings.lr})",
    )
    toml = file(lab, "[grid]\nlr = [1, 2, 3, 4]\n")
    local = ["--host", "127.0.0.1", "--no-dashboard", "--no-nanny", "--nthreads", "4"]
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", address, *local,
             "--resources", "GPU=1", "--local-directory", str(tmp_path / str(card))],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": str(card)}, stderr=subprocess.DEVNULL,
        )
        for card in range(2)
    ]  # fmt: skip
    client = connect(address, 15)
    try:
        before = len(client.scheduler_info(n_workers=-1)["workers"])
        client.wait_for_workers(max(before, 2 + 1), timeout=300)
        swept = sweep.sweep(find(Course(lab.root), "toy"), toml, cluster=address, quiet=True)
    finally:
        client.close()
        for worker in workers:
            worker.kill()
            worker.wait()
    assert swept.failed == [] and len(swept.runs) == 4
    cards = {}
    for run in swept.runs:
        metrics = run["metrics"]
        cards.setdefault(metrics["card"], []).append((metrics["began"], metrics["ended"]))
    assert set(cards) <= {0, 1}
    for spans in cards.values():
        spans.sort()
        assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))


def test_what_kills_its_workers_is_given_up_after_three_tries_more(lab, dask, monkeypatch):
    import cloudpickle
    from distributed import KilledWorker

    address, _ = dask
    place = lab.root / "tries"

    def kill(job, program):
        with open(place, "a") as tries:
            tries.write("x")
        raise KilledWorker("task", SimpleNamespace(address="tcp://x"), job["allowed"])

    monkeypatch.setattr(train_on_cluster, "execute", kill)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        for allowed, expected in ((0, 4), (1, 2), (9, 1)):
            jobs = [{"name": "toy", "allowed": allowed}]
            with closing(train_on_cluster.on_cluster(jobs, address, WORKER)) as answers:
                ((job, answer),) = answers
            assert job is jobs[0] and not answer["ok"]
            assert answer["error"].startswith("its workers were lost (KilledWorker: ")
            assert len(place.read_text()) == expected
            place.unlink()
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def test_nobody_there(lab, monkeypatch):
    pytest.importorskip("distributed", reason="a cluster needs Dask (distributed)")
    monkeypatch.setattr("coursetools.jobs.cluster.CONNECT_SECONDS", 0.5)
    lab.training("toy", RECORD)
    toml = file(lab, "[grid]\nlr = [1]\n")
    with pytest.raises(CourseError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        sweep.sweep(find(Course(lab.root), "toy"), toml, cluster="tcp://127.0.0.1:9", quiet=True)
