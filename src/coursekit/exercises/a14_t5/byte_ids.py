"""A text as ids of bytes, and ids as a text again: ByT5's alphabet."""

from __future__ import annotations

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def byte_ids(given):
    """A string -> ids of its bytes, closed by 1; ids -> the string that they spell."""
    if isinstance(given, str):
        return [byte + 3 for byte in given.encode("utf-8")] + [1]
    ids = given[: given.index(1)] if 1 in given else given
    return bytes(one - 3 for one in ids if 3 <= one < 259).decode("utf-8", errors="replace")


QUESTION = Question(
    name="byte_ids",
    title="259 ids for every language",
    points=4,
    difficulty=2,
    minutes=25,
    page="t5.html#sec-t5-bytes",
    hint="Two ways, two blocks: isinstance says which. Python turns a string into its bytes with "
    "encode, and bytes into a string with decode, which can be told what to do where they spell "
    "nothing. A bytes object is as good as a list of numbers from 0 to 255. On the way back first "
    "find where the text ends, then leave out what is no byte, then shift, and decode all of it at "
    "once.",
    reference=byte_ids,
    forbidden=("coursekit",),
)


def _each(student, *given: str | list[int]) -> list:
    """What comes out for each."""
    return [student.byte_ids(one) for one in given]


def _ids(text: str, *more: int) -> list[int]:
    """The ids of a text of plain letters, and more behind them."""
    return [ord(letter) + 3 for letter in text] + list(more)


@QUESTION.visible(says="a word of plain letters, both ways")
def plain(student):
    return _each(student, "Hello, 5!", _ids("Hello, 5!", 1))


@QUESTION.visible(says="é, 数, 🙂: two, three and four bytes")
def several_bytes(student):
    return _each(student, "né", "数", "a🙂b", "né in two signs: ne\u0301, and\n\ta line")


@QUESTION.visible(says="ids of such characters, read", weight=2)
def several_bytes_read(student):
    two, three, four = [198, 172], [233, 152, 179], [243, 162, 156, 133]
    return _each(student, [*_ids("n"), *two, 1], [*three, *four, *_ids("!", 1)], [*four, *two])


@QUESTION.visible(says="without an end, padding behind it, and more that was written")
def ends(student):
    return _each(
        student,
        _ids("no"),
        _ids("yes", 1, 0, 0),
        _ids("or", 1, *_ids("else", 1, *_ids("!"))),
        [1],
        [],
    )


@QUESTION.visible(says="padding and the unknown id, also inside a character")
def low_ids(student):
    return _each(student, [0, *_ids("a"), 2, 198, 0, 2, 172, *_ids("z", 1)], [0, 2, 3, 4, 1])


@QUESTION.visible(says="ids above 258, also inside a character")
def high_ids(student):
    return _each(student, [*_ids("a"), 198, 300, 259, 172, *_ids("z"), 383, 32_099], [259, 258, 1])


@QUESTION.visible(says="bytes that are no UTF-8")
def broken(student):
    cut, alone, turned = (
        _ids("n", 198, 1),
        [172, *_ids("o", 1)],
        [243, 162, *_ids("k"), 172, 198, 1],
    )
    return _each(student, cut, alone, turned, [258, 257, *_ids("."), 195, 131, 1])


@QUESTION.visible(says="an empty text, and what was given stays as it was")
def what_was_given_stays(student):
    found = after(student.byte_ids, [0, *_ids("stay", 2, 259, 1, 0)])
    return student.byte_ids(""), found


WRITE = 'return [byte + 3 for byte in given.encode("utf-8")] + [1]'
ENDED = "ids = given[: given.index(1)] if 1 in given else given"
READ = 'return bytes(one - 3 for one in ids if 3 <= one < 259).decode("utf-8", errors="replace")'

