"""The feed-forward network: gates against their formula and against transformers."""

import os

import pytest
import torch
import torch.nn.functional as F

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP
from transformers.models.t5.configuration_t5 import T5Config
from transformers.models.t5.modeling_t5 import T5DenseGatedActDense

from coursekit.activations import ACTIVATIONS, gelu, gelu_tanh, relu, silu
from coursekit.blocks import Block
from coursekit.feed_forward import FeedForward

D, HIDDEN = 6, 10


def gated(activation, **choices) -> FeedForward:
    torch.manual_seed(0)
    return FeedForward(
        width=D, hidden=HIDDEN, gated=True, activation=activation, **choices
    ).double()


@pytest.mark.parametrize("activation", [relu, gelu, silu, torch.sigmoid])
@pytest.mark.parametrize("bias", [True, False])
def test_a_gate_is_its_formula(activation, bias):
    """ReGLU, GEGLU, SwiGLU, GLU: contract(activation(W x + b) ⊙ (V x + c))."""
    feed, x = gated(activation, bias=bias), torch.randn(2, 3, D).double()
    parts = dict(feed.named_parameters())
    W, V, out = (parts[f"{name}.weight"] for name in ("gate", "expand", "contract"))
    b, c, d = (parts.get(f"{name}.bias", 0.0) for name in ("gate", "expand", "contract"))
    want = (activation(x @ W.T + b) * (x @ V.T + c)) @ out.T + d
    torch.testing.assert_close(feed(x), want)
    assert len(parts) == (6 if bias else 3)


@pytest.mark.parametrize(
    ("make", "names", "activation"),
    [
        (
            lambda: T5DenseGatedActDense(
                T5Config(d_model=D, d_ff=HIDDEN, feed_forward_proj="gated-gelu", dropout_rate=0.0)
            ),
            {"gate": "wi_0", "expand": "wi_1", "contract": "wo"},
            gelu_tanh,
        ),
        (
            lambda: LlamaMLP(
                LlamaConfig(hidden_size=D, intermediate_size=HIDDEN, num_attention_heads=1)
            ),
            {"gate": "gate_proj", "expand": "up_proj", "contract": "down_proj"},
            silu,
        ),
    ],
    ids=["T5 1.1", "Llama"],
)
def test_a_gate_is_that_of_transformers_forward_and_gradients(make, names, activation):
    ours, theirs = gated(activation, bias=False), make().double()
    their_state = theirs.state_dict()
    ours.load_state_dict(
        {f"{our}.weight": their_state[f"{their}.weight"] for our, their in names.items()}
    )
    x = torch.randn(2, 3, D).double()
    mine, other = x.clone().requires_grad_(), x.clone().requires_grad_()
    found, want = ours(mine), theirs(other)
    torch.testing.assert_close(found, want)
    direction = torch.randn_like(want)
    (found * direction).sum().backward()
    (want * direction).sum().backward()
    torch.testing.assert_close(mine.grad, other.grad)
    for our, their in names.items():
        torch.testing.assert_close(
            ours.get_submodule(our).weight.grad, theirs.get_submodule(their).weight.grad
        )


@pytest.mark.parametrize("width", [6, 16, 96])
def test_a_gate_costs_no_weights_unless_asked(width):
    """Shazeer gives the three matrices two thirds of the height; whole numbers cost the rest."""
    plain = sum(p.numel() for p in FeedForward(width=width, bias=False).parameters())
    feed = FeedForward(width=width, bias=False, gated=True)
    assert 0 <= plain - sum(p.numel() for p in feed.parameters()) < 3 * width
    assert FeedForward(width=width, hidden=7, gated=True).gate.out_features == 7


def test_dropout_and_inner_norm_act_on_the_gated_layer():
    x = torch.randn(2, 3, D).double()
    feed = gated(silu, inner_norm=True)
    hidden = silu(feed.gate(x)) * feed.expand(x)
    torch.testing.assert_close(feed(x), feed.contract(F.layer_norm(hidden, (HIDDEN,))))
    dropped = gated(silu, dropout=1.0)
    torch.testing.assert_close(dropped(x), dropped.contract.bias.expand(2, 3, D))


def test_a_block_hands_the_gate_on_and_an_ungated_one_has_the_weights_it_had():
    block = Block(width=8, heads=2, gated=True, activation=silu, hidden=12)
    assert block.feed_forward.gate.out_features == 12
    torch.manual_seed(0)
    plain = FeedForward(width=D, activation=ACTIVATIONS["gelu"])
    assert plain.state_dict().keys() == {
        "expand.weight", "expand.bias", "contract.weight", "contract.bias"
    }  # fmt: skip
    torch.manual_seed(0)
    first = torch.nn.Linear(D, 4 * D)
    assert torch.equal(plain.expand.weight, first.weight)


@pytest.mark.parametrize("part", [FeedForward, lambda **given: Block(heads=1, **given)])
def test_an_activation_is_a_function_and_not_its_name(part):
    with pytest.raises(TypeError, match=r"such as coursekit\.activations\.gelu, found 'gelu'"):
        part(width=4, activation="gelu")
