"""DETR: equal to transformers and to the paper written out, its laws, counts and bad input."""

import dataclasses
import math

import pytest
import torch
import torch.nn.functional as F
import transformers
from torch import nn

from coursekit.analysis import capture
from coursekit.boxes.average_precision import average_precision
from coursekit.boxes.geometry import Objects, to_centres
from coursekit.models import weights
from coursekit.models.detr import DETR, DETRConfig, pad_images
from coursekit.models.resnet import ResNet, ResNetConfig
from coursekit.models.weights.rules import import_state, read_safetensors
from coursekit.objectives.detection import DetectionLoss
from coursekit.positions import padded_sine_2d

TINY = {"classes": 3, "queries": 4, "channels": 6, "width": 16, "heads": 2, "hidden": 24,
        "encoder_depth": 2, "decoder_depth": 3}  # fmt: skip


def randomised(model: nn.Module, std: float = 0.3) -> nn.Module:
    """Draw every parameter, so that no zero and no unit norm can hide a mistake."""
    torch.manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            norm = "norm" in name and name.endswith("weight")
            parameter.normal_(float(norm), 1.0 if "quer" in name and parameter.ndim == 2 else std)
        for name, buffer in model.named_buffers():
            if "normalization" in name:
                buffer.uniform_(0.5, 1.5)
    return model


def tiny(backbone: nn.Module | None = None, **changes) -> DETR:
    return randomised(DETR(DETRConfig(**(TINY | changes)), backbone)).double().eval()


def maps(*shape: int, seed: int = 1, dtype: torch.dtype = torch.double) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def layers(said) -> list:
    return [*said.earlier, said]


def together(*outputs: torch.Tensor) -> torch.Tensor:
    """One number that every output moves."""
    return sum(output.sin().mean() * (i + 1) for i, output in enumerate(outputs))


def close(found: torch.Tensor, expected: torch.Tensor, atol: float, name: str = "") -> None:
    """Compare gradients: the tolerance grows with the largest one, if that is above 1."""
    size = expected.abs().max().clamp_min(1)
    assert (found - expected).abs().max() <= atol * size, (
        name,
        (found - expected).abs().max(),
        size,
    )


# Parity with transformers

RESNET = ResNetConfig(block="basic", depths=(1, 1), width=4, classes=0, frozen_norm=True)
CONFIGS = {
    "small": {},
    "deep, wide": {"d_model": 24, "encoder_layers": 1, "decoder_layers": 3, "num_queries": 7,
                   "encoder_attention_heads": 3, "decoder_attention_heads": 3},
    "one": {"decoder_layers": 1, "encoder_layers": 3, "num_queries": 1, "num_labels": 1,
            "encoder_ffn_dim": 8, "decoder_ffn_dim": 8},
    "learned": {"position_embedding_type": "learned"},
}  # fmt: skip


def theirs(**changes) -> transformers.DetrForObjectDetection:
    resnet = transformers.ResNetConfig(
        embedding_size=4, hidden_sizes=[4, 8], depths=[1, 1], layer_type="basic",
        out_features=["stage2"],
    )  # fmt: skip
    sizes = {
        "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 20,
        "decoder_ffn_dim": 20, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
        "num_queries": 5, "num_labels": 4,
    }  # fmt: skip
    config = transformers.DetrConfig(
        use_timm_backbone=False, backbone_config=resnet, **(sizes | changes)
    )
    net = randomised(transformers.DetrForObjectDetection(config))
    randomised(net.model.backbone, std=0.1)  # large features would saturate the attention
    return net


def converted(net: transformers.DetrForObjectDetection) -> DETR:
    config = weights.read_config(DETRConfig, net.config.to_dict(), channels=8)
    return weights.build(DETR, net.state_dict(), config, backbone=ResNet(RESNET))


