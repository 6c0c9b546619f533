"""A text as ids of bytes, and ids as a text again: ByT5's alphabet."""

from __future__ import annotations

from coursekit.check.probe import after
from coursetools.questions import hidden, visible


def byte_ids(given):
    """A string -> ids of its bytes, closed by 1; ids -> the string that they spell."""
    if isinstance(given, str):
        return [byte + 3 for byte in given.encode("utf-8")] + [1]
    ids = given[: given.index(1)] if 1 in given else given
    return bytes(one - 3 for one in ids if 3 <= one < 259).decode("utf-8", errors="replace")


def spelled(text):
    """Return the ids of a text, without an end."""
    return [byte + 3 for byte in text.encode()]


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
    low = after(student.byte_ids, [0, *spelled("a"), 2, 198, 0, 2, 172, *spelled("z"), 1])
    return low, student.byte_ids([*spelled("a"), 198, 300, 259, 172, 383, 32_099, *spelled("z")])


@visible("bytes that are no UTF-8")
def broken(student):
    cut, alone = [*spelled("n"), 198, 1], [172, *spelled("o"), 1]
    turned, never = [243, 162, *spelled("k"), 172, 198, 1], [258, 257, 49, 195, 131, 1]
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
    cut = spelled("a数")[:-1], spelled("🙂")[:2], spelled("🙂")[1:], [*spelled("né")[:-1], 1, 175]
    return [student.byte_ids([*ids]) for ids in (*cut, [3 + 0xC0, 3 + 0x80], [256, 257, 258, 1])]


@hidden("ids that are no bytes, everywhere")
def bytes_none(student):
    mixed = [one for pair in zip(spelled("Straße 数"), [0, 2, 259, 384] * 4) for one in pair]
    return student.byte_ids([*mixed, 1]), student.byte_ids([2, 0, 400])


@hidden("the ids are left as they were", weight=0.5)
def bytes_keep(student):
    return after(student.byte_ids, [0, 2, *spelled("ça"), 259, 1, 0, 75])