for name, new, hint in (
    (
        "characters",
        "return [ord(letter) + 3 for letter in given] + [1]",
        "You number characters, of which there are more than a hundred thousand. Bytes are asked "
        "for: é has two, 🙂 has four, and each id lies below 259.",
    ),
    (
        "no offset of 3 when writing",
        'return [*given.encode("utf-8"), 1]',
        "Your ids are the bytes themselves. The ids 0, 1 and 2 are taken, so a byte has an id that "
        "is larger by 3.",
    ),
    (
        "the end missing",
        'return [byte + 3 for byte in given.encode("utf-8")]',
        "Your ids are not closed: behind the last byte stands 1, behind none as well.",
    ),
    (
        "the end shifted",
        'return [byte + 3 for byte in [*given.encode("utf-8"), 1]]',
        "You shift the end by 3 as well. It is no byte: its id is 1.",
    ),
    (
        "2 for the end",
        'return [byte + 3 for byte in given.encode("utf-8")] + [2]',
        "You close with 2, which is the unknown one. The end is 1.",
    ),
    (
        "an empty text has no ids",
        'return [byte + 3 for byte in given.encode("utf-8")] + [1] if given else []',
        "An empty text has no ids in yours. It is over at once, and that is an id: 1.",
    ),
    (
        "sixteen bits",
        'return [byte + 3 for byte in given.encode("utf-16-le")] + [1]',
        "You encode in UTF-16, where each letter has two bytes at least. UTF-8 is asked for.",
    ),
    (
        "Latin-1",
        'return [byte + 3 for byte in given.encode("latin-1", errors="replace")] + [1]',
        "You encode in Latin-1, which has 256 characters and no more. UTF-8 has all of them.",
    ),
    (
        "plain letters only",
        'return [byte + 3 for byte in given.encode("ascii", errors="ignore")] + [1]',
        "You leave out whatever is no plain letter. UTF-8 has bytes for all characters.",
    ),
    (
        "a mark in front",
        'return [byte + 3 for byte in given.encode("utf-8-sig")] + [1]',
        "Three bytes stand in front of your text that are not in it: utf-8-sig writes a mark. "
        "utf-8 does not.",
    ),
    (
        "composed first",
        "import unicodedata\n\n"
        '        given = unicodedata.normalize("NFC", given)\n'
        '        return [byte + 3 for byte in given.encode("utf-8")] + [1]',
        "You change the text before you encode it: an e with an accent behind it becomes one "
        "character. Its bytes are asked for as they are.",
    ),
    (
        "stripped",
        'return [byte + 3 for byte in " ".join(given.split()).encode("utf-8")] + [1]',
        "You clean the white space. Each blank, tab and line end is a byte like any other.",
    ),
    (
        "a bytes object",
        'return bytes([byte + 3 for byte in given.encode("utf-8") if byte < 253] + [1])',
        "You return a bytes object. A list of ids is asked for.",
    ),
):
    QUESTION.mistake(name, old=WRITE, new=new, hint=hint)

for name, new, hint in (
    (
        "the end kept",
        "ids = [4 if one == 1 else one for one in given]",
        "Your text goes on at the end: 1 is no byte, and what stands behind it does not count.",
    ),
    (
        "only the end taken out",
        "ids = given",
        "You take out the end, and go on reading behind it. A text is over at its first 1.",
    ),
    (
        "the last id cut",
        "ids = given[:-1]",
        "You cut the last id, whatever it is. The end may be missing, or more may stand behind it: "
        "look for the first 1.",
    ),
    (
        "an end must be there",
        "ids = given[: given.index(1)]",
        "You look for an end that need not be there: a model may have been stopped before it wrote "
        "one. Then all ids count.",
    ),
    (
        "cut at the last end",
        "ids = given[: len(given) - 1 - given[::-1].index(1)] if 1 in given else given",
        "You cut at the last 1. A text is over at its first.",
    ),
    (
        "cut at the first special id",
        "ids = given[: next((n for n, one in enumerate(given) if one < 3), len(given))]",
        "Padding and the unknown id end your text too. They are left out; only 1 ends it.",
    ),
    (
        "cut in place",
        "ids = given\n    del ids[ids.index(1) if 1 in ids else len(ids) :]",
        "The result is right, but you have cut the list that you were given. A slice makes a new "
        "one.",
    ),
    (
        "taken out in place",
        "ids = given[: given.index(1)] if 1 in given else list(given)\n"
        "    given[:] = [one for one in given if 3 <= one < 259]",
        "The result is right, but you have taken ids out of the list that you were given. Make a "
        "new one.",
    ),
):
    QUESTION.mistake(name, old=ENDED, new=new, hint=hint)

