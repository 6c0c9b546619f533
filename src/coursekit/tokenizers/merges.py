"""Byte-pair encoding itself: learn which neighbours to join, and join them (Sennrich et al., 2016).

Shared by `BPE`, `ByteBPE` and `WordPiece`. Everything is here twice: a simple version that is
the definition, and an efficient one that does the same work without repeating it; tests hold them
equal. One trick makes both short. A token is written as ONE character of a private alphabet, token
i as chr(i). Then a word of tokens is a plain string, a pair of neighbours is a string of length 2,
and to merge a pair in a word is `word.replace(pair, token)`. The book explains it in
"Tokenization".
"""

from __future__ import annotations

import gc
import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence
from contextlib import contextmanager
from itertools import pairwise
from operator import add
from typing import Literal, TypeVar

Spelling = TypeVar("Spelling", str, bytes)
Ties = Literal["first", "greatest"]
Merges = Mapping[str, tuple[int, str]]  # a pair -> its rank (the smaller, the earlier), its token


def pairs_of(word: str) -> list[str]:
    """Return the pairs of neighbours: "abca" -> ["ab", "bc", "ca"]."""
    return list(map(add, word, word[1:]))


def first_tokens(
    words: Mapping[str, int], symbols: Callable[[str], list[str]], tokens: MutableSequence[str]
) -> dict[str, int]:
    """Add the characters of `words` to `tokens`, and write the words in the private alphabet.

    `symbols` cuts a word into characters, some with a mark on them ("s</w>", "##s"). The bare
    characters come first, then the marked ones, both in the order of Unicode.
    """
    cut = list(map(symbols, words))
    bare, marked = set("".join(words)), set().union(*cut)
    tokens.extend(sorted(bare - set(tokens)))
    tokens.extend(sorted(marked - set(tokens)))
    letter = {token: chr(number) for number, token in enumerate(tokens)}.__getitem__
    return {
        "".join(map(letter, pieces)): count
        for pieces, count in zip(cut, words.values(), strict=True)
    }


