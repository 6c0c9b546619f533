"""Run every benchmark, one after the other, into `results/benchmarks.json`.

    python benchmarks/all.py [--smoke] [--install-peers]

`--smoke` calls each contestant once, on little, writes nothing and takes less than a minute;
`--install-peers` first installs the packages of `benchmarks/peers.txt`, which only serve as peers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = (
    "sliding_window",
    "shifted_windows",
    "training",
    "inference",
    "generation",
    "modern_block",
    "tokenization",
    "grading",
)


def main() -> int:
    """Run the scripts and return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="see that they run; write nothing")
    parser.add_argument("--install-peers", action="store_true")
    args = parser.parse_args()
    if args.install_peers:  # without what they depend on: vit-pytorch would bring torchvision
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "-r", HERE / "peers.txt"], check=True)
    failed = []
    for script in SCRIPTS:
        start = time.perf_counter()
        command = [sys.executable, HERE / f"{script}.py", *["--smoke"] * args.smoke]
        if subprocess.run(command, check=False).returncode:
            failed.append(script)
        print(f"{script}: {time.perf_counter() - start:.0f} s", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
