"""One training step of each model beside its peers: forward, loss, backward, fused AdamW.

    python benchmarks/training.py [--rounds 7] [--threads 2] [--only gpt] [--smoke]

Same sizes, same batch, same loss, no dropout, fp32. A peer is a package that people would use
instead: Hugging Face `transformers`, torch's own modules, `x-transformers`, `vit-pytorch`; those
that are not installed are left out (`pip install x-transformers`, `pip install --no-deps
vit-pytorch`). The masked-LM head of ours reads the masked positions only; its contestant "ours,
every position" shows what that is worth.
"""

from __future__ import annotations

import sys
import types

import torch
import torch.nn.functional as F
from harness import Call, Missing, run
from torch import Tensor, nn

from coursekit.models.bert import BertConfig, BertForPreTraining
from coursekit.models.detr import DETR, DETRConfig
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.models.mae import MAE, MAEConfig, masked_patch_loss
from coursekit.models.seq2seq import Seq2SeqConfig, Seq2SeqTransformer
from coursekit.models.swin import Swin, SwinConfig
from coursekit.models.vit import ViT, ViTConfig

SMOKE = "--smoke" in sys.argv


def few(count: int) -> int:
    """Return `count`, or 1 where only that it runs is asked."""
    return 1 if SMOKE else count


def step(model: nn.Module, loss: Call) -> Call:
    """Return a call that does one training step."""
    model.train()
    adam = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def once() -> float:
        adam.zero_grad(set_to_none=True)
        value = loss()
        value.backward()
        adam.step()
        return value.item()

    return once


def x_transformers() -> types.ModuleType:
    """Return the package `x-transformers`."""
    try:
        import x_transformers
    except ImportError as error:
        raise Missing("pip install x-transformers") from error
    return x_transformers


def vit_pytorch() -> types.ModuleType:
    """Return the package `vit-pytorch`; it imports torchvision for a method that is not used."""
    if "torchvision" not in sys.modules:
        hollow = types.ModuleType("torchvision")
        hollow.transforms = sys.modules["torchvision.transforms"] = types.ModuleType("transforms")
        sys.modules["torchvision"] = hollow
    try:
        import vit_pytorch
        import vit_pytorch.mae
    except ImportError as error:
        raise Missing("pip install --no-deps vit-pytorch") from error
    finally:
        if getattr(sys.modules.get("torchvision"), "__file__", None) is None:
            sys.modules.pop("torchvision", None)
            sys.modules.pop("torchvision.transforms", None)
    return vit_pytorch


# --- GPT: 6 layers, 384 wide, 6 heads, vocabulary 512, T 256, B 8; GELU with the exact Φ for all


def gpt_batch() -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    tokens = torch.randint(512, (few(8), 257))
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def gpt_ours() -> Call:
    x, y = gpt_batch()
    sizes = {"vocabulary": 512, "width": 384, "depth": 6, "heads": 6, "positions": 256}
    no_dropout = {"dropout": 0.0, "attention_dropout": 0.0, "embedding_dropout": 0.0}
    model = GPT(GPTConfig(**sizes, **no_dropout, activation="gelu"))
    return step(model, lambda: F.cross_entropy(model(x).flatten(0, 1), y.flatten()))


def gpt_transformers() -> Call:
    from transformers import GPT2Config, GPT2LMHeadModel

    x, y = gpt_batch()
    sizes = {"vocab_size": 512, "n_embd": 384, "n_layer": 6, "n_head": 6, "n_positions": 256}
    sizes |= {"activation_function": "gelu"}
    model = GPT2LMHeadModel(GPT2Config(**sizes, resid_pdrop=0, attn_pdrop=0, embd_pdrop=0))
    return step(
        model,
        lambda: F.cross_entropy(model(x, use_cache=False).logits.flatten(0, 1), y.flatten()),
    )


