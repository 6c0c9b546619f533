"""GPT: the sizes of the papers, parity with Hugging Face down to the texts, and the laws."""

import dataclasses
import itertools
from functools import partial

import pytest
import torch
from torch import nn
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
)

from coursekit.analysis import capture
from coursekit.decoding.generation import beam_search, generate, left_pad, power_penalty
from coursekit.decoding.sampling import sample
from coursekit.models import weights
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.models.gpt_heads import GPTClassifier, GPTMultipleChoice
from coursekit.models.weights.rules import export_state

SMALL = {"n_embd": 24, "n_layer": 2, "n_head": 3, "n_positions": 20, "vocab_size": 17}
KINDS = {
    "gpt2": lambda **kw: (GPT2LMHeadModel, GPT2Config(**SMALL | kw)),
    "gpt2, one head, odd sizes, exact GELU": lambda **kw: (
        GPT2LMHeadModel,
        GPT2Config(
            **SMALL
            | {"n_embd": 15, "n_layer": 3, "n_head": 1, "n_inner": 22}
            | {"activation_function": "gelu", "layer_norm_epsilon": 1e-2}
            | kw
        ),
    ),
    "gpt1": lambda **kw: (OpenAIGPTLMHeadModel, OpenAIGPTConfig(**SMALL | kw)),
    "gpt1, ReLU": lambda **kw: (
        OpenAIGPTLMHeadModel,
        OpenAIGPTConfig(**SMALL | {"n_layer": 1, "n_head": 4, "afn": "relu"} | kw),
    ),
}
TOKENS = torch.tensor([[3, 4, 5, 6, 7, 8, 9], [10, 11, 12, 3, 3, 16, 2], [1, 0, 0, 5, 9, 9, 4]])
LEFT = torch.tensor([[1] * 7, [0, 0, 0, 1, 1, 1, 1], [0] + [1] * 6]).bool()
PADDING = {"none": None, "left": LEFT, "right": LEFT.flip(1)}


def pair(kind: str, *, seed: int = 0, std: float = 0.2, dtype=torch.double, **changes):
    """Hugging Face's model with random weights (norms and biases too), and ours with the same."""
    make, config = KINDS[kind](
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=None, eos_token_id=None,
        **changes,
    )  # fmt: skip
    torch.manual_seed(seed)
    theirs = make(config).to(dtype)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=std)
    with torch.no_grad():  # loud places and norms: else a random model repeats one token for ever
        theirs.transformer.get_submodule("wpe" if "gpt2" in kind else "positions_embed").weight *= 4
        for name, parameter in theirs.named_parameters():
            if "ln_" in name and name.endswith("weight"):
                parameter += 1
    ours = weights.build(GPT, theirs.state_dict(), weights.read_config(GPTConfig, config.to_dict()))
    assert ours.tokens.weight.dtype == dtype
    return theirs.eval(), ours.eval()


def model(norm: str = "pre", **changes) -> GPT:
    torch.manual_seed(0)
    config = GPTConfig(
        vocabulary=17, width=24, depth=2, heads=3, positions=20, norm=norm, dropout=0.0,
        attention_dropout=0.0, embedding_dropout=0.0,
    )  # fmt: skip
    net = GPT(dataclasses.replace(config, **changes)).double().eval()
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.3)
    return net


# Sizes


@pytest.mark.parametrize(
    ("name", "exact", "millions"),
    [
        ("gpt1", 116_534_784, 117),
        ("gpt2", 124_439_808, 124),
        ("gpt2_medium", 354_823_168, 355),
        ("gpt2_large", 774_030_080, 774),
        ("gpt2_xl", 1_557_611_200, 1558),
    ],
)
def test_the_papers_sizes(name, exact, millions):
    with torch.device("meta"):
        net = GPT(getattr(GPTConfig, name)())
        logits = net(torch.zeros(1, 3, dtype=torch.long))
    count = sum(parameter.numel() for parameter in net.parameters())
    assert count == exact and round(count / 1e6) == millions
    assert logits.shape == (1, 3, net.config.vocabulary)


