"""The shared checks: what they accept, and the wording of their messages, asserted only here."""

import numpy as np
import pytest
import torch

from coursekit._base import checks as c
from coursekit._base.checks import check_at_least, check_fraction, check_int, check_positive

NAN = float("nan")


@pytest.mark.parametrize(
    ("check", "good"),
    [
        (check_int, [1, 7, np.int64(3)]),
        (check_fraction, [0, 1, 0.0, 0.5, 1.0, np.float32(0.25), torch.tensor(0.5)]),
        (check_positive, [1, 1e-30, np.float64(2.0), torch.tensor(0.1)]),
        (check_at_least, [0, 0.0, 3, 1e-5, torch.tensor(0)]),
    ],
)
def test_good_numbers_pass(check, good):
    for number in good:
        check(number=number)


@pytest.mark.parametrize(
    ("check", "number", "error", "words"),
    [
        (check_int, 0, ValueError, "x must be above 0, found 0"),
        (check_int, -3, ValueError, "x must be above 0, found -3"),
        (check_int, 12.0, TypeError, "x must be a whole number, found 12.0"),
        (check_int, NAN, TypeError, "x must be a whole number, found nan"),
        (check_int, True, TypeError, "x must be a whole number, found True"),
        (check_int, "12", TypeError, "x must be a whole number, found '12'"),
        (check_int, None, TypeError, "x must be a whole number, found None"),
        (check_fraction, 1.5, ValueError, "x must be between 0 and 1, found 1.5"),
        (check_fraction, -0.1, ValueError, "x must be between 0 and 1, found -0.1"),
        (check_fraction, NAN, ValueError, "x must be between 0 and 1, found nan"),
        (check_fraction, True, TypeError, "x must be a number, found True"),
        (check_fraction, "0.1", TypeError, "x must be a number, found '0.1'"),
        (check_positive, 0.0, ValueError, "x must be above 0, found 0.0"),
        (check_positive, NAN, ValueError, "x must be above 0, found nan"),
        (check_positive, False, TypeError, "x must be a number, found False"),
        (check_positive, [1], TypeError, r"x must be a number, found \[1\]"),
        (check_positive, torch.ones(2), ValueError, r"one number, found a tensor \(2,\)"),
        (check_at_least, -1, ValueError, "x must be at least 0, found -1"),
        (check_at_least, NAN, ValueError, "x must be at least 0, found nan"),
        (check_at_least, None, TypeError, "x must be a number, found None"),
    ],
)
def test_bad_numbers_get_a_sentence(check, number, error, words):
    with pytest.raises(error, match=words):
        check(x=number)


