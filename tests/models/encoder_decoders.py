"""The encoder-decoder models at small sizes, and their peers in transformers."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers.models.bart import configuration_bart, modeling_bart
from transformers.models.marian import configuration_marian, modeling_marian
from transformers.models.t5 import configuration_t5, modeling_t5

from coursekit.models import weights
from coursekit.models.bart import Bart, BartConfig
from coursekit.models.seq2seq import Seq2SeqConfig, Seq2SeqTransformer
from coursekit.models.t5 import T5, T5Config

V, D = 19, 12
PRECISIONS = [(torch.float32, 1e-5), (torch.float64, 1e-10)]


@dataclasses.dataclass(frozen=True)
class Kind:
    """One of our models, and the configurations in which transformers has it."""

    model: type[nn.Module]
    config: type
    theirs: Callable[..., nn.Module]  # of the name of a configuration, a dtype and a std
    configs: dict[str, dict[str, Any]]
    left: bool = True  # whether padding on the left leaves their real tokens as they are

    def ours(self, hf: nn.Module, **changes: Any) -> nn.Module:
        """Return our model with the weights of theirs."""
        config = weights.read_config(self.config, hf.config.to_dict())
        model = weights.build(self.model, hf.state_dict(), dataclasses.replace(config, **changes))
        return model.to(hf.dtype).eval()


def _random(model: nn.Module, dtype: torch.dtype, std: float, *more: torch.Tensor) -> nn.Module:
    """Make every number of a model random, norms and biases too, but for fixed sines."""
    for tensor in (*(p for p in model.parameters() if p.requires_grad), *more):
        nn.init.normal_(tensor, std=std)
    return model.to(dtype).eval()


# BART

BART_SIZES = {
    "vocab_size": V,
    "d_model": D,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 3,
    "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 20,
    "max_position_embeddings": 16,
    "forced_eos_token_id": None,
}
BARTS = {
    "two blocks": {},
    "uneven stacks, scaled": {
        "encoder_layers": 3,
        "decoder_layers": 1,
        "scale_embedding": True,
        "encoder_attention_heads": 1,
        "decoder_attention_heads": 1,
    },
    "other tokens": {
        "pad_token_id": 4,
        "decoder_start_token_id": 7,
        "eos_token_id": 3,
        "encoder_attention_heads": 6,
        "decoder_attention_heads": 6,
    },
}


def their_bart(
    name: str = "two blocks", dtype: torch.dtype = torch.float64, std: float = 0.3
) -> nn.Module:
    config = configuration_bart.BartConfig(**{**BART_SIZES, **BARTS[name]})
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = modeling_bart.BartForConditionalGeneration(config)
    return _random(model, dtype, std, model.final_logits_bias)


# T5

T5_SIZES = {
    "vocab_size": V,
    "d_model": D,
    "d_kv": 5,
    "d_ff": 20,
    "num_layers": 2,
    "num_heads": 3,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 7,
    "decoder_start_token_id": 0,
}
T5S = {
    "two blocks": {},
    "uneven stacks, one head": {"num_layers": 3, "num_decoder_layers": 1, "num_heads": 1},
    "other start, eps, buckets": {
        "decoder_start_token_id": 7,
        "pad_token_id": 3,
        "eos_token_id": 2,
        "layer_norm_epsilon": 1e-2,
        "relative_attention_num_buckets": 4,
        "relative_attention_max_distance": 3,
        "d_kv": 4,
    },
    "T5 1.1": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
    "tied, gated": {"feed_forward_proj": "gated-silu", "num_decoder_layers": 1},
}


def their_t5(
    name: str = "two blocks", dtype: torch.dtype = torch.float64, std: float = 0.3
) -> nn.Module:
    config = configuration_t5.T5Config(**{**T5_SIZES, **T5S[name]})
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = modeling_t5.T5ForConditionalGeneration(config)
    if not config.scale_decoder_outputs:  # they load untied files so, but tie what is made anew
        model.lm_head.weight = nn.Parameter(torch.empty_like(model.lm_head.weight))
    return _random(model, dtype, std)


# Marian, which is a Seq2SeqTransformer

MARIAN_SIZES = {**BART_SIZES, "scale_embedding": True, "pad_token_id": 0,
                "decoder_start_token_id": 1, "eos_token_id": 2}  # fmt: skip
MARIANS = {
    "relu": {"activation_function": "relu"},
    "swish, one head": {
        "activation_function": "swish",
        "encoder_attention_heads": 1,
        "decoder_attention_heads": 1,
    },
    "unscaled, starts with padding": {
        "activation_function": "gelu",
        "scale_embedding": False,
        "decoder_start_token_id": 0,
        "encoder_layers": 1,
        "decoder_layers": 1,
    },
}


def their_marian(
    name: str = "relu", dtype: torch.dtype = torch.float64, std: float = 0.3
) -> nn.Module:
    config = configuration_marian.MarianConfig(**{**MARIAN_SIZES, **MARIANS[name]})
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = modeling_marian.MarianMTModel(config)
    return _random(model, dtype, std, model.final_logits_bias)


# The Transformer of 2017, in forms that no Marian has

SEQ2SEQ_SIZES = {
    "vocabulary": V, "width": D, "depth": 2, "heads": 3, "hidden": 20, "dropout": 0.0,
}  # fmt: skip
SEQ2SEQS = {
    "post": {},
    "pre, learned": {"norm": "pre", "positions": 16},
    "pre, two vocabularies": {"norm": "pre", "share": "target", "source_vocabulary": 30},
    "post, nothing shared": {"share": "none", "attention_bias": True, "output_bias": True},
    "own widths": {"head_width": 2, "value_width": 5, "scale_embedding": False, "pad": 4},
}


def seq2seq(
    dtype: torch.dtype = torch.float64, std: float = 0.3, **changes: Any
) -> Seq2SeqTransformer:
    """Return a model in which every parameter is random, biases and norms too."""
    torch.manual_seed(0)
    net = Seq2SeqTransformer(Seq2SeqConfig(**{**SEQ2SEQ_SIZES, **changes}))
    return _random(net, dtype, std)


BART = Kind(Bart, BartConfig, their_bart, BARTS)
T5_ = Kind(T5, T5Config, their_t5, T5S)
MARIAN = Kind(Seq2SeqTransformer, Seq2SeqConfig, their_marian, MARIANS, left=False)
KINDS = {"BART": BART, "T5": T5_, "Marian": MARIAN}


# What they read


def batch(config: Any, *, left: bool = True) -> dict[str, torch.Tensor]:
    """Source and target: full, padded on the right, on the left, on both sides."""
    torch.manual_seed(1)
    found = {}
    for name, length in (("source", 9), ("target", 6)):
        keep = torch.ones(4, length, dtype=torch.bool)
        keep[1, 4:] = keep[2, :3] = keep[3, :1] = keep[3, 3:] = False
        if not left:
            keep = keep.sort(dim=1, descending=True).values
        real = torch.tensor([i for i in range(config.vocabulary) if i != config.pad])
        tokens = real[torch.randint(len(real), keep.shape)].masked_fill(~keep, config.pad)
        found |= {name: tokens, f"{name}_keep": keep}
    return found


def run(model: nn.Module, b: dict[str, torch.Tensor]) -> torch.Tensor:
    return model(b["source"], b["target"], b["source_keep"], b["target_keep"])


def run_theirs(hf: nn.Module, b: dict[str, torch.Tensor]) -> Any:
    return hf(
        input_ids=b["source"],
        attention_mask=b["source_keep"].long(),
        decoder_input_ids=b["target"],
        decoder_attention_mask=b["target_keep"].long(),
    )


def mixed(x: torch.Tensor) -> torch.Tensor:
    """One number that depends on every element, each with a weight of its own."""
    torch.manual_seed(2)
    return (x * torch.randn_like(x.double()).to(x)).mean()