def test_the_start_is_the_papers():
    net = GPT(dataclasses.replace(GPTConfig.gpt2(), width=96, vocabulary=999, depth=8))
    block = net.stack.blocks[3]
    for wide in (net.tokens, net.positions, block.self_attention.qkv, block.feed_forward.expand):
        assert wide.weight.std().item() == pytest.approx(0.02, rel=0.03)
    for last in (block.self_attention.out, block.feed_forward.contract):
        assert last.weight.std().item() == pytest.approx(0.02 / 4, rel=0.03)  # 16 of them: 1/√16
    assert all(p.eq(0).all() for name, p in net.named_parameters() if name.endswith("bias"))
    post = GPT(dataclasses.replace(net.config, norm="post")).stack.blocks[3]
    assert post.self_attention.out.weight.std().item() == pytest.approx(0.02, rel=0.03)


# Parity


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("kind", KINDS)
def test_forward_and_gradients_equal_the_reference(kind, padding, dtype):
    theirs, ours = pair(kind, dtype=dtype)
    keep = PADDING[padding]
    given = {}
    if keep is not None:
        places = (keep.cumsum(1) - 1).clamp_min(0) if padding == "left" else torch.arange(7)[None]
        given = {"attention_mask": keep.long(), "position_ids": places.expand(3, -1)}
    expected, found = theirs(TOKENS, **given).logits, ours(TOKENS, keep)
    real = torch.ones(3, 7, dtype=torch.bool) if keep is None else keep
    close = {"rtol": 0, "atol": 1e-5 if dtype == torch.float32 else 1e-10}
    torch.testing.assert_close(found[real], expected[real], **close)

    asked = torch.randn(expected[real].shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    (expected[real] * asked).mean().backward()
    (found[real] * asked).mean().backward()
    gradients = {name: parameter.grad for name, parameter in ours.named_parameters()}
    gradients = export_state(weights.rules_of(ours), gradients)
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(gradients[name], parameter.grad, **close, msg=name)


def test_hidden_states_and_weights_equal_the_reference():
    theirs, ours = pair("gpt2", attn_implementation="eager")
    expected = theirs(TOKENS, output_hidden_states=True, output_attentions=True)
    recording = capture(ours, TOKENS)
    torch.testing.assert_close(recording.output, expected.logits)
    (states,), (weights,) = recording.states.values(), recording.weights.values()
    for layer in range(2):
        torch.testing.assert_close(states[layer], expected.hidden_states[layer])
        torch.testing.assert_close(weights[layer], expected.attentions[layer])
    torch.testing.assert_close(ours.hidden(TOKENS), expected.hidden_states[-1])
    torch.testing.assert_close(ours.stack.final(states[2]), expected.hidden_states[-1])


@pytest.mark.parametrize("kind", ["gpt2", "gpt1"])
def test_weights_go_there_and_back(kind):
    theirs, ours = pair(kind)
    state = theirs.state_dict()
    exported = weights.export(ours)
    assert exported.keys() == state.keys()
    assert all(torch.equal(exported[name], state[name]) for name in state)
    theirs.load_state_dict(exported)

    body = theirs.transformer
    again = weights.build(GPT, body.state_dict(), ours.config)
    assert all(torch.equal(x, y) for x, y in zip(again.parameters(), ours.parameters()))
    exported = weights.export(again, head=False)
    assert exported.keys() == body.state_dict().keys()


def test_the_bare_model_and_its_old_buffers():
    """The published files name the mask `attn.bias` in each layer; it is no parameter."""
    theirs, ours = pair("gpt2")
    bare = GPT2Model(theirs.config).double()
    bare.load_state_dict(weights.export(ours, head=False))
    torch.testing.assert_close(bare.eval()(TOKENS).last_hidden_state, ours.hidden(TOKENS))
    buffers = {"h.0.attn.bias": torch.ones(1), "h.1.attn.masked_bias": torch.ones(1)}
    old = bare.state_dict() | buffers
    again = weights.build(GPT, old, ours.config).eval()
    torch.testing.assert_close(again(TOKENS), ours(TOKENS))


@pytest.mark.parametrize("kind", ["gpt2", "gpt1"])
def test_a_left_over_or_missing_weight_is_an_error(kind):
    theirs, ours = pair(kind)
    state = theirs.state_dict()
    with pytest.raises(ValueError, match=r"transformer\.h\.2\.mlp"):
        weights.build(GPT, state | {"transformer.h.2.mlp.c_fc.bias": torch.ones(1)}, ours.config)
    with pytest.raises(ValueError, match=r"lack 'transformer\.h\.1\.ln_2\.bias'"):
        weights.build(
            GPT,
            {name: x for name, x in state.items() if name != "transformer.h.1.ln_2.bias"},
            ours.config,
        )
    with pytest.raises(ValueError, match=r"lm_head\.weight should be a copy of"):
        weights.build(GPT, state | {"lm_head.weight": torch.ones(17, 24)}, ours.config)
    with pytest.raises(ValueError, match="has shape"):
        weights.build(GPT, state, dataclasses.replace(ours.config, positions=19))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model_type": "bert"}, "must be gpt2, openai-gpt, llama or mistral, found 'bert'"),
        ({"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx must be Fal"),
        ({"activation_function": "tanh"}, "activation .*'tanh'"),
    ],
)
def test_what_we_do_not_have_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        weights.read_config(GPTConfig, GPT2Config(**SMALL).to_dict() | changes)


