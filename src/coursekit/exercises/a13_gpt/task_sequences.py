"""Tasks as sequences for a model that reads from left to right, and one linear layer on top."""

from __future__ import annotations

import torch

from coursekit.exercises.a13_gpt.shared import read, small_gpt
from coursekit.exercises.probe import after, randn
from coursekit.exercises.question import Question


def task_sequences(task, texts, marks, model, head):
    """A task, its texts, lists of ids -> the sequences that are read, and the scores."""
    start, delimiter, extract = marks
    parts = [texts]
    if task == "similarity":
        parts = [texts, texts[::-1]]
    if task == "choice":
        parts = [[texts[0], answer] for answer in texts[1:]]
    sequences, vectors = [], []
    for first, *others in parts:
        behind = [token for text in others for token in (delimiter, *text)]
        sequence = [start, *first, *behind, extract]
        places = torch.arange(len(sequence))[None]
        states, _ = read(model, torch.tensor([sequence]), places)  # (1, T, D)
        sequences.append(sequence)
        vectors.append(states[0, -1])
    stacked = torch.stack(vectors)
    if task == "choice":
        return sequences, (stacked @ head.T)[:, 0]  # (N,)
    return sequences, stacked.sum(dim=0) @ head.T  # (C,)


QUESTION = Question(
    name="task_sequences",
    title="The task is in the input",
    points=4,
    difficulty=2,
    minutes=30,
    page="gpt.html#sec-gpt-tasks",
    hint="Make the sequences first, a list for each task, and print them: how many are there, and "
    "what is the last token of each? Then read them one by one. The state that has seen all of a "
    "sequence is the one that the linear layer gets; only where the order of two texts means "
    "nothing do two states become one.",
    reference=task_sequences,
    forbidden=("coursekit",),
)


def _asked(
    task: str,
    *texts: list[int],
    scores: int = 3,
    seed: int = 0,
    marks: tuple[int, int, int] = (17, 18, 19),
    dtype: torch.dtype = torch.float32,
) -> tuple[object, ...]:
    """Return a task with its texts, a small GPT, and the layer on top of it."""
    head = randn(scores, 12, seed=seed, dtype=dtype)
    return task, list(map(list, texts)), marks, small_gpt(20 + seed, dtype=dtype), head


@QUESTION.visible(says="classification")
def classification(student):
    return student.task_sequences(*_asked("classification", [3, 4, 5, 6], seed=1))


@QUESTION.visible(says="entailment")
def entailment(student):
    return student.task_sequences(*_asked("entailment", [3, 4, 5], [7, 8], seed=2))


@QUESTION.visible(says="similarity", weight=2)
def similarity(student):
    return student.task_sequences(*_asked("similarity", [3, 9, 4], [5, 6], scores=2, seed=3))


@QUESTION.visible(says="a choice of three answers", weight=2)
def choice(student):
    given = _asked("choice", [3, 4, 5, 6], [7, 8], [9], [10, 3, 11], scores=1, seed=4)
    return student.task_sequences(*given)


@QUESTION.visible(says="other marks, double precision", tolerance=1e-9)
def other_marks(student):
    texts, more = [[8, 9, 8], [11, 12]], {"marks": (5, 2, 3), "dtype": torch.float64}
    return [
        student.task_sequences(*_asked("similarity", *texts, seed=5, **more)),
        student.task_sequences(*_asked("choice", *texts, [12], scores=1, seed=6, **more)),
        student.task_sequences(*_asked("classification", [9, 10], seed=7, **more)),
    ]


@QUESTION.visible(says="the texts stay as they were", weight=0.5)
def texts_stay(student):
    said = []
    for task, scores in (("similarity", 2), ("choice", 1)):
        given = _asked(task, [4, 5, 6], [7, 8], scores=scores, seed=8)
        found, left = after(student.task_sequences, *given)
        said.append((found, left[1]))
    return said


SEQUENCE = "sequence = [start, *first, *behind, extract]"
PARTS = "parts = [[texts[0], answer] for answer in texts[1:]]"
VECTOR = "states[0, -1]"
END = "return sequences, stacked.sum(dim=0) @ head.T"
CHOICE = "return sequences, (stacked @ head.T)[:, 0]"

QUESTION.mistake(
    "one order for similarity",
    old="parts = [texts, texts[::-1]]",
    new="parts = [texts]",
    hint="You read two similar texts in one order. Neither of them is the first: they are read in "
    "both.",
)

QUESTION.mistake(
    "the same order twice",
    old="[texts, texts[::-1]]",
    new="[texts, texts]",
    hint="Both of your sequences for similarity have the same order.",
)