def gpt_torch() -> Call:
    x, y = gpt_batch()
    layer = {"d_model": 384, "nhead": 6, "dim_feedforward": 1536, "dropout": 0.0}
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(**layer, activation="gelu", batch_first=True, norm_first=True),
        num_layers=6,
        norm=nn.LayerNorm(384),
        enable_nested_tensor=False,
    )
    words, places = nn.Embedding(512, 384), nn.Embedding(256, 384)
    model = nn.ModuleList([encoder, words, places])
    mask = nn.Transformer.generate_square_subsequent_mask(256)

    def loss() -> Tensor:
        hidden = encoder(words(x) + places.weight, mask=mask, is_causal=True)
        return F.cross_entropy((hidden @ words.weight.T).flatten(0, 1), y.flatten())

    return step(model, loss)


def gpt_x_transformers() -> Call:
    x, y = gpt_batch()
    xt = x_transformers()
    model = xt.TransformerWrapper(
        num_tokens=512,
        max_seq_len=256,
        tie_embedding=True,
        attn_layers=xt.Decoder(dim=384, depth=6, heads=6, attn_dim_head=64, attn_flash=True),
    )
    return step(model, lambda: F.cross_entropy(model(x).flatten(0, 1), y.flatten()))


# --- BERT: 4 layers, 256 wide, vocabulary 8,000, T 128, B 16


def bert_batch() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    tokens = torch.randint(8000, (few(16), 128))
    hidden = torch.rand(few(16), 128) < 0.15
    return tokens, hidden, tokens[hidden]


def bert_ours(every_position: bool = False) -> Call:
    x, hidden, y = bert_batch()
    sizes = {"vocabulary": 8000, "width": 256, "depth": 4, "heads": 4, "hidden": 1024}
    config = BertConfig(**sizes, positions=128, dropout=0.0, attention_dropout=0.0)
    model = BertForPreTraining(config, next_sentence=False)
    if every_position:
        labels = x.masked_fill(~hidden, -100)
        return step(
            model, lambda: F.cross_entropy(model(x).masked_lm.flatten(0, 1), labels.flatten())
        )
    return step(model, lambda: F.cross_entropy(model(x, positions=hidden).masked_lm, y))


def bert_transformers() -> Call:
    from transformers import BertConfig as Config
    from transformers import BertForMaskedLM

    x, hidden, _ = bert_batch()
    labels = x.masked_fill(~hidden, -100)
    sizes = {"vocab_size": 8000, "hidden_size": 256, "num_hidden_layers": 4}
    sizes |= {"num_attention_heads": 4, "intermediate_size": 1024, "max_position_embeddings": 128}
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = BertForMaskedLM(Config(**sizes, **no_dropout))
    return step(model, lambda: model(x, labels=labels).loss)


def bert_torch() -> Call:
    x, hidden, _ = bert_batch()
    layer = {"d_model": 256, "nhead": 4, "dim_feedforward": 1024, "dropout": 0.0}
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(**layer, activation="gelu", batch_first=True),
        num_layers=4,
        enable_nested_tensor=False,
    )
    words, places, out = nn.Embedding(8000, 256), nn.Embedding(128, 256), nn.Linear(256, 8000)
    model = nn.ModuleList([encoder, words, places, out])
    labels = x.masked_fill(~hidden, -100)

    def loss() -> Tensor:
        return F.cross_entropy(
            out(encoder(words(x) + places.weight)).flatten(0, 1), labels.flatten()
        )

    return step(model, loss)


# --- Seq2seq: 3 + 3 layers, 256 wide, vocabulary 8,000, T 32, B 64


def seq2seq_batch() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    rows = few(64)
    source, target = torch.randint(3, 8000, (rows, 32)), torch.randint(3, 8000, (rows, 33))
    ends = torch.randint(16, 33, (rows, 2))
    place = torch.arange(32)
    source = source.masked_fill(place >= ends[:, :1], 0)
    entered = target[:, :-1].masked_fill(place >= ends[:, 1:], 0)
    return source, entered, target[:, 1:].masked_fill(place >= ends[:, 1:], 0), place


def seq2seq_ours() -> Call:
    source, entered, wanted, _ = seq2seq_batch()
    sizes = {"vocabulary": 8000, "width": 256, "depth": 3, "heads": 4, "hidden": 1024}
    model = Seq2SeqTransformer(Seq2SeqConfig(**sizes, pad=0, dropout=0.0))
    real = wanted != 0

    def loss() -> Tensor:
        hidden = model.hidden(source, entered)
        return F.cross_entropy(model.logits(hidden[real]), wanted[real])

    return step(model, loss)


