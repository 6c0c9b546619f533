"""Each demand of a text has a case: an answer that heeds all of it but one sentence loses points.

`mistakes` of the questions are what people do; these are answers that only forget a demand. The
words stand in the question's text, so that whoever changes one finds the other.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from coursekit.assignments.release import read, source
from coursekit.exercises import catalogue, private
from coursekit.exercises.comparing.outcome import differ, observe
from coursekit.exercises.edits import Edit

ROOT = Path(__file__).parents[2]


def single(answer):
    """Compute in single precision and return it, whatever was given."""
    return lambda *given, **named: answer(*given, **named).float()


def rough(answer):
    """Compute in single precision and return the dtype that is asked for."""

    def call(first, *given, **named):
        given = [x.float() if torch.is_tensor(x) and x.is_floating_point() else x for x in given]
        return answer(first.float(), *given, **named).to(first.dtype)

    return call


def spoils(answer):
    """Return what is right, and write into what was given."""

    def call(first, *given, **named):
        found = answer(first, *given, **named)
        if torch.is_tensor(first):
            first.data.zero_()
        elif isinstance(first, dict):
            first[next(iter(first))].data.zero_()
        elif isinstance(first[0], dict):
            first[0][next(iter(first[0]))].data.zero_()
        else:
            first.append("x")
        return found

    return call


def becomes(change):
    return lambda answer: lambda *given, **named: change(answer(*given, **named))


def edit(old, new):
    return lambda answer: Edit(answer, old, new).made


DEMANDS = [
    ("shares", "of the same shape and dtype", single),
    ("shares", "of the same shape and dtype", rough),
    ("score_factor", "a `float`, not a tensor", becomes(torch.tensor)),
    ("tempered", "in the dtype of the scores", single),
    ("tempered", "in the dtype of the scores", rough),
    (
        "tempered",
        "the keys with the largest score share all the weight **equally**, the others get 0",
        edit(
            "if temperature > 0:", "temperature = max(temperature, 1e-6)\n    if temperature > 0:"
        ),
    ),
    (
        "entropy_bits",
        "A weight of 0 adds nothing",
        lambda _: lambda w: -(w * (w + 1e-9).log2()).sum(-1),
    ),
    (
        "gaussian_scores",
        "the expanded form",
        lambda _: (
            lambda q, k, h: (
                -(
                    q.square().sum(-1)[..., :, None]
                    - 2 * q @ k.transpose(-2, -1)
                    + k.square().sum(-1)[..., None, :]
                )
                / (2 * h**2)
            )
        ),
    ),
    ("causal_mask", "Return a boolean tensor", becomes(torch.Tensor.int)),
    ("masked_shares", "in the shape and dtype of the scores", single),
    ("masked_shares", "in the shape and dtype of the scores", rough),
    ("cached_attention", "pairs are tuples", becomes(lambda found: (found[0], list(found[1])))),
    ("cached_attention", "Return a pair", becomes(list)),
    ("add_places", "leave `x` as it is", spoils),
    ("add_places", "leave `x` as it is", edit("return x + table", "x += 0\n    return x + table")),
    ("add_places", "first=0", edit("first=0", "first=1")),
    ("sinusoids", "in the dtype of `places`", single),
    ("sinusoids", "in the dtype of `places`", rough),
    ("sinusoids", "base=10_000.0", edit("base=10_000.0", "base=9_000.0")),
    ("shift", "in float32", becomes(torch.Tensor.double)),
    ("shift", "positive, negative or 0", edit("delta *", "abs(delta) *")),
    (
        "turn",
        "they need not be 0, 1, 2",
        edit("places[:, None]", "torch.arange(len(places))[:, None]"),
    ),
    ("turn", "base=10_000.0", edit("base=10_000.0", "base=9_000.0")),
    ("RotaryAttention", "base=10_000.0", edit("base=10_000.0", "base=9_000.0")),
    ("gelu", "shape and dtype", single),
    ("gelu", "shape and dtype", rough),
    ("TokenNorm", "eps=1e-5", edit("eps=1e-5", "eps=1e-6")),
    ("TokenNorm", "starts as ones", edit("torch.ones(width)", "torch.full((width,), 0.9)")),
    ("Block", "without dropout", edit("batch_first=True", "batch_first=True, dropout=0.3")),
    ("Block", 'placement="pre"', edit('placement="pre"', 'placement="post"')),
    ("Stack", 'placement="pre"', edit('placement="pre"', 'placement="post"')),
    ("merge_pair", "`symbols` itself stays as it is", spoils),
    ("merge_pair", "Return a new list", becomes(tuple)),
    ("learn_bpe", "each a tuple of two strings", becomes(lambda found: [list(p) for p in found])),
    ("wordpiece", 'unknown="[UNK]"', edit('unknown="[UNK]"', 'unknown="?"')),
    ("wordpiece", "The empty word has no pieces", becomes(lambda found: found or [""])),
    ("likeliest", "the empty list if the word cannot", edit("else []", "else None")),
    ("teacher_forcing", "Leave `target` as it is", spoils),
    ("teacher_forcing", "Return a tuple", becomes(list)),
    ("teacher_forcing", "start=1", edit("start=1", "start=2")),
    ("teacher_forcing", "pad=0", edit("pad=0", "pad=9")),
    (
        "TiedEmbedding",
        "normal random numbers",
        edit("torch.randn(vocabulary, width)", "(torch.rand(vocabulary, width) - 0.5) * 12**0.5"),
    ),
    (
        "TiedEmbedding",
        "nothing else that learns",
        edit("self.weight = ", "self.more = nn.Parameter(torch.zeros(1))\n        self.weight = "),
    ),
    ("smoothed_loss", "a tensor without axes", becomes(torch.Tensor.item)),
    ("smoothed_loss", "smoothing=0.1", edit("smoothing=0.1", "smoothing=0.2")),
    (
        "smoothed_loss",
        "must bear logits in the thousands",
        edit("logits.log_softmax(dim=-1)", "logits.softmax(dim=-1).log()"),
    ),
    ("beam_search", "Return a tuple", becomes(list)),
    ("beam_search", "alpha=0.6", edit("alpha=0.6", "alpha=0.7")),
    ("bleu", "Return a float", becomes(torch.tensor)),
    ("average_weights", "Leave the checkpoints as they were", spoils),
    ("average_weights", "add up in float64", edit("double()", "float()")),
    ("average_weights", "or of booleans", edit("first.clone()", "first.long()")),
    ("paper_rate", "a plain number", becomes(torch.tensor)),
    ("paper_rate", "warmup=4000", edit("warmup=4000", "warmup=5000")),
    ("clip_together", "Leave the tensors that you were given as they are", spoils),
    ("clip_together", "a plain number", becomes(lambda found: (found[0], torch.tensor(found[1])))),
    ("clip_together", "is all zeros", edit(" if norm > limit else 1.0", "")),
    ("adamw_step", "Leave what you were given as it is", spoils),
    ("adamw_step", "eps=1e-8", edit("eps=1e-8", "eps=1e-6")),
    ("adamw_step", "betas=(0.9, 0.999)", edit("(0.9, 0.999)", "(0.9, 0.99)")),
    ("adamw_step", "decay=0.01", edit("decay=0.01", "decay=0.0")),
    ("trust", "beta2=0.999", edit("beta2=0.999", "beta2=0.99")),
    ("accumulate", "pad=0", edit("pad=0", "pad=1")),
    (
        "accumulate",
        "`weight` as it is, without a gradient: work on a copy",
        edit("weight.detach().clone().requires_grad_()", "weight.requires_grad_()"),
    ),
    (
        "early_stop",
        "its loss is `nan`, which is lower than nothing",
        edit("loss < losses[kept]", "not loss >= losses[kept]"),
    ),
    ("hide_tokens", "rate=0.15", edit("rate=0.15", "rate=0.2")),
    ("hide_tokens", "Return a tuple", becomes(list)),
    ("hide_tokens", "its coin is below `rate`", edit("coins < rate", "coins <= rate")),
    ("hide_tokens", "up to, but not including, 0.9", edit("fate < 0.9", "fate <= 0.9")),
    ("hide_tokens", "whose fate is below 0.8", edit("fate < 0.8", "fate <= 0.8")),
    ("hide_tokens", "Leave what you were given as it is", spoils),
    ("hide_tokens", "Draw nothing yourself", edit("coins < rate", "torch.rand_like(coins) < rate")),
    ("pair_input", "cls=101", edit("cls=101", "cls=1")),
    ("pair_input", "sep=102", edit("sep=102", "sep=2")),
    ("pair_input", "pad=0", edit("pad=0", "pad=1")),
    ("pair_input", "Return a tuple", becomes(list)),
    ("pair_input", "tokens (int64)", becomes(lambda found: (found[0].int(), *found[1:]))),
    (
        "pair_input",
        "segments (int64)",
        becomes(lambda found: (found[0], found[1].bool(), found[2])),
    ),
    ("pair_input", "`keep` (boolean)", becomes(lambda found: (*found[:2], found[2].long()))),
    ("pair_input", "if both are equally long, `second` does", edit(") > len(", ") >= len(")),
    ("pair_input", "Leave both lists as they are", spoils),
    (
        "pair_input",
        "Leave both lists as they are",
        edit("first, second = list(first), list(second)\n    ", ""),
    ),
    ("blank_scores", "in the dtype of `hidden`", becomes(torch.Tensor.float)),
    (
        "blank_scores",
        "in the dtype of `hidden`",
        edit("x = hidden[chosen]", "x = hidden[chosen].float().to(hidden.dtype)"),
    ),
    ("blank_scores", "then N is 0", edit("x = hidden", "assert chosen.any()\n    x = hidden")),
    ("blank_scores", "GELU is the exact one", edit('bias"]))', 'bias"]), approximate="tanh")')),
    ("blank_scores", "10^{-12}", edit("1e-12", "1e-7")),
    ("blank_scores", "No softmax", becomes(lambda found: found.softmax(dim=-1))),
    (
        "blank_scores",
        "sentence after sentence",
        edit("hidden[chosen]", "hidden.transpose(0, 1)[chosen.T]"),
    ),
    ("answer_span", "longest=30", edit("longest=30", "longest=29")),
    ("answer_span", "longest=30", edit("longest=30", "longest=31")),
    ("answer_span", "Return a tuple", becomes(list)),
    ("answer_span", "and int64", becomes(lambda found: tuple(x.int() for x in found))),
    ("relation_accuracy", "Return a tuple", becomes(list)),
    ("relation_accuracy", "in float32", edit("hits.float()", "hits.to(weights.dtype)")),
    (
        "relation_accuracy",
        "for any number of heads",
        edit("hits = ", "rows = rows[:, : len(pairs)]\n    hits = "),
    ),
    (
        "relation_accuracy",
        "right most often, an int",
        edit("offset, offsets", "float(offset), offsets"),
    ),
    (
        "relation_accuracy",
        "that offset is right, a float",
        becomes(lambda found: (*found[:2], torch.tensor(found[2]))),
    ),
    (
        "relation_accuracy",
        "wherever they stand",
        edit(
            "words.clone()",
            "words.cummax(dim=1).values & words.flip(1).cummax(dim=1).values.flip(1)",
        ),
    ),
    ("relation_accuracy", "Leave what you were given as it is", spoils),
    ("relation_accuracy", "Leave what you were given as it is", edit("words.clone()", "words")),
    ("fill_inputs", "cls=0", edit("cls=0", "cls=1")),
    ("fill_inputs", "sep=2", edit("sep=2", "sep=1")),
    ("fill_inputs", "a list of lists of ids", becomes(lambda found: list(map(tuple, found)))),
    ("fill_inputs", "a list of lists of ids", becomes(tuple)),
    (
        "fill_inputs",
        "A document may be empty",
        edit("border = [sep]", "border = document[0][:0] + [sep]"),
    ),
    (
        "fill_inputs",
        "`length` is 3 or more",
        edit("room, inputs", "length = max(length, 4)\n    room, inputs"),
    ),
    ("fill_inputs", "in the order of the text", becomes(lambda found: sorted(found, key=len))),
    ("fill_inputs", "there is exactly one `sep`", edit("[sep] if held", "[sep, sep] if held")),
    (
        "fill_inputs",
        "together with the [SEP] of a border",
        edit("held + border + piece)", "held + piece)"),
    ),
    (
        "fill_inputs",
        "nothing is marked",
        edit("held, border = [], []\n            held", "held = []\n            held"),
    ),
    (
        "fill_inputs",
        "the last piece with whatever is left",
        edit("range(0, len(s), room)", "range(0, max(len(s) - room, 0) + 1, room)"),
    ),
    ("fill_inputs", "return `[]`", becomes(lambda found: found or [[0, 2]])),
    ("fill_inputs", "Leave the documents as they are", spoils),
    ("fresh_masks", "copies=None", edit("copies=None", "copies=2")),
    ("fresh_masks", "rate=0.15", edit("rate=0.15", "rate=0.16")),
    ("fresh_masks", "Return a tuple", becomes(list)),
    ("fresh_masks", "its coin is below `rate`", edit("coins < rate", "coins <= rate")),
    ("fresh_masks", "Make a generator of your own", edit(", generator=generator", "")),
    (
        "fresh_masks",
        "any number of them",
        edit("torch.tensor(special)", "torch.tensor(special[:3])"),
    ),
    ("fresh_masks", "which counts from 0", edit("+ version", "+ version + 1")),
    ("fresh_masks", "in turn, again and again", edit("epoch % copies", "min(epoch, copies - 1)")),
    (
        "fresh_masks",
        "with a single",
        edit(
            "torch.rand(tokens.shape, generator=generator)",
            "torch.stack([torch.rand(len(tokens), generator=generator) for _ in tokens.T], 1)",
        ),
    ),
    ("fresh_masks", "Leave `tokens` as it is", spoils),
    ("equal_tokens", "base_batch=256", edit("base_batch=256", "base_batch=128")),
    ("equal_tokens", "base_rate=1e-4", edit("base_rate=1e-4", "base_rate=2e-4")),
    ("equal_tokens", "Return a list", becomes(tuple)),
    ("equal_tokens", "with a tuple", becomes(lambda found: list(map(list, found)))),
    ("equal_tokens", "in the order given", edit("in batches:", "in sorted(batches):")),
    ("equal_tokens", "`steps`, an int", edit("steps = budget", "steps = 1.0 * budget")),
    (
        "equal_tokens",
        "No run may read more than the budget",
        edit("// (batch * real)", "// (batch * real) + 1"),
    ),
    (
        "equal_tokens",
        "`passes`, a float",
        becomes(lambda found: [(a, torch.tensor(b), c) for a, b, c in found]),
    ),
    (
        "equal_tokens",
        "It is not rounded",
        edit("steps * batch / rows", "round(steps * batch / rows, 1)"),
    ),
    (
        "equal_tokens",
        "`rate`, a float",
        becomes(lambda found: [(a, b, torch.tensor(c)) for a, b, c in found]),
    ),
    ("equal_tokens", "Leave what you were given as it is", spoils),
    (
        "equal_tokens",
        "Leave what you were given as it is",
        edit(
            "plan = []", "plan, given = [], list(batches)\n    batches.clear()\n    batches = given"
        ),
    ),
    (
        "find_translation",
        "S need not be T",
        edit("vectors = []", "assert first.shape == second.shape\n    vectors = []"),
    ),
    (
        "find_translation",
        "the first token too",
        edit(
            "hidden.masked_fill(~keep[..., None], 0.0)",
            "hidden.masked_fill(~keep[..., None], 0.0)[:, 1:]",
        ),
    ),
    ("find_translation", "Return a tuple of four", becomes(list)),
    (
        "find_translation",
        "`there`, (N,) and int64",
        becomes(lambda found: (found[0].int(), *found[1:])),
    ),
    (
        "find_translation",
        "`back`, (N,) and int64",
        becomes(lambda found: (found[0], found[1].int(), *found[2:])),
    ),
    (
        "find_translation",
        "in `there`, a float from 0 to 1",
        becomes(lambda found: (*found[:2], torch.tensor(found[2]), found[3])),
    ),
    (
        "find_translation",
        "in `back`, a float",
        becomes(lambda found: (*found[:3], torch.tensor(found[3]))),
    ),
    (
        "find_translation",
        "even `nan`",
        edit("hidden.masked_fill(~keep[..., None], 0.0)", "(hidden * keep[..., None])"),
    ),
    (
        "find_translation",
        "may be anything",
        edit("hidden.masked_fill(~keep[..., None], 0.0)", "hidden.nan_to_num()"),
    ),
    ("find_translation", "Leave what you were given as it is", spoils),
    (
        "find_translation",
        "Leave what you were given as it is",
        edit("hidden.masked_fill(", "hidden.masked_fill_("),
    ),
    ("answer_f1", "all letters are made small", edit("text.lower()", "text")),
    ("answer_f1", "by `lower`", edit("text.lower()", "text.casefold()")),
    (
        "answer_f1",
        "with nothing in its place",
        edit(
            "c for c in text.lower() if c not in string.punctuation",
            '" " if c in string.punctuation else c for c in text.lower()',
        ),
    ),
    (
        "answer_f1",
        "and no other character",
        edit("c not in string.punctuation", "c.isalnum() or c.isspace()"),
    ),
    (
        "answer_f1",
        "each of the 32 characters",
        edit("c not in string.punctuation", 'c not in string.punctuation.replace("_", "")'),
    ),
    ("answer_f1", "at white space", edit("text.split()", 'text.split(" ")')),
    (
        "answer_f1",
        "in this order",
        edit("text.lower()", '__import__("re").sub(r"\\ba\\b", " ", text.lower())'),
    ),
    (
        "answer_f1",
        "each counts as often as it comes",
        edit("ours, theirs = bags", "ours, theirs = (list(dict.fromkeys(bag)) for bag in bags)"),
    ),
    (
        "answer_f1",
        "is shared once",
        edit(
            "sum(min(ours.count(word), theirs.count(word)) for word in set(ours))",
            "sum(word in theirs for word in ours)",
        ),
    ),
    ("answer_f1", "Return a tuple", becomes(list)),
    ("answer_f1", "of two numbers", edit("float(ours == theirs)", "(ours == theirs)")),
    (
        "answer_f1",
        "in the same order",
        edit("float(ours == theirs)", "float(sorted(ours) == sorted(theirs))"),
    ),
    ("answer_f1", "both numbers are 1.0", edit("return exact, exact", "return 0.0, 0.0")),
    ("layer_rates", "Return a dict", becomes(lambda found: list(found.items()))),
    (
        "layer_rates",
        "a plain number",
        becomes(lambda found: {name: torch.tensor(rate) for name, rate in found.items()}),
    ),
    ("layer_rates", "from 0 to 1", edit("decay**", "max(decay, 1e-3) ** ")),
    ("layer_rates", "every name", becomes(lambda found: dict(list(found.items())[:-1]))),
    (
        "layer_rates",
        "The first piece of a name, before its first dot, decides",
        edit('part == "blocks"', '"blocks" in name and (number := name.split("blocks.")[1][:2])'),
    ),
    (
        "layer_rates",
        "in any order",
        edit("int(number)", "len({n.split('.')[1] for n in rates if n.startswith('blocks')})"),
    ),
    ("fresh_top", "Return a new dict", edit("fresh = dict(weights)", "fresh = weights")),
    ("fresh_top", "with all names", becomes(lambda found: dict(list(found.items())[1:]))),
    (
        "fresh_top",
        "of the same shapes and dtypes",
        becomes(lambda found: {name: x.float() for name, x in found.items()}),
    ),
    ("fresh_top", "from none to all of them", edit("depth - layers", "max(depth - layers, 1)")),
    ("fresh_top", "from none to all of them", edit("depth - layers", "depth - max(layers, 1)")),
    (
        "fresh_top",
        "and so is the pooler, if there is one",
        edit("return fresh", 'fresh["pooler.bias"]\n    return fresh'),
    ),
    (
        "fresh_top",
        "even where `layers` is 0",
        edit('part == "pooler"', 'part[:6 * layers] == "pooler"'),
    ),
    ("fresh_top", "leave the dict that you were given as it is", edit("dict(weights)", "weights")),
    (
        "fresh_top",
        "and its tensors too",
        edit("torch.zeros_like(weight)", "weight.zero_()"),
    ),
    (
        "fresh_top",
        "normal random numbers",
        edit("torch.randn_like(weight)", "(torch.rand_like(weight) - 0.5) * 12**0.5"),
    ),
    (
        "fresh_top",
        "mean 0",
        edit("0.02 * torch.randn_like(weight)", "0.02 + 0.02 * torch.randn_like(weight)"),
    ),
    (
        "fresh_top",
        "set no seed",
        edit("fresh = ", "torch.manual_seed(len(weights))\n    fresh = "),
    ),
    ("expected_best", "in any order", edit("sorted(scores)", "scores")),
    ("expected_best", "some perhaps equal", edit("sorted(scores)", "sorted(set(scores))")),
    ("expected_best", "or below 0", edit("best += score", "best += abs(score)")),
    ("expected_best", "a plain number", becomes(torch.tensor)),
    ("expected_best", "Leave the list as it is", spoils),
    ("expected_best", "raise a `ValueError`", edit("ValueError", "IndexError")),
    ("stop_early", "return a tuple", becomes(list)),
    ("stop_early", "perhaps empty", edit("parts = ", "looks[0]\n    parts = ")),
    ("stop_early", "the earlier one, with the lower number", edit(", run))", ", -run))")),
    (
        "stop_early",
        "again the earlier of equal ones",
        edit("running[0]", "max(r for r in running if curves[r][-1] == curves[running[0]][-1])"),
    ),
    ("stop_early", "Leave both lists as they are", spoils),
    (
        "stop_early",
        "Leave both lists as they are",
        edit("best = running", "looks.clear()\n    best = running"),
    ),
    ("span_loss", "a tensor without axes", becomes(lambda found: found[None])),
    ("span_loss", "a tensor without axes", becomes(torch.Tensor.item)),
    ("span_loss", "in the dtype of the scores", single),
    ("span_loss", "in the dtype of the scores", rough),
    ("span_loss", "in the tens of thousands, above and below zero", edit("-torch.inf", "-10_000")),
    (
        "span_loss",
        "in the tens of thousands, above and below zero",
        edit(".log_softmax(dim=-1)", ".softmax(dim=-1).log()"),
    ),
    ("span_loss", "leave what it was given as it is", spoils),
    (
        "span_loss",
        "get no gradient",
        edit("return loss / 2", "return loss / 2 + (start - start.detach())[~passage].sum()"),
    ),
]


@pytest.mark.parametrize(
    ("name", "words", "heedless"), DEMANDS, ids=[f"{name}: {words}" for name, words, _ in DEMANDS]
)
def test_whoever_forgets_a_demand_fails_a_case(name, words, heedless):
    assignment, question = catalogue.find(name)
    cells = read(source(ROOT, assignment.name))["cells"]
    place = next(
        number
        for number, cell in enumerate(cells)
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == name
    )
    text = "\n".join(c["source"] for c in cells[:place] if c["cell_type"] == "markdown")
    assert words in " ".join(text.split())
    hidden = private.load(ROOT / "solutions" / assignment.name / "hidden.py")[name]
    student = catalogue.references(assignment, **{name: heedless(question.reference)})
    right = catalogue.references(assignment)
    assert any(
        differ(observe(case, student), observe(case, right), case.tolerance)
        for case in (*question.cases, *hidden)
    )
