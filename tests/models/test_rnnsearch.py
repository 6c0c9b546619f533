"""RNNSearch: the paper's equations, padding, causality, gradients, decoding, and that it learns."""

import dataclasses

import pytest
import torch
import torch.nn.functional as F

from coursekit.attention import attention_weights
from coursekit.data import dates
from coursekit.models.rnnsearch import RNNSearch, RNNSearchConfig

KERNELS = ("additive", "general", "none")
PAD, START, END = 0, 1, 2


def model(kernel: str = "additive", **changes) -> RNNSearch:
    torch.manual_seed(0)
    config = RNNSearchConfig(
        source_vocabulary=11,
        target_vocabulary=13,
        embedding=5,
        hidden=6,
        alignment=7,
        readout=8,
        kernel=kernel,
    )
    return RNNSearch(dataclasses.replace(config, **changes)).double()


SOURCE = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 0, 0, 0], [10, 3, 3, 4, 0]])
TARGET = torch.tensor([[1, 3, 4, 5], [1, 12, 11, 10], [1, 7, 7, 0]])


@pytest.mark.parametrize("kernel", KERNELS)
def test_shapes(kernel):
    net = model(kernel)
    assert net(SOURCE, TARGET).shape == (3, 4, 13)
    assert net(SOURCE[:1, :1], TARGET[:1, :1]).shape == (1, 1, 13)
    if kernel != "none":
        assert net.weights(SOURCE, TARGET).shape == (3, 4, 5)


def test_it_is_what_the_paper_says_written_out():
    """The equations of the paper's section 3, one row and one step at a time."""
    net = model()
    config = net.config
    row, words = SOURCE[1, :2], net.source_embedding(SOURCE[1, :2])

    def gru_step(x, h, suffix):
        parts = [getattr(net.encoder, f"{name}_l0{suffix}") for name in ("weight_ih", "bias_ih")]
        past = [getattr(net.encoder, f"{name}_l0{suffix}") for name in ("weight_hh", "bias_hh")]
        xr, xz, xn = (parts[0] @ x + parts[1]).chunk(3)
        hr, hz, hn = (past[0] @ h + past[1]).chunk(3)
        reset, keep = torch.sigmoid(xr + hr), torch.sigmoid(xz + hz)
        return (1 - keep) * torch.tanh(xn + reset * hn) + keep * h

    h = torch.zeros(config.hidden, dtype=torch.double)
    forward = [h := gru_step(word, h, "") for word in words]
    h = torch.zeros(config.hidden, dtype=torch.double)
    backward = [h := gru_step(word, h, "_reverse") for word in reversed(words)][::-1]
    annotations = torch.stack([torch.cat(pair) for pair in zip(forward, backward)])  # (2, 2H)

    state = torch.tanh(net.first_state(backward[0]))
    logits, weights = net(SOURCE, TARGET), net.weights(SOURCE, TARGET)
    for t, symbol in enumerate(TARGET[1]):
        word = net.target_embedding(symbol)
        scores = torch.stack(
            [
                net.kernel.score.weight[0]
                @ torch.tanh(net.kernel.query.weight @ state + net.kernel.key.weight @ annotation)
                for annotation in annotations
            ]
        )
        alpha = scores.exp() / scores.exp().sum()
        context = sum(a * annotation for a, annotation in zip(alpha, annotations))
        state = net.decoder(torch.cat([word, context])[None], state[None])[0]
        hidden = torch.tanh(net.readout(torch.cat([state, word, context])))
        torch.testing.assert_close(logits[1, t], net.output(hidden))
        torch.testing.assert_close(weights[1, t, :2], alpha)
    assert row.ne(PAD).all() and weights[1, :, 2:].eq(0).all()


@pytest.mark.parametrize("kernel", ["additive", "general"])
def test_keys_projected_once_give_the_kernel_itself(kernel):
    net = model(kernel)
    encoded, state = net.encode(SOURCE)
    for symbol in (3, 4):
        weights = attention_weights(
            state[:, None], encoded.annotations, encoded.mask, kernel=net.kernel
        )
        expected = weights @ encoded.annotations
        _, new, found = net.step(torch.full((3,), symbol), state, encoded)
        torch.testing.assert_close(found, weights[:, 0])
        word = net.target_embedding(torch.full((3,), symbol))
        torch.testing.assert_close(new, net.decoder(torch.cat([word, expected[:, 0]], -1), state))
        state = new


def test_weights_are_shares_of_the_words_and_nothing_goes_to_padding():
    weights = model().weights(SOURCE, TARGET)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 4, dtype=torch.double))
    padded = (SOURCE == PAD)[:, None].expand_as(weights)
    assert weights[padded].eq(0).all() and weights[~padded].gt(0).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_padded_batch_equals_its_items(kernel):
    net = model(kernel)
    together = net(SOURCE, TARGET)
    tokens = net.greedy(SOURCE, longest=6)
    for row in range(3):
        source = SOURCE[row : row + 1, : int((SOURCE[row] != PAD).sum())]
        torch.testing.assert_close(net(source, TARGET[row : row + 1])[0], together[row])
        alone = net.greedy(source, longest=6)[0]
        assert tokens[row, : len(alone)].tolist() == alone.tolist()
        assert tokens[row, len(alone) :].eq(PAD).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_logits_do_not_know_the_symbols_that_follow(kernel):
    net = model(kernel)
    before = net(SOURCE, TARGET)
    for t in range(1, 4):
        changed = TARGET.clone()
        changed[:, t:] = 9
        after = net(SOURCE, changed)
        assert torch.equal(before[:, :t], after[:, :t])
        assert not torch.allclose(before[:, t], after[:, t])


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_source_word_matters_and_padding_does_not(kernel):
    net = model(kernel)
    before = net(SOURCE, TARGET)
    for place in range(5):
        changed = SOURCE.clone()
        changed[0, place] = 10
        assert not torch.allclose(net(changed, TARGET)[0], before[0])
    wider = F.pad(SOURCE, (0, 3), value=PAD)
    torch.testing.assert_close(net(wider, TARGET), before)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_reach_every_parameter(kernel):
    net = model(kernel)
    logits = net(SOURCE, TARGET)
    F.cross_entropy(logits.flatten(0, 1), torch.arange(12) % 13).backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all() and parameter.grad.abs().sum() > 0, name


