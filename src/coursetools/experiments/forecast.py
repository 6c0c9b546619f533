"""What a training will take on a GPU, from what two of its steps did on this processor.

A step is a list of operations, and each of them is bound by one of three things: the arithmetic,
the memory that it reads and writes, or the time that passes until it has been launched. Small
models are bound by the third, and a fast GPU is hardly faster with them than a slow one. The
rehearsal (`rehearsal.py`) counts; this file multiplies.

`LAUNCH` and `STEP` are those of two runs on the machine of an H100 that lent one processor core
(`results/cards/h100`): 24 ms for a step of 250 operations, 42 ms for one of 671. They are fitted to
these two runs, and no other GPU has confirmed them. `AROUND` and `START` bound what committed
runs needed besides their steps. A test compares all four with the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

SHARE = 0.5  # of its peak, in arithmetic and in memory, that a GPU sustains in such a training
LAUNCH = 44e-6  # seconds until an operation has gone from Python to the GPU
STEP = 13e-3  # seconds of Python for each step: batches, schedule, callbacks
AROUND, START = 1.35, 60.0  # a whole run takes so many times its steps, and these seconds more
OWN = 1e9  # bytes of a GPU that CUDA and its libraries keep for themselves
BITS = {"no": "in 32 bits", "fp16": "in 16 bits (fp16)", "bf16": "in 16 bits (bf16; T4: fp16)"}
WITHIN = 2  # by what factor the hours may be wrong


@dataclass(frozen=True)
class Device:
    """A GPU: bytes, operations a second with 32 bits and (in matrix units) 16, bytes a second.

    Printed by the maker, without the sparsity that doubles some of these figures.
    """

    name: str
    memory: float
    flops: float
    flops_16: float
    bandwidth: float
    source: str
    launch: float = LAUNCH
    step: float = STEP


DEVICES = (
    Device("T4", 16e9, 8.1e12, 65e12, 300e9, "NVIDIA T4 Tensor Core GPU, data sheet, 2019"),
    Device("L4", 24e9, 30.3e12, 121e12, 300e9, "NVIDIA L4 Tensor Core GPU, data sheet, 2023"),
    Device("RTX 4090", 24e9, 82.6e12, 165e12, 1008e9, "NVIDIA Ada architecture white paper, 2022"),
    Device("A100", 40e9, 19.5e12, 312e12, 1555e9, "NVIDIA A100 40GB, data sheet, 2021"),
    Device("H100", 80e9, 67e12, 989e12, 3350e9, "NVIDIA H100 SXM, data sheet, 2022"),
    Device("H200", 141e9, 67e12, 989e12, 4800e9, "NVIDIA H200 SXM, data sheet, 2023"),
)


class Op(NamedTuple):
    """One operation of a step: multiplications and additions, bytes read and written."""

    flops: float
    bytes: float


class Step(NamedTuple):
    """What was counted in a step of `rows` rows; `kept` are the bytes of its activations."""

    rows: int
    ops: list[Op]
    kept: float


def grown(small: Step, large: Step, rows: float) -> Step:
    """Return the step with `rows` rows, from one with a few and one with twice as many.

    An operation either grows with the rows or, as the optimiser's, it does not. Where chance made
    the two steps of unequal operations, all of the larger step is taken to grow.
    """
    ratio = rows / large.rows
    if len(small.ops) != len(large.ops) or small.rows == large.rows:
        ops = [Op(op.flops * ratio, op.bytes * ratio) for op in large.ops]
        return Step(round(rows), ops, large.kept * ratio)
    middle = (1 + large.rows / small.rows) / 2

    def value(before: float, after: float) -> float:
        return after * ratio if after > middle * before else after

    ops = [
        Op(value(a.flops, b.flops), value(a.bytes, b.bytes)) for a, b in zip(small.ops, large.ops)
    ]
    slope = (large.kept - small.kept) / (large.rows - small.rows)
    return Step(round(rows), ops, max(0.0, large.kept + slope * (rows - large.rows)))


@dataclass(frozen=True)
class Run:
    """One training of a notebook: `steps` steps of `typical`, the largest batch being `widest`.

    `weights`, `gradients` and `state` (the optimiser's) are bytes.
    """

    name: str
    steps: float
    typical: Step
    widest: Step
    weights: int
    gradients: int
    state: int
    precision: str = "no"

    @property
    def fixed(self) -> int:
        """Bytes that do not grow with the batch."""
        return self.weights + self.gradients + self.state

    @property
    def memory(self) -> float:
        """Bytes at the largest batch."""
        return self.fixed + self.widest.kept

    @property
    def flops(self) -> float:
        """Multiplications and additions of one step."""
        return sum(op.flops for op in self.typical.ops)

    def seconds(self, device: Device) -> float:
        """Return how long all steps take on `device`."""
        peak = device.flops if self.precision == "no" else device.flops_16
        speed, width = SHARE * peak, SHARE * device.bandwidth
        ops = self.typical.ops
        step = sum(max(op.flops / speed, op.bytes / width, device.launch) for op in ops)
        return self.steps * (device.step + step)


@dataclass(frozen=True)
class Forecast:
    """All trainings of a notebook; `notes` are sentences on what was not as it will be."""

    name: str
    profile: str
    minutes: float
    runs: Sequence[Run]
    notes: Sequence[str] = ()
    devices: Sequence[Device] = DEVICES

    @property
    def largest(self) -> Run:
        """The training that needs the most memory."""
        return max(self.runs, key=lambda run: run.memory)

    def hours(self, device: Device) -> float:
        """Return the hours of all trainings, one after the other."""
        return sum(run.seconds(device) for run in self.runs) / 3600

    def seconds(self, device: Device) -> float:
        """Return the seconds of the whole notebook: data, all steps, evaluation."""
        return START + AROUND * 3600 * self.hours(device)

    def verdict(self, device: Device) -> str:
        """Return whether the largest training fits, and the batch to try if it does not."""
        run, room = self.largest, device.memory - OWN
        if run.memory <= room:
            return "fits"
        rows = int((room - run.fixed) / (run.widest.kept / run.widest.rows))
        if rows < 1:
            return "does not fit: the weights alone are too many"
        return f"does not fit: try batch {rows}, or --set micro_batches=2 or more"

    def __str__(self) -> str:
        run = self.largest
        steps, flops = sum(r.steps for r in self.runs), sum(r.steps * r.flops for r in self.runs)
        trainings = f"{len(self.runs)} trainings" if len(self.runs) > 1 else "1 training"
        lines = [
            f"{self.name} {self.profile}: {trainings}, {steps:,.0f} steps, {flops:.2e} FLOPs, "
            f"{BITS[run.precision]}",
            f"largest: {run.name}, {run.weights / 4:,.0f} weights, batch {run.widest.rows:,}, "
            f"{len(run.typical.ops):,} operations and {run.flops:.2e} FLOPs a step",
            f"  memory: weights {_size(run.weights)}, gradients {_size(run.gradients)}, "
            f"optimiser {_size(run.state)}, activations {_size(run.widest.kept)}",
        ]
        for device in self.devices:
            lines.append(
                f"  {device.name:8} {self.hours(device):8.2f} h, "
                f"{_size(run.memory + OWN)} of {_size(device.memory)}: {self.verdict(device)}"
            )
        lines += self.notes
        lines.append(
            f"the profile says {self.minutes:g} minutes. The hours are those of the steps, without "
            "preparing data and judging; they take a device to sustain "
            f"{SHARE:.0%} of its peak, with {1e6 * self.devices[0].launch:.0f} µs for each "
            f"operation and {1e3 * self.devices[0].step:.0f} ms for each step, and may be wrong by "
            f"a factor of {WITHIN}; memory, by a quarter."
        )
        return "\n".join(lines)


def device_of(gpu: str) -> Device:
    """Return the GPU of `DEVICES` that `gpu` names; an unknown one counts as the slowest."""
    known = [device for device in DEVICES if device.name in gpu]
    return known[-1] if known else DEVICES[0]


def _size(count: float) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
