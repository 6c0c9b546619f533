"""The still picture of a live figure, which a page without scripts and print show in its place."""

from __future__ import annotations

from html import escape


def svg(
    width: float,
    height: float,
    alt: str,
    inside: str,
    *,
    top: float = 0,
    size: int = 16,
    widest: str = "100%",
    middle: bool = False,
    central: bool = False,
) -> str:
    """Return a still picture in the colours of the page, as wide as there is room or `widest`.

    `size` is that of its letters; they stand with their `middle` at x, or `central` at y.
    """
    placed = ' text-anchor="middle"' * middle + ' dominant-baseline="central"' * central
    return (
        f'<svg viewBox="0 {top} {width} {height}" role="img" aria-label="{escape(alt)}" '
        f'fill="currentColor" font-size="{size}"{placed} '
        f'style="display: block; margin: auto; max-width: {widest}; width: 100%">{inside}</svg>'
    )
