"""Mistakes in what looks at pictures."""

from coursekit.check.games.game import Game, Mistake

GAMES = (
    Game(
        name="hinge loss of the discriminator",
        function="objectives.adversarial.hinge_discriminator",
        calls=("hinge_discriminator(tensor([3.0, 0.0]), tensor([-3.0, 1.0]))",),
        mistakes=(
            Mistake(
                "painted pictures pushed above -1",
                "F.relu(1 + fake).mean()",
                "F.relu(1 - fake).mean()",
                "It asks for high numbers on painted pictures as well, so that nothing tells the "
                "two kinds apart.",
            ),
            Mistake(
                "the hinge at the mean instead of each picture",
                "F.relu(1 - real).mean()",
                "F.relu(1 - real.mean())",
                "Each picture has a hinge of its own. Here one picture that is far beyond 1 makes "
                "up for another that is taken for the wrong kind.",
            ),
            Mistake(
                "no hinge",
                "F.relu(1 - real).mean() + F.relu(1 + fake).mean()",
                "(1 - real).mean() + (1 + fake).mean()",
                "Without the hinge the loss has no lower bound: it goes on falling by making clear "
                "cases clearer.",
            ),
        ),
    ),
    Game(
        name="patches",
        function="models.patches.patchify",
        calls=("patchify(torch.arange(16.0).view(1, 2, 2, 4), 2)",),
        mistakes=(
            Mistake(
                "pixels of a patch with the channels first",
                "permute(0, 2, 4, 3, 5, 1)",
                "permute(0, 2, 4, 1, 3, 5)",
                "Here a patch has all its pixels of one channel, then all of the next. The promise "
                "is each pixel with its channels.",
            ),
            Mistake(
                "pixels of a patch column by column",
                "permute(0, 2, 4, 3, 5, 1)",
                "permute(0, 2, 4, 5, 3, 1)",
                "Rows and columns within a patch are swapped: each patch lies on its side.",
            ),
            Mistake(
                "every so many pixels one",
                "unflatten(3, (columns, patch))",
                "unflatten(3, (patch, columns)).transpose(3, 4)",
                "A patch should be pixels that lie side by side. Here its columns are taken from "
                "all over the picture.",
            ),
        ),
    ),
    Game(
        name="loss on hidden patches",
        function="models.mae.masked_patch_loss",
        calls=(
            "masked_patch_loss(tensor([[[1.0], [2.0], [3.0]]]), torch.zeros(1, 3, 1), "
            "tensor([[False, True, True]]))",
        ),
        mistakes=(
            Mistake(
                "loss on every patch",
                "(predicted - target).masked_fill(~masked[..., None], 0.0)",
                "(predicted - target)",
                "The visible patches count as well, so the model is paid for copying what it sees.",
            ),
            Mistake(
                "loss on the visible patches",
                "masked_fill(~masked[..., None], 0.0)",
                "masked_fill(masked[..., None], 0.0)",
                "It erases the gaps of the hidden patches, the very ones to be painted.",
            ),
            Mistake(
                "loss divided by all patches",
                "masked.sum().clamp_min(1)",
                "masked.numel()",
                "It divides by all patches, not by the hidden ones. The loss then falls when fewer "
                "are hidden, and runs with different shares cannot be compared.",
            ),
        ),
    ),
    Game(
        name="windows",
        function="models.swin.window_partition",
        calls=(
            "window_partition(torch.arange(8).view(1, 4, 2, 1), 2)",
            "window_partition(torch.arange(8).view(1, 2, 4, 1), 1)",
            "window_partition(torch.arange(8).view(1, 2, 4, 1), 2)",
            "window_partition(torch.arange(8).view(2, 2, 2, 1), 2)",
        ),
        mistakes=(
            Mistake(
                "windows cut by a reshape",
                "x.transpose(2, 3).flatten(3, 4).flatten(0, 2)",
                "x.reshape(-1, window * window, x.shape[-1])",
                "Without the transpose a window is cut from a row of the map in place of a square. "
                "If the map is one window wide, nobody notices.",
            ),
        ),
    ),
    Game(
        name="what two boxes share",
        function="boxes.geometry.intersection",
        calls=(
            "intersection(tensor([0, 0, 2, 2]), tensor([1, 1, 3, 3]))",
            "intersection(tensor([0, 0, 4, 4]), tensor([1, 1, 2, 2]))",
            "intersection(tensor([0, 0, 1, 1]), tensor([3, 3, 4, 4]))",
            "intersection(tensor([0, 0, 1, 1]), tensor([1, 0, 2, 1]))",
        ),
        mistakes=(
            Mistake(
                "boxes that are apart",
                "(bottom_right - top_left).clamp_min(0).unbind(-1)",
                "(bottom_right - top_left).unbind(-1)",
                "Boxes that are apart both ways have a negative width and a negative height, and "
                "the product of the two is positive: they seem to share an area.",
            ),
        ),
    ),
)