Q, K, V = torch.ones(2, 5, 8), torch.ones(2, 7, 8), torch.ones(2, 7, 6)
LINEAR = torch.nn.Linear(8, 8)
TOKENS = torch.ones(2, 3).long()
IMAGES = torch.ones(2, 3, 4, 4)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: c.check_between(2, 4, x=5), ValueError, "x must lie between 2 and 4, found 5"),
        (lambda: c.check_between(2, 4, x=1), ValueError, "x must lie between 2 and 4, found 1"),
        (lambda: c.check_choice("ab", x="c"), ValueError, "x must be one of a, b, found 'c'"),
        (lambda: c.check_stages(x=3), TypeError, "x must have one number for each stage, found 3"),
        (lambda: c.check_stages(x=(3, 0)), ValueError, r"x\[1\] must be above 0, found 0"),
        (lambda: c.check_ids(5, x=5), ValueError, "x must be an id .* 0 to 4, found 5"),
        (lambda: c.check_ids(5, x=-1), ValueError, "0 to 4, found -1"),
        # tensors
        (lambda: c.check_tensor([1], "x"), TypeError, "x must be a tensor, found list"),
        (lambda: c.check_shape(Q, "x", "batch, 8"), ValueError,
         r"x must have shape \(batch, 8\), found \(2, 5, 8\)"),
        (lambda: c.check_shape(Q, "x", "batch, 4, 8"), ValueError, r"found \(2, 5, 8\)"),
        (lambda: c.check_shape(Q, "x", "batch"), ValueError, r"shape \(batch,\)"),
        (lambda: c.check_shape(Q, "x", Q.shape, torch.bool), ValueError,
         r"x must be boolean with shape \(2, 5, 8\), found torch.float32 \(2, 5, 8\)"),
        (lambda: c.check_numbers(Q / 0 * 0, "x"), ValueError, "x must be numbers, found nan"),
        (lambda: c.check_numbers(Q / 0, "x", finite=True), ValueError, "found inf"),
        (lambda: c.check_dtype(Q.double(), LINEAR, "x"), TypeError,
         "x must have the weights' dtype torch.float32, found torch.float64"),
        (lambda: c.check_tokens(TOKENS[0], 9), ValueError,
         r"tokens must have shape \(batch, length\), both at least 1, found \(3,\)"),
        (lambda: c.check_tokens(TOKENS[:, :0], 9), ValueError, r"found \(2, 0\)"),
        (lambda: c.check_tokens(TOKENS.float(), 9), TypeError, "int64 or int32.*torch.float32"),
        (lambda: c.check_tokens(TOKENS * 9, 9), ValueError,
         "tokens has token id 9, expected ids from 0 to 8"),
        (lambda: c.check_tokens(-TOKENS, 9), ValueError, "token id -1"),
        (lambda: c.check_labels(TOKENS.int(), 9), TypeError,
         r"targets must be token ids \(int64\), found torch.int32"),
        (lambda: c.check_labels(TOKENS * 9, 9), ValueError, "ids from 0 to 8, found 9"),
        (lambda: c.check_labels(-TOKENS, 9, ignored=-2), ValueError, "found -1"),
        (lambda: c.check_keep(TOKENS, TOKENS), TypeError,
         r"keep must be boolean \(True = a real token\), found torch.int64"),
        (lambda: c.check_keep(TOKENS[0] > 0, TOKENS), ValueError,
         r"keep must have the shape of its tokens \(2, 3\), found \(3,\)"),
        (lambda: c.check_images(IMAGES, 1), ValueError,
         r"images must have shape \(batch, 1, height, width\).*found \(2, 3, 4, 4\)"),
        (lambda: c.check_images(IMAGES.byte(), 3), TypeError, "floating point, found torch.uint8"),
        (lambda: c.check_images(IMAGES.double(), 3, weight=LINEAR.weight), TypeError,
         "images must have the weights' dtype"),
        (lambda: c.check_width(Q, 9, "x"), ValueError,
         r"x must have shape \(batch, length, 9\), found \(2, 5, 8\)"),
        (lambda: c.check_width([1], 9, "x"), TypeError, "x must be a tensor, found list"),
        (lambda: c.check_sequences(8, LINEAR, query=Q, key=K[:1]), ValueError,
         r"query and key must have one batch size, found \(2, 5, 8\) and \(1, 7, 8\)"),
        (lambda: c.check_under(3, torch.nn.Linear), TypeError, "a head needs a Linear, found int"),
        # attention
        (lambda: c.check_mask([[True]], (5, 7)), TypeError, "mask must be a boolean .*found list"),
        (lambda: c.check_mask(torch.zeros(5, 7), (5, 7)), TypeError,
         "boolean.*found torch.float32; write `mask == 0`"),
        (lambda: c.check_mask(torch.ones(4, 7) > 0, (2, 3, 5, 7)), ValueError,
         r"mask \(4, 7\) does not broadcast to the scores \(2, 3, 5, 7\)"),
        (lambda: c.check_mask(torch.ones(1, 5, 7) > 0, (5, 7)), ValueError, "does not broadcast"),
        (lambda: c.check_bias(1.0, (5, 7)), TypeError, "bias must be a tensor, found float"),
        (lambda: c.check_bias(torch.ones(5, 7) > 0, (5, 7)), TypeError, "floating point.*bool"),
        (lambda: c.check_bias(torch.ones(5, 6), (5, 7)), ValueError, r"bias \(5, 6\)"),
        (lambda: c.check_widths([[1.0]], K), TypeError, "the queries must be a tensor, found list"),
        (lambda: c.check_widths(Q, [[1.0]]), TypeError, "the keys must be a tensor, found list"),
        (lambda: c.check_widths(Q[0, 0], K), ValueError, r"two axes.*queries \(8,\) and keys \(2"),
        (lambda: c.check_widths(Q, V), ValueError, r"same width.*\(2, 5, 8\) and keys \(2, 7, 6\)"),
        (lambda: c.check_widths(Q, K, 3, 8), ValueError, "queries must be 3 wide and keys 8 wide"),
        (lambda: c.check_widths(Q.double(), K), TypeError, "float64 and torch.float32"),
        (lambda: c.check_widths(Q.long(), K.long()), TypeError, "floating point, .*torch.int64"),
        (lambda: c.check_widths(torch.ones(3, 5, 8), K), ValueError, r"leading axes .*\(3, 5, 8\)"),
        (lambda: c.check_values(K, [[1.0]], (2, 5, 7)), TypeError, "the values must be a tensor"),
        (lambda: c.check_values(K, V[0, 0], (2, 5, 7)), ValueError,
         r"two axes.*\(2, 7, 8\) and \(6,\)"),
        (lambda: c.check_values(K, V[:, 1:], (2, 5, 7)), ValueError, "7 keys .* and 6 values"),
        (lambda: c.check_values(K, V.double(), (2, 5, 7)), TypeError, "float32 and torch.float64"),
        (lambda: c.check_values(K, torch.ones(3, 7, 6), (2, 5, 7)), ValueError,
         r"values \(3, 7, 6\) do not broadcast with those of the scores \(2, 5, 7\)"),
        (lambda: c.check_head_axis(torch.ones(2, 5, 5) > 0), ValueError, r"\(2, 5, 5\) is amb"),
        (lambda: c.check_head_mask([1], 2, 4), TypeError, "head_mask must be a tensor, found list"),
        (lambda: c.check_head_mask(torch.ones(5), 2, 4), ValueError,
         r"head_mask must have shape \(4,\) or \(batch, 4\), found \(5,\)"),
    ],
)  # fmt: skip
def test_a_message_says_what_is_wrong_and_what_was_expected(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_whole_numbers_may_begin_elsewhere():
    check_int(0, x=0)
    with pytest.raises(ValueError, match="x must be at least 4, found 3"):
        check_int(4, y=4, x=3)
