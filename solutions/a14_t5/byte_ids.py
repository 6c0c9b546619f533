"""A text as ids of bytes, and ids as a text again: ByT5's alphabet."""

from __future__ import annotations

from coursekit.check.probe import after
from coursekit.check.variants import variants
from coursetools.questions import hidden, visible

mine = variants(first=(3, 4, 5, 6, 8))


def byte_ids(given):
    """A string -> ids of its bytes, closed by 1; ids -> the string that they spell."""
    if isinstance(given, str):
        return [byte + mine.first for byte in given.encode("utf-8")] + [1]
    ids = given[: given.index(1)] if 1 in given else given
    found = bytes(one - mine.first for one in ids if mine.first <= one < mine.first + 256)
    return found.decode("utf-8", errors="replace")


def spelled(text):
    """Return the ids of a text, without an end."""
    return ids(*text.encode())


def ids(*bytes_):
    """Return the ids of bytes, and of numbers that are larger than a byte."""
    return [byte + mine.first for byte in bytes_]


@visible("a word of plain letters, both ways")
def plain(student):
    return student.byte_ids("Hello, 5!"), student.byte_ids([*spelled("Hello, 5!"), 1])


@visible("é, 数, 🙂: two, three and four bytes; and an empty text")
def several_bytes(student):
    texts = "né", "数", "a🙂b", "né in two signs: ne\u0301, and\n\ta line", ""
    return [student.byte_ids(text) for text in texts]


@visible("ids of such characters, read", weight=2)
def several_bytes_read(student):
    return [student.byte_ids([*spelled(text), 1]) for text in ("né", "数🙂!", "🙂é")]


@visible("without an end, padding behind it, and more that was written")
def ends(student):
    more = [*spelled("or"), 1, *spelled("else"), 1, *spelled("!")]
    given = spelled("no"), [*spelled("yes"), 1, 0, 0], more, [1], []
    return [student.byte_ids(ids) for ids in given]


@visible("ids that are no bytes, also inside a character; the list stays as it was")
def no_bytes(student):
    low = after(
        student.byte_ids, [0, *spelled("a"), 2, *ids(195), 0, 2, *ids(169), *spelled("z"), 1]
    )
    return low, student.byte_ids(
        [*spelled("a"), *ids(195, 297, 256, 169, 380, 32_096), *spelled("z")]
    )


@visible("bytes that are no UTF-8")
def broken(student):
    cut, alone = [*spelled("n"), *ids(195), 1], [*ids(169), *spelled("o"), 1]
    turned = [*ids(240, 159), *spelled("k"), *ids(169, 195), 1]
    never = [*ids(255, 254, 46, 192, 128), 1]
    return [student.byte_ids(ids) for ids in (cut, alone, turned, never)]


@hidden("a sentence in five languages", weight=2)
def bytes_languages(student):
    texts = ["Où est-ce ?", "Что это?", "これは何ですか", "ما هذا؟", "यह क्या है"]
    return [student.byte_ids(text) for text in texts]


@hidden("their ids, read", weight=2)
def bytes_languages_read(student):
    texts = ["Où est-ce ?", "Что это?", "これは何ですか", "ما هذا؟", "यह क्या है"]
    return [student.byte_ids([*spelled(text), 1]) for text in texts]


@hidden("all characters up to U+07FF, there and back again")
def bytes_many(student):
    text = "".join(map(chr, range(0x800)))
    return student.byte_ids(text), student.byte_ids([*spelled(text), 1, 0, 0])


@hidden("signs with several parts, white space that matters, no text")
def bytes_signs(student):
    return [student.byte_ids(text) for text in ("👩‍💻", "A\u030a", "\ufeffx", " \t\n ", "ﬁ", "")]


@hidden("ends: none, several, at once")
def bytes_ends(student):
    several = [*spelled("a"), 1, 1, *spelled("b")], [*spelled("a"), 1, *spelled("b"), 1, 0]
    return [student.byte_ids(ids) for ids in (spelled("né"), *several, [1, *spelled("c")], [])]


@hidden("characters cut short, bytes that never occur")
def bytes_broken(student):
    cut = (
        spelled("a数")[:-1],
        spelled("🙂")[:2],
        spelled("🙂")[1:],
        [*spelled("né")[:-1], 1, *ids(172)],
    )
    return [student.byte_ids([*ids]) for ids in (*cut, ids(0xC0, 0x80), [*ids(253, 254, 255), 1])]


@hidden("ids that are no bytes, everywhere")
def bytes_none(student):
    mixed = [one for pair in zip(spelled("Straße 数"), [0, 2, *ids(256, 381)] * 4) for one in pair]
    return student.byte_ids([*mixed, 1]), student.byte_ids([2, 0, *ids(397)])


@hidden("the ids are left as they were", weight=0.5)
def bytes_keep(student):
    return after(student.byte_ids, [0, 2, *spelled("ça"), *ids(256), 1, 0, *ids(72)])
