"""Each demand of assignment 13 has a case; how that is looked at stands in `demands.py`."""

from __future__ import annotations

import torch
from demands import at, becomes, edit, every, rough, single, spoils

KEPT = "(before < top_p) | (top_p == 1.0)"
RENORMED = "    kept = kept / kept.sum(dim=-1, keepdim=True)\n"
SORTED = "    ranked, order = (logits"
MASK = "token = token.masked_fill(~running, pad)"
STOP = "        if not running.any():\n            break\n"
VECTOR = "states[0, -1]"
PARTS = "[[texts[0], answer] for answer in texts[1:]]"

DEMANDS = [
    ("next_token", "temperature=1.0", edit("temperature=1.0", "temperature=0.9")),
    ("next_token", "top_k=None", edit("top_k=None", "top_k=3")),
    ("next_token", "top_p=1.0", edit("top_p=1.0)", "top_p=0.9)")),
    (
        "next_token",
        "by up to three knobs, in this order",
        edit(
            SORTED,
            "    if temperature != 1.0:\n"
            "        kept = next_token(logits, 1.0, top_k, top_p)\n"
            f"        return (kept.log() / temperature).softmax(dim=-1)\n{SORTED}",
        ),
    ),
    (
        "next_token",
        "If $k$ is the size of the vocabulary or more, all stay",
        edit("ranked[:, top_k:]", "ranked[:, min(top_k, ranked.shape[1] - 1) :]"),
    ),
    (
        "next_token",
        "If $k$ is the size of the vocabulary or more, all stay",
        edit("ranked[:, top_k:]", "assert top_k <= ranked.shape[1]\n        ranked[:, top_k:]"),
    ),
    ("next_token", "the smallest set", edit("before < top_p", "before <= top_p + 0.1")),
    (
        "next_token",
        "and so does the one that crosses $p$",
        edit(KEPT, "(before == 0) | (shares.cumsum(dim=-1) <= top_p) | (top_p == 1.0)"),
    ),
    (
        "next_token",
        "the likeliest token always stays",
        edit(KEPT, f"({KEPT}) & ((shares <= top_p + 1e-6) | (before > 0))"),
    ),
    (
        "next_token",
        "those of what top-k has left, which sum to 1 again",
        edit(
            SORTED,
            "    if top_k is not None and top_p < 1.0:\n"
            "        logits = next_token(logits, temperature, None, top_p).log()\n"
            f"        temperature = top_p = 1.0\n{SORTED}",
        ),
    ),
    ("next_token", "has probability 0", becomes(lambda found: found.clamp(min=1e-3))),
    ("next_token", "sums to 1", edit(RENORMED, "")),
    ("next_token", "keeps its ratios", edit(RENORMED, f"    kept = kept.sqrt()\n{RENORMED}")),
    ("next_token", "in the dtype of the logits", single),
    ("next_token", "in the dtype of the logits", rough),
    (
        "next_token",
        "Each row is treated by itself",
        edit("(before < top_p)", "(before[:1] < top_p)"),
    ),
    (
        "next_token",
        "Draw nothing",
        becomes(lambda found: torch.multinomial(found, 1)[:, 0].clone()),
    ),
    (
        "next_token",
        "must bear logits in the thousands",
        edit(
            "shares = ranked.softmax(dim=-1)",
            "shares = ranked.exp() / ranked.exp().sum(-1, keepdim=True)",
        ),
    ),
    ("next_token", "leave them as they are", spoils(0)),
    ("write_on", "(B, N), int64", becomes(torch.Tensor.int)),
    ("write_on", "(B, N), int64", becomes(lambda found: found.T)),
    (
        "write_on",
        "without the prompts",
        lambda answer: lambda m, prompts, *more: torch.cat([prompts, answer(m, prompts, *more)], 1),
    ),
    ("write_on", "the one with the largest logit", edit("argmax(dim=-1)", "argmin(dim=-1)")),
    (
        "write_on",
        "Nothing is drawn",
        edit(".argmax(dim=-1)", ".softmax(dim=-1).multinomial(1)[:, 0]"),
    ),
    (
        "write_on",
        "the `end` stays",
        becomes(lambda found: found[:, :-1] if found.shape[1] > 1 else found),
    ),
    ("write_on", "what follows it in that row is `pad`", edit("(~running, pad)", "(~running, 0)")),
    ("write_on", "what follows it in that row is `pad`", edit(MASK, "token = token")),
    (
        "write_on",
        "An `end` within a prompt finishes nothing",
        edit("prompts[:, 0] != pad", "(prompts != end).all(dim=1)"),
    ),
    ("write_on", "at most `steps` tokens", edit("range(steps)", "range(steps + 1)")),
    ("write_on", "stop as soon as all rows are finished", edit(STOP, "")),
    ("write_on", "1 or more", edit("range(steps)", "range(max(steps, 2))")),
    (
        "write_on",
        "The first call of `read` reads all prompts",
        edit(
            "    written, token",
            "    read(model, prompts[:, :1], places[:, :1])\n    written, token",
        ),
    ),
    ("write_on", "with the cache", edit(", cache)\n", ")\n")),
    (
        "write_on",
        "after the last token that is written there is no call of `read`",
        edit(
            "    return torch.stack",
            "    read(model, token[:, None], token[:, None] * 0)\n    return torch.stack",
        ),
    ),
    (
        "write_on",
        "goes on from the last real token of its row",
        edit("lengths + step - 1", "lengths + step"),
    ),
    (
        "write_on",
        "the place of each new token",
        edit("(lengths + step - 1)", "(lengths.amax() + step - 1 + 0 * lengths)"),
    ),
    ("write_on", "where the first logits are found", edit("lengths - 1]", "-1]")),
    ("write_on", "Padding has the place −1", edit(".masked_fill(prompts == pad, -1)", "")),
    ("write_on", "Leave `prompts` as it is", spoils(1)),
    ("bits_per_byte", "one plain number", becomes(torch.tensor)),
    (
        "bits_per_byte",
        "The bytes are those of UTF-8",
        edit("text.encode()", 'text.encode("utf-16")'),
    ),
    ("bits_per_byte", "The bytes are those of UTF-8", edit("text.encode()", "text")),
    (
        "bits_per_byte",
        "one may be empty",
        edit("    asked = ", "    assert all(texts)\n    asked = "),
    ),
    (
        "bits_per_byte",
        "together",
        edit(
            "    asked = ",
            "    if len(texts) > 1:\n"
            "        rows = [one for one in zip(logits, tokens, texts) if one[2]]\n"
            "        rows = [bits_per_byte(a[None], b[None], [c], pad) for a, b, c in rows]\n"
            "        return sum(rows) / len(rows)\n    asked = ",
        ),
    ),
    (
        "bits_per_byte",
        "The first token of a text is told by the logits at the start",
        edit("found[asked != pad]", "found[:, 1:][asked[:, 1:] != pad]"),
    ),
    (
        "bits_per_byte",
        "it costs nothing",
        edit(
            "asked[..., None])[..., 0]",
            "asked[..., None])[..., 0] - (tokens[:, :1] > 0) / asked.shape[1]",
        ),
    ),
    ("bits_per_byte", "and has no bytes", edit("len(text.encode())", "len(text.encode()) + 1")),
    ("bits_per_byte", "Padding costs nothing", edit("found[asked != pad]", "found")),
    (
        "bits_per_byte",
        "but the start may have it",
        edit("found[asked != pad]", "found[(asked != pad) & (tokens[:, :-1] != pad)]"),
    ),
    (
        "bits_per_byte",
        "may lie in the tens of thousands",
        edit(".log_softmax(dim=-1)", ".softmax(dim=-1).log()"),
    ),
    ("bits_per_byte", "Leave what you are given as it is", spoils(0)),
    ("bits_per_byte", "Leave what you are given as it is", spoils(1)),
    ("bits_per_byte", "Leave what you are given as it is", spoils(2)),
    (
        "task_sequences",
        "start, text, extract",
        edit(
            "[start, *first, *behind, extract]",
            "[start, *first, *behind, extract] if others else [*first, extract]",
        ),
    ),
    (
        "task_sequences",
        "start, premise, delimiter, hypothesis, extract",
        edit("(delimiter, *text)", "text"),
    ),
    (
        "task_sequences",
        "a second sequence with b before a",
        edit("[texts, texts[::-1]]", "[texts]"),
    ),
    (
        "task_sequences",
        "for each answer: start, context, delimiter, answer, extract",
        edit(PARTS, "[[answer] for answer in texts[1:]]"),
    ),
    (
        "task_sequences",
        "the two states are added",
        edit("stacked.sum(dim=0)", "stacked.mean(dim=0)"),
    ),
    (
        "task_sequences",
        "before they go into the layer",
        edit("stacked.sum(dim=0) @ head.T", "(stacked @ head.T).square().sum(dim=0).sqrt()"),
    ),
    (
        "task_sequences",
        "one or more",
        edit(
            "    sequences, vectors",
            "    assert all(len(text) > 1 for text in texts)\n    sequences, vectors",
        ),
    ),
    (
        "task_sequences",
        "in this order",
        edit("start, delimiter, extract = marks", "start, delimiter, extract = sorted(marks)"),
    ),
    ("task_sequences", "The state of the extract token", edit(VECTOR, "states[0, -2]")),
    ("task_sequences", "Return a tuple", becomes(list)),
    (
        "task_sequences",
        "a list of lists of ids",
        becomes(lambda found: (tuple(found[0]), found[1])),
    ),
    (
        "task_sequences",
        "a list of lists of ids",
        becomes(lambda found: (list(map(tuple, found[0])), found[1])),
    ),
    (
        "task_sequences",
        "for similarity a before b first",
        edit("[texts, texts[::-1]]", "[texts[::-1], texts]"),
    ),
    (
        "task_sequences",
        "in the order of the answers",
        edit("in texts[1:]]", "in sorted(texts[1:])]"),
    ),
    ("task_sequences", "in the dtype of the model", at(1, torch.Tensor.float)),
    (
        "task_sequences",
        "in the dtype of the model",
        edit("states[0, -1]", "states[0, -1].float().to(head)"),
    ),
    ("task_sequences", "without a softmax", at(1, lambda found: found.softmax(dim=0))),
    (
        "task_sequences",
        "one score for each answer, (N,)",
        edit("(stacked @ head.T)[:, 0]", "stacked @ head.T"),
    ),
    ("task_sequences", "it is (C,)", at(1, lambda found: found[None])),
    (
        "task_sequences",
        "count from 0 to its end",
        edit("torch.arange(len(sequence))", "torch.arange(1, len(sequence) + 1)"),
    ),
    (
        "task_sequences",
        "with no cache before it",
        edit("places)  # (1, T, D)", "places, locals().get('_'))"),
    ),
    ("task_sequences", "Leave the texts as they are", spoils(1)),
    (
        "task_sequences",
        "Leave the texts as they are",
        edit(
            "    sequences, vectors",
            "    texts[0] = list(texts[0])\n    texts[-1].append(1)\n    sequences, vectors",
        ),
    ),
    ("power_law", "two operations forwards and four backwards", edit("6 * (", "4 * (")),
    ("power_law", "does not count the embeddings", edit(" - embeddings)", ")")),
    ("power_law", "of whichever run", edit("sorted(points)", "points")),
    (
        "power_law",
        "A point with the same compute and a lower loss drives it out",
        edit("sorted(points)", "sorted(points, key=lambda p: (p[0], -p[1]))"),
    ),
    (
        "power_law",
        "so does a point with less compute and the same loss",
        edit("loss < lowest", "loss <= lowest"),
    ),
    ("power_law", "in any order", edit("in sorted(points)", "in points")),
    (
        "power_law",
        "a list of pairs `(tokens, loss)`, in any order",
        edit(
            "in curve:", "in [p for n, p in enumerate(curve) if not n or p[0] > curve[n - 1][0]]:"
        ),
    ),
    ("power_law", "Return a tuple", becomes(list)),
    (
        "power_law",
        "of two plain numbers",
        becomes(lambda found: (torch.tensor(found[0]), found[1])),
    ),
    (
        "power_law",
        "of two plain numbers",
        becomes(lambda found: (found[0], torch.tensor(found[1]))),
    ),
    ("power_law", "is above 0 where the loss falls", becomes(lambda found: (found[0], -found[1]))),
    (
        "power_law",
        "have the smallest sum",
        edit(
            "slope = slope / sum((x - x_mean) ** 2 for x in xs)",
            "slope = sum((y - y_mean) ** 2 for y in ys) / slope",
        ),
    ),
    (
        "power_law",
        "A compute may have 24 digits",
        edit("math.log(compute)", "__import__('torch').tensor(compute).double().log().item()"),
    ),
    ("power_law", "Leave the runs as they are", spoils(0)),
    (
        "power_law",
        "Leave the runs as they are",
        edit("    points = []", "    runs[0][2].sort(reverse=True)\n    points = []"),
    ),
]


test_whoever_forgets_a_demand_fails_a_case = every(DEMANDS)
