"""How long a training run will take on this machine, before it is started.

A process of its own makes a brief rehearsal (`rehearsal.py`) on the processor, counts the floating-
point operations, and divides by what this machine's GPU is taken to sustain (`forecast.py`). So the
process that asks loads no torch, and the GPU stays free.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursetools.experiments.train import Training, seconds_spent
from coursetools.jobs.pool import Pool

WORKER = "coursetools.experiments.estimate"


@dataclass(frozen=True)
class Estimate:
    """Seconds of a whole run, how they were found, and how many earlier attempts have taken."""

    seconds: float
    basis: str
    before: float = 0.0

    def needed(self, pace: float = 1.0) -> float:
        """Return the seconds that are still to come on a machine of this pace."""
        return max(0.0, pace * self.seconds - self.before)


def estimate(
    training: Training, profile: str, minutes: float, checkpoints: Path | None = None
) -> Estimate:
    """Estimate a run; one that cannot be rehearsed takes the `minutes` that its profile states."""
    before = seconds_spent(training, profile, checkpoints)
    job = {"root": str(training.course.root), "name": training.name, "profile": profile}
    with Pool(WORKER, 1) as pool:
        answer = next(pool.run([job]))[1]
    if not answer["ok"]:
        return Estimate(60 * minutes, "by its profile", before)
    basis = f"{answer['flops']:.1e} FLOPs on {answer['device']}"
    return Estimate(answer["seconds"], basis, before)


def gpu_name() -> str:
    """Return the name of the first GPU, without torch; nothing if there is none."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    command = [tool, "--query-gpu=name", "--format=csv,noheader"]
    names = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return names.partition("\n")[0].strip()


def work(_: None, jobs: Iterator[dict[str, Any]]) -> Iterator[Any]:
    """Rehearse, with every GPU hidden."""
    gpu = gpu_name()
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    yield "ready"
    for job in jobs:
        yield _rehearsed(job, gpu)


def _rehearsed(job: dict[str, Any], gpu: str) -> dict[str, Any]:
    from coursekit._base.errors import CourseError
    from coursetools.course import Course
    from coursetools.experiments.forecast import device_of
    from coursetools.experiments.rehearsal import processor, rehearse
    from coursetools.experiments.train import find

    try:
        training = find(Course(Path(job["root"])), job["name"])
        forecast = rehearse(training, values={"profile": job["profile"]}, brief=True)
    except CourseError as error:
        return {"ok": False, "error": str(error)}
    device = device_of(gpu) if gpu else processor()
    seconds, flops = forecast.seconds(device), sum(run.steps * run.flops for run in forecast.runs)
    place = device.name if gpu else "this processor"
    return {"ok": True, "seconds": seconds, "flops": flops, "device": place}
