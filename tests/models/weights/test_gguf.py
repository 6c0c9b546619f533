"""GGUF files made here are read back; what is damaged or unknown is refused in a sentence."""

import re
import struct

import numpy as np
import pytest
import torch

from coursekit.models import weights
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.models.weights.gguf import GGUF, NAMES, decoded, llama_config, read_gguf, unpaired
from coursekit.models.weights.smollm import model_of, pattern, tokenizer_of
from coursekit.tokenizers.byte_bpe import printable_bytes, show

RANDOM = np.random.default_rng(0)


def q8_0(row):
    """A row in blocks of 32: the factor that takes the largest to 127, and whole numbers."""
    made = b""
    for block in row.reshape(-1, 32):
        factor = np.float16(np.abs(block).max() / 127)
        whole = np.round(block / np.float32(factor)).clip(-127, 127)
        made += factor.tobytes() + whole.astype(np.int8).tobytes()
    return made


def q4_1(row):
    """A row in blocks of 32: factor, smallest, and 16 bytes of two numbers from 0 to 15."""
    made = b""
    for block in row.reshape(-1, 32):
        low = np.float16(block.min())
        factor = np.float16((block.max() - block.min()) / 15)
        whole = [
            int(n) for n in np.round((block - np.float32(low)) / np.float32(factor)).clip(0, 15)
        ]
        made += factor.tobytes() + low.tobytes()
        made += bytes(whole[i] + 16 * whole[i + 16] for i in range(16))
    return made


FORMS = {0: lambda row: row.astype("<f4").tobytes(), 3: q4_1, 8: q8_0}


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def setting(value):
    """A value with its kind in front."""
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    inner = [setting(one) for one in value]
    return struct.pack("<I", 9) + inner[0][:4] + struct.pack("<Q", len(inner)) + b"".join(
        one[4:] for one in inner
    )  # fmt: skip


