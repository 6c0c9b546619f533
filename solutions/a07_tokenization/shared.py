"""What several questions of this assignment use."""

from __future__ import annotations

READY = ("coursekit", "tokenizers", "sentencepiece", "transformers", "tiktoken")
