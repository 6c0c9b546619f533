"""How the course draws: one style, and three ways to hand a result from a notebook to a page.

`show` displays a figure and names it, `show_table` a table, `glue` records a number without
displaying it. The pages of the book pick them up by name: no figure is pasted, no number typed.

The drawings of each chapter are in a file of their own, interactive figures in `live/`;
`from coursekit.figures import mask_grid` loads that one file only. Where two chapters have a
drawing of one name, the file says which.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from coursekit._base.lazy import homes_of, lazily
from coursekit._base.style import COLOURS as COLOURS
from coursekit._base.style import LINES as LINES
from coursekit._base.style import MARKED_LINES as MARKED_LINES
from coursekit._base.style import STYLE
from coursekit._base.style import new_figure as new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

WIDTH = 5.4  # inches: a letter of 10 points is 9 pixels high where the picture has 360


def panel_grid(
    count: int, columns: int, *, each: float, width: float = WIDTH, **options: Any
) -> tuple[Figure, list[Any]]:
    """Return `(figure, axes)` of `count` panels, `columns` in a row that is `each` inches high."""
    rows = -(-count // columns)
    options |= {"width": width, "height": each * rows, "squeeze": False}
    figure, axes = new_figure(rows, columns, **options)
    for axis in axes.flat[count:]:
        axis.set_visible(False)
    return figure, list(axes.flat[:count])


def lowest_letters(figure: Figure) -> float:
    """Return how high the smallest letters are, in pixels, where the figure is 390 pixels wide."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    texts = [
        text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()
    ]
    points = min((float(text.get_fontsize()) for text in texts), default=float("inf"))
    return points / 72 * 390 / figure.get_figwidth()


def show(figure: Figure, name: str, *, alt: str) -> None:
    """Display `figure`; pages of the book call it by `name`, a screen reader reads `alt`."""
    from IPython.display import display

    if not alt.strip():
        raise ValueError(f"show({name!r}) needs alt text: one sentence that says what is seen")
    low = lowest_letters(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=STYLE["savefig.dpi"], facecolor="white")
    display(
        {"image/png": base64.b64encode(buffer.getvalue()).decode(), "text/plain": alt},
        metadata={
            "scrapbook": {"name": name, "mime_prefix": ""},
            "image/png": {"alt": alt},
            "lowest_letters": low,
        },
        raw=True,
    )


def show_table(header: Sequence[str], rows: Sequence[Sequence[object]], name: str) -> None:
    """Display a table; pages of the book call it by `name`. Columns of numbers are right-aligned.

    A cell is text in Markdown, a number or "" for none; numbers get commas, floats one decimal.
    """
    from IPython.display import display

    def text(cell: object) -> str:
        if isinstance(cell, float):
            return f"{cell:,.1f}"
        return f"{cell:,}" if isinstance(cell, int) else str(cell).replace("|", "\\|")

    if not rows or any(len(row) != len(header) for row in rows):
        lengths = sorted({len(row) for row in rows})
        raise ValueError(f"{name!r} has {len(header)} columns, found rows with {lengths} cells")
    columns = [[row[i] for row in rows if row[i] != ""] for i in range(len(header))]
    numbers = [cells and all(isinstance(cell, (int, float)) for cell in cells) for cells in columns]
    lines = [header, ["--:" if right else ":--" for right in numbers], *rows]
    markdown = "\n".join("| " + " | ".join(map(text, line)) + " |" for line in lines)
    display(
        {"text/markdown": markdown, "text/plain": markdown},
        metadata={"scrapbook": {"name": name, "mime_prefix": ""}},
        raw=True,
    )


def glue(name: str, value: float | int | str) -> None:
    """Record `value` under `name`, invisibly, for the prose of the page that cites it."""
    from IPython.display import display

    if hasattr(value, "item"):  # a tensor or array with one element
        value = value.item()
    if not isinstance(value, (int, float, str)):
        kind = type(value).__name__
        raise TypeError(f"glue({name!r}) takes a number or a string, not {kind}")
    prefix = "application/papermill.record/"
    display(
        {prefix + "text/plain": repr(value)},
        metadata={"scrapbook": {"name": name, "mime_prefix": prefix}},
        raw=True,
    )


def in_words(number: int) -> str:
    """Return a whole number from 0 to 99 as prose has it: 21 is "twenty-one"."""
    if not 0 <= number < 100:
        raise ValueError(f"in_words takes a whole number from 0 to 99, found {number}")
    if number < 20:
        return ONES[number]
    tens, ones = divmod(number, 10)
    return TENS[tens - 2] + (f"-{ONES[ones]}" if ones else "")


HANDS_OUT = {  # which names each file hands out; the cache keys of the notebooks read it too
    "bert": "input_sum who_may_see fates four_heads tagging_by_labels",
    "blocks": (
        "influence work gelu gelu_errors coins placements gradients collapse one_layer digits "
        "collapse_in_training smooth"
    ),
    "finetuning": "one_run low_rank",
    "gpt": "knobs dating",
    "heads": (
        "weights_of_one_query accuracy_by_heads split_attend_join self_and_cross head_roles "
        "loss_by_heads_left energy_by_directions cache_cost cost_by_length"
    ),
    "limits": "energy_bars stacked by_length split_bars by_pairs wilson",
    "kernels": "lookup regression planes alignments accuracy_by_length matrices hull",
    "laws": "loss_by_compute ladder",
    "live.attention_heads": "attention_heads",
    "live.attention_mask": "attention_mask",
    "live.beam_tree": "beam_tree",
    "live.box_matching": "box_matching",
    "live.cross_attention": "cross_attention",
    "live.detection": "detection",
    "live.flipbook": "flipbook",
    "live.forward_pass": "forward_pass",
    "live.four_tokenizers": "four_tokenizers",
    "live.induction_heads": "induction_heads",
    "live.kl_leash": "kl_leash",
    "live.logit_lens": "logit_lens",
    "live.norm_placement": "norm_placement",
    "live.painting": "painting",
    "live.patch_attention": "patch_attention",
    "live.position_clocks": "position_clocks",
    "live.scaling_law": "scaling_law",
    "live.soft_lookup": "soft_lookup",
    "live.softmax_gradient": "softmax_gradient",
    "live.valley_walks": "valley_walks",
    "live.window_reach": "window_reach",
    "live.writer": "writer",
    "mae": "gallery shuffled by_ratio by_labels warmed",
    "masking": "mask_grid losses reach cost",
    "positions": (
        "word_vectors bits_and_waves heat_map clock_hands similarity_maps similarity_decay "
        "score_biases buckets window_bias grid_similarity where_right echoes"
    ),
    "prompts": "by_shots reading",
    "relations": "relation_bars attention_arrows",
    "roberta": "packed whole_steps",
    "sagan": "canvas_rows fields where_it_looks over_steps by_count",
    "scaling": "histograms saturation gradient temperature",
    "seeds": "seed_rows best_of stopped",
    "t5": "noises span_lengths outcomes changed_ids",
    "tokenization": "pieces merge_step foreign scripts two_costs best_sizes",
    "training": "valley lines trust ridges with_marks",
    "translation": (
        "machine learning attention_maps all_heads right_by_length smoothing by_verse_length beams "
        "changes"
    ),
    "vit": "rearranged reading_order by_pictures filters place_maps distances looks",
}

HOMES = homes_of(HANDS_OUT)
__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