def test_the_named_configs_are_the_reference_s_defaults():
    assert weights.read_config(GPTConfig, GPT2Config().to_dict()) == GPTConfig.gpt2()
    assert weights.read_config(GPTConfig, OpenAIGPTConfig().to_dict()) == GPTConfig.gpt1()


# Texts equal to `generate`

RAGGED = [[3, 4, 5, 6], [7], [8, 9, 1], [2, 2]]


def reference(theirs, tokens, keep, *, longest, end, **choices) -> list[list[int]]:
    """Return the new tokens of Hugging Face's `generate`, up to the end of each."""
    keep = torch.ones_like(tokens) if keep is None else keep.long()
    texts = theirs.generate(
        tokens, attention_mask=keep, max_new_tokens=longest, do_sample=False, eos_token_id=end,
        pad_token_id=16, **choices,
    )  # fmt: skip
    return [cut(text, end) for text in texts[:, tokens.shape[1] :].tolist()]


def cut(text: list[int], end: int | list[int] | None) -> list[int]:
    ends = end if isinstance(end, list) else [end]
    places = [place for place, token in enumerate(text) if token in ends]
    return text[: places[0] + 1] if places else text


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("end", [None, 5, [5], [5, 2], [9, 3, 12]])
@pytest.mark.parametrize("prompts", ["even", "ragged"])
def test_greedy_writes_what_the_reference_writes(seed, end, prompts):
    theirs, ours = pair("gpt2", seed=seed, std=0.4)
    tokens, keep = left_pad(RAGGED, pad=0) if prompts == "ragged" else (TOKENS[:, :4], None)
    found = generate(ours, tokens, ours.start(keep), longest=14, end=end, pad=16)
    expected = reference(theirs, tokens, keep, longest=14, end=end)
    assert [cut(text, end) for text in found.tolist()] == expected
    assert len({token for text in expected for token in text}) > 2  # no constant text


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("end", "beams", "alpha", "stop"),
    [
        (None, 3, 1.0, "hopeless"),
        (5, 2, 1.0, "hopeless"),
        (5, 4, 0.0, "hopeless"),
        (5, 4, 1.7, "full"),
        (5, 3, 0.8, "never"),
        (5, 3, -0.5, "never"),
        ([5, 2], 3, 1.0, "hopeless"),
        ([5, 2, 9], 2, 0.0, "full"),
        ([3, 4, 12, 6], 4, 1.2, "never"),
    ],
)
@pytest.mark.parametrize("prompts", ["even", "ragged"])
def test_beam_search_writes_what_the_reference_writes(seed, end, beams, alpha, stop, prompts):
    theirs, ours = pair("gpt2", seed=seed, std=0.3)
    tokens, keep = left_pad(RAGGED, pad=0) if prompts == "ragged" else (TOKENS[:, :4], None)
    search = partial(beam_search, ours, tokens, penalty=power_penalty, pad=16)
    found = search(ours.start(keep), beams=beams, longest=9, end=end, alpha=alpha, stop=stop)
    early = {"hopeless": False, "full": True, "never": "never"}[stop]
    expected = reference(
        theirs, tokens, keep, longest=9, end=end, num_beams=beams, length_penalty=alpha,
        early_stopping=early, num_return_sequences=beams,
    )  # fmt: skip
    assert [cut(text, end) for text in found.tokens.flatten(0, 1).tolist()] == expected


@pytest.mark.parametrize("seed", range(3))
def test_gpt1_writes_what_the_reference_writes(seed):
    theirs, ours = pair("gpt1", seed=seed, std=0.5)
    tokens = TOKENS[:, :4]
    found = generate(ours, tokens, ours.start(), longest=12, end=5)
    expected = reference(theirs, tokens, None, longest=12, end=5, use_cache=False)
    assert [cut(text, 5) for text in found.tolist()] == expected


