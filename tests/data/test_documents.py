"""Documents hold their texts whole and in order, and a test verse never pretends to be followed."""

import pytest

from coursekit.data.documents import documents
from coursekit.data.speeches import speeches
from coursekit.data.verses import verses


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_a_speech_is_its_sentences(split):
    texts = [speech.text.split() for speech in speeches(split)]
    found = documents(split)[: len(texts)]
    assert [" ".join(document).split() for document in found] == texts
    assert all(sentence.strip() for document in found for sentence in document)
    assert sum(map(len, found)) > 20 * len(found)  # they are cut


def test_chapters_of_verses_stand_in_training_alone():
    for split in ("valid", "test"):
        assert len(documents(split)) == len(speeches(split))
    chapters = documents("train")[len(speeches("train")) :]
    assert [verse for chapter in chapters for verse in chapter] == [
        pair.english for pair in verses("train", longest=None)
    ]
    assert chapters[0][0].startswith("In the beginning")
    assert len(chapters) == 1189  # the chapters of the Bible
