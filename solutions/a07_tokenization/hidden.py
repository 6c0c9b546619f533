"""The hidden cases of assignment 7: students may read what a case `says`, and nothing else."""

from coursekit.exercises import hidden
from coursekit.exercises.probe import after

TEXT = "it is not the what of the thing but the how of the thing that is the thing"


def counted(text):
    """Return how often each word stands in `text`."""
    words = text.split()
    return {word: words.count(word) for word in words}


# --- merge_pair


@hidden("merge_pair", says="nothing, and one symbol")
def merge_short(student):
    return student.merge_pair([], ("o", "f")), student.merge_pair(["of"], ("o", "f"))


@hidden("merge_pair", says="a pair that is not there")
def merge_absent(student):
    return student.merge_pair(list("without"), ("t", "w"))


@hidden("merge_pair", says="long symbols", weight=2)
def merge_long(student):
    symbols = ["tok", "en", "iz", "ation", "iz", "ation", "iz", "a", "tion"]
    return student.merge_pair(symbols, ("iz", "ation"))


@hidden("merge_pair", says="runs of one symbol", weight=2)
def merge_runs(student):
    return [student.merge_pair(["ha"] * length, ("ha", "ha")) for length in range(2, 8)]


@hidden("merge_pair", says="symbols that have a space or a sign in them")
def merge_signs(student):
    spaced = student.merge_pair([" ", "a", " ", "a b", "a", " "], ("a", " "))
    return spaced, student.merge_pair([".", "*", "\\", ".", "*"], (".", "*"))


@hidden("merge_pair", says="what comes back is a new list")
def merge_new(student):
    return after(student.merge_pair, ["x", "y", "z"], ("y", "x"))


# --- learn_bpe


@hidden("learn_bpe", says="no words, and no steps")
def learn_nothing(student):
    return student.learn_bpe({}, 3), student.learn_bpe({"them": 2}, 0)


@hidden("learn_bpe", says="a short text", weight=2)
def learn_text(student):
    return student.learn_bpe(counted(TEXT), 12)


@hidden("learn_bpe", says="until nothing is left", weight=2)
def learn_all(student):
    found = student.learn_bpe(counted("she sells sea shells"), 100)
    assert len(found) == len({left + right for left, right in found})
    return found


@hidden("learn_bpe", says="a word that repeats itself")
def learn_repeats(student):
    return student.learn_bpe({"mamama": 2, "aaaaa": 3, "barbara": 1}, 5)


@hidden("learn_bpe", says="accents, signs and other scripts")
def learn_scripts(student):
    return student.learn_bpe({"été": 4, "bêtes": 3, "c'est": 2, "слово": 2, "слова": 5}, 8)


@hidden("learn_bpe", says="frequent words and rare ones")
def learn_frequent(student):
    return student.learn_bpe({"of": 3000, "off": 3, "fog": 2999, "go": 4}, 4)


@hidden("learn_bpe", says="the words are left as they were")
def learn_keeps(student):
    return after(student.learn_bpe, {"tea": 3, "eat": 2}, 2)


# --- bpe_encode


@hidden("bpe_encode", says="no letters, and no merges")
def encode_nothing(student):
    return student.bpe_encode("", [("a", "t")]), student.bpe_encode("attic", [])


@hidden("bpe_encode", says="letters that training has not seen")
def encode_unseen(student):
    return student.bpe_encode("the 🙂!", [("h", "e"), ("t", "he")])


@hidden("bpe_encode", says="a word of training comes out whole")
def encode_whole(student):
    merges = [("n", "g"), ("i", "ng"), ("t", "h"), ("th", "ing")]
    return student.bpe_encode("thing", merges), student.bpe_encode("things", merges)


@hidden("bpe_encode", says="an early merge spoils a late one", weight=2)
def encode_spoiled(student):
    merges = [("e", "r"), ("h", "e"), ("t", "he"), ("r", "e"), ("er", "e"), ("he", "r")]
    return [student.bpe_encode(word, merges) for word in ("there", "then", "her", "error")]


@hidden("bpe_encode", says="merges of merges, in several places", weight=2)
def encode_several(student):
    merges = [("a", "n"), ("an", "an"), ("n", "a"), ("b", "anan"), ("banan", "a")]
    return [student.bpe_encode(word, merges) for word in ("bananarama", "ananas", "nannan")]


@hidden("bpe_encode", says="a run of one letter")
def encode_run(student):
    merges = [("z", "z"), ("zz", "zz"), ("zz", "z")]
    return [student.bpe_encode("z" * length, merges) for length in range(1, 9)]


@hidden("bpe_encode", says="the merges are left as they were")
def encode_keeps(student):
    return after(student.bpe_encode, "sees", [("s", "e"), ("e", "s")])


# --- ByteAlphabet


@hidden("ByteAlphabet", says="no text")
def bytes_nothing(student):
    return student.ByteAlphabet().write(""), student.ByteAlphabet().read("")


@hidden("ByteAlphabet", says="all characters of Latin-1", weight=2)
def bytes_latin(student):
    return student.ByteAlphabet().write("".join(map(chr, range(256))))


