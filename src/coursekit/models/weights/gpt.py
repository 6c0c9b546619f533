"""What `transformers` calls the parts of GPT and GPT-2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coursekit.models.weights.rules import (
    GELUS,
    Ignored,
    Rule,
    Same,
    Tied,
    Transposed,
    check_usual,
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


def read_config(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `GPTConfig`."""
    kind = theirs.get("model_type")
    if kind not in ("gpt2", "openai-gpt"):
        raise ValueError(f"model_type must be gpt2, openai-gpt, llama or mistral, found {kind!r}")
    check_usual(theirs, USUAL)
    post = kind == "openai-gpt"
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


def rules(
    depth: int,
    *,
    post: bool,
    tied: bool = True,
    ours: str = "",
    theirs: str = "transformer.",
) -> list[Rule]:
    """Return where each weight belongs; `ours` and `theirs` stand before each name.

    `post` is GPT-1, whose norms stand behind the sublayers, with none at the top. Their `Conv1D`
    multiplies from the other side, so every matrix is transposed. q, k and v stand in one matrix
    on both sides.
    """
    tokens = f"{theirs}{'tokens_embed' if post else 'wte'}.weight"
    table: list[Rule] = [
        Same(f"{ours}tokens.weight", tokens),
        Same(f"{ours}positions.weight", f"{theirs}{'positions_embed' if post else 'wpe'}.weight"),
    ]
    for layer in range(depth):
        block, h = f"{ours}stack.blocks.{layer}.", f"{theirs}h.{layer}."
        for our, their in BLOCK.items():
            matrix = Same if our.endswith("norm") else Transposed
            table.append(matrix(f"{block}{our}.weight", f"{h}{their}.weight"))
            table.append(Same(f"{block}{our}.bias", f"{h}{their}.bias"))
        table += [Ignored(f"{h}attn.bias"), Ignored(f"{h}attn.masked_bias")]  # the causal mask
    if not post:
        table += same(f"{ours}stack.final", f"{theirs}ln_f")
    if theirs:
        head = "lm_head.weight"
        table.append(Tied(head, to=tokens) if tied else Same(f"{ours}output.weight", head))
    return table


def double_heads(depth: int, *, post: bool, tied: bool = True) -> list[Rule]:
    """Return the names of `OpenAIGPTDoubleHeadsModel` or its GPT-2 kin, around our `gpt`."""
    return [
        *rules(depth, post=post, tied=tied, ours="gpt."),
        *same("output", "multiple_choice_head.summary"),
    ]