def seq2seq_torch() -> Call:
    source, entered, wanted, _ = seq2seq_batch()
    sizes = {"d_model": 256, "nhead": 4, "dim_feedforward": 1024, "dropout": 0.0}
    layers = {"num_encoder_layers": 3, "num_decoder_layers": 3}
    core = nn.Transformer(**sizes, **layers, batch_first=True)
    words, places = nn.Embedding(8000, 256), torch.randn(32, 256)
    model = nn.ModuleList([core, words])
    causal = nn.Transformer.generate_square_subsequent_mask(32)

    def loss() -> Tensor:
        hidden = core(
            words(source) * 16 + places,
            words(entered) * 16 + places,
            tgt_mask=causal,
            tgt_is_causal=True,
            src_key_padding_mask=source == 0,
            memory_key_padding_mask=source == 0,
        )
        logits = hidden @ words.weight.T
        return F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=0)

    return step(model, loss)


def seq2seq_transformers() -> Call:
    from transformers import BartConfig, BartForConditionalGeneration

    source, entered, wanted, _ = seq2seq_batch()
    sizes = {"vocab_size": 8000, "d_model": 256, "max_position_embeddings": 64}
    for side in ("encoder", "decoder"):
        sizes |= {f"{side}_layers": 3, f"{side}_attention_heads": 4, f"{side}_ffn_dim": 1024}
    model = BartForConditionalGeneration(BartConfig(**sizes, dropout=0.0, pad_token_id=0))
    attend = (source != 0).long()

    def loss() -> Tensor:
        out = model(source, attend, decoder_input_ids=entered, use_cache=False)
        return F.cross_entropy(out.logits.flatten(0, 1), wanted.flatten(), ignore_index=0)

    return step(model, loss)


def seq2seq_x_transformers() -> Call:
    source, entered, wanted, _ = seq2seq_batch()
    xt = x_transformers()
    sides = {}
    for side in ("enc", "dec"):
        sides |= {f"{side}_num_tokens": 8000, f"{side}_depth": 3, f"{side}_heads": 4}
        sides |= {f"{side}_max_seq_len": 32, f"{side}_attn_flash": True}
    model = xt.XTransformer(dim=256, tie_token_emb=True, **sides)
    keep = source != 0

    def loss() -> Tensor:
        memory = model.encoder(source, mask=keep, return_embeddings=True)
        logits = model.decoder.net(entered, context=memory, context_mask=keep)
        return F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=0)

    return step(model, loss)


# --- ViT: 6 layers, 192 wide, 32 pixels by 4, B 64


def image_batch(count: int, size: int) -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    return torch.randn(few(count), 3, size, size), torch.randint(10, (few(count),))


VIT = {"image": 32, "patch": 4, "width": 192, "depth": 6, "heads": 3, "hidden": 768}


def vit_ours() -> Call:
    x, y = image_batch(64, 32)
    model = ViT(ViTConfig(**VIT, classes=10))
    return step(model, lambda: F.cross_entropy(model(x), y))


def hugging_vit_sizes() -> dict:
    sizes = {"hidden_size": 192, "num_hidden_layers": 6, "num_attention_heads": 3}
    return sizes | {"intermediate_size": 768, "image_size": 32, "patch_size": 4}


def vit_transformers() -> Call:
    from transformers import ViTConfig as Config
    from transformers import ViTForImageClassification

    x, y = image_batch(64, 32)
    model = ViTForImageClassification(Config(**hugging_vit_sizes(), num_labels=10))
    return step(model, lambda: F.cross_entropy(model(x).logits, y))


def vit_pytorch_model() -> nn.Module:
    return vit_pytorch().ViT(
        image_size=32, patch_size=4, num_classes=10, dim=192, depth=6, heads=3, mlp_dim=768
    )


def vit_vit_pytorch() -> Call:
    x, y = image_batch(64, 32)
    model = vit_pytorch_model()
    return step(model, lambda: F.cross_entropy(model(x), y))


# --- MAE: the same encoder, a decoder of 2 layers, 96 wide


