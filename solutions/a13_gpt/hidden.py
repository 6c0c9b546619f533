"""The hidden cases of assignment 13: students may read what a case `says`, and nothing else."""

import torch

from coursekit.exercises import hidden
from coursekit.exercises.a13_gpt.shared import prompts_of, small_gpt
from coursekit.exercises.probe import after, randn

# --- next_token


@hidden("next_token", says="many rows, many tokens, several settings", weight=2)
def next_many(student):
    settings = [(0.3, 10, 0.95), (1.0, None, 0.5), (2.5, 40, 0.99), (1.3, 7, 1.0), (0.9, 300, 0.8)]
    given = [(3 * randn(16, 200, seed=200 + n), one) for n, one in enumerate(settings)]
    return [student.next_token(logits, *one) for logits, one in given]


@hidden("next_token", says="a flat row beside a steep one")
def next_flat(student):
    logits = torch.stack([randn(12, seed=211) / 10, 9 * randn(12, seed=212)])
    return [student.next_token(logits.clone(), top_p=p) for p in (0.05, 0.5, 0.93)]


@hidden("next_token", says="a temperature near 0, and a very high one")
def next_extreme(student):
    logits = randn(3, 8, seed=213)
    return [student.next_token(logits.clone(), t, 6, 0.9) for t in (0.01, 0.1, 50.0)]


@hidden("next_token", says="logits in the thousands")
def next_thousands(student):
    logits = 2 * randn(4, 9, seed=224)  # whose nuclei end far from 0.9
    return [student.next_token(logits + shift, 0.9, 5, 0.9) for shift in (-5000.0, 5000.0)]


@hidden("next_token", says="top-k before top-p: what top-k has left decides", weight=2)
def next_order(student):
    rows = torch.tensor([[0.22, 0.3, 0.18, 0.2, 0.1], [0.1, 0.12, 0.4, 0.2, 0.18]]).log()
    return [student.next_token(rows.clone(), 1.0, k, p) for k, p in ((2, 0.55), (3, 0.7), (4, 0.6))]


@hidden("next_token", says="a vocabulary of one token, and of two")
def next_small(student):
    pair = torch.tensor([[0.2, 1.3], [2.0, -1.0]])
    return student.next_token(torch.ones(2, 1), 0.5, 3, 0.4), student.next_token(pair, 2.0, 2, 0.6)


@hidden("next_token", says="double precision, the logits as they were", tolerance=1e-10)
def next_double(student):
    return after(student.next_token, 3 * randn(5, 30, seed=215, dtype=torch.float64), 1.2, 20, 0.9)


# --- write_on


def went(student, model, prompts, *others):
    found, left = after(student.write_on, model, prompts, *others)
    return found, left[0]["log"], left[1]


@hidden("write_on", says="eight prompts, some of which end", weight=2)
def on_eight(student):
    prompts = prompts_of(3, 9, 1, 5, 2, 7, 9, 4, seed=220)
    return went(student, small_gpt(2), prompts, 12, 5, 0)


@hidden("write_on", says="a larger model, a long text")
def on_long(student):
    model = small_gpt(31, vocabulary=50, width=24, length=80)
    return went(student, model, prompts_of(11, 6, 17, seed=221, vocabulary=50), 50, 99, 0)


@hidden("write_on", says="every row ends at once")
def on_once(student):
    prompts = torch.tensor([[7, 2], [5, 7], [7, 10], [3, 7]])
    return went(student, small_gpt(2), prompts, 10, 3, 0)


@hidden("write_on", says="prompts of one token, and a single step")
def on_one(student):
    return (
        went(student, small_gpt(2), prompts_of(1, 1, 1, seed=223), 7, 99, 0),
        went(student, small_gpt(4), prompts_of(1, 4, 2, seed=226), 1, 99, 0),
    )


@hidden("write_on", says="ends within the prompts, and another id for the padding")
def on_within(student):
    prompts = torch.tensor([[5, 5, 8, 19, 19], [5, 19, 19, 19, 19], [9, 5, 4, 5, 7]])
    return went(student, small_gpt(0), prompts, 11, 5, 19)


