"""Masked language modelling: who is chosen, what becomes of them, and that they alone have loss."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from coursekit.objectives.masked_lm import TABLE_8, Replacement, masked_lm_loss, mlm_mask
from coursekit.objectives.special_tokens import SpecialTokens

SPECIAL = SpecialTokens(pad=0, cls=5, sep=7, mask=11, others=(3,))
VOCABULARY = 40
TEXT = SPECIAL.ordinary(VOCABULARY).tolist()


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def batch(rows=4, length=12, seed=0):
    """[CLS] text [SEP] text [UNK] [SEP] and padding in the later rows."""
    drawn = torch.randint(len(TEXT), (rows, length), generator=generator(seed))
    tokens = torch.tensor(TEXT)[drawn]
    tokens[:, 0] = SPECIAL.cls
    tokens[:, length // 2] = SPECIAL.sep
    tokens[:, -2] = 3
    tokens[:, -1] = SPECIAL.sep
    tokens[rows // 2 :, length // 2 + 1 :] = SPECIAL.pad
    return tokens


def within(count, total, share, sigmas=5):
    """A binomial count lies within five standard deviations of its mean (1 in 1.7 million)."""
    return abs(count - total * share) <= sigmas * math.sqrt(total * share * (1 - share))


@given(
    st.integers(1, 6),
    st.integers(6, 20),
    st.integers(0, 999),
    st.sampled_from(list(TABLE_8)),
    st.floats(0, 1),
    st.booleans(),
)
def test_laws_of_every_batch(rows, length, seed, name, rate, at_least_one):
    tokens = batch(rows, length, seed)
    before = tokens.clone()

    def masked():
        return mlm_mask(
            tokens,
            SPECIAL,
            VOCABULARY,
            rate=rate,
            replacement=TABLE_8[name],
            at_least_one=at_least_one,
            generator=generator(seed),
        )

    found, again = masked(), masked()
    assert torch.equal(tokens, before)  # the corpus itself stays
    assert torch.equal(found.inputs, again.inputs) and torch.equal(found.chosen, again.chosen)
    special = SPECIAL.find(tokens)
    assert not (found.chosen & special).any()  # neither [CLS], [SEP], [UNK] nor padding
    assert torch.equal(found.inputs[~found.chosen], tokens[~found.chosen])
    assert torch.equal(found.labels[found.chosen], tokens[found.chosen])
    assert found.labels[~found.chosen].eq(-100).all()
    put = found.inputs[found.chosen]
    assert (~SPECIAL.find(put) | (put == SPECIAL.mask)).all()  # [MASK] or text
    if at_least_one:
        assert torch.equal(found.chosen.any(1), (~special).any(1))


@pytest.mark.parametrize("name", TABLE_8)
def test_shares_of_a_large_batch(name):
    """Of 160,000 tokens of text 15% are chosen, and these get their shares of Table 8."""
    length = 1000
    tokens = torch.full((200, length), TEXT[4])
    tokens[:, 0], tokens[:, -1], tokens[:, 800:-1] = SPECIAL.cls, SPECIAL.sep, SPECIAL.pad
    text = 200 * 799
    shares = TABLE_8[name]
    found = mlm_mask(tokens, SPECIAL, VOCABULARY, replacement=shares, generator=generator(1))
    chosen = int(found.chosen.sum())
    assert within(chosen, text, 0.15)
    put = found.inputs[found.chosen]
    assert within((put == SPECIAL.mask).sum().item(), chosen, shares.mask)
    # A random token is the right one in one of V cases, and then looks like "same".
    assert within((put == TEXT[4]).sum().item(), chosen, shares.same + shares.random / len(TEXT))
    for other in TEXT:
        if other != TEXT[4]:
            assert within((put == other).sum().item(), chosen, shares.random / len(TEXT))
    # Every place is as likely, and what becomes of a token says nothing about its place.
    assert within(found.chosen[:, 1:400].sum().item(), 200 * 399, 0.15)
    assert within(found.chosen[:100].sum().item(), text // 2, 0.15)


def test_the_paper_s_rows_are_named_mask_same_random():
    for name, shares in TABLE_8.items():
        assert [round(100 * x) for x in (shares.mask, shares.same, shares.random)] == [
            int(x) for x in name.split("/")
        ]
    assert Replacement() == TABLE_8["80/10/10"]
    with pytest.raises(ValueError, match=r"sum to 1, found \(0.8, 0.2, 0.1\)"):
        Replacement(mask=0.8, same=0.2, random=0.1)
    with pytest.raises(ValueError, match="sum to 1"):
        Replacement(mask=1.2, same=-0.1, random=-0.1)


def test_dynamic_masking_is_calling_it_again():
    tokens, stream = batch(8, 40), generator()
    first, second = (mlm_mask(tokens, SPECIAL, VOCABULARY, generator=stream) for _ in range(2))
    assert not torch.equal(first.chosen, second.chosen)
    epochs = [mlm_mask(tokens, SPECIAL, VOCABULARY, generator=stream).chosen for _ in range(200)]
    assert torch.equal(torch.stack(epochs).any(0), ~SPECIAL.find(tokens))  # each has its turn


@given(st.integers(0, 999), st.booleans())
def test_whole_words_are_chosen_together(seed, at_least_one):
    tokens = batch(5, 20, seed)
    joined = torch.rand(tokens.shape, generator=generator(seed)) < 0.5  # goes on with the word
    words = (~joined).long().cumsum(1) - 1
    words = words.clamp(min=0).masked_fill(SPECIAL.find(tokens), -1)
    found = mlm_mask(
        tokens,
        SPECIAL,
        VOCABULARY,
        rate=0.4,
        words=words,
        at_least_one=at_least_one,
        generator=generator(seed),
    )
    assert not found.chosen[SPECIAL.find(tokens)].any()
    for row in range(5):
        for word in range(20):
            assert len(set(found.chosen[row][words[row] == word].tolist())) <= 1
    if at_least_one:
        assert found.chosen.any(1).all()


def test_whole_words_keep_the_rate_and_their_pieces_fare_alone():
    tokens = torch.full((400, 300), TEXT[0])
    words = torch.arange(300).div(3, rounding_mode="floor").expand(400, -1)
    found = mlm_mask(tokens, SPECIAL, VOCABULARY, words=words, generator=generator())
    chosen = int(found.chosen.sum())
    assert within(chosen / 3, 400 * 100, 0.15)
    hidden = (found.inputs == SPECIAL.mask)[found.chosen].view(-1, 3)
    assert within(hidden.all(1).sum().item(), chosen // 3, 0.8**3)


def test_at_least_one_picks_fairly_and_only_where_it_must():
    tokens = torch.tensor([[SPECIAL.cls, 1, 2, 4, SPECIAL.sep, 0]]).repeat(30_000, 1)
    found = mlm_mask(
        tokens, SPECIAL, VOCABULARY, rate=0.0, at_least_one=True, generator=generator()
    )
    assert found.chosen.sum(1).eq(1).all()
    for place in (1, 2, 3):
        assert within(found.chosen[:, place].sum().item(), 30_000, 1 / 3)
    free = mlm_mask(tokens, SPECIAL, VOCABULARY, generator=generator())
    forced = mlm_mask(tokens, SPECIAL, VOCABULARY, at_least_one=True, generator=generator())
    some = free.chosen.any(1)
    assert torch.equal(free.chosen[some], forced.chosen[some]) and forced.chosen.any(1).all()


def model(seed=0):
    """A model that looks at its own position only, so that gradients tell positions apart."""
    torch.manual_seed(seed)
    return torch.nn.Embedding(VOCABULARY, 6).double(), torch.nn.Linear(6, VOCABULARY).double()


def test_masked_positions_alone_carry_loss():
    """Broken implementations take the mean over all positions, and learn to copy."""
    tokens = batch(6, 30)
    found = mlm_mask(tokens, SPECIAL, VOCABULARY, generator=generator())
    embedding, head = model()
    logits = head(embedding(found.inputs)).detach().requires_grad_()
    loss = masked_lm_loss(logits, found.labels)
    (grad,) = torch.autograd.grad(loss, logits)
    assert grad[~found.chosen].eq(0).all() and grad[found.chosen].ne(0).any(-1).all()
    # What stands elsewhere does not matter, and neither does what an unchosen label would be.
    other = torch.where(found.chosen[..., None], logits, torch.randn_like(logits))
    torch.testing.assert_close(masked_lm_loss(other, found.labels), loss)
    # Every chosen position counts alike, the kept ones too: the gradient is (p − y) / N there.
    y = F.one_hot(tokens[found.chosen], VOCABULARY)
    want = (logits[found.chosen].softmax(-1) - y) / found.chosen.sum()
    torch.testing.assert_close(grad[found.chosen], want)


def test_a_head_on_the_chosen_positions_gives_the_same_loss():
    tokens = batch(6, 30)
    found = mlm_mask(tokens, SPECIAL, VOCABULARY, generator=generator())
    embedding, head = model()
    hidden = embedding(found.inputs)
    full = masked_lm_loss(head(hidden), found.labels)
    few = masked_lm_loss(head(hidden[found.chosen]), found.labels)
    torch.testing.assert_close(full, few)
    torch.testing.assert_close(
        full, F.cross_entropy(head(hidden).flatten(0, 1), found.labels.flatten())
    )
    parameters = [embedding.weight, head.weight]
    torch.testing.assert_close(
        torch.autograd.grad(full, parameters, retain_graph=True),
        torch.autograd.grad(few, parameters),
    )


def test_bad_input_gets_a_sentence():
    tokens = batch()
    with pytest.raises(ValueError, match=r"within the vocabulary of 10, found \(0, 5, 7, 11, 3\)"):
        mlm_mask(torch.ones(1, 2, dtype=torch.long), SPECIAL, 10)
    with pytest.raises(ValueError, match="numbered from 0 within each row of 12 tokens"):
        mlm_mask(tokens, SPECIAL, VOCABULARY, words=torch.full_like(tokens, 12))
    none = mlm_mask(tokens, SPECIAL, VOCABULARY, rate=0.0)
    with pytest.raises(ValueError, match="at_least_one=True"):
        masked_lm_loss(torch.randn(4, 12, VOCABULARY), none.labels)
    some = mlm_mask(tokens, SPECIAL, VOCABULARY, rate=0.5, generator=generator())
    with pytest.raises(ValueError, match=r"\(4, 12, 'V'\) or, .* found \(3, 40\)"):
        masked_lm_loss(torch.randn(3, VOCABULARY), some.labels)


@pytest.mark.parametrize("wrong", [9, -1])
def test_a_label_that_is_no_word_is_refused(wrong):
    labels = torch.tensor([[-100, wrong, 3]])
    with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds"):
        masked_lm_loss(torch.zeros(1, 3, 9), labels)
    with pytest.raises(ValueError, match="sum to 1, found"):
        Replacement(mask=float("nan"))
