"""The dates: right dates, right alignment, splits that share no day."""

import datetime
import random

import pytest
import torch

from coursekit.data import dates
from coursekit.data.dates import END, PAD, START, Batch, Pair, decode, encode, sample


def read(target: tuple[str, ...]) -> list[datetime.date]:
    """Read the dates back, without the help of `decode`."""
    assert len(target) % 3 == 0
    triples = (target[i : i + 3] for i in range(0, len(target), 3))
    return [datetime.date.fromisoformat("".join(triple)) for triple in triples]


def test_a_line_worked_out_by_hand():
    pair = Pair(
        ("saturday", "21", "nov", "2026", "and", "4", ".", "5", ".", "1984"),
        ("2026", "-11", "-21", "1984", "-05", "-04"),
        (3, 2, 1, 9, 7, 5),
    )
    batch = encode([pair])
    assert decode(batch.target[0, 1:]) == "2026-11-21 1984-05-04"
    assert [dates.SOURCE_WORDS[i] for i in batch.source[0]] == list(pair.source)


def test_every_form_says_the_date_and_the_right_weekday():
    for pair in sample("train", 400, seed=3):
        (date,) = read(pair.target)
        words = set(pair.source)
        assert str(date.year) in words
        assert words & {str(date.day), dates.ordinal(date.day)}
        month = dates.MONTHS[date.month - 1]
        assert words & {month, month[:3], str(date.month)}
        for number, weekday in enumerate(dates.WEEKDAYS):
            if words & {weekday, weekday[:3]}:
                assert date.weekday() == number


def test_the_alignment_points_at_the_word_that_carries_the_symbol():
    for pair in sample("valid", 400, dates=(1, 2, 3), seed=1):
        assert len(pair.alignment) == len(pair.target)
        for date, *places in zip(read(pair.target), *(pair.alignment[i::3] for i in range(3))):
            year, month, day = (pair.source[place] for place in places)
            assert year == str(date.year)
            name = dates.MONTHS[date.month - 1]
            assert month in (name, name[:3], str(date.month))
            assert day in (str(date.day), dates.ordinal(date.day))


def test_the_alignment_keeps_to_its_own_date_when_a_word_stands_twice():
    date = datetime.date(1999, 9, 9)
    pair = dates.line([date, date, date], random.Random(0))
    borders = [-1, *(i for i, word in enumerate(pair.source) if word == dates.BETWEEN)]
    borders.append(len(pair.source))
    for number in range(3):
        for place in pair.alignment[3 * number : 3 * number + 3]:
            assert borders[number] < place < borders[number + 1]


@pytest.mark.parametrize(
    ("number", "word"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th"),
     (20, "20th"), (21, "21st"), (22, "22nd"), (23, "23rd"), (30, "30th"), (31, "31st")],
)  # fmt: skip
def test_ordinals(number, word):
    assert dates.ordinal(number) == word


def test_the_splits_share_no_day_and_lose_none():
    train, valid, test = (set(dates.days(split)) for split in dates.SPLITS)
    assert not train & valid and not train & test and not valid & test
    every = train | valid | test
    first, last = datetime.date(dates.YEARS[0], 1, 1), datetime.date(dates.YEARS[-1], 12, 31)
    assert (min(every), max(every)) == (first, last)
    assert len(every) == (last - first).days + 1
    assert len(train) == pytest.approx(0.8 * len(every), abs=1)


def test_lines_keep_to_their_split():
    for split in dates.SPLITS:
        own = set(dates.days(split))
        for pair in sample(split, 50, dates=2, seed=5):
            assert set(read(pair.target)) <= own


def test_the_seed_decides_and_the_split_is_part_of_it():
    assert sample("train", 20, seed=1) == sample("train", 20, seed=1)
    assert sample("train", 20, seed=1) != sample("train", 20, seed=2)
    assert sample("train", 20, dates=[1, 2], seed=1)[:5] == sample("train", 5, dates=[1, 2], seed=1)


def test_the_days_are_the_same_on_every_machine():
    first = [date.isoformat() for date in dates.days("test")[:3]]
    assert first == ["2007-04-03", "2015-11-10", "1988-10-31"]


def test_the_number_of_dates_in_a_line():
    assert {len(pair.target) for pair in sample("train", 30, dates=3)} == {9}
    assert {len(pair.target) for pair in sample("train", 60, dates=(1, 4))} == {3, 12}


def test_vocabularies_hold_each_word_once_and_cover_every_line():
    for words in (dates.SOURCE_WORDS, dates.TARGET_SYMBOLS):
        assert len(set(words)) == len(words)
        assert words[PAD] == "<pad>" and words[START] == "<start>" and words[END] == "<end>"
    encode(sample("train", 2000, dates=2))  # raises on a word that is missing
    assert dates.SOURCE_WORDS.count("may") == 1


def test_encode_pads_each_kind_in_its_own_way():
    short = Pair(("2", "may", "1990"), ("1990", "-05", "-02"), (2, 1, 0))
    long = sample("train", 1, dates=2)[0]
    batch = encode([short, long])
    assert isinstance(batch, Batch)
    assert batch.source.shape == (2, len(long.source))
    assert batch.target.shape == (2, 8) and batch.alignment.shape == (2, 7)
    assert batch.target[:, 0].tolist() == [START, START]
    assert batch.target[0, 4:].tolist() == [END, PAD, PAD, PAD]
    assert batch.target[1, -1] == END
    assert batch.source[0, 3:].eq(PAD).all() and batch.source[0, :3].ne(PAD).all()
    assert batch.alignment[0].tolist() == [2, 1, 0, -1, -1, -1, -1]
    assert batch.alignment[1].tolist() == [*long.alignment, -1]


def test_decode_reads_up_to_the_end():
    pair = sample("test", 1, dates=2, seed=9)[0]
    tokens = encode([pair]).target[0, 1:]
    expected = " ".join(date.isoformat() for date in read(pair.target))
    assert decode(tokens) == expected
    assert decode(torch.cat([tokens, tokens])) == expected
    assert decode(tokens.tolist()[:2]) == expected[:7]
    assert decode([END]) == ""


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match="train, valid, test, found 'dev'"):
        sample("dev", 1)
    with pytest.raises(ValueError, match="at least one date, found dates=0"):
        sample("train", 1, dates=0)
    with pytest.raises(ValueError, match="at least one date"):
        sample("train", 1, dates=[])
    with pytest.raises(ValueError, match="found -1"):
        sample("train", -1)
    with pytest.raises(ValueError, match="at least one line"):
        encode([])
    with pytest.raises(ValueError, match="'brumaire' is not in the vocabulary"):
        encode([Pair(("18", "brumaire"), ("1999",), (0,))])
    with pytest.raises(ValueError, match="not 999"):
        decode([999])
