"""What `transformers` calls the parts of GPT and GPT-2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from coursekit.blocks import Block
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.models.gpt_heads import GPTMultipleChoice
from coursekit.models.weights import llama
from coursekit.models.weights.rules import (
    GELUS,
    Ignored,
    Rule,
    Same,
    Tied,
    Transposed,
    check_usual,
    only_huggingface,
    same,
)

USUAL = {
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}
BLOCK = {  # ours -> theirs
    "self_residual.norm": "ln_1",
    "self_attention.qkv": "attn.c_attn",
    "self_attention.out": "attn.c_proj",
    "feed_residual.norm": "ln_2",
    "feed_forward.expand": "mlp.c_fc",
    "feed_forward.contract": "mlp.c_proj",
}


def read_config(theirs: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return the arguments of `GPTConfig`: a GPT, GPT-2, Llama or Mistral."""
    family = theirs.get("model_type")
    if family in llama.KINDS:
        return llama.read_config(theirs)
    if family not in ("gpt2", "openai-gpt"):
        raise ValueError(f"model_type must be gpt2, openai-gpt, llama or mistral, found {family!r}")
    check_usual(theirs, USUAL)
    post = family == "openai-gpt"
    names = GELUS | ({"gelu": "gelu_tanh"} if post else {})  # tanh by any name in their GPT-1
    activation = theirs["afn" if post else "activation_function"]
    return {
        "vocabulary": theirs["vocab_size"],
        "width": theirs["n_embd"],
        "depth": theirs["n_layer"],
        "heads": theirs["n_head"],
        "hidden": theirs.get("n_inner"),
        "positions": theirs["n_positions"],
        "norm": "post" if post else "pre",
        "activation": names.get(activation, activation),
        "dropout": theirs["resid_pdrop"],
        "attention_dropout": theirs["attn_pdrop"],
        "embedding_dropout": theirs["embd_pdrop"],
        "eps": theirs["layer_norm_epsilon"],
        "tied": theirs.get("tie_word_embeddings", True),
    }


def table(
    depth: int,
    *,
    post: bool,
    tied: bool = True,
    ours: str = "",
    theirs: str = "transformer.",
) -> list[Rule]:
    """Return where each weight belongs; `ours` and `theirs` come before each name.

    `post` is GPT-1, whose norms come after the sublayers, with none at the top. Their `Conv1D`
    multiplies from the other side, so every matrix is transposed. q, k and v are in one matrix
    on both sides.
    """
    tokens = f"{theirs}{'tokens_embed' if post else 'wte'}.weight"
    rows: list[Rule] = [
        Same(f"{ours}tokens.weight", tokens),
        Same(f"{ours}positions.weight", f"{theirs}{'positions_embed' if post else 'wpe'}.weight"),
    ]
    for layer in range(depth):
        block, h = f"{ours}stack.blocks.{layer}.", f"{theirs}h.{layer}."
        for our, their in BLOCK.items():
            matrix = Same if our.endswith("norm") else Transposed
            rows.append(matrix(f"{block}{our}.weight", f"{h}{their}.weight"))
            rows.append(Same(f"{block}{our}.bias", f"{h}{their}.bias"))
        rows += [Ignored(f"{h}attn.bias"), Ignored(f"{h}attn.masked_bias")]  # the causal mask
    if not post:
        rows += same(f"{ours}stack.final", f"{theirs}ln_f")
    if theirs:
        head = "lm_head.weight"
        rows.append(Tied(head, to=tokens) if tied else Same(f"{ours}output.weight", head))
    return rows


def _double_heads(depth: int, *, post: bool, tied: bool = True) -> list[Rule]:
    """Return the names of `OpenAIGPTDoubleHeadsModel` or its GPT-2 kin, around our `gpt`."""
    return [
        *table(depth, post=post, tied=tied, ours="gpt."),
        *same("output", "multiple_choice_head.summary"),
    ]


def rules(
    model: GPT | GPTMultipleChoice,
    layout: str,
    theirs: Mapping[str, Tensor] | None = None,
    *,
    head: bool = True,
) -> list[Rule]:
    """Return the names of `GPT2LMHeadModel`, without its head those of `GPT2Model`.

    With the parts of Llama they are those of `LlamaForCausalLM` and `LlamaModel`; around a
    `GPTMultipleChoice` those of `OpenAIGPTDoubleHeadsModel` or its GPT-2 kin.
    """
    only_huggingface(layout)
    if theirs is not None:
        head = any(name.startswith(("transformer.", "model.")) for name in theirs)
    gpt = model.gpt if isinstance(model, GPTMultipleChoice) else model
    config = gpt.config
    post = config.norm == "post"
    if isinstance(model, GPTMultipleChoice):
        _check_gpt2(gpt)
        return _double_heads(config.depth, post=post, tied=config.tied)
    if config.rotary and config.rms_norm and config.gated and not post:
        return llama.table(
            config.depth,
            rows=_first_block(gpt).self_attention.sizes,
            bias=config.bias,
            attention_bias=config.bias if config.attention_bias is None else config.attention_bias,
            tied=config.tied,
            theirs="model." if head else "",
        )
    _check_gpt2(gpt)
    return table(config.depth, post=post, tied=config.tied, theirs="transformer." if head else "")


def fresh(
    kind: type, theirs: Mapping[str, Tensor], config: GPTConfig, **options: Any
) -> GPT | GPTMultipleChoice:
    """Return a model without weights."""
    return kind(GPT(config) if issubclass(kind, GPTMultipleChoice) else config, **options)


def _first_block(model: GPT) -> Block:
    block = model.stack.blocks[0]
    assert isinstance(block, Block)
    return block


def _check_gpt2(model: GPT) -> None:
    """Raise unless transformers' GPT-2, or its GPT-1 with the norms behind, can be this."""
    config, block = model.config, _first_block(model)
    attention, hidden = block.self_attention, block.feed_forward.expand.out_features
    odd = [name for name in ("rotary", "rms_norm", "gated", "window") if getattr(config, name)]
    odd += ["no biases"] * (attention.qkv.bias is None or block.feed_forward.expand.bias is None)
    odd += ["kv_heads"] * (attention.kv_heads != attention.heads)
    odd += ["head_width"] * (attention.out.in_features != config.width)
    odd += ["hidden"] * (config.norm == "post" and hidden != 4 * config.width)
    if odd:
        raise ValueError(
            "transformers has GPT-2, with none of the parts of Llama, and Llama with all of "
            f"them; found {', '.join(odd)} alone"
        )
