"""What `transformers` calls the parts of Llama, and of what is built like it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coursekit.models.weights.rules import (
    GELUS,
    Ignored,
    Rule,
    Same,
    Stacked,
    Tied,
    check_usual,
    read_sizes,
)

KINDS = ("llama", "mistral")
SIZES = {
    "vocabulary": "vocab_size",
    "width": "hidden_size",
    "depth": "num_hidden_layers",
    "heads": "num_attention_heads",
    "hidden": "intermediate_size",
    "positions": "max_position_embeddings",
    "eps": "rms_norm_eps",
}
# What a file may leave out, and what that means.
OPTIONAL = {
    "kv_heads": ("num_key_value_heads", None),
    "head_width": ("head_dim", None),
    "window": ("sliding_window", None),
    "bias": ("mlp_bias", False),
    "attention_bias": ("attention_bias", False),
    "attention_dropout": ("attention_dropout", 0.0),
    "tied": ("tie_word_embeddings", False),
}
PARTS = {"rotary": True, "rms_norm": True, "gated": True, "dropout": 0.0, "embedding_dropout": 0.0}
FEED = {"gate": "gate_proj", "expand": "up_proj", "contract": "down_proj"}


def read_config(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `GPTConfig`."""
    kind = theirs["model_type"]
    mistral = kind == "mistral"
    # Newer files have all about rotary in one entry; older ones have its base beside the rest.
    rope = theirs.get("rope_parameters") or theirs.get("rope_scaling") or {}
    turns = {"rope_type": rope.get("rope_type", rope.get("type", "default")), **rope}
    usual = {"rope_type": "default", "type": "default", "partial_rotary_factor": 1.0}
    check_usual(turns, usual, f"{{name}} of a {kind}")
    activation = theirs.get("hidden_act", "silu")
    # What a mistral's file leaves out means what its first model had.
    theirs = {"num_key_value_heads": 8, "sliding_window": 4096, **theirs} if mistral else theirs
    optional = {our: theirs.get(name, usual) for our, (name, usual) in OPTIONAL.items()}
    if not mistral:
        del optional["window"]  # such an entry in another's file is not read by transformers
    return {
        **read_sizes(theirs, SIZES),
        **optional,
        **PARTS,
        "rotary_base": rope.get("rope_theta", theirs.get("rope_theta", 10_000.0)),
        "activation": GELUS.get(activation, activation),
    }


def table(
    depth: int,
    *,
    rows: tuple[int, int, int],
    bias: bool,
    attention_bias: bool,
    tied: bool,
    theirs: str = "model.",
) -> list[Rule]:
    """Return where each weight of a `LlamaForCausalLM` belongs; `theirs` comes before each name.

    `rows` are those of the matrices for queries, keys and values, which are one on our side.
    """
    tokens = f"{theirs}embed_tokens.weight"
    table: list[Rule] = [
        Same("tokens.weight", tokens),
        Same("stack.final.weight", f"{theirs}norm.weight"),
    ]
    attention = ["weight", "bias"] if attention_bias else ["weight"]
    feed = ["weight", "bias"] if bias else ["weight"]
    for layer in range(depth):
        block, h = f"stack.blocks.{layer}.", f"{theirs}layers.{layer}."
        for kind in attention:
            parts = tuple(f"{h}self_attn.{name}_proj.{kind}" for name in "qkv")
            table.append(Stacked(f"{block}self_attention.qkv.{kind}", parts, rows))
            table.append(Same(f"{block}self_attention.out.{kind}", f"{h}self_attn.o_proj.{kind}"))
        for our, their in FEED.items():
            for kind in feed:
                table.append(Same(f"{block}feed_forward.{our}.{kind}", f"{h}mlp.{their}.{kind}"))
        norms = {"self": "input_layernorm", "feed": "post_attention_layernorm"}
        for our, their in norms.items():
            table.append(Same(f"{block}{our}_residual.norm.weight", f"{h}{their}.weight"))
        table.append(Ignored(f"{h}self_attn.rotary_emb.inv_freq"))  # in files of 2023
    if theirs:
        head = "lm_head.weight"
        table.append(Tied(head, tokens) if tied else Same("output.weight", head))
    return table
