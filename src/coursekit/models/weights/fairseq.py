"""What fairseq called the parts of an encoder and a decoder; BART and Marian kept the names."""

from __future__ import annotations

from coursekit.models.weights.rules import Ignored, Reshaped, Rule, Same, Tied, same, stacked


def words(vocabulary: int) -> list[Rule]:
    """Return the rules of the matrix that embeds both sides and scores words, and of its bias."""
    shared = "model.shared.weight"
    return [
        Same("embedding.weight", shared),
        Tied("model.encoder.embed_tokens.weight", shared),
        Tied("model.decoder.embed_tokens.weight", shared),
        Tied("lm_head.weight", shared),
        Reshaped("embedding.bias", "final_logits_bias", (vocabulary,), (1, vocabulary)),
    ]


def blocks(side: str, depth: int, *, alone: bool = False) -> list[Rule]:
    """Return the rules of the blocks of one side, "encoder" or "decoder".

    A decoder `alone` is our `stack`; their cross-attention is there, and nothing uses it.
    """
    rules: list[Rule] = []
    for layer in range(depth):
        ours = f"{'stack' if alone else side}.blocks.{layer}"
        theirs = f"model.{side}.layers.{layer}"
        rules += same(f"{ours}.feed_forward.expand", f"{theirs}.fc1")
        rules += same(f"{ours}.feed_forward.contract", f"{theirs}.fc2")
        rules += same(f"{ours}.feed_residual.norm", f"{theirs}.final_layer_norm")
        attentions = [("self", "self_attn"), ("cross", "encoder_attn")]
        if alone:
            parts = [f"encoder_attn.{part}_proj" for part in ("q", "k", "v", "out")]
            for part in (*parts, "encoder_attn_layer_norm"):
                rules += [Ignored(f"{theirs}.{part}.{kind}") for kind in ("weight", "bias")]
        for our, their in attentions[: 1 + (side == "decoder" and not alone)]:
            attention = f"{theirs}.{their}"
            qkv = (f"{attention}.{part}_proj" for part in "qkv")
            rules += stacked(f"{ours}.{our}_attention.qkv", qkv)
            rules += same(f"{ours}.{our}_attention.out", f"{attention}.out_proj")
            rules += same(f"{ours}.{our}_residual.norm", f"{attention}_layer_norm")
    return rules
