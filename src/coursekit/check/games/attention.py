"""Mistakes in the parts of attention and of a block."""

from coursekit.check.games.game import Game, Mistake

GAMES = (
    Game(
        name="gaussian kernel",
        function="kernels.gaussian",
        calls=("gaussian(tensor([[0.0]]), tensor([[1.0], [3.0]]), bandwidth=3.0)",),
        mistakes=(
            Mistake(
                "bandwidth without its 2",
                "/ (2 * bandwidth**2)",
                "/ (bandwidth**2)",
                "The exponent of a Gaussian has a 2 below it. Without it the bump is narrower than "
                "its bandwidth says.",
            ),
            Mistake(
                "bandwidth not squared",
                "/ (2 * bandwidth**2)",
                "/ (2 * bandwidth)",
                "The distance is squared, so the bandwidth has to be squared as well. At a "
                "bandwidth of 1 nobody notices.",
            ),
            Mistake(
                "the sign of the distance",
                "return -squared /",
                "return squared /",
                "Without the minus a key scores higher the farther away it is.",
            ),
        ),
    ),
    Game(
        name="scaled dot product",
        function="kernels.scaled_dot",
        calls=(
            "scaled_dot(torch.ones(4, 4), torch.ones(1, 4))",
            "scaled_dot(torch.ones(1, 1), torch.ones(3, 1))",
            "scaled_dot(torch.ones(1, 9), torch.ones(1, 9))",
            "scaled_dot(torch.ones(2, 2), torch.ones(1, 2))",
        ),
        mistakes=(
            Mistake(
                "scaled by the number of queries",
                "math.sqrt(q.shape[-1])",
                "math.sqrt(q.shape[-2])",
                "It divides by the root of the number of queries, not of their width. Where there "
                "are as many queries as each has numbers, the two agree.",
            ),
        ),
    ),
    Game(
        name="masked softmax",
        function="attention.masked_softmax",
        calls=(
            "masked_softmax(tensor([1.0, 9.0]), tensor([True, False]))",
            "masked_softmax(tensor([-50.0, 50.0]), tensor([True, False]))",
            "masked_softmax(tensor([-20000.0, 0.0]), tensor([True, False]))",
            "masked_softmax(tensor([3.0, 4.0]), tensor([False, False]))",
        ),
        mistakes=(
            Mistake(
                "minus ten thousand for minus infinity",
                "masked_fill(~mask, -torch.inf)",
                "masked_fill(~mask, -1e4)",
                "A large negative number hides a key only as long as the allowed scores lie well "
                "above it. Where they lie below, the hidden key takes all the weight.",
            ),
        ),
    ),
    Game(
        name="heads",
        function="heads.split_heads",
        calls=(
            "split_heads(torch.arange(8).view(1, 1, 8), 4)",
            "split_heads(torch.arange(8).view(1, 2, 4), 2)",
            "split_heads(torch.arange(8).view(1, 4, 2), 1)",
            "split_heads(torch.arange(8).view(2, 1, 4), 2)",
        ),
        mistakes=(
            Mistake(
                "heads cut by a reshape",
                "x.unflatten(-1, (heads, -1)).transpose(1, 2)",
                "x.reshape(x.shape[0], heads, x.shape[1], -1)",
                "The shape is right and the numbers are not: a reshape reads them in their order "
                "in memory, so a head gets the first tokens in place of the first columns. "
                "With one token, or one head, nobody notices.",
            ),
        ),
    ),
    Game(
        name="sinusoidal positions",
        function="positions.sinusoidal",
        calls=("sinusoidal(2, 4)",),
        mistakes=(
            Mistake(
                "sine and cosine swapped",
                "[angles.sin(), angles.cos()]",
                "[angles.cos(), angles.sin()]",
                "The even columns hold the sines. With the two swapped a model can be trained, but "
                "weights that were trained with the other order are of no use.",
            ),
            Mistake(
                "all sines before all cosines",
                "dim=-1)  # (..., ceil(width / 2), 2)",
                "dim=-2)  # (..., 2, ceil(width / 2))",
                "It puts all sines into the left half and all cosines into the right. The promised "
                "order alternates: a sine, its cosine, the next sine.",
            ),
            Mistake(
                "positions counted from 1",
                "t = _ids(positions)  # (...)",
                "t = _ids(positions) + 1  # (...)",
                "The first position is 0, with sines of 0 and cosines of 1.",
            ),
        ),
    ),
    Game(
        name="RMSNorm",
        function="norms.rms_norm",
        calls=("rms_norm(tensor([[3.0, 4.0], [0.0, 0.0]]), eps=1.0)",),
        mistakes=(
            Mistake(
                "RMSNorm adds eps behind the root",
                "(wide.square().mean(dim=-1, keepdim=True) + eps).sqrt()",
                "(wide.square().mean(dim=-1, keepdim=True).sqrt() + eps)",
                "The promise has eps below the root. Beside it, the same eps weighs far more in "
                "small rows, and weights from elsewhere give other numbers.",
            ),
            Mistake(
                "one mean for all tokens",
                "wide.square().mean(dim=-1, keepdim=True)",
                "wide.square().mean()",
                "Each token has a mean of its own. With one for all, a token changes when another "
                "one does, even one that it may not see.",
            ),
            Mistake(
                "the sum for the mean",
                "wide.square().mean(dim=-1, keepdim=True)",
                "wide.square().sum(dim=-1, keepdim=True)",
                "That divides by the norm of the row. Its numbers then get smaller the wider the "
                "model is, in place of having a size of about 1.",
            ),
        ),
    ),
)
