"""What the browser computes is what PyTorch computes, with our own weights on unread text."""

from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from coursekit._base.errors import CourseError
from coursekit.analysis import capture
from coursekit.analysis.inpainting import hidden_pixels
from coursekit.data.documents import documents
from coursekit.data.fashion import fashion
from coursekit.data.scenes import scenes
from coursekit.data.speeches import speeches
from coursekit.data.verses import verses
from coursekit.decoding import beam_search, generate
from coursekit.decoding.sampling import keep_top_k, keep_top_p
from coursekit.figures.live import packed_models
from coursekit.figures.live.painting import order, painted
from coursekit.training.pictures import as_input
from coursekit.training.records import trained, weights_file
from coursekit.training.translation import END, PAD, START

MODULES = (
    "safetensors", "layers", "gpt", "seq2seq", "bert", "vit_mae", "detector", "byte_bpe",
    "wordpiece", "decoding", "beam_search",
)  # fmt: skip
NEAR = {"rtol": 0, "atol": 1e-3}  # logits
MAPS = {"rtol": 0, "atol": 1e-4}  # attention weights
OPEN = """([name, kind, weights]) => {
  (window.opened ??= {})[name] = new window[kind](Weights.read(weights));
}"""
# A model's logits, and the attention weights of each block and head on the way.
CALL = """([name, call, ...inputs]) => {
  const maps = {};
  const seen = (block, kind, weights) =>
    (maps[kind] ??= [])[block] = weights.map((head) => head.map((row) => [...row]));
  const answer = opened[name][call](...inputs, { seen });
  return { answer: answer.map((row) => [...row]), maps };
}"""


@pytest.fixture(scope="module")
def page(page_with) -> Any:
    """A page of the browser in which the models are known."""
    return page_with(*(f"models/{name}" for name in MODULES))


def opened(page: Any, name: str, kind: str) -> SimpleNamespace:
    """The model of a training, in PyTorch and in the page."""
    weights = base64.b64encode(weights_file(name)).decode()
    page.evaluate(OPEN, [name, kind, weights])
    return SimpleNamespace(name=name, model=trained(name), page=page)


def called(both: SimpleNamespace, call: str, *inputs: Any) -> dict[str, Any]:
    return both.page.evaluate(CALL, [both.name, call, *inputs])


def same_maps(found: list[Any], expected: list[torch.Tensor]) -> None:
    """One map for each block and head; `expected` has a batch of one."""
    assert len(found) == len(expected)
    for block, wanted in zip(found, expected):
        torch.testing.assert_close(torch.tensor(block), wanted[0], **MAPS)


@pytest.fixture(scope="module")
def writer(page) -> SimpleNamespace:
    both = opened(page, "writer", "GPT")
    both.tokenizer = packed_models.tokenizer_of("writer")
    prefix = [both.tokenizer.encode(character)[0] for character in "1914:"]
    text = next(speech.text for speech in speeches("test") if speech.year == 1914)
    both.read = prefix + both.tokenizer.encode(text)[:75]
    return both


@pytest.fixture(scope="module")
def translator(page) -> SimpleNamespace:
    both = opened(page, "translation", "Seq2SeqTransformer")
    both.tokenizer = packed_models.tokenizer_of("translation")
    pairs = verses("test")[::150]
    both.pairs = [tuple(map(both.tokenizer.encode, (p.english, p.french))) for p in pairs]
    return both


@pytest.fixture(scope="module")
def bert(page) -> SimpleNamespace:
    both = opened(page, "bert", "BertForPreTraining")
    both.tokenizer = packed_models.tokenizer_of("bert")
    return both


# --- Weights ---


