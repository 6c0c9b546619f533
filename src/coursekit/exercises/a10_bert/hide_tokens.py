"""Which tokens are hidden, what stands there instead, and what is asked: BERT's 80/10/10."""

from __future__ import annotations

import torch
from torch import Tensor

from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def hide_tokens(tokens, coins, fate, words, special, mask, rate=0.15):
    """tokens, coins, fate, words (B, T) -> what the model reads (B, T), labels (B, T)."""
    text = ~torch.isin(tokens, torch.tensor(special))
    chosen = text & (coins < rate)
    hidden, swapped = chosen & (fate < 0.8), chosen & (fate >= 0.8) & (fate < 0.9)
    read = torch.where(swapped, words, tokens).masked_fill(hidden, mask)
    return read, tokens.masked_fill(~chosen, -100)


QUESTION = Question(
    name="hide_tokens",
    title="Eighty, ten, ten",
    points=4,
    difficulty=2,
    minutes=30,
    page="bert.html#sec-bert-mask",
    hint="Make boolean tensors of shape (B, T), one line each: is it text, is it chosen, is it "
    "hidden, is it swapped? The last two are parts of the chosen. With them torch.where or "
    "masked_fill makes what is read. The labels are made of what was given and of who was chosen, "
    "whatever became of it.",
    reference=hide_tokens,
    forbidden=("coursekit",),
)


def _by_hand() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Ten tokens: every fate for a chosen token and for one that is not; a word drawn by itself."""
    tokens = torch.tensor([[101, 21, 22, 23, 24, 25, 26, 27, 102, 0]])
    coins = torch.tensor([[0.01, 0.1, 0.2, 0.3, 0.9, 0.05, 0.8, 0.7, 0.02, 0.0]])
    fate = torch.tensor([[0.1, 0.5, 0.85, 0.95, 0.2, 0.82, 0.86, 0.99, 0.88, 0.3]])
    words = torch.tensor([[40, 41, 42, 43, 44, 25, 46, 47, 48, 49]])
    return tokens, coins, fate, words


def _drawn(batch: int, length: int, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sentences of several lengths, [CLS] … [SEP] and padding, with numbers drawn for them."""
    generator = torch.Generator().manual_seed(seed)
    tokens, words = torch.randint(200, 1000, (2, batch, length), generator=generator)
    tokens[:, 0] = 101
    for row in range(batch):
        tokens[row, length - 1 - 3 * row] = 102
        tokens[row, length - 3 * row :] = 0
    coins, fate = torch.rand(2, batch, length, generator=generator)
    return tokens, coins, fate, words


@QUESTION.visible(says="one sentence, half of it chosen, every fate")
def one_sentence(student):
    return student.hide_tokens(*_by_hand(), special=[0, 101, 102], mask=103, rate=0.5)


@QUESTION.visible(says="three sentences at the usual rate")
def three_sentences(student):
    return student.hide_tokens(*_drawn(3, 60, seed=0), special=[0, 101, 102], mask=103)


@QUESTION.visible(says="everything chosen, other ids")
def everything_chosen(student):
    tokens, coins, fate, words = _drawn(2, 20, seed=1)
    return student.hide_tokens(tokens, coins, fate, words, [101, 0, 102], 7, rate=1.0)


@QUESTION.visible(says="a fate of exactly 0.8 or 0.9")
def on_the_border(student):
    fate = torch.tensor([[0.8, 0.9, 0.0, 0.8, 0.9]], dtype=torch.float64)
    tokens, words = torch.tensor([[5, 6, 7, 8, 9], [15, 16, 17, 18, 19]])[:, None]
    return student.hide_tokens(tokens, fate / 2, fate, words, [0], 3, rate=0.5)


@QUESTION.visible(says="what was given stays as it was")
def what_was_given_stays(student):
    return after(student.hide_tokens, *_drawn(2, 12, seed=2), [0, 101, 102], 103, 0.6)


QUESTION.mistake(
    "special tokens too",
    old="text & (coins",
    new="(coins",
    hint="You choose [CLS], [SEP] and padding too. There is nothing to guess at them: they are "
    "neither changed nor asked for, whatever their coins say.",
)

QUESTION.mistake(
    "padding only",
    old="~torch.isin(tokens, torch.tensor(special))",
    new="tokens != 0",
    hint="You leave padding alone, but not [CLS] and [SEP]. `special` is a list of ids: none of "
    "them may be chosen.",
)

QUESTION.mistake(
    "random words everywhere",
    old="chosen & (fate >= 0.8)",
    new="(fate >= 0.8)",
    hint="You put random words at 10% of all places. It is 10% of the chosen ones: a fate counts "
    "only where the coin has chosen.",
)

QUESTION.mistake(
    "fates for all",
    old="chosen & (fate < 0.8), chosen & (fate >= 0.8)",
    new="(fate < 0.8), (fate >= 0.8)",
    hint="You read the fate of every place, and hide 80% of the text. The coin comes first: a fate "
    "counts only where the coin has chosen.",
)

QUESTION.mistake(
    "one draw for both",
    old="chosen & (fate < 0.8), chosen & (fate >= 0.8) & (fate < 0.9)",
    new="text & (coins < 0.8 * rate), text & (coins >= 0.8 * rate) & (coins < 0.9 * rate)",
    hint="You let the coin decide what becomes of a token as well. In the long run the shares are "
    "the same, but here the coin only chooses; `fate` says what happens.",
)

QUESTION.mistake(
    "the unchanged not asked",
    old="~chosen",
    new="read == tokens",
    hint="Your labels are only where something was changed. A chosen token that stays as it is "
    "must be asked for as well: that is why the model has to understand every place, and not only "
    "those that look odd.",
)

