"""What the parts of coursekit add to `import torch`: the median ratio of interleaved fresh starts.

Run it as `python benchmarks/import_time.py [PAIRS]`; the course promises at most 1.05.
"""

import statistics
import subprocess
import sys
import time

TORCH = "import torch"
PARTS = ("attention", "kernels", "heads", "local", "masks", "positions", "activations", "blocks")
COURSEKIT = "import " + ", ".join(f"coursekit.{name}" for name in (*PARTS, "cost"))


def seconds(program: str) -> float:
    """Return how long a fresh interpreter needs for `program`."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return time.perf_counter() - start


def main() -> None:
    """Time pairs, torch and coursekit in turn, so that a busy machine slows both."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    seconds(TORCH), seconds(COURSEKIT)  # fill the disk cache and write the .pyc files
    times = []
    for number in range(pairs):
        order = (TORCH, COURSEKIT) if number % 2 else (COURSEKIT, TORCH)
        measured = {program: seconds(program) for program in order}
        times.append((measured[TORCH], measured[COURSEKIT]))
    torch, coursekit = (statistics.median(column) for column in zip(*times))
    ratios = sorted(after / before for before, after in times)
    print(f"import torch      {torch:.3f} s (median of {pairs})")
    print(f"import coursekit  {coursekit:.3f} s (all parts)")
    print(
        f"ratio             {statistics.median(ratios):.3f} "
        f"(of pairs: {ratios[0]:.3f} to {ratios[-1]:.3f}; promised: at most 1.05)"
    )


if __name__ == "__main__":
    main()