def test_sampling_draws_what_the_reference_draws():
    theirs, ours = pair("gpt2", std=0.3, dtype=torch.float32)
    choices = {"temperature": 0.9, "top_k": 9, "top_p": 0.8}
    torch.manual_seed(7)
    expected = theirs.generate(
        TOKENS, attention_mask=torch.ones_like(TOKENS), max_new_tokens=8, do_sample=True,
        pad_token_id=16, **choices,
    )  # fmt: skip
    torch.manual_seed(7)
    found = generate(ours, TOKENS, ours.start(), longest=8, choose=partial(sample, **choices))
    assert torch.equal(found, expected[:, 7:])


# Laws


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_logits_do_not_know_the_tokens_that_follow(norm):
    net = model(norm)
    before = net(TOKENS)
    for t in range(1, 7):
        changed = TOKENS.clone()
        changed[:, t:] = 14
        after = net(changed)
        torch.testing.assert_close(after[:, :t], before[:, :t], rtol=0, atol=1e-14)
        assert not torch.allclose(after[:, t], before[:, t])


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("padded", [False, True])
def test_reading_in_pieces_equals_reading_at_once(norm, padded):
    net, keep = model(norm), LEFT if padded else None
    whole = net(TOKENS, keep)  # (3, 7, V)
    pieces = ([7], [1] * 7, [3, 4], [4, 3], [1, 6], [6, 1], [2, 3, 2], [1, 1, 5])
    for split, capacity, quick in itertools.product(pieces, (0, 30), (False, True)):
        with torch.set_grad_enabled(capacity == 0):  # the cache is written in place or not
            state, end = net.start(keep, capacity=capacity), 0
            state.in_pieces = True
            assert state.quick is not None
            state.quick = state.quick if quick else None
            for T in split:
                logits = net.decode(TOKENS[:, end : end + T], state)
                end += T
                real = torch.ones(3, dtype=torch.bool) if keep is None else keep[:, end - 1]
                torch.testing.assert_close(logits[real], whole[real, end - 1])
            assert state.length == 7


def test_what_was_kept_is_still_right_after_beams_move():
    net, index = model(), torch.tensor([2, 1, 1, 0, 2])
    for keep, gradients in itertools.product((None, LEFT), (False, True)):
        with torch.set_grad_enabled(gradients):
            state = net.start(keep)
            state.in_pieces = True
            net.decode(TOKENS[:, :4], state)
            state.reorder(index)
            net.decode(TOKENS[index, 4:5], state)
            state.reorder(torch.tensor([0, 0, 2, 4, 1]))  # as many rows: moved in place
            moved = index[[0, 0, 2, 4, 1]]
            logits = net.decode(TOKENS[moved, 5:], state)
            torch.testing.assert_close(logits, net(TOKENS, keep)[moved, -1])


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("padding", ["left", "right"])
def test_a_batch_equals_its_items(norm, padding):
    net, keep = model(norm), PADDING[padding]
    together = net(TOKENS, keep)
    changed = net(TOKENS.masked_fill(~keep, 13), keep)  # what stands in the padding is the same
    for row in range(3):
        alone = net(TOKENS[row : row + 1, keep[row]])[0]
        torch.testing.assert_close(together[row, keep[row]], alone)
        torch.testing.assert_close(changed[row, keep[row]], alone)


@pytest.mark.parametrize("end", [None, 5])
def test_texts_of_a_batch_are_those_of_its_items(end):
    net = model()
    tokens, keep = left_pad(RAGGED, pad=0)
    together = generate(net, tokens, net.start(keep), longest=12, end=end, pad=-1)
    best = beam_search(net, tokens, net.start(keep), beams=3, longest=9, end=end, pad=-1)
    for row, prompt in enumerate(RAGGED):
        prompt = torch.tensor([prompt])
        alone = generate(net, prompt, net.start(), longest=12, end=end, pad=-1)[0]
        assert together[row, : len(alone)].tolist() == alone.tolist()
        assert together[row, len(alone) :].eq(-1).all()
        alone = beam_search(net, prompt, net.start(), beams=3, longest=9, end=end, pad=-1)
        assert best.tokens[row, :, : alone.tokens.shape[2]].tolist() == alone.tokens[0].tolist()
        torch.testing.assert_close(best.scores[row], alone.scores[0])


