"""Numbers that the pages around the chapters type, held against what they speak of."""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import get_args

import torch

from coursekit.analysis.energy import BACKWARD, FORWARD, PUBLISHED
from coursekit.check import compiled
from coursekit.data.commands import (
    LONGEST,
    SHOWN,
    TRAINED,
    Split,
    commands,
    phrases,
    split_commands,
)
from coursekit.data.splits import SHARES
from coursekit.data.verses import verses
from coursekit.decoding import fast_step as quick
from coursekit.figures.live.valley_walks import SHOWN as FIRST_STEPS
from coursekit.models import GPT, GPTConfig
from coursekit.tokenizers import unigram
from coursekit.training.translation import LONGER
from coursetools.book.lecture_map import DECKS
from coursetools.book.routes import WORDS_A_MINUTE
from coursetools.experiments import forecast, rehearsal
from coursetools.notebooks.imports import read_notebook

ROOT = Path(__file__).resolve().parents[2]


def cell(notebook: str, name: str) -> str:
    """Return the code of the cell `name` in `notebooks/NOTEBOOK.ipynb`."""
    path = ROOT / "notebooks" / f"{notebook}.ipynb"
    (found,) = (one for one in read_notebook(path)["cells"] if one.get("id") == name)
    return "".join(found["source"])


def numbers_in_calls(code: str, function: str) -> list[list[object]]:
    """Return the literal arguments of each call of `function` in `code`."""
    calls = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    named = (call for call in calls if ast.unparse(call.func).split(".")[-1] == function)
    return [[arg.value for arg in call.args if isinstance(arg, ast.Constant)] for call in named]