for name, new, hint in (
    (
        "no offset of 3 when reading",
        'return bytes(one for one in ids if 3 <= one < 256).decode("utf-8", errors="replace")',
        "You read ids as if they were bytes. A byte has an id that is larger by 3, so take 3 off.",
    ),
    (
        "broken UTF-8 raises",
        'return bytes(one - 3 for one in ids if 3 <= one < 259).decode("utf-8")',
        "Bytes that spell no character stop you with a UnicodeDecodeError. A model writes whatever "
        "it likes, or is stopped in the middle of a character: each stretch becomes a �.",
    ),
    (
        "broken UTF-8 left out",
        'return bytes(one - 3 for one in ids if 3 <= one < 259).decode("utf-8", errors="ignore")',
        "Bytes that spell no character are left out in yours. Then nobody sees that something went "
        "wrong: put a � there.",
    ),
    (
        "broken UTF-8 in numbers",
        "return bytes(one - 3 for one in ids if 3 <= one < 259)"
        '.decode("utf-8", errors="backslashreplace")',
        "Bytes that spell no character are spelled out in yours, as \\xc3. Put a � there.",
    ),
    (
        "a question mark",
        'return bytes(one - 3 for one in ids if 3 <= one < 259).decode("utf-8", errors="replace")'
        '.replace("\\ufffd", "?")',
        "Bytes that spell no character become a question mark in yours, which a text may have had. "
        "The sign for them is �.",
    ),
    (
        "byte by byte",
        'return "".join(chr(one - 3) for one in ids if 3 <= one < 259)',
        "You read each byte as a character of its own. é is two bytes: put all of them together, "
        "then decode.",
    ),
    (
        "decoded byte by byte",
        'return "".join(bytes([one - 3]).decode("utf-8", errors="replace")\n'
        "        for one in ids if 3 <= one < 259)",
        "You decode each byte alone, and of a character of two bytes two � are left. Put all of "
        "them together first.",
    ),
    (
        "piece by piece between others",
        'text = "".join(chr(one) if 3 <= one < 259 else "\\0" for one in ids)\n'
        '    return "".join(\n'
        '        bytes(ord(one) - 3 for one in part).decode("utf-8", errors="replace")\n'
        '        for part in text.split("\\0")\n'
        "    )",
        "You decode what stands between two ids that are no bytes, each stretch alone. Leave those "
        "ids out first, and decode once.",
    ),
    (
        "characters, both ways",
        'return "".join(chr(one - 3) for one in ids if one >= 3)',
        "You read each id as a character. Ids are of bytes: é is two of them. And above 258 "
        "stands none.",
    ),
    (
        "padding and unknown kept",
        "ids = [(one - 3) % 256 for one in ids if one < 259]\n"
        '    return bytes(ids).decode("utf-8", errors="replace")',
        "Padding and the unknown id have become bytes in yours. 0 and 2 stand for none: leave them "
        "out.",
    ),
    (
        "high ids wrapped round",
        "ids = [(one - 3) % 256 for one in ids if one >= 3]\n"
        '    return bytes(ids).decode("utf-8", errors="replace")',
        "Ids above 258 have become bytes in yours. They stand for none: leave them out.",
    ),
    (
        "all that is no byte stops it",
        'return bytes(one - 3 for one in ids).decode("utf-8", errors="replace")',
        "Ids that are no bytes, below 3 or above 258, stop you with an error. Leave them out.",
    ),
    (
        "high ids stop it",
        'return bytes(one - 3 for one in ids if one >= 3).decode("utf-8", errors="replace")',
        "An id above 258 stops you with an error. There is no such byte: leave the id out.",
    ),
    (
        "low ids stop it",
        'return bytes(one - 3 for one in ids if one < 259).decode("utf-8", errors="replace")',
        "Padding, 0, or the unknown id, 2, stops you with an error. They are no bytes: leave them "
        "out.",
    ),
    (
        "the highest byte left out",
        'return bytes(one - 3 for one in ids if 3 <= one < 258).decode("utf-8", errors="replace")',
        "The id 258 is a byte too: 255. It spells nothing in UTF-8, and has to show as a �.",
    ),
    (
        "up to 255",
        'return bytes(one - 3 for one in ids if 3 <= one < 256).decode("utf-8", errors="replace")',
        "You leave out the ids 256 to 258. With the offset they are the bytes 253 to 255; they "
        "spell nothing in UTF-8, and have to show as a �.",
    ),
    (
        "the lowest byte left out",
        'return bytes(one - 3 for one in ids if 3 < one < 259).decode("utf-8", errors="replace")',
        "The id 3 is a byte too: 0. It is a character that does not show, and still one.",
    ),
    (
        "a � for what is no byte",
        "return bytes(one - 3 if 3 <= one < 259 else 255 for one in ids)"
        '.decode("utf-8", errors="replace")',
        "Ids that are no bytes become a � in yours. They are left out; the sign is for bytes that "
        "spell nothing.",
    ),
    (
        "read as Latin-1",
        'return bytes(one - 3 for one in ids if 3 <= one < 259).decode("latin-1").strip("\\0")',
        "You decode in Latin-1, where each byte is a character. UTF-8 is asked for.",
    ),
    (
        "only ids",
        "return list(ids)",
        "You return a list of ids. What they spell is asked for, a string.",
    ),
):
    QUESTION.mistake(name, old=READ, new=new, hint=hint)
