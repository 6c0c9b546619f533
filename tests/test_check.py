"""Checks at the door: what a number may be."""

import numpy as np
import pytest
import torch

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


def test_whole_numbers_may_begin_elsewhere():
    check_int(0, x=0)
    with pytest.raises(ValueError, match="x must be at least 4, found 3"):
        check_int(4, y=4, x=3)