@pytest.mark.parametrize(("dtype", "atol"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("changes", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("padded", [True, False])
def test_equal_to_transformers_forward_and_backward(padded, changes, dtype, atol):
    its = theirs(**changes).to(dtype).eval()
    ours = converted(its).to(dtype).eval()
    ours.load_state_dict(converted(its).state_dict())
    images, keep = maps(2, 3, 40, 56, dtype=dtype), None
    if padded:
        images, keep = pad_images([maps(3, 40, 33, dtype=dtype), maps(3, 23, 56, dtype=dtype)])
    inputs = [images.clone().requires_grad_() for _ in range(2)]

    hidden = []
    for layer in its.model.decoder.layers:
        layer.register_forward_hook(lambda module, given, out: hidden.append(out))
    its.requires_grad_(True)  # of the backbone too, whose start they freeze
    expected = its(inputs[0], pixel_mask=None if keep is None else keep.long())
    found = ours(inputs[1], keep)
    # With its own `auxiliary_loss` theirs normalises between the layers too, which the authors'
    # code does not; so its norm and heads are put on its layers here.
    states = [its.model.decoder.layernorm(h) for h in hidden]
    logits = [its.class_labels_classifier(state) for state in states]
    boxes = [its.bbox_predictor(state).sigmoid() for state in states]
    torch.testing.assert_close(logits[-1], expected.logits)
    torch.testing.assert_close(found.states, expected.last_hidden_state, atol=atol, rtol=atol)
    assert len(found.earlier) == its.config.decoder_layers - 1
    for said, logit, box in zip(layers(found), logits, boxes, strict=True):
        torch.testing.assert_close(said.logits, logit, atol=atol, rtol=atol)
        torch.testing.assert_close(said.boxes, box, atol=atol, rtol=atol)

    together(*logits, *boxes).backward()
    mine = layers(found)
    together(*[said.logits for said in mine], *[said.boxes for said in mine]).backward()
    close(inputs[1].grad, inputs[0].grad, atol)
    gradients = {name: torch.zeros_like(tensor) for name, tensor in its.state_dict().items()}
    gradients |= {name: parameter.grad for name, parameter in its.named_parameters()}
    gradients = import_state(weights.rules_of(ours), gradients)
    for name, parameter in ours.named_parameters():
        close(parameter.grad, gradients[name], atol, name)


def test_the_whole_training_loss_equals_transformers():
    its = theirs(decoder_layers=1).eval()
    ours = converted(its).eval()
    images, keep = pad_images([maps(3, 40, 33).float(), maps(3, 23, 56).float()])
    targets = [
        Objects(labels=torch.tensor([1, 3]), boxes=torch.rand(2, 4) / 2),
        Objects(labels=torch.tensor([], dtype=torch.long), boxes=torch.zeros(0, 4)),
    ]
    labels = [{"class_labels": target.labels, "boxes": target.boxes} for target in targets]
    expected = its(images, pixel_mask=keep.long(), labels=labels).loss
    torch.testing.assert_close(DetectionLoss()(ours(images, keep), targets)[0], expected)


def test_there_and_back_in_memory_and_in_a_file(tmp_path):
    its = theirs()
    ours = converted(its)
    back = weights.export(ours)
    assert back.keys() == its.state_dict().keys()
    assert all(torch.equal(back[name], tensor) for name, tensor in its.state_dict().items())
    its.save_pretrained(tmp_path)  # the file has the names of the hub
    stored = read_safetensors(tmp_path / "model.safetensors")
    assert stored.keys() != its.state_dict().keys()
    again = weights.build(DETR, stored, ours.config, backbone=ResNet(RESNET)).state_dict()
    assert all(torch.equal(again[name], tensor) for name, tensor in ours.state_dict().items())
    timm = weights.export(ours, backbone="torchvision")  # the published files hold timm's ResNet
    assert "model.backbone.model.layer1.0.conv1.weight" in timm
    again = weights.build(DETR, timm, ours.config, backbone=ResNet(RESNET)).state_dict()
    assert all(torch.equal(again[name], tensor) for name, tensor in ours.state_dict().items())


def test_a_missing_or_left_over_weight_is_an_error():
    its = theirs()
    state, backbone = its.state_dict(), ResNet(RESNET)
    config = weights.read_config(DETRConfig, its.config.to_dict(), channels=8)
    with pytest.raises(ValueError, match=r"'class_embed.weight', which this model has no place"):
        weights.build(
            DETR, state | {"class_embed.weight": torch.zeros(1)}, config, backbone=backbone
        )
    short = {k: v for k, v in state.items() if k != "model.decoder.layernorm.bias"}
    with pytest.raises(ValueError, match=r"lack 'model.decoder.layernorm.bias'"):
        weights.build(DETR, short, config, backbone=backbone)
    with pytest.raises(ValueError, match=r"class_head\.weight has shape"):
        weights.build(DETR, state, dataclasses.replace(config, classes=9), backbone=backbone)
    with pytest.raises(ValueError, match="norm='post' only"):
        weights.export(tiny(norm="pre"))
    with pytest.raises(ValueError, match=r"encoder and decoder must agree in ffn_dim.*\(20, 24\)"):
        weights.read_config(DETRConfig, its.config.to_dict() | {"decoder_ffn_dim": 24})
    with pytest.raises(ValueError, match="'drawn'"):
        weights.read_config(DETRConfig, its.config.to_dict() | {"position_embedding_type": "drawn"})
    for change in ({"places": "none"}, {"places": "decoder"}, {"feed_forward": False}):
        for layout in ("huggingface", "original"):
            with pytest.raises(ValueError, match="other programs have sine or learned places"):
                weights.export(tiny(**change), layout)


# The paper written out, out of torch's own layers, under the names of the authors' code


class Paper(nn.Module):
    """Appendix A.3 and figure 10 of the paper; the layers are torch's, called piece by piece."""

    def __init__(self, config: DETRConfig) -> None:
        super().__init__()
        self.pre, self.places = config.norm == "pre", config.places
        self.with_feed_forward = config.feed_forward
        sizes = {"d_model": config.width, "nhead": config.heads, "dim_feedforward": config.hidden,
                 "dropout": 0.0, "norm_first": self.pre, "batch_first": True}  # fmt: skip
        self.transformer = nn.ModuleDict({"encoder": nn.Module(), "decoder": nn.Module()})
        self.transformer.encoder.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(**sizes) for _ in range(config.encoder_depth)
        )
        self.transformer.decoder.layers = nn.ModuleList(
            nn.TransformerDecoderLayer(**sizes) for _ in range(config.decoder_depth)
        )
        self.transformer.decoder.norm = nn.LayerNorm(config.width)
        if self.pre:
            self.transformer.encoder.norm = nn.LayerNorm(config.width)
        self.backbone = nn.ModuleList([nn.Module()])
        self.backbone[0].body = stem()
        if config.places == "learned":
            half = config.width // 2
            self.backbone.append(nn.Module())
            self.backbone[1].row_embed = nn.Embedding(50, half)
            self.backbone[1].col_embed = nn.Embedding(50, half)
        self.input_proj = nn.Conv2d(config.channels, config.width, 1)
        self.query_embed = nn.Embedding(config.queries, config.width)
        self.class_embed = nn.Linear(config.width, config.classes + 1)
        self.bbox_embed = nn.Module()
        self.bbox_embed.layers = nn.ModuleList(
            nn.Linear(config.width, n) for n in (config.width, config.width, 4)
        )

    def forward(self, images, keep):
        features = self.backbone[0].body(images)
        B, _, h, w = features.shape
        rows = [int(i * (images.shape[2] / h)) for i in range(h)]
        columns = [int(j * (images.shape[3] / w)) for j in range(w)]
        keep = keep[:, rows][:, :, columns]
        width = self.input_proj.out_channels
        positions = sine(keep, width)
        if self.places == "learned":
            for i in range(h):
                for j in range(w):
                    parts = (
                        self.backbone[1].col_embed.weight[j],
                        self.backbone[1].row_embed.weight[i],
                    )
                    positions[:, i, j] = torch.cat(parts)
        positions = positions.flatten(1, 2)
        none = torch.zeros_like(positions)
        at_input, in_encoder, in_decoder = {  # the columns of Table 3
            "sine": (none, positions, positions), "learned": (none, positions, positions),
            "decoder": (none, none, positions), "input": (positions, none, none),
            "none": (none, none, none),
        }[self.places]  # fmt: skip
        blocked = ~keep.flatten(1)
        x = self.input_proj(features).flatten(2).transpose(1, 2) + at_input
        for layer in self.transformer.encoder.layers:
            x = self.attend(layer, layer.self_attn, layer.norm1, x, in_encoder, hide=blocked)
            x = self.feed(layer, layer.norm2, x)
        if self.pre:
            x = self.transformer.encoder.norm(x)
        query, y, said = self.query_embed.weight, torch.zeros_like(self.query_embed.weight), []
        query, y = query.expand(B, -1, -1), y.expand(B, -1, -1)
        if self.places in ("input", "none"):
            query, y = y, query
        for layer in self.transformer.decoder.layers:
            y = self.attend(layer, layer.self_attn, layer.norm1, y, query)
            y = self.attend(layer, layer.multihead_attn, layer.norm2, y, query, (x, in_decoder),
                            hide=blocked)  # fmt: skip
            y = self.feed(layer, layer.norm3, y)
            state = self.transformer.decoder.norm(y)
            first, second, third = self.bbox_embed.layers
            box = third(second(first(state).relu()).relu()).sigmoid()
            said.append((self.class_embed(state), box))
        return said

    def attend(self, layer, attention, norm, x, positions, memory=None, hide=None):
        inner = norm(x) if self.pre else x
        seen, where = (inner, positions) if memory is None else memory
        out = attention(inner + positions, seen + where, seen, key_padding_mask=hide)[0]
        return x + out if self.pre else norm(x + out)

    def feed(self, layer, norm, x):
        if not self.with_feed_forward:
            return x
        out = layer.linear2(layer.linear1(norm(x) if self.pre else x).relu())
        return x + out if self.pre else norm(x + out)


def stem() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 6, 3, 2, 1), nn.ReLU(), nn.Conv2d(6, 6, 3, 2, 1))


