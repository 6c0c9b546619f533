"""The drawings of fine-tuning show what they are given."""

import pytest
from matplotlib.patches import Rectangle

from coursekit.figures import finetuning as figures
from coursekit.training.schedules import linear

ROWS = [["[CLS]", "a", "dull", "film", "[SEP]"], ["[CLS]", "warm", "[SEP]"]]
DRAWINGS = {
    "one_run": lambda: figures.one_run(ROWS, linear(warmup=4, total=47), 47),
    "low_rank": figures.low_rank,
}


def test_short_rows_are_padded_and_the_rate_is_that_of_the_schedule():
    axis, below = DRAWINGS["one_run"]().axes
    said = [text.get_text() for text in axis.texts]
    assert said.count("[PAD]") == 2 and said.count("[SEP]") == 2
    (drawn,) = below.lines
    schedule = linear(warmup=4, total=47)
    assert list(drawn.get_ydata()) == [schedule(step) for step in drawn.get_xdata()]
    assert len(drawn.get_xdata()) == 47


def test_the_thin_matrices_have_the_sides_of_the_thick_one():
    (axis,) = DRAWINGS["low_rank"]().axes
    sizes = [(one.get_width(), one.get_height()) for one in axis.patches
             if isinstance(one, Rectangle)]  # fmt: skip
    (W, A, B), (sum_W, sum_B, sum_A, merged) = sizes[:3], sizes[3:]
    assert A[0] == pytest.approx(W[0]) and B[1] == pytest.approx(W[1])
    assert merged == sum_W and sum_A[0] == sum_W[0] and sum_B[1] == sum_W[1]
