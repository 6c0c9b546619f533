"""LoRA: a detour that starts as nothing, learns alone, is saved alone and can be added in."""

from copy import deepcopy

import pytest
import torch
from torch import nn

from coursekit.heads import MultiHeadAttention
from coursekit.models.bert import Bert, BertConfig
from coursekit.models.bert_heads import BertTagger
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.training.lora import LoRA, add_lora, learned_weights, merge_lora

SMALL = BertConfig(vocabulary=30, width=8, depth=3, heads=2, hidden=16, positions=12, dropout=0.0)
TOKENS = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])


def bert() -> Bert:
    torch.manual_seed(0)
    return Bert(SMALL).eval()


def moved(model: nn.Module) -> nn.Module:
    """Give every B a value, as a training would."""
    torch.manual_seed(1)
    for part in model.modules():
        if isinstance(part, LoRA):
            nn.init.normal_(part.B)
    return model


def test_by_hand():
    layer = nn.Linear(3, 2)
    layer.weight.data, layer.bias.data = torch.eye(2, 3), torch.tensor([10.0, 20.0])
    detour = LoRA(layer, rank=1, alpha=2.0)
    detour.A.data, detour.B.data = torch.tensor([[1.0, 1, 1]]), torch.tensor([[1.0], [-1]])
    x = torch.tensor([1.0, 2, 3])
    # W x + bias = (11, 22); A x = 6; B A x = (6, −6); alpha / rank = 2
    assert detour(x).tolist() == [23.0, 10.0]
    assert detour.merge().weight.tolist() == [[3.0, 2, 2], [-2, -1, -2]]
    assert layer(x).tolist() == [23.0, 10.0]


def test_a_new_detour_changes_nothing_and_everything_else_is_frozen():
    model = bert()
    before = model(TOKENS)
    add_lora(model, rank=2, alpha=4.0)
    torch.testing.assert_close(model(TOKENS), before, rtol=0, atol=0)
    found = {name.rpartition(".")[2] for name in learned_weights(model)}
    assert found == {"A", "B"} and len(learned_weights(model)) == 2 * SMALL.depth


def test_how_many_weights_learn():
    model = add_lora(bert(), rank=2, alpha=4.0)
    # A: r × D, B: 3D × r, for queries, keys and values in one matrix, in each block
    assert sum(w.numel() for w in learned_weights(model).values()) == SMALL.depth * 2 * (8 + 24)
    wider = add_lora(bert(), rank=2, alpha=4.0, names=("qkv", "out"))
    assert sum(w.numel() for w in learned_weights(wider).values()) == SMALL.depth * 2 * (32 + 16)


def test_a_step_moves_the_detours_and_the_head_and_nothing_else():
    model = BertTagger(add_lora(bert(), rank=2, alpha=4.0), classes=5)
    before = deepcopy(model.state_dict())
    optimiser = torch.optim.SGD([w for w in model.parameters() if w.requires_grad], lr=1.0)
    for _ in range(3):  # B is zero at first, so A has a gradient from the second step on
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(TOKENS)[:, 0], torch.tensor([1, 2])).backward()
        optimiser.step()
    moving = {name for name, w in model.state_dict().items() if not torch.equal(w, before[name])}
    assert moving == set(learned_weights(model))
    assert {name for name in moving if "encoder" not in name} == {
        "classifier.weight", "classifier.bias",
    }  # fmt: skip


def test_gradients_of_the_thin_matrices_are_those_of_the_sum():
    torch.manual_seed(0)
    layer, x = nn.Linear(6, 4).double(), torch.randn(3, 6, dtype=torch.double)
    detour = LoRA(layer, rank=2, alpha=3.0)
    nn.init.normal_(detour.B)
    detour(x).square().sum().backward()
    A, B = (w.detach().clone().requires_grad_() for w in (detour.A, detour.B))
    whole = layer.weight.detach() + 3 / 2 * B @ A
    (x @ whole.T + layer.bias.detach()).square().sum().backward()
    torch.testing.assert_close((detour.A.grad, detour.B.grad), (A.grad, B.grad))
    assert layer.weight.grad is None and layer.bias.grad is None


@pytest.mark.parametrize("names", [("qkv",), ("qkv", "out")])
def test_a_merged_model_says_the_same_and_has_its_old_parts(names):
    model = moved(add_lora(bert(), rank=2, alpha=4.0, names=names))
    before = model(TOKENS)
    assert not torch.allclose(before, bert()(TOKENS), atol=1e-3)
    merge_lora(model)
    torch.testing.assert_close(model(TOKENS), before)
    assert set(model.state_dict()) == set(bert().state_dict())
    assert not any(isinstance(part, LoRA) for part in model.modules())


