"""T5's span corruption: lengths, spans and sentinels, and nothing of the text is lost."""

import dataclasses

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursekit.objectives.span_corruption import (
    SpanCorruption,
    corrupt_spans,
    random_spans,
    replace_spans,
    restore,
)

settings = st.builds(
    SpanCorruption,
    density=st.floats(0.05, 0.9),
    mean_span=st.floats(1, 8),
    first_sentinel=st.just(999),
    end=st.sampled_from([None, 1]),
    final_sentinel=st.booleans(),
)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def runs(row):
    """Lengths of the runs of True in a row."""
    text = "".join("#" if hidden else "." for hidden in row.tolist())
    return [len(run) for run in text.split(".") if run]


@given(settings, st.integers(1, 4), st.integers(2, 60), st.integers(0, 999))
def test_input_and_target_together_are_the_text(setting, rows, length, seed):
    tokens = torch.randint(2, 800, (rows, length), generator=generator(seed))
    found = corrupt_spans(tokens, setting, generator=generator(seed))
    again = corrupt_spans(tokens, setting, generator=generator(seed))
    assert torch.equal(found.inputs, again.inputs) and torch.equal(found.targets, again.targets)
    assert (found.inputs.shape[1], found.targets.shape[1]) == setting.lengths(length)
    hidden, spans = setting.counts(length)
    assert found.hidden.sum(1).tolist() == [hidden] * rows
    for row in range(rows):
        text, inputs, targets = tokens[row], found.inputs[row], found.targets[row]
        assert torch.equal(restore(inputs, targets, setting), text)
        assert len(runs(found.hidden[row])) == spans
        want = [999 - i for i in range(spans)]
        assert inputs[inputs > 800].tolist() == want  # the sentinels, in order
        if setting.final_sentinel:
            want.append(999 - spans)
        assert targets[targets > 800].tolist() == want
        shown, asked = text[~found.hidden[row]], text[found.hidden[row]]
        assert inputs[(inputs < 800) & (inputs > 1)].tolist() == shown.tolist()
        assert targets[(targets < 800) & (targets > 1)].tolist() == asked.tolist()
        if setting.end is not None:
            assert inputs[-1] == targets[-1] == setting.end


def test_figure_2_of_the_paper():
    words = ["Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week"]
    hidden = torch.tensor([[word in ("for", "inviting", "last") for word in words]])
    setting = SpanCorruption(first_sentinel=99, sentinels=3, end=None, final_sentinel=True)
    found = replace_spans(torch.arange(10)[None], hidden, setting)
    names = dict(enumerate(words)) | {99: "<X>", 98: "<Y>", 97: "<Z>"}
    inputs, targets = (
        " ".join(names[i] for i in row[0].tolist()) for row in (found.inputs, found.targets)
    )
    assert inputs == "Thank you <X> me to your party <Y> week"
    assert targets == "<X> for inviting <Y> last <Z>"


def test_the_paper_s_lengths():
    """T5's code: 568 tokens of text make an input of 512 and a target of 114, ends included."""
    t5 = SpanCorruption.t5()
    assert (t5.density, t5.mean_span, t5.first_sentinel) == (0.15, 3.0, 32_099)
    assert t5.text_length(512) == 568 and t5.lengths(568) == (512, 114)
    assert t5.counts(568) == (85, 28)
    tokens = torch.randint(2, 30_000, (3, 568), generator=generator())
    found = corrupt_spans(tokens, t5, generator=generator())
    assert found.inputs.shape == (3, 512) and found.targets.shape == (3, 114)
    byt5 = SpanCorruption.byt5()
    assert (byt5.density, byt5.mean_span, byt5.first_sentinel) == (0.15, 20.0, 258)
    hidden, spans = byt5.counts(1024)
    assert (hidden, spans) == (154, 8) and hidden / spans == pytest.approx(20, rel=0.05)


@given(settings, st.integers(2, 300))
def test_the_longest_text_for_an_input(setting, longest):
    setting = dataclasses.replace(setting, sentinels=900)
    if setting.lengths(2)[0] > longest:
        with pytest.raises(ValueError, match=f"no text fits into an input of {longest}"):
            setting.text_length(longest)
    else:
        length = setting.text_length(longest)
        assert setting.lengths(length)[0] <= longest < setting.lengths(length + 1)[0]


def test_every_cut_is_equally_likely():
    """6 shown and 4 hidden tokens in 2 spans: 5 · 3 ways, each in 1/15 of the rows."""
    setting = SpanCorruption(density=0.4, mean_span=2.0)
    rows = 30_000
    hidden = random_spans(rows, 10, setting, generator=generator())
    ways, counts = hidden.unique(dim=0, return_counts=True)
    assert len(ways) == 15 and not ways[:, 0].any() and ways[:, -1].all()
    assert (counts - rows / 15).abs().max() < 5 * (rows / 15) ** 0.5
    for way in ways:
        assert len(runs(way)) == 2 and way.sum() == 4


def test_mean_span_length_and_share_of_a_long_text():
    for setting, span in ((SpanCorruption.t5(), 3), (SpanCorruption.byt5(), 20)):
        hidden = random_spans(50, 1200, setting, generator=generator())
        lengths = [length for row in hidden for length in runs(row)]
        assert hidden.float().mean().item() == pytest.approx(0.15, abs=0.001)
        assert sum(lengths) / len(lengths) == pytest.approx(span, rel=0.01)
        assert len(set(lengths)) > 5  # the mean is 3, the lengths differ


def test_a_span_may_open_the_text_or_end_before_it():
    setting = SpanCorruption(first_sentinel=99, sentinels=9, end=1)
    tokens = torch.tensor([[10, 11, 12, 13, 14]])
    for pattern in ([1, 0, 0, 1, 1], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]):
        found = replace_spans(tokens, torch.tensor([pattern]).bool(), setting)
        assert torch.equal(restore(found.inputs[0], found.targets[0], setting), tokens[0])
    assert found.inputs.tolist() == [[10, 11, 12, 13, 14, 1]] and found.targets.tolist() == [[1]]


def test_bytes_share_their_ids_with_the_sentinels():
    text = torch.tensor([[byte + 3 for byte in "naïve café".encode()]])
    found = corrupt_spans(text, SpanCorruption.byt5(), generator=generator())
    assert 258 in found.inputs[0] and found.targets[0, 0] == 258
    with pytest.raises(ValueError, match="cannot be told from the text"):
        restore(found.inputs[0], found.targets[0], SpanCorruption.byt5())


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: SpanCorruption(density=1.0), "density must lie between 0 and 1, found 1.0"),
        (lambda: SpanCorruption(first_sentinel=50), "found first_sentinel=50"),
        (lambda: SpanCorruption().counts(5000), "gets 250 spans, but there are 100 sentinels"),
        (
            lambda: corrupt_spans(torch.tensor([[5, 32_050]]), SpanCorruption()),
            r"holds id 32050, which is a sentinel \(32000 to 32099\)",
        ),
        (
            lambda: replace_spans(
                torch.ones(2, 3).long(),
                torch.tensor([[0, 1, 1], [0, 0, 1]]).bool(),
                SpanCorruption(),
            ),
            "equally many tokens in equally many spans",
        ),
        (
            lambda: restore(torch.tensor([5, 32_099]), torch.tensor([1]), SpanCorruption()),
            "sentinel 32099, but the target does not",
        ),
        (
            lambda: restore(torch.tensor([5, 32_099]), torch.tensor([7, 1]), SpanCorruption()),
            "begins with a sentinel, found 7",
        ),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
