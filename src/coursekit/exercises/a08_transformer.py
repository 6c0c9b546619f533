"""Assignment 8, to the page "The Transformer that translates": what stands around the model, from
the target that the decoder reads, over loss and search, to the number at the end.

The wrong answers, each with the hint for whoever gave it, are in `mistakes/a08_transformer.py`.
"""

from __future__ import annotations

import math
from collections import Counter

import torch
from torch import Tensor, nn

from coursekit.exercises.mistakes import a08_transformer as wrong
from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Assignment, Case, Misconception, Question, Written
from coursekit.models.encoder_decoder import shift_right
from coursekit.objectives.checkpoints import average_checkpoints
from coursekit.objectives.label_smoothing import smoothed_cross_entropy

READY_LOSS = (
    "torch.nn.functional.cross_entropy",
    "torch.nn.functional.nll_loss",
    "torch.nn.functional.kl_div",
    "torch.nn.CrossEntropyLoss",
    "torch.nn.NLLLoss",
    "torch.nn.KLDivLoss",
    "coursekit",
)
READY_BLEU = ("sacrebleu", "nltk", "torchmetrics", "evaluate", "torchtext", "coursekit")

# --- teacher_forcing


def _teacher_forcing(target: Tensor, start: int = 1, pad: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Target (B, T) -> what the decoder reads, what it should say, and where that counts."""
    return shift_right(target, start), target, target != pad


FORCING = Question(
    name="teacher_forcing",
    title="What the decoder reads, and what it should say",
    points=2,
    difficulty=1,
    minutes=15,
    hint="Three tensors of the shape of target. What is read: a column of `start`, then all "
    "columns of target but the last (torch.cat along dim=1). What should be said: the target as "
    "it is. Where it counts: where the label is not `pad`.",
    page="translation.html#sec-translation-teacher-forcing",
    reference=_teacher_forcing,
    cases=(
        Case(
            "one sentence of three words and its end",
            lambda student: student.teacher_forcing(torch.tensor([[7, 8, 9, 2]])),
        ),
        Case(
            "three sentences, two of them padded",
            lambda student: student.teacher_forcing(
                torch.tensor([[5, 6, 7, 8, 2], [9, 4, 2, 0, 0], [3, 2, 0, 0, 0]])
            ),
            weight=2,
        ),
        Case(
            "another start, another padding",
            lambda student: student.teacher_forcing(
                torch.tensor([[4, 0, 2, 9], [0, 3, 5, 2]]), 8, 9
            ),
        ),
        Case(
            "start and padding are one symbol, as in T5",
            lambda student: student.teacher_forcing(torch.tensor([[4, 5, 2], [6, 2, 0]]), 0, 0),
        ),
    ),
    misconceptions=(
        Misconception(
            "not shifted",
            wrong.forced_not_shifted,
            "Your decoder reads the very words that it should say, each at its own place. It will "
            "learn to copy, with a loss near 0, and write nothing sensible. Shift what it reads by "
            "one to the right.",
        ),
        Misconception(
            "shifted to the left",
            wrong.forced_to_the_left,
            "You shift to the left: at the first place the decoder reads the second word. It reads "
            "what was written before: `start` at the first place, word 1 at the second.",
        ),
        Misconception(
            "labels shifted too",
            wrong.forced_both,
            "You treat the target as if it began with a start symbol, and lose its first word. "
            "This target has none: the labels are the whole target, and `start` is put in front of "
            "what is read.",
        ),
        Misconception(
            "nothing dropped",
            wrong.forced_nothing_dropped,
            "What is read has T + 1 columns in yours. Nothing follows the last symbol of the "
            "target, so the decoder need not read it: leave the last column out.",
        ),
        Misconception(
            "rolled round",
            wrong.forced_rolled,
            "roll brings the last column to the front, where `start` belongs.",
        ),
        Misconception(
            "first word overwritten",
            wrong.forced_first_overwritten,
            "You write `start` over the first word, and the others stay in their places. They all "
            "move by one to the right.",
        ),
        Misconception(
            "padding looked for in what is read",
            wrong.forced_real_inputs,
            "You look for padding in what is read. Whether a place counts depends on what should "
            "be said there: at the first padding the decoder reads a real symbol, the end, and "
            "there is nothing left to say.",
        ),
        Misconception(
            "the wrong way about",
            wrong.forced_pads_scored,
            "Your mask is True at padding. It should say where a label counts: True where it is "
            "a real symbol.",
        ),
        Misconception(
            "end not scored",
            wrong.forced_end_unscored,
            "In yours the last real symbol of a sentence does not count. That is its end, and a "
            "decoder that is never told to say it never stops.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- TiedEmbedding


class _TiedEmbedding(nn.Module):
    """One matrix, by which words become vectors and vectors scores of words."""

    def __init__(self, *, vocabulary: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocabulary, width) * width**-0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (...) -> (..., D)."""
        return self.weight[tokens] * self.weight.shape[1] ** 0.5

    def scores(self, hidden: Tensor) -> Tensor:
        """Hidden (..., D) -> (..., V)."""
        return hidden @ self.weight.T


def _tied(student: object, vocabulary: int, width: int, seed: int = 3) -> object:
    module = student.TiedEmbedding(vocabulary=vocabulary, width=width)
    module.load_state_dict({"weight": randn(vocabulary, width, seed=seed)})
    return module


def _there_and_back(student: object) -> Tensor:
    module = _tied(student, 5, 3)
    return module.scores(module(torch.tensor([[0, 4, 4, 2]])))


def _fresh(student: object, vocabulary: int, width: int) -> bool:
    """Say whether the numbers of a fresh matrix have mean 0 and standard deviation 1/√D."""
    weight = student.TiedEmbedding(vocabulary=vocabulary, width=width).state_dict()["weight"]
    sized = weight * math.sqrt(width)
    return abs(float(sized.std()) - 1) < 0.05 and abs(float(sized.mean())) < 0.05


TIED = Question(
    name="TiedEmbedding",
    title="One matrix, used twice",
    points=3,
    difficulty=1,
    minutes=20,
    hint="self.weight = nn.Parameter(torch.randn(vocabulary, width) / √width). A row of it is "
    "self.weight[tokens], with any axes; times √width. The scores are a product with the matrix "
    "transposed, and nothing else.",
    page="translation.html#sec-translation-model",
    reference=_TiedEmbedding,
    cases=(
        Case(
            "two words, a matrix of three by four",
            lambda student: _tied(student, 3, 4)(torch.tensor([[2, 0]])),
        ),
        Case(
            "the scores of two vectors",
            lambda student: _tied(student, 6, 4).scores(randn(1, 2, 4)),
        ),
        Case("there and back", _there_and_back),
        Case("a fresh one starts at the right size", lambda student: _fresh(student, 1000, 64)),
        Case(
            "name and shape of the weights",
            lambda student: {
                name: list(weight.shape)
                for name, weight in student.TiedEmbedding(vocabulary=7, width=2)
                .state_dict()
                .items()
            },
        ),
    ),
    misconceptions=(
        Misconception(
            "no scale",
            wrong.TiedBare,
            "You return the rows as they are. With numbers of size 1/√D they would drown in the "
            "waves of the positions, of size 1, which are added next. Multiply by √D.",
        ),
        Misconception(
            "divided",
            wrong.TiedDivided,
            "You divide by √D. That is for the scores of attention; here small numbers are to be "
            "made larger: multiply.",
        ),
        Misconception(
            "D for its root",
            wrong.TiedNoRoot,
            "You multiply by D. Numbers of standard deviation 1/√D come to 1 by √D.",
        ),
        Misconception(
            "the root of the vocabulary",
            wrong.TiedByVocabulary,
            "You multiply by the root of the number of words. D is the width, the second axis of "
            "the matrix.",
        ),
        Misconception(
            "scores scaled too",
            wrong.TiedScoresScaled,
            "The way in is right. On the way out you scale as well; the scores are the plain "
            "product with the matrix transposed.",
        ),
        Misconception(
            "scores divided",
            wrong.TiedScoresDivided,
            "The way in is right. On the way out you divide by √D; the scores are the plain "
            "product with the matrix transposed.",
        ),
        Misconception(
            "probabilities for scores",
            wrong.TiedSoftmax,
            "You return probabilities. The loss wants scores and takes the softmax itself, where "
            "it can do so without rounding to zero.",
        ),
        Misconception(
            "starts at size 1",
            wrong.TiedStartsLarge,
            "A fresh matrix has numbers of size 1 in yours, as nn.Embedding's has. Times √D they "
            "are far too large, and so are the scores. Start with torch.randn(...) / √D.",
        ),
        Misconception(
            "a plain table",
            wrong.TiedPlainTable,
            "Yours starts at size 1 and is not scaled, like nn.Embedding. The way in would be the "
            "same; but the scores, of the same matrix, start √D times too large. Start at 1/√D, "
            "and multiply by √D on the way in.",
        ),
        Misconception(
            "two matrices",
            wrong.TiedNot,
            "You have a second matrix for the way out. The point is that there is one: "
            "self.weight, (V, D), transposed.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- smoothed_loss


def _smoothed_loss(logits: Tensor, labels: Tensor, pad: int, smoothing: float = 0.1) -> Tensor:
    """logits (B, T, V), labels (B, T) -> one number, the mean over real labels."""
    return smoothed_cross_entropy(logits, labels, smoothing=smoothing, pad=pad)


def _labels() -> Tensor:
    return torch.tensor([[3, 1, 6, 2, 4], [5, 2, 0, 0, 0], [1, 1, 2, 0, 0]])


LOSS = Question(
    name="smoothed_loss",
    title="Right, but not too sure",
    points=4,
    difficulty=2,
    minutes=30,
    hint="log_p = logits.log_softmax(dim=-1), (B, T, V). For each place: the loss of the right "
    "word, -log_p.gather(-1, labels[..., None])[..., 0], and the mean of the losses of all words, "
    "-log_p.mean(dim=-1). Mix them with 1 - ε and ε, choose the places where labels != pad, and "
    "only then take the mean.",
    page="translation.html#sec-translation-loss",
    reference=_smoothed_loss,
    cases=(
        Case(
            "one place, four words",
            lambda student: student.smoothed_loss(
                torch.tensor([[[0.4, 0.3, 0.2, 0.1]]]).log(), torch.tensor([[1]]), 0, 0.2
            ),
        ),
        Case(
            "a batch without padding",
            lambda student: student.smoothed_loss(
                2 * randn(2, 3, 5), torch.tensor([[3, 1, 2], [1, 0, 2]]), 4
            ),
        ),
        Case(
            "a batch with padding",
            lambda student: student.smoothed_loss(2 * randn(3, 5, 7, seed=1), _labels(), 0),
            weight=2,
        ),
        Case(
            "no smoothing",
            lambda student: student.smoothed_loss(2 * randn(3, 5, 7, seed=2), _labels(), 0, 0.0),
        ),
        Case(
            "gradients at the logits",
            lambda student: gradients(
                student.smoothed_loss, 2 * randn(3, 5, 7, seed=3), _labels(), 0, 0.3
            ),
        ),
    ),
    misconceptions=(
        Misconception(
            "padding scored",
            wrong.loss_over_padding,
            "You score the padding too. It teaches the model to say padding, and the more there is "
            "in a batch, the lower the loss. Choose the places where the label is not pad.",
        ),
        Misconception(
            "mean over all places",
            wrong.loss_over_places,
            "Padding has no loss in yours, but it still counts in the mean: you divide by B·T. "
            "Divide by the number of real labels.",
        ),
        Misconception(
            "mean of sentence means",
            wrong.loss_by_sentence,
            "You take the mean of each sentence, and then the mean of these. A word in a short "
            "sentence then weighs more than one in a long sentence. All real words weigh the same.",
        ),
        Misconception(
            "summed",
            wrong.loss_summed,
            "You return the sum. Divide by the number of real labels, or the step that the "
            "optimiser takes depends on how long the sentences are.",
        ),
        Misconception(
            "no smoothing at all",
            wrong.loss_certain,
            "Your loss is that of the right word alone, whatever `smoothing` says. A share ε of "
            "the target is spread over all words.",
        ),
        Misconception(
            "the share of the others lost",
            wrong.loss_share_lost,
            "You take (1 - ε) of the right word's loss, and nothing for ε: that is a smaller loss, "
            "no smoother target. The share ε goes to all words, ε/V to each.",
        ),
        Misconception(
            "spread over the other words",
            wrong.loss_among_the_others,
            "You spread ε over the V - 1 wrong words. Here it goes to all V, the right one too, as "
            "in torch and in the paper that invented it.",
        ),
        Misconception(
            "does not sum to one",
            wrong.loss_others_only,
            "You give ε/V to each wrong word and 1 - ε to the right one, together less than 1. "
            "The right one gets its ε/V as well.",
        ),
        Misconception(
            "padding and the right word left out",
            wrong.loss_without_pad_word,
            "You spread ε over the V - 2 words that are neither right nor padding. That can be "
            "defended, and some do it; here it goes to all V.",
        ),
        Misconception(
            "more than one in all",
            wrong.loss_share_added,
            "The right word keeps a share of 1 in yours, and ε comes on top. It has 1 - ε, and "
            "its part of the ε.",
        ),
        Misconception(
            "shares changed over",
            wrong.loss_changed_over,
            "You give ε to the right word and 1 - ε to all. The right one gets the large share.",
        ),
    ),
    forbidden=READY_LOSS,
)

# --- beam_search


def _beam_search(
    table: Tensor, start: int, beams: int, end: int, longest: int, alpha: float = 0.6
) -> tuple[list[int], float]:
    """Table (V, V) -> the best text found and its score."""
    logs = table.log_softmax(dim=-1).tolist()
    running: list[tuple[list[int], float]] = [([], 0.0)]
    complete: list[tuple[list[int], float]] = []
    for _ in range(longest):
        grown = [
            ([*text, word], score + log_p)
            for text, score in running
            for word, log_p in enumerate(logs[text[-1] if text else start])
        ]
        grown.sort(key=lambda pair: -pair[1])
        complete += [pair for pair in grown[:beams] if pair[0][-1] == end]
        running = [pair for pair in grown if pair[0][-1] != end][:beams]
    rated = [(text, score / ((5 + len(text)) / 6) ** alpha) for text, score in complete + running]
    return max(rated, key=lambda pair: pair[1])


# Words 0 end, 1 start, 2 "a", 3 "the", 4 "cat", 5 "dog": "the" is the better beginning by far, and
# "a", behind which only one word makes sense, leads to the better text.


def _pairs() -> Tensor:
    return torch.tensor(
        [
            [0.500, 0.060, 0.080, 0.100, 0.120, 0.140],
            [0.005, 0.015, 0.360, 0.560, 0.025, 0.035],
            [0.004, 0.006, 0.008, 0.012, 0.040, 0.930],
            [0.340, 0.010, 0.020, 0.030, 0.360, 0.240],
            [0.500, 0.060, 0.080, 0.100, 0.120, 0.140],
            [0.900, 0.010, 0.015, 0.020, 0.025, 0.030],
        ]
    ).log()


def _found(
    student: object, words: int, seed: int, scale: float, beams: int, longest: int, alpha: float
) -> tuple[list[int], float]:
    """Search a table of random logits: word 0 ends a text, word 1 begins it."""
    table = scale * randn(words, words, seed=seed)
    return student.beam_search(table, 1, beams, 0, longest, alpha)


BEAMS = Question(
    name="beam_search",
    title="Keep the best few",
    points=6,
    difficulty=3,
    minutes=45,
    hint="Keep two lists of pairs (text, sum of logs), `running` and `complete`; at first running "
    "is [([], 0.0)]. In each step make all pairs ([*text, word], total + log p), sort them, and "
    "fill both lists anew from the sorted one. Rate the texts when the loop is over. "
    "logs = table.log_softmax(dim=-1).tolist() gives plain numbers.",
    page="translation.html#sec-translation-decoding",
    reference=_beam_search,
    cases=(
        Case(
            "six words, one beam",
            lambda student: student.beam_search(_pairs(), 1, 1, 0, 5, 0.6),
        ),
        Case(
            "six words, two beams",
            lambda student: student.beam_search(_pairs(), 1, 2, 0, 5, 0.6),
        ),
        Case("random logits, two beams", lambda student: _found(student, 5, 111, 2.0, 2, 5, 0.6)),
        Case("the plain sum of logs", lambda student: _found(student, 5, 111, 2.0, 2, 5, 0.0)),
        Case("long texts preferred", lambda student: _found(student, 5, 72, 2.0, 3, 6, 2.0)),
        Case("no room for the end", lambda student: _found(student, 6, 0, 2.0, 3, 2, 0.6)),
    ),
    misconceptions=(
        Misconception(
            "logits added up",
            wrong.beam_of_logits,
            "You add up the logits. Those of one row cannot be compared with those of another "
            "before they are made into log-probabilities: log_softmax along the last axis.",
        ),
        Misconception(
            "one beam",
            wrong.beam_of_one,
            "You take the best word at each step, whatever `beams` says. Keep several beginnings: "
            "the best text may not begin with the best word.",
        ),
        Misconception(
            "each beam keeps its own",
            wrong.beam_each_its_own,
            "Each of your beams goes on by its own best word. All continuations of all beams "
            "compete for the places; a good beam may have two children and a bad one none.",
        ),
        Misconception(
            "written past the end",
            wrong.beam_past_the_end,
            "You write on behind the end. A text that ends is put aside with the score that it "
            "has, and nothing follows it.",
        ),
        Misconception(
            "fewer and fewer beams",
            wrong.beam_shrinks,
            "Each text that ends takes a beam with it in yours. Its place is free again: go on "
            "with the best `beams` of those that do not end.",
        ),
        Misconception(
            "every end taken",
            wrong.beam_takes_every_end,
            "You put aside every text that ends, however poor. It must be among the best `beams` "
            "of all continuations; with one beam, the end must be the best word of all.",
        ),
        Misconception(
            "stops at the first end",
            wrong.beam_stops_at_once,
            "You stop as soon as a text is complete. The others are still running and may become "
            "better: go on until there are `longest` symbols.",
        ),
        Misconception(
            "unfinished texts lost",
            wrong.beam_unfinished_lost,
            "At the last step the running texts are dropped in yours. They have run out of room "
            "and count as they are, beside those that ended.",
        ),
        Misconception(
            "multiplied by the penalty",
            wrong.beam_times_penalty,
            "You multiply by the penalty. Logs are negative: divided, those of long texts come "
            "nearer to 0, which is what long texts need; multiplied, they are punished twice.",
        ),
        Misconception(
            "no penalty",
            wrong.beam_without_penalty,
            "You return the plain sum of logs, whatever α says. Each word makes it smaller, so "
            "short texts win. Divide by ((5 + length) / 6) to the power of α.",
        ),
        Misconception(
            "mean for penalty",
            wrong.beam_mean_per_word,
            "You divide by length to the power of α. That is another penalty, Hugging Face's; this "
            "one is gentler with short texts: ((5 + length) / 6) to the power of α.",
        ),
        Misconception(
            "end not counted",
            wrong.beam_end_not_counted,
            "You leave the end out of the length. It has been paid for in the sum of logs, and so "
            "it counts.",
        ),
    ),
    forbidden=("coursekit",),
)

# --- bleu


def _bleu(candidates: list[list[str]], references: list[list[str]]) -> float:
    """Return BLEU of a corpus, between 0 and 100."""
    logs = 0.0
    for n in (1, 2, 3, 4):
        found = total = 0
        for pair in zip(candidates, references):
            said, wanted = (
                Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1)) for text in pair
            )
            found += (said & wanted).total()
            total += said.total()
        if not found:
            return 0.0
        logs += math.log(found / total) / 4
    ours, theirs = sum(map(len, candidates)), sum(map(len, references))
    return 100 * min(1.0, math.exp(1 - theirs / ours)) * math.exp(logs)


def _scored(student: object, *pairs: tuple[str, str]) -> float:
    """Score a corpus of translations, each with its reference."""
    said, wanted = zip(*pairs)
    return student.bleu([text.split() for text in said], [text.split() for text in wanted])


VERSE = (
    "in the beginning god made heaven and earth",
    "in the beginning god created heaven and earth",
)
WATERS = ("the spirit moved over the face of the waters", "and the spirit moved over the waters")
NIGHT = (
    "and he called the light day and the darkness night",
    "god called the light day and the darkness he called night",
)
LIGHT = ("and god saw the light", "and god saw the light that it was good")

BLEU = Question(
    name="bleu",
    title="How good is a translation?",
    points=4,
    difficulty=2,
    minutes=35,
    hint="For one sentence and one n: Counter(tuple(words[i : i + n]) for i in "
    "range(len(words) - n + 1)) counts its n-grams, and Counter & Counter takes the smaller "
    "count of each. Add up over all sentences, separately for n = 1 … 4; divide only then. "
    "Everything after that is one line.",
    page="translation.html#sec-translation-bleu",
    reference=_bleu,
    cases=(
        Case("word for word", lambda student: _scored(student, (LIGHT[1], LIGHT[1]))),
        Case("one word of eight differs", lambda student: _scored(student, VERSE)),
        Case(
            "the same again and again",
            lambda student: _scored(
                student, ("on and on and on and on and", "on and on and on it goes for ever")
            ),
        ),
        Case("too short", lambda student: _scored(student, LIGHT)),
        Case("too long", lambda student: _scored(student, WATERS)),
        Case(
            "four sentences",
            lambda student: _scored(student, VERSE, WATERS, NIGHT, LIGHT),
            weight=2,
        ),
        Case(
            "the right words in another order",
            lambda student: _scored(student, ("light the saw god and", "and god saw the light")),
        ),
    ),
    misconceptions=(
        Misconception(
            "not clipped",
            wrong.bleu_not_clipped,
            "A word that stands once in the reference counts each time that you say it. It may "
            "count as often as the reference has it: the smaller of both counts.",
        ),
        Misconception(
            "each n-gram once",
            wrong.bleu_each_once,
            "You count each n-gram once, however often it stands there. Numbers of times are "
            "needed on both sides: Counter, not set.",
        ),
        Misconception(
            "recall",
            wrong.bleu_recall,
            "You divide by the number of n-grams of the reference, which is recall. Precision asks "
            "how much of what was said is right: divide by those of the translation.",
        ),
        Misconception(
            "the last n-gram missing",
            wrong.bleu_last_one_missing,
            "The last n-gram of each sentence is missing. Six words have six 1-grams and three "
            "4-grams: len(words) - n + 1.",
        ),
        Misconception(
            "arithmetic mean",
            wrong.bleu_arithmetic,
            "You take the arithmetic mean of the four precisions. BLEU takes the geometric one, "
            "the fourth root of the product: it is 0 as soon as one of them is.",
        ),
        Misconception(
            "no fourth root",
            wrong.bleu_no_fourth_root,
            "You return the product of the four precisions. Take its fourth root: the mean of the "
            "logs, not their sum.",
        ),
        Misconception(
            "no brevity penalty",
            wrong.bleu_not_short,
            "What is too short is not punished. Precision alone likes a translation that says "
            "only what it is sure of; multiply by exp(1 - r/c) where c is less than r.",
        ),
        Misconception(
            "long texts punished",
            wrong.bleu_long_punished,
            "Your penalty is turned round: it strikes what is too long. c is our length and r "
            "the reference's, and it is exp(1 - r/c), at most 1.",
        ),
        Misconception(
            "long texts rewarded",
            wrong.bleu_long_rewarded,
            "You multiply by exp(1 - r/c) always. Where c is larger than r that is more than 1: "
            "there the factor is 1.",
        ),
        Misconception(
            "mean over sentences",
            wrong.bleu_by_sentence,
            "You score each sentence and take the mean. BLEU is a number of the whole corpus: add "
            "up counts and lengths over all sentences first. (A sentence without a 4-gram in "
            "common would be worth nothing.)",
        ),
        Misconception(
            "one bag for all",
            wrong.bleu_one_bag,
            "You throw the n-grams of all sentences into one bag, so that a word may find its "
            "match in the reference of another sentence. Compare each sentence with its own, "
            "and add up the counts.",
        ),
        Misconception(
            "not times 100",
            wrong.bleu_of_one,
            "Yours lies between 0 and 1. Multiply by 100, as everybody does who prints a BLEU.",
        ),
    ),
    forbidden=READY_BLEU,
)

# --- average_weights


def _average_weights(checkpoints: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of checkpoints, name by name."""
    return average_checkpoints(checkpoints)


def saved(count: int, dtype: torch.dtype = torch.float32, scale: float = 1.0) -> list:
    """Return `count` checkpoints: two weights, and a table of whole numbers that all share."""
    return [
        {
            "embed.weight": scale * (1 + randn(3, 4, seed=step).abs()).to(dtype),
            "norm.bias": randn(4, seed=50 + step).to(dtype),
            "places": torch.arange(3),
        }
        for step in range(count)
    ]


AVERAGE = Question(
    name="average_weights",
    title="The mean of the last few",
    points=2,
    difficulty=1,
    minutes=15,
    hint="For each name of the first checkpoint: the sum of that tensor over all of them, made "
    ".double() first, divided by how many there are, and back .to(the dtype that it had). Where "
    "is_floating_point() is False, the first one's tensor as it is. Make new tensors.",
    page="translation.html#sec-translation-averaging",
    reference=_average_weights,
    cases=(
        Case(
            "two checkpoints of two numbers",
            lambda student: student.average_weights(
                [{"w": torch.tensor([1.0, 5.0])}, {"w": torch.tensor([3.0, -1.0])}]
            ),
        ),
        Case(
            "five checkpoints, one tensor of whole numbers",
            lambda student: student.average_weights(saved(5)),
        ),
        Case("one checkpoint", lambda student: student.average_weights(saved(1))),
        Case(
            "large numbers in 16 bits",
            lambda student: student.average_weights(saved(4, torch.float16, 15_000.0)),
        ),
        Case(
            "the checkpoints are left as they were",
            lambda student: after(student.average_weights, saved(3)),
        ),
    ),
    misconceptions=(
        Misconception(
            "sum",
            wrong.average_is_sum,
            "You add up and do not divide by the number of checkpoints.",
        ),
        Misconception(
            "the last one",
            wrong.average_is_last,
            "You return the last checkpoint. All of them count the same.",
        ),
        Misconception(
            "half and half",
            wrong.average_by_halves,
            "Two checkpoints pass. With more, you halve what came before at every step, so that "
            "the last one weighs ½ and the first next to nothing. Add up all, divide once.",
        ),
        Misconception(
            "summed in 16 bits",
            wrong.average_in_halves,
            "float16 ends at 65,504, and your sum is larger. Make the tensors .double() before "
            "you add them up, and go back at the end.",
        ),
        Misconception(
            "mean of whole numbers",
            wrong.average_of_whole_numbers,
            "You average the tensor of whole numbers as well, and it comes out as floats. It is "
            "the same in all checkpoints and stays as it is.",
        ),
        Misconception(
            "dtype lost",
            wrong.average_widened,
            "The numbers are right, but 16-bit weights come back with 32. A mean has the dtype of "
            "what it is made of.",
        ),
        Misconception(
            "written into the first",
            wrong.average_into_the_first,
            "You write the mean into the first checkpoint, which is then lost to whoever gave it "
            "to you. (+= on a tensor does it too.) Make new tensors.",
        ),
        Misconception(
            "whole numbers left out",
            wrong.average_whole_numbers_left_out,
            "The tensor of whole numbers is missing, and a model will not load without it. It is "
            "the same in all checkpoints: take that of the first.",
        ),
    ),
    forbidden=("coursekit", "torch.optim.swa_utils"),
)

ASSIGNMENT = Assignment(
    name="a08_transformer",
    title="The Transformer that translates",
    questions=(FORCING, TIED, LOSS, BEAMS, BLEU, AVERAGE),
    written=(
        Written(
            name="three_letters",
            title="Three letters from a colleague",
            points=3,
            minutes=25,
            page="translation.html#sec-translation-decoding",
        ),
    ),
)