def test_what_is_saved_makes_the_same_model_of_another_copy():
    torch.manual_seed(2)
    model = BertTagger(moved(add_lora(bert(), rank=2, alpha=4.0)), classes=5).eval()
    saved = learned_weights(model)
    torch.manual_seed(3)
    other = BertTagger(add_lora(bert(), rank=2, alpha=4.0), classes=5).eval()
    assert not torch.allclose(other(TOKENS), model(TOKENS))
    other.load_state_dict(saved, strict=False)
    torch.testing.assert_close(other(TOKENS), model(TOKENS))
    with torch.no_grad():
        model.classifier.weight.zero_()
    assert saved["classifier.weight"].any()  # copies, that later steps leave alone


def test_a_reading_and_a_writing_model_have_detours_too():
    torch.manual_seed(0)
    gpt = GPT(GPTConfig(vocabulary=30, width=8, depth=2, heads=2, positions=12)).eval()
    before = gpt(TOKENS)
    moved(add_lora(gpt, rank=1, alpha=1.0))
    after = gpt(TOKENS)
    assert not torch.allclose(after, before)
    torch.testing.assert_close(merge_lora(gpt)(TOKENS), after)
    attention = add_lora(MultiHeadAttention(width=8, heads=2), rank=1, alpha=1.0)
    memory = torch.randn(2, 5, 8)
    assert attention(torch.randn(2, 3, 8), memory).shape == (2, 3, 8)  # asked for its parts


def test_the_weights_of_the_detour_have_the_kind_of_the_layer():
    assert LoRA(nn.Linear(4, 4).double(), rank=1, alpha=1.0).A.dtype == torch.double
    on_meta = LoRA(nn.Linear(4, 4, device="meta"), rank=1, alpha=1.0)
    assert on_meta.A.is_meta and on_meta.B.is_meta


def test_how_large_a_starts():
    torch.manual_seed(0)
    detour = LoRA(nn.Linear(256, 8), rank=64, alpha=1.0)
    x = torch.randn(200, 256)
    assert (x @ detour.A.T).std().item() == pytest.approx(1.0, abs=0.05)  # as large as x


def test_what_cannot_be_is_refused():
    layer = nn.Linear(4, 4)
    with pytest.raises(ValueError, match="rank must be"):
        LoRA(layer, rank=0, alpha=1.0)
    with pytest.raises(ValueError, match="alpha must be"):
        LoRA(layer, rank=1, alpha=0.0)
    with pytest.raises(ValueError, match="Bert has no linear layer called query"):
        add_lora(bert(), rank=1, alpha=1.0, names=("query",))
    with pytest.raises(ValueError, match="no linear layer called qkv"):  # it has detours already
        add_lora(add_lora(bert(), rank=1, alpha=1.0), rank=1, alpha=1.0)
    with pytest.raises(TypeError, match="names must be several, found 'qkv'"):
        add_lora(bert(), rank=1, alpha=1.0, names="qkv")


class Twice(nn.Module):
    """One layer in two places, and its weight tied to an embedding."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.tokens, self.first = nn.Embedding(6, 6), nn.Linear(6, 6)
        self.first.weight = self.tokens.weight
        self.other = nn.ModuleDict({"first": self.first, "last": nn.Linear(6, 6)})

    def forward(self, tokens):
        return self.other["last"](self.other["first"](self.first(self.tokens(tokens))))


@pytest.mark.parametrize("names", [("first",), ("first", "last"), ("last",)])
def test_merging_keeps_the_outputs_where_a_layer_is_used_twice_or_its_weight_is_tied(names):
    model = Twice()
    table = model.tokens.weight.clone()
    moved(add_lora(model, rank=2, alpha=3.0, names=names))
    assert (model.first is model.other["first"]) and isinstance(model.first, LoRA) == (
        "first" in names
    )
    tokens = torch.arange(6)
    before = model(tokens)
    assert merge_lora(model) is model and not any(isinstance(m, LoRA) for m in model.modules())
    torch.testing.assert_close(model(tokens), before)
    torch.testing.assert_close(model.tokens.weight, table, rtol=0, atol=0)


def test_a_layer_under_two_names_of_one_module_has_one_detour():
    model = nn.Module()
    model.qkv = model.again = nn.Linear(3, 3)
    add_lora(model, rank=1, alpha=1.0, names=("qkv", "again"))
    assert model.qkv is model.again and len(learned_weights(model)) == 2
    merge_lora(moved(model))
    assert model.qkv is model.again and type(model.qkv) is nn.Linear


def test_beside_all_linear_layers_about_a_thirtieth_learns():
    made = Bert(BertConfig(width=128, depth=4, heads=4, hidden=512, vocabulary=2000, positions=128))
    few = add_lora(made, rank=4, alpha=8, names=("qkv", "out", "expand", "contract"))
    learn = sum(weight.numel() for weight in learned_weights(few).values())
    assert 25 < sum(weight.numel() for weight in few.parameters()) / learn < 40
