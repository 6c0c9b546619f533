"""GPT's heads: the input transformations of the paper's figure 1, parity, and that they learn."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from transformers import (
    GPT2Config,
    GPT2DoubleHeadsModel,
    GPT2ForSequenceClassification,
    OpenAIGPTConfig,
    OpenAIGPTDoubleHeadsModel,
)

from coursekit.models import weights
from coursekit.models.gpt import GPT, GPTConfig
from coursekit.models.gpt_heads import (
    GPTClassifier,
    GPTMultipleChoice,
    GPTSimilarity,
    Marks,
    add_tokens,
    classification,
    collate,
    entailment,
    multiple_choice,
    similarity,
)
from coursekit.models.weights.rules import export_state

MARKS = Marks(start=20, delimiter=21, extract=22, pad=0)
SIZES = {"vocab_size": 23, "n_embd": 24, "n_layer": 2, "n_head": 3, "n_positions": 20}
QUIET = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "summary_first_dropout": 0.0}
A, B, C = [1, 2, 3], [4, 5], [6, 7, 8, 9]


def gpt(vocabulary: int = 23, norm: str = "post") -> GPT:
    torch.manual_seed(0)
    config = GPTConfig(
        vocabulary=vocabulary, width=24, depth=2, heads=3, positions=20, norm=norm, dropout=0.0,
        attention_dropout=0.0, embedding_dropout=0.0,
    )  # fmt: skip
    net = GPT(config).double()
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.3)
    return net.eval()


def head(kind: type = GPTClassifier, **choices):
    net = kind(gpt(), extract=22, **choices).double().eval()
    nn.init.normal_(net.output.weight)
    return net


def test_the_transformations_are_those_of_figure_1():
    assert classification(A, MARKS) == [20, 1, 2, 3, 22]
    assert entailment(A, B, MARKS) == [20, 1, 2, 3, 21, 4, 5, 22]
    assert similarity(A, B, MARKS) == [[20, 1, 2, 3, 21, 4, 5, 22], [20, 4, 5, 21, 1, 2, 3, 22]]
    assert multiple_choice(A, [B, C], MARKS) == [
        [20, 1, 2, 3, 21, 4, 5, 22],
        [20, 1, 2, 3, 21, 6, 7, 8, 9, 22],
    ]
    assert collate([classification(A, MARKS), classification(B, MARKS)], MARKS).tolist() == [
        [20, 1, 2, 3, 22],
        [20, 4, 5, 22, 0],
    ]
    assert collate([multiple_choice(A, [B, C], MARKS)] * 3, MARKS).shape == (3, 2, 10)
    assert collate([similarity(A, B, MARKS)], MARKS).shape == (1, 2, 8)


def test_the_vector_at_the_extract_token_is_what_counts():
    net = head(outputs=4)
    tokens = collate([entailment(A, B, MARKS), entailment(C, A, MARKS)], MARKS)
    scores, logits = net.with_text(tokens)
    hidden = net.gpt.hidden(tokens)
    torch.testing.assert_close(scores[0], net.output(hidden[0, 7]))
    torch.testing.assert_close(scores[1], net.output(hidden[1, 9]))
    torch.testing.assert_close(logits, net.gpt(tokens))
    torch.testing.assert_close(net(tokens), scores)


def test_a_batch_equals_its_items():
    net = head(outputs=4)
    rows = [classification(text, MARKS) for text in (A, B, C)]
    together = net(collate(rows, MARKS))
    for row, scores in zip(rows, together):
        torch.testing.assert_close(net(torch.tensor([row]))[0], scores)


def test_similarity_does_not_know_which_text_came_first():
    net = head(GPTSimilarity, outputs=2)
    one = net(collate([similarity(A, B, MARKS)], MARKS))
    other = net(collate([similarity(B, A, MARKS)], MARKS))
    torch.testing.assert_close(one, other)
    tokens = collate([similarity(A, B, MARKS)], MARKS)
    assert not torch.allclose(net(tokens), net(tokens[:, [0, 0]]))  # each order counts
    hidden = net.gpt.hidden(tokens[0])[:, -1]  # (2, D)
    torch.testing.assert_close(one[0], net.output(hidden[0] + hidden[1]))
    _, logits = net.with_text(tokens)
    torch.testing.assert_close(logits[0], net.gpt(tokens[0]))


def test_answers_are_scored_one_by_one():
    net = head(GPTMultipleChoice)
    answers = [B, C, [11], A]
    scores = net(collate([multiple_choice(A, answers, MARKS)], MARKS))
    assert scores.shape == (1, 4)
    for n, answer in enumerate(answers):
        alone = net(collate([multiple_choice(A, [answer], MARKS)], MARKS))
        torch.testing.assert_close(alone[0, 0], scores[0, n])
    moved = net(collate([multiple_choice(A, answers[::-1], MARKS)], MARKS))
    torch.testing.assert_close(moved.flip(1), scores)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", ["gpt1", "gpt2"])
def test_multiple_choice_equals_the_reference(kind, dtype):
    torch.manual_seed(0)
    if kind == "gpt1":
        config = OpenAIGPTConfig(**SIZES, **QUIET, num_labels=1)
        theirs = OpenAIGPTDoubleHeadsModel(config).to(dtype).eval()
    else:
        config = GPT2Config(**SIZES, **QUIET, num_labels=1)
        theirs = GPT2DoubleHeadsModel(config).to(dtype).eval()
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.2)
    state = theirs.state_dict()
    ours = weights.build(
        GPTMultipleChoice, state, weights.read_config(GPTConfig, config.to_dict()), extract=22
    ).eval()
    tokens = collate([multiple_choice(A, [B, C, A], MARKS), multiple_choice(C, [A, B, B], MARKS)],
                     MARKS)  # fmt: skip
    places = (tokens == 22).int().argmax(-1)  # (B, N)
    expected = theirs(tokens, mc_token_ids=places)
    scores, logits = ours.with_text(tokens)
    close = {"rtol": 0, "atol": 1e-5 if dtype == torch.float32 else 1e-10}
    torch.testing.assert_close(scores, expected.mc_logits, **close)
    torch.testing.assert_close(logits, expected.logits, **close)

    for found, text in ((scores, logits), (expected.mc_logits, expected.logits)):
        loss = F.cross_entropy(found, torch.tensor([2, 0])) + text.square().mean() / 100
        loss.backward()
    gradients = {name: parameter.grad for name, parameter in ours.named_parameters()}
    gradients = export_state(weights.rules_of(ours), gradients)
    for name, parameter in theirs.named_parameters():
        torch.testing.assert_close(gradients[name], parameter.grad, **close, msg=name)

    exported = weights.export(ours)
    assert exported.keys() == state.keys()
    assert all(torch.equal(exported[name], state[name]) for name in state)
    with pytest.raises(ValueError, match="'extra'"):
        weights.build(
            GPTMultipleChoice, state | {"extra": torch.ones(1)}, ours.gpt.config, extract=22
        )


def test_classification_equals_the_reference():
    """Theirs reads the last token that is no padding, and its layer has no bias."""
    torch.manual_seed(0)
    config = GPT2Config(**SIZES, **QUIET, num_labels=4, pad_token_id=0)
    theirs = GPT2ForSequenceClassification(config).double().eval()
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.2)
    body = weights.build(
        GPT, theirs.transformer.state_dict(), weights.read_config(GPTConfig, config.to_dict())
    )
    ours = GPTClassifier(body, extract=22, outputs=4, bias=False).double().eval()
    ours.output.load_state_dict(theirs.score.state_dict())
    tokens = collate([classification(text, MARKS) for text in (A, B, C)], MARKS)
    expected = theirs(tokens, attention_mask=(tokens != 0).long()).logits
    torch.testing.assert_close(ours(tokens), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_new_tokens_change_nothing_for_the_old_ones(norm):
    old = gpt(vocabulary=20, norm=norm)
    new = add_tokens(old, 3)
    assert new.config.vocabulary == 23 and not new.training
    tokens = torch.tensor([[1, 2, 19, 4]])
    torch.testing.assert_close(new(tokens)[..., :20], old(tokens))
    fresh = new.tokens.weight[20:]
    assert fresh.std().item() == pytest.approx(0.02, rel=0.3) and fresh.requires_grad


def test_the_three_heads_learn_with_the_auxiliary_objective():
    """Which text holds token 5? A task for each head, on a model that starts from nothing."""
    torch.manual_seed(0)
    texts = torch.randint(6, 12, (48, 3))
    has = torch.rand(48) < 0.5
    texts[has, torch.randint(3, (int(has.sum()),))] = 5
    texts, label = texts.tolist(), has.long()
    others = [[7, 8]] * 48
    tasks = {
        GPTClassifier: ([classification(t, MARKS) for t in texts], label),
        GPTSimilarity: ([similarity(t, o, MARKS) for t, o in zip(texts, others)], label),
        GPTMultipleChoice: (
            [multiple_choice([13], [o, t], MARKS) for t, o in zip(texts, others)],
            label,
        ),
    }
    for kind, (examples, target) in tasks.items():
        config = GPTConfig(vocabulary=20, width=24, depth=1, heads=3, positions=20, norm="post")
        body = add_tokens(GPT(config), 3)
        choices = {} if kind is GPTMultipleChoice else {"outputs": 2}
        net = kind(body, extract=22, **choices)
        tokens = collate(examples, MARKS)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
        for _ in range(60):
            scores, logits = net.with_text(tokens)
            task = F.cross_entropy(scores, target)
            text = F.cross_entropy(logits[..., :-1, :].flatten(0, -2), tokens[..., 1:].flatten())
            optimizer.zero_grad()
            (task + 0.5 * text).backward()
            optimizer.step()
        net.eval()
        assert (net(tokens).argmax(-1) == target).float().mean() > 0.95, kind
        for name, parameter in net.named_parameters():
            assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: head(outputs=2)(torch.tensor([[20, 1, 2]])), r"token 22 once, found it \[0\]"),
        (lambda: head(outputs=2)(torch.tensor([[22, 1, 22]])), r"found it \[2\] times"),
        (lambda: GPTClassifier(gpt(20), extract=22, outputs=2), "vocabulary of 20, found 22"),
        (lambda: Marks(start=1, delimiter=2, extract=2, pad=0), "must differ from the other three"),
        (lambda: collate([], MARKS), "at least one example"),
        (
            lambda: collate([similarity(A, B, MARKS), [classification(A, MARKS)]], MARKS),
            r"as many sequences as the others, found \[1, 2\]",
        ),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
