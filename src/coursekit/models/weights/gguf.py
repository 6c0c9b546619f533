"""GGUF, one file for a whole model: its settings, its tokenizer, and its weights in few bits.

The format is that of llama.cpp. Behind four letters and a version are named settings, then for
each tensor its name, sizes, form and place, then the numbers. Three forms of numbers are read here.
F32 is plain. The others cut each row into blocks of 32 weights. Q8_0 keeps a weight as a whole
number q from −128 to 127 and a factor d for the block, w = d · q: 34 bytes. Q4_1 keeps q from 0 to
15, two in a byte, a factor d and the block's smallest weight m, w = d · q + m: 20 bytes, 5 bits a
weight. The book uses it in "GPT".
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

BLOCK = 32
VERSION = 3
NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
TEXT, LIST = 8, 9
LONGEST = 1 << 24  # bytes of a name, entries of a list: more is a damaged file
FORMS = {
    0: ("F32", np.dtype("<f4"), 1),
    3: ("Q4_1", np.dtype([("d", "<f2"), ("m", "<f2"), ("q", "u1", BLOCK // 2)]), BLOCK),
    8: ("Q8_0", np.dtype([("d", "<f2"), ("q", "i1", BLOCK)]), BLOCK),
}


class GGUF(NamedTuple):
    """What a file holds."""

    settings: dict[str, Any]
    tensors: dict[str, Tensor]  # in single precision


class _Cursor:
    """Reads one thing after the other."""

    def __init__(self, content: memoryview, name: str) -> None:
        self.content, self.place, self.name = content, 0, name

    def bytes(self, count: int) -> memoryview:
        if count > len(self.content) - self.place:
            size = len(self.content)
            raise ValueError(f"{self.name} ends after {size:,} bytes, in the middle of something")
        self.place += count
        return self.content[self.place - count : self.place]

    def number(self, form: str) -> Any:
        return struct.unpack("<" + form, self.bytes(struct.calcsize("<" + form)))[0]

    def count(self, what: str) -> int:
        number = self.number("Q")
        if number > LONGEST:
            raise ValueError(f"{self.name} is damaged: it says that {what} has {number:,} parts")
        return number

    def text(self) -> str:
        return bytes(self.bytes(self.count("a text"))).decode("utf-8")

    def value(self, kind: int) -> Any:
        if kind in NUMBERS:
            return self.number(NUMBERS[kind])
        if kind == TEXT:
            return self.text()
        if kind != LIST:
            raise ValueError(f"{self.name} has a setting of the unknown kind {kind}")
        inner, count = self.number("I"), self.count("a list")
        return [self.value(inner) for _ in range(count)]


def read_gguf(path: Path | str) -> GGUF:
    """Return settings and tensors of a file; what this reader does not know is refused."""
    path = Path(path)
    cursor = _Cursor(memoryview(path.read_bytes()), path.name)
    if bytes(cursor.content[:4]) != b"GGUF":
        raise ValueError(f"{path.name} is not a GGUF file: it begins {bytes(cursor.content[:4])!r}")
    cursor.place = 4
    if (version := cursor.number("I")) != VERSION:
        raise ValueError(f"{path.name} must be GGUF of version {VERSION}, found {version}")
    tensors, settings = cursor.count("the list of tensors"), cursor.count("the list of settings")
    entries = {cursor.text(): cursor.value(cursor.number("I")) for _ in range(settings)}
    listed = {}
    for _ in range(tensors):
        name, axes = cursor.text(), cursor.number("I")
        sizes = [cursor.number("Q") for _ in range(axes)]
        listed[name] = sizes[::-1], cursor.number("I"), cursor.number("Q")  # the last axis is first
    align = entries.get("general.alignment", 32)
    first = -(-cursor.place // align) * align
    return GGUF(entries, {name: _tensor(cursor, name, first, *row) for name, row in listed.items()})


def _tensor(
    cursor: _Cursor, name: str, first: int, shape: list[int], form: int, offset: int
) -> Tensor:
    """Return a tensor of this shape, whose bytes are `offset` behind the `first`."""
    if form not in FORMS:
        known = ", ".join(known for known, _, _ in FORMS.values())
        raise ValueError(f"{name} is in form number {form} of GGUF; {known} can be read")
    label, kind, block = FORMS[form]
    if shape[-1] % block:
        raise ValueError(
            f"{name} is in {label}, whose rows are multiples of {block}, found {shape}"
        )
    cursor.place = first + offset
    blocks = np.frombuffer(cursor.bytes(int(np.prod(shape)) // block * kind.itemsize), kind)
    return torch.from_numpy(decoded(blocks, label)).view(*shape)


def decoded(blocks: np.ndarray, form: str) -> np.ndarray:
    """Blocks (N,) of a form -> their weights (N · 32,), or (N,) for F32."""
    if form == "F32":
        return blocks.astype(np.float32)
    factor = blocks["d"].astype(np.float32)[:, None]  # (N, 1)
    if form == "Q8_0":
        return (factor * blocks["q"]).ravel()
    pairs = blocks["q"]  # (N, 16): the first half of the block in the low bits, the second above
    q = np.concatenate([pairs & 15, pairs >> 4], axis=1)  # (N, 32)
    return (factor * q + blocks["m"].astype(np.float32)[:, None]).ravel()


# Whose weight is which: GGUF's names (a pattern) and those of `LlamaForCausalLM`.
NAMES = {
    r"^token_embd\.": "model.embed_tokens.", r"^output_norm\.": "model.norm.",
    r"^output\.": "lm_head.", r"^blk\.": "model.layers.",
    r"\.attn_norm\.": ".input_layernorm.", r"\.ffn_norm\.": ".post_attention_layernorm.",
    r"\.attn_output\.": ".self_attn.o_proj.", r"\.attn_([qkv])\.": r".self_attn.\1_proj.",
    r"\.ffn_(gate|up|down)\.": r".mlp.\1_proj.",
}  # fmt: skip
SIZES = {
    "vocab_size": "vocab_size", "hidden_size": "embedding_length",
    "num_hidden_layers": "block_count", "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv", "rope_theta": "rope.freq_base",
    "intermediate_size": "feed_forward_length", "max_position_embeddings": "context_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
}  # fmt: skip


# What else a model may say: its own name for a width, and what is plain rotary positions.
ALSO = (
    "attention.key_length",
    "attention.value_length",
    "rope.dimension_count",
    "rope.scaling.type",
)


def llama_config(settings: Mapping[str, Any], *, tied: bool) -> dict[str, Any]:
    """Return the settings under the names of a Llama's `config.json`."""
    if (kind := settings.get("general.architecture")) != "llama":
        raise ValueError(f"general.architecture must be llama, found {kind!r}")
    missing = [f"llama.{name}" for name in SIZES.values() if f"llama.{name}" not in settings]
    if missing:
        raise ValueError(f"the settings lack {', '.join(missing)}")
    sizes = {their: settings[f"llama.{name}"] for their, name in SIZES.items()}
    sizes["rms_norm_eps"] = float(f"{sizes['rms_norm_eps']:.6g}")  # written in single precision
    head = settings.get(
        "llama.attention.key_length", sizes["hidden_size"] // sizes["num_attention_heads"]
    )
    wanted = {
        "attention.value_length": head,
        "rope.dimension_count": head,
        "rope.scaling.type": "none",
    }
    for name, value in wanted.items():
        if (found := settings.get(f"llama.{name}", value)) != value:
            raise ValueError(f"llama.{name} must be {value}, found {found!r}")
    known = {f"llama.{name}" for name in (*SIZES.values(), *ALSO)}
    if more := sorted(name for name in settings.keys() - known if name.startswith("llama.")):
        raise ValueError(
            f"the settings {', '.join(more)} change what a model computes and are not read here"
        )
    own_width = {"head_dim": head} if "llama.attention.key_length" in settings else {}
    return {"model_type": "llama", "tie_word_embeddings": tied, **own_width, **sizes}


def unpaired(weight: Tensor, heads: int) -> Tensor:
    """Rows of queries or keys (H · Dh, D) from llama.cpp's order back into that of Llama's files.

    llama.cpp turns neighbouring numbers of a head, (0, 1), (2, 3), …; the files of Hugging Face
    turn (0, Dh/2), (1, Dh/2 + 1), … Who writes a GGUF changes the order of the rows for that.
    """
    return weight.view(heads, -1, 2, weight.shape[1]).transpose(1, 2).reshape(weight.shape)