def sine(keep: torch.Tensor, width: int) -> torch.Tensor:
    """DETR's positions place by place."""
    out = torch.zeros(*keep.shape, width, dtype=torch.double)
    quarter = width // 4
    keep = keep.double()
    for b, i, j in keep.nonzero().tolist():
        row = keep[b, : i + 1, j].sum() / (keep[b, :, j].sum() + 1e-6) * 2 * math.pi
        column = keep[b, i, : j + 1].sum() / (keep[b, i].sum() + 1e-6) * 2 * math.pi
        for n in range(quarter):
            speed = 10_000 ** (2 * n / (width // 2))
            out[b, i, j, 2 * n], out[b, i, j, 2 * n + 1] = (row / speed).sin(), (row / speed).cos()
            out[b, i, j, 2 * (quarter + n)] = (column / speed).sin()
            out[b, i, j, 2 * (quarter + n) + 1] = (column / speed).cos()
    return out


def test_positions_are_those_of_the_paper():
    keep = torch.zeros(2, 4, 5, dtype=torch.bool)
    keep[0, :3, :5], keep[1, :4, :2] = True, True
    found = padded_sine_2d(keep, 8, dtype=torch.double)
    assert found.shape == (2, 4, 5, 8)
    torch.testing.assert_close(found[keep], sine(keep, 8)[keep], atol=1e-12, rtol=0)
    alone = padded_sine_2d(torch.ones(1, 3, 5, dtype=torch.bool), 8)
    torch.testing.assert_close(found[0, :3].float(), alone[0])
    assert found.isfinite().all()
    with pytest.raises(ValueError, match="4 must divide the width"):
        padded_sine_2d(keep, 6)
    with pytest.raises(ValueError, match="keep must be boolean with shape"):
        padded_sine_2d(keep.long(), 8)


@pytest.mark.parametrize(
    "changes",
    [{"places": "input"}, {"places": "none"}, {"places": "decoder"}, {"feed_forward": False}],
)
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_rows_of_table_3_are_equal_to_the_paper_written_out(norm, changes):
    """Other programs have no names for these, so the weights come from the same model without."""
    config = DETRConfig(**(TINY | {"norm": norm}))
    paper = randomised(Paper(dataclasses.replace(config, **changes))).double()
    usual = weights.build(DETR, paper.state_dict(), config, "original", backbone=stem()).double()
    ours = DETR(dataclasses.replace(config, **changes), stem()).double().eval()
    state = usual.state_dict()
    if changes.get("feed_forward") is False:
        state = {name: state[name] for name in ours.state_dict()}
        assert not any("feed" in name for name in state)
    ours.load_state_dict(state)
    images, keep = pad_images([maps(3, 17, 30), maps(3, 25, 9)])
    for said, (logits, boxes) in zip(layers(ours(images, keep)), paper(images, keep), strict=True):
        torch.testing.assert_close(said.logits, logits, atol=1e-10, rtol=0)
        torch.testing.assert_close(said.boxes, boxes, atol=1e-10, rtol=0)


def test_learned_places_have_an_end():
    with pytest.raises(ValueError, match="at most 50×50 here, found 2×51"):
        tiny(places="learned")(maps(1, 6, 2, 51))


@pytest.mark.parametrize("changes", [{}, {"norm": "pre"}, {"places": "learned"}])
def test_equal_to_the_paper_written_out_and_there_and_back(changes):
    config = DETRConfig(**(TINY | changes))
    paper = randomised(Paper(config)).double()
    ours = (
        weights.build(DETR, paper.state_dict(), config, "original", backbone=stem()).double().eval()
    )
    ours.load_state_dict(import_state(weights.rules_of(ours, "original"), paper.state_dict()))
    back = weights.export(ours, "original")
    assert back.keys() == paper.state_dict().keys()
    assert all(torch.equal(back[name], tensor) for name, tensor in paper.state_dict().items())

    images, keep = pad_images([maps(3, 17, 30), maps(3, 25, 9)])
    expected, found = paper(images, keep), layers(ours(images, keep))
    assert len(found) == len(expected) == 3
    for said, (logits, boxes) in zip(found, expected):
        torch.testing.assert_close(said.logits, logits, atol=1e-10, rtol=0)
        torch.testing.assert_close(said.boxes, boxes, atol=1e-10, rtol=0)
    together(*[t for pair in expected for t in pair]).backward()
    together(*[t for said in found for t in (said.logits, said.boxes)]).backward()
    gradients = {name: p.grad for name, p in paper.named_parameters()}
    gradients = import_state(weights.rules_of(ours, "original"), gradients)
    for name, parameter in ours.named_parameters():
        close(parameter.grad, gradients[name], 1e-10, name)
    deep = DETR(ours.config, ResNet(dataclasses.replace(RESNET, width=3)))
    deep = weights.export(deep, "original")
    assert "backbone.0.body.layer2.0.bn1.running_var" in deep  # torchvision's names
    again = ResNet(dataclasses.replace(RESNET, width=3))
    again = weights.build(DETR, deep, config, "original", backbone=again)
    exported = weights.export(again, "original")
    assert all(torch.equal(deep[name], tensor) for name, tensor in exported.items())
    with pytest.raises(ValueError, match=r"'extra'"):
        extra = {"extra": torch.zeros(1)}
        weights.build(DETR, paper.state_dict() | extra, config, "original", backbone=stem())


# Laws


def test_a_padded_batch_equals_its_items():
    net = tiny()
    pictures = [maps(6, 5, 7), maps(6, 8, 3, seed=2), maps(6, 2, 2, seed=3)]
    images, keep = pad_images(pictures)
    images = images.masked_fill(~keep[:, None], 1e3)  # what stands in the padding is never seen
    batch = net(images, keep)
    for b, picture in enumerate(pictures):
        alone = net(picture[None])
        for said, single in zip(layers(batch), layers(alone), strict=True):
            torch.testing.assert_close(said.logits[b], single.logits[0], atol=1e-10, rtol=0)
            torch.testing.assert_close(said.boxes[b], single.boxes[0], atol=1e-10, rtol=0)


def test_no_mask_equals_a_mask_of_ones():
    net, images = tiny(), maps(2, 6, 4, 5)
    bare, masked = net(images), net(images, torch.ones(2, 4, 5, dtype=torch.bool))
    torch.testing.assert_close(bare.logits, masked.logits)
    torch.testing.assert_close(bare.boxes, masked.boxes)


def test_predictions_follow_the_order_of_the_queries():
    net, images = tiny(), maps(2, 6, 4, 5)
    before = net(images)
    order = torch.tensor([2, 0, 3, 1])
    with torch.no_grad():
        net.queries.copy_(net.queries[order])
    after = net(images)
    torch.testing.assert_close(after.logits, before.logits[:, order])
    torch.testing.assert_close(after.boxes, before.boxes[:, order])
    with torch.no_grad():
        net.queries.copy_(net.queries[:1].expand(4, -1))
    same = net(images).boxes  # the queries are all that tells the rows apart
    torch.testing.assert_close(same, same[:, :1].expand(-1, 4, -1))


def test_queries_are_learned_places_that_steer_attention_and_say_nothing_themselves():
    """Before the first cross-attention the rows are zero: queries alone say who looks at whom."""
    net = tiny()
    with torch.no_grad():
        recordings = [capture(net, maps(1, 6, 4, 5, seed=seed)) for seed in (1, 2)]
    looks = [recording.weights["decoder.self_attention"] for recording in recordings]
    first, second = ([layers[layer] for layers in looks] for layer in (0, 1))
    assert torch.equal(*first) and not torch.allclose(*second, atol=1e-3)
    assert (first[0] - 1 / 4).abs().max() > 1e-3
    qkv = net.decoder.blocks[0].self_attention.qkv  # queries, keys, values, one under another
    queries, keys = (
        (net.queries @ weight.T + bias).unflatten(-1, (2, 8)).transpose(0, 1)
        for weight, bias in zip(qkv.weight.chunk(3)[:2], qkv.bias.chunk(3)[:2])
    )  # 2 × (H, Q, Dh)
    torch.testing.assert_close(first[0][0], (queries @ keys.mT / 8**0.5).softmax(dim=-1))
    together(net(maps(1, 6, 4, 5)).boxes).backward()
    assert isinstance(net.queries, nn.Parameter) and (net.queries.grad.abs().sum(-1) > 0).all()


def test_all_answers_come_at_once_and_each_hears_of_every_query():
    net, passes = tiny(), []
    net.decoder.blocks[-1].register_forward_hook(lambda *_: passes.append(1))
    said = net(maps(1, 6, 4, 5))
    assert len(passes) == 1 and said.boxes.shape == (1, 4, 4)  # as many answers as queries
    rows = [
        torch.autograd.grad(said.boxes[0, q].sum(), net.queries, retain_graph=True)[0]
        for q in range(4)
    ]
    assert (torch.stack(rows).abs().sum(dim=-1) > 0).all()  # (Q, Q): no mask between them


def test_the_heads_read_each_query_alone_and_are_the_same_for_all_layers():
    net = tiny()
    linear, mlp = net.class_head, [part for part in net.box_head if isinstance(part, nn.Linear)]
    assert len(mlp) == 3 and linear.out_features == 3 + 1 and mlp[-1].out_features == 4
    for said in layers(net(maps(2, 6, 4, 5))):
        for query in range(4):
            state = said.states[:, query]  # (B, D)
            torch.testing.assert_close(said.logits[:, query], state @ linear.weight.T + linear.bias)
            for part in mlp[:-1]:
                state = (state @ part.weight.T + part.bias).clamp_min(0)
            box = torch.sigmoid(state @ mlp[-1].weight.T + mlp[-1].bias)
            torch.testing.assert_close(said.boxes[:, query], box)


def test_places_are_told_apart_by_their_positions_only():
    net, images = tiny(), maps(1, 6, 4, 5)
    mirrored = net(images.flip(3)).boxes
    assert not torch.allclose(mirrored, net(images).boxes, atol=1e-3)
    even = images[:, :, :1, :1].expand(-1, -1, 4, 5)  # no content to tell places apart
    weights = capture(net, even).weights["encoder.self_attention"][0]
    assert (weights - weights[..., :1]).abs().max() > 1e-3


def test_weights_of_a_recording():
    net = tiny()
    images, keep = pad_images([maps(6, 4, 5), maps(6, 2, 3)])
    recording, grid = capture(net, images, keep), (4, 5)
    torch.testing.assert_close(recording.output.logits, net(images, keep).logits)
    assert recording.output.grid == grid
    weights = recording.weights
    assert [one.shape for one in weights["encoder.self_attention"]] == [(2, 2, 20, 20)] * 2
    assert len(weights["decoder.self_attention"]) == 3
    own, cross = (weights[f"decoder.{kind}_attention"][2] for kind in ("self", "cross"))
    assert own.shape == (2, 2, 4, 4) and cross.shape == (2, 2, 4, 20)
    torch.testing.assert_close(cross.sum(-1), torch.ones_like(cross[..., 0]))
    assert (cross[1].unflatten(-1, grid)[..., 2:, :] == 0).all()
    assert (cross[1].unflatten(-1, grid)[..., 3:] == 0).all()


def test_without_auxiliary_outputs_the_last_layer_is_the_same():
    net, images = tiny(), maps(2, 6, 4, 5)
    last = tiny(auxiliary=False)
    last.load_state_dict(net.state_dict())
    assert len(net(images).earlier) == 2 and last(images).earlier == ()
    torch.testing.assert_close(last(images).logits, net(images).logits)


@pytest.mark.parametrize("which", ["dropout", "attention_dropout", "hidden_dropout"])
def test_each_dropout_acts_in_training_only(which):
    off = {"dropout": 0.0, "attention_dropout": 0.0, "hidden_dropout": 0.0}
    net, images = tiny(**off).train(), maps(1, 6, 4, 5)
    assert torch.equal(net(images).logits, net.eval()(images).logits)
    net = tiny(**(off | {which: 0.5})).train()
    assert not torch.equal(net(images).logits, net(images).logits)
    assert torch.equal(net.eval()(images).logits, net(images).logits)
    assert {getattr(DETRConfig.r50(), name) for name in off} == {0.1}


def test_objects_in_pixels():
    net = tiny()
    with torch.no_grad():
        net.class_head.bias[3] = 9.0  # "no object" is everybody's best guess, and is not asked
    said = net(maps(2, 6, 4, 5))
    first, second = said.objects([(100, 200), (50, 50)])
    chances = said.logits.softmax(-1)
    assert first.labels.tolist() == chances[0, :, :3].argmax(-1).tolist()
    torch.testing.assert_close(second.scores, chances[1, :, :3].amax(-1))
    x, y, width, height = said.boxes[0].unbind(-1)
    edges = [(x - width / 2) * 200, (y - height / 2) * 100]
    torch.testing.assert_close(first.boxes[:, :2], torch.stack(edges, dim=-1))
    torch.testing.assert_close(to_centres(second.boxes) / 50, said.boxes[1])
    assert not first.boxes.requires_grad
    with pytest.raises(ValueError, match="2 images need as many sizes, found 1"):
        said.objects([(100, 200)])


def test_it_learns_where_two_kinds_of_squares_are():
    torch.manual_seed(0)
    config = DETRConfig(**(TINY | {"classes": 2, "queries": 3, "channels": 2, "width": 32,
                                   "encoder_depth": 1, "decoder_depth": 2}), dropout=0.0,
                        attention_dropout=0.0, hidden_dropout=0.0)  # fmt: skip
    net = DETR(config)
    images, targets = torch.zeros(2, 2, 8, 8), []
    for b, squares in enumerate([[(0, 1, 1, 4), (1, 5, 4, 3)], [(1, 0, 2, 4)]]):
        for label, row, column, side in squares:
            images[b, label, row : row + side, column : column + side] = 1
        boxes = [[(c + s / 2) / 8, (r + s / 2) / 8, s / 8, s / 8] for _, r, c, s in squares]
        labels = torch.tensor([label for label, *_ in squares])
        targets.append(Objects(labels=labels, boxes=torch.tensor(boxes)))
    loss, optimizer = DetectionLoss(), torch.optim.AdamW(net.parameters(), lr=3e-3)
    first = None
    for _ in range(60):
        total, _ = loss(net(images), targets)
        first = total.item() if first is None else first
        optimizer.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.1)
        optimizer.step()
    assert total.item() < first / 10
    answers = net.eval()(images).objects([(8, 8)] * 2)
    table = average_precision(answers, [target.in_pixels(8, 8) for target in targets])
    assert table["AP50"] == 1 and table["AP75"] == 1


# Sizes, starting values, bad input


def test_the_sizes_of_the_paper():
    with torch.device("meta"):
        net = DETR(DETRConfig.r50())
        small = DETR(DETRConfig.small())
    assert DETRConfig.r101() == DETRConfig.r50()  # the backbone makes the difference
    assert len(net.encoder.blocks) == len(net.decoder.blocks) == 6
    assert net.class_head.out_features == 92 and net.queries.shape == (100, 256)
    # The norms of the backbone are frozen, and what is frozen is no parameter.
    for resnet, size in ((ResNetConfig.resnet50, 41_524_768), (ResNetConfig.resnet101, 60_464_672)):
        with torch.device("meta"):
            backbone = ResNet(resnet(classes=0, frozen_norm=True))
            whole = DETR(DETRConfig.r50(), backbone)
        assert sum(p.numel() for p in whole.parameters()) == size
    assert (small.config.width, small.config.queries, small.config.channels) == (128, 20, 128)
    with pytest.raises(dataclasses.FrozenInstanceError):
        net.config.width = 3


def test_it_starts_as_the_authors_code_does():
    torch.manual_seed(0)
    net = DETR(DETRConfig(**(TINY | {"width": 64, "hidden": 128, "queries": 50})))
    qkv = net.encoder.blocks[0].self_attention.qkv
    bound = math.sqrt(6 / (64 + 3 * 64))  # Xavier's, of the packed matrix
    assert 0.98 * bound < qkv.weight.abs().max() <= bound and not qkv.bias.any()
    assert 0.9 < net.queries.std() < 1.1
    expand = net.decoder.blocks[0].feed_forward.expand.weight
    assert 0.98 < expand.abs().max() / math.sqrt(6 / (64 + 128)) <= 1


def test_padding_images():
    one, two = torch.ones(3, 2, 5), torch.ones(3, 4, 1)
    images, keep = pad_images([one, two])
    assert images.shape == (2, 3, 4, 5) and keep.shape == (2, 4, 5)
    assert torch.equal(images[:, 0] == 1, keep)
    assert keep.sum(dim=(1, 2)).tolist() == [10, 4] and keep[0, :2].all() and keep[1, :, 0].all()
    with pytest.raises(ValueError, match="at least one image"):
        pad_images([])
    with pytest.raises(ValueError, match=r"channels the same for all, found \[\(3, 2, 5\), \(1,"):
        pad_images([one, torch.ones(1, 2, 5)])


@pytest.mark.parametrize(
    ("images", "keep", "sentence"),
    [
        (
            maps(2, 6, 4, 5),
            torch.tensor([True, False])[:, None, None].expand(2, 4, 5),
            "needs a real pixel, but image 1 is only padding",
        ),
    ],
)
def test_bad_images_get_a_sentence(images, keep, sentence):
    with pytest.raises(ValueError, match=sentence):
        tiny()(images, keep)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"width": 18, "heads": 3}, "found width 18 and 3 heads"),
        ({"heads": 3}, "found width 16 and 3 heads"),
    ],
)
def test_a_bad_configuration_gets_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        DETRConfig(**(TINY | changes))


def test_one_pixel_and_one_query():
    net = tiny(queries=1, encoder_depth=1, decoder_depth=1)
    said = net(maps(1, 6, 1, 1))
    assert said.logits.shape == (1, 1, 4) and said.boxes.shape == (1, 1, 4)
    assert said.logits.isfinite().all() and F.relu(said.boxes).equal(said.boxes)
