"""What the encoder of a ViT reads: a class token before the patches, and a position on each."""

from __future__ import annotations

import torch

from coursekit.exercises.probe import after, gradients, randn
from coursekit.exercises.question import Question


def prepare_tokens(patches, class_token, positions):
    """patches (B, N, D), class token (D,), positions (N + 1, D) -> tokens (B, N + 1, D)."""
    first = class_token.expand(len(patches), 1, -1)  # (B, 1, D)
    tokens = torch.cat([first, patches], dim=1)  # (B, N + 1, D)
    return tokens + positions


QUESTION = Question(
    name="prepare_tokens",
    title="One token more",
    points=3,
    difficulty=1,
    minutes=15,
    page="vit.html#sec-vit-token",
    hint="First the order, then the sum. Which shape must the class token have to stand in one "
    "row with the patches of every picture? And when you add the positions, which of them should "
    "meet the class token?",
    reference=prepare_tokens,
    forbidden=("coursekit",),
)


def _given(B, N, D, seed, dtype=torch.float32):
    """Vectors of patches, a class token and positions, none of them small."""
    shapes = (B, N, D), (D,), (N + 1, D)
    return tuple(randn(*shape, seed=seed + n, dtype=dtype) for n, shape in enumerate(shapes))


@QUESTION.visible(says="one picture of two patches")
def one_picture(student):
    patches = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    positions = torch.tensor([[100.0, 200.0], [300.0, 400.0], [500.0, 600.0]])
    return student.prepare_tokens(patches, torch.tensor([10.0, 20.0]), positions)


@QUESTION.visible(says="three pictures", weight=2)
def three_pictures(student):
    return student.prepare_tokens(*_given(3, 4, 5, seed=1))


@QUESTION.visible(says="positions of zeros: the order alone")
def without_positions(student):
    patches, class_token, _ = _given(2, 3, 4, seed=4)
    return student.prepare_tokens(patches, class_token, torch.zeros(4, 4))


@QUESTION.visible(says="as many pictures as tokens, and as wide")
def all_alike(student):
    return student.prepare_tokens(*_given(4, 3, 4, seed=7)), student.prepare_tokens(
        *_given(3, 3, 3, seed=10)
    )


@QUESTION.visible(says="a class token of zeros, as it is before training; a single patch")
def zeros_at_first(student):
    patches, _, positions = _given(2, 1, 3, seed=13)
    return student.prepare_tokens(patches, torch.zeros(3), positions)


@QUESTION.visible(says="gradients, for all three")
def with_gradients(student):
    return gradients(student.prepare_tokens, *_given(3, 2, 4, seed=16))


@QUESTION.visible(says="what was given stays as it was; double precision")
def what_was_given_stays(student):
    return after(student.prepare_tokens, *_given(2, 3, 4, seed=19, dtype=torch.float64))


CAT = "torch.cat([first, patches], dim=1)"
RETURN = "return tokens + positions"
BOTH = f"tokens = {CAT}  # (B, N + 1, D)\n    {RETURN}"

QUESTION.mistake(
    "class token last",
    old="[first, patches]",
    new="[patches, first]",
    hint="Your class token stands behind the patches, and so every token gets the position of its "
    "neighbour. It stands before them.",
)

QUESTION.mistake(
    "class token last, with its own position",
    old=BOTH,
    new="return torch.cat([patches + positions[1:], first + positions[0]], dim=1)",
    hint="Each token has its own position, but your class token stands behind the patches. It "
    "stands before them.",
)

QUESTION.mistake(
    "positions before the class token",
    old=BOTH,
    new="return torch.cat([first, patches + positions[:-1]], dim=1)",
    hint="You add the first N positions to the patches and put the class token in front "
    "afterwards: it gets no position, and each patch has that of the token before it. First the "
    "class token, then the positions.",
)

QUESTION.mistake(
    "no position for the class token",
    old=BOTH,
    new="return torch.cat([first, patches + positions[1:]], dim=1)",
    hint="Your patches have the right positions, but the class token has none. The first row of "
    "`positions` is its own.",
)