def page(name: str) -> str:
    return (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")


def test_the_page_on_data():
    assert SHARES == {"train": 0.8, "valid": 0.1, "test": 0.1}  # so cut at 0.8 and 0.9
    assert 'test = set(shuffled[: len(parts["test"])])' in cell("data", "careless-split")
    assert numbers_in_calls(cell("data", "scenes"), "scenes") == [["train", 4]]


def test_the_page_on_parameters():
    with torch.device("meta"):
        largest = GPT(GPTConfig.gpt2_xl())
    assert round(4 * sum(p.numel() for p in largest.parameters()) / 1e9) == 6
    small = GPTConfig.gpt2()
    assert (small.vocabulary, small.width) == (50_257, 768)
    assert round(50_257 * 768 / 1e6, 1) == 38.6
    names = ast.literal_eval(cell("parameters", "share").split("\n")[0].removeprefix("names = "))
    assert len(names) == 4


def test_the_home_page():
    assert WORDS_A_MINUTE == 150
    detector = json.loads((ROOT / "results/detector/cpu.json").read_text())
    assert detector["settings"]["queries"] == 12
    doors = page("index").split("## Four doors")[1].split("\n## ")[0]
    assert doors.count("{grid-item-card}") == 4
    matrix = re.findall(r"python: \[([^\]]*)\]", (ROOT / ".github/workflows/ci.yml").read_text())
    tried = sorted(version for row in matrix for version in re.findall(r"3\.\d+", row))
    assert (tried[0], tried[-1]) == ("3.11", "3.13")


def test_the_page_on_speed():
    assert quick.PARTS == 8
    rows = (ROOT / "benchmarks/generation.py").read_text(encoding="utf-8")
    assert '"greedy, 16 prompts"' in rows
    windows = (ROOT / "benchmarks/shifted_windows.py").read_text(encoding="utf-8")
    assert re.search(r"^WINDOW\b.*= 7\b", windows, re.MULTILINE) and 7 * 7 == 49


def test_the_lecture_map():
    assert len(DECKS) == 5


def test_the_chapter_on_masking():
    def says(name: str, *texts: str) -> bool:
        return all(text in cell("masking", name) for text in texts)

    assert says("train", "steps=300, batch=12", "lr=3e-3") and says("language-model", "width=64")
    assert says("language-model", "depth=2", "heads=2") and says("window-drawn", "scores(9, 2)")
    assert says("language-model", "window = 48\n") and 4095 - 63 * 64 == 63 < 64
    drawn = ast.parse(cell("masking", "longformer"))
    (patterns,) = (node for node in ast.walk(drawn) if isinstance(node, ast.Dict))
    assert len(patterns.keys) == 4
    assert says("hearing", "T, draw = 64,", "radius=3", "random_keys(T, 6,", "tokens=[0]")
    assert says("reach", "T, radius, middle = 97, 4, 48", "(1, 2, 4, 8)", ">= 0.9)")
    assert says("empty", "torch.randn(9, 9)") and says("combined", "left = torch.tensor([[0, 0, 0,")
    assert says("count-pairs", "radius = 64\n", "(512, 4096)")
    assert says("measure-run", "lengths, block = (512, 1024, 2048, 4096), 64")


def test_the_chapter_on_scaling():
    def says(name: str, *texts: str) -> bool:
        return all(text in cell("scaling", name) for text in texts)

    widths = "(1, 4, 16, 64, 128, 512)"  # six of them
    assert says("measure-the-variance", "samples = 10_000\n", f"in {widths}:", "< 4 * error")
    assert says("saturation", "widths, keys = (4, 16, 64, 256, 1024), 16", "randn(2000, 1,")
    assert math.log2(16) == 4 and says("saturation-figure", "100 * largest")
    assert says("gradient-at-the-query", "[:200].sum()")  # one in ten of 2,000
    assert says("temperature", "five = torch.tensor([1.2, 0.7, 0.1, -0.4, -1.3])", "(-2, 2, 81)")
    assert says("ways-to-score", "networks, symbols, shown, batch = 5, 16, 8, 32")
    assert says("train-lookups", "steps=300")
    assert says("second-chances-shown", "> 0.9)") and says("second-chances", "steps=900")
    assert says("run-lookups", "learned_widths = (4, 32, 128, 512)")


def test_the_chapter_on_kernels():
    def says(name: str, *texts: str) -> bool:
        return all(text in cell("kernels", name) for text in texts)

    assert says("bahdanau-train", "hidden=32", "steps=300", "0.01,", 'sample("train", 64,')
    assert says("lookup-by-hand", "[3.4, 2.6]", "torch.tensor([[3.4, 2.2],", "-squared / 2")
    assert says("lookup-by-hand", "# (2, 6): near is high") and round(-(0.4**2) / 2, 2) == -0.08
    assert says("regression-data", "torch.rand(50,") and says("regression-underflow", "h = 0.001\n")
    assert says("regression-three", "bandwidths = [0.03, 0.3, 3.0]")
    assert (
        len(ast.literal_eval(cell("kernels", "regression-flipbook").split(" = ")[1].split("\n")[0]))
        == 10
    )
    assert says("regression-distance-by-hand", "[1.36, 3.40, 6.05]", "4.25 -", "/ 0.3")
    six = page("kernels").split("| kernel | $f(q, k)$ |")[1].split("\n\n")[0]
    assert six.count("\n| ") == 1 + 6 and says("six-planes", '"general (quarter turn)"')
    assert says("six-relations", "many = torch.randn(1000, 8)")
    assert says("bahdanau-train", "dates=1 + step % 3") and says(
        "bahdanau-accuracy", "[1, 2, 3, 4, 5]"
    )
    assert says("bahdanau-cliff", "12 are wanted") and 3 * 4 == 12
    assert says("bahdanau-accuracy", '"test", 200,') and says(
        "bahdanau-by-date", "# (B, 9): three dates"
    )
    assert says("bahdanau-suspected", "steps=900", "for n in (4, 5)") and 900 == 3 * 300
    assert says("pronoun-data", "draw_from = ((0, 10),", "torch.randn(29, 16,")
    ways = [
        line for line in cell("kernels", "self-three-ways").split("\n") if "written_out" in line
    ]
    assert len(ways) == 2 and says(
        "self-three-ways", "attention(Q, K, V)", "module(x)", "F.scaled_dot"
    )
    assert says("properties-hull", "torch.randn(300, 3)") and says(
        "properties-linear", "T, D = 100, 64"
    )
    assert says("properties-linear", "x, other = torch.randn(6, 4)")


def test_the_chapter_on_heads():
    def says(name: str, *texts: str) -> bool:
        return all(text in cell("heads", name) for text in texts)

    assert says("task", "KEYS, VALUES, ASKED, WIDTH = 12, 8, 4, 32\n")
    assert says("sweep", "in (1, 2, 4, 8, 16)}", "range(3)") and says("one-query", "in (1, 4)}")
    assert says("unordered", "best_guess(4)") and says("loop-equal", "heads=16")
    assert says("train", "steps=300") and says("loop-equal-shown", "heads=4)", "randn(1, 3, 8)")
    assert says("train", "TEST = draw(256, 16,")
    assert says("roles", "eight = models[8]")
    assert says(
        "prune", '"greedy"', '"least important first"', '"random"', '"most important first"'
    )
    assert says("prune-figure", '_5", mean[3])', '_4", mean[4])')  # of eight heads
    translator = json.loads((ROOT / "results/translation/cpu.json").read_text())["settings"]
    assert (translator["heads"], translator["depth"]) == (4, 2)
    assert says("translator-load", "test[:192]")
    assert says("translator-prune", "verses=test[:96]", "test[96:128]", "heads=8")
    assert says("rank", "of {WIDTH // 8} in a head") and says("rank", "for 90%") and 32 // 8 == 4
    assert says("cache-equal", "range(64)", "width=256", "torch.randn(1, 1024, 256)")
    assert says("grouped", "numbers * 4096 * 4096 * 32 * 2", '("mha", 32), ("gqa", 8)')
    assert says("gradient", "width=64") and says("gradient-figure", "20, 50, 100]", "range(5)")
    assert says("gradient-figure", "chain(0.9)") and says("clock-figure", "if n in (64, 512)")
    assert says("table-one", "n, d = 50, 512") and 512 / 64 == 8


def test_the_chapter_on_blocks():
    def says(name: str, *texts: str) -> bool:
        return all(text in cell("blocks", name) for text in texts)

    assert says("pure-attention", "torch.randn(1, 32, 64,", "Stack(depth=6, width=64")
    assert says("ffn-by-hand", "hidden=4 * width") and says("parameter-share", "width == 512")
    assert says("work-per-token", "d = 512\n") and says("wide-or-deep-run", "hidden=4096")
    assert says("wide-or-deep-run", "hidden=128) for _ in range(32)") and 32 * 128 == 4096
    assert says("coin-tosses", "100, 1_000, 10_000)") and says("coin-tosses-shown", "rms[100])")
    assert says("residual-gradient", "depth=12")
    assert says("layernorm-by-hand", "[token, 100 * token, token + 5]")
    assert says("norms-compared", "torch.randn(1, 10, 8)", "louder[:, 5:] *= 10")
    assert says(
        "gradients-by-depth", '("post", "pre", "normformer", "dlcl")', "range(4)", "norm, 12,"
    )
    assert says("gradients-by-depth", "(2, 4, 8, 16, 32)") and says(
        "stream-growth-shown", "size[12]"
    )
    assert says("sorter", "layers=10, width=32, length=8")
    arms = cell("blocks", "run-the-arms")
    assert arms.count("-LN") == 5 and "1.5e-3, 0)" in arms and "5e-3, 40)" in arms
    assert says("collapse-by-parts", "seeds=range(4)", "depth=12")
    assert says("collapse-loud", "measure_loud(8)", "depth=12")
    layers = ("attention", "attention, FFN", "attention, norm", "attention, residual")
    assert all(says("one-layer", f'    "{layer}": ') for layer in layers) and len(layers) == 4
    assert says("three-hundred-digits", "prec = 300", "range(6)")
    assert says("collapse-in-training-shown", "LOOK.index(5)")


def test_the_chapter_on_translation():
    def says(name: str, *texts: str) -> bool:
        return all(text in cell("translation", name) for text in texts)

    assert says("smoothing-run", "V = 2000\n") and says("train-digits", "steps=500")
    assert says("digits-data", "LENGTHS = range(4, 11)") and says("cached", "longest=11")
    done = json.loads((ROOT / "results/translation/cpu.json").read_text())
    assert all(len(rows) == done["settings"]["looks"] == 10 for rows in done["curves"].values())
    examples = done["tables"]["examples"]
    assert len(examples) == 10 and done["tables"]["lengths"][-1]["to"] == 20
    training = (ROOT / "notebooks/training/translation.ipynb").read_text(encoding="utf-8")
    assert "average_checkpoints(history.kept[-5:])" in training
    assert LONGER == 20
    assert any(row["beams"] == 4 and row["alpha"] == 0.6 for row in done["tables"]["beams"])
    # what the page quotes, some of it in the beginning of a sentence of its own
    written = [row["average"] for row in examples]
    ours = "L'Éternel me connaît", "J'ai envoyé", "vous vous vous vous", "une peau", "conduits!"
    ours += "selon ta bonté, selon ta bonté", "dans les yeux de l'Éternel", "une lumière"
    ours += "les anciens", "et les scribes", "Mais vous, frères", "dans la maison de l'Éternel"
    assert [text for text in ours if not any(text in one for one in written)] == []
    both = [f"{row['average']} {row['rnnsearch']}" for row in examples]
    assert all(any(word in one for one in both) for word in ("Là-diera", "Chaisse", "choseil"))
    (lost,) = (row for row in examples if "Moab" in row["english"])
    assert "moab" not in (lost["average"] + lost["rnnsearch"]).lower()
    assert "moab" in lost["word_by_word"].lower()


def test_the_page_on_ablations():
    runs = json.loads((ROOT / "results/ablations/cpu-table3.json").read_text())["runs"]
    set_to = {run["name"]: run["settings"] for run in runs}
    assert (set_to["base"]["heads"], set_to["base"]["depth"]) == (8, 3)
    assert set_to["C depth=8"]["depth"] == 4 and set_to["D dropout=0.2"]["dropout"] == 0.2
    assert set_to["A heads=32"]["heads"] == 32
    suspects = json.loads((ROOT / "results/ablations/cpu-suspects.json").read_text())["runs"]
    assert {run["settings"]["depth"] for run in suspects if "four blocks" in run["name"]} == {4}


def test_the_chapter_on_limits():
    def says(name: str, *texts: str) -> bool:
        return all(text in cell("limits", name) for text in texts)

    known = {training.name: training for training in PUBLISHED}
    base, palm = known["Transformer base"], known["PaLM"]
    assert (base.devices, base.pue, round(8 * base.watts)) == (8, 1.58, 1416)
    assert palm.parameters == 540e9 and palm.device_hours == 6144 * 24 * (50 + 14 / 2)
    assert says("energy-numbers", "552 / 24.7") and round(24.7) == 25
    assert says("parts-numbers", "(") and GPTConfig.gpt2().vocabulary == 50_257
    assert says("remedies", "CARD, large = 16 * GB") and says("parts", "2**30, 8, 512")
    assert says("long-count", "D, HEADS, RADIUS = 768, 12, 256")
    assert says("kept-shown", "kept_in_block(768, 12, 512)") and (FORWARD, BACKWARD) == (2, 4)
    assert says("step", "width=64, depth=3", "(4, 128)")
    assert (LONGEST, TRAINED, SHOWN) == (22, 0.8, 0.1) and len(get_args(Split)) == 4
    assert says("long-numbers", "for T in (512, 4096, 32768, 131072)")
    assert len(phrases()) == 102 and len(commands()) == 102 + 2 * 102**2
    ratio = Counter(command.text for command in split_commands("jump")[0])["jump"]
    assert round(len(split_commands("jump")[0]) / ratio) == 10
    assert cell("limits", "try").split("MINE = ")[1].count('"') == 2 * 6
    runs = json.loads((ROOT / "results/pairs/cpu-amounts.json").read_text())["runs"]
    assert {run["settings"]["looks"] for run in runs} == {10}
    assert '\\"batch\\": 32' in (ROOT / "notebooks/training/pairs.ipynb").read_text(
        encoding="utf-8"
    )
    jump = json.loads((ROOT / "results/commands/cpu-compose.json").read_text())["runs"]
    assert sum("jump" in run["name"] for run in jump) + 1 == 4  # the first one is kept
    assert {run["settings"]["batch"] for run in jump} == {64}


def test_the_chapter_on_positions():
    def says(name: str, *texts: str) -> bool:
        return all(text in cell("positions", name) for text in texts)

    assert says("order-by-hand", "torch.randn(4, 8)") and says(
        "bits-and-waves", "T, columns = 32, 5"
    )
    assert says("clock-hands-shown", "starts=(2, 20), delta=5") and says(
        "sinusoids-by-hand", "100, 128"
    )
    assert says("similarity-decay", "(32, 128, 512)") and says(
        "similarity-decay-shown", "widest[100]"
    )
    assert says("bias-figure", "torch.ones(T, 32)", "heads=4)[1]", "buckets=16, max_distance=32)")
    assert says("rotary-figure", "speed = (1.0, 0.3), (0.75, 0.45), 0.4") and says(
        "alibi-by-hand", "H, i"
    )
    assert says("rotary-by-hand", "Rotary(width=32)", "score(105, 102)") and says(
        "alibi-by-hand", " = 4, 10, 7"
    )
    assert says("sine-2d", "sine_2d(16, 16, 128)", "(2, 7, 13)", "grid[7, 15]") and 15 - 7 == 8
    assert says("race-model", "SYMBOLS, BACK, TRAIN, WIDTH, HEADS = 8, 3, 16, 32, 4", "4 * TRAIN")
    assert says("race-task", "torch.randint(3 * TRAIN + 1") and 3 * 16 == 48
    assert says("race-short", "(TRAIN, 2 * TRAIN, 4 * TRAIN)") and says(
        "mask-leak-run", "arange(TRAIN)"
    )
    assert says("criteria-scores", "TRAIN)", "16 * TRAIN", "times=64", "delta=3", "shift=5")
    assert 64 * 16 == 1024 and 16 * 16 == 256
    assert says(
        "criteria-table", "x < 1e-4,", "x > 1e-3,", "x <= 2,", "x < 1e-3,", '"0" if x < 1e-4'
    )
    assert cell("positions", "criteria-by-hand").count("(TRAIN - 1)") == 1
    passed = cell("positions", "criteria-table").count("lambda x")
    assert passed == 5  # two of them measure the fourth criterion


def test_the_chapter_on_tokenization():
    def says(name: str, *texts: str) -> bool:
        return all(text in cell("tokenization", name) for text in texts)

    assert says("rare-words", "reverse=True)[:100])") and says("units-make", "frequent[:3999]")
    ten = re.search(r'TEN = "([^"]+)"', cell("tokenization", "bpe-by-hand"))[1].split()
    assert (len(ten), len(set(ten))) == (10, 8)
    assert len(verses("train", longest=None)) > 2000
    assert (
        says("four", "[:3000]", "seeds=6000") and cell("tokenization", "four").count("=2000") == 4
    )
    assert says("few-seeds", "seeds=3000") and unigram.KEEP == 0.75
    assert [*"pêche 😊"].index(" ") == 5 and says("offsets-table", 'text = "pêche 😊"')
    assert len("pêche 😊") == 7 and len("😊".encode()) == 4
    assert cell("tokenization", "fertility-count").count("vocabulary_size=4000") == 2
    assert cell("tokenization", "scripts-figure").split("rows = ")[0].count('": "') == 8
    assert says("size-count", "sizes = [256, 500, 1000, 2000, 4000, 8000, 16_000]")
    blocks = ("4 blocks of 128", "6 blocks of 512", "12 blocks of 768")
    assert says("best-figure", *(f'"{name}": (' for name in blocks))
    assert says("quality-by-hand", "(english[::3], english[::12])")
    english = verses("train", longest=None)[::2]
    assert (len(english[::3]), len(english[::12])) == (4137, 1035)
    assert says("four", "longest=20")


def test_the_chapter_on_roberta():
    def says(name: str, *texts: str) -> bool:
        return all(text in cell("roberta", name) for text in texts)

    run = {
        name: json.loads((ROOT / f"results/formats/cpu-{name}.json").read_text())["runs"]
        for name in ("inputs", "masks", "batches")
    }
    full, first = run["inputs"][0]["metrics"], run["inputs"][0]["settings"]
    assert (first["short"], first["length"], first["depth"]) == (24, 48, 4)
    assert (first["batch"], first["lr"]) == (1024, 0.002)
    read = 8000 * 500_000 * 512 / (first["first"] + first["tokens"])
    assert 0.5e6 < read < 2e6  # about a millionth of the reading
    assert (
        1.5 < full["steps"] * full["inputs of a step"] / (full["inputs"] / 3) < 2.5
    )  # about twice
    assert 17 < full["inputs"] / 3 / run["masks"][0]["metrics"]["inputs"] < 23  # a twentieth
    assert run["masks"][0]["settings"]["passes"] == 40
    assert cell("roberta", "inputs-results").count('": "') == 4  # what is asked
    assert cell("roberta", "inputs-table").split("FORMATS = ")[1].split(")")[0].count('"') == 2 * 6
    assert says("masks", "PASSES, drawn = 40, 200") and says("masks-figure", "10: ")
    assert says("batches", "{256: (0.001, 0.002, 0.004), 1024: (0.002, 0.004, 0.008),")
    steps = {one["settings"]["batch"]: one["metrics"]["steps"] for one in run["batches"]}
    assert round(steps[256] / 1953) == round(1953 / steps[4096]) == 4
    languages = json.loads((ROOT / "results/languages/cpu.json").read_text())["settings"]
    assert languages["asked"] == 1000
    assert says("turned-verses", '("Gen", "Josh", "Job", "Isa", "Matt", "Rom")')
    # a chapter fills about twenty inputs: those of one pass, by chapters
    chapters = {pair.key.split(":")[0] for pair in verses("train", longest=None)}
    assert 15 < full["inputs"] / 3 / len(chapters) < 25


def test_the_chapter_on_t5():
    def says(name: str, *texts: str) -> bool:
        return all(text in cell("t5", name) for text in texts)

    assert says("corrupt-check", "text_length(512)") and says(
        "lengths", "LONG, MANY = 512, 400", "size > 6"
    )
    assert says("noises-go-on", "density=0.3, mean_span=1.5", 'damaged["prefix language model"]')
    assert cell("t5", "noises-go-on").split("NOISES = ")[1].split("}")[0].count('": ') + 2 == 7
    runs = json.loads((ROOT / "results/pretext/cpu-pretext.json").read_text())["runs"]
    settings = runs[0]["settings"]
    assert (settings["width"], settings["depth"], settings["vocabulary"]) == (64, 2, 1000)
    assert (settings["longest"], settings["pieces"]) == (16, 44)
    assert (settings["lr"], settings["task_lr"]) == (0.003, 0.002)
    assert says("price", "train[:2000]")
    row = next(run["metrics"]["tokens of a row"] for run in runs if run["name"] == "spans")
    assert 24 < row - 4 < 26 and round(0.15 * 25) == 4  # one span: two sentinels, two ends
    arms = ast.literal_eval(cell("t5", "pretext-results").split("ARMS = ")[1].split("}")[0] + "}")
    assert (
        len(arms) == 10
        and sum("nothing" in arm or arm in ("restore", "translate") for arm in arms) == 4
    )
    longer = next(run for run in runs if run["name"] == "nothing, longer")
    assert (
        longer["metrics"]["restore, best step"] * 5 == longer["settings"]["steps"]
    )  # the first look
    words = "".join(cell("t5", name) for name in ("typing", "typing-table"))
    assert "len(word) > 4" in words and "1000" in words and "4000" in words


def test_the_chapter_on_training():
    def says(name: str, *texts: str) -> bool:
        return all(text in cell("training", name) for text in texts)

    assert says("valley-walks", "torch.tensor([1.0, 100.0])", "2.0]), 60")
    assert says("adam-six", "six = torch.tensor([1e-6,", "-1000.0]", "lr=0.1")
    assert says("noise-steps", "steps=1000, weights=10_000", "lengths(1e-4, 0.0)")
    assert says("noise-steps-shown", "(1, 10, 100)", "gone(0, 10)")
    assert says("trust-simulated", "sequences=20_000", "estimates(0.98,", "[0.05, 0.5, 0.95]")
    assert says("trust-simulated", "in (1, 5, 100)") and says("trust-formula", "in (10, 50)")
    assert says("trust-figure", "0.999)[1]", "t / 120") and says("trust-figure-shown", "[49]")
    assert says("falling-rates", "steps=2000", "(1000,)", "lambda t: 0.01")
    assert says("falling-figure", "far < 0.5", "away[499]")
    assert says("valley-walked", "walks=2000", "(0, 20)", "loss[9]", "loss[59]")
    assert says("valley-start-shown", "if x < 5")
    assert says("clipped-start", "[10.0, 4.0, 2.0, 1.0, 1.0]", "betas=(0.9, 0.98)")
    assert says("cold-controls", "lr=2e-3", "ClipGradients(1.0)") and says("counting-shown", "[:9]")
    assert FIRST_STEPS == 10
    practice = json.loads((ROOT / "results/practice/cpu.json").read_text())
    trainings = list(practice["curves"])
    assert len(trainings) == 11 and practice["settings"]["lr"] == 0.002
    first = [f"{norm}-LN, {start}" for norm in ("Post", "Pre") for start in ("warm-up", "none")]
    assert trainings[:6] == [*first, "Post-LN, RAdam, none", "Post-LN, a tenth, none"]
    assert trainings[6:9] == ["Pre-LN, growing batch", "Pre-LN, short first", "Pre-LN, then all"]
    assert trainings[9:] == ["smoothing 0.0", "smoothing 0.1"]
    assert says("tiny", '"width": 48', "longest=7", "train_on[:120]") and 0.006 == 3 * 0.002
    assert says("tiny-go-on", "lr=6e-3") and says("cold-runs", "depth=2", "steps=100")
    assert says("watching", "{1, 2, 5, 10, 20, 50, 90}") and says("histograms", "(1, 20, 200)")
    rates = json.loads((ROOT / "results/cold/cpu.json").read_text())["settings"]["rates"]
    assert rates == [0.003, 0.006, 0.012]
    assert says("outlier", "weights=1000", "100 * g if t == 300")
    assert says("outlier-runs", "forward[310:400]", "math.inf, 0.999")
    assert says("pieces-in-the-loop", "steps=20")
    assert says("sixteen-bits-lost", "torch.tensor(0.001", "100_000.0")
    assert says("go-on", "steps=60", "every=10") and says("broken-off", "step == 47")
    assert says("resume-figure", "step >= 40") and says("resume-figure-shown", "[45]", "lost[60]")
    assert says("three-seeds", "patience=4") and says("growing-figure-shown", '["batch"] // 4')
    assert forecast.LAUNCH == 10e-6 and forecast.SHARE == 0.5
    assert 2 * rehearsal.ROWS == 4  # rows of the second step


def test_the_page_on_grading():
    demo = (ROOT / "autograder/demo/demo.py").read_text(encoding="utf-8")
    assert "arguments.students or 60" in demo
    assert len(compiled.load("a01_kernels").questions) == 5