def test_numerical_gradients():
    net = model(embedding=2, hidden=2, alignment=2, readout=2)
    parameters = [net.kernel.query.weight, net.kernel.key.weight, net.first_state.weight]

    def loss(*_):
        return net(SOURCE[:2, :3], TARGET[:2, :3]).square().mean()

    assert torch.autograd.gradcheck(loss, parameters)


@pytest.mark.parametrize("kernel", KERNELS)
def test_greedy_follows_the_teacher_forced_model(kernel):
    net = model(kernel)
    tokens = net.greedy(SOURCE, longest=5)
    fed = torch.cat([torch.full((len(tokens), 1), START), tokens[:, :-1]], dim=1)
    best = net(SOURCE, fed).argmax(dim=-1)
    for row in range(3):
        end = (tokens[row] == END).nonzero()
        stop = int(end[0]) + 1 if len(end) else tokens.shape[1]
        assert tokens[row, :stop].tolist() == best[row, :stop].tolist()


def test_greedy_stops_at_the_end_symbol_row_by_row():
    net = model()
    with torch.no_grad():
        net.output.weight.zero_()
        net.output.bias.zero_()
        net.output.bias[END] = 1.0
    tokens = net.greedy(SOURCE, longest=9)
    assert tokens.tolist() == [[END]] * 3

    # Now END wins from the second step on in row 0 only: PAD afterwards, the others write on.
    steps = iter([[5, 5, 5], [END, 6, 6], [7, 7, 7], [8, END, 8]])

    def scripted(symbol, state, encoded):
        return F.one_hot(torch.tensor(next(steps)), 13).double(), state, torch.zeros(3, 5)

    net.step = scripted
    tokens = net.greedy(SOURCE, longest=4)
    assert tokens.tolist() == [[5, END, PAD, PAD], [5, 6, 7, END], [5, 6, 7, 8]]


def test_greedy_writes_no_more_than_asked():
    net = model()
    with torch.no_grad():
        net.output.bias[END] = -100.0
    assert net.greedy(SOURCE, longest=7).shape == (3, 7)
    with pytest.raises(ValueError, match="longest must be above 0, found 0"):
        net.greedy(SOURCE, longest=0)


def test_it_learns_a_few_dates_by_heart():
    torch.manual_seed(0)
    batch = dates.encode(dates.sample("train", 8, seed=0))
    net = RNNSearch(
        RNNSearchConfig(
            source_vocabulary=len(dates.SOURCE_WORDS),
            target_vocabulary=len(dates.TARGET_SYMBOLS),
            embedding=16,
            hidden=16,
            alignment=16,
            readout=16,
        )
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    first = None
    for _ in range(80):
        logits = net(batch.source, batch.target[:, :-1])
        loss = F.cross_entropy(
            logits.flatten(0, 1), batch.target[:, 1:].flatten(), ignore_index=PAD
        )
        first = loss.item() if first is None else first
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert first > 4 and loss.item() < 0.05
    tokens = net.greedy(batch.source, longest=6)
    assert torch.equal(tokens, batch.target[:, 1:])


def test_dropout_is_off_in_eval():
    net = model(dropout=0.5)
    assert not torch.equal(net(SOURCE, TARGET), net(SOURCE, TARGET))
    net.eval()
    assert torch.equal(net(SOURCE, TARGET), net(SOURCE, TARGET))


def test_the_paper_s_sizes():
    config = RNNSearchConfig.paper()
    assert (config.embedding, config.hidden, config.alignment, config.readout) == (
        620,
        1000,
        1000,
        500,
    )
    with torch.device("meta"):
        net = RNNSearch(config)
    n, m = config.hidden, config.embedding
    assert net.kernel.query.weight.shape == (n, n) and net.kernel.key.weight.shape == (n, 2 * n)
    assert net.decoder.weight_ih.shape == (3 * n, m + 2 * n)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.hidden = 3


@pytest.mark.parametrize(
    ("source", "target", "error", "sentence"),
    [
        ([[3, 4], [0, 0]], [[1], [1]], ValueError, "at least one word, but row 1 is only padding"),
        ([[3, 0, 4]], [[1]], ValueError, "must be at the end"),
        ([[0, 3, 4]], [[1]], ValueError, "must be at the end"),
        ([[3, 4], [5, 6]], [[1]], ValueError, r"one batch size, found \(2, 2\) and \(1, 1\)"),
    ],
)
def test_bad_input_gets_a_sentence(source, target, error, sentence):
    with pytest.raises(error, match=sentence):
        model()(torch.tensor(source), torch.tensor(target))


def test_no_attention_has_no_weights():
    net = model("none")
    with pytest.raises(ValueError, match="kernel='none'"):
        net.weights(SOURCE, TARGET)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"end": 11}, r"below 11\), found \(0, 1, 11\)"),
        ({"end": 1}, "three different ids"),
    ],
)
def test_a_bad_configuration_gets_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        model(**changes)
