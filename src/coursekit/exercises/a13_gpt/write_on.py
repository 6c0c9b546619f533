"""Several texts written on at once, with a cache: nothing is read twice."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from coursekit.exercises.a13_gpt.shared import prompts_of, read, small_gpt
from coursekit.exercises.probe import after
from coursekit.exercises.question import Question


def write_on(model, prompts, steps, end, pad):
    """prompts (B, T), padded on the right -> the tokens written behind them, (B, N)."""
    lengths, running = (prompts != pad).sum(dim=1), prompts[:, 0] != pad  # (B,), all True
    places = torch.arange(prompts.shape[1]).expand_as(prompts)
    states, cache = read(model, prompts, places.masked_fill(prompts == pad, -1))
    last = states[torch.arange(len(prompts)), lengths - 1]  # (B, D)
    written, token = [], None
    for step in range(steps):
        if step > 0:
            states, cache = read(model, token[:, None], (lengths + step - 1)[:, None], cache)
            last = states[:, -1]  # (B, D)
        token = (last @ model["output"]).argmax(dim=-1)  # (B,)
        token = token.masked_fill(~running, pad)
        written.append(token)
        running = running & (token != end)
        if not running.any():
            break
    return torch.stack(written, dim=1)


QUESTION = Question(
    name="write_on",
    title="Nothing is read twice",
    points=5,
    difficulty=3,
    minutes=45,
    page="gpt.html#sec-gpt-cache",
    hint="Keep for each row how many real tokens its prompt has, and whether it is still running. "
    "Read the prompts, and find the state of each row's last real token. Then a loop: choose, "
    "write down, see who has ended, and if anybody goes on read what was chosen, one token a row. "
    "Which place has it? Count for a prompt of three tokens: 0, 1, 2, and then?",
    reference=write_on,
    forbidden=("coursekit",),
)


def _written(student: Any, model: int, prompts: Tensor, *others: int) -> Any:
    """Return what was written, and how many tokens of a row each call of `read` has read."""
    found, left = after(student.write_on, small_gpt(model), prompts, *others)
    return {"written": found, "read by each call": left[0]["log"]}


@QUESTION.visible(says="one prompt, nothing ends")
def one_prompt(student):
    return _written(student, 0, prompts_of(4, seed=2), 7, 99, 0)


@QUESTION.visible(says="three prompts of one length, nothing ends")
def one_length(student):
    return _written(student, 2, prompts_of(5, 5, 5, seed=4), 6, 99, 0)


@QUESTION.visible(says="four prompts of several lengths, nothing ends", weight=2)
def several_lengths(student):
    return _written(student, 0, prompts_of(4, 2, 6, 1, seed=5), 6, 99, 0)


@QUESTION.visible(says="rows that end, one after the other", weight=2)
def rows_end(student):
    return _written(student, 0, prompts_of(4, 2, 6, seed=0), 14, 5, 0)


@QUESTION.visible(says="an end within the prompts")
def ends_within(student):
    prompts = torch.tensor([[8, 4, 7, 3, 12], [4, 9, 6, 0, 0], [3, 8, 0, 0, 0]])
    return _written(student, 0, prompts, 9, 8, 0)


@QUESTION.visible(says="one step, and another id for the padding")
def one_step(student):
    return [_written(student, 2, prompts_of(3, 7, 5, seed=7, pad=19), n, 4, 19) for n in (1, 3)]


@QUESTION.visible(says="the prompts stay as they were", weight=0.5)
def prompts_stay(student):
    found, left = after(student.write_on, small_gpt(2), prompts_of(2, 4, seed=8), 5, 99, 0)
    return found, left[1], left[0]["log"]


FIRST = "states, cache = read(model, prompts, places.masked_fill(prompts == pad, -1))"
LAST = "last = states[torch.arange(len(prompts)), lengths - 1]"
NEXT = "states, cache = read(model, token[:, None], (lengths + step - 1)[:, None], cache)"
PLACE = "(lengths + step - 1)[:, None]"
AGAIN = (
    "tokens = torch.cat([prompts, *(one[:, None] for one in written)], dim=1)\n"
    "            more = lengths[:, None] + torch.arange(step)\n"
    "            known = torch.cat([places.masked_fill(prompts == pad, -1), more], dim=1)\n"
    "            states, {} = read(model, tokens, known{})"
)
STOP = "        if not running.any():\n            break\n"
MASK = "token = token.masked_fill(~running, pad)"

QUESTION.mistake(
    "places restart",
    old=PLACE,
    new="torch.zeros_like(token)[:, None]",
    hint="Each token that you write is read at place 0, and so sees only what stands there. Its "
    "place counts on from the prompt.",
)

QUESTION.mistake(
    "places count what is written",
    old=PLACE,
    new="torch.full_like(token, step - 1)[:, None]",
    hint="Your places begin at 0 again behind the prompt. The first token that is written stands "
    "behind the last of its prompt.",
)

QUESTION.mistake(
    "places count the padding",
    old=PLACE,
    new="torch.full_like(token, prompts.shape[1] + step - 1)[:, None]",
    hint="Your places go on from the width of the table, so that in short rows the padding is "
    "counted. Each row goes on from its own last token.",
)

QUESTION.mistake(
    "one place too far",
    old="(lengths + step - 1)",
    new="(lengths + step)",
    hint="Your places are one too high, and one stays empty. Places begin with 0: a prompt of "
    "three tokens has 0, 1 and 2.",
)

QUESTION.mistake(
    "a place twice",
    old="(lengths + step - 1)",
    new="(lengths + step - 2)",
    hint="Your places are one too low: the last token of the prompt and the first that is written "
    "have the same.",
)

QUESTION.mistake(
    "the place stays",
    old="(lengths + step - 1)",
    new="lengths",
    hint="All that you write is read at the place behind the prompt. The place goes up by one with "
    "each step.",
)

QUESTION.mistake(
    "everything read again",
    old=NEXT,
    new=AGAIN.format("_", ""),
    hint="The texts are right, but in each step you read all of them again from their beginning; "
    "the log says so. Hand over the cache, and read what is new.",
)

QUESTION.mistake(
    "everything read again into the cache",
    old=NEXT,
    new=AGAIN.format("cache", ", cache"),
    hint="You hand over the cache and read the whole text once more, so that all of it is there "
    "twice. What the cache holds is not read again: one token a row is new.",
)

QUESTION.mistake(
    "without the cache",
    old=", cache)",
    new=")",
    hint="You read the new token without the cache, and it sees nothing but itself. Hand the cache "
    "over.",
)

QUESTION.mistake(
    "the first cache for ever",
    old=NEXT,
    new=NEXT.replace("cache =", "_ ="),
    hint="You hand over the cache of the prompts in each step, so that what was written since is "
    "not in it. `read` returns a new one; keep it.",
)

QUESTION.mistake(
    "last logits of padding",
    old=LAST,
    new="last = states[:, -1]",
    hint="You take the state at the end of the table, and in short rows that is padding. The token "
    "that follows a prompt is told by the state of its last real token.",
)

QUESTION.mistake(
    "the state of the longest",
    old="lengths - 1]",
    new="int(lengths.min()) - 1]",
    hint="You take the state at the same place in all rows. Each prompt has its own end.",
)

QUESTION.mistake(
    "one state too early",
    old="lengths - 1]",
    new="(lengths - 2).clamp(min=0)]",
    hint="You take the state before the last token of each prompt, which tells the last token "
    "itself. The state of a token tells the one behind it.",
)

QUESTION.mistake(
    "the first state",
    old=LAST,
    new="last = states[:, 0]",
    hint="You take the state of the first token. It has seen nothing but itself; the last real "
    "token of the row has seen all.",
)

QUESTION.mistake(
    "padding is seen",
    old="places.masked_fill(prompts == pad, -1)",
    new="places",
    hint="Your padding has places like real tokens, so that what is written can see it. Its place "
    "is −1, which nobody sees.",
)

QUESTION.mistake(
    "padding at place 0",
    old="(prompts == pad, -1)",
    new="(prompts == pad, 0)",
    hint="Your padding stands at place 0 and is seen by all. Its place is −1, which nobody sees.",
)

QUESTION.mistake(
    "end ignored",
    old=f"{MASK}\n        written",
    new="written",
    hint="You write on behind the end, until all rows have had theirs. What follows the end of a "
    "row is padding.",
)

QUESTION.mistake(
    "end ignored altogether",
    old=f"        {MASK}\n        written.append(token)\n"
    f"        running = running & (token != end)\n{STOP}",
    new="        written.append(token)\n",
    hint="You write on behind the end, and always `steps` tokens. What follows the end of a row is "
    "padding, and when all rows have ended nothing is read or written any more.",
)

QUESTION.mistake(
    "never early",
    old=STOP,
    new="",
    hint="All rows have ended, and you go on to read and write padding. Stop there.",
)

QUESTION.mistake(
    "the first end ends all",
    old="if not running.any():",
    new="if not running.all():",
    hint="You stop as soon as one row has ended. The others go on.",
)

QUESTION.mistake(
    "the end not written",
    old="        written.append(token)\n        running = running & (token != end)\n",
    new="        running = running & (token != end)\n"
    "        written.append(token.masked_fill(~running, pad))\n",
    hint="Where a row ends you write padding. The end itself belongs to the text; padding follows "
    "it.",
)

QUESTION.mistake(
    "filled with the end",
    old="(~running, pad)",
    new="(~running, end)",
    hint="Behind the end of a row you repeat the end. It is filled with `pad`.",
)

QUESTION.mistake(
    "ended by its prompt",
    old="prompts[:, 0] != pad",
    new="(prompts != end).all(dim=1)",
    hint="A row whose prompt has the end in it has ended in yours before it began. Only an end "
    "that is written ends a row.",
)

QUESTION.mistake(
    "the last one read too",
    old=STOP,
    new="        if not running.any() or step == steps - 1:\n"
    f"            read(model, token[:, None], {PLACE}, cache)\n            break\n",
    hint="The texts are right, but you read the last token as well, and nobody asks what follows "
    "it. Read only where there is a next one to choose.",
)

QUESTION.mistake(
    "the prompts too",
    old="torch.stack(written, dim=1)",
    new="torch.cat([prompts, torch.stack(written, dim=1)], dim=1)",
    hint="You return the prompts with what was written behind them. Only what is new is asked for.",
)

QUESTION.mistake(
    "one step too few",
    old="in range(steps)",
    new="in range(max(steps - 1, 1))",
    hint="You write one token too few. The first of the `steps` is the one behind the prompt.",
)

QUESTION.mistake(
    "one step too many",
    old="in range(steps)",
    new="in range(steps + 1)",
    hint="You write one token too many. The first of the `steps` is the one behind the prompt.",
)

QUESTION.mistake(
    "steps across rows",
    old="torch.stack(written, dim=1)",
    new="torch.stack(written)",
    hint="Your result is (N, B), a row for each step. A row for each prompt is asked for, (B, N).",
)

QUESTION.mistake(
    "lists",
    old="torch.stack(written, dim=1)",
    new="torch.stack(written, dim=1).tolist()",
    hint="You return lists. A tensor is asked for.",
)

QUESTION.mistake(
    "drawn",
    old='(last @ model["output"]).argmax(dim=-1)',
    new='torch.multinomial((last @ model["output"]).softmax(dim=-1), 1)[:, 0].clone()',
    hint="You draw the next token. Here the one with the largest logit is taken.",
)

QUESTION.mistake(
    "states for logits",
    old='(last @ model["output"]).argmax(dim=-1)',
    new="last.argmax(dim=-1)",
    hint="You take the largest number of the state for a token. Logits are made of a state by "
    'model["output"].',
)

QUESTION.mistake(
    "token after token of the prompt",
    old=FIRST,
    new="cache, states = None, []\n"
    "    places = places.masked_fill(prompts == pad, -1)\n"
    "    for one in range(prompts.shape[1]):\n"
    "        here = slice(one, one + 1)\n"
    "        found, cache = read(model, prompts[:, here], places[:, here], cache)\n"
    "        states.append(found)\n"
    "    states = torch.cat(states, dim=1)",
    hint="The texts are right, but you read the prompts token after token. They are known from the "
    "beginning: one call reads them all.",
)


@QUESTION.mistake(
    "row after row",
    hint="The texts are right, but you write them one after the other. One call of `read` takes "
    "all rows, and costs hardly more than one row.",
)
def row_after_row(model, prompts, steps, end, pad):
    texts = []
    for prompt in prompts:
        tokens = prompt[prompt != pad][None]
        first = torch.arange(tokens.shape[1])[None]
        states, cache = read(model, tokens, first)
        text = []
        while True:
            text.append(int((states[0, -1] @ model["output"]).argmax()))
            if text[-1] == end or len(text) == steps:
                break
            place = torch.tensor([[tokens.shape[1] + len(text) - 1]])
            states, cache = read(model, torch.tensor([[text[-1]]]), place, cache)
        texts.append(text)
    longest = max(map(len, texts))
    return torch.tensor([text + [pad] * (longest - len(text)) for text in texts])


QUESTION.mistake(
    "padding written into the prompts",
    old=LAST,
    new=f"prompts[prompts == pad] = -1\n    {LAST}",
    hint="The texts are right, but the prompts have changed. Leave what you were given as it is.",
)
