"""Wrong answers to assignment 7, as people give them; the hints are in `../a07_tokenization.py`.

The wrong learners and encoders write a word as `<l><o><w>`, so that joining two symbols is a
replacement of text that cannot go wrong, and what is wrong with each stands out.
"""

# ruff: noqa: D101, D102, D103 -- what is wrong with each is said where it becomes a Misconception
# ruff: noqa: RUF007 -- each stands alone in a notebook's cell, where nothing has been imported
from __future__ import annotations

Pair = tuple[str, str]

# --- merge_pair


def merge_first_only(symbols: list[str], pair: Pair) -> list[str]:
    for place in range(len(symbols) - 1):
        if (symbols[place], symbols[place + 1]) == pair:
            return [*symbols[:place], "".join(pair), *symbols[place + 2 :]]
    return list(symbols)


def merge_keeps_right(symbols: list[str], pair: Pair) -> list[str]:
    behind = [*symbols[1:], ""]
    return ["".join(pair) if both == pair else both[0] for both in zip(symbols, behind)]


def merge_from_the_right(symbols: list[str], pair: Pair) -> list[str]:
    found, place = [], len(symbols)
    while place:
        width = 2 if tuple(symbols[max(place - 2, 0) : place]) == tuple(pair) else 1
        found.insert(0, "".join(symbols[place - width : place]))
        place -= width
    return found


def merge_as_text(symbols: list[str], pair: Pair) -> list[str]:
    return " ".join(symbols).replace(" ".join(pair), "".join(pair)).split()


def merge_letters(symbols: list[str], pair: Pair) -> list[str]:
    text, found = "".join(symbols), []
    while text:
        width = len("".join(pair)) if text.startswith("".join(pair)) else 1
        found.append(text[:width])
        text = text[width:]
    return found


def merge_loses_last(symbols: list[str], pair: Pair) -> list[str]:
    found, place = [], 0
    while place < len(symbols) - 1:
        width = 2 if tuple(symbols[place : place + 2]) == tuple(pair) else 1
        found.append("".join(symbols[place : place + width]))
        place += width
    return found


def merge_either_order(symbols: list[str], pair: Pair) -> list[str]:
    found, place = [], 0
    while place < len(symbols):
        width = 2 if sorted(symbols[place : place + 2]) == sorted(pair) else 1
        found.append("".join(symbols[place : place + width]))
        place += width
    return found


def merge_whole_run(symbols: list[str], pair: Pair) -> list[str]:
    found, left = [], ""
    for symbol in symbols:
        if found and (left, symbol) == pair:
            found[-1] += symbol
        else:
            found.append(symbol)
        left = symbol
    return found


# --- learn_bpe


def learn_types(words: dict[str, int], steps: int) -> list[Pair]:
    cut, merges = [f"<{'><'.join(word)}>" for word in words], []
    for _ in range(steps):
        counts = {}
        for text in cut:
            parts = text[1:-1].split("><")
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        old, new = "><".join(merges[-1]), "".join(merges[-1])
        cut = [text.replace(f"<{old}>", f"<{new}>") for text in cut]
    return merges


def learn_ties_as_they_come(words: dict[str, int], steps: int) -> list[Pair]:
    cut, merges = {f"<{'><'.join(word)}>": count for word, count in words.items()}, []
    for _ in range(steps):
        counts = {}
        for text, count in cut.items():
            parts = text[1:-1].split("><")
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + count
        if not counts:
            break
        merges.append(max(counts, key=counts.get))
        old, new = "><".join(merges[-1]), "".join(merges[-1])
        cut = {text.replace(f"<{old}>", f"<{new}>"): count for text, count in cut.items()}
    return merges


def learn_ties_backwards(words: dict[str, int], steps: int) -> list[Pair]:
    cut, merges = {f"<{'><'.join(word)}>": count for word, count in words.items()}, []
    for _ in range(steps):
        counts = {}
        for text, count in cut.items():
            parts = text[1:-1].split("><")
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + count
        if not counts:
            break
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        old, new = "><".join(merges[-1]), "".join(merges[-1])
        cut = {text.replace(f"<{old}>", f"<{new}>"): count for text, count in cut.items()}
    return merges