@hidden("write_on", says="a row alone gives what it gives beside others")
def on_alone(student):
    prompts = prompts_of(6, 2, 4, seed=227)
    rows = [went(student, small_gpt(2), prompts[n : n + 1, :k], 8, 99, 0) for n, k in ((1, 2),)]
    return rows, went(student, small_gpt(2), prompts, 8, 99, 0)


# --- bits_per_byte


def lettered(*texts, seed, vocabulary=0, dtype=torch.float32):
    """Each letter of the texts is a token, from 2 on; 1 is the start and 0 the padding."""
    letters = sorted({letter for text in texts for letter in text})
    rows = [[1, *(letters.index(letter) + 2 for letter in text)] for text in texts]
    longest = max(map(len, rows))
    tokens = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    words = vocabulary or len(letters) + 2
    return 3 * randn(*tokens.shape, words, seed=seed, dtype=dtype), tokens, list(texts), 0


@hidden("bits_per_byte", says="many texts of many lengths", weight=2)
def bits_many(student):
    texts = ["in the beginning", "日本語", "où?", "Straße und Übermut", "x", "naïve café", "λόγος"]
    return student.bits_per_byte(*lettered(*texts, seed=230))


@hidden("bits_per_byte", says="an empty text among others")
def bits_empty(student):
    return student.bits_per_byte(*lettered("", "ab é", "", "c", seed=231))


@hidden("bits_per_byte", says="logits that know the text, and some that know it one place off")
def bits_known(student):
    _, tokens, texts, pad = lettered("été", "à la mode", seed=232)
    words = int(tokens.max()) + 1
    ahead = torch.nn.functional.one_hot(tokens.roll(-1, dims=1), words).float()
    here = torch.nn.functional.one_hot(tokens, words).float()
    return [student.bits_per_byte(9 * one, tokens, texts, pad) for one in (ahead, here)]


@hidden("bits_per_byte", says="logits in the tens of thousands")
def bits_huge(student):
    logits, *rest = lettered("grün", "blau", seed=233)
    return student.bits_per_byte(20_000 * logits + 50_000, *rest)


@hidden("bits_per_byte", says="other ids for start and padding, alike and not")
def bits_ids(student):
    logits, tokens, texts, _ = lettered("kein Wörterbuch", "ja", "nein", seed=234)
    same = tokens.masked_fill(tokens == 1, 0)
    wide = lettered("abc", "ñ", seed=235, vocabulary=40)
    turned = wide[1].masked_fill(wide[1] == 0, 39)
    return [
        student.bits_per_byte(logits.clone(), same, list(texts), 0),
        student.bits_per_byte(wide[0], turned, wide[2], 39),
    ]


@hidden("bits_per_byte", says="double precision; what was given stays", tolerance=1e-10)
def bits_double(student):
    return after(student.bits_per_byte, *lettered("één", "twee", seed=236, dtype=torch.float64))


# --- task_sequences


def task(name, *texts, scores, seed, marks=(17, 18, 19), width=12, **more):
    head = randn(scores, width, seed=seed, **more)
    return name, list(map(list, texts)), marks, small_gpt(seed, width=width, **more), head


@hidden("task_sequences", says="longer texts, several classes", weight=2)
def task_longer(student):
    long, other = [3 + n % 9 for n in range(14)], [4 + n % 5 for n in range(8)]
    return [
        student.task_sequences(*task("classification", long, scores=5, seed=240)),
        student.task_sequences(*task("entailment", long, other, scores=3, seed=241)),
        student.task_sequences(*task("similarity", long, other, scores=2, seed=242)),
    ]


@hidden("task_sequences", says="a choice of five, and of one")
def task_choices(student):
    answers = [[3 + n, *range(5, 5 + n)] for n in range(5)]
    return [
        student.task_sequences(*task("choice", [8, 9], *some, scores=1, seed=243))
        for some in (answers, answers[:1])
    ]


@hidden("task_sequences", says="texts of one token, and twice the same text")
def task_short(student):
    return [
        student.task_sequences(*task("similarity", [6], [6], scores=3, seed=244)),
        student.task_sequences(*task("entailment", [4], [5], scores=1, seed=245)),
        student.task_sequences(*task("choice", [7], [7], [7], scores=1, seed=246)),
    ]