def test_the_score_of_a_beam_is_the_model_s():
    net = model()
    best = beam_search(net, TOKENS[:, :4], net.start(), beams=4, longest=6, alpha=0.0)
    for row in range(3):
        texts = torch.cat([TOKENS[row, :4].expand(4, -1), best.tokens[row]], dim=1)
        shares = net(texts[:, :-1]).log_softmax(-1)[:, 3:]
        shares = shares.gather(-1, best.tokens[row][:, :, None]).sum(dim=(1, 2))
        torch.testing.assert_close(best.scores[row], shares)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_gradients_reach_every_parameter(norm):
    net = model(norm)
    net(TOKENS).log_softmax(-1)[..., 3].sum().backward()
    for name, parameter in net.named_parameters():
        used = parameter.grad[:7] if name == "positions.weight" else parameter.grad
        assert used.isfinite().all() and used.abs().sum() > 0, name


def test_dropout_is_where_the_paper_has_it_and_off_in_eval():
    for place in ("dropout", "attention_dropout", "embedding_dropout"):
        net = model(**{place: 0.5})
        assert torch.equal(net(TOKENS), net(TOKENS))
        net.train()
        assert not torch.equal(net(TOKENS), net(TOKENS)), place
    net = model(dropout=0.5).train()
    assert net.stack.blocks[0].feed_forward.dropout.p == 0.0  # behind the sublayer, not inside it


def test_the_plain_path_knows_neither_cache_nor_quick_form():
    """What a reader meets first is the model; writing stands apart and is held equal elsewhere."""
    for path in (GPT.forward, GPT.hidden):
        names = {*path.__code__.co_varnames, *path.__code__.co_names}
        assert not names & {"cache", "quick", "state", "past"}


# Bad input


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda net: net(torch.zeros(1, 21).long()), ValueError, "20 positions were learned"),
        (lambda net: net.start(LEFT.flip(1)), ValueError, "must be on the left"),
        (
            lambda net: generate(net, TOKENS, net.start(), longest=15),
            ValueError,
            "at most 20 tokens: a prompt of 7 leaves room for 14 new ones, found longest=15",
        ),
        (
            lambda net: beam_search(
                net, torch.zeros(1, 22).long(), net.start(), beams=2, longest=1
            ),
            ValueError,
            "a prompt of 22 leaves room for 0 new ones",
        ),
    ],
)
def test_bad_input_gets_a_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call(model())


def test_the_last_position_can_be_used():
    net = model()
    tokens = generate(net, TOKENS, net.start(), longest=14)
    assert tokens.shape == (3, 14)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"depth": 0}, "depth must be above 0, found 0"),
        ({"heads": 5}, "heads must divide the width"),
    ],
)
def test_a_bad_configuration_gets_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        model(**changes)
    with pytest.raises(dataclasses.FrozenInstanceError):
        GPTConfig.gpt2().width = 3


IMPOSSIBLE = {
    "kv_heads": {"kv_heads": 1}, "head_width": {"head_width": 3}, "window": {"window": 4},
    "no biases": {"attention_bias": False}, "hidden": {"norm": "post", "hidden": 20},
}  # fmt: skip


@pytest.mark.parametrize("odd", IMPOSSIBLE)
def test_what_gpt_2_cannot_be_is_not_written_as_one(odd):
    sizes = {"vocabulary": 17, "width": 8, "depth": 1, "heads": 2, "positions": 6}
    model = GPT(GPTConfig(**sizes | IMPOSSIBLE[odd]))
    said = f"Llama with all of them; found {odd} alone"
    with pytest.raises(ValueError, match=said):
        weights.export(model)
    with pytest.raises(ValueError, match=said):
        weights.export(GPTMultipleChoice(model, extract=16))


def test_what_a_gpt_is_not_asked_is_said_by_the_gpt():
    model = GPT(GPTConfig(vocabulary=17, width=8, depth=1, heads=2, positions=6))
    with pytest.raises(TypeError, match=r"GPT.forward\(\) got an unexpected .* 'labels'"):
        model(torch.ones(1, 3).long(), labels=torch.ones(1, 3).long())


@pytest.mark.parametrize("head", [GPTClassifier, GPTMultipleChoice])
def test_a_head_stands_on_a_model_and_not_on_its_config(head):
    with pytest.raises(TypeError, match=r"found GPTConfig; make one of it: GPT\(config\)"):
        head(GPTConfig(), extract=1, **{"outputs": 2} if head is GPTClassifier else {})