def learn_once_a_word(words: dict[str, int], steps: int) -> list[Pair]:
    cut, merges = {f"<{'><'.join(word)}>": count for word, count in words.items()}, []
    for _ in range(steps):
        counts = {}
        for text, count in cut.items():
            parts = text[1:-1].split("><")
            for pair in set(zip(parts, parts[1:])):
                counts[pair] = counts.get(pair, 0) + count
        if not counts:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        old, new = "><".join(merges[-1]), "".join(merges[-1])
        cut = {text.replace(f"<{old}>", f"<{new}>"): count for text, count in cut.items()}
    return merges


def learn_no_overlap(words: dict[str, int], steps: int) -> list[Pair]:
    cut, merges = {f"<{'><'.join(word)}>": count for word, count in words.items()}, []
    for _ in range(steps):
        counts = {}
        for text, count in cut.items():
            parts = text[1:-1].split("><")
            for pair in set(zip(parts, parts[1:])):
                counts[pair] = counts.get(pair, 0) + count * text.count(f"<{'><'.join(pair)}>")
        if not counts:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        old, new = "><".join(merges[-1]), "".join(merges[-1])
        cut = {text.replace(f"<{old}>", f"<{new}>"): count for text, count in cut.items()}
    return merges


def learn_counts_once(words: dict[str, int], steps: int) -> list[Pair]:
    counts = {}
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            counts[pair] = counts.get(pair, 0) + count
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:steps]


def learn_first_only(words: dict[str, int], steps: int) -> list[Pair]:
    cut, merges = {f"<{'><'.join(word)}>": count for word, count in words.items()}, []
    for _ in range(steps):
        counts = {}
        for text, count in cut.items():
            parts = text[1:-1].split("><")
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + count
        if not counts:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        old, new = "><".join(merges[-1]), "".join(merges[-1])
        cut = {text.replace(f"<{old}>", f"<{new}>", 1): count for text, count in cut.items()}
    return merges