@pytest.mark.parametrize("name", ["writer", "translation", "bert", "mae"])
def test_every_weight_is_read(page, name):
    from safetensors.torch import load

    content = weights_file(name)
    # Sums of the bits, each times its place: cheaper to hand over than the weights.
    read = page.evaluate(
        """(content) => Object.fromEntries(Array.from(Weights.read(content).tensors,
             ([name, { shape, data }]) => [name, [shape, new Int32Array(data.slice().buffer).reduce(
               (sum, bits, place) => (sum + (bits >> 13) * (place % 1013)) % 2 ** 40, 0)]]))""",
        base64.b64encode(content).decode(),
    )
    expected = {}
    for key, tensor in load(content).items():
        bits = tensor.float().flatten().view(torch.int32).long() >> 13
        total = (bits * (torch.arange(len(bits)) % 1013)).sum().item()
        expected[key] = [list(tensor.shape), total]
    for shape, total in (*read.values(), *expected.values()):
        assert all(shape) and abs(total) < 2**53
    assert {key: value[0] for key, value in read.items()} == {k: v[0] for k, v in expected.items()}
    modulus = 2**40
    for key, (_, total) in read.items():
        assert total % modulus == expected[key][1] % modulus, key


def test_every_half_is_the_same_single(page):
    every = torch.arange(-(2**15), 2**15, dtype=torch.int32).short().view(torch.half)
    every = every[every.isfinite()]
    from safetensors.torch import save

    content = base64.b64encode(save({"every": every})).decode()
    read = page.evaluate("(c) => [...Weights.read(c).get('every').data]", content)
    assert torch.equal(torch.tensor(read), every.float())


def test_a_widget_hands_over_a_view_of_bytes(page):
    content = base64.b64encode(weights_file("examples")).decode()
    same = page.evaluate(
        """(content) => {
          const bytes = Uint8Array.from(`..${atob(content)}`, (c) => c.charCodeAt(0));
          const view = new DataView(bytes.buffer, 2); // as ipywidgets has it, at any place
          const [a, b] = [Weights.read(content), Weights.read(view)];
          return [...a.tensors].every(([name, { data }]) =>
            data.every((value, n) => value === b.get(name).data[n]));
        }""",
        content,
    )
    assert same is True


def test_what_is_missing_or_of_another_kind_is_named(page):
    content = base64.b64encode(weights_file("writer")).decode()
    tried = """([content, code]) => {
      try { new Function("weights", code)(Weights.read(content)); } catch (e) { return e.message; }
    }"""
    for code, words in {
        "weights.get('tokens.bias')": "no weights tokens.bias",
        "new Seq2SeqTransformer(weights)": "a Seq2SeqTransformer is expected",
        "weights.about.config.window = 4; new GPT(weights)": "window = 4 is not written here",
        "new GPT(weights).forward([2000])": "there is no row 2000 of 2000",
    }.items():
        assert words in page.evaluate(tried, [content, code])


# --- The writer ---


def test_the_writers_logits_and_every_heads_map(writer):
    found = called(writer, "forward", writer.read)
    with torch.no_grad():
        expected = capture(writer.model, torch.tensor([writer.read]))
    torch.testing.assert_close(torch.tensor(found["answer"]), expected.output[0], **NEAR)
    same_maps(found["maps"]["self"], expected.weights["stack.self_attention"])


def test_with_a_cache_it_reads_on_where_it_was(writer):
    with torch.no_grad():
        expected = writer.model(torch.tensor([writer.read]))[0]
    steps = """([name, tokens]) => {
      const state = opened[name].start();
      const logits = [opened[name].decode(tokens.slice(0, 40), state)];
      for (const token of tokens.slice(40)) logits.push(opened[name].decode([token], state));
      state.cache.cut(50);  // and once more from there
      logits.push(opened[name].decode(tokens.slice(50), state));
      return logits.map((row) => [...row]);
    }"""
    found = torch.tensor(writer.page.evaluate(steps, [writer.name, writer.read]))
    torch.testing.assert_close(found[:-1], expected[39:], **NEAR)
    torch.testing.assert_close(found[-1], expected[-1], **NEAR)


@pytest.mark.parametrize("year", [1800, 1914, 2000])
def test_it_writes_the_same_text(writer, year):
    begun = [writer.tokenizer.encode(character)[0] for character in f"{year}:"]
    begun += writer.tokenizer.encode(" The people of the")
    with torch.no_grad():
        expected = generate(writer.model, torch.tensor([begun]), writer.model.start(), longest=60)[
            0
        ].tolist()
    write = """([name, tokens, longest]) =>
      generate(opened[name], tokens, opened[name].start(), { longest })"""
    assert writer.page.evaluate(write, [writer.name, begun, 60]) == expected


