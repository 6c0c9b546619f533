"""The hidden cases of assignment 11: students may read what a case `says`, and nothing else."""

import torch

from coursekit.exercises import hidden
from coursekit.exercises.probe import after, randn

# --- fill_inputs


def corpus(seed, documents, longest, empty=0.0):
    """Return documents of up to six sentences, of 1 to `longest` ids each; some have none."""
    chance = torch.Generator().manual_seed(5000 + seed)

    def whole(low, high):
        return int(torch.randint(low, high + 1, (), generator=chance))

    made, next_id = [], 300
    for _ in range(documents):
        document = []
        for _ in range(whole(1, 6) if torch.rand((), generator=chance) >= empty else 0):
            size = whole(1, longest)
            document.append(list(range(next_id, next_id + size)))
            next_id += size
        made.append(document)
    return made


@hidden("fill_inputs", says="many documents, several lengths", weight=2)
def fill_many(student):
    return [student.fill_inputs(corpus(length, 30, 6), length) for length in (8, 9, 13, 30)]


@hidden("fill_inputs", says="many sentences that no input can hold", weight=2)
def fill_long(student):
    return [student.fill_inputs(corpus(length, 12, 14), length) for length in (5, 7, 10)]


@hidden("fill_inputs", says="the shortest inputs: one id of text each")
def fill_short(student):
    return student.fill_inputs(corpus(41, 3, 3), 3)


@hidden("fill_inputs", says="everything in one input that just has room")
def fill_one(student):
    return [
        student.fill_inputs([[[31, 32], [33]], [[34, 35, 36]], [[37]]], size)
        for size in (10, 11, 12)
    ]


@hidden("fill_inputs", says="many empty documents, and nothing else")
def fill_empty(student):
    return [
        student.fill_inputs(documents, 9)
        for documents in (corpus(42, 20, 4, empty=0.6), [[], []], [[], [[31]], [], [[32, 33]]])
    ]


@hidden(
    "fill_inputs", says="the ids of another vocabulary, text that has 0 and 2, a document twice"
)
def fill_other(student):
    documents = [[[0, 2], [2, 5, 0]], [[7]], [[7]]]
    return [student.fill_inputs(some, 7, 98, 99) for some in (documents, documents[1:])]


@hidden("fill_inputs", says="the documents are left as they were")
def fill_keeps(student):
    return after(student.fill_inputs, corpus(43, 6, 9), 8)


@hidden("fill_inputs", says="inputs that share no list")
def fill_apart(student):
    return student.fill_inputs([[[61, 62, 63]], [[64, 65, 66]], [[67, 68, 69]]], 6)


# --- fresh_masks