def gguf(settings, tensors, align=32):
    """A whole file; `tensors` maps a name to (array, number of its form)."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(settings))
    head += b"".join(text(name) + setting(value) for name, value in settings.items())
    body = b""
    for name, (array, form) in tensors.items():
        sizes = array.shape[::-1]
        head += text(name) + struct.pack(f"<I{len(sizes)}Q", len(sizes), *sizes)
        head += struct.pack("<IQ", form, len(body))
        body += FORMS[form](array.ravel())
        body += bytes(-len(body) % align)
    return head + bytes(-len(head) % align) + body


@pytest.fixture
def file(tmp_path):
    """Write a file of these contents and return its path."""

    def write(content):
        path = tmp_path / "small.gguf"
        path.write_bytes(content)
        return path

    return write


def array(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(("form", "error"), [(0, 0.0), (8, 0.55 / 127), (3, 0.55 / 15)])
def test_what_was_written_is_read_to_half_a_step(file, form, error):
    made = {"a": array(3, 64), "b": array(96)}
    path = file(gguf({}, {name: (one, form) for name, one in made.items()}))
    for name, found in read_gguf(path).tensors.items():
        assert found.shape == made[name].shape and found.dtype == torch.float32
        blocks = made[name].reshape(-1, 32)
        wide = np.ptp(blocks, axis=1) if form == 3 else np.abs(blocks).max(axis=1)
        away = np.abs(found.numpy().reshape(-1, 32) - blocks).max(axis=1)
        assert (away <= error * wide + 2e-3 * (form > 0)).all()
        assert form == 0 or away.max() > 1e-4  # it is the coarse one that was read


@pytest.mark.parametrize(("form", "label"), [(3, "Q4_1"), (8, "Q8_0")])
def test_blocks_are_decoded_as_the_package_gguf_does(form, label):
    quants = pytest.importorskip("gguf.quants", reason="the package gguf is not installed")
    from gguf import GGMLQuantizationType as Kind

    from coursekit.models.weights import gguf as ours

    row = np.frombuffer(FORMS[form](array(4 * 32)), np.uint8)
    theirs = quants.dequantize(row, Kind[label])
    assert np.array_equal(decoded(row.view(ours.FORMS[form][1]), label), theirs)


def test_settings_of_every_kind_come_back(file):
    settings = {"a.count": 7, "rate": 0.5, "yes": True, "name": "Zürich", "list": ["a", "", "Ġb"],
                "numbers": [1, 2, 3], "general.alignment": 64}  # fmt: skip
    path = file(gguf(settings, {"x": (array(2, 32), 8), "y": (array(5), 0)}, align=64))
    found = read_gguf(path)
    assert found.settings == settings
    assert found.tensors["y"].shape == (5,) and found.tensors["y"].abs().sum() > 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: b"GGML" + c[4:], "small.gguf is not a GGUF file: it begins b'GGML'"),
        (lambda c: c[:4] + b"\x02" + c[5:], "must be GGUF of version 3, found 2"),
        (lambda c: c[:-40], "ends after [0-9,]+ bytes, in the middle of something"),
        (lambda c: c[:30], "ends after 30 bytes"),
        (lambda c: c[:8] + b"\xff" * 8 + c[16:], "is damaged: it says that the list of tensors"),
        (lambda c: c.replace(struct.pack("<I", 8) + b"\x06", struct.pack("<I", 99) + b"\x06"),
         "a setting of the unknown kind 99"),
        (lambda c: c.replace(struct.pack("<IQ", 8, 0), struct.pack("<IQ", 12, 0)),
         "x is in form number 12 of GGUF; F32, Q4_1, Q8_0 can be read"),
        (lambda c: c.replace(struct.pack("<QQ", 32, 2), struct.pack("<QQ", 16, 4)),
         "x is in Q8_0, whose rows are multiples of 32, found"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told(file, change, said):
    content = gguf({"name": "sixsix"}, {"x": (array(2, 32), 8)})
    assert change(content) != content
    with pytest.raises(ValueError, match=said):
        read_gguf(file(change(content)))


# A whole model.

SIZES = {"vocab_size": 40, "embedding_length": 64, "block_count": 2, "attention.head_count": 4,
         "attention.head_count_kv": 2, "feed_forward_length": 96, "context_length": 50,
         "attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": 500.0}  # fmt: skip


def paired(weight, heads):
    """Rows (0, Dh/2), (1, Dh/2 + 1), … of each head side by side, as llama.cpp wants them."""
    half = len(weight) // heads // 2
    rows = [h * 2 * half + i + half * second
            for h in range(heads) for i in range(half) for second in (0, 1)]  # fmt: skip
    return weight[rows]


@pytest.mark.parametrize("tied", [True, False])
def test_a_model_comes_back_whole(file, tied):
    torch.manual_seed(0)
    config = GPTConfig.llama(
        vocabulary=40, width=64, depth=2, heads=4, kv_heads=2, hidden=96, positions=50,
        rotary_base=500.0, attention_bias=False, tied=tied, eps=1e-5,
    )  # fmt: skip
    ours = GPT(config).eval()
    back = {"lm_head.weight": "output.weight", "model.embed_tokens.weight": "token_embd.weight",
            "model.norm.weight": "output_norm.weight"}  # fmt: skip
    parts = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "mlp.up_proj": "ffn_up",
             "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
             "mlp.gate_proj": "ffn_gate", "mlp.down_proj": "ffn_down",
             "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}  # fmt: skip
    tensors = {}
    for name, weight in weights.export(ours).items():
        if name == "lm_head.weight" and tied:
            continue
        if name not in back:
            _, _, layer, rest = name.split(".", 3)
            name = f"blk.{layer}.{parts[rest.removesuffix('.weight')]}.weight"
        heads = {"q": 4, "k": 2}.get(name.removesuffix(".weight")[-1] if "attn_" in name else "")
        made = weight.numpy() if heads is None else paired(weight.numpy(), heads)
        tensors[back.get(name, name)] = made, 0
    settings = {"general.architecture": "llama"} | {f"llama.{n}": v for n, v in SIZES.items()}
    found = model_of(read_gguf(file(gguf(settings, tensors))))
    assert found.config == config
    tokens = torch.randint(40, (2, 9))
    assert torch.equal(found(tokens), ours(tokens))
    with pytest.raises(ValueError, match=r"general\.architecture must be llama, found 'bert'"):
        model_of(GGUF({"general.architecture": "bert"}, {}))
    also = {"llama.rope.dimension_count": 16, "llama.attention.key_length": 16,
            "llama.attention.value_length": 16, "llama.rope.scaling.type": "none"}  # fmt: skip
    found = model_of(read_gguf(file(gguf(settings | also, tensors))))
    assert torch.equal(found(tokens), ours(tokens))
    with pytest.raises(ValueError, match=r"the settings lack llama\.rope\.freq_base"):
        model_of(GGUF({n: v for n, v in settings.items() if "rope" not in n}, {}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rope.scaling.type", "yarn"),
        ("rope.scaling.factor", 4.0),
        ("rope.dimension_count", 8),
        ("attention.value_length", 8),
        ("attention.sliding_window", 16),
        ("attention.scale", 0.5),
        ("logit_scale", 8.0),
        ("expert_count", 4),
    ],
)
def test_a_setting_that_changes_the_result_is_not_ignored(name, value):
    settings = {"general.architecture": "llama"} | {f"llama.{n}": v for n, v in SIZES.items()}
    llama_config(settings, tied=True)
    with pytest.raises(ValueError, match=re.escape(f"llama.{name}")):
        llama_config(settings | {f"llama.{name}": value}, tied=True)


def test_unpaired_undoes_what_a_writer_does():
    weight = torch.arange(24.0).view(12, 2)
    assert torch.equal(unpaired(torch.from_numpy(paired(weight.numpy(), 2)), 2), weight)
    assert not torch.equal(unpaired(weight, 2), weight)
    assert len(NAMES) == 9


# The tokenizer.


def tokenizer_settings(missing=()):
    shown = [c for byte, c in sorted(printable_bytes().items()) if byte not in missing]
    tokens = ["<|endoftext|>", *shown, "Ġa", "ab", "Ġab"]
    kinds = [3] + [1] * (len(tokens) - 1)
    merges = ["Ġ a", "a b", "Ġa b"]
    made = {
        "model": "gpt2",
        "pre": "smollm",
        "tokens": tokens,
        "token_type": kinds,
        "merges": merges,
    }
    return {f"tokenizer.ggml.{name}": value for name, value in made.items()}


def test_bytes_without_a_token_get_ids_behind_the_last():
    settings = tokenizer_settings(missing=(0xFF, 0x04))
    tokenizer = tokenizer_of(GGUF(settings, {}))
    last = len(settings["tokenizer.ggml.tokens"]) - 1
    assert tokenizer.encode("a ab<|endoftext|>", allowed_special="all") == [
        tokenizer.token_to_id("a"),
        last,
        0,
    ]
    assert tokenizer.encode("\x04") == [last + 1]
    with pytest.raises(ValueError, match="gpt2 with the cuts of smollm, found gpt2, qwen2"):
        tokenizer_of(GGUF(settings | {"tokenizer.ggml.pre": "qwen2"}, {}))


@pytest.mark.parametrize(
    ("words", "cut"),
    [
        ("in 1984,  it's", ["in", " ", "1", "9", "8", "4", ",", " ", " it", "'s"]),
        ("a   7\n\n b ", ["a", "   ", "7", "\n\n", " b", " "]),
        ("x²+½ = 3½!", ["x", "²", "+", "½", " =", " ", "3", "½", "!"]),
    ],
)
def test_each_digit_is_a_word(words, cut):
    assert re.findall(pattern(), words) == cut


def test_cuts_are_those_of_two_steps():
    hf = pytest.importorskip("tokenizers")
    both = hf.pre_tokenizers.Sequence([
        hf.pre_tokenizers.Digits(individual_digits=True),
        hf.pre_tokenizers.ByteLevel(add_prefix_space=False),
    ])  # fmt: skip
    for words in (
        "1's 22  3\t4\n\n5 'tis  x",
        "  9",
        "a\u00a01 \u20282",
        "don't 1st, 3.5% (é) 東京8",
    ):
        theirs = [piece for piece, _ in both.pre_tokenize_str(words)]
        assert [show(word.encode()) for word in re.findall(pattern(), words)] == theirs, words