@pytest.mark.parametrize("name", ["reviewer", "examples"])
def test_other_gpts_with_other_parts(page, name):
    """The reviewer has the root mean square, a gate and no biases; `examples` learned positions."""
    both = opened(page, name, "GPT")
    tokens = torch.randint(both.model.config.vocabulary, (1, 30), generator=seeded(1))
    with torch.no_grad():
        expected = both.model(tokens)[0]
    found = called(both, "forward", tokens[0].tolist())
    torch.testing.assert_close(torch.tensor(found["answer"]), expected, **NEAR)


def seeded(number: int) -> torch.Generator:
    return torch.Generator().manual_seed(number)


@pytest.mark.parametrize(
    "knobs",
    [{}, {"temperature": 0.5}, {"topK": 10}, {"topP": 0.9}, {"topK": 1, "topP": 0.1},
     {"temperature": 1.5, "topK": 40, "topP": 0.8}],
)  # fmt: skip
def test_the_knobs_are_those_of_the_package(page, knobs):
    logits = 3 * torch.randn(1, 500, generator=seeded(0))
    expected = keep_top_k(logits / knobs.get("temperature", 1), knobs.get("topK", 500))
    expected = keep_top_p(expected, knobs.get("topP", 1.0)).softmax(dim=-1)[0]
    shares = "([logits, knobs]) => [...sharesOf(Float32Array.from(logits), knobs)]"
    found = torch.tensor(page.evaluate(shares, [logits[0].tolist(), knobs])).float()
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


def test_a_token_is_drawn_as_often_as_its_share_says(page):
    drawn = page.evaluate(
        """() => Array.from({ length: 20000 },
             (_, n) => tokenAt([0.5, 0, 0.3, 0.2, 0], random(7, n)))"""
    )
    counts = torch.tensor(drawn).bincount(minlength=5) / 20000
    torch.testing.assert_close(counts, torch.tensor([0.5, 0, 0.3, 0.2, 0]), rtol=0, atol=0.02)
    assert counts[1] == counts[4] == 0
    assert page.evaluate("() => tokenAt([0.25, 0.25, 0.25, 0], 0.999)") == 2  # rounded sums


# --- The translator ---


def test_the_translators_logits_and_every_heads_maps(translator):
    for source, target in translator.pairs[:4]:
        shifted = [START, *target]
        found = called(translator, "forward", source, shifted)
        with torch.no_grad():
            expected = capture(translator.model, torch.tensor([source]), torch.tensor([shifted]))
        torch.testing.assert_close(torch.tensor(found["answer"]), expected.output[0], **NEAR)
        same_maps(found["maps"]["self"], expected.weights["decoder.self_attention"])
        same_maps(found["maps"]["cross"], expected.weights["decoder.cross_attention"])
        own = called(translator, "encode", source)
        same_maps(own["maps"]["self"], expected.weights["encoder.self_attention"])


def test_it_translates_the_same(translator):
    write = """([name, source, first, longest, end]) =>
      generate(opened[name], [first], opened[name].start(source), { longest, end })"""
    for source, _ in translator.pairs:
        with torch.no_grad():
            state = translator.model.start(torch.tensor([source]))
            expected = generate(
                translator.model, torch.tensor([[START]]), state, longest=30, end=END
            )
        found = translator.page.evaluate(write, [translator.name, source, START, 30, END])
        assert found == expected[0].tolist()


SEARCH = """([name, source, first, options]) => {
  const model = opened[name];
  const steps = [...beamSearch(model, [first], model.start(source), options)];
  return steps.at(-1).complete.map((one) => [written(one), one.score]);
}"""


