"""Run all that a sweep plans, several at a time, and skip what is done.

Each finished run is written at once to `_build/training/NAME/sweeps/PROFILE-SWEEP/`, and what is
there with the same key and values is not run again. At the end `results/NAME/PROFILE-SWEEP.json`
has a row for each run. The runs themselves write nothing; only this process does. Their models are
kept, beside the runs, if that is asked for.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursekit._base.progress import track
from coursekit.training.hardware import cores
from coursetools.course import write_whole
from coursetools.experiments.results import as_text, write_result
from coursetools.experiments.sweep_plan import Planned, plan
from coursetools.experiments.train import GRACE, WORKER, Training, failure, only_one
from coursetools.jobs.pool import Pool

WORKERS = 2
Answers = Generator[tuple[dict[str, Any], dict[str, Any]], None, None]


@dataclass(frozen=True)
class Swept:
    """What came of a sweep: the rows of its result, and those of the runs that failed."""

    file: Path
    runs: list[dict[str, Any]]
    failed: list[dict[str, Any]]


def sweep(
    training: Training,
    path: Path,
    *,
    profile: str | None = None,
    processes: int | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    threads: int | None = None,
    timeout: float | None = None,
    keep: bool = False,
    quiet: bool = False,
) -> Swept:
    """Run what the sweep in `path` plans and is not done, here or on the Dask `cluster`."""
    runs = plan(path, training.known)
    values = {r.stem: training.values(profile, r.values, processes, path.name) for r in runs}
    profile = values[runs[0].stem]["profile"]
    folder = training.folder / "sweeps" / f"{profile}-{path.stem}"
    with only_one(folder, f"another run of the sweep {path.name} is running"):
        done = _done(folder, training, values, keep)
        waiting = [run for run in runs if run.stem not in done]
        count = max(1, min(len(waiting), workers or WORKERS))
        share = threads or (None if cluster else max(1, cores() // count))
        jobs = [
            {
                **training.job(values[run.stem], threads=share, timeout=timeout, keep=keep),
                "run": run.stem,
            }
            for run in waiting
        ]
        failed: dict[str, str] = {}
        with track(len(waiting), f"{training.name} {path.stem}", quiet) as progress:
            if done:
                progress.note(f"{len(done)} of {len(runs)} runs are done already")
            began = time.monotonic()
            with closing(_answers(jobs, count, cluster)) as answers:
                for number, (job, answer) in enumerate(answers, 1):
                    stem, kept = job["run"], folder / f"{job['run']}.failed.ipynb"
                    if answer["ok"] and keep and "weights" not in answer:
                        answer |= {"ok": False, "cell": "", "error": "records no model to keep"}
                    if answer["ok"]:
                        done[stem] = training.result(values[stem], answer)
                        write_result(folder / f"{stem}.json", done[stem], answer.get("weights"))
                        kept.unlink(missing_ok=True)
                    else:
                        failed[stem] = failure(training, answer, kept)
                        if answer.get("notebook"):
                            write_whole(kept, answer["notebook"])
                    each = (time.monotonic() - began) / number
                    progress.advance(_line(stem, answer, each * (len(jobs) - number)))
        swept = Swept(
            _place(training, folder, profile),
            [_row(run, done[run.stem]) for run in runs if run.stem in done],
            [{**_named(run), "error": failed[run.stem]} for run in runs if run.stem in failed],
        )
        if swept.runs:
            first = done[next(run.stem for run in runs if run.stem in done)]
            write_whole(swept.file, as_text(_summary(path.stem, swept, first)))
    return swept


def _done(
    folder: Path, training: Training, values: Mapping[str, Mapping[str, Any]], keep: bool
) -> dict[str, dict[str, Any]]:
    """Return the results that need not be made again, by the stem of their run."""
    done = {}
    for stem, wanted in values.items():
        try:
            result = json.loads((folder / f"{stem}.json").read_text(encoding="utf-8"))
            set_then = {**result["set"], "profile": result["profile"]}
            same = {"processes": 1, **wanted} == {**set_then, "processes": result["processes"]}
            if result["key"] == training.key and same and (not keep or "model" in result):
                done[stem] = result
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return done


def _answers(jobs: list[dict[str, Any]], count: int, cluster: str | None) -> Answers:
    if cluster and jobs:
        from coursetools.experiments.train_on_cluster import on_cluster

        yield from on_cluster(jobs, cluster, WORKER)
        return
    with Pool(WORKER, count, grace=GRACE) as pool:
        yield from pool.run(jobs)


def _line(stem: str, answer: Mapping[str, Any], left: float) -> str:
    state = f"in {answer['seconds']:,.0f} s" if answer["ok"] else f"failed, {answer['error']}"
    if left <= 0:
        return f"{stem} {state}"
    return (
        f"{stem} {state}, " + (f"{left / 60:.0f} min" if left > 90 else f"{left:.0f} s") + " left"
    )


def _place(training: Training, folder: Path, profile: str) -> Path:
    """Return where the result is; a smoke run shows only that the code runs."""
    if profile == "smoke":
        return folder.with_name(f"{folder.name}.json")
    return training.course / "results" / training.name / f"{folder.name}.json"


def _named(run: Planned) -> dict[str, Any]:
    return {"name": run.name, "seed": run.seed, "set": run.values}


def _row(run: Planned, result: Mapping[str, Any]) -> dict[str, Any]:
    more = {part: result[part] for part in ("seed", "settings", "metrics", "seconds")}
    return {**_named(run), **more}


def _summary(stem: str, swept: Swept, first: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": first["name"],
        "profile": first["profile"],
        "sweep": stem,
        "runs": swept.runs,
        "failed": swept.failed,
        **{part: first[part] for part in ("data", "finished", "hardware", "versions", "key")},
    }
