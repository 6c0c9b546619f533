"""What a cell can see through shifted windows: press a cell, slide the windows, add blocks.

The cells that it has heard of are shaded, darker for those of which more arrives if all weights are
equal. A table sets them beside windows that stay and beside a ViT. The book explains it in "Swin".
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursekit.figures.live.figure import Live
from coursekit.figures.live.still import svg
from coursekit.models.swin import WindowAttention

SIDE = 24  # of the map, in cells
CELL = (8, 8)  # row and column
WINDOW, SHIFT, BLOCKS = 6, 3, 2
SHOWN = (1, 2, 4)  # blocks of the still picture
ROOM = (663, 1168)  # pixels from top to bottom, on a wide screen and on a telephone
PANEL, PIXELS = 220, 8  # of the still picture: from map to map, and the side of a cell


def window_reach() -> Live:
    """Return a cell near the border of its window, after a block that stays and one that shifts."""
    moved = {"cell": list(CELL), "blocks": BLOCKS, "window": WINDOW, "shift": SHIFT, "maps": "one"}
    state = {"side": SIDE, "start": moved} | moved
    return Live("window_reach", state, _still(), linked=tuple(moved), room=ROOM)


def shares(
    cell: tuple[int, int], blocks: int, window: int, shift: int, *, merged: bool = False
) -> Tensor:
    """Return how much of each input cell (R, C) reaches a cell through blocks of equal weights.

    Attention is that of the package with queries and keys of 0, and nothing else. With `merged`,
    two by two cells become their mean after each second block.
    """
    first = torch.zeros(1, SIDE, SIDE, 1, dtype=torch.float64, requires_grad=True)
    x: Tensor = first
    row, column = cell
    for block in range(blocks):
        if merged and block and block % 2 == 0:
            x = F.avg_pool2d(x[..., 0], 2)[..., None]  # (1, R/2, C/2, 1)
            row, column = row // 2, column // 2
        x = _equal_weights(window, shift * (block % 2))(x)  # (1, R, C, 1)
    return torch.autograd.grad(x[0, row, column, 0], first)[0][0, ..., 0]  # (R, C)


def _equal_weights(window: int, shift: int) -> nn.Module:
    """Return attention within windows that averages what it may look at."""
    made = WindowAttention(width=1, heads=1, window=window, shift=shift, relative_bias=False)
    attention = made.multi_head
    with torch.no_grad():
        attention.qkv.weight.copy_(torch.tensor([[0.0], [0.0], [1.0]]))
        attention.out.weight.fill_(1.0)
    return made.double()


def _still() -> str:
    """Return the map after several numbers of blocks, side by side."""
    reach = {blocks: shares(CELL, blocks, WINDOW, SHIFT) for blocks in SHOWN}
    counts = {blocks: int((one > 0).sum()) for blocks, one in reach.items()}
    told = ", ".join(f"{count} after {_blocks(n)}" for n, count in counts.items())
    alt = (
        f"A map of {SIDE} × {SIDE} cells with windows of {WINDOW} × {WINDOW}, which every second "
        f"block shifts by {SHIFT}. Of how many cells the cell in row {CELL[0] + 1}, column "
        f"{CELL[1] + 1} has heard: {told}. With windows that stay: {counts[1]} each time."
    )
    maps = "".join(
        f'<g transform="translate({PANEL * n + 2} 2)">{_map(reach[blocks], blocks)}</g>'
        for n, blocks in enumerate(SHOWN)
    )
    width = PANEL * (len(SHOWN) - 1) + PIXELS * SIDE + 4
    return svg(width, PIXELS * SIDE + 30, alt, maps, size=17, middle=True)


def _map(shares: Tensor, blocks: int) -> str:
    """Return one map, with the borders of its last block's windows and a line below."""
    end = PIXELS * SIDE
    shades = (0.2 + 0.7 * (shares / shares.max()) ** 0.25).where(shares > 0, 0)
    cells = "".join(
        f'<path opacity="{shade:.2f}" d="'
        + "".join(
            f"M{PIXELS * c} {PIXELS * r}h{PIXELS}v{PIXELS}h-{PIXELS}z"
            for r, c in (shades == shade).nonzero().tolist()
        )
        + '"/>'
        for shade in shades.unique().tolist()
        if shade
    )
    moved = 0 if blocks % 2 else SHIFT
    places = [0, *range(moved, SIDE, WINDOW), SIDE]
    lines = "".join(f"M0 {PIXELS * n}H{end}M{PIXELS * n} 0V{end}" for n in places)
    row, column = CELL
    return (
        f'<g fill="#0072B2">{cells}</g><path d="{lines}" stroke="currentColor"/>'
        f'<rect x="{PIXELS * column}" y="{PIXELS * row}" width="{PIXELS}" height="{PIXELS}" '
        'fill="#D55E00"/>'
        f'<text x="{end / 2:.0f}" y="{end + 21}">{_blocks(blocks)}: '
        f"{int((shares > 0).sum())} cells</text>"
    )


def _blocks(number: int) -> str:
    return f"{number} block{'s' * (number > 1)}"