@pytest.mark.parametrize(("beams", "alpha"), [(1, 0.6), (2, 0.0), (3, 1.5), (4, 0.6)])
def test_its_beam_search_is_the_packages(translator, beams, alpha):
    for source, _ in translator.pairs[:3]:
        options = {"beams": beams, "longest": len(source) + 5, "end": END, "alpha": alpha}
        state = translator.model.start(torch.tensor([source]))
        expected = beam_search(translator.model, torch.tensor([[START]]), state, pad=PAD, **options)
        found = translator.page.evaluate(SEARCH, [translator.name, source, START, options])
        texts = [[token for token in row if token != PAD] for row in expected.tokens[0].tolist()]
        assert [tokens for tokens, _ in found] == texts
        scores = torch.tensor([score for _, score in found])
        torch.testing.assert_close(scores, expected.scores[0], **NEAR)


# --- BERT ---


def test_berts_two_answers_and_every_heads_map(bert):
    cls, sep, mask = map(bert.tokenizer.token_to_id, ("[CLS]", "[SEP]", "[MASK]"))
    first, second = (bert.tokenizer.encode(text) for text in documents("test")[0][10:12])
    tokens = [cls, *first[:25], sep, *second[:25], sep]
    tokens[4] = tokens[30] = mask
    segments = [int(n > tokens.index(sep)) for n in range(len(tokens))]
    keep = [n < len(tokens) - 3 for n in range(len(tokens))]  # the last three as if padding
    call = """([name, tokens, segments, keep]) => {
      const maps = [];
      const seen = (block, kind, weights) =>
        maps[block] = weights.map((head) => head.map((row) => [...row]));
      const hidden = opened[name].hidden(tokens, { segments, keep, seen });
      const words = hidden.map((x) => [...opened[name].maskedLM(x)]);
      return { words, follows: [...opened[name].nextSentence(hidden)], maps };
    }"""
    found = bert.page.evaluate(call, [bert.name, tokens, segments, keep])
    inputs = (torch.tensor([row]) for row in (tokens, segments, keep))
    with torch.no_grad():
        expected = capture(bert.model, *inputs)
    words, follows = expected.output
    torch.testing.assert_close(torch.tensor(found["words"]), words[0], **NEAR)
    torch.testing.assert_close(torch.tensor(found["follows"]), follows[0], **NEAR)
    same_maps(found["maps"], expected.weights["bert.encoder.self_attention"])


# --- ViT ---


def test_the_vits_answer_and_every_heads_map(page):
    both = opened(page, "vit", "ViT")
    for picture in as_input(fashion("test").images[:3]):
        with torch.no_grad():
            expected = capture(both.model, picture[None])
        call = CALL.replace("answer.map((row) => [...row])", "[...answer]")
        found = page.evaluate(call, ["vit", "forward", picture.flatten().tolist()])
        torch.testing.assert_close(torch.tensor(found["answer"]), expected.output[0], **NEAR)
        same_maps(found["maps"]["self"], expected.weights["stack.self_attention"])


@pytest.mark.parametrize("patches", [[], [24], list(range(0, 49, 4)), list(range(49))])
def test_the_vit_reads_the_visible_patches_only(page, patches):
    both = opened(page, "vit", "ViT")
    picture = as_input(fashion("test").images[:1])
    with torch.no_grad():
        expected = both.model(picture, visible=torch.tensor([patches], dtype=torch.long))[0]
    call = "([pixels, visible]) => [...opened.vit.forward(pixels, { visible })]"
    found = page.evaluate(call, [picture.flatten().tolist(), patches])
    torch.testing.assert_close(torch.tensor(found), expected, **NEAR)


# --- MAE ---


@pytest.mark.parametrize("hidden", [[0], list(range(0, 49, 4)), order()[:37], list(range(49))])
def test_the_autoencoders_pixels(page, hidden):
    both = opened(page, "mae", "MAE")
    call = """([picture, visible]) =>
      [...opened.mae.encoder.unpatchify(opened.mae.forward(picture, visible))]"""
    visible = [n for n in range(49) if n not in hidden]
    gone = hidden_pixels(torch.tensor([[n in hidden for n in range(49)]]), 4, (1, 1, 28, 28))
    for picture in as_input(fashion("test").images[:2]):
        found = both.page.evaluate(call, [picture.flatten().tolist(), visible])
        expected = painted(picture[None], hidden)
        torch.testing.assert_close(
            torch.tensor(found).reshape(expected.shape)[gone], expected[gone], **NEAR
        )


