"""What the tests of figures share."""

import itertools

import matplotlib
import pytest
from matplotlib.text import Text


@pytest.fixture(autouse=True)
def _no_window():
    with matplotlib.rc_context({"backend": "agg"}):
        yield


def texts(figure):
    """Return what is written in a figure and seen, with its place in pixels."""
    figure.draw_without_rendering()
    unseen = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not axes.axison or not low <= tick.get_loc() <= high:
                    unseen |= {tick.label1, tick.label2}
    seen = [text for text in figure.findobj(Text) if text.get_visible() and text not in unseen]
    return [(text, text.get_window_extent()) for text in seen if text.get_text().strip()]


@pytest.fixture
def readable():
    """Check that words lie within a figure and apart, and are 9 pixels high where it has 360."""

    def check(figure):
        placed = texts(figure)
        assert len(placed) > 5
        room = figure.bbox.padded(1)
        for text, place in placed:
            assert room.x0 < place.x0 and place.x1 < room.x1, text
            assert room.y0 < place.y0 and place.y1 < room.y1, text
            assert text.get_fontsize() / 72 * 360 / figure.get_figwidth() > 8.9, text
        for (one, a), (other, b) in itertools.combinations(placed, 2):
            apart = a.x1 < b.x0 + 1 or b.x1 < a.x0 + 1 or a.y1 < b.y0 + 1 or b.y1 < a.y0 + 1
            assert apart, (one, other)

    return check
