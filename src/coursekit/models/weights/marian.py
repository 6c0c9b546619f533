"""What `transformers` calls the parts of Marian, a Transformer as in `seq2seq.py`."""

from __future__ import annotations

from coursekit.models.weights import fairseq
from coursekit.models.weights.rules import Rule, Same


def rules(*, vocabulary: int, depth: int) -> list[Rule]:
    """Return where each weight of a `MarianMTModel` belongs.

    Marian stores its sine waves, which stand side by side and do not alternate (all sines, then all
    cosines); we take them as learned positions.
    """
    return [
        *fairseq.words(vocabulary),
        Same("source_positions.weight", "model.encoder.embed_positions.weight"),
        Same("target_positions.weight", "model.decoder.embed_positions.weight"),
        *fairseq.blocks("encoder", depth),
        *fairseq.blocks("decoder", depth),
    ]
