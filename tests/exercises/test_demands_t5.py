"""Each demand of assignment 14 has a case; how that is looked at stands in `demands.py`."""

from __future__ import annotations

from demands import becomes, each, edit, every, spoils

CUT = "ids[: ids.index(end)] if end in ids else ids"
RANGE = "sentinel - sentinels < token <= sentinel"
DECODED = '.decode("utf-8", errors="replace")'

DEMANDS = [
    ("corrupt", "sentinel=32_099", edit("sentinel=32_099", "sentinel=32_000")),
    ("corrupt", "end=1", edit("end=1", "end=2")),
    ("corrupt", "but not including, `stop`", edit("(start, stop)}", "(start, stop + 1)}")),
    ("corrupt", "Places count from 0", edit("range(start, stop)", "range(start - 1, stop - 1)")),
    (
        "corrupt",
        "and there may be none",
        edit("read, written = ", "spans[0]\n    read, written = "),
    ),
    ("corrupt", "Return a tuple", becomes(list)),
    ("corrupt", "of two new lists", each(tuple)),
    ("corrupt", "one sentinel in place of each span", edit("if place - 1 not in hidden", "if 1")),
    (
        "corrupt",
        "in the order of the text",
        becomes(lambda found: (found[0], [*sorted(found[1][:-2], reverse=True), *found[1][-2:]])),
    ),
    (
        "corrupt",
        "each right behind its sentinel",
        edit("            written.append(sentinel)\n", ""),
    ),
    (
        "corrupt",
        "stands one more sentinel",
        becomes(lambda found: (found[0], [*found[1][:-2], found[1][-1]])),
    ),
    (
        "corrupt",
        "Where nothing is hidden it stands alone",
        edit("[*written, sentinel, end]", "[*written, *[sentinel] * bool(spans), end]"),
    ),
    (
        "corrupt",
        "The first sentinel is `sentinel`",
        edit("hidden = ", "sentinel -= 1\n    hidden = "),
    ),
    ("corrupt", "is lower by 1", edit("sentinel -= 1", "sentinel += 1")),
    (
        "corrupt",
        "the final one too",
        edit("[*written, sentinel, end]", "[*written, sentinel + bool(spans), end]"),
    ),
    (
        "corrupt",
        "are one span with one sentinel",
        edit("if place - 1 not in hidden", "if place in [start for start, _ in spans]"),
    ),
    (
        "corrupt",
        "however many they are",
        edit(
            "place - 1 not in hidden",
            "place - 1 not in hidden or place in [third[0] for first, second, third in "
            "zip(spans, spans[1:], spans[2:]) if first[1] == second[0]]",
        ),
    ),
    (
        "corrupt",
        "Both lists end with the id `end`",
        becomes(lambda found: (found[0][:-1], found[1])),
    ),
    (
        "corrupt",
        "Both lists end with the id `end`",
        becomes(lambda found: (found[0], found[1][:-1])),
    ),
    ("corrupt", "Leave `tokens` and `spans` as they are", spoils(0)),
    ("corrupt", "Leave `tokens` and `spans` as they are", spoils(1)),
    ("infill", "mask=50_264", edit("mask=50_264", "mask=4")),
    ("infill", "perhaps empty", edit("read, place = ", "spans[0]\n    read, place = ")),
    ("infill", "in any order", edit("sorted(spans)", "spans")),
    (
        "infill",
        "also the number of all tokens",
        edit("sorted(spans)", "sorted(span for span in spans if span[0] < len(tokens))"),
    ),
    ("infill", "Return a tuple", becomes(list)),
    ("infill", "`read`, a list", becomes(lambda found: (tuple(found[0]), found[1]))),
    ("infill", "has become one `mask`", edit("mask]", "*[mask] * max(length, 1)]")),
    (
        "infill",
        "puts its mask in front of the token",
        edit("sorted(spans)", "sorted((s + (not n and s < len(tokens)), n) for s, n in spans)"),
    ),
    ("infill", "puts its mask", edit("sorted(spans)", "sorted(s for s in spans if s[1])")),
    (
        "infill",
        "also where two of them touch",
        edit(
            "tokens[place:start], mask]",
            "tokens[place:start], *[mask][: start > place or not read]]",
        ),
    ),
    ("infill", "have the same `start`", edit("sorted(spans)", "sorted(set(spans))")),
    ("infill", "`share`, a float", edit("hidden / len(tokens)", "hidden * 100 // len(tokens)")),
    ("infill", "That counts tokens", edit("sum(length for _, length in spans)", "len(spans)")),
    (
        "infill",
        "share of the document's tokens",
        edit("hidden / len(tokens)", "hidden / len([*read, *tokens[place:]])"),
    ),
    ("infill", "raise a `ValueError`", edit("ValueError", "IndexError")),
    ("infill", "if they share a token", edit("start < place", "start < place and not length")),
    (
        "infill",
        "if an empty one lies inside another",
        edit("start < place", "length and start < place"),
    ),
    (
        "infill",
        "lies in front of it",
        edit("sorted(spans)", "sorted(spans, key=lambda span: span[0])"),
    ),
    ("infill", "Leave `tokens` and `spans` as they are", spoils(0)),
    ("infill", "Leave `tokens` and `spans` as they are", spoils(1)),
    (
        "shuffle_sentences",
        "its full stop included",
        becomes(lambda found: [token for token in found if token != 4]),
    ),
    (
        "shuffle_sentences",
        "Each sentence stays whole",
        edit("sentences[number]]", "sentences[number][::-1]]"),
    ),
    ("shuffle_sentences", "a list of the ids", edit("token not in stops", "token != stops[0]")),
    (
        "shuffle_sentences",
        "a list of the ids",
        edit("tokens[place - 1] in stops", "tokens[place - 1] == stops[0]"),
    ),
    (
        "shuffle_sentences",
        "behind the last of them",
        edit(" and token not in stops", ""),
    ),
    (
        "shuffle_sentences",
        "stops that open the document are a sentence",
        edit("token not in stops", "token not in stops and {*tokens[:place]} - {*stops}"),
    ),
    (
        "shuffle_sentences",
        "behind the last stop is a sentence too",
        edit(
            "    if sorted",
            "    sentences[-1:] = [s for s in sentences[-1:] if s[-1] in stops]\n    if sorted",
        ),
    ),
    (
        "shuffle_sentences",
        "gets no stop",
        edit(
            "    return [",
            "    for s in sentences:\n"
            "        s += [] if s[-1] in stops else stops[:1]\n    return [",
        ),
    ),
    (
        "shuffle_sentences",
        "numbered from 0",
        edit("in sentences[number]", "in sentences[number - 1]"),
    ),
    (
        "shuffle_sentences",
        "of the sentence that comes first",
        edit("number in order for", "number in map(order.index, range(len(order))) for"),
    ),
    ("shuffle_sentences", "Return one list", becomes(tuple)),
    (
        "shuffle_sentences",
        "each sentence exactly once",
        edit("sorted(order)", "sorted(set(order))"),
    ),
    (
        "shuffle_sentences",
        "each sentence exactly once",
        edit("sorted(order) != list(range(len(sentences)))", "len(order) != len(sentences)"),
    ),
    (
        "shuffle_sentences",
        "each sentence exactly once",
        edit("sorted(order) !=", "sorted(order) != list(range(len(order))) and sorted(order) !="),
    ),
    ("shuffle_sentences", "raise a `ValueError`", edit("ValueError", "IndexError")),
    (
        "shuffle_sentences",
        "An empty document",
        edit("sentences = []", "sentences = [[]] if not tokens else []"),
    ),
    ("shuffle_sentences", "Leave what you were given as it is", spoils(0)),
    ("shuffle_sentences", "Leave what you were given as it is", spoils(1)),
    ("shuffle_sentences", "Leave what you were given as it is", spoils(2)),
    ("put_back", "sentinel=32_099", edit("sentinel=32_099", "sentinel=32_098")),
    ("put_back", "sentinels=100", edit("sentinels=100", "sentinels=101")),
    ("put_back", "sentinels=100", edit("sentinels=100", "sentinels=99")),
    ("put_back", "end=1", edit("end=1", "end=2")),
    ("put_back", "both included", edit(RANGE, "sentinel - sentinels < token < sentinel")),
    ("put_back", "both included", edit(RANGE, "sentinel - sentinels + 1 < token <= sentinel")),
    ("put_back", "counted down from `sentinel`", edit(RANGE, "sentinel <= token")),
    ("put_back", "All other ids but `end` are text", edit(RANGE, "sentinel - sentinels < token")),
    (
        "put_back",
        "All other ids but `end` are text",
        becomes(lambda found: [x for x in found if x]),
    ),
    ("put_back", "Return a new list", becomes(tuple)),
    ("put_back", "Return a new list", edit("return text", "read[:] = text\n    return read")),
    ("put_back", "Each sentinel in `read` is replaced", edit("text += ", "text += [token] + ")),
    (
        "put_back",
        "whichever that is",
        edit("if is_sentinel(token):\n            key,", "if token in read:\n            key,"),
    ),
    ("put_back", "or to the end", edit("    text = []", "    spans.pop(key)\n    text = []")),
    (
        "put_back",
        "The order of the answers does not matter",
        edit(
            "    text = []",
            "    keys = sorted({*spans} - {None}, reverse=True)\n"
            "    spans = dict(zip(keys, [*spans.values()][1:]))\n    text = []",
        ),
    ),
    ("put_back", "A hole without an answer", edit("spans.get(token, [])", "spans[token]")),
    (
        "put_back",
        "or with an empty one",
        edit("spans.get(token, [])", "(spans.get(token, []) or [token])"),
    ),
    (
        "put_back",
        "its sentinel disappears all the same",
        edit("spans.get(token, [])", "spans.get(token, [token])"),
    ),
    (
        "put_back",
        "whose hole does not exist is left out",
        edit(
            "return text",
            "return text + [x for k in spans if k and k not in read for x in spans[k]]",
        ),
    ),
    (
        "put_back",
        "what stands in front of the first sentinel",
        edit("text = []", "text = spans[None]"),
    ),
    ("put_back", "what stands in front of the first sentinel", edit("{None: []}", "{}")),
    (
        "put_back",
        "There may be a final sentinel or none",
        edit("    text = []", "    spans.popitem()\n    text = []"),
    ),
    ("put_back", "Each of the two lists is over", edit("body(read)", "read")),
    ("put_back", "Each of the two lists is over", edit("body(written)", "written")),
    (
        "put_back",
        "at its first `end`",
        edit(CUT, "ids[: len(ids) - 1 - ids[::-1].index(end)] if end in ids else ids"),
    ),
    ("put_back", "whatever stands behind it", edit(CUT, "[x for x in ids if x != end]")),
    ("put_back", "without an `end` all of it counts", edit(CUT, "ids[: ids.index(end)]")),
    (
        "put_back",
        "without an `end` all of it counts",
        edit(CUT, "ids[: (ids + [end]).index(end) - (end not in ids)]"),
    ),
    ("put_back", "The text that you return has none", edit("return text", "return [*text, end]")),
    ("put_back", "Leave both lists as they are", spoils(0)),
    ("put_back", "Leave both lists as they are", spoils(1)),
    (
        "byte_ids",
        "So a byte has the id that is larger by 3",
        edit('byte + 3 for byte in given.encode("utf-8")', "*given.encode()"),
    ),
    ("byte_ids", "255, has the id 258", edit("< 259", "< 258")),
    ("byte_ids", "return a list of ids", becomes(lambda x: tuple(x) if type(x) is list else x)),
    (
        "byte_ids",
        "with nothing changed before",
        lambda answer: (
            lambda x: answer(
                __import__("unicodedata").normalize("NFC", x) if isinstance(x, str) else x
            )
        ),
    ),
    (
        "byte_ids",
        "with nothing changed before",
        lambda answer: lambda x: answer(x.strip() if isinstance(x, str) else x),
    ),
    ("byte_ids", "at last a 1", edit(" + [1]", "")),
    ("byte_ids", "has the ids `[1]`", edit(" + [1]", " + [1][: len(given)]")),
    ("byte_ids", "return the string", becomes(lambda x: x.encode() if type(x) is str else x)),
    (
        "byte_ids",
        "over at the first 1",
        edit("given[: given.index(1)] if 1 in given else", ""),
    ),
    (
        "byte_ids",
        "over at the first 1",
        edit("given[: given.index(1)]", "given[: len(given) - 1 - given[::-1].index(1)]"),
    ),
    ("byte_ids", "Without a 1 all ids count", edit(" if 1 in given else given", "")),
    (
        "byte_ids",
        "The ids 0 and 2",
        edit("one - 3 for one in ids if 3 <= one", "max(one - 3, 0) for one in ids if one"),
    ),
    (
        "byte_ids",
        "The ids 0 and 2",
        edit("one - 3 for one in ids if 3 <= one", "max(one - 3, 0) for one in ids if 2 != one"),
    ),
    (
        "byte_ids",
        "and all above 258",
        edit(
            "one - 3 for one in ids if 3 <= one < 259", "(one - 3) % 256 for one in ids if 3 <= one"
        ),
    ),
    (
        "byte_ids",
        "wherever they stand",
        edit(
            "one - 3 for one in ids if 3 <= one < 259",
            "(one - 3) % 256 for n, one in enumerate(ids) "
            "if 3 <= one < 259 or 0 < n < len(ids) - 1",
        ),
    ),
    (
        "byte_ids",
        "are read together",
        edit(
            "return bytes(one - 3 for one in ids if 3 <= one < 259)" + DECODED,
            "return ''.join(bytes([one - 3])" + DECODED + " for one in ids if 3 <= one < 259)",
        ),
    ),
    ("byte_ids", "as UTF-8", edit('.decode("utf-8"', '.decode("latin-1"')),
    ("byte_ids", "That is no error", edit(', errors="replace"', "")),
    ("byte_ids", '`errors="replace"`', edit('errors="replace"', 'errors="ignore"')),
    (
        "byte_ids",
        "which also says how many",
        becomes(lambda x: __import__("re").sub("�+", "�", x) if type(x) is str else x),
    ),
    (
        "byte_ids",
        "Leave the list as it is",
        lambda answer: lambda x: (answer(x), isinstance(x, list) and x.append(1))[0],
    ),
]


test_whoever_forgets_a_demand_fails_a_case = every(DEMANDS)
