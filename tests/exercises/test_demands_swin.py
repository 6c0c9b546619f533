"""Each demand of assignment 19 has a case; how that is looked at stands in `demands.py`."""

from __future__ import annotations

import torch
from demands import becomes, edit, every, rough, single, spoils


def narrow(answer):
    """Compute in single precision and return the dtype that is asked for."""

    def call(q, k, v, bias, *more, **named):
        given = [x.float() for x in (q, k, v, bias)]
        return answer(*given, *more, **named).to(v.dtype)

    return call


def without(place):
    """Let one argument have no gradient."""

    def made(answer):
        def call(*given, **named):
            given = [x.detach() if n == place else x for n, x in enumerate(given)]
            return answer(*given, **named)

        return call

    return made


def kindless(answer):
    """Refuse what is no floating point number."""

    def call(x, *more):
        assert x.is_floating_point()
        return answer(x, *more)

    return call


def only_true_and_false(answer):
    """Return floating point numbers in the place of True and False."""

    def call(x, *more):
        found = answer(x, *more)
        return found.float() if x.dtype == torch.bool else found

    return call


def one_way(there, change):
    """Change what comes out of one of the two ways."""

    def made(answer):
        def call(x, side, size=None):
            found = answer(x, side, size)
            return change(found) if there == (size is None) else found

        return call

    return made


def bounded(least):
    """Have no use for a window that is smaller, or for a shift that is."""

    def made(answer):
        def call(*given, **named):
            assert given[-1] >= least
            return answer(*given, **named)

        return call

    return made


def patient(answer):
    """Let a map of one window be, whatever the shift."""

    def call(rows, columns, side, shift):
        return answer(rows, columns, side, 0 if rows == columns == side else shift)

    return call


def patient_step(answer):
    """Let a map of one window be, whatever the shift."""

    def call(q, k, v, bias, side, shift=0):
        return answer(q, k, v, bias, side, 0 if q.shape[1] == q.shape[2] == side else shift)

    return call


def moved(answer):
    """Take what was given for rolled already."""

    def call(q, k, v, bias, side, shift=0):
        given = (x.roll((shift, shift), dims=(1, 2)) for x in (q, k, v))
        return answer(*given, bias, side, shift)

    return call


def first_map(answer):
    """Let all maps look at the first one."""

    def call(q, k, v, *more, **named):
        return answer(q, k[:1].expand_as(k), v[:1].expand_as(v), *more, **named)

    return call


WINDOWS_TURNED = "x.transpose(2, 3).reshape(-1, side * side, D)"
NUMBERS = "whose sentence names three numbers, the side of the window, the rows and the columns"
CHECK = "if R % side or C % side:"
FILL = "x = torch.nn.functional.pad(x, (0, 0, 0, -C % side, 0, -R % side))"
REGION = "region = 2 * down[:, None] + right"
PIECES = "region.transpose(1, 2).reshape(-1, side * side)"
OFFSETS = "down * (2 * columns - 1) + right"
LEFT = "Leave what you were given as it is"
SAME = "if it is the same edges for both, or none for both"
MASK = "scores.masked_fill(region != region.mT, -torch.inf)"
EACH = "have one dtype, and each of them gets a gradient"
ODD = "x = F.pad(x, (0, 0, 0, x.shape[2] % 2, 0, x.shape[1] % 2))"
WHOLE = "rows, columns = -(-rows // side) * side, -(-columns // side) * side"