def learn_merges_simple(
    words: Mapping[str, int],
    tokens: MutableSequence[Spelling],
    size: int,
    *,
    ties: Ties = "first",
    join: Callable[[Spelling, Spelling], Spelling] = add,
) -> list[str]:
    """Count all pairs, join the most frequent one everywhere, and count again.

    `words` are word types in the private alphabet and how often each occurs. `tokens[i]` spells
    token i and grows to `size`. Returns the merged pairs in order. Of several pairs that are
    equally frequent, "first" takes the one whose tokens are oldest (the smallest ids, left before
    right), "greatest" the one whose tokens are spelled lexicographically greatest.
    """
    prefer = preference(ties, tokens)
    number = {spelling: i for i, spelling in enumerate(tokens)}
    merges = []
    while len(tokens) < size:
        counts: Counter[str] = Counter()
        for word, count in words.items():
            for pair in pairs_of(word):
                counts[pair] += count
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], prefer(pair)))
        token = _new_token(best, tokens, number, join)
        merges.append(best)
        merged: Counter[str] = Counter()
        for word, count in words.items():
            merged[word.replace(best, token)] += count
        words = merged
    return merges


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause Python's search for reference cycles; where there are none it only costs a tenth."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_collector_paused()
def learn_merges(
    words: Mapping[str, int],
    tokens: MutableSequence[Spelling],
    size: int,
    *,
    ties: Ties = "first",
    join: Callable[[Spelling, Spelling], Spelling] = add,
) -> list[str]:
    """Do what `learn_merges_simple` does, but touch only what a merge changes.

    `where` knows the words in which a pair occurred, so a merge visits these alone, and there only
    the neighbours of the merged pair: in x·a·b·y the pairs xa and by are lost, and with t for ab
    the pairs xt and ty are gained. The next best pair comes from a heap. A count that fell leaves a
    stale entry behind; when it is popped, it is pushed back with its true count.
    """
    prefer = preference(ties, tokens)
    number = {spelling: i for i, spelling in enumerate(tokens)}
    spelled, occurs = list(words), list(words.values())
    where: dict[str, list[int]] = defaultdict(list)  # a word may be here twice, or no longer
    for index, word in enumerate(spelled):
        for pair in pairs_of(word):
            where[pair].append(index)
    counts = {pair: sum(map(occurs.__getitem__, found)) for pair, found in where.items()}
    heap = [(-count, prefer(pair), pair) for pair, count in counts.items()]
    heapq.heapify(heap)
    merges = []
    while heap and len(tokens) < size:
        promised, order, best = heapq.heappop(heap)
        count = counts.get(best, 0)
        if count != -promised:
            if 0 < count < -promised:
                heapq.heappush(heap, (-count, order, best))
            continue
        token = _new_token(best, tokens, number, join)
        merges.append(best)
        before: dict[str, list[int]] = defaultdict(list)  # a left neighbour -> the words
        after: dict[str, list[int]] = defaultdict(list)
        for index in where.pop(best):
            left, pair, right = spelled[index].partition(best)
            if not pair:
                continue
            if best not in right:  # nearly always: the pair occurred once
                spelled[index] = left + token + right
                if left:
                    before[left[-1]].append(index)
                if right:
                    after[right[0]].append(index)
            else:
                parts = spelled[index].split(best)
                spelled[index] = token.join(parts)
                for i, (left, right) in enumerate(pairwise(parts)):
                    if left or i:
                        before[left[-1:]].append(index)  # "" after another merged pair: ab·ab
                    if right:
                        after[right[0]].append(index)
        changes = [(x + best[0], x + token, found) for x, found in before.items() if x]
        changes += [(best[1] + y, token + y, found) for y, found in after.items()]
        if "" in before:
            changes.append((best[1] + best[0], token + token, before[""]))
        counts[best] = 0
        for lost, won, found in changes:
            count = sum(map(occurs.__getitem__, found))
            if lost != best:  # in aaa the pair aa overlaps itself
                counts[lost] -= count
            counts[won] = counts.get(won, 0) + count
            where[won] += found
            heapq.heappush(heap, (-counts[won], prefer(won), won))
    return merges


def preference(ties: Ties, tokens: MutableSequence[Spelling]) -> Callable[[str], object]:
    """Return the key by which the smallest of equally frequent pairs is chosen."""
    if ties == "first":
        return lambda pair: pair  # characters compare by number: that is the id
    if ties == "greatest":
        return lambda pair: tuple(_reversed(tokens[ord(token)]) for token in pair)
    raise ValueError(f"ties must be 'first' or 'greatest', found {ties!r}")


def _reversed(spelling: str | bytes) -> tuple[int, ...]:
    """Return a key that sorts spellings backwards; the end comes after every character."""
    numbers = spelling if isinstance(spelling, bytes) else map(ord, spelling)
    return (*(-number for number in numbers), 1)


def _new_token(
    pair: str,
    tokens: MutableSequence[Spelling],
    number: dict[Spelling, int],
    join: Callable[[Spelling, Spelling], Spelling],
) -> str:
    """Return the token of a merged pair, a new one unless there is one that is spelled so.

    There can be where a text contains a mark itself: a</w> from five characters, or from "a" alone.
    """
    spelling = join(tokens[ord(pair[0])], tokens[ord(pair[1])])
    if spelling not in number:
        number[spelling] = len(tokens)
        tokens.append(spelling)
    return chr(number[spelling])


def ranked(merges: Iterable[tuple[int, int, int]]) -> dict[str, tuple[int, str]]:
    """Turn (left, right, merged) ids, the earliest first, into what `apply_merges` reads."""
    table: dict[str, tuple[int, str]] = {}
    for rank, (left, right, merged) in enumerate(merges):
        table.setdefault(chr(left) + chr(right), (rank, chr(merged)))
    return table


