"""Windows of a text: targets are the inputs moved on by one, and every place may be drawn."""

import numpy as np
import pytest
import torch

from coursekit.training.windows import random_windows

TEXT = torch.arange(100, 120)  # a token says where it stands


@pytest.mark.parametrize(
    "tokens",
    [TEXT, TEXT.int(), TEXT.tolist(), TEXT.numpy(), TEXT.numpy().astype(np.uint16)],
    ids=["tensor", "int32", "list", "array", "uint16"],
)
def test_targets_follow_the_inputs(tokens):
    inputs, targets = random_windows(tokens, length=5, size=50)
    assert inputs.shape == targets.shape == (50, 5)
    assert inputs.dtype == targets.dtype == torch.int64
    assert torch.equal(targets, inputs + 1)
    assert torch.equal(inputs, inputs[:, :1] + torch.arange(5))


def test_every_place_is_drawn_as_often_as_the_others():
    inputs, targets = random_windows(TEXT, length=5, size=15_000)
    counts = (inputs[:, 0] - 100).bincount(minlength=15)
    assert len(counts) == 15 and int(targets.max()) == 119  # the last token, too
    assert (counts - 1000).abs().max() < 5 * 1000**0.5


def test_a_seed_repeats_the_draw_and_an_array_on_the_disk_will_do(tmp_path):
    np.save(tmp_path / "text.npy", TEXT.numpy().astype(np.uint16))
    stored = np.load(tmp_path / "text.npy", mmap_mode="r")
    draws = [
        random_windows(tokens, length=4, size=9, generator=torch.Generator().manual_seed(seed))
        for tokens, seed in ((TEXT, 3), (stored, 3), (TEXT, 4))
    ]
    assert torch.equal(draws[0][0], draws[1][0]) and torch.equal(draws[0][1], draws[1][1])
    assert not torch.equal(draws[0][0], draws[2][0])


def test_the_shortest_text_has_one_window():
    inputs, targets = random_windows(TEXT, length=19, size=2, device="cpu")
    assert inputs.tolist() == [TEXT[:-1].tolist()] * 2
    assert targets.tolist() == [TEXT[1:].tolist()] * 2


@pytest.mark.parametrize(
    ("tokens", "changes", "sentence"),
    [
        (TEXT, {"length": 20}, "windows of 20 tokens .* need a text of 21 or more, found 20"),
        (TEXT.view(4, 5), {}, r"with one axis, found \(4, 5\)"),
    ],
)
def test_bad_input_gets_a_sentence(tokens, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        random_windows(tokens, **{"length": 5, "size": 2} | changes)
