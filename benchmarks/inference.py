"""A forward pass without gradients: a bias of each head, and models next to `transformers`.

    python benchmarks/inference.py [--rounds 7] [--threads 2] [--only BERT] [--smoke]

Torch's fast attention on a CPU reads a bias of two or of four axes. ALiBi, T5 and Swin make one of
three, (H, T, S); given to torch as it is, all weights are stored ("three axes"), and
`fused_attention` gives it the fourth. A `Stack` frees the output of a block when the next block has
read it; "ours, all states" keeps them, as `Stack.states` does.
"""

from __future__ import annotations

import sys

import torch
import torch.nn.functional as F
from harness import Call, run
from torch import Tensor, nn

from coursekit.attention import fused_attention
from coursekit.biases import RelativeBias, WindowBias, alibi
from coursekit.models.bert import Bert, BertConfig
from coursekit.models.swin import Swin, SwinConfig

SMOKE = "--smoke" in sys.argv
DEPTH, IMAGES = (1, 1) if SMOKE else (12, 4)


def few(count: int) -> int:
    """Return `count`, or little where only that it runs is asked."""
    return min(count, 16) if SMOKE else count


def biased(make_bias: Call, B: int, H: int, T: int, width: int, axes: int = 4) -> Call:
    """Attention with a bias (H, T, T) of each head."""
    torch.manual_seed(0)
    q, k, v = torch.randn(3, B, H, T, width)
    bias = make_bias().detach()  # (H, T, T)

    @torch.no_grad()
    def once() -> Tensor:
        if axes == 3:
            return F.scaled_dot_product_attention(q, k, v, bias)
        return fused_attention(q, k, v, bias=bias)

    return once


def bias_contest(make_bias: Call, *sizes: int) -> dict[str, Call]:
    return {
        "ours": lambda: biased(make_bias, *sizes),
        "three axes": lambda: biased(make_bias, *sizes, axes=3),
    }


def forward(model: nn.Module, *inputs: Tensor) -> Call:
    """Return a call that runs a model once."""
    model.eval()
    return torch.no_grad()(lambda: model(*inputs))


def bert_tokens() -> Tensor:
    torch.manual_seed(0)
    return torch.randint(30_522, (few(8), few(256)))


def bert_ours() -> Call:
    return forward(Bert(BertConfig(depth=DEPTH), pooler=False), bert_tokens())


def bert_all_states() -> Call:
    bert, tokens = Bert(BertConfig(depth=DEPTH), pooler=False).eval(), bert_tokens()
    return torch.no_grad()(lambda: bert.encoder.states(bert.embeddings(tokens)))


def bert_transformers() -> Call:
    from transformers import BertConfig as Config
    from transformers import BertModel

    return forward(
        BertModel(Config(num_hidden_layers=DEPTH), add_pooling_layer=False), bert_tokens()
    )


def swin_image() -> Tensor:
    torch.manual_seed(0)
    return torch.randn(IMAGES, 3, 224, 224)


def swin_ours() -> Call:
    return forward(Swin(SwinConfig.tiny(drop_path=0.0)), swin_image())


def swin_transformers() -> Call:
    from transformers import SwinConfig as Config
    from transformers import SwinForImageClassification

    return forward(SwinForImageClassification(Config(num_labels=1000)), swin_image())


CONTESTS = {
    "ALiBi, T 1,024": bias_contest(lambda: alibi(few(1024), heads=12), 1, 12, few(1024), 64),
    "T5, T 512": bias_contest(lambda: RelativeBias(heads=8)(few(512)), few(4), 8, few(512), 64),
    "Swin-T, windows, stage 1": bias_contest(
        lambda: WindowBias(heads=3, height=7, columns=7)(), few(64), 3, 49, 32
    ),
    "BERT base, 8 × 256": {
        "ours": bert_ours,
        "ours, all states": bert_all_states,
        "transformers": bert_transformers,
    },
    "Swin-T, 4 × 224 pixels": {"ours": swin_ours, "transformers": swin_transformers},
}

if __name__ == "__main__":
    run(CONTESTS, script="inference", what="forward without gradients, float32")
