"""A printing symbol for each byte."""

from __future__ import annotations

from coursekit.exercises.a07_tokenization.shared import READY
from coursekit.exercises.question import Question


class ByteAlphabet:
    def __init__(self):
        prints = {*range(33, 127), *range(161, 173), *range(174, 256)}
        moved = iter(range(256, 512))
        self.symbol = {byte: chr(byte if byte in prints else next(moved)) for byte in range(256)}
        self.byte = {symbol: byte for byte, symbol in self.symbol.items()}

    def write(self, text):
        """Return one symbol for each byte of `text`."""
        return "".join(self.symbol[byte] for byte in text.encode())

    def read(self, symbols):
        """Return the text whose bytes `symbols` stand for."""
        return bytes(self.byte[symbol] for symbol in symbols).decode(errors="replace")


QUESTION = Question(
    name="ByteAlphabet",
    title="An alphabet for any text",
    points=3,
    difficulty=2,
    minutes=25,
    page="tokenization.html#sec-tokenization-bytes",
    hint="Make a dict from byte to symbol once: the 188 that print keep their number; walk through "
    "the other 68 in order and count up from 256. write looks each byte up; read looks back, "
    "puts all bytes together, and decodes them at once, so that a character may be in several "
    "of them.",
    reference=ByteAlphabet,
    forbidden=READY,
)


@QUESTION.visible(says="write: words, spaces, the end of a line")
def write_words_spaces_the_end_of(student):
    return student.ByteAlphabet().write("To be,\n or not")


@QUESTION.visible(says="write: née, four bytes")
def write_ne_four_bytes(student):
    return student.ByteAlphabet().write("née")


@QUESTION.visible(says="write: là, with a byte that does not print")
def write_l_with_a_byte_that(student):
    return student.ByteAlphabet().write("là")


@QUESTION.visible(says="write: aquí, with the byte of the soft hyphen")
def write_aqu_with_the_byte_of(student):
    return student.ByteAlphabet().write("aquí")


@QUESTION.visible(says="write: 数 and 🙂")
def write_and(student):
    return student.ByteAlphabet().write("数🙂")


@QUESTION.visible(says="read: what was written")
def read_what_was_written(student):
    return student.ByteAlphabet().read("lÃłĠoÃ¹Ċ")


@QUESTION.visible(says="read: half a character")
def read_half_a_character(student):
    return student.ByteAlphabet().read("nÃ")


@QUESTION.mistake(
    "Latin-1",
    hint="You write a character as one byte, which Latin-1 can do for 256 characters only. "
    "UTF-8 has all of Unicode: é is two bytes, 🙂 is four.",
)
class AlphabetOfLatin(ByteAlphabet):
    def write(self, text):
        return "".join(self.symbol[byte] for byte in text.encode("latin-1", "replace"))

    def read(self, symbols):
        return bytes(self.byte[symbol] for symbol in symbols).decode("latin-1")


@QUESTION.mistake(
    "UTF-16",
    hint="Your bytes are those of UTF-16, two for each letter. UTF-8 is asked for, which "
    "text.encode() gives.",
)
class AlphabetOfSixteenBits(ByteAlphabet):
    def write(self, text):
        return "".join(self.symbol[byte] for byte in text.encode("utf-16-le"))

    def read(self, symbols):
        return bytes(self.byte[symbol] for symbol in symbols).decode("utf-16-le", "replace")


QUESTION.mistake(
    "nothing moved",
    old="chr(byte if byte in prints else next(moved))",
    new="chr(byte)",
    hint="The bytes are right, the symbols are not: you use chr(byte) for all, and so spaces "
    "and control characters are still there. The 68 that do not print are moved.",
)

QUESTION.mistake(
    "only the space moved",
    old="chr(byte if byte in prints else next(moved))",
    new='"Ġ" if byte == 32 else chr(byte)',
    hint="The space is Ġ now, and the other 67 bytes that do not print are where they were, "
    "the end of a line among them.",
)

QUESTION.mistake(
    "all moved",
    old="chr(byte if byte in prints else next(moved))",
    new="chr(256 + byte)",
    hint="You move every byte by 256. The 188 that print stay what they are, so that an "
    "English word still reads like one.",
)

QUESTION.mistake(
    "moved by its own number",
    old="next(moved)",
    new="256 + byte",
    hint="Space and newline are right. But you move a byte to 256 plus its own number; it is "
    "256 plus its place among the 68 that do not print.",
)

QUESTION.mistake(
    "the space prints",
    old="{*range(33, 127), *range(161, 173), *range(174, 256)}",
    new="{byte for byte in range(256) if chr(byte).isprintable()}",
    hint="You take the space for a character that prints, as str.isprintable does. It is among "
    "the 68, so everything behind it is off by one as well.",
)

QUESTION.mistake(
    "the soft hyphen prints",
    old="*range(161, 173), *range(174, 256)",
    new="*range(161, 256)",
    hint="Nearly: byte 173 is the soft hyphen, which does not print. It is the last of the 68.",
)

QUESTION.mistake(
    "read one by one",
    old='bytes(self.byte[symbol] for symbol in symbols).decode(errors="replace")',
    new=(
        '"".join(\n'
        '            bytes([self.byte[symbol]]).decode(errors="replace") for symbol in symbols\n'
        "        )"
    ),
    hint="You decode each byte alone, and half a character is none. Put all bytes together "
    "first, then decode once.",
)

QUESTION.mistake(
    "strict",
    old='errors="replace"',
    new="",
    hint="Your read raises at half a character. A token may end there, so it must be shown as "
    'something: decode(errors="replace").',
)

QUESTION.mistake(
    "half a character dropped",
    old='errors="replace"',
    new='errors="ignore"',
    hint="Your read leaves out what is no character. It should say that there was something, "
    'with the sign �: errors="replace".',
)