def table(rows, length, seed):
    """Return inputs with <s> 0 first, </s> 2 within and behind, and padding 1."""
    chance = torch.Generator().manual_seed(6000 + seed)
    tokens = torch.randint(10, 5000, (rows, length), generator=chance)
    ends = torch.randint(length // 2, length, (rows,), generator=chance)
    places = torch.arange(length)
    tokens[places > ends[:, None]] = 1
    tokens[(places == ends[:, None]) | (places == length // 4)] = 2
    tokens[:, 0] = 0
    return tokens


@hidden("fresh_masks", says="a text of many rows, ten epochs", weight=2)
def masks_many(student):
    return [student.fresh_masks(table(20, 64, 1), [0, 1, 2, 3], 50264, n, 9) for n in range(10)]


@hidden("fresh_masks", says="ten copies over thirty epochs, as RoBERTa's static masks", weight=2)
def masks_copies(student):
    return [
        student.fresh_masks(table(3, 16, 2), [0, 1, 2], 4, n, 1, copies=10) for n in range(0, 30, 3)
    ]


@hidden("fresh_masks", says="other special ids, that of the mask among them")
def masks_special(student):
    tokens = table(4, 30, 3)
    tokens[:, 5], tokens[:, 9] = 4, 4999
    return student.fresh_masks(tokens, [2, 4999, 0, 4, 1], 4, 2, 8, rate=0.8)


@hidden("fresh_masks", says="rates 0 and 1")
def masks_rates(student):
    return [
        student.fresh_masks(table(2, 12, 4), [0, 1, 2], 4, 3, 6, rate=rate) for rate in (0.0, 1.0)
    ]


@hidden("fresh_masks", says="a coin that equals the rate")
def masks_coin(student):
    tokens = torch.arange(20, 28)[None]
    coins = torch.rand(1, 8, generator=torch.Generator().manual_seed(1000 * 3 + 2))
    return student.fresh_masks(tokens, [0, 1, 2], 4, 2, 3, rate=coins[0, 4].item())


@hidden("fresh_masks", says="large seeds and late epochs")
def masks_late(student):
    given = [0, 1, 2], 4
    runs = [(999, 41), (40, 123), (123, 40)]
    return [student.fresh_masks(table(2, 20, 5), *given, *run, rate=0.5) for run in runs]


@hidden("fresh_masks", says="the text is left as it was")
def masks_keep(student):
    return after(student.fresh_masks, table(3, 15, 6), [0, 1, 2], 4, 0, 2, 4, 0.7)


# --- equal_tokens


def lengths(seed, rows, width):
    """Return where the tokens are, in rows of random lengths."""
    chance = torch.Generator().manual_seed(9000 + seed)
    sizes = torch.randint(2, width + 1, (rows,), generator=chance)
    return torch.arange(width) < sizes[:, None]


@hidden("equal_tokens", says="many rows, many batch sizes", weight=2)
def equal_many(student):
    return student.equal_tokens(
        lengths(1, 128, 40), 1_000_003, [8, 512, 32, 33, 128, 1], base_batch=64, base_rate=2e-3
    )


@hidden("equal_tokens", says="the base batch and rate unless told otherwise")
def equal_default(student):
    return student.equal_tokens(lengths(2, 16, 9), 54_321, [256, 100])


@hidden("equal_tokens", says="budgets that are used to the last token", weight=2)
def equal_exact(student):
    keep = torch.arange(6) < torch.tensor([2, 4, 5, 3])[:, None]  # 3.5 on average
    return [student.equal_tokens(keep, 7 * 40 * n, [4, 10, 20], 10, 1e-3) for n in (1, 2, 5)]


@hidden("equal_tokens", says="rows that are full, and rows with one token")
def equal_edges(student):
    full, one = torch.ones(5, 8, dtype=torch.bool), torch.arange(8).expand(4, 8) < 1
    return [student.equal_tokens(keep, 1_000, [3, 7], 3, 0.1) for keep in (full, one)]


@hidden("equal_tokens", says="no run at all, and the same size twice")
def equal_none(student):
    keep = lengths(3, 8, 12)
    return student.equal_tokens(keep, 999, [], 4, 0.1), student.equal_tokens(
        keep, 999, [5, 5], 4, 0.1
    )


@hidden("equal_tokens", says="what was given is left as it was")
def equal_keeps(student):
    return after(student.equal_tokens, lengths(4, 8, 7), 503, [6, 2, 4], 2, 0.01)


# --- find_translation


def spoken(sizes):
    return torch.arange(max(sizes) + 2) < torch.tensor(sizes)[:, None]


def languages(count, width, seed, noise, dtype=torch.float32):
    """Return states and keeps of `count` sentences in two languages, some of them loud."""
    talkers = torch.Generator().manual_seed(seed)
    shared = randn(count, 1, width, seed=seed) + 0.7 * randn(1, 1, width, seed=seed + 1)
    found = []
    for n in range(2):
        keep = spoken(torch.randint(2, 12, (count,), generator=talkers).tolist())
        shape = count, keep.shape[1], width
        states = shared + noise * randn(*shape, seed=seed + 2 + n)
        states[:, 0] = 2 * randn(count, width, seed=seed + 4 + n)
        states = states * (0.1 + 2 * randn(count, 1, 1, seed=seed + 6 + n).abs())
        found += [torch.where(keep[..., None], states, 15 * randn(*shape, seed=seed + 8 + n)), keep]
    return [x.to(dtype) if x.is_floating_point() else x for x in found]


@hidden("find_translation", says="sixty verses", weight=2)
def find_sixty(student):
    return student.find_translation(*languages(60, 16, 500, 3.0))


@hidden("find_translation", says="verses that are hard to tell apart", weight=2)
def find_hard(student):
    return [student.find_translation(*languages(15, 4, 520 + 20 * n, 2.0)) for n in range(3)]


@hidden("find_translation", says="one verse only")
def find_one(student):
    return student.find_translation(*languages(1, 5, 600, 1.0))


@hidden("find_translation", says="both languages have equally many tokens")
def find_square(student):
    keep = spoken([5, 3, 4, 6, 2])
    a, b = randn(5, 8, 6, seed=621), randn(5, 8, 6, seed=622)
    return student.find_translation(a, keep, a + b, keep.flip(0))


@hidden("find_translation", says="double precision, nan at padding")
def find_double(student):
    a, real_a, b, real_b = languages(9, 5, 640, 2.0, dtype=torch.float64)
    a[~real_a], b[~real_b] = torch.nan, torch.inf
    return student.find_translation(a, real_a, b, real_b)


@hidden("find_translation", says="all right one way, not all the other")
def find_one_way(student):
    keep = spoken([1, 1, 1])[:, :1]
    a = torch.tensor([[1.0, 0.0], [1.0, 0.2], [1.0, 0.4]])[:, None]
    b = torch.tensor([[1.0, -3.0], [3.0, 0.5], [0.1, 0.2]])[:, None]
    return student.find_translation(a, keep, b, keep.clone())


@hidden("find_translation", says="opposite directions, very short vectors")
def find_opposite(student):
    a, keep_a, b, keep_b = languages(8, 3, 660, 0.5)
    return student.find_translation(1e-3 * a, keep_a, -b, keep_b)


@hidden("find_translation", says="what was given is left as it was")
def find_keeps(student):
    return after(student.find_translation, *languages(4, 6, 680, 1.0))


# --- answer_f1


def pairs(*texts):
    return [text.split("|") for text in texts]


@hidden("answer_f1", says="answers that share some of their words", weight=2)
def f1_some(student):
    texts = pairs(
        "the king of Babylon|Nebuchadnezzar king of Babylon",
        "forty days and forty nights|forty days",
        "he went down into Egypt|down to Egypt",
        "a land of wheat, and barley, and vines|wheat and barley",
        "nobody|three hundred men",
    )
    return [student.answer_f1(*both) for both in texts]


@hidden("answer_f1", says="words that come several times", weight=2)
def f1_bags(student):
    texts = pairs("la la la la|la la", "a b a b b|b b b", "so so as so|so as as", "x y x|y x y")
    return [student.answer_f1(*both) for both in texts]


@hidden("answer_f1", says="quotation marks, brackets, apostrophes, hyphens", weight=2)
def f1_marks(student):
    texts = pairs(
        '(The) "Lord"|lord',
        "sister-in-law|sisterinlaw",
        "sister-in-law|sister in law",
        "Solomon's temple;|solomons temple",
        "3,000 men|3000 men",
        "the_ark|ark",
        "[An] [A]|x",
        "vitamin-A the-end|vitamina theend",
        "£5 – or €6|5 or 6",
    )
    return [student.answer_f1(*both) for both in texts]


@hidden("answer_f1", says="articles, and words that have one inside")
def f1_articles(student):
    texts = pairs(
        "THE theatre|theatre", "an ant|ant", "Athena|the na", "banana a|banana", "a the an|an"
    )
    return [student.answer_f1(*both) for both in texts]


@hidden("answer_f1", says="without words on one side or both")
def f1_empty(student):
    texts = pairs("?|", "|?", "The!|a", "a|Job", "Job|…", "|")
    return [student.answer_f1(*both) for both in texts]


@hidden("answer_f1", says="much white space")
def f1_spaces(student):
    texts = pairs("\n to\tthe  sea |to sea", " |x", "a - b|b", "one  two|two one")
    return [student.answer_f1(*both) for both in texts]


@hidden("answer_f1", says="other languages: their articles stay")
def f1_languages(student):
    texts = pairs(
        "la maison|maison", "Das Haus|haus", "à la fin|la fin", "«Élie»|élie", "Straße|strasse"
    )
    return [student.answer_f1(*both) for both in texts]