def learn_across_words(words: dict[str, int], steps: int) -> list[Pair]:
    text = f"<{'><'.join(''.join(word * count for word, count in words.items()))}>"
    merges = []
    for _ in range(steps):
        counts, parts = {}, text[1:-1].split("><")
        for pair in zip(parts, parts[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        text = text.replace(f"<{'><'.join(merges[-1])}>", f"<{''.join(merges[-1])}>")
    return merges


def learn_no_rare_pairs(words: dict[str, int], steps: int) -> list[Pair]:
    cut, merges = {f"<{'><'.join(word)}>": count for word, count in words.items()}, []
    for _ in range(steps):
        counts = {}
        for text, count in cut.items():
            parts = text[1:-1].split("><")
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + count
        if max(counts.values(), default=0) < 2:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        old, new = "><".join(merges[-1]), "".join(merges[-1])
        cut = {text.replace(f"<{old}>", f"<{new}>"): count for text, count in cut.items()}
    return merges


def learn_to_a_size(words: dict[str, int], steps: int) -> list[Pair]:
    cut, merges = {f"<{'><'.join(word)}>": count for word, count in words.items()}, []
    for _ in range(steps - len(set("".join(words)))):
        counts = {}
        for text, count in cut.items():
            parts = text[1:-1].split("><")
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + count
        if not counts:
            break
        merges.append(min(counts, key=lambda pair: (-counts[pair], pair)))
        old, new = "><".join(merges[-1]), "".join(merges[-1])
        cut = {text.replace(f"<{old}>", f"<{new}>"): count for text, count in cut.items()}
    return merges


def learn_tokens(words: dict[str, int], steps: int) -> list[str]:
    cut, merges = {f"<{'><'.join(word)}>": count for word, count in words.items()}, []
    for _ in range(steps):
        counts = {}
        for text, count in cut.items():
            parts = text[1:-1].split("><")
            for pair in zip(parts, parts[1:]):
                counts[pair] = counts.get(pair, 0) + count
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append("".join(best))
        old = "><".join(best)
        cut = {text.replace(f"<{old}>", f"<{merges[-1]}>"): count for text, count in cut.items()}
    return merges


# --- bpe_encode


def encode_longest_first(word: str, merges: list[Pair]) -> list[str]:
    known, found = {left + right for left, right in merges}, []
    while word:
        ends = range(len(word), 0, -1)
        end = next(end for end in ends if word[:end] in known or end == 1)
        found.append(word[:end])
        word = word[end:]
    return found


def encode_left_to_right(word: str, merges: list[Pair]) -> list[str]:
    parts, place = list(word), 0
    while place < len(parts) - 1:
        if (parts[place], parts[place + 1]) in merges:
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
            place = 0
        else:
            place += 1
    return parts


def encode_latest_first(word: str, merges: list[Pair]) -> list[str]:
    parts = list(word)
    while found := [pair for pair in merges if pair in set(zip(parts, parts[1:]))]:
        old, new = "><".join(found[-1]), "".join(found[-1])
        parts = f"<{'><'.join(parts)}>".replace(f"<{old}>", f"<{new}>")[1:-1].split("><")
    return parts


def encode_each_merge_once(word: str, merges: list[Pair]) -> list[str]:
    text = "".join(f"<{letter}>" for letter in word)
    for left, right in merges:
        text = text.replace(f"<{left}><{right}>", f"<{left}{right}>", 1)
    return text[1:-1].split("><") if text else []


def encode_one_merge(word: str, merges: list[Pair]) -> list[str]:
    text = "".join(f"<{letter}>" for letter in word)
    for left, right in merges:
        if f"<{left}><{right}>" in text:
            text = text.replace(f"<{left}><{right}>", f"<{left}{right}>")
            break
    return text[1:-1].split("><") if text else []


def encode_one_sweep(word: str, merges: list[Pair]) -> list[str]:
    found, place = [], 0
    while place < len(word):
        width = 2 if tuple(word[place : place + 2]) in merges else 1
        found.append(word[place : place + width])
        place += width
    return found


def encode_whole_word_first(word: str, merges: list[Pair]) -> list[str]:
    if any(left + right == word for left, right in merges):
        return [word]
    text = "".join(f"<{letter}>" for letter in word)
    for left, right in merges:
        text = text.replace(f"<{left}><{right}>", f"<{left}{right}>")
    return text[1:-1].split("><") if text else []


def encode_from_the_right(word: str, merges: list[Pair]) -> list[str]:
    text = "".join(f"<{letter}>" for letter in word)
    for left, right in merges:
        text = f"<{left}{right}>".join(text.rsplit(f"<{left}><{right}>"))
    return text[1:-1].split("><") if text else []


# --- ByteAlphabet


class Alphabet:
    """The right one; the wrong ones differ from it in one method."""

    def table(self) -> dict[int, str]:
        prints = [*range(33, 127), *range(161, 173), *range(174, 256)]
        hidden = [byte for byte in range(256) if byte not in prints]
        moved = {byte: chr(256 + place) for place, byte in enumerate(hidden)}
        return {byte: moved.get(byte, chr(byte)) for byte in range(256)}

    def bytes_of(self, text: str) -> bytes:
        return text.encode()

    def text_of(self, found: bytes) -> str:
        return found.decode(errors="replace")

    def write(self, text: str) -> str:
        table = self.table()
        return "".join(table[byte] for byte in self.bytes_of(text))

    def read(self, symbols: str) -> str:
        back = {symbol: byte for byte, symbol in self.table().items()}
        return self.text_of(bytes(back[symbol] for symbol in symbols))


class AlphabetOfLatin(Alphabet):
    def bytes_of(self, text: str) -> bytes:
        return text.encode("latin-1", "replace")

    def text_of(self, found: bytes) -> str:
        return found.decode("latin-1")


class AlphabetOfSixteenBits(Alphabet):
    def bytes_of(self, text: str) -> bytes:
        return text.encode("utf-16-le")

    def text_of(self, found: bytes) -> str:
        return found.decode("utf-16-le", "replace")


class AlphabetUnmoved(Alphabet):
    def table(self) -> dict[int, str]:
        return {byte: chr(byte) for byte in range(256)}


class AlphabetSpaceMoved(Alphabet):
    def table(self) -> dict[int, str]:
        return {byte: "Ġ" if byte == 32 else chr(byte) for byte in range(256)}


class AlphabetAllMoved(Alphabet):
    def table(self) -> dict[int, str]:
        return {byte: chr(256 + byte) for byte in range(256)}


class AlphabetMovedByValue(Alphabet):
    def table(self) -> dict[int, str]:
        prints = [*range(33, 127), *range(161, 173), *range(174, 256)]
        return {byte: chr(byte if byte in prints else 256 + byte) for byte in range(256)}


class AlphabetSpacePrints(Alphabet):
    def table(self) -> dict[int, str]:
        hidden = [byte for byte in range(256) if not chr(byte).isprintable()]
        moved = {byte: chr(256 + place) for place, byte in enumerate(hidden)}
        return {byte: moved.get(byte, chr(byte)) for byte in range(256)}


class AlphabetHyphenPrints(Alphabet):
    def table(self) -> dict[int, str]:
        prints = [*range(33, 127), *range(161, 256)]
        hidden = [byte for byte in range(256) if byte not in prints]
        moved = {byte: chr(256 + place) for place, byte in enumerate(hidden)}
        return {byte: moved.get(byte, chr(byte)) for byte in range(256)}


class AlphabetReadsOneByOne(Alphabet):
    def text_of(self, found: bytes) -> str:
        return "".join(bytes([byte]).decode(errors="replace") for byte in found)


class AlphabetStrict(Alphabet):
    def text_of(self, found: bytes) -> str:
        return found.decode()


class AlphabetDrops(Alphabet):
    def text_of(self, found: bytes) -> str:
        return found.decode(errors="ignore")


# --- wordpiece


def pieces_without_marks(word: str, vocabulary: list[str], unknown: str = "[UNK]") -> list[str]:
    found, start = [], 0
    while start < len(word):
        ends = range(len(word), start, -1)
        end = next((end for end in ends if word[start:end] in vocabulary), None)
        if end is None:
            return [unknown]
        found.append(word[start:end])
        start = end
    return found


def pieces_marked_late(word: str, vocabulary: list[str], unknown: str = "[UNK]") -> list[str]:
    found, start = [], 0
    while start < len(word):
        ends = range(len(word), start, -1)
        end = next((end for end in ends if word[start:end] in vocabulary), None)
        if end is None:
            return [unknown]
        found.append("##" * (start > 0) + word[start:end])
        start = end
    return found


def pieces_unmarked_late(word: str, vocabulary: list[str], unknown: str = "[UNK]") -> list[str]:
    found, start = [], 0
    while start < len(word):
        mark, ends = "##" * (start > 0), range(len(word), start, -1)
        end = next((end for end in ends if mark + word[start:end] in vocabulary), None)
        if end is None:
            return [unknown]
        found.append(word[start:end])
        start = end
    return found


def pieces_then_unknown(word: str, vocabulary: list[str], unknown: str = "[UNK]") -> list[str]:
    found, start = [], 0
    while start < len(word):
        mark, ends = "##" * (start > 0), range(len(word), start, -1)
        end = next((end for end in ends if mark + word[start:end] in vocabulary), None)
        if end is None:
            return [*found, unknown]
        found.append(mark + word[start:end])
        start = end
    return found


def pieces_letter_unknown(word: str, vocabulary: list[str], unknown: str = "[UNK]") -> list[str]:
    found, start = [], 0
    while start < len(word):
        mark, ends = "##" * (start > 0), range(len(word), start, -1)
        end = next((end for end in ends if mark + word[start:end] in vocabulary), None)
        found.append(unknown if end is None else mark + word[start:end])
        start = start + 1 if end is None else end
    return found


def pieces_fixed_unknown(word: str, vocabulary: list[str], unknown: str = "[UNK]") -> list[str]:
    found, start = [], 0
    while start < len(word):
        mark, ends = "##" * (start > 0), range(len(word), start, -1)
        end = next((end for end in ends if mark + word[start:end] in vocabulary), None)
        if end is None:
            return ["[UNK]"]
        found.append(mark + word[start:end])
        start = end
    return found


def pieces_shortest_first(word: str, vocabulary: list[str], unknown: str = "[UNK]") -> list[str]:
    found, start = [], 0
    while start < len(word):
        mark, ends = "##" * (start > 0), range(start + 1, len(word) + 1)
        end = next((end for end in ends if mark + word[start:end] in vocabulary), None)
        if end is None:
            return [unknown]
        found.append(mark + word[start:end])
        start = end
    return found


def pieces_go_back(word: str, vocabulary: list[str], unknown: str = "[UNK]") -> list[str]:
    ways = {len(word): []}
    for start in range(len(word) - 1, -1, -1):
        mark = "##" * (start > 0)
        for end in range(start + 1, len(word) + 1):
            if end in ways and mark + word[start:end] in vocabulary:
                ways[start] = [mark + word[start:end], *ways[end]]
    return ways.get(0, [unknown])


def pieces_from_the_end(word: str, vocabulary: list[str], unknown: str = "[UNK]") -> list[str]:
    found, end = [], len(word)
    while end > 0:
        pieces = [("##" * (start > 0) + word[start:end], start) for start in range(end)]
        piece, start = next((p for p in pieces if p[0] in vocabulary), (unknown, -1))
        if start < 0:
            return [unknown]
        found.insert(0, piece)
        end = start
    return found


# --- likeliest


def likeliest_longest_first(word: str, scores: dict[str, float]) -> list[str]:
    found = []
    while word:
        piece = next((word[:end] for end in range(len(word), 0, -1) if word[:end] in scores), "")
        if not piece:
            return []
        found.append(piece)
        word = word[len(piece) :]
    return found


def likeliest_step_by_step(word: str, scores: dict[str, float]) -> list[str]:
    found = []
    while word:
        pieces = [word[:end] for end in range(1, len(word) + 1) if word[:end] in scores]
        if not pieces:
            return []
        found.append(max(pieces, key=scores.get))
        word = word[len(found[-1]) :]
    return found


def likeliest_fewest(word: str, scores: dict[str, float]) -> list[str]:
    best = [(0.0, [])] + [None] * len(word)
    for end in range(1, len(word) + 1):
        for start in range(end):
            if best[start] and word[start:end] in scores:
                way = (best[start][0] - 1, [*best[start][1], word[start:end]])
                best[end] = max(best[end] or way, way, key=lambda way: way[0])
    return best[-1][1] if best[-1] else []


def likeliest_adds_probabilities(word: str, scores: dict[str, float]) -> list[str]:
    best = [(0.0, [])] + [None] * len(word)
    for end in range(1, len(word) + 1):
        for start in range(end):
            if best[start] and (piece := word[start:end]) in scores:
                way = (best[start][0] + 2.71828 ** scores[piece], [*best[start][1], piece])
                best[end] = max(best[end] or way, way, key=lambda way: way[0])
    return best[-1][1] if best[-1] else []


def likeliest_last_piece(word: str, scores: dict[str, float]) -> list[str]:
    best = [(0.0, [])] + [None] * len(word)
    for end in range(1, len(word) + 1):
        for start in range(end):
            if best[start] and (piece := word[start:end]) in scores:
                way = (scores[piece], [*best[start][1], piece])
                best[end] = max(best[end] or way, way, key=lambda way: way[0])
    return best[-1][1] if best[-1] else []


def likeliest_least(word: str, scores: dict[str, float]) -> list[str]:
    best = [(0.0, [])] + [None] * len(word)
    for end in range(1, len(word) + 1):
        for start in range(end):
            if best[start] and (piece := word[start:end]) in scores:
                way = (best[start][0] + scores[piece], [*best[start][1], piece])
                best[end] = min(best[end] or way, way, key=lambda way: way[0])
    return best[-1][1] if best[-1] else []


def likeliest_backwards(word: str, scores: dict[str, float]) -> list[str]:
    best = [(0.0, [])] + [None] * len(word)
    for end in range(1, len(word) + 1):
        for start in range(end):
            if best[start] and (piece := word[start:end]) in scores:
                way = (best[start][0] + scores[piece], [piece, *best[start][1]])
                best[end] = max(best[end] or way, way, key=lambda way: way[0])
    return best[-1][1] if best[-1] else []


def likeliest_part(word: str, scores: dict[str, float]) -> list[str]:
    best = [(0.0, [])] + [None] * len(word)
    for end in range(1, len(word) + 1):
        for start in range(end):
            if best[start] and (piece := word[start:end]) in scores:
                way = (best[start][0] + scores[piece], [*best[start][1], piece])
                best[end] = max(best[end] or way, way, key=lambda way: way[0])
    return next(way[1] for way in reversed(best) if way)
