"""The pictures of "Many heads" that show a real translator, and a gradient on its way back."""

from coursekit.figures import heads as figures

GRID = [[0.1, 0.4], [0.05, 0.1], [0.04, 0.04]]
NAMES = ["block 1, head 1", "block 1, head 2", "an even look"]
KINDS = {
    "encoder": (NAMES, ["before", "rarest"], GRID),
    "decoder, self-attention": (NAMES, ["before", "itself"], GRID[::-1]),
}
PRUNED = {
    "encoder": [2.6, 2.7, 3.5],
    "decoder, self-attention": [2.6, 2.8, 3.0],
    "decoder, cross-attention": [2.6, 3.1, 5.0],
}
CHAINS = {"recurrent": [1.0, 1e-2, 1e-7], "attention": [1.0, 0.5, 0.04]}
DRAWINGS = {
    "head_kinds": lambda: figures.head_kinds(KINDS),
    "pruned_by_kind": lambda: figures.pruned_by_kind(PRUNED),
    "gradient_along": lambda: figures.gradient_along([1, 10, 100], CHAINS),
}


def test_each_head_has_its_dot_and_the_even_look_stands_apart():
    axes = figures.head_kinds(KINDS).axes
    for axis, (title, (_, places, grid)) in zip(axes, KINDS.items(), strict=True):
        assert axis.get_title(loc="left") == title
        assert [label.get_text() for label in axis.get_yticklabels()] == list(places)
        drawn = [list(line.get_xdata()) for line in axis.lines]  # the heads, then the even look
        columns = [[float(value) for value in column] for column in zip(*grid)]
        assert drawn == [part for column in columns for part in (column[:-1], column[-1:])]
    assert len({axis.get_xlim() for axis in axes}) == 1  # one scale for all panels


def test_a_curve_begins_with_all_heads():
    (axis,) = figures.pruned_by_kind(PRUNED).axes
    drawn = {line.get_label(): list(zip(*line.get_xydata().T)) for line in axis.lines}
    assert drawn == {name: list(enumerate(losses)) for name, losses in PRUNED.items()}


def test_a_gradient_is_drawn_over_the_distance():
    (axis,) = figures.gradient_along([1, 10, 100], CHAINS).axes
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
    drawn = {line.get_label(): [tuple(point) for point in line.get_xydata()] for line in axis.lines}
    assert drawn == {name: list(zip([1, 10, 100], row)) for name, row in CHAINS.items()}
