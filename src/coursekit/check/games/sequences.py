"""Mistakes in what reads and writes text."""

from coursekit.check.games.game import Game, Mistake

MARKS = "Marks(start=0, delimiter=1, extract=2, pad=3)"
SCORES = "tensor([[[0.0, 1.0], [2.0, 0.0], [0.0, 3.0]]])"  # logits of three places

GAMES = (
    Game(
        name="byte-pair encoding",
        function="tokenizers.bpe.encode",
        calls=(
            "encode([2, 3, 1, 2], {(2, 3): 4, (1, 2): 5})",
            "encode([1, 2, 1], {(2, 3): 4, (1, 2): 5})",
            "encode([2, 3, 1], {(2, 3): 4, (1, 2): 5})",
            "encode([1, 2, 3], {(2, 3): 4, (1, 2): 5})",
        ),
        mistakes=(
            Mistake(
                "on plain numbers: the pair that stands first, not the one learned first",
                "min(mergeable, key=merges.__getitem__)",
                "mergeable[0]",
                "It joins the pair that stands first in the word. The pair that was learned first "
                "has to go first; where the two overlap, the tokens are others.",
            ),
        ),
    ),
    Game(
        name="what the decoder reads",
        function="models.encoder_decoder.shift_right",
        calls=("shift_right(tensor([[7, 8, 2]]), start=1)",),
        mistakes=(
            Mistake(
                "labels are shifted left",
                "tokens[:, :-1], (1, 0)",
                "tokens[:, 1:], (0, 1)",
                "The decoder would read what it has yet to write: the loss falls to nearly "
                "nothing, and the model cannot write.",
            ),
            Mistake(
                "the last token is read",
                "tokens[:, :-1], (1, 0)",
                "tokens, (1, 0)",
                "What is read is now one token longer than what is to be written.",
            ),
            Mistake(
                "the start at the end",
                "tokens[:, :-1], (1, 0)",
                "tokens[:, :-1], (0, 1)",
                "Each place reads the token that it should write: nothing has been moved, and the "
                "loss falls to nearly nothing.",
            ),
        ),
    ),
    Game(
        name="what a training costs, by count",
        function="analysis.energy.flops_by_count",
        calls=(
            "flops_by_count(10, 100)",
            "flops_by_count(10, 100, training=False)",
        ),
        mistakes=(
            Mistake(
                "a training only goes forward",
                "(FORWARD + BACKWARD if training else FORWARD)",
                "FORWARD",
                "A training goes back as well, and that costs twice as much as the way forward.",
            ),
            Mistake(
                "use costs as much as training",
                "(FORWARD + BACKWARD if training else FORWARD)",
                "(FORWARD + BACKWARD)",
                "A model that is only used does not go back. Here its cost is counted three times.",
            ),
            Mistake(
                "a training only goes back",
                "(FORWARD + BACKWARD if training else FORWARD)",
                "(BACKWARD if training else FORWARD)",
                "Before a training can go back it has to go forward, and that is a third of the "
                "work.",
            ),
        ),
    ),
    Game(
        name="label smoothing",
        function="objectives.label_smoothing.smoothed_targets",
        calls=("smoothed_targets(tensor([2]), 4, 0.2)",),
        mistakes=(
            Mistake(
                "the right word keeps all it had",
                "(1 - smoothing) * certain",
                "certain",
                "The right token has to give away what the others get. Now the row sums to more "
                "than 1.",
            ),
            Mistake(
                "mass ε/(V−1)",
                "(1 - smoothing) * certain + smoothing / vocabulary",
                "(1 - smoothing) * certain + smoothing / (vocabulary - 1)",
                "The right token gets a share as well, so there are as many shares as tokens. Now "
                "the row sums to more than 1.",
            ),
            Mistake(
                "smoothing is not divided",
                "smoothing / vocabulary",
                "smoothing",
                "Each token gets all that there is to share. The row sums to far more than 1, the "
                "more so the larger the vocabulary.",
            ),
        ),
    ),
    Game(
        name="padding mask",
        function="masks.padding",
        calls=("padding(tensor([[5, 6, 0]]), pad=0)",),
        mistakes=(
            Mistake(
                "True where nobody may look",
                "(tokens != pad)",
                "(tokens == pad)",
                "True means: may be looked at. Here only the padding may. Libraries differ in "
                "this, so look it up first.",
            ),
            Mistake(
                "padding of the queries",
                "[:, None, None, :]  # (B, 1, 1, S)",
                "[:, None, :, None]  # (B, 1, S, 1)",
                "It forbids the padding to look, and lets all others look at it.",
            ),
            Mistake(
                "the axis of the heads is missing",
                "[:, None, None, :]  # (B, 1, 1, S)",
                "[:, None, :]  # (B, 1, S)",
                "Beside scores of shape (B, H, T, S) the batch now stands where the heads should "
                "be. With one sentence it works; with as many sentences as heads it is wrong, and "
                "no error says so.",
            ),
        ),
    ),
    Game(
        name="batches of tokens",
        function="objectives.rows.batches_of_tokens",
        calls=(
            "batches_of_tokens([2, 2, 2], limit=6)",
            "batches_of_tokens([5], limit=4)",
            "batches_of_tokens([3, 3], limit=4)",
            "batches_of_tokens([4, 4, 4], limit=3)",
        ),
        mistakes=(
            Mistake(
                "the limit of a batch ignored",
                "held + length > limit",
                "held > limit",
                "It looks at what the batch holds before the row is in it, and so lets in the one "
                "row that is too much.",
            ),
        ),
    ),
    Game(
        name="sentence vectors",
        function="models.bert_heads.sentence_vectors",
        calls=(
            "sentence_vectors(tensor([[[3.0, 4.0], [0.0, 0.0]]]), tensor([[True, False]]))",
            "sentence_vectors(tensor([[[3.0, 4.0], [3.0, 4.0]]]), tensor([[True, False]]))",
            "sentence_vectors(tensor([[[3.0, 4.0], [4.0, 3.0]]]), tensor([[True, False]]))",
            "sentence_vectors(tensor([[[3.0, 4.0], [4.0, 3.0]]]), tensor([[True, True]]))",
        ),
        mistakes=(
            Mistake(
                "padding is summed into the sentence vector",
                "hidden.masked_fill(~real, 0.0).sum(dim=1)",
                "hidden.sum(dim=1)",
                "The padding's states are summed as well. They point wherever they like, so a "
                "sentence gets another vector in a batch with a longer one.",
            ),
        ),
    ),
    Game(
        name="nucleus sampling",
        function="decoding.sampling.keep_top_p",
        calls=("keep_top_p(tensor([[0.0, 2.0, 1.0]]), 0.8)",),
        mistakes=(
            Mistake(
                "the nucleus stops before p is reached",
                "share.cumsum(dim=-1) - share",
                "share.cumsum(dim=-1)",
                "The token with which p is reached belongs to the nucleus. Here it is cut off, and "
                "what is left has less than p.",
            ),
            Mistake(
                "the least likely come first",
                "logits.sort(dim=-1, descending=True)",
                "logits.sort(dim=-1)",
                "Sorted this way the nucleus is filled from the tail: the unlikely tokens stay.",
            ),
            Mistake(
                "the nucleus is put back in sorted order",
                "-1, index, ranked.masked_fill(before >= p, -torch.inf)",
                "-1, index.sort(dim=-1).values, ranked.masked_fill(before >= p, -torch.inf)",
                "The scores are still sorted, so they now belong to other tokens: token 0 gets the "
                "score of the likeliest one.",
            ),
        ),
    ),
    Game(
        name="two texts in one input",
        function="models.gpt_heads.entailment",
        calls=(f"entailment([7, 8], [9], {MARKS})",),
        mistakes=(
            Mistake(
                "no delimiter",
                "*premise, marks.delimiter, *hypothesis",
                "*premise, *hypothesis",
                "Nothing says where the first text ends and the second begins.",
            ),
            Mistake(
                "the answer is read at the front",
                "[marks.start, *premise, marks.delimiter, *hypothesis, marks.extract]",
                "[marks.extract, *premise, marks.delimiter, *hypothesis]",
                "As in BERT the answer is read at the first token. But GPT looks back only, and "
                "the first token has seen nothing.",
            ),
            Mistake(
                "no token to read the answer at",
                "*hypothesis, marks.extract]",
                "*hypothesis]",
                "The answer is read at the extract token, which comes last and has seen all. Here "
                "there is none.",
            ),
        ),
    ),
    Game(
        name="what a GPT costs to train",
        function="cost.training_flops",
        calls=(
            "training_flops(1, weights=100, depth=1, width=10, length=1)",
            "training_flops(1, weights=100, depth=1, width=10, length=9, window=1)",
            "training_flops(1, weights=100, depth=1, width=10, length=9, window=3)",
            "training_flops(1, weights=100, depth=2, width=10, length=1, vocabulary=50)",
        ),
        mistakes=(
            Mistake(
                "keys ahead are counted",
                "2 * depth * width * keys",
                "2 * depth * width * (window or length)",
                "A token looks at itself and at what came before it, and the first tokens of a "
                "text have little before them. Here each token is counted with a full window.",
            ),
        ),
    ),
    Game(
        name="buckets of distances",
        function="biases.relative_buckets",
        calls=(
            "relative_buckets(tensor([3]))",
            "relative_buckets(tensor([0]))",
            "relative_buckets(tensor([-3]))",
            "relative_buckets(tensor([500]))",
        ),
        mistakes=(
            Mistake(
                "the sign is lost before it is read",
                "bucket = torch.where(distance > 0, buckets, 0)\n        distance = distance.abs()",
                "distance = distance.abs()\n        bucket = torch.where(distance > 0, buckets, 0)",
                "The sign is taken away before it is asked for. Three back and three ahead share a "
                "bucket, and half of the buckets are never used.",
            ),
        ),
    ),
    Game(
        name="log-probability of an answer",
        function="objectives.preferences.sequence_log_probability",
        calls=(
            f"sequence_log_probability({SCORES}, tensor([[0, 1, 0]]), "
            "tensor([[False, False, True]]))",
        ),
        mistakes=(
            Mistake(
                "prompt counted",
                "tokens[:, 1:].long().masked_fill(~answer, -100)",
                "tokens[:, 1:].long()",
                "The prompt's tokens are added as well. Nobody asked the model to write them.",
            ),
            Mistake(
                "log-probability without the shift",
                "logits[:, :-1].mT",
                "logits[:, 1:].mT",
                "What stands at a place predicts the token behind it. Here it is compared with the "
                "token that the place has already read.",
            ),
            Mistake(
                "the mask is not moved along",
                "answer = answer[:, 1:]",
                "answer = answer[:, :-1]",
                "The targets begin with the second token, and the mask has to begin there as well. "
                "Here it marks the token one place too late.",
            ),
        ),
    ),
    Game(
        name="energy of a training",
        function="analysis.energy.kilowatt_hours",
        calls=("kilowatt_hours(10, 500, pue=1.5)",),
        mistakes=(
            Mistake(
                "the cooling comes on top once more",
                "watts * pue /",
                "watts * (1 + pue) /",
                "PUE is what the whole centre draws for each unit that reaches the computers. The "
                "computers' own share is in it already.",
            ),
            Mistake(
                "divided by PUE",
                "watts * pue /",
                "watts / pue /",
                "Cooling adds to the energy. Divided by PUE it would save some.",
            ),
            Mistake(
                "watt-hours",
                "* pue / 1000",
                "* pue",
                "Those are watt-hours, a thousand times as many.",
            ),
        ),
    ),
)
