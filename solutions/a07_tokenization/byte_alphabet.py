"""A printing symbol for each byte."""

from __future__ import annotations

from coursetools.questions import hidden, visible


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


@visible("write: words, spaces, the end of a line")
def write_words_spaces_the_end_of(student):
    return student.ByteAlphabet().write("To be,\n or not")


@visible("write: née, four bytes")
def write_ne_four_bytes(student):
    return student.ByteAlphabet().write("née")


@visible("write: là, with a byte that does not print")
def write_l_with_a_byte_that(student):
    return student.ByteAlphabet().write("là")


@visible("write: aquí, with the byte of the soft hyphen")
def write_aqu_with_the_byte_of(student):
    return student.ByteAlphabet().write("aquí")


@visible("write: 数 and 🙂")
def write_and(student):
    return student.ByteAlphabet().write("数🙂")


@visible("read: what was written")
def read_what_was_written(student):
    return student.ByteAlphabet().read("lÃłĠoÃ¹Ċ")


@visible("read: half a character")
def read_half_a_character(student):
    return student.ByteAlphabet().read("nÃ")


@hidden("no text")
def bytes_nothing(student):
    return student.ByteAlphabet().write(""), student.ByteAlphabet().read("")


@hidden("all characters of Latin-1", weight=2)
def bytes_latin(student):
    return student.ByteAlphabet().write("".join(map(chr, range(256))))


@hidden("there and back in eight scripts", weight=2)
def bytes_back(student):
    text = "naïve Ωμέγα щука שלום हिन्दी 한글 漢字 👩🏽‍🚀\t\x00\u00ad"
    alphabet = student.ByteAlphabet()
    assert alphabet.read(alphabet.write(text)) == text
    return len(alphabet.write(text))


@hidden("each byte has a symbol of its own, one character long")
def bytes_distinct(student):
    characters = [*range(128), *range(0x80, 0x800, 61), *range(0x800, 0x110000, 0x2F1F)]
    text = "".join(chr(n) for n in characters if not 0xD800 <= n < 0xE000)
    written = student.ByteAlphabet().write(text)
    assert len(written) == len(text.encode())
    return sorted(set(written))


@hidden("pieces that begin and end inside a character", weight=2)
def bytes_cut(student):
    alphabet = student.ByteAlphabet()
    written = alphabet.write("a🙂é")
    return [alphabet.read(written[start : start + 3]) for start in range(len(written))]


@hidden("a byte that no text has")
def bytes_impossible(student):
    return student.ByteAlphabet().read("okÿÀok")
