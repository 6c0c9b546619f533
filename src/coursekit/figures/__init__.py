"""How the course draws: one style, and three ways to hand a result from a notebook to a page.

`show` displays a figure and names it, `show_table` a table, `glue` records a number without
displaying it. The pages of the book pick them up by name: no figure is pasted, no number typed.

The drawings of each chapter are in a file of their own; `from coursekit.figures import mask_grid`
loads that one file only. Where two chapters have a drawing of one name, the file says which.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from coursekit._base.lazy import lazily
from coursekit._base.style import COLOURS as COLOURS
from coursekit._base.style import LINES as LINES
from coursekit._base.style import STYLE
from coursekit._base.style import new_figure as new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
ONES = (*ONES.split(), "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

WIDTH = 5.4  # inches: a letter of 10 points is 9 pixels high where the picture has 360


def lowest_letters(figure: Figure) -> float:
    """Return how high the smallest letters are, in pixels, where the figure is 390 pixels wide."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    texts = [
        text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()
    ]
    points = min((text.get_fontsize() for text in texts), default=float("inf"))
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


HOMES = {  # which module holds a name; the cache keys of the notebooks read this table too
    "attention_mask": "attention_mask",
    "beam_tree": "beam_tree",
    "input_sum": "bert",
    "who_may_see": "bert",
    "fates": "bert",
    "four_heads": "bert",
    "tagging_by_labels": "bert",
    "influence": "blocks",
    "work": "blocks",
    "gelu": "blocks",
    "gelu_errors": "blocks",
    "coins": "blocks",
    "placements": "blocks",
    "gradients": "blocks",
    "collapse": "blocks",
    "one_layer": "blocks",
    "digits": "blocks",
    "collapse_in_training": "blocks",
    "smooth": "blocks",
    "box_matching": "box_matching",
    "cross_attention": "cross_attention",
    "detection": "detection",
    "one_run": "finetuning",
    "low_rank": "finetuning",
    "flipbook": "flipbook",
    "four_tokenizers": "four_tokenizers",
    "forward_pass": "forward_pass",
    "knobs": "gpt",
    "dating": "gpt",
    "weights_of_one_query": "heads",
    "accuracy_by_heads": "heads",
    "split_attend_join": "heads",
    "self_and_cross": "heads",
    "head_roles": "heads",
    "loss_by_heads_left": "heads",
    "energy_by_directions": "heads",
    "cache_cost": "heads",
    "cost_by_length": "heads",
    "energy_bars": "limits",
    "stacked": "limits",
    "by_length": "limits",
    "split_bars": "limits",
    "by_pairs": "limits",
    "wilson": "limits",
    "kl_leash": "kl_leash",
    "logit_lens": "logit_lens",
    "lookup": "kernels",
    "regression": "kernels",
    "planes": "kernels",
    "alignments": "kernels",
    "accuracy_by_length": "kernels",
    "matrices": "kernels",
    "hull": "kernels",
    "loss_by_compute": "laws",
    "ladder": "laws",
    "gallery": "mae",
    "shuffled": "mae",
    "by_ratio": "mae",
    "by_labels": "mae",
    "warmed": "mae",
    "mask_grid": "masking",
    "losses": "masking",
    "reach": "masking",
    "cost": "masking",
    "norm_placement": "norm_placement",
    "painting": "painting",
    "patch_attention": "patch_attention",
    "position_clocks": "position_clocks",
    "word_vectors": "positions",
    "bits_and_waves": "positions",
    "heat_map": "positions",
    "clock_hands": "positions",
    "similarity_maps": "positions",
    "similarity_decay": "positions",
    "score_biases": "positions",
    "buckets": "positions",
    "window_bias": "positions",
    "grid_similarity": "positions",
    "where_right": "positions",
    "echoes": "positions",
    "by_shots": "prompts",
    "reading": "prompts",
    "relation_bars": "relations",
    "attention_arrows": "relations",
    "packed": "roberta",
    "whole_steps": "roberta",
    "canvas_rows": "sagan",
    "fields": "sagan",
    "where_it_looks": "sagan",
    "over_steps": "sagan",
    "by_count": "sagan",
    "histograms": "scaling",
    "saturation": "scaling",
    "gradient": "scaling",
    "temperature": "scaling",
    "seed_rows": "seeds",
    "best_of": "seeds",
    "stopped": "seeds",
    "scaling_law": "scaling_law",
    "soft_lookup": "soft_lookup",
    "softmax_gradient": "softmax_gradient",
    "noises": "t5",
    "span_lengths": "t5",
    "outcomes": "t5",
    "changed_ids": "t5",
    "pieces": "tokenization",
    "merge_step": "tokenization",
    "foreign": "tokenization",
    "scripts": "tokenization",
    "two_costs": "tokenization",
    "best_sizes": "tokenization",
    "valley": "training",
    "lines": "training",
    "trust": "training",
    "ridges": "training",
    "with_marks": "training",
    "machine": "translation",
    "learning": "translation",
    "attention_maps": "translation",
    "all_heads": "translation",
    "right_by_length": "translation",
    "smoothing": "translation",
    "by_verse_length": "translation",
    "beams": "translation",
    "changes": "translation",
    "valley_walks": "valley_walks",
    "rearranged": "vit",
    "reading_order": "vit",
    "by_pictures": "vit",
    "filters": "vit",
    "place_maps": "vit",
    "distances": "vit",
    "looks": "vit",
    "window_reach": "window_reach",
    "writer": "writer",
}

__all__ = list(HOMES)
__getattr__, __dir__ = lazily(__name__, HOMES)
