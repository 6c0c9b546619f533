"""Models of the course for live figures: what a page needs to run one.

The weights are those that a training has kept, in half precision; a tokenizer is made from the same
text again, and with a model of pictures come pictures to try it on. The book has them in
`_static/live/NAME.js`, written when it is built: a classic script, because a page that is opened as
a file may load nothing else. The modules in `models/` compute with them, and a test holds those
equal to the Python models. A figure that only cuts text has the vocabularies of its tokenizers, and
no weights.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from coursekit._base.errors import CourseError
from coursekit.figures.live.figure import Model, Packed
from coursekit.tokenizers.base import Tokenizer
from coursekit.training.records import result, weights_file

if TYPE_CHECKING:
    from coursekit.data.verses import Pair

LARGEST = 4_000_000  # bytes that one page may load for its model
OFTEN = 3  # how often a training must have met a word for a figure to call it known
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")  # as in ui/translator.js


def trained_model(name: str) -> Model:
    """Return the model of the training `name`, or the vocabularies, for a figure that runs it."""
    return Model(name, partial(packed, name))


def packed(name: str) -> Packed:
    """Return what a page needs to run the model of the training `name`, or its vocabularies."""
    if name in VOCABULARIES:
        return Packed(None, VOCABULARIES[name]())
    if name in SHOWN:
        return Packed(weights_file(name), shown=SHOWN[name]())
    words = WORDS[name]() if name in WORDS else ""
    return Packed(weights_file(name), tokenizer_of(name).as_json(), words)


def weights_in(name: str) -> bytes:
    """Return all weights in the file of the training `name`: its own, and those of its control."""
    names = [name, CONTROLS[name]] if name in CONTROLS else [name]
    return b"".join(map(weights_file, names))


def script(name: str) -> str:
    """Return the file of the book that holds the model of the training `name`."""
    state = json.dumps(packed(name).as_json(), ensure_ascii=False)
    text = f"(window.LIVE ??= {{}})[{json.dumps(name)}] = {state};\n"
    if len(text.encode()) > LARGEST:
        raise CourseError(
            f"the model of {name} is {len(text.encode()) / 1e6:.1f} MB in a page, and at most "
            f"{LARGEST / 1e6:g} MB are expected"
        )
    return text


@cache
def tokenizer_of(name: str) -> Tokenizer:
    """Return the tokenizer that the training `name` has made, learned from the same text again."""
    if name not in TOKENIZERS:
        raise CourseError(
            f"a page has the models of {', '.join((*TOKENIZERS, *SHOWN))}; "
            f"there is none of {name!r}"
        )
    return TOKENIZERS[name]()


def _of_speeches() -> Tokenizer:
    from coursekit.data.speeches import speeches
    from coursekit.tokenizers.byte_bpe import ByteBPE

    size = result("writer")["settings"]["vocabulary"]
    return ByteBPE.train((speech.text for speech in speeches("train")), vocabulary_size=size)


def _of_verses() -> Tokenizer:
    from coursekit.tokenizers.byte_bpe import ByteBPE
    from coursekit.training.translation import SPECIAL

    texts = (text for pair in _pairs() for text in (pair.english, pair.french))
    size = result("translation")["settings"]["vocabulary"]
    return ByteBPE.train(texts, vocabulary_size=size, special=SPECIAL)


def _pairs() -> list[Pair]:
    from coursekit.data.verses import verses

    return verses("train", longest=result("translation")["settings"]["longest"])


def _english_words() -> str:
    counts = Counter(word for pair in _pairs() for word in WORD.findall(pair.english.lower()))
    return " ".join(sorted(word for word, count in counts.items() if count >= OFTEN))


def _of_documents() -> Tokenizer:
    from coursekit.tokenizers.wordpiece import WordPiece

    return WordPiece(result("bert")["tables"]["vocabulary"])


def _four() -> dict[str, Any]:
    from coursekit.figures.live.vocabularies import four

    return {name: tokenizer.as_json() for name, tokenizer in four().items()}


def _of_clothes() -> dict[str, Any]:
    from coursekit.figures.live.patch_grid import picture_state

    return picture_state()


def _of_paintings() -> dict[str, Any]:
    from coursekit.figures.live.linear_guess import linear_state

    return _of_clothes() | linear_state()


def _of_scenes() -> dict[str, Any]:
    from coursekit.figures.live.emoji_scene import scene_state

    return scene_state()


def _of_dictionaries() -> dict[str, Any]:
    return {"one_block": base64.b64encode(weights_file(CONTROLS["examples"])).decode()}


TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "writer": _of_speeches,
    "translation": _of_verses,
    "bert": _of_documents,
}
VOCABULARIES: dict[str, Callable[[], dict[str, Any]]] = {"four_tokenizers": _four}
SHOWN: dict[str, Callable[[], dict[str, Any]]] = {
    "vit": _of_clothes,
    "mae": _of_paintings,
    "detector": _of_scenes,
    "examples": _of_dictionaries,
}
CONTROLS = {"examples": "one_block"}  # whose weights come in the same file
WORDS: dict[str, Callable[[], str]] = {"translation": _english_words}