@hidden("task_sequences", says="other marks, another width")
def task_marks(student):
    more = {"marks": (0, 9, 4), "width": 20}
    return [
        student.task_sequences(*task("similarity", [5, 6, 7], [8], scores=4, seed=247, **more)),
        student.task_sequences(*task("choice", [5, 6], [8], [7, 7], scores=1, seed=248, **more)),
    ]


@hidden("task_sequences", says="double precision", tolerance=1e-10)
def task_double(student):
    more = {"scores": 3, "dtype": torch.float64}
    return [
        student.task_sequences(*task("similarity", [5, 6, 7], [8, 9], seed=249, **more)),
        student.task_sequences(*task("classification", [5, 6, 7], seed=250, **more)),
    ]


@hidden("task_sequences", says="the texts stay as they were", weight=0.5)
def task_stay(student):
    said = []
    for name, count in (("classification", 1), ("entailment", 2), ("similarity", 2)):
        given = task(name, *[[3, 4, 5], [6, 7]][:count], scores=2, seed=251)
        read, (_, texts, *_) = after(student.task_sequences, *given)
        said.append((read, texts))
    return said


# --- power_law


def grown(sizes, points, seed, floor=1.0):
    """Runs whose curves cross, each with more embeddings than a small model can bear."""
    runs = []
    for place, size in enumerate(sizes):
        noise = randn(points, seed=seed + place).tolist()
        curve = []
        for n, extra in enumerate(noise):
            tokens = 20_000 * 3**n
            loss = floor + (5e5 / size) ** 0.2 + (4e5 / tokens) ** 0.5
            curve.append((tokens, round(loss * (1 + 0.02 * extra), 4)))
        embeddings = 30_000 + int(2 * size**0.7)
        runs.append((size + embeddings, embeddings, curve))
    return runs


@hidden("power_law", says="six sizes, long curves", weight=2, tolerance=1e-4)
def law_six(student):
    sizes = (3_000, 12_000, 50_000, 200_000, 800_000, 3_200_000)
    return student.power_law(grown(sizes, 9, seed=260))


@hidden("power_law", says="a law without noise", tolerance=1e-4)
def law_exact(student):
    runs = []
    for size in (100, 1_000):
        curve = [(n, 40 * (6 * size * n) ** -0.25) for n in (1_000, 3_000, 9_000)]
        runs.append((size + 500, 500, curve))
    return student.power_law(runs)


@hidden("power_law", says="losses below 1, and computes of many digits", tolerance=1e-4)
def law_low(student):
    runs = [
        (2_500_000_000, 500_000_000, [(10**10, 0.9), (10**11, 0.7), (10**12, 0.61)]),
        (70_000_000_000, 6_000_000_000, [(10**10, 0.72), (10**11, 0.52), (10**12, 0.45)]),
    ]
    return student.power_law(runs)


@hidden("power_law", says="a run that never reaches the frontier", tolerance=1e-4)
def law_useless(student):
    runs = grown((10_000, 100_000, 1_000_000), 6, seed=280)
    useless = (600_000, 100_000, [(n, 1.6 * loss) for n, loss in runs[1][2]])
    return student.power_law([runs[1], useless, runs[2], runs[0]])


@hidden("power_law", says="many points of equal compute and of equal loss", tolerance=1e-4)
def law_equal(student):
    def runs():
        return [
            (1_100, 100, [(4_000, 6.0), (8_000, 5.0), (16_000, 5.0), (32_000, 4.5)]),
            (2_400, 400, [(2_000, 6.5), (4_000, 4.8), (8_000, 4.8), (16_000, 3.0)]),
            (4_900, 900, [(1_000, 5.5), (2_000, 5.1), (4_000, 4.0), (8_000, 3.2)]),
        ]

    return [student.power_law(some) for some in (runs(), runs()[::-1], runs()[:1])]


@hidden("power_law", says="points in no order within a run", tolerance=1e-4)
def law_shuffled(student):
    runs = grown((8_000, 90_000), 5, seed=290)
    return student.power_law([(p, e, curve[::-1]) for p, e, curve in runs])


@hidden("power_law", says="the runs stay as they were", weight=0.5, tolerance=1e-4)
def law_stays(student):
    return after(student.power_law, grown((90_000, 8_000), 4, seed=295))