@hidden("ByteAlphabet", says="there and back in eight scripts", weight=2)
def bytes_back(student):
    text = "naïve Ωμέγα щука שלום हिन्दी 한글 漢字 👩🏽‍🚀\t\x00\u00ad"
    alphabet = student.ByteAlphabet()
    assert alphabet.read(alphabet.write(text)) == text
    return len(alphabet.write(text))


@hidden("ByteAlphabet", says="each byte has a symbol of its own, one character long")
def bytes_distinct(student):
    characters = [*range(128), *range(0x80, 0x800, 61), *range(0x800, 0x110000, 0x2F1F)]
    text = "".join(chr(n) for n in characters if not 0xD800 <= n < 0xE000)
    written = student.ByteAlphabet().write(text)
    assert len(written) == len(text.encode())
    return sorted(set(written))


@hidden("ByteAlphabet", says="pieces that begin and end inside a character", weight=2)
def bytes_cut(student):
    alphabet = student.ByteAlphabet()
    written = alphabet.write("a🙂é")
    return [alphabet.read(written[start : start + 3]) for start in range(len(written))]


@hidden("ByteAlphabet", says="a byte that no text has")
def bytes_impossible(student):
    return student.ByteAlphabet().read("okÿÀok")


# --- wordpiece


@hidden("wordpiece", says="no letters")
def wordpiece_nothing(student):
    return student.wordpiece("", ["a", "##a"])


@hidden("wordpiece", says="a word that is a piece")
def wordpiece_whole(student):
    return student.wordpiece("token", ["t", "tok", "##en", "token", "##oken", "tokens"])


@hidden("wordpiece", says="unknown at the start, in the middle, at the end", weight=2)
def wordpiece_unknown(student):
    vocabulary = ["un", "##do", "do", "##ing", "##n"]
    words = ("redo", "unredo", "undoes", "undoing", "xundo")
    return [student.wordpiece(word, vocabulary) for word in words]


@hidden("wordpiece", says="one letter after the other")
def wordpiece_letters(student):
    return student.wordpiece("assess", ["a", "##s", "##e"])


@hidden("wordpiece", says="the greedy way is not the shortest, or ends nowhere", weight=2)
def wordpiece_greedy(student):
    vocabulary = ["inter", "in", "internat", "##ion", "##i", "##o", "##n", "##national", "##al"]
    end = student.wordpiece("interned", ["inter", "intern", "##ned"])
    return student.wordpiece("international", vocabulary), end


@hidden("wordpiece", says="another unknown, and one that is a piece as well")
def wordpiece_named(student):
    odd = student.wordpiece("?", ["!"], unknown="?")
    return odd, student.wordpiece("été", ["ét", "##e"], unknown="[?]")


@hidden("wordpiece", says="signs and marks inside a word")
def wordpiece_marks(student):
    vocabulary = ["c", "#", "###", "##++", "##+", "c#"]
    return [student.wordpiece(word, vocabulary) for word in ("c++", "c#", "##", "c#+")]


# --- likeliest


@hidden("likeliest", says="no letters")
def likeliest_nothing(student):
    return student.likeliest("", {"a": -1.0})


@hidden("likeliest", says="a word in one piece, likely and unlikely")
def likeliest_whole(student):
    letters = {"o": -2.5, "n": -2.75}
    likely = student.likeliest("on", {**letters, "on": -5.0})
    return likely, student.likeliest("on", {**letters, "on": -5.5})


@hidden("likeliest", says="many ways, few of them good", weight=2)
def likeliest_many(student):
    word = "tokenization"
    spans = [(start, end) for start in range(12) for end in range(start + 1, 13)]
    scores = {
        word[start:end]: -3.0 - (end - start) ** 2 / 2 - (37 * start + 61 * end) % 89 / 20
        for start, end in spans
    }
    return student.likeliest(word, scores)


@hidden("likeliest", says="a long word, for which all ways are too many", weight=2)
def likeliest_long(student):
    scores = {"a": -3.0, "aa": -5.5, "aaa": -8.0, "b": -2.0, "ab": -3.5, "ba": -3.75}
    return student.likeliest("aaab" * 15, scores)


@hidden("likeliest", says="places that no way leads to")
def likeliest_gaps(student):
    scores = {"the": -2.0, "there": -6.0, "re": -3.0, "in": -2.0, "ein": -1.0, "r": -9.0}
    return [student.likeliest(word, scores) for word in ("therein", "therin", "thin", "ather")]


@hidden("likeliest", says="scores above zero, and impossible pieces")
def likeliest_signs(student):
    scores = {"x": 0.5, "y": -0.25, "xy": 0.75, "yx": 1.5, "xyx": 1.25}
    return student.likeliest("xyxyx", scores), student.likeliest("xz", scores)


@hidden("likeliest", says="the scores are left as they were")
def likeliest_keeps(student):
    return after(student.likeliest, "abab", {"ab": -2.0, "a": -0.5, "b": -1.0, "ba": -4.0})
