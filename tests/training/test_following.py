"""Tensors follow the model to its device; the meta device stands for a GPU here."""

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence
from torch.overrides import _get_current_function_mode_stack

from coursekit.models import GPT, GPTConfig
from coursekit.training import loop
from coursekit.training.batches import Batches
from coursekit.training.callbacks import ProgressBar
from coursekit.training.following import Following, follow


def test_tensors_of_the_cpu_follow_a_model():
    tokens = torch.tensor([[1, 2, 3]])
    with torch.device("meta"):
        model = GPT(GPTConfig(vocabulary=9, width=8, depth=1, heads=2, positions=4)).eval()
    with Following():
        logits = model(tokens)
        assert logits.is_meta and logits.shape == (1, 3, 9)
        assert (logits.argmax(dim=-1) == tokens).is_meta  # labels stay on the CPU, and are compared
        assert torch.cat([logits[0], torch.ones(1, 9)]).is_meta
    assert tokens.device.type == "cpu"


def test_what_is_changed_in_place_stays_where_it_is():
    there, here = torch.empty(3, device="meta"), torch.zeros(3, device="meta")
    with Following():
        here.add_(torch.ones(3))
        there[:] = torch.ones(3)
        assert here.is_meta and there.is_meta
        total = torch.ones(3)
        with pytest.raises(NotImplementedError, match="meta"):  # its numbers cannot come here
            total.add_(there)
    assert total.tolist() == [1, 1, 1]


def test_paused_it_does_nothing():
    following = Following()
    here, there = torch.ones(2), torch.empty(2, device="meta")

    def devices() -> list[str]:
        """Return where an operation on both would find them."""
        both = following.__torch_function__(lambda *args: args, (), (here, [there]))
        return [both[0].device.type, both[1][0].device.type]

    assert devices() == ["meta", "meta"]
    with following.pause():
        assert devices() == ["cpu", "meta"]
        with following.pause(False):
            assert devices() == ["meta", "meta"]
    assert devices() == ["meta", "meta"]


@pytest.mark.parametrize(("collate", "paused"), [(torch.stack, True), (list, False)])
def test_what_a_loss_makes_of_a_list_follows_the_model(monkeypatch, collate, paused):
    """With `collate=list` nothing of a batch was moved: `reviewer` failed on a card at step 1."""
    following, seen = Following(), []
    monkeypatch.setattr(loop, "follow", lambda device: following)

    def loss(model, rows):
        seen.append(following.paused)
        return model(torch.stack(tuple(rows))).sum(), len(rows)

    model = torch.nn.Linear(2, 1)
    batches = Batches(list(torch.ones(4, 2)), collate, size=2)
    optimiser, callbacks = torch.optim.SGD(model.parameters()), [ProgressBar(quiet=True)]
    loop.train(model, batches, loss, optimiser, steps=2, callbacks=callbacks)
    assert seen == [paused, paused] and not following.paused


def test_pausing_takes_it_off_the_stack_and_puts_it_back():
    following = Following()
    other = Following()

    stack = _get_current_function_mode_stack
    with following:
        with following.pause():
            assert stack() == []
            with following.pause(False):
                assert stack() == [following]
            with pytest.raises(KeyError), following.pause(False):
                raise KeyError
            assert stack() == []
        assert stack() == [following]
        with other, following.pause():  # not on top: it stays, and hands on
            assert stack() == [following, other] and following.paused
        assert stack() == [following] and not following.paused


def test_packing_keeps_its_lengths_on_the_cpu():
    """The recurrent translator failed on a card when it was looked at."""
    words, lengths = torch.empty(2, 3, 4, device="meta"), torch.tensor([3, 2])
    with Following():
        packed = pack_padded_sequence(words, lengths, batch_first=True)
    assert packed.data.is_meta and packed.batch_sizes.tolist() == [2, 2, 1]


def test_what_is_no_device_is_refused():
    """`library_answers` calls every function of the package with the values of a case."""
    with pytest.raises(TypeError, match=r"needs a torch.device, found Tensor"):
        follow(torch.zeros(2))


def test_on_the_cpu_nothing_is_entered():
    assert follow(torch.device("cpu")) is not follow(torch.device("cpu"))


def test_a_model_can_be_moved_and_loaded():
    with torch.device("meta"):
        model = torch.nn.Linear(2, 3)
    with Following():
        model.to_empty(device="cpu")
        model.weight.data = torch.ones(3, 2)
        model.load_state_dict({"weight": torch.zeros(3, 2), "bias": torch.ones(3)})
        assert model.to("meta").weight.is_meta
        assert torch.embedding(model.weight, torch.tensor(1)).is_meta  # one index without an axis