QUESTION.mistake(
    "one in ten not asked",
    old="~chosen",
    new="~(hidden | swapped)",
    hint="The chosen tokens that stay as they are have no label in yours. All that were chosen are "
    "asked for, whatever became of them.",
)

QUESTION.mistake(
    "only masks asked",
    old="~chosen",
    new="~hidden",
    hint="Only the places with a mask have a label in yours. All that were chosen are asked for, "
    "those with a random word and those left as they are too.",
)

QUESTION.mistake(
    "labels from what is read",
    old="tokens.masked_fill(~chosen",
    new="read.masked_fill(~chosen",
    hint="You take the labels from what the model reads, and so the answer to a mask is a mask. "
    "The answer is the token that was there before.",
)

QUESTION.mistake(
    "labels everywhere",
    old="tokens.masked_fill(~chosen, -100)",
    new="tokens.clone()",
    hint="Every place has a label in yours. Only the chosen ones are asked for; the others get "
    "-100, which the loss leaves out.",
)

QUESTION.mistake(
    "the others asked",
    old="~chosen",
    new="chosen",
    hint="Your -100 is the wrong way round: it stands at the chosen places. It belongs to those "
    "that were not chosen, where nothing is asked.",
)

QUESTION.mistake(
    "zero for −100",
    old="-100",
    new="0",
    hint="Where nothing is asked your label is 0. That is a token like any other, and the loss "
    "would ask for it; -100 is the number that it leaves out.",
)

QUESTION.mistake(
    "written into the tokens, then labels",
    old="read = torch.where(swapped, words, tokens).masked_fill(hidden, mask)\n    return read, ",
    new="tokens[hidden] = mask\n    tokens[swapped] = words[swapped]\n    return tokens, ",
    hint="You write into `tokens` and take the labels from them afterwards: the answers are gone. "
    "`read = tokens` is no copy either. Write into a clone.",
)

QUESTION.mistake(
    "written into the tokens",
    old="read = torch.where(swapped, words, tokens).masked_fill(hidden, mask)\n"
    "    return read, tokens.masked_fill(~chosen, -100)",
    new="labels = tokens.masked_fill(~chosen, -100)\n"
    "    tokens[hidden] = mask\n"
    "    tokens[swapped] = words[swapped]\n"
    "    return tokens, labels",
    hint="The numbers are right, but `tokens` itself is changed: in the next epoch the masks of "
    "this one would still be there. `read = tokens` is no copy; tokens.clone() is one.",
)

QUESTION.mistake(
    "random and unchanged exchanged",
    old="(fate >= 0.8) & (fate < 0.9)",
    new="(fate >= 0.9)",
    hint="You have exchanged the last two fates: a random word from 0.8 to 0.9, and from 0.9 on "
    "the token stays.",
)

QUESTION.mistake(
    "nothing stays",
    old=" & (fate < 0.9)",
    new="",
    hint="None of your chosen tokens stays as it is. From a fate of 0.9 on it does, and has a "
    "label all the same.",
)

QUESTION.mistake(
    "masks overwritten",
    old="torch.where(swapped, words, tokens).masked_fill(hidden, mask)",
    new="torch.where(chosen & (fate < 0.9), words, tokens.masked_fill(hidden, mask))",
    hint="There is not one mask in your result: `fate < 0.9` is true below 0.8 as well, so the "
    "random words come to stand upon the masks. Their interval has two ends.",
)

QUESTION.mistake(
    "always 15%",
    old="coins < rate",
    new="coins < 0.15",
    hint="You choose 15%, whatever the argument `rate` says.",
)

QUESTION.mistake(
    "the coin the wrong way round",
    old="coins < rate",
    new="coins >= rate",
    hint="You choose the tokens whose coin is rate or more, which is 85% of them. It is those "
    "below.",
)

QUESTION.mistake(
    "the borders",
    old="(fate < 0.8), chosen & (fate >= 0.8) & (fate < 0.9)",
    new="(fate <= 0.8), chosen & (fate > 0.8) & (fate <= 0.9)",
    hint="Only fates that lie on a border go wrong: 0.8 itself is a random word, 0.9 itself stays. "
    "Each interval has its lower end and not its upper one.",
)

QUESTION.mistake(
    "special by their places",
    old="~torch.isin(tokens, torch.tensor(special))",
    new="torch.arange(tokens.shape[1]).expand_as(tokens) % (tokens.shape[1] - 1) > 0",
    hint="You leave the first and the last place of a row alone. With padding behind it, or with "
    "two texts in a row, [SEP] stands elsewhere: look at the ids, not at the places.",
)

QUESTION.mistake(
    "fates for all text",
    old="chosen & (fate < 0.8), chosen & (fate >= 0.8)",
    new="text & (fate < 0.8), text & (fate >= 0.8)",
    hint="You read the fate of every word, and hide 80% of the text. The coin comes first: a fate "
    "counts only where the coin has chosen.",
)

QUESTION.mistake(
    "masks only",
    old="torch.where(swapped, words, tokens).masked_fill(hidden, mask)",
    new="tokens.masked_fill(chosen, mask)",
    hint="You hide every chosen token. One in ten becomes a random word and one in ten stays: "
    "their fates say which.",
)

QUESTION.mistake(
    "labels first",
    old="return read, tokens.masked_fill(~chosen, -100)",
    new="return tokens.masked_fill(~chosen, -100), read",
    hint="Your two results have changed places: what is read comes first, then the labels.",
)
