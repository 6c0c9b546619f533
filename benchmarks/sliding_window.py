"""Blocked local attention beside its peers: time and memory at T = 512 … 8192, window 256.

    python benchmarks/sliding_window.py [--rounds 5] [--threads 2]

All do the same work, |i − j| ≤ 256 over 8 heads of width 64, forward without gradients, and are
compared on the same numbers first. One round times every contestant once at one T, in turn; the
ratios are medians over rounds of (peer's time / ours in the same round). Memory is the growth of
the process's peak over its resident size before the call, each in a process of its own. The dense
readable path stops where its T × T scores would need more than 2 GB.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

RADIUS, HEADS, WIDTH = 256, 8, 64
LENGTHS = (512, 1024, 2048, 4096, 8192)
OURS = "blocked (ours)"
NAMES = (OURS, "dense, readable", "dense, fused", "local-attention", "Longformer chunks")
RESULT = Path(__file__).parent / "results" / "sliding_window.json"


def contestant(name: str, T: int) -> Callable[[], object]:
    """Return a call that does the work once and returns (1, H, T, D)."""
    import torch

    from coursekit import masks
    from coursekit.attention import attention, fused_attention
    from coursekit.local import local_attention

    torch.manual_seed(0)
    q, k, v = (torch.randn(1, HEADS, T, WIDTH) for _ in range(3))
    if name == OURS:
        return lambda: local_attention(q, k, v, radius=RADIUS)
    if name.startswith("dense"):
        dense = fused_attention if name.endswith("fused") else attention
        mask = masks.local(T, radius=RADIUS)
        return lambda: dense(q, k, v, mask)
    if name == "local-attention":
        from local_attention import LocalAttention

        peer = LocalAttention(
            dim=WIDTH,
            window_size=RADIUS,
            look_backward=1,
            look_forward=1,
            causal=False,
            exact_windowsize=True,
            autopad=True,
            use_rotary_pos_emb=False,
        )
        return lambda: peer(q, k, v)
    return longformer(q, k, v, T)


def longformer(q: object, k: object, v: object, T: int) -> Callable[[], object]:
    """Hugging Face's chunked sliding window, fed with our q, k, v in place of its projections."""
    import torch
    from transformers import LongformerConfig
    from transformers.models.longformer.modeling_longformer import LongformerSelfAttention

    config = LongformerConfig(
        hidden_size=HEADS * WIDTH, num_attention_heads=HEADS, attention_window=[2 * RADIUS]
    )
    peer = LongformerSelfAttention(config, layer_id=0).eval()

    def run() -> torch.Tensor:
        # The steps of its forward without global tokens: scores, band mask, softmax, values.
        queries, keys, values = (x.transpose(1, 2) for x in (q / math.sqrt(WIDTH), k, v))
        scores = peer._sliding_chunks_query_key_matmul(queries, keys, RADIUS)
        weights = scores.softmax(dim=-1, dtype=torch.float32)
        out = peer._sliding_chunks_matmul_attn_probs_value(weights, values, RADIUS)
        return out.transpose(1, 2)

    return run


def fits(name: str, T: int) -> bool:
    """Say whether the contestant's T × T scores, where it makes them, stay below 2 GB."""
    return name != "dense, readable" or HEADS * T * T * 4 < 2e9


def peak_memory(name: str, T: int, threads: int) -> int:
    """Bytes by which the peak of a fresh process grows while it does the work once."""
    call = [sys.executable, __file__, "--memory-of", name, "--length", str(T)]
    run = subprocess.run(
        [*call, "--threads", str(threads)], capture_output=True, text=True, check=True
    )
    return int(run.stdout.strip().splitlines()[-1])


def measure_memory(name: str, T: int) -> None:
    """Print the growth of this process's peak, in bytes."""
    import torch

    with torch.no_grad():
        contestant(name, 2 * RADIUS)()  # warm: libraries, threads
        call = contestant(name, T)
        before = resident("VmRSS")
        call()
    print(max(resident("VmHWM") - before, 0))


def resident(field: str) -> int:
    """Bytes of this process now (VmRSS) or at its peak (VmHWM).

    Linux keeps both for the program itself; getrusage would count what the parent had in memory
    when it started us.
    """
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(field + ":"))
    return 1024 * int(line.split()[1])


def main() -> None:
    """Measure, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    parser.add_argument("--length", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()

    import torch

    torch.set_num_threads(args.threads)
    if args.memory_of:
        return measure_memory(args.memory_of, args.length)

    linux = platform.system() == "Linux"  # elsewhere the memory column stays empty
    rows = []
    for T in LENGTHS:
        calls = {name: contestant(name, T) for name in NAMES if fits(name, T)}
        times: dict[str, list[float]] = {name: [] for name in calls}
        with torch.no_grad():
            want = calls[OURS]()
            for name, call in calls.items():  # the same work? also warms each of them up
                error = (call() - want).abs().max().item()
                assert error < 1e-4, f"{name} computes something else at T={T}: {error}"
            for _ in range(args.rounds):
                for name, call in calls.items():
                    start = time.perf_counter()
                    call()
                    times[name].append(time.perf_counter() - start)
        for name, seconds in times.items():
            ratios = [theirs / ours for theirs, ours in zip(seconds, times[OURS], strict=True)]
            row = {
                "T": T,
                "name": name,
                "milliseconds": round(1e3 * statistics.median(seconds), 1),
                "times_ours": round(statistics.median(ratios), 2),
                "peak_MB": round(peak_memory(name, T, args.threads) / 1e6, 1) if linux else None,
            }
            rows.append(row)
            print(f"T={T:5} {name:18} {row['milliseconds']:8.1f} ms", end=" ")
            print(f"{row['times_ours']:6.2f} × ours {row['peak_MB']} MB", flush=True)
    RESULT.parent.mkdir(exist_ok=True)
    record = {
        "what": f"|i − j| ≤ {RADIUS}, {HEADS} heads of width {WIDTH}, fp32, forward, CPU",
        "hardware": f"{platform.machine()}, {args.threads} threads",
        "torch": torch.__version__,
        "rounds": args.rounds,
        "rows": rows,
    }
    RESULT.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
