"""What fairseq called the parts of an encoder and a decoder; BART and Marian kept the names."""

from __future__ import annotations

from coursekit.models.weights.rules import Reshaped, Rule, Same, Tied, same, stacked


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


def blocks(side: str, depth: int) -> list[Rule]:
    """Return the rules of the blocks of one side, "encoder" or "decoder"."""
    rules: list[Rule] = []
    for layer in range(depth):
        ours, theirs = f"{side}.blocks.{layer}", f"model.{side}.layers.{layer}"
        rules += same(f"{ours}.feed_forward.expand", f"{theirs}.fc1")
        rules += same(f"{ours}.feed_forward.contract", f"{theirs}.fc2")
        rules += same(f"{ours}.feed_residual.norm", f"{theirs}.final_layer_norm")
        attentions = [("self", "self_attn"), ("cross", "encoder_attn")]
        for our, their in attentions[: 1 + (side == "decoder")]:
            attention = f"{theirs}.{their}"
            qkv = (f"{attention}.{part}_proj" for part in "qkv")
            rules += stacked(f"{ours}.{our}_attention.qkv", qkv)
            rules += same(f"{ours}.{our}_attention.out", f"{attention}.out_proj")
            rules += same(f"{ours}.{our}_residual.norm", f"{attention}_layer_norm")
    return rules