QUESTION.mistake(
    "the other order first",
    old="[texts, texts[::-1]]",
    new="[texts[::-1], texts]",
    hint="Your two sequences have changed places: the order in which the texts were given comes "
    "first.",
)

QUESTION.mistake(
    "letters turned round",
    old="[texts, texts[::-1]]",
    new="[texts, [text[::-1] for text in texts]]",
    hint="In your second sequence each text is written backwards. The two texts change places; "
    "each is read as it is.",
)

QUESTION.mistake(
    "both orders for entailment",
    old='if task == "similarity"',
    new='if task in ("similarity", "entailment")',
    hint="You read entailment in both orders. There the order says which is the premise.",
)

QUESTION.mistake(
    "vectors joined",
    old=END,
    new="return sequences, torch.cat(vectors) @ head.T",
    hint="You join the two vectors to one of twice the width, for which the linear layer has no "
    "weights. They are added, so that no order comes first.",
)

QUESTION.mistake(
    "vectors averaged",
    old="stacked.sum(dim=0)",
    new="stacked.mean(dim=0)",
    hint="You take the mean of the two vectors. The paper adds them.",
)

QUESTION.mistake(
    "vectors multiplied",
    old="stacked.sum(dim=0)",
    new="stacked.prod(dim=0)",
    hint="You multiply the two vectors. They are added, each number to its own.",
)

QUESTION.mistake(
    "the scores of each order",
    old=END,
    new='return sequences, stacked @ head.T if task == "similarity" else stacked[0] @ head.T',
    hint="You return scores for each of the two orders. Their vectors are added before the layer, "
    "so there is one set of scores.",
)

QUESTION.mistake(
    "delimiter missing",
    old="(delimiter, *text)",
    new="text",
    hint="Nothing stands between your two texts. The delimiter says where the one ends.",
)

QUESTION.mistake(
    "the start for a delimiter",
    old="(delimiter, *text)",
    new="(start, *text)",
    hint="You put the start between your texts. The delimiter is a token of its own.",
)

QUESTION.mistake(
    "a delimiter at the end, too",
    old="*behind, extract]",
    new="*behind, *[delimiter] * bool(others), extract]",
    hint="Your sequences have a delimiter behind the last text. It stands between two texts.",
)

QUESTION.mistake(
    "extract at once",
    old=SEQUENCE,
    new="sequence = [start, extract, *first, *behind]",
    hint="Your extract token stands in front, where [CLS] stands in BERT. This model looks back "
    "only: the extract token has to be the last, or it has seen nothing.",
)

QUESTION.mistake(
    "extract in front, its state taken",
    old=f"{SEQUENCE}\n        places = torch.arange(len(sequence))[None]\n        states, _ = read("
    "model, torch.tensor([sequence]), places)  # (1, T, D)\n        sequences.append(sequence)\n"
    f"        vectors.append({VECTOR})",
    new="sequence = [extract, *first, *behind]\n"
    "        places = torch.arange(len(sequence))[None]\n"
    "        states, _ = read(model, torch.tensor([sequence]), places)  # (1, T, D)\n"
    "        sequences.append(sequence)\n"
    "        vectors.append(states[0, 0])",
    hint="Your extract token stands in the place of the start, where [CLS] stands in BERT, and you "
    "take the state there. This model looks back only: it has seen nothing yet.",
)

QUESTION.mistake(
    "extract after each text",
    old="(delimiter, *text)",
    new="(extract, delimiter, *text)",
    hint="You have an extract token behind each text. There is one, at the very end.",
)

QUESTION.mistake(
    "start missing",
    old="[start, *first,",
    new="[*first,",
    hint="Your sequences have no start.",
)

QUESTION.mistake(
    "a start for each text",
    old="(delimiter, *text)",
    new="(delimiter, start, *text)",
    hint="You write the start before each text. It stands once, at the very beginning.",
)

QUESTION.mistake(
    "extract missing",
    old="*behind, extract]",
    new="*behind]",
    hint="Your sequences have no extract token.",
)

QUESTION.mistake(
    "delimiter and extract exchanged",
    old="start, delimiter, extract = marks",
    new="start, extract, delimiter = marks",
    hint="Delimiter and extract token have changed places: `marks` has the start, the delimiter "
    "and the extract token, in this order.",
)

QUESTION.mistake(
    "the state of the start",
    old=VECTOR,
    new="states[0, 0]",
    hint="You take the state of the start, which has seen nothing else. The extract token has "
    "seen all.",
)

