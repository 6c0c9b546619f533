"""Which split an item belongs to: decided by a hash of its content, so always and everywhere alike.

A split by position or by a random seed moves items when a data set grows, and puts two copies of
one text on both sides of the border. A hash of the normalised content does neither.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping

SHARES = {"train": 0.8, "valid": 0.1, "test": 0.1}
BEFORE_TEST = {"train": 0.9, "valid": 0.1}  # where the test set is published with the data
_DROPPED = {code: None for code in range(128) if not chr(code).isalnum()}


def split_of(key: str | bytes, shares: Mapping[str, float] = SHARES) -> str:
    """Return the split of an item with this content."""
    if any(share < 0 for share in shares.values()) or abs(sum(shares.values()) - 1) > 1e-9:
        raise ValueError(f"shares must be 0 or more and sum to 1, found {dict(shares)}")
    data = key.encode() if isinstance(key, str) else key
    place = int.from_bytes(hashlib.sha256(data).digest()[:8], "big") / 2**64
    border = 0.0
    for name, share in shares.items():
        border += share
        if place < border:
            return name
    return list(shares)[-1]  # the sum of the shares fell short of 1 by rounding


def check_split(split: str) -> None:
    """Say what `split` may be."""
    if split not in SHARES:
        raise ValueError(f"split must be one of {', '.join(SHARES)}, found {split!r}")


def normal(text: str) -> str:
    """Return letters and digits only, in lower case and without accents.

    Texts that differ in punctuation, spaces or capitals become equal.
    """
    if text.isascii():  # the same, ten times faster
        return text.lower().translate(_DROPPED)
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", text).casefold())
