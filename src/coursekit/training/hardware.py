"""On what a result was made: the machine, without its name, and the versions that take part."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("coursekit", "torch", "accelerate", "numpy", "sacrebleu", "scipy")


def hardware() -> dict[str, Any]:
    """Return processor, cores that are used, memory in GB, and the GPU, None if there is none.

    torch is asked only where somebody has loaded it: what trains without torch needs no GPU.
    """
    torch = sys.modules.get("torch")
    return {
        "cpu": processor(),
        "cores": torch.get_num_threads() if torch else _threads(),
        "memory_GB": _memory(),
        "gpu": _gpu(torch) if torch else None,
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of those packages that are installed."""
    versions_by_name = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions_by_name[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions_by_name


def cores() -> int:
    """Return how many physical cores this process may use."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        import psutil
    except ModuleNotFoundError:
        return allowed or 1
    return max(1, min(allowed or 1, psutil.cpu_count(logical=False) or allowed or 1))


def processor() -> str:
    """Return the model of the processor, or its architecture where the system does not say."""
    if sys.platform == "darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        output = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        return output or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "model name" and value.strip():
            return " ".join(value.split())
    return platform.processor() or platform.machine()


def _threads() -> int:
    setting = os.environ.get("OMP_NUM_THREADS", "")
    return int(setting) if setting.isdecimal() else cores()


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, OSError, ValueError):  # not a system of the Unix kind
        return None


def _gpu(torch: Any) -> str | None:
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return "Apple GPU" if torch.backends.mps.is_available() else None
