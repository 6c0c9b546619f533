"""Generator and discriminator of canvases: who can reach whom, equal weights, bad input."""

import pytest
import torch
from torch import nn

from coursekit.analysis.receptive import depends_on
from coursekit.models.sagan import Discriminator, Generator, GeneratorConfig, ResidualBlock2d
from coursekit.training.saved_model import pack


def painter(middle="attention", gamma=0.7, **changes) -> Generator:
    torch.manual_seed(0)
    net = Generator(GeneratorConfig(width=16, noise=5, middle=middle, **changes)).double().eval()
    if middle == "attention":
        nn.init.constant_(net.middle.gamma, gamma)
    return net


def behind(net: Generator):
    """What follows the map that the middle is given."""
    return lambda x: net.finish(net.middle(x))


def changed_by(net: Generator, end: int) -> torch.Tensor:
    """Which columns of the canvas (24,) change with the noise of one end."""
    z = net.noise(3, generator=torch.Generator().manual_seed(1)).double()
    other = z.clone()
    other[:, end] += 1
    with torch.no_grad():
        return (net(z) - net(other)).abs().amax(dim=(0, 1, 2)) > 1e-12


@pytest.mark.parametrize("middle", ["residual", "none"])
def test_without_attention_no_end_depends_on_the_noise_of_the_other(middle):
    net = painter(middle)
    left, right = changed_by(net, 0), changed_by(net, 1)
    assert left[:8].all() and not left[16:].any()
    assert right[16:].all() and not right[:8].any()


def test_attention_reaches_everywhere_as_soon_as_gamma_is_not_zero():
    assert changed_by(painter(), 0).all() and changed_by(painter(), 1).all()
    assert not changed_by(painter(gamma=0.0), 0)[16:].any()


def test_dense_noise_tells_both_ends():
    assert changed_by(painter("none", enters="dense"), 0).all()


def test_the_gradient_sees_the_same_reach():
    """Two steps of a pixel, halved; one step on the coarse map; two more inside the block."""
    for middle, found in (("none", (4, 8)), ("residual", (2, 10))):
        net = painter(middle)
        x, widest = torch.randn(1, 16, 4, 12, dtype=torch.double), torch.zeros(4, 12).bool()
        for n in range(60):  # a ReLU may be shut: ask with many inputs
            seen = depends_on(behind(net), x + 0.1 * n, (4, 12))
            widest = widest | seen
        columns = widest.any(dim=0).nonzero()[:, 0]
        assert (columns.min(), columns.max()) == found, middle


def test_gamma_zero_paints_what_no_middle_would():
    one, other = painter(gamma=0.0), painter("none")
    other.load_state_dict({n: t for n, t in one.state_dict().items() if "middle" not in n})
    z = one.noise(4).double()
    torch.testing.assert_close(one(z), other(z))


def test_looks_are_those_of_the_middle_and_change_nothing():
    net = painter()
    z = net.noise(2).double()
    canvas, weights = net.looks(z)
    torch.testing.assert_close(canvas, net(z))
    torch.testing.assert_close(weights, net.middle.weights(net.begin(z)))
    assert canvas.shape == (2, 1, 8, 24) and weights.shape == (2, 48, 48)
    assert canvas.abs().max() <= 1


def test_attention_and_residual_block_have_about_equal_weights():
    def count(middle):
        net = Generator(GeneratorConfig(middle=middle))
        return sum(weight.numel() for weight in net.middle.parameters())

    assert count("none") == 0
    assert 1 <= count("residual") / count("attention") < 1.4
    block = ResidualBlock2d(channels=2, hidden=1).double()
    x = torch.randn(1, 2, 3, 3).double()
    inside = nn.functional.conv2d(x, block.narrow.weight, padding=1).relu()
    torch.testing.assert_close(
        block(x), x + nn.functional.conv2d(inside, block.wide.weight, padding=1)
    )


def test_noise_is_drawn_for_each_end_and_follows_its_generator():
    net = painter()
    one, again = (net.noise(3, generator=torch.Generator().manual_seed(7)) for _ in range(2))
    assert one.shape == (3, 2, 5) and torch.equal(one, again)
    assert not torch.equal(one[:, 0], one[:, 1])


@pytest.mark.parametrize("spectral", [True, False])
def test_a_generator_can_be_kept(spectral):
    net = Generator(GeneratorConfig(width=8, noise=3, spectral_norm=spectral))
    assert hasattr(net.middle.key, "parametrizations") == spectral
    content, about = pack(net)
    assert about["config"]["middle"] == "attention" and len(content) < 100_000


def test_the_discriminator_sees_both_ends_and_a_batch_is_its_items():
    torch.manual_seed(0)
    net = Discriminator(width=4, hidden=8).double().eval()
    x = torch.randn(3, 1, 8, 24).double().requires_grad_()
    scores = net(x)
    assert scores.shape == (3,)
    (gradient,) = torch.autograd.grad(scores[0], x)
    assert gradient[0].abs().amax(dim=(0, 1)).gt(0).all() and not gradient[1:].any()
    torch.testing.assert_close(net(x[1:2]), scores[1:2])


def test_spectral_norm_of_the_discriminator_can_be_turned_off():
    normed, plain = Discriminator(width=4), Discriminator(width=4, spectral_norm=False)
    assert all(hasattr(layer, "parametrizations") for layer in normed.convolutions)
    for _ in range(50):
        normed(torch.randn(1, 1, 8, 24))
    for layer in normed.eval().convolutions:  # a row for each output channel
        largest = torch.linalg.matrix_norm(layer.weight.flatten(1), 2).item()
        assert largest == pytest.approx(1, abs=0.02)
    assert not any(hasattr(part, "parametrizations") for part in plain.modules())


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match="middle must be one of attention, residual, none, found"):
        GeneratorConfig(middle="pool")
    with pytest.raises(ValueError, match="enters must be one of ends, dense, found 'both'"):
        GeneratorConfig(enters="both")
    with pytest.raises(ValueError, match="width divisible by 8, found 12"):
        GeneratorConfig(width=12)
    with pytest.raises(ValueError, match="noise must be above 0"):
        GeneratorConfig(noise=0)
    with pytest.raises(ValueError, match=r"z, .* \(batch, 2, 5\), found \(3, 5\)"):
        painter()(torch.zeros(3, 5))
    with pytest.raises(ValueError, match="only attention looks; the middle is 'none'"):
        painter("none").looks(torch.zeros(1, 2, 5))
    with pytest.raises(ValueError, match=r"x must have shape \(batch, 1"):
        Discriminator(width=4)(torch.zeros(1, 8, 24))


def test_each_end_of_the_noise_has_its_own_columns_of_the_map():
    net = Generator(GeneratorConfig(middle="none")).eval()
    z = net.noise(1)
    assert net(z).shape[2:] == (8, 24) and net.begin(z).shape[2:] == (4, 12)
    for end, columns in ((0, [0, 1, 2, 3]), (1, [8, 9, 10, 11])):
        other = z.clone()
        other[:, end] += 1
        with torch.no_grad():
            moved = (net.begin(z) != net.begin(other)).any(dim=1)[0].any(dim=0)
        assert moved.nonzero().flatten().tolist() == columns
