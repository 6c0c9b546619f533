"""Assignment 7, to the page "Tokenization": byte-pair encoding from the first merge to the last,
the alphabet of bytes, the longest piece first, and the likeliest cut of a word.

The wrong answers, each with the hint for whoever gave it, are in `mistakes/a07_tokenization.py`.
Everything is plain Python: strings, lists, tuples, and dicts with strings for keys.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from coursekit.exercises.mistakes import a07_tokenization as wrong
from coursekit.exercises.probe import after
from coursekit.exercises.question import Assignment, Case, Misconception, Question, Written
from coursekit.tokenizers.byte_bpe import show, unshow
from coursekit.tokenizers.unigram import best_segmentation

READY = ("coursekit", "tokenizers", "sentencepiece", "transformers", "tiktoken")

# --- merge_pair


def _merge_pair(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    """Join the pair wherever it stands, from the left; no symbol is used twice."""
    merged, place = [], 0
    while place < len(symbols):
        width = 2 if tuple(symbols[place : place + 2]) == tuple(pair) else 1
        merged.append("".join(symbols[place : place + width]))
        place += width
    return merged


MERGE = Question(
    name="merge_pair",
    title="Two neighbours become one",
    points=2,
    difficulty=1,
    minutes=15,
    hint="Walk from the left with a place of your own (a while loop). Where the two symbols at "
    "that place are the pair, append the joined one and go on two places; else append one symbol "
    "and go on one.",
    page="tokenization.html#sec-tokenization-bpe",
    reference=_merge_pair,
    cases=(
        Case(
            "n o o n, the pair at the end",
            lambda student: student.merge_pair(["n", "o", "o", "n"], ("o", "n")),
        ),
        Case(
            "o n i o n, twice the pair",
            lambda student: student.merge_pair(["o", "n", "i", "o", "n"], ("o", "n")),
        ),
        Case(
            "a a a b, where the pair a a overlaps itself",
            lambda student: student.merge_pair(["a", "a", "a", "b"], ("a", "a")),
        ),
        Case(
            "th e s es e, where s e stands only in the letters",
            lambda student: student.merge_pair(["th", "e", "s", "es", "e"], ("s", "e")),
        ),
        Case(
            "the input is left as it was",
            lambda student: after(student.merge_pair, ["lo", "w", "lo"], ("lo", "w")),
        ),
    ),
    misconceptions=(
        Misconception(
            "the first only",
            wrong.merge_first_only,
            "You stop after the first pair. All of them are merged, in one walk from the left.",
        ),
        Misconception(
            "the right half stays",
            wrong.merge_keeps_right,
            "Your joined symbol is there, and so is its right half. After a merge, go on two "
            "places.",
        ),
        Misconception(
            "from the right",
            wrong.merge_from_the_right,
            "In a a a you merge the last two. Walk from the left, so that it becomes aa a.",
        ),
        Misconception(
            "replaced in a text",
            wrong.merge_as_text,
            'You join the symbols with spaces and replace in that text. There "s e" is also found '
            'where "s es" or "es e" stands. Compare whole symbols.',
        ),
        Misconception(
            "letters, not symbols",
            wrong.merge_letters,
            "You look at letters, so that what was joined before is lost. The units are the "
            "symbols of the list, whatever their length.",
        ),
        Misconception(
            "the last symbol lost",
            wrong.merge_loses_last,
            "The last symbol is missing where it is in no pair. It has no right neighbour, but it "
            "stays.",
        ),
        Misconception(
            "either order",
            wrong.merge_either_order,
            "You merge the two in either order. A pair has a left and a right half: n o is not "
            "o n.",
        ),
        Misconception(
            "a whole run",
            wrong.merge_whole_run,
            "You make one symbol of all of a a a. A merge joins two; the third is left over.",
        ),
    ),
    forbidden=READY,
)

# --- learn_bpe


def _learn_bpe(words: dict[str, int], steps: int) -> list[tuple[str, str]]:
    """Merge the most frequent pair, `steps` times; of equals the first in the alphabet."""
    cut, merges = {word: list(word) for word in words}, []
    for _ in range(steps):
        counts: Counter[tuple[str, str]] = Counter()
        for word, symbols in cut.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        cut = {word: _merge_pair(symbols, merges[-1]) for word, symbols in cut.items()}
    return merges


LEARN = Question(
    name="learn_bpe",
    title="Learn what to merge",
    points=5,
    difficulty=3,
    minutes=40,
    hint="Keep each word as a list of symbols, at first its letters. In each step: count all "
    "pairs, zip(symbols, symbols[1:]), each with the count of its word; take the pair that is "
    "smallest by (-count, pair); merge it in every word; count again.",
    page="tokenization.html#sec-tokenization-bpe",
    reference=_learn_bpe,
    cases=(
        Case(
            "one merge: ab 3 times, bc 5 times",
            lambda student: student.learn_bpe({"ab": 3, "bc": 5}, 1),
        ),
        Case(
            "three pairs, twice each: ab is first in the alphabet",
            lambda student: student.learn_bpe({"cd": 2, "xy": 2, "ab": 2}, 1),
        ),
        Case(
            "six merges in low, lower, newest and widest",
            lambda student: student.learn_bpe({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 6),
            weight=2,
        ),
        Case(
            "papa has the pair p a twice",
            lambda student: student.learn_bpe({"papa": 2, "ox": 3}, 3),
        ),
        Case(
            "aaa has the pair a a twice",
            lambda student: student.learn_bpe({"aaa": 2, "bc": 3}, 1),
        ),
        Case(
            "ten merges, where only one can be made",
            lambda student: student.learn_bpe({"ab": 1, "c": 4}, 10),
        ),
    ),
    misconceptions=(
        Misconception(
            "each word counted once",
            wrong.learn_types,
            "You count in the list of words and not in the text. A word that stands there five "
            "times brings each of its pairs five times.",
        ),
        Misconception(
            "ties as they come",
            wrong.learn_ties_as_they_come,
            "Where two pairs are equally frequent you take the one that came first in the text. "
            "The rule here is the alphabet: the smaller tuple.",
        ),
        Misconception(
            "ties from the end of the alphabet",
            wrong.learn_ties_backwards,
            "Where two pairs are equally frequent you take the last in the alphabet: max over "
            "(count, pair) does that. Take the smallest of (-count, pair).",
        ),
        Misconception(
            "once in a word",
            wrong.learn_once_a_word,
            "You count a pair once for each word that has it. papa has p a twice, and both count.",
        ),
        Misconception(
            "overlaps not counted",
            wrong.learn_no_overlap,
            "In aaa you count one a a, as str.count does. Each symbol is counted with its right "
            "neighbour, so there are two.",
        ),
        Misconception(
            "counted only once",
            wrong.learn_counts_once,
            "You take the best pairs of the first count. After a merge the neighbours are others: "
            "merge in all words, then count again.",
        ),
        Misconception(
            "merged once a word",
            wrong.learn_first_only,
            "After a step your words still have the pair that was merged: in each word you join "
            "only the first one.",
        ),
        Misconception(
            "across words",
            wrong.learn_across_words,
            "Your pairs go from the end of a word to the start of the next. A word is counted by "
            "itself.",
        ),
        Misconception(
            "rare pairs left out",
            wrong.learn_no_rare_pairs,
            "You stop at pairs that stand in the text once. Here merging goes on until the steps "
            "are made or no word has two symbols.",
        ),
        Misconception(
            "steps taken for the size",
            wrong.learn_to_a_size,
            "You stop when the vocabulary, letters included, has `steps` symbols. `steps` is the "
            "number of merges.",
        ),
        Misconception(
            "the new symbols",
            wrong.learn_tokens,
            'You return the joined symbols. "abc" may be a + bc or ab + c, so a merge is '
            "remembered as a pair: a tuple of left and right.",
        ),
    ),
    forbidden=READY,
    needs=("merge_pair",),
)

# --- bpe_encode


def _bpe_encode(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """Merge what was learned first, as long as there is something to merge."""
    rank: dict[tuple[str, str], int] = {}
    for place, pair in enumerate(merges):
        rank.setdefault(tuple(pair), place)
    symbols = list(word)
    while found := [pair for pair in pairwise(symbols) if pair in rank]:
        symbols = _merge_pair(symbols, min(found, key=rank.__getitem__))
    return symbols


BC, AB = ("b", "c"), ("a", "b")  # two merges that want the same letter

ENCODE = Question(
    name="bpe_encode",
    title="Cut a word that was never seen",
    points=3,
    difficulty=2,
    minutes=25,
    hint="Start from the letters. Of the pairs that stand in the word now, find the one that "
    "stands first in `merges`, merge it with your merge_pair, and look again, until no pair of "
    "the word is in the list.",
    page="tokenization.html#sec-tokenization-bpe",
    reference=_bpe_encode,
    cases=(
        Case(
            "lowest, by four merges",
            lambda student: student.bpe_encode(
                "lowest", [("e", "s"), ("es", "t"), ("l", "o"), ("lo", "w")]
            ),
        ),
        Case(
            "abc, where b c was learned before a b",
            lambda student: student.bpe_encode("abc", [BC, AB]),
        ),
        Case(
            "abc, where a b was learned before b c",
            lambda student: student.bpe_encode("abc", [AB, BC]),
        ),
        Case(
            "abc, where ab c was learned, but after b c",
            lambda student: student.bpe_encode("abc", [BC, AB, ("ab", "c")]),
        ),
        Case(
            "abcd, where a bc was learned last",
            lambda student: student.bpe_encode("abcd", [BC, AB, ("a", "bc")]),
        ),
        Case(
            "papa and aaa",
            lambda student: [
                student.bpe_encode("papa", [("p", "a")]),
                student.bpe_encode("aaa", [("a", "a")]),
            ],
        ),
    ),
    misconceptions=(
        Misconception(
            "longest first",
            wrong.encode_longest_first,
            "You cut off the longest known symbol from the left. That is WordPiece's way. Here "
            "the order in which merges were learned decides.",
        ),
        Misconception(
            "from left to right",
            wrong.encode_left_to_right,
            "You merge the leftmost pair that is in the list. It is the place in the list that "
            "counts, not the place in the word: the earliest merge goes first.",
        ),
        Misconception(
            "latest first",
            wrong.encode_latest_first,
            "You begin with what was learned last. The words of training were merged from the "
            "first on, and a new word goes the same way.",
        ),
        Misconception(
            "each merge once",
            wrong.encode_each_merge_once,
            "You use each merge for one place. It is made wherever the pair stands.",
        ),
        Misconception(
            "one merge only",
            wrong.encode_one_merge,
            "You stop after one merge. Go on as long as some pair of the word is in the list.",
        ),
        Misconception(
            "one sweep",
            wrong.encode_one_sweep,
            "You go over the letters once, and what was joined is never joined again. After each "
            "merge look at the new neighbours.",
        ),
        Misconception(
            "the whole word first",
            wrong.encode_whole_word_first,
            "You return the word whole if some merge spells it. The merges that come before may "
            "lead elsewhere, and then that symbol is never reached.",
        ),
        Misconception(
            "from the right",
            wrong.encode_from_the_right,
            "In a a a you merge the last two. Merge from the left, as in merge_pair.",
        ),
    ),
    forbidden=READY,
    needs=("merge_pair",),
)

# --- ByteAlphabet


class _ByteAlphabet:
    """GPT-2's way to show bytes, by the course's own functions."""

    def write(self, text: str) -> str:
        """Return a symbol for each byte of the UTF-8 form of `text`."""
        return show(text.encode())

    def read(self, symbols: str) -> str:
        """Return the text that `symbols` spell; � where bytes are no character."""
        return unshow(symbols).decode(errors="replace")


BYTES = Question(
    name="ByteAlphabet",
    title="An alphabet for any text",
    points=3,
    difficulty=2,
    minutes=25,
    hint="Make a dict from byte to symbol once: the 188 that print are chr(byte); walk through "
    "the other 68 in order and give them chr(256), chr(257), … write looks each byte of "
    "text.encode() up; read looks back, puts all bytes together, and decodes them at once with "
    'errors="replace".',
    page="tokenization.html#sec-tokenization-bytes",
    reference=_ByteAlphabet,
    cases=(
        Case(
            "write: words, spaces, the end of a line",
            lambda student: student.ByteAlphabet().write("To be,\n or not"),
        ),
        Case("write: née, four bytes", lambda student: student.ByteAlphabet().write("née")),
        Case(
            "write: là, with a byte that does not print",
            lambda student: student.ByteAlphabet().write("là"),
        ),
        Case(
            "write: aquí, with the byte of the soft hyphen",
            lambda student: student.ByteAlphabet().write("aquí"),
        ),
        Case("write: 数 and 🙂", lambda student: student.ByteAlphabet().write("数🙂")),
        Case(
            "read: what was written",
            lambda student: student.ByteAlphabet().read("lÃłĠoÃ¹Ċ"),
        ),
        Case(
            "read: half a character",
            lambda student: student.ByteAlphabet().read("nÃ"),
        ),
    ),
    misconceptions=(
        Misconception(
            "Latin-1",
            wrong.AlphabetOfLatin,
            "You write a character as one byte, which Latin-1 can do for 256 characters only. "
            "UTF-8 has all of Unicode: é is two bytes, 🙂 is four.",
        ),
        Misconception(
            "UTF-16",
            wrong.AlphabetOfSixteenBits,
            "Your bytes are those of UTF-16, two for each letter. UTF-8 is asked for, which "
            "text.encode() gives.",
        ),
        Misconception(
            "nothing moved",
            wrong.AlphabetUnmoved,
            "The bytes are right, the symbols are not: you use chr(byte) for all, and so spaces "
            "and control characters are still there. The 68 that do not print are moved.",
        ),
        Misconception(
            "only the space moved",
            wrong.AlphabetSpaceMoved,
            "The space is Ġ now, and the other 67 bytes that do not print are where they were, "
            "the end of a line among them.",
        ),
        Misconception(
            "all moved",
            wrong.AlphabetAllMoved,
            "You move every byte by 256. The 188 that print stay what they are, so that an "
            "English word still reads like one.",
        ),
        Misconception(
            "moved by its own number",
            wrong.AlphabetMovedByValue,
            "Space and newline are right. But you move a byte to 256 plus its own number; it is "
            "256 plus its place among the 68 that do not print.",
        ),
        Misconception(
            "the space prints",
            wrong.AlphabetSpacePrints,
            "You take the space for a character that prints, as str.isprintable does. It is among "
            "the 68, so everything behind it is off by one as well.",
        ),
        Misconception(
            "the soft hyphen prints",
            wrong.AlphabetHyphenPrints,
            "Nearly: byte 173 is the soft hyphen, which does not print. It is the last of the 68.",
        ),
        Misconception(
            "read one by one",
            wrong.AlphabetReadsOneByOne,
            "You decode each byte alone, and half a character is none. Put all bytes together "
            "first, then decode once.",
        ),
        Misconception(
            "strict",
            wrong.AlphabetStrict,
            "Your read raises at half a character. A token may end there, so it must be shown as "
            'something: decode(errors="replace").',
        ),
        Misconception(
            "half a character dropped",
            wrong.AlphabetDrops,
            "Your read leaves out what is no character. It should say that there was something, "
            'with the sign �: errors="replace".',
        ),
    ),
    forbidden=READY,
)

# --- wordpiece


def _wordpiece(word: str, vocabulary: list[str], unknown: str = "[UNK]") -> list[str]:
    """Cut off the longest known piece, again and again; a dead end makes the word unknown."""
    known, pieces, start = set(vocabulary), [], 0
    while start < len(word):
        mark = "##" if start else ""
        for end in range(len(word), start, -1):
            if mark + word[start:end] in known:
                break
        else:
            return [unknown]
        pieces.append(mark + word[start:end])
        start = end
    return pieces


def _cuts() -> list[str]:
    return ["ab", "abc", "a", "##bcd", "##cd", "##d"]


WORDPIECE = Question(
    name="wordpiece",
    title="The longest piece first",
    points=3,
    difficulty=2,
    minutes=20,
    hint="At each start, try the ends from the end of the word back. What you look up is the "
    "piece with ## before it, except at start 0, and that is also what you append. If no end "
    "fits, return [unknown] and forget the pieces.",
    page="tokenization.html#sec-tokenization-wordpiece",
    reference=_wordpiece,
    cases=(
        Case(
            "unaffable",
            lambda student: student.wordpiece("unaffable", ["un", "u", "##aff", "##a", "##able"]),
        ),
        Case(
            "playing, where ing is a word as well",
            lambda student: student.wordpiece("playing", ["play", "ing", "##in", "##ing", "##g"]),
        ),
        Case(
            "abcd, which can be cut in three ways",
            lambda student: student.wordpiece("abcd", _cuts()),
        ),
        Case(
            "abcd, where the longest piece leads to a dead end",
            lambda student: student.wordpiece("abcd", ["abc", "ab", "##cd"]),
        ),
        Case(
            "naïve, with a letter that no piece has",
            lambda student: student.wordpiece("naïve", ["na", "##ve", "##v", "##e", "ve"]),
        ),
        Case(
            "another name for the unknown",
            lambda student: student.wordpiece("xy", ["x", "y"], unknown="<unk>"),
        ),
    ),
    misconceptions=(
        Misconception(
            "no marks",
            wrong.pieces_without_marks,
            "You look up and return pieces without ##. Only the first piece of a word is written "
            'bare: "ing" in the vocabulary is a word of its own.',
        ),
        Misconception(
            "marked after the look-up",
            wrong.pieces_marked_late,
            'You look up the bare piece and add ## afterwards. "##ing" and "ing" are two entries; '
            "look up the one with the mark.",
        ),
        Misconception(
            "the mark lost",
            wrong.pieces_unmarked_late,
            "You find the right pieces and return them without their ##. Return what stands in "
            "the vocabulary.",
        ),
        Misconception(
            "the rest unknown",
            wrong.pieces_then_unknown,
            "You keep the pieces before the dead end. The word is unknown as a whole: [unknown] "
            "and nothing else.",
        ),
        Misconception(
            "a letter unknown",
            wrong.pieces_letter_unknown,
            "You skip one letter at a dead end and go on. The word is unknown as a whole: "
            "[unknown] and nothing else.",
        ),
        Misconception(
            "always [UNK]",
            wrong.pieces_fixed_unknown,
            'You return "[UNK]" whatever the argument `unknown` says.',
        ),
        Misconception(
            "shortest first",
            wrong.pieces_shortest_first,
            "You take the shortest piece that fits. Try the ends from the end of the word back.",
        ),
        Misconception(
            "going back",
            wrong.pieces_go_back,
            "You find a way out of the dead end by taking a shorter piece before it. WordPiece "
            "never goes back: that word is unknown.",
        ),
        Misconception(
            "from the end",
            wrong.pieces_from_the_end,
            "You cut off the longest piece at the end of the word. The longest one at the start "
            "goes first.",
        ),
    ),
    forbidden=READY,
)

# --- likeliest


def _likeliest(word: str, scores: dict[str, float]) -> list[str]:
    """The likeliest way to cut `word` into pieces that have a score (Viterbi)."""
    return best_segmentation(word, scores, max(map(len, scores), default=1))


LIKELIEST = Question(
    name="likeliest",
    title="The likeliest way to cut a word",
    points=5,
    difficulty=3,
    minutes=40,
    hint="Let best[end] be the best way to write word[:end]: its score, and its pieces (or where "
    "its last piece begins). best[0] is 0 and no pieces. For each end, try all starts before it: "
    "best[start] plus the score of word[start:end]. A place that no way leads to stays None.",
    page="tokenization.html#sec-tokenization-unigram",
    reference=_likeliest,
    cases=(
        Case(
            "abc, four ways",
            lambda student: student.likeliest(
                "abc", {"a": -2.0, "b": -2.0, "c": -2.0, "ab": -3.0, "bc": -2.5, "abc": -6.5}
            ),
        ),
        Case(
            "abcde, two ways",
            lambda student: student.likeliest(
                "abcde", {"ab": -4.0, "cde": -5.0, "abc": -4.5, "d": -1.5, "e": -2.0}
            ),
        ),
        Case(
            "abcd, where the longest piece leads nowhere",
            lambda student: student.likeliest(
                "abcd", {"abc": -1.0, "ab": -3.0, "cd": -3.0, "a": -2.0, "bcd": -5.5}
            ),
        ),
        Case(
            "abcd, where a good piece has bad company",
            lambda student: student.likeliest(
                "abcd", {"abc": -7.0, "d": -1.0, "ab": -3.0, "cd": -2.0, "a": -1.5, "b": -9.0}
            ),
        ),
        Case(
            "a word that cannot be written",
            lambda student: student.likeliest("abx", {"a": -1.0, "b": -1.0, "ab": -1.5}),
        ),
    ),
    misconceptions=(
        Misconception(
            "longest first",
            wrong.likeliest_longest_first,
            "You take the longest piece at each place. A long piece may be rare, or lead nowhere; "
            "the scores decide, and of the whole word.",
        ),
        Misconception(
            "step by step",
            wrong.likeliest_step_by_step,
            "You take the piece with the best score at each place. What it leaves behind may be "
            "bad: compare sums over the whole word.",
        ),
        Misconception(
            "fewest pieces",
            wrong.likeliest_fewest,
            "You look for the fewest pieces. Two frequent pieces can be likelier than one rare "
            "one: add the scores.",
        ),
        Misconception(
            "probabilities added",
            wrong.likeliest_adds_probabilities,
            "You add probabilities, which rewards many pieces. Independent things multiply, and "
            "the scores are logarithms: add them as they are.",
        ),
        Misconception(
            "only the last piece",
            wrong.likeliest_last_piece,
            "For each end you compare the last pieces alone. Add what the way to their start has "
            "cost: best[start] + score.",
        ),
        Misconception(
            "the least likely",
            wrong.likeliest_least,
            "You take the smallest sum. The scores are logarithms of probabilities, all negative: "
            "the likeliest way has the greatest.",
        ),
        Misconception(
            "last piece first",
            wrong.likeliest_backwards,
            "Your pieces are right and stand in the wrong order. Whoever walks back from the end "
            "must turn the list around.",
        ),
        Misconception(
            "as far as it goes",
            wrong.likeliest_part,
            "Where the word cannot be written you return the pieces of its beginning. Return an "
            "empty list: these pieces do not spell the word.",
        ),
    ),
    forbidden=READY,
)

ASSIGNMENT = Assignment(
    name="a07_tokenization",
    title="Tokenization",
    questions=(MERGE, LEARN, ENCODE, BYTES, WORDPIECE, LIKELIEST),
    written=(
        Written(
            name="foreign_words",
            title="A vocabulary from abroad",
            points=3,
            minutes=20,
            page="tokenization.html#sec-tokenization-fertility",
        ),
    ),
)
