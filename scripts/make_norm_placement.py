"""Measure the gradients of fresh stacks that the book's figure of norm placements shows.

    python scripts/make_norm_placement.py

It takes some ten seconds; so a page and its tests read the file.
"""

from __future__ import annotations

import json

from coursekit.figures.live.norm_placement import MEASURED, measure_all

if __name__ == "__main__":
    text = json.dumps(measure_all())
    text = text.replace('"W', '\n"W').replace('"size', '\n"size')
    MEASURED.write_text(f"{text}\n", encoding="utf-8")
    print(f"{MEASURED.name}: {MEASURED.stat().st_size:,} bytes")