DEMANDS = [
    # windows
    (
        "windows",
        "`side` is $M$, 1 or more",
        edit("    if size is", "    assert side > 1\n    if size is"),
    ),
    (
        "windows",
        "first all windows of map 0, then those of map 1",
        edit(WINDOWS_TURNED, "x.permute(1, 3, 0, 2, 4, 5).reshape(-1, side * side, D)"),
    ),
    (
        "windows",
        "The windows of a map are in reading order",
        edit(WINDOWS_TURNED, "x.permute(0, 3, 1, 2, 4, 5).reshape(-1, side * side, D)"),
    ),
    (
        "windows",
        "and so are the cells within a window",
        edit(WINDOWS_TURNED, "x.permute(0, 1, 3, 4, 2, 5).reshape(-1, side * side, D)"),
    ),
    ("windows", "does not divide $R$ or does not", edit(CHECK, "if R % side and C % side:")),
    ("windows", "does not divide $R$ or does not", edit(CHECK, "if C % side:")),
    ("windows", "or does not divide $C$", edit(CHECK, "if R % side:")),
    ("windows", "raise a `ValueError`", edit("raise ValueError", "raise RuntimeError")),
    ("windows", NUMBERS, edit("of {side} do", "do")),
    ("windows", NUMBERS, edit("{R} x {C}", "{C}")),
    ("windows", NUMBERS, edit("{R} x {C}", "{R}")),
    (
        "windows",
        "Nothing is filled up",
        edit(CHECK, f"{FILL}\n    B, R, C, D = x.shape\n    {CHECK}"),
    ),
    (
        "windows",
        "nothing is cut off here",
        edit(
            CHECK,
            "x = x[:, : R // side * side, : C // side * side]\n"
            f"    B, R, C, D = x.shape\n    {CHECK}",
        ),
    ),
    ("windows", "a tuple `(R, C)`", edit("R, C = size", "C, R = size")),
    (
        "windows",
        "you return the maps from which they were cut",
        edit("return x.transpose(2, 3).reshape(-1, R, C", "return x.reshape(-1, R, C"),
    ),
    (
        "windows",
        "How many maps there are, `x` says",
        edit("reshape(-1, R, C, x.shape[5])", "reshape(-1, R, C, x.shape[5])[:1]"),
    ),
    *(
        ("windows", "Both ways keep the dtype", one_way(there, torch.Tensor.float))
        for there in (True, False)
    ),
    ("windows", "maps may also hold whole numbers", kindless),
    ("windows", "or True and False", only_true_and_false),
    *(
        ("windows", "Both pass gradients on", one_way(there, torch.Tensor.detach))
        for there in (True, False)
    ),
    ("windows", "Leave `x` as it is", spoils(0)),
    # hide_strangers
    ("hide_strangers", SAME, edit(REGION, "region = down[:, None] + 0 * right")),
    ("hide_strangers", SAME, edit(REGION, "region = 0 * down[:, None] + right")),
    ("hide_strangers", SAME, edit(REGION, "region = down[:, None] | right")),
    ("hide_strangers", SAME, edit(REGION, "region = down[:, None].long() + right")),
    ("hide_strangers", "and has been rolled as above", edit(">= rows - shift", "< shift")),
    ("hide_strangers", "and has been rolled as above", edit(">= columns - shift", "< shift")),
    (
        "hide_strangers",
        "the map has `rows` × `columns` cells",
        edit("down = ", "assert rows == columns\n    down = "),
    ),
    ("hide_strangers", "`shift` is 0 or more", bounded(1)),
    (
        "hide_strangers",
        "and less than `side`",
        edit("down = ", "assert shift <= side // 2\n    down = "),
    ),
    ("hide_strangers", "$(W, M^2, M^2)$ with $M$ = `side`", becomes(lambda found: found[:, None])),
    ("hide_strangers", "boolean: True at `[w, q, k]`", becomes(torch.Tensor.float)),
    ("hide_strangers", "the cell `q` may attend to the cell `k`", becomes(torch.logical_not)),
    (
        "hide_strangers",
        "Windows and cells are in the order of question 1",
        edit(PIECES, "region.permute(2, 0, 1, 3).reshape(-1, side * side)"),
    ),
    (
        "hide_strangers",
        "Windows and cells are in the order of question 1",
        edit(PIECES, "region.permute(0, 2, 3, 1).reshape(-1, side * side)"),
    ),
    (
        "hide_strangers",
        "With a shift of 0 nobody has come around",
        edit("down = ", "shift = shift or side // 2\n    down = "),
    ),
    ("hide_strangers", "A map of a single window is no exception", patient),
    # offset_index
    (
        "offset_index",
        "the row of the query minus the row of the key",
        edit("row[:, None] - row[None, :]", "row[None, :] - row[:, None]"),
    ),
    (
        "offset_index",
        "the column of the query minus the column of the key",
        edit("column[:, None] - column[None, :]", "column[None, :] - column[:, None]"),
    ),
    (
        "offset_index",
        "here they need not be",
        lambda answer: lambda rows, columns: answer(rows, rows),
    ),
    (
        "offset_index",
        "a row for each offset of rows, the smallest first",
        edit(OFFSETS, "(2 * rows - 2 - down) * (2 * columns - 1) + right"),
    ),
    (
        "offset_index",
        "a place for each offset of columns, the smallest first",
        edit(OFFSETS, "down * (2 * columns - 1) + 2 * columns - 2 - right"),
    ),
    (
        "offset_index",
        "The places of this table are numbered in reading order",
        edit(OFFSETS, "right * (2 * rows - 1) + down"),
    ),
    ("offset_index", "in reading order, from 0", becomes(lambda found: found + 1)),
    (
        "offset_index",
        "both 1 or more",
        lambda answer: lambda rows, columns: answer(max(rows, 2), max(columns, 2)),
    ),
    ("offset_index", "an (N, N) tensor", becomes(torch.flatten)),
    ("offset_index", "int64", becomes(torch.Tensor.int)),
    ("offset_index", "at `[q, k]` the number of the place", becomes(lambda found: found.T)),
    (
        "offset_index",
        "The cells of the window are in reading order",
        lambda answer: (
            lambda rows, columns: (
                answer(rows, columns)
                .unflatten(1, (rows, columns))
                .unflatten(0, (rows, columns))
                .permute(1, 0, 3, 2)
                .flatten(2)
                .flatten(0, 1)
            )
        ),
    ),
    # shifted_attention
    ("shifted_attention", "\\frac{q_i \\cdot k_j}{\\sqrt{D}}", edit(" / q.shape[3] ** 0.5", "")),
    ("shifted_attention", "+ b_{ij}", edit(" + bias", "")),
    ("shifted_attention", "of its window that it may see", edit(MASK, "scores")),
    ("shifted_attention", "shift=0", edit("shift=0", "shift=1")),
    ("shifted_attention", "none of them rolled", moved),
    (
        "shifted_attention",
        "$D$ and $E$ need not be equal",
        edit("q.shape[3] ** 0.5", "v.shape[3] ** 0.5"),
    ),
    (
        "shifted_attention",
        "$D$ and $E$ need not be equal",
        edit("    R, C = ", "    assert q.shape == v.shape\n    R, C = "),
    ),
    (
        "shifted_attention",
        "$R$ and $C$ are multiples of `side`",
        edit("    R, C = ", "    assert q.shape[1] == q.shape[2]\n    R, C = "),
    ),
    (
        "shifted_attention",
        "the same for all windows",
        edit("+ bias", "+ bias * (torch.arange(R * C // side**2) == 0)[:, None, None]"),
    ),
    ("shifted_attention", "a row for each place of a query", edit("+ bias", "+ bias.mT")),
    (
        "shifted_attention",
        "`shift` is 0 or more and less than `side`",
        edit("    R, C = ", "    assert shift > 0\n    R, C = "),
    ),
    (
        "shifted_attention",
        "`shift` is 0 or more and less than `side`",
        edit("    R, C = ", "    assert shift <= side // 2\n    R, C = "),
    ),
    (
        "shifted_attention",
        "by so many cells down and to the right",
        edit("    R, C = ", "    shift = side // 2 if shift else 0\n    R, C = "),
    ),
    (
        "shifted_attention",
        "rolled by `-shift` along both sides",
        edit("cut(x.roll((-shift, -shift), dims=(1, 2)))", "cut(x.roll(-shift, dims=1))"),
    ),
    ("shifted_attention", "Who may see whom is what question 2 says", edit("2 * (tor", "0 * (tor")),
    ("shifted_attention", "a map of a single window is no exception", patient_step),
    ("shifted_attention", "Each map looks at itself only", first_map),
    ("shifted_attention", "in the dtype of `v`", single),
    ("shifted_attention", "in the dtype of `v`", narrow),
    (
        "shifted_attention",
        "at the place where its query stood in the map that was not rolled",
        edit(".roll((shift, shift), dims=(1, 2))", ""),
    ),
    *(("shifted_attention", EACH, without(place)) for place in range(4)),
    (
        "shifted_attention",
        "Strangers get exactly 0 of the attention, however large",
        edit(MASK, "scores - 100.0 * (region != region.mT)"),
    ),
    (
        "shifted_attention",
        "however large their scores may be",
        edit(MASK, "scores.masked_fill(region != region.mT, -200.0)"),
    ),
    (
        "shifted_attention",
        "nothing may become infinite or nan",
        edit("scores.softmax(dim=-1)", "(scores.exp() / scores.exp().sum(dim=-1, keepdim=True))"),
    ),
    *(("shifted_attention", LEFT, spoils(place)) for place in range(4)),
    # merge
    (
        "merge",
        "upper left, lower left, upper right, lower right",
        edit("for column in (0, 1) for row in (0, 1)", "for row in (0, 1) for column in (0, 1)"),
    ),
    (
        "merge",
        "joined end to end",
        edit("torch.cat(corners, dim=-1)", "torch.stack(corners, dim=-1).flatten(3)"),
    ),
    (
        "merge",
        "a LayerNorm over these $4D$ numbers",
        edit("x.mean(dim=-1, keepdim=True)", "x.mean(dim=(1, 2, 3), keepdim=True)"),
    ),
    ("merge", "the variance divided by $4D$", edit("correction=0", "correction=1")),
    ("merge", "g \\odot", edit("gain * x", "x")),
    ("merge", "+ h \\right", edit(" + bias", "")),
    ("merge", "eps=1e-5", edit("eps=1e-5", "eps=1e-6")),
    ("merge", "`eps` is $\\epsilon$", edit("+ eps", "+ 1e-5")),
    ("merge", "\\sqrt{s^2 + \\epsilon}", edit(" + eps).sqrt()", ").sqrt() + eps")),
    ("merge", "of 2 or more", edit(ODD, f"assert min(x.shape[1:3]) > 2\n    {ODD}")),
    (
        "merge",
        "here it may be any number",
        edit(ODD, f"assert len(weight) == 2 * x.shape[3]\n    {ODD}"),
    ),
    (
        "merge",
        "a row of zeros below",
        edit(ODD, ODD.replace("0, x.shape[1] % 2))", "x.shape[1] % 2, 0))")),
    ),
    (
        "merge",
        "a column of zeros on the right",
        edit(ODD, ODD.replace("0, x.shape[2] % 2,", "x.shape[2] % 2, 0,")),
    ),
    (
        "merge",
        "a row of zeros below",
        edit(ODD, ODD.replace("x.shape[1] % 2", "0") + "\n    x = x[:, : len(x[0]) // 2 * 2]"),
    ),
    (
        "merge",
        "a column of zeros on the right",
        edit(
            ODD,
            ODD.replace("x.shape[2] % 2", "0") + "\n    x = x[:, :, : x.shape[2] // 2 * 2]",
        ),
    ),
    (
        "merge",
        "the zeros take part like all other numbers",
        edit(
            "x = x - x.mean(dim=-1, keepdim=True)",
            "x = x - x.sum(dim=-1, keepdim=True) / (x != 0).sum(dim=-1, keepdim=True).clamp(1)",
        ),
    ),
    ("merge", "in the dtype of `x`", single),
    ("merge", "in the dtype of `x`", rough),
    *(
        ("merge", "The map and all three weights get a gradient", without(place))
        for place in range(4)
    ),
    *(("merge", LEFT, spoils(place)) for place in range(4)),
    # window_flops
    (
        "window_flops",
        "those in products of matrices only",
        edit("2 * cells * keys * width", "2 * cells * keys * width + cells * keys"),
    ),
    ("window_flops", "Queries, keys, values and the output", edit("4 * cells", "3 * cells")),
    ("window_flops", "one projection each", edit("4 * cells", "1 * cells")),
    (
        "window_flops",
        "weighing the value by it takes as many multiplications again",
        edit("2 * cells * keys", "1 * cells * keys"),
    ),
    (
        "window_flops",
        "heads divide the width among them",
        edit("2 * cells * keys * width", "2 * heads * cells * keys * width"),
    ),
    (
        "window_flops",
        "if `side` is None, every cell looks at every cell",
        edit("keys = cells if side is None", "keys = 49 if side is None"),
    ),
    (
        "window_flops",
        "Otherwise it looks at the cells of its window",
        edit("else side**2", "else side"),
    ),
    ("window_flops", "is filled up to whole windows first", edit(WHOLE, "pass")),
    (
        "window_flops",
        "as little as possible",
        edit(WHOLE, "rows, columns = (rows // side + 1) * side, (columns // side + 1) * side"),
    ),
    (
        "window_flops",
        "the cells that were filled in go through everything",
        lambda answer: (
            lambda rows, columns, width, heads, side=None: (
                answer(rows, columns, width, heads, side)
                if side is None
                else answer(rows, columns, width, heads, side)
                - 4 * (-(-rows // side) * -(-columns // side) * side**2 - rows * columns) * width**2
            )
        ),
    ),
    ("window_flops", "Return an int", becomes(float)),
    ("window_flops", "Return an int", becomes(torch.tensor)),
    ("window_flops", "Return an int", becomes(lambda found: int(float(found)))),
    (
        "window_flops",
        "A multiplication and the addition behind it count as one",
        becomes(lambda found: 2 * found),
    ),
]

test_whoever_forgets_a_demand_fails_a_case = every(DEMANDS)
