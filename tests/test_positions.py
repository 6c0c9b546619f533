"""Positions against their defining laws."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit import biases as B
from coursekit import positions as P

F64 = torch.float64
even = st.integers(1, 16).map(lambda n: 2 * n)


def test_sinusoidal_is_the_papers_formula():
    pe = P.sinusoidal(50, 12, dtype=F64)
    for pos in (0, 1, 7, 49):
        for i in range(6):
            angle = pos / 10_000 ** (2 * i / 12)
            assert pe[pos, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-12)
            assert pe[pos, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-12)


@given(t=st.integers(0, 5000), delta=st.integers(-5000, 5000), width=even)
def test_a_shift_is_one_rotation_for_every_place(t, delta, width):
    A = P.shift_matrix(delta, width, dtype=F64)
    here, there = P.sinusoidal(torch.tensor([t, t + delta]), width, dtype=F64)
    torch.testing.assert_close(A @ here, there, atol=1e-6, rtol=0)
    torch.testing.assert_close(A @ A.T, torch.eye(width, dtype=F64))  # a rotation
    assert torch.linalg.det(A).item() == pytest.approx(1)


def test_sinusoidal_is_accurate_far_out_and_takes_fractions():
    far = P.sinusoidal(torch.tensor([100_000]), 4)[0]
    assert far[0].item() == pytest.approx(math.sin(100_000), abs=1e-6)
    half = P.sinusoidal(torch.tensor([0.5]), 2)[0]
    assert half.tolist() == pytest.approx([math.sin(0.5), math.cos(0.5)])


@given(st.integers(1, 9), st.integers(1, 9))
def test_odd_widths_end_on_a_sine(T, width):
    pe = P.sinusoidal(T, width, dtype=F64)
    assert pe.shape == (T, width)
    speeds = [10_000 ** (-(i - i % 2) / width) for i in range(width)]
    for i, speed in enumerate(speeds):
        wave = torch.sin if i % 2 == 0 else torch.cos
        torch.testing.assert_close(pe[:, i], wave(torch.arange(T, dtype=F64) * speed))


@given(st.integers(1, 10), st.data())
def test_binary_spells_the_number(width, data):
    T = data.draw(st.integers(1, 2**width))
    bits = P.binary(T, width)
    assert bits.shape == (T, width)
    numbers = (bits * 2 ** torch.arange(width)).sum(-1)
    assert numbers.tolist() == list(range(T))


def test_more_bits_than_a_number_has_are_zeros():
    bits = P.binary(64, 64)
    assert torch.equal(bits[:, :6], P.binary(64, 6)) and not bits[:, 6:].any()


@pytest.mark.parametrize("layout", ["pairs", "halves"])
@given(i=st.integers(0, 999), j=st.integers(0, 999), shift=st.integers(0, 999), width=even)
def test_rotary_depends_on_the_distance_only(layout, i, j, shift, width):
    torch.manual_seed(0)
    turn = P.Rotary(width=width, layout=layout)
    q, k = torch.randn(2, width, dtype=F64)

    def score(i, j):
        return turn(q[None], i) @ turn(k[None], j).T

    torch.testing.assert_close(score(i, j), score(i + shift, j + shift), atol=1e-9, rtol=1e-9)
    torch.testing.assert_close(turn(q[None], i).norm(), q.norm())
    position_ids = torch.tensor([i])
    torch.testing.assert_close(turn(q[None], position_ids=position_ids), turn(q[None], i))


def test_rotary_turns_by_the_angle_of_the_position():
    turn = P.Rotary(width=2)
    x = torch.tensor([[1.0, 0.0]] * 3)
    out = turn(x, offset=4)
    for row, place in zip(out, (4, 5, 6), strict=True):
        assert row.tolist() == pytest.approx([math.cos(place), math.sin(place)], abs=1e-6)


def test_rotary_layouts_are_one_rotation_in_two_orders():
    x = torch.randn(3, 5, 8)
    order = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7])  # halves -> pairs
    pairs = P.Rotary(width=8)(x[..., order], offset=3)
    halves = P.Rotary(width=8, layout="halves")(x, offset=3)
    torch.testing.assert_close(pairs, halves[..., order])


def test_alibi():
    slopes = B.alibi_slopes(8)
    assert slopes.tolist() == [2.0 ** -(h + 1) for h in range(8)]
    assert B.alibi_slopes(3).tolist() == [2**-4, 2**-8, 2**-2]  # 2 heads, then the first of 4
    bias = B.alibi(3, 5, heads=8)
    assert bias.shape == (8, 3, 5)
    for t in range(3):
        for s in range(5):
            assert bias[1, t, s].item() == -0.25 * abs(2 + t - s)


def buckets_by_the_paper(distance, buckets, far, both_ways):
    """Raffel et al. (2020), one number at a time."""
    start = 0
    if both_ways:
        buckets //= 2
        start = buckets if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = max(-distance, 0)
    exact = buckets // 2
    if distance < exact:
        return start + distance
    log = math.log(distance / exact) / math.log(far / exact) * (buckets - exact)
    return start + min(exact + int(log + 1e-6), buckets - 1)


@pytest.mark.parametrize("both_ways", [True, False])
def test_relative_buckets(both_ways):
    distance = torch.arange(-300, 301)
    got = B.relative_buckets(distance, bidirectional=both_ways)
    want = [buckets_by_the_paper(int(d), 32, 128, both_ways) for d in distance]
    assert got.tolist() == want
    assert set(got.tolist()) <= set(range(32))


def test_relative_buckets_equal_t5():
    t5 = pytest.importorskip("transformers.models.t5.modeling_t5")
    distance = torch.arange(-200, 201)[None]
    for both_ways in (True, False):
        want = t5.T5Attention._relative_position_bucket(distance, both_ways, 32, 128)
        assert torch.equal(B.relative_buckets(distance, bidirectional=both_ways), want)


def test_relative_bias_depends_on_the_distance_and_learns():
    bias = B.RelativeBias(heads=2)
    out = bias(6)
    assert out.shape == (2, 6, 6)
    torch.testing.assert_close(out[:, 1:, 1:], out[:, :-1, :-1])  # constant along diagonals
    torch.testing.assert_close(bias(2, 6), out[:, 4:])  # the last queries, as in cached decoding
    for t, s in ((0, 5), (5, 0), (3, 3)):  # the bucket is that of key minus query
        bucket = B.relative_buckets(torch.tensor(s - t))
        assert torch.equal(out[:, t, s], bias.weight[bucket])
    out.sum().backward()
    assert bias.weight.grad.abs().sum() > 0


def test_window_bias_depends_on_the_offset():
    bias = B.WindowBias(heads=2, height=3, columns=4)
    out = bias()
    assert out.shape == (2, 12, 12)
    seen = {}
    for a in range(12):
        for b in range(12):
            offset = (a // 4 - b // 4, a % 4 - b % 4)
            value = tuple(out[:, a, b].tolist())
            assert seen.setdefault(offset, value) == value
    assert len(set(seen.values())) == len(seen) == 5 * 7  # each offset has numbers of its own


def test_window_bias_equals_swin():
    swin = pytest.importorskip("transformers.models.swin.modeling_swin")
    theirs = swin.SwinRelativePositionBias(2, (3, 4))
    bias = B.WindowBias(heads=2, height=3, columns=4)
    with torch.no_grad():
        theirs.relative_position_bias_table.copy_(bias.weight)
    torch.testing.assert_close(bias(), theirs()[0])


def test_sine_2d():
    grid = P.sine_2d(3, 5, 8)
    assert grid.shape == (3, 5, 8)
    torch.testing.assert_close(
        grid[2, 4], torch.cat([P.sinusoidal(3, 4)[2], P.sinusoidal(5, 4)[4]])
    )
    flat = grid.flatten(0, 1)
    assert (torch.cdist(flat, flat) + torch.eye(15) > 1e-3).all()  # no two cells alike


def modules(width=6):
    return {
        "none": P.NoPosition(),
        "learned": P.LearnedPosition(size=12, width=width),
        "binary": P.BinaryPosition(width=width),
        "sinusoidal": P.SinusoidalPosition(width=width),
    }


@pytest.mark.parametrize("name", modules())
def test_modules_add_the_place_and_honour_the_offset(name):
    module = modules()[name]
    x = torch.randn(2, 7, 6)
    out = module(x)
    later = torch.cat([module(x[:, :3]), module(x[:, 3:], offset=3)], 1)
    torch.testing.assert_close(out, later)
    added = out - x
    torch.testing.assert_close(added[0], added[1], atol=1e-5, rtol=1e-4)
    assert (name == "none") == (added.abs().max() < 1e-6)
    assert module(x[:, :1]).shape == (2, 1, 6)
    assert module(x.double()).dtype == F64 or name == "learned"


def test_modules_add_what_the_functions_say():
    x = torch.zeros(1, 7, 6)
    torch.testing.assert_close(modules()["binary"](x)[0], P.binary(7, 6))
    torch.testing.assert_close(modules()["sinusoidal"](x, offset=2)[0], P.sinusoidal(9, 6)[2:])
    learned = modules()["learned"]
    learned(x, offset=5).sum().backward()
    assert learned.weight.grad.sum(-1).tolist() == [0.0] * 5 + [6.0] * 7


x = torch.zeros(1, 7, 6)


@pytest.mark.parametrize("name", ["learned", "sinusoidal"])
def test_a_row_padded_on_the_left_starts_before_0(name):
    module, x = modules()[name], torch.zeros(2, 4, 6)
    assert P.position_ids(4, torch.tensor([-2, 1])).tolist() == [[0, 0, 0, 1], [1, 2, 3, 4]]
    out = module(x, torch.tensor([-2, 1]))
    torch.testing.assert_close(out[0, 2:], module(x)[0, :2])
    torch.testing.assert_close(out[0, 0], module(x)[0, 0])  # padding: any place, but one there is
    torch.testing.assert_close(out[1], module(x, offset=1)[1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: P.Rotary(width=7), "2 must divide the width, found 7"),
        (lambda: P.Rotary(width=4)(torch.zeros(2, 6)), r"4 wide, found \(2, 6\)"),
        (lambda: P.shift_matrix(1, 5), "2 must divide the width, found 5"),
        (lambda: P.sine_2d(2, 2, 6), "4 must divide the width, found 6"),
        (lambda: P.binary(9, 3), "8 positions, found position 8"),
        (
            lambda: modules()["learned"](x, offset=6),
            "12 positions were learned, found.*6 to",
        ),
        (lambda: modules()["binary"](x, offset=60), "64 positions, found position 66"),
        (lambda: B.alibi(5, 3, heads=2), "T=5, S=3"),
        (lambda: B.RelativeBias(heads=2, buckets=7), "even number.*found 7"),
        (lambda: B.relative_buckets(x.long(), max_distance=8), "above 8, for the 8 nearest .* 8"),
        (lambda: B.relative_buckets(x.long(), buckets=3), "even number of at least 4, found 3"),
        (
            lambda: B.relative_buckets(x.long(), max_distance=16, bidirectional=False),
            "max_distance must be above 16",
        ),
        (lambda: B.RelativeBias(heads=2, max_distance=7), "max_distance must be above 8.*found 7"),
        (
            lambda: P.Rotary(width=6)(x, position_ids=torch.arange(6)),
            r"\(7,\) or \(batch, 7\), .* \(6,\)",
        ),
        (
            lambda: P.Rotary(width=6)(x[0], position_ids=torch.ones(7, 7)),
            r"found torch.float32 \(7, 7\)",
        ),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    "scheme",
    [
        P.LearnedPosition(size=9, width=8),
        P.SinusoidalPosition(width=8),
        P.BinaryPosition(width=8),
    ],
)
def test_rows_padded_on_the_left_count_from_their_first_token(scheme):
    x = torch.zeros(2, 4, 8)
    out = scheme(x, torch.tensor([0, -2]))
    torch.testing.assert_close(out[0], scheme(x)[0])
    torch.testing.assert_close(out[1, 2:], scheme(x)[0, :2])
    torch.testing.assert_close(scheme(x, torch.tensor([3, 1]))[1], scheme(x, 1)[1])


def test_learned_positions_end_where_they_end_for_every_row():
    with pytest.raises(ValueError, match="9 positions were learned, found positions 6 to 9"):
        P.LearnedPosition(size=9, width=8)(torch.zeros(2, 4, 8), torch.tensor([0, 6]))


@pytest.mark.parametrize("offset", [torch.tensor([0, 1, 2]), torch.tensor([3])])
@pytest.mark.parametrize("name", ["learned", "sinusoidal", "binary"])
def test_an_offset_for_each_row_and_no_other_number_of_them(name, offset):
    with pytest.raises(
        ValueError, match=rf"each row of x, must have .*\(2,\), found \({len(offset)},"
    ):
        modules()[name](torch.zeros(2, 4, 6), offset)


@pytest.mark.parametrize("layout", ["pairs", "halves"])
@pytest.mark.parametrize("shape", [(3, 5, 6), (3, 3, 5, 6), (2, 3, 5, 6), (5, 2, 3, 5, 6)])
def test_rotary_turns_each_sequence_by_its_own_places(layout, shape):
    """Also where the batch is as large as the number of heads, or as the length."""
    torch.manual_seed(0)
    rotary = P.Rotary(width=6, base=30, layout=layout)
    x, position_ids = torch.randn(shape).double(), torch.randint(-9, 99, (shape[0], 5))
    together = rotary(x, position_ids=position_ids)
    assert together.shape == x.shape
    for row in range(shape[0]):
        torch.testing.assert_close(together[row], rotary(x[row], position_ids=position_ids[row]))
    torch.testing.assert_close(
        rotary(x, position_ids=torch.arange(5).expand(shape[0], -1)), rotary(x)
    )


def test_the_nearest_distances_have_a_bucket_each_up_to_the_smallest_max_distance():
    for both, exact in ((True, 8), (False, 16)):
        found = B.relative_buckets(-torch.arange(40), max_distance=exact + 1, bidirectional=both)
        assert found[:exact].tolist() == list(range(exact))
        assert found.diff().ge(0).all() and found.max() == (15 if both else 31)


@pytest.mark.parametrize("shape", [(4, 4, 6), (3, 2, 5, 6), (2, 5, 6)])
def test_an_offset_of_each_row_means_the_same_to_all(shape):
    """Also with as many rows as positions, and for Rotary with all `position_ids`."""
    x, offset = torch.randn(shape).double(), torch.tensor([3, 0, 8, 1])[: shape[0]]
    rotary = P.Rotary(width=6)
    found = rotary(x, offset)
    for row in range(shape[0]):
        torch.testing.assert_close(found[row], rotary(x[row], int(offset[row])))
    position_ids = offset[:, None] + torch.arange(shape[-2])
    torch.testing.assert_close(found, rotary(x, position_ids=position_ids))
    if len(shape) == 3:
        sines = P.SinusoidalPosition(width=6)(x, offset) - x
        torch.testing.assert_close(sines, P.sinusoidal(position_ids, 6, dtype=torch.float64))
    if shape[0] != shape[-2]:
        with pytest.raises(ValueError, match="offsets, one for each row of x"):
            rotary(x, torch.arange(shape[-2]))
