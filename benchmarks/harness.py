"""How every benchmark here measures: contestants in turn within one run, ratios, peak memory.

A contest is the same work done by several contestants. One round calls each of them once, in turn,
so that whatever else the machine does hits all alike. Each round begins with another of them: who
follows whom matters too, by up to 3%. The ratio of a peer is the median over the rounds of (its
time / ours in the same round). Memory is how far the peak of a fresh process grows above its
resident size while the work is done once.

All contestants run with an allocator that keeps freed memory (`KEEP_MEMORY`). By default glibc
returns large blocks to the system and faults them in again page by page at the next call; in a
small step that costs as much as the arithmetic, and how much depends on what else the process has
allocated, so two starts of one benchmark would differ by a third.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

Call = Callable[[], object]
KEEP_MEMORY = {  # of glibc: 1 GiB, and 32 MiB, the most that it accepts
    "MALLOC_TRIM_THRESHOLD_": str(2**30),
    "MALLOC_MMAP_THRESHOLD_": str(2**25),
}
RESULTS = Path(__file__).resolve().parents[1] / "results" / "benchmarks.json"


class Missing(Exception):
    """A peer's package is not installed; the contest goes on without it."""


def arguments(script: str, **extra: dict) -> argparse.Namespace:
    """Read the options that all benchmarks share; `extra` adds options of one of them."""
    doc = sys.modules["__main__"].__doc__ or script
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--only", default="", help="contests whose name contains this")
    parser.add_argument("--smoke", action="store_true", help="each once and small; nothing written")
    parser.add_argument("--memory-of", nargs=2, help=argparse.SUPPRESS)
    for name, options in extra.items():
        parser.add_argument(f"--{name}", **options)
    return parser.parse_args()


def run(
    contests: dict[str, dict[str, Callable[[], Call]]],
    *,
    script: str,
    what: str,
    agree: float | None = None,
) -> None:
    """Run every contest, print its table, and write it into `results/benchmarks.json`.

    `contests[name][contestant]()` prepares the work and returns a call that does it once; "ours"
    comes first. With `agree` all must return the same numbers, up to that.
    """
    args = arguments(script)
    if not args.smoke and not KEEP_MEMORY.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | KEEP_MEMORY)
    import torch

    torch.set_num_threads(args.threads)
    if args.memory_of:
        contest, contestant = args.memory_of
        return print(growth(contests[contest][contestant]()))
    rows = []
    for contest, contestants in contests.items():
        if args.only in contest:
            rows += compete(contest, contestants, args, agree)
    if not args.smoke and not args.only:
        write(script, what, rows, args)


def compete(
    contest: str,
    contestants: dict[str, Callable[[], Call]],
    args: argparse.Namespace,
    agree: float | None,
) -> list[dict]:
    """Time one contest and return a row for each contestant."""
    calls = {}
    for name, prepare in contestants.items():
        try:
            calls[name] = prepare()
        except Missing as missing:
            print(f"{contest:24} {name:24} left out: {missing}", flush=True)
    if "ours" not in calls:
        return []
    results, times = {}, {}
    for name, call in calls.items():  # also warms each of them up
        start = time.perf_counter()
        results[name] = call()
        times[name] = [time.perf_counter() - start] if args.smoke else []
    if agree is not None:
        for name, result in results.items():
            error = (result - results["ours"]).abs().max().item()
            assert error < agree, f"{contest}: {name} computes something else, off by {error}"
    order = list(calls)
    for _ in range(0 if args.smoke else args.rounds):
        for name in order:
            start = time.perf_counter()
            calls[name]()
            times[name].append(time.perf_counter() - start)
        order.append(order.pop(0))
    rows = []
    for name, seconds in times.items():
        ratios = [theirs / mine for theirs, mine in zip(seconds, times["ours"], strict=True)]
        measure = platform.system() == "Linux" and not args.smoke
        row = {
            "contest": contest,
            "name": name,
            "milliseconds": round(1e3 * statistics.median(seconds), 1),
            "times_ours": round(statistics.median(ratios), 2),
            "peak_MB": peak_memory(contest, name, args.threads) if measure else None,
        }
        rows.append(row)
        print(f"{contest:24} {name:24} {row['milliseconds']:9.1f} ms", end=" ")
        print(f"{row['times_ours']:6.2f} × ours {row['peak_MB']} MB", flush=True)
    return rows


def peak_memory(contest: str, name: str, threads: int) -> float:
    """Megabytes by which the peak of a fresh process grows while it does the work once."""
    script = [sys.executable, sys.modules["__main__"].__file__, "--threads", str(threads)]
    done = subprocess.run(
        [*script, "--memory-of", contest, name], capture_output=True, text=True, check=True
    )
    return round(int(done.stdout.strip().splitlines()[-1]) / 1e6, 1)


def growth(call: Call) -> int:
    """Bytes by which this process's peak grows while `call` runs once."""
    before = resident("VmRSS")
    call()
    return max(resident("VmHWM") - before, 0)


def resident(field: str) -> int:
    """Bytes of this process now (VmRSS) or at its peak (VmHWM).

    Linux keeps both for the program itself; getrusage would count what the parent had in memory
    when it started us.
    """
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(field + ":"))
    return 1024 * int(line.split()[1])


def write(script: str, what: str, rows: list[dict], args: argparse.Namespace) -> None:
    """Write the rows, with what they were measured on."""
    packages = ("torch", "transformers", "tokenizers", "x-transformers", "vit-pytorch", "tiktoken",
                "nbgrader")  # fmt: skip
    record = {
        "what": what,
        "hardware": f"{platform.machine()}, {args.threads} threads",
        "versions": {name: version for name in packages if (version := version_of(name))},
        "rounds": args.rounds,
        "allocator": KEEP_MEMORY,
        "rows": rows,
    }
    scripts = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    scripts[script] = record
    RESULTS.parent.mkdir(exist_ok=True)
    unfinished = RESULTS.with_suffix(".tmp")
    text = json.dumps(scripts, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(RESULTS)


def version_of(package: str) -> str | None:
    """Return the version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