def mae_ours() -> Call:
    x, _ = image_batch(64, 32)
    encoder = ViTConfig(**VIT, classes=0, positions="sine")
    decoder = {"decoder_width": 96, "decoder_depth": 2, "decoder_heads": 3, "decoder_hidden": 384}
    model = MAE(MAEConfig(encoder=encoder, **decoder))

    def loss() -> Tensor:
        painting = model(x)
        return masked_patch_loss(painting.patches, model.target(x), painting.masked)

    return step(model, loss)


def mae_transformers() -> Call:
    from transformers import ViTMAEConfig, ViTMAEForPreTraining

    x, _ = image_batch(64, 32)
    decoder = {"decoder_hidden_size": 96, "decoder_num_hidden_layers": 2}
    decoder |= {"decoder_num_attention_heads": 3, "decoder_intermediate_size": 384}
    config = ViTMAEConfig(**hugging_vit_sizes(), **decoder, norm_pix_loss=True)
    model = ViTMAEForPreTraining(config)
    return step(model, lambda: model(x).loss)


def mae_vit_pytorch() -> Call:
    x, _ = image_batch(64, 32)
    encoder = vit_pytorch_model()
    if encoder.pos_embedding.ndim == 2:  # its MAE still expects the batch axis of older versions
        encoder.pos_embedding = nn.Parameter(encoder.pos_embedding.data[None])
    model = vit_pytorch().mae.MAE(
        encoder=encoder, decoder_dim=96, decoder_depth=2, decoder_heads=3, decoder_dim_head=32,
        masking_ratio=0.75,
    )  # fmt: skip
    return step(model, lambda: model(x))


# --- Swin: 64 pixels, patch 4, window 4, 48 wide, depths 2-2-2, B 16


def swin_ours() -> Call:
    x, y = image_batch(16, 64)
    sizes = {"image": 64, "patch": 4, "window": 4, "width": 48}
    config = SwinConfig(**sizes, depths=(2, 2, 2), heads=(3, 6, 12), classes=10, drop_path=0.0)
    model = Swin(config)
    return step(model, lambda: F.cross_entropy(model(x), y))


def swin_transformers() -> Call:
    from transformers import SwinConfig as Config
    from transformers import SwinForImageClassification

    x, y = image_batch(16, 64)
    sizes = {"image_size": 64, "patch_size": 4, "window_size": 4, "embed_dim": 48}
    stages = {"depths": [2, 2, 2], "num_heads": [3, 6, 12], "drop_path_rate": 0.0}
    model = SwinForImageClassification(Config(**sizes, **stages, num_labels=10))
    return step(model, lambda: F.cross_entropy(model(x).logits, y))


# --- DETR: a 16 × 16 map of 128 channels, 128 wide, 2 + 2 layers, 20 queries, B 8; the loss is on
# --- the last layer's classes and boxes with fixed targets, since matching costs all alike


def detr_batch() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    rows = few(8)
    return torch.randn(rows, 128, 16, 16), torch.randint(10, (rows, 20)), torch.rand(rows, 20, 4)


def detr_loss(logits: Tensor, boxes: Tensor, classes: Tensor, wanted: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), classes.flatten()) + F.l1_loss(boxes, wanted)


def detr_ours() -> Call:
    maps, classes, wanted = detr_batch()
    dropout = {"dropout": 0.0, "attention_dropout": 0.0, "hidden_dropout": 0.0}
    model = DETR(DETRConfig.small(classes=9, auxiliary=False, **dropout))

    def loss() -> Tensor:
        seen = model(maps)
        return detr_loss(seen.logits, seen.boxes, classes, wanted)

    return step(model, loss)


def detr_transformers() -> Call:
    from transformers import DetrConfig
    from transformers.models.detr.modeling_detr import DetrDecoder, DetrEncoder

    heads = DETRConfig.small().heads
    sizes = {"d_model": 128, "num_queries": 20, "dropout": 0.0, "attention_dropout": 0.0}
    for side in ("encoder", "decoder"):
        sizes |= {f"{side}_layers": 2, f"{side}_attention_heads": heads, f"{side}_ffn_dim": 512}
    config = DetrConfig(**sizes, use_timm_backbone=False, backbone_config={"model_type": "resnet"})
    encoder, decoder = DetrEncoder(config), DetrDecoder(config)
    return detr_by_hand(
        lambda x, place: encoder(inputs_embeds=x, spatial_position_embeddings=place)[0],
        lambda q, query, memory, place: decoder(
            inputs_embeds=q,
            object_queries_position_embeddings=query,
            encoder_hidden_states=memory,
            spatial_position_embeddings=place,
        )[0],
        [encoder, decoder],
    )