QUESTION.mistake(
    "the state before the extract token",
    old=VECTOR,
    new="states[0, -2]",
    hint="You take the state of the last token of the text. That of the extract token is asked "
    "for, the last of the sequence.",
)

QUESTION.mistake(
    "the mean of the states",
    old=VECTOR,
    new="states[0].mean(dim=0)",
    hint="You take the mean of all states. That of the extract token is asked for: it alone has "
    "seen everything.",
)

QUESTION.mistake(
    "answers alone",
    old=PARTS,
    new="parts = [[answer] for answer in texts[1:]]",
    hint="You read the answers without their context.",
)

QUESTION.mistake(
    "all answers in one",
    old=f'    if task == "choice":\n        {PARTS}\n',
    new="",
    hint="You write all answers into one sequence. Each has one of its own, behind the same "
    "context.",
)

QUESTION.mistake(
    "answers before the context",
    old="[texts[0], answer]",
    new="[answer, texts[0]]",
    hint="Your answers stand before the context. They come behind it, as they would be read.",
)

QUESTION.mistake(
    "the context as an answer",
    old="for answer in texts[1:]",
    new="for answer in texts",
    hint="You read the context as one of the answers. They begin with the second text.",
)

QUESTION.mistake(
    "answers added",
    old=f'    if task == "choice":\n        {CHOICE}  # (N,)\n',
    new="",
    hint="You add the vectors of the answers, and get one score for all. Each answer has its own.",
)

QUESTION.mistake(
    "a column of scores",
    old=CHOICE,
    new="return sequences, stacked @ head.T",
    hint="Your scores of the answers are a column, (N, 1). (N,) is asked for.",
)

QUESTION.mistake(
    "a softmax over answers",
    old=CHOICE,
    new="return sequences, (stacked @ head.T)[:, 0].softmax(dim=0)",
    hint="You take a softmax over the answers. The scores before it are asked for; a loss takes "
    "the softmax.",
)

QUESTION.mistake(
    "a softmax everywhere",
    old=f'    if task == "choice":\n        {CHOICE}  # (N,)\n    {END}',
    new='    if task == "choice":\n'
    "        return sequences, (stacked @ head.T)[:, 0].softmax(dim=0)\n"
    "    return sequences, (stacked.sum(dim=0) @ head.T).softmax(dim=0)",
    hint="You take a softmax of the scores. They are asked for as they are.",
)

QUESTION.mistake(
    "texts the wrong way round",
    old="parts = [texts]\n",
    new="parts = [texts[::-1]]\n",
    hint="In entailment your hypothesis stands before the premise. The texts keep their order.",
)

QUESTION.mistake(
    "places restart behind the delimiter",
    old="torch.arange(len(sequence))[None]",
    new="torch.tensor([[*range(len(first) + 1), *range(len(behind) + 1)]])",
    hint="The sequences are right, but your places begin at 0 again with the second text. For the "
    "model it is one sequence: 0, 1, 2, … to its end.",
)

QUESTION.mistake(
    "lists of scores",
    old=f"    {END}",
    new="    return sequences, (stacked.sum(dim=0) @ head.T).tolist()",
    hint="Your scores are a list. A tensor is asked for.",
)

QUESTION.mistake(
    "a batch of one",
    old=END,
    new="return sequences, stacked.sum(dim=0, keepdim=True) @ head.T",
    hint="Your scores are (1, C). There is one example, so (C,) is asked for.",
)

QUESTION.mistake(
    "a single sequence, not a list of them",
    old=END,
    new="return sequences if len(sequences) > 1 else sequences[0], stacked.sum(dim=0) @ head.T",
    hint="Where there is one sequence you return it by itself. A list of sequences is asked for, "
    "of one where there is one.",
)

QUESTION.mistake(
    "scores in single precision",
    old="stacked = torch.stack(vectors)",
    new="stacked, head = torch.stack(vectors).float(), head.float()",
    hint="Your scores are float32, whatever the dtype of the model.",
)

QUESTION.mistake(
    "written into the texts",
    old=SEQUENCE,
    new="first.insert(0, start)\n        sequence = [*first, *behind, extract]",
    hint="You write the start into the text that you were given, so that it is there once more "
    "when the text is read again. Make a new list.",
)

QUESTION.mistake(
    "turned round in place",
    old="parts = [texts, texts[::-1]]",
    new="parts = [list(texts), list(texts[::-1])]\n        texts.reverse()",
    hint="The result is right, but the list of texts has changed: reverse() turns the caller's "
    "own list.",
)
