"""No field of a Hugging Face configuration is passed over: outputs follow it, or it is refused."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

os.environ["HF_HUB_OFFLINE"] = "1"
import transformers as hf

from coursekit import models as m
from coursekit.models import weights

TOKENS = torch.tensor([[3, 4, 5, 6, 7], [7, 6, 5, 4, 3]])
IMAGES = torch.linspace(-1, 1, 2 * 3 * 16 * 16).view(2, 3, 16, 16).sin()
BLOCKS = {
    "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 20,
}  # fmt: skip
TEXT = {**BLOCKS, "vocab_size": 17, "max_position_embeddings": 12}
GPT = {"vocab_size": 17, "n_positions": 9, "n_embd": 12, "n_layer": 2, "n_head": 2}
LLAMA = {**TEXT, "num_key_value_heads": 1, "head_dim": 6}
T5 = {
    "vocab_size": 17, "d_model": 12, "d_kv": 5, "d_ff": 20, "num_layers": 2, "num_heads": 2,
    "relative_attention_num_buckets": 4, "relative_attention_max_distance": 3,
    "decoder_start_token_id": 0,
}  # fmt: skip
SIDES = {
    f"{side}_{name}": number
    for side in ("encoder", "decoder")
    for name, number in (("layers", 2), ("attention_heads", 2), ("ffn_dim", 20))
}
BART = {**SIDES, "vocab_size": 17, "d_model": 12, "max_position_embeddings": 12}
VIT = {**BLOCKS, "image_size": 16, "patch_size": 8}
MAE = {
    **VIT, "decoder_hidden_size": 8, "decoder_num_hidden_layers": 1,
    "decoder_num_attention_heads": 2, "decoder_intermediate_size": 12, "mask_ratio": 0.5,
}  # fmt: skip
SWIN = {
    "image_size": 16, "patch_size": 2, "embed_dim": 8, "depths": [2, 1], "num_heads": [1, 2],
    "window_size": 4,
}  # fmt: skip
DETR = {**SIDES, "d_model": 12, "num_queries": 3, "use_timm_backbone": False}
RESNET = {"embedding_size": 4, "hidden_sizes": [4, 8], "depths": [1, 1], "layer_type": "basic"}


def detr_config(**fields: Any) -> hf.DetrConfig:
    backbone = hf.ResNetConfig(**RESNET, out_features=["stage2"])
    return hf.DetrConfig(backbone_config=backbone, **fields)


def our_detr(state: dict[str, Tensor], config: dict[str, Any]) -> nn.Module:
    net = m.ResNetConfig(block="basic", depths=(1, 1), width=4, frozen_norm=True, classes=0)
    config = weights.read_config(m.DETRConfig, config, channels=8)
    return weights.build(m.DETR, state, config, backbone=m.ResNet(net))


def plain(config: type, model: type) -> Callable[[dict, dict], nn.Module]:
    return lambda state, theirs: weights.build(model, state, weights.read_config(config, theirs))


NOISE = torch.rand(2, 4, generator=torch.Generator().manual_seed(0))
# family -> their configuration and model, the sizes, ours, what theirs reads, what ours reads
FAMILIES: dict[str, tuple] = {
    "gpt2": (hf.GPT2Config, hf.GPT2LMHeadModel, GPT, plain(m.GPTConfig, m.GPT),
             (TOKENS,), lambda net: net(TOKENS)),
    "llama": (hf.LlamaConfig, hf.LlamaForCausalLM, LLAMA, plain(m.GPTConfig, m.GPT),
              (TOKENS,), lambda net: net(TOKENS)),
    "mistral": (hf.MistralConfig, hf.MistralForCausalLM, LLAMA | {"sliding_window": 3},
                plain(m.GPTConfig, m.GPT), (TOKENS,), lambda net: net(TOKENS)),
    "mt5": (hf.MT5Config, hf.MT5ForConditionalGeneration, T5, plain(m.T5Config, m.T5),
            (TOKENS, None, TOKENS), lambda net: net(TOKENS, TOKENS)),
    "openai-gpt": (hf.OpenAIGPTConfig, hf.OpenAIGPTLMHeadModel, GPT, plain(m.GPTConfig, m.GPT),
                   (TOKENS,), lambda net: net(TOKENS)),
    "bert": (hf.BertConfig, hf.BertForMaskedLM, TEXT,
             lambda s, c: weights.build(m.BertForPreTraining, 
                 s, weights.read_config(m.BertConfig, c), next_sentence=False),
             (TOKENS,), lambda net: net(TOKENS).masked_lm),
    "roberta": (hf.RobertaConfig, hf.RobertaForMaskedLM, TEXT,
                lambda s, c: weights.build(m.BertForPreTraining, 
                    s, weights.read_config(m.BertConfig, c), next_sentence=False),
                (TOKENS,), lambda net: net(TOKENS).masked_lm),
    "t5": (hf.T5Config, hf.T5ForConditionalGeneration, T5, plain(m.T5Config, m.T5),
           (TOKENS, None, TOKENS), lambda net: net(TOKENS, TOKENS)),
    "bart": (hf.BartConfig, hf.BartForConditionalGeneration, BART, plain(m.BartConfig, m.Bart),
             (TOKENS, None, TOKENS), lambda net: net(TOKENS, TOKENS)),
    "marian": (hf.MarianConfig, hf.MarianMTModel, BART | {
        "pad_token_id": 0, "decoder_start_token_id": 1, "eos_token_id": 2},
        plain(m.Seq2SeqConfig, m.Seq2SeqTransformer),
        (TOKENS, None, TOKENS), lambda net: net(TOKENS, TOKENS)),
    "vit": (hf.ViTConfig, hf.ViTForImageClassification, VIT, plain(m.ViTConfig, m.ViT),
            (IMAGES,), lambda net: net(IMAGES)),
    "vit, bare": (hf.ViTConfig, hf.ViTModel, {**VIT, "architectures": ["ViTModel"]},
                  plain(m.ViTConfig, m.ViT), (IMAGES,), lambda net: net(IMAGES)),
    "deit": (hf.DeiTConfig, hf.DeiTForImageClassificationWithTeacher, VIT,
             plain(m.DeiTConfig, m.DeiT), (IMAGES,), lambda net: net(IMAGES)),
    "mae": (hf.ViTMAEConfig, hf.ViTMAEForPreTraining, MAE, plain(m.MAEConfig, m.MAE),
            (IMAGES, NOISE), lambda net: net(IMAGES, NOISE).patches),
    "swin": (hf.SwinConfig, hf.SwinForImageClassification, SWIN, plain(m.SwinConfig, m.Swin),
             (IMAGES,), lambda net: net(IMAGES)),
    "detr": (detr_config, hf.DetrForObjectDetection, DETR, our_detr,
             (IMAGES,), lambda net: net(IMAGES).logits),
}  # fmt: skip
OTHER = {  # values for the fields whose type does not say what else they could be
    "activation_function": "relu", "afn": "relu", "hidden_act": "relu", "pooler_act": "relu",
    "feed_forward_proj": "gated-gelu", "dense_act_fn": "gelu", "position_embedding_type": "learned",
    "pad_token_id": 9, "decoder_start_token_id": 3, "model_type": "another",
    "rms_norm_eps": 0.1, "num_key_value_heads": 2,
    "layer_norm_epsilon": 0.1, "layer_norm_eps": 0.1, "n_inner": 28, "pooler_output_size": 7,
    "encoder_layerdrop": 0.3, "decoder_layerdrop": 0.3,
}  # fmt: skip
# What says how to train, to generate, to keep house, or nothing about these models.
NOT_ABOUT_OUTPUTS = {
    "transformers_version", "architectures", "dtype", "return_dict", "output_hidden_states",
    "output_attentions", "problem_type", "id2label", "label2id", "num_labels", "use_cache",
    "_name_or_path", "initializer_range", "initializer_factor", "init_std", "init_xavier_std",
    "backbone_config", "is_encoder_decoder", "chunk_size_feed_forward", "out_features",
    "out_indices", "_out_features", "_out_indices", "stage_names", "encoder_stride", "image_size",
    "use_timm_backbone", "depths", "num_heads", "num_layers",
}  # fmt: skip


def theirs(family: str, **changes: Any) -> nn.Module:
    config, model, sizes = FAMILIES[family][:3]
    described = config(**{**sizes, **changes})
    described._attn_implementation = "eager"
    torch.manual_seed(0)
    net = model(described)
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.3)
    return net.eval()


def first(out: Any) -> Tensor:
    """Return the answer of theirs: logits, or what the pooler says."""
    pooled = getattr(out, "pooler_output", None)
    return out.logits if pooled is None else pooled


def agree(family: str, net: nn.Module, config: dict[str, Any]) -> None:
    make, given, run = FAMILIES[family][3:]
    ours = make(net.state_dict(), config).eval()
    with torch.no_grad():
        torch.testing.assert_close(run(ours), first(net(*given)), atol=1e-4, rtol=1e-4)


def another(name: str, value: Any) -> Any:
    if name in OTHER:
        return OTHER[name]
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else value / 2 + 0.25


def fields() -> list[tuple[str, str]]:
    found = []
    for family, (config, _, sizes, *_) in FAMILIES.items():
        for name, value in config(**sizes).to_dict().items():
            known = name in OTHER or isinstance(value, int | float)
            if known and name not in NOT_ABOUT_OUTPUTS:
                found.append((family, name))
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_outputs_agree_as_they_are(family):
    net = theirs(family)
    agree(family, net, net.config.to_dict())


@pytest.mark.parametrize(("family", "name"), fields())
def test_outputs_follow_a_changed_field_or_it_is_refused(family, name):
    old = FAMILIES[family][0](**FAMILIES[family][2]).to_dict()[name]
    change = {name: another(name, old)}
    try:
        net = theirs(family, **change)
        config = net.config.to_dict() | change
        first(net(*FAMILIES[family][4]))
    except Exception as error:
        pytest.skip(f"transformers itself has no such model: {type(error).__name__}")
    try:
        agree(family, net, config)
    except ValueError as refused:
        assert str(refused)


@pytest.mark.parametrize(
    ("tied", "scaled"), itertools.product((None, True, False), (None, True, False))
)
def test_t5_scales_its_output_where_theirs_does(tied, scaled):
    """Since transformers 5 "not tied" means "not scaled", and all are tied."""
    given = {"tie_word_embeddings": tied, "scale_decoder_outputs": scaled}
    given = {name: value for name, value in given.items() if value is not None}
    net = theirs("t5", **given)
    agree("t5", net, net.config.to_dict())
    agree("t5", net, {**T5, **given})  # and where the file is older and says less
    untied = net.state_dict() | {"lm_head.weight": torch.randn(17, 12)}
    if not net.config.scale_decoder_outputs:  # all that is left of "not tied"
        assert torch.equal(
            weights.build(m.T5, untied, weights.read_config(m.T5Config, net.config.to_dict()))
            .output.weight, untied["lm_head.weight"],
        )  # fmt: skip
        return
    with pytest.raises(ValueError, match="should be a copy"):
        weights.build(m.T5, untied, weights.read_config(m.T5Config, net.config.to_dict()))


def test_what_only_training_hears_of_is_read_too():
    config = hf.BertConfig(**TEXT, classifier_dropout=0.4).to_dict()
    net = m.BertClassifier(m.Bert(weights.read_config(m.BertConfig, config)), classes=2)
    assert net.dropout.p == 0.4
    config = hf.ViTMAEConfig(**MAE, hidden_dropout_prob=0.2, attention_probs_dropout_prob=0.3)
    block = m.MAE(weights.read_config(m.MAEConfig, config.to_dict())).decoder.blocks[0]
    assert (block.self_residual.dropout.p, block.self_attention.dropout) == (0.2, 0.3)


@pytest.mark.parametrize("missing", ["encoder_attention_heads", "d_model", "pad_token_id"])
def test_what_a_bart_does_not_say_is_not_guessed(missing):
    config = hf.BartConfig(**BART).to_dict()
    del config[missing]
    config.pop("decoder_attention_heads" if missing == "encoder_attention_heads" else "", None)
    with pytest.raises(ValueError, match=f"lacks {missing}"):
        weights.read_config(m.BartConfig, config)