def detr_by_hand(encode: Call, decode: Call, parts: list[nn.Module]) -> Call:
    """Everything around a peer's encoder and decoder: projection, positions, queries, heads."""
    from coursekit.positions import sine_2d

    maps, classes, wanted = detr_batch()
    project, queries = nn.Conv2d(128, 128, 1), nn.Embedding(20, 128)
    class_head = nn.Linear(128, 10)
    box_head = nn.Sequential(
        nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 4),
        nn.Sigmoid(),
    )  # fmt: skip
    model = nn.ModuleList([*parts, project, queries, class_head, box_head])

    def loss() -> Tensor:
        place = sine_2d(16, 16, 128).flatten(0, 1)[None].expand(few(8), -1, -1)
        memory = encode(project(maps).flatten(2).mT, place)
        query = queries.weight[None].expand(few(8), -1, -1)
        hidden = decode(torch.zeros_like(query), query, memory, place)
        return detr_loss(class_head(hidden), box_head(hidden), classes, wanted)

    return step(model, loss)


def detr_torch() -> Call:
    """Torch's own Transformer, positions added once below, as in the paper's short listing."""
    heads = DETRConfig.small().heads
    sizes = {"d_model": 128, "nhead": heads, "dim_feedforward": 512, "dropout": 0.0}
    layers = {"num_encoder_layers": 2, "num_decoder_layers": 2}
    core = nn.Transformer(**sizes, **layers, batch_first=True)
    return detr_by_hand(
        lambda x, place: core.encoder(x + place),
        lambda q, query, memory, place: core.decoder(q + query, memory),
        [core],
    )


# --- Attention alone: B 1, H 8, width 64, T 4,096, forward and backward


def attention_call(path: str) -> Call:
    """Call one way to compute causal attention, or, as a control, the fused one without a mask."""
    from coursekit import masks
    from coursekit.attention import attention, fused_attention

    torch.manual_seed(0)
    length = 256 if SMOKE else 4096
    q, k, v = (torch.randn(1, 8, length, 64, requires_grad=True) for _ in range(3))
    mask = masks.causal(length) if path == "dense mask" else None
    causal = path in ("fused", "readable")
    look = attention if path == "readable" else fused_attention

    def once() -> None:
        look(q, k, v, mask, causal=causal).sum().backward()

    return once


CONTESTS = {
    "gpt": {
        "ours": gpt_ours,
        "transformers": gpt_transformers,
        "torch modules": gpt_torch,
        "x-transformers": gpt_x_transformers,
    },
    "bert": {
        "ours": bert_ours,
        "ours, every position": lambda: bert_ours(every_position=True),
        "transformers": bert_transformers,
        "torch modules": bert_torch,
    },
    "seq2seq": {
        "ours": seq2seq_ours,
        "transformers": seq2seq_transformers,
        "torch modules": seq2seq_torch,
        "x-transformers": seq2seq_x_transformers,
    },
    "vit": {
        "ours": vit_ours,
        "transformers": vit_transformers,
        "vit-pytorch": vit_vit_pytorch,
    },
    "mae": {
        "ours": mae_ours,
        "transformers": mae_transformers,
        "vit-pytorch": mae_vit_pytorch,
    },
    "swin": {"ours": swin_ours, "transformers": swin_transformers},
    "detr": {
        "ours": detr_ours,
        "transformers": detr_transformers,
        "torch modules": detr_torch,
    },
    "causal attention, T 4096": {
        "ours": lambda: attention_call("fused"),
        "readable": lambda: attention_call("readable"),
        "fused, the mask as a matrix": lambda: attention_call("dense mask"),
        "fused, no mask": lambda: attention_call("no mask"),
    },
}

if __name__ == "__main__":
    run(CONTESTS, script="training", what="one training step, fp32, CPU, fused AdamW")