QUESTION.mistake(
    "the last position for the class token",
    old=BOTH,
    new="return torch.cat([first + positions[-1], patches + positions[:-1]], dim=1)",
    hint="The last position goes to the class token in yours, and the first to the first patch. "
    "The class token stands first, and so does its position.",
)

QUESTION.mistake(
    "a class token's position for all",
    old=RETURN,
    new="return tokens + positions[0]",
    hint="You add one position to all tokens. Each has its own row of `positions`, or the model "
    "cannot tell the patches apart by their places.",
)

QUESTION.mistake(
    "no positions",
    old=RETURN,
    new="return tokens + 0 * positions",
    hint="You leave the positions out. To attention, patches without them are a set, without "
    "places.",
)

QUESTION.mistake(
    "no positions at all",
    old=RETURN,
    new="return tokens",
    hint="You leave the positions out. To attention, patches without them are a set, without "
    "places.",
)

QUESTION.mistake(
    "no class token",
    old=BOTH,
    new="return patches + positions[1:]",
    hint="There is no class token in what you return. It stands before the patches of every "
    "picture, which makes N + 1 tokens.",
)

QUESTION.mistake(
    "in place of the first patch",
    old="[first, patches]",
    new="[first, patches[:, 1:], patches[:, -1:]]",
    hint="The class token has taken the place of the first patch. Nothing is lost: N + 1 tokens.",
)

QUESTION.mistake(
    "in place of the first patch, N tokens",
    old=BOTH,
    new="tokens = torch.cat([first, patches[:, 1:]], dim=1)\n    return tokens + positions[:-1]",
    hint="The class token has taken the place of the first patch. It comes in addition: N + 1 "
    "tokens.",
)

QUESTION.mistake(
    "added to each patch",
    old=BOTH,
    new="return patches + class_token + positions[1:]",
    hint="You add the class token to each patch. It is a token of its own, before the patches.",
)

QUESTION.mistake(
    "one for each picture",
    old="class_token.expand(len(patches), 1, -1)",
    new="class_token + patches.mean(dim=1, keepdim=True)",
    hint="Your class token differs from picture to picture: it knows the patches before it has "
    "looked at them. It is the same vector for all, and learns what to ask of them in the blocks.",
)

QUESTION.mistake(
    "the mean of the patches",
    old="class_token.expand(len(patches), 1, -1)",
    new="patches.mean(dim=1, keepdim=True)",
    hint="You put the mean of the patches in front, and leave the class token out. It is a vector "
    "that is learned, the same for all pictures.",
)

QUESTION.mistake(
    "for the first picture alone",
    old="class_token.expand(len(patches), 1, -1)",
    new="torch.cat([class_token[None, None], 0 * class_token.expand(len(patches) - 1, 1, -1)])",
    hint="Only the first picture has the class token in yours. Every picture has one, the same.",
)

QUESTION.mistake(
    "zeros in front",
    old="class_token.expand(len(patches), 1, -1)",
    new="torch.zeros_like(patches[:, :1])",
    hint="You put zeros in front. A class token is zeros before training only; use the one that "
    "you are given.",
)

QUESTION.mistake(
    "random numbers in front",
    old="class_token.expand(len(patches), 1, -1)",
    new="torch.randn_like(patches[:, :1])",
    hint="You draw a class token. It is given, and it has learned something: use it.",
)

QUESTION.mistake(
    "one more picture",
    old=BOTH,
    new="first = class_token.expand(1, patches.shape[1], -1)\n"
    "    return torch.cat([first, patches], dim=0) + positions[1:]",
    hint="You put the class token along the axis of the pictures, as if it were one more picture. "
    "It stands in the row of tokens: the second axis.",
)

QUESTION.mistake(
    "positions multiplied",
    old=RETURN,
    new="return tokens * positions",
    hint="You multiply by the positions. They are added.",
)

QUESTION.mistake(
    "positions beside the tokens",
    old=RETURN,
    new="return torch.cat([tokens, positions.expand(len(patches), -1, -1)], dim=-1)",
    hint="You put the positions beside the tokens, which makes them twice as wide. They are added, "
    "and the width stays D.",
)