# --- The detector ---


def test_the_detectors_logits_boxes_and_looks(page):
    both = opened(page, "detector", "Detector")
    call = """(picture) => {
      const looks = [];
      const seen = (block, kind, weights) => {
        if (kind === "cross") looks[block] = weights.map((head) => head.map((row) => [...row]));
      };
      const { logits, boxes } = opened.detector.forward(Float32Array.from(picture), { seen });
      return { logits: logits.map((row) => [...row]), boxes: boxes.map((row) => [...row]), looks };
    }"""
    for scene in scenes("test", 3, seed=0, size=64):
        picture = scene.image / 127.5 - 1  # (3, H, W)
        with torch.no_grad():
            expected = capture(both.model, picture[None])
        found = page.evaluate(call, picture.permute(1, 2, 0).flatten().tolist())
        torch.testing.assert_close(torch.tensor(found["logits"]), expected.output.logits[0], **NEAR)
        torch.testing.assert_close(torch.tensor(found["boxes"]), expected.output.boxes[0], **NEAR)
        same_maps(found["looks"], expected.weights["decoder.cross_attention"])


def test_nothing_to_attend_to_gives_zeros(page):
    found = page.evaluate(
        """() => attentionWeights([[1, 2], [1, 2]], [[3, 4], [5, 6]],
             { mask: [[false, false], [true, false]] }).map((row) => [...row])"""
    )
    assert found == [[0, 0], [1, 0]]


# --- Tokenizers ---

HARD = [
    "", " ", "  two  spaces  ", "it's, we'll, I'd; 'S", "naïve café — “quoted”", "1,234.5 ½ ²",
    "日本語 and 한국어", "tab\tand\r\nline\x85end\u00a0", "👍🏽 🇫🇷 𝔘𝔫𝔦", "\ufeffmark\u200bzero\x00",
    "İSTANBUL ΣΊΣΥΦΟΣ", "[CLS] <start> [MASK]", "x" * 150, "e\u0301 \u0301", "$+<=>^`|~",
]  # fmt: skip


def corpus(name: str) -> list[str]:
    """Every line of what the training's tokenizer did not learn from."""
    if name == "writer":
        return [line for speech in speeches("test") for line in speech.text.splitlines()]
    if name == "translation":
        return [text for pair in verses("test") for text in (pair.english, pair.french)]
    return [sentence for document in documents("test") for sentence in document]


@pytest.mark.parametrize("name", ["writer", "translation", "bert"])
def test_every_line_is_cut_as_the_package_cuts_it(page, name):
    tokenizer = packed_models.tokenizer_of(name)
    lines = corpus(name) + HARD
    assert len(lines) > 500
    cut = """([state, lines]) => {
      const tokenizer = new window[state.tokenizer](state);
      const ids = lines.map((line) => tokenizer.encode(line));
      return { ids, texts: ids.map((some) => tokenizer.decode(some)) };
    }"""
    found = page.evaluate(cut, [tokenizer.as_json(), lines])
    expected = [tokenizer.encode(line) for line in lines]
    differing = [line for line, a, b in zip(lines, found["ids"], expected) if a != b]
    assert differing == []
    assert found["texts"] == [tokenizer.decode(ids) for ids in expected]


# --- The file of the book ---


def test_the_file_gives_a_page_what_the_package_has(page):
    page.evaluate("(code) => new Function(code)()", packed_models.script("writer"))
    size, tokens = page.evaluate(
        """() => [Weights.read(LIVE.writer.weights).tensors.size,
                  LIVE.writer.tokenizer.vocabulary.length]"""
    )
    assert (size, tokens) == (51, 2000)


def test_a_model_that_is_too_large_or_unknown_is_refused(monkeypatch):
    with pytest.raises(CourseError, match="none of 'reviewer'"):
        packed_models.script("reviewer")
    monkeypatch.setattr(packed_models, "LARGEST", 1_000_000)
    with pytest.raises(CourseError, match=r"bert is 3\.0 MB in a page, and at most 1 MB"):
        packed_models.script("bert")