def apply_merges_simple(word: str, merges: Merges) -> str:
    """Join the neighbours that were learned first, the leftmost of them, until none is left."""
    while pairs := [pair for pair in pairs_of(word) if pair in merges]:
        best = min(pairs, key=merges.__getitem__)
        word = word.replace(best, merges[best][1], 1)
    return word


def apply_merges(word: str, merges: Merges) -> str:
    """Do what `apply_merges_simple` does; a word of n tokens takes n·log n steps, not n².

    A heap holds the pairs that can be merged, by rank, then by place. Tokens know where their
    neighbours are; a merged pair lives on at the place of its left half, and the right one is "".
    """
    size = len(word)
    tokens = [*word, ""]
    before, after = list(range(-1, size)), list(range(1, size + 2))
    first = [(merges.get(pair), left) for left, pair in enumerate(pairs_of(word))]
    heap = [(merge[0], left, merge[1]) for merge, left in first if merge]
    heapq.heapify(heap)
    while heap:
        rank, left, token = heapq.heappop(heap)
        right = after[left]
        found = merges.get(tokens[left] + tokens[right])
        if found is None or found[0] != rank:
            continue  # one of the two has been merged with another neighbour meanwhile
        tokens[left], tokens[right] = token, ""
        right = after[left] = after[right]
        if right < size:
            before[right] = left
            if found := merges.get(token + tokens[right]):
                heapq.heappush(heap, (found[0], left, found[1]))
        if left:
            left = before[left]
            if found := merges.get(tokens[left] + token):
                heapq.heappush(heap, (found[0], left, found[1]))
    return "".join(tokens)


LETTER = (-1, "", "")  # what no merge has made


class WholeTokens(dict[str, bool]):
    """Whether a word spelled like a token becomes it, so that it can be looked up, not merged.

    Most words are tokens, and nearly all tokens can be looked up. But in a vocabulary that was not
    learned here a token may never come out: if `bc` is merged before `ab`, the word abc becomes
    a·bc, even where `ab` and `c` make a token. So each token is checked once, when it is first met.
    Most other words are two tokens; whether merging stops at these two can be seen at their border.
    """

    def __init__(self, merges: Merges, letters: Iterable[str] = ()) -> None:
        """`letters` are tokens that no merge has to make."""
        super().__init__(dict.fromkeys(letters, True))
        self.merges = merges
        self.made = {token: (rank, *pair) for pair, (rank, token) in reversed([*merges.items()])}

    def __missing__(self, token: str) -> bool:
        self[token] = token in self.made and self._comes_out(token)
        return self[token]

    def _comes_out(self, token: str) -> bool:
        """Both halves come out, and are then joined with each other."""
        until, left, right = self.made[token]
        left_made, _, left_end = self.made.get(left, LETTER)
        right_made, right_start, _ = self.made.get(right, LETTER)
        if left_made > until or right_made > until:
            return False  # a half is ranked after the whole: that order is not examined
        if (left_end and not self[left]) or (right_start and not self[right]):
            return False
        return self.apart(left, right, until)

    def apart(self, left: str, right: str, until: float = math.inf) -> bool:
        """Whether two tokens that come out, or are letters, do so as neighbours.

        That is, before the merge of rank `until` nothing is joined across their border.
        """
        left_until = right_until = until
        left_made, _, left_end = self.made.get(left, LETTER)
        right_made, right_start, _ = self.made.get(right, LETTER)
        # Back in time along the border: `left` and `right` are neighbours there, until merges of
        # these ranks use them up. Would they have been joined before?
        while True:
            joined = self.merges.get(left + right)
            if joined and joined[0] < left_until and joined[0] <= right_until:
                return False
            if left_made > right_made:
                left, left_until = left_end, left_made
                left_made, _, left_end = self.made.get(left, LETTER)
            elif right_start:  # of two equal ones the left was merged first
                right, right_until = right_start, right_made
                right_made, right_start, _ = self.made.get(right, LETTER)
            else:
                return True
