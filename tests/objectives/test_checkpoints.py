"""Averages of checkpoints: the mean, its precision, its sources, and what cannot be averaged."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch import nn

from coursekit.objectives.checkpoints import average_checkpoints, update_running_mean


def model(seed, dtype=torch.float32):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    for parameter in net.parameters():
        nn.init.normal_(parameter)
    return net.to(dtype)


@given(st.integers(1, 7), st.sampled_from([torch.float32, torch.float64]))
def test_the_mean_of_every_tensor(count, dtype):
    states = [model(seed, dtype).state_dict() for seed in range(count)]
    copies = [{name: tensor.clone() for name, tensor in state.items()} for state in states]
    found = average_checkpoints(states)
    assert found.keys() == states[0].keys()
    for name, tensor in found.items():
        want = torch.stack([state[name].double() for state in states]).mean(0)
        assert tensor.dtype == states[0][name].dtype
        torch.testing.assert_close(tensor, want.to(tensor.dtype))
        assert not tensor.requires_grad
    model(0, dtype).load_state_dict(found)
    found["0.weight"].zero_()
    for state, copy in zip(states, copies):  # no checkpoint was changed, or is shared
        assert all(torch.equal(state[name], copy[name]) for name in copy)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("count", [1, 3, 5, 20])
def test_equal_checkpoints_give_themselves_to_the_bit(dtype, count):
    state = model(0, dtype).state_dict()
    found = average_checkpoints([state] * count)
    assert all(torch.equal(found[name], state[name]) for name in state)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sixteen_bits_are_averaged_in_thirty_two(dtype):
    """In 16 bits, adding small steps to a large sum loses them."""
    torch.manual_seed(0)
    states = [{"w": (1 + torch.rand(500) / 8).to(dtype)} for _ in range(40)]
    exact = torch.stack([state["w"].double() for state in states]).mean(0)
    found = average_checkpoints(states)["w"]
    assert found.dtype == dtype
    # Between 1 and 2 numbers are eps apart: the found one is a nearest that 16 bits can hold.
    assert ((found.double() - exact).abs() <= 0.501 * torch.finfo(dtype).eps).all()


def test_files_and_dicts_and_a_generator_give_the_same(tmp_path):
    states = [model(seed).state_dict() for seed in range(3)]
    save_file(states[0], tmp_path / "a.safetensors")
    torch.save(states[1], tmp_path / "b.pt")
    want = average_checkpoints(states)
    mixed = [tmp_path / "a.safetensors", str(tmp_path / "b.pt"), states[2]]
    for checkpoints in (mixed, iter(mixed), (item for item in mixed)):
        found = average_checkpoints(checkpoints)
        assert all(torch.equal(found[name], want[name]) for name in want)


def test_integers_and_booleans_must_be_the_same():
    state = {"count": torch.tensor(3), "seen": torch.tensor([True, False]), "w": torch.ones(2)}
    found = average_checkpoints([state, state, state])
    assert found["count"] == 3 and found["count"].dtype == torch.int64
    assert found["seen"].tolist() == [True, False]
    with pytest.raises(ValueError, match=r"count holds int64 values, .* number 3"):
        average_checkpoints([state, state, state | {"count": torch.tensor(4)}])
    with pytest.raises(ValueError, match="seen holds bool values"):
        average_checkpoints([state, state | {"seen": torch.tensor([True, True])}])


def test_what_cannot_be_averaged_gets_a_sentence(tmp_path):
    state = model(0).state_dict()
    less = {name: tensor for name, tensor in state.items() if name != "2.bias"}
    with pytest.raises(ValueError, match=r"2\.bias is only in the first \(1 differ\)"):
        average_checkpoints([state, less])
    with pytest.raises(ValueError, match=r"2\.bias is not in the first but in number 2"):
        average_checkpoints([less, state])
    with pytest.raises(
        ValueError, match=r"one dtype .* torch\.float32 .* in number 2, torch\.bfloat"
    ):
        average_checkpoints([state, model(1, torch.bfloat16).state_dict()])
    with pytest.raises(ValueError, match=r"found .* \(2,\) and, in number 2, .* \(1,\)"):
        average_checkpoints([state, state | {"2.bias": torch.ones(1)}])
    with pytest.raises(ValueError, match="at least one checkpoint with tensors, found none"):
        average_checkpoints([])
    with pytest.raises(TypeError, match="several checkpoints in a list, found a single one"):
        average_checkpoints(state)
    torch.save({"model": state, "step": 3}, tmp_path / "run.pt")
    with pytest.raises(TypeError, match=r"run\.pt must hold one state dict"):
        average_checkpoints([tmp_path / "run.pt"])
    with pytest.raises(FileNotFoundError, match=r"missing\.pt"):
        average_checkpoints([tmp_path / "missing.pt"])


def test_the_mean_lies_further_in():
    """Weights that circle around a minimum, as late in training: their mean has the lower loss."""
    angles = torch.arange(5) * 2 * torch.pi / 5
    states = [{"w": torch.stack([angle.cos(), angle.sin()])} for angle in angles]
    found = average_checkpoints(states)["w"]
    assert found.norm() < 1e-6 < min(state["w"].norm() for state in states)


def test_the_running_mean_is_polyak_s_sum_written_out():
    states = [model(seed, torch.float64).state_dict() for seed in range(6)]
    mean = {name: tensor.clone() for name, tensor in states[0].items()}
    for state in states[1:]:
        update_running_mean(mean, state, decay=0.9)
    shares = [0.9**5, *(0.1 * 0.9 ** (5 - step) for step in range(1, 6))]
    assert sum(shares) == pytest.approx(1)
    for name, tensor in mean.items():
        if tensor.is_floating_point():
            want = sum(share * state[name] for share, state in zip(shares, states))
            torch.testing.assert_close(tensor, want)
        else:
            assert torch.equal(tensor, states[-1][name])


def test_a_decay_of_one_keeps_the_mean_and_of_zero_follows_the_weights():
    first, second = model(0).state_dict(), model(1).state_dict()
    for decay, want in ((1.0, first), (0.0, second)):
        mean = {name: tensor.clone() for name, tensor in first.items()}
        update_running_mean(mean, second, decay=decay)
        assert all(torch.equal(mean[n], want[n]) for n in mean if mean[n].is_floating_point())


def test_the_running_mean_of_another_model_is_refused():
    with pytest.raises(ValueError, match=r"1\.bias"):
        update_running_mean({}, {"1.bias": torch.zeros(2)})