QUESTION.mistake(
    "positions as tokens",
    old=RETURN,
    new="return torch.cat([tokens, positions.expand(len(patches), -1, -1)], dim=1)",
    hint="Your positions have become tokens of their own, behind the others. They are added to the "
    "tokens that are there.",
)

QUESTION.mistake(
    "positions twice",
    old=RETURN,
    new="return tokens + 2 * positions",
    hint="Each position is added twice in yours. Once is enough.",
)

QUESTION.mistake(
    "the class token's position twice",
    old="class_token.expand(",
    new="(class_token + positions[0]).expand(",
    hint="The class token gets its position twice: once before it is put in front, and once with "
    "all the others.",
)

QUESTION.mistake(
    "positions backwards",
    old=RETURN,
    new="return tokens + positions.flip(0)",
    hint="You add the positions from the last to the first. The first row belongs to the first "
    "token.",
)

QUESTION.mistake(
    "grown by the root of the width",
    old=RETURN,
    new="return patches.shape[-1] ** 0.5 * tokens + positions",
    hint="You multiply the tokens by the root of the width, as the Transformer that translates "
    "does with its words. A ViT does not.",
)

QUESTION.mistake(
    "divided by the root of the width",
    old=RETURN,
    new="return (tokens + positions) / patches.shape[-1] ** 0.5",
    hint="You divide by the root of the width. That belongs to the scores of attention.",
)

QUESTION.mistake(
    "normalised",
    old=RETURN,
    new="x = tokens + positions\n"
    "    x = x - x.mean(dim=-1, keepdim=True)\n"
    "    return x / (x.var(dim=-1, keepdim=True, unbiased=False) + 1e-6).sqrt()",
    hint="You normalise the tokens. The first norm of a ViT stands within its first block; what "
    "enters is the plain sum.",
)

QUESTION.mistake(
    "normalised by torch",
    old=RETURN,
    new="x = tokens + positions\n    return torch.nn.functional.layer_norm(x, x.shape[-1:])",
    hint="You normalise the tokens. The first norm of a ViT stands within its first block; what "
    "enters is the plain sum.",
)

QUESTION.mistake(
    "class token detached",
    old="class_token.expand(",
    new="class_token.detach().expand(",
    hint="The numbers are right, but the class token gets no gradient, so it would never learn.",
)

QUESTION.mistake(
    "positions detached",
    old=RETURN,
    new="return tokens + positions.detach()",
    hint="The numbers are right, but the positions get no gradient. They are learned, nobody tells "
    "them where they stand.",
)

QUESTION.mistake(
    "nothing learns",
    old=RETURN,
    new="return (tokens + positions).detach()",
    hint="The numbers are right, but no gradient gets through. Leave out detach, `.data` and "
    "torch.tensor, and keep torch.no_grad away.",
)

QUESTION.mistake(
    "tokens first",
    old=RETURN,
    new="return (tokens + positions).transpose(0, 1)",
    hint="Your tokens stand before the pictures: (N + 1, B, D). The pictures come first.",
)

QUESTION.mistake(
    "pictures in one row",
    old=RETURN,
    new="return (tokens + positions).flatten(0, 1)",
    hint="The tokens of all pictures are in one row in yours. Each picture has its own: (B, N + 1, "
    "D).",
)

QUESTION.mistake(
    "in single precision",
    old=RETURN,
    new="return (tokens + positions).float()",
    hint="Your tokens are float32, whatever the dtype of what you were given.",
)

QUESTION.mistake(
    "written into the patches",
    old=BOTH,
    new="patches += positions[1:]\n    return torch.cat([first + positions[0], patches], dim=1)",
    hint="You write into `patches`: += changes what you were given, and torch cannot go backwards "
    "through a leaf that was changed. Write patches + positions[1:].",
)

QUESTION.mistake(
    "written into the patches' data",
    old=BOTH,
    new="patches.data += positions[1:]\n"
    "    first, patches = first + positions[0], patches + 0 * positions[1:]\n"
    "    return torch.cat([first, patches], dim=1)",
    hint="The patches that you were given are no longer what they were. Make a new tensor.",
)
