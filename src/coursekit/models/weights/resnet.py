"""Which of a ResNet's weights are which in torchvision (and timm) and in transformers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from torch import Tensor, nn

from coursekit.models.resnet import ResNet
from coursekit.models.weights.rules import Ignored, Rule, Same, same


def table(
    layout: str,
    *,
    depths: Sequence[int],
    convolutions: int,
    shortcuts: Collection[tuple[int, int]],
    frozen_norm: bool,
    classes: bool,
) -> Iterator[Rule]:
    """Yield the rules; a frozen norm does not count the batches that it has seen.

    `convolutions` are in each block; `shortcuts` says which blocks, by stage and place, have one
    on their shortcut too.
    """
    huggingface = layout == "huggingface"
    prefix = "resnet." if huggingface and classes else ""
    for ours, torchvision, transformers in layers(depths, convolutions, shortcuts):
        convolution, norm = (
            prefix + name for name in (transformers if huggingface else torchvision)
        )
        yield Same(f"{ours}.convolution.weight", f"{convolution}.weight")
        for kind in ("weight", "bias", "running_mean", "running_var"):
            yield Same(f"{ours}.norm.{kind}", f"{norm}.{kind}")
        if frozen_norm:
            yield Ignored(f"{norm}.num_batches_tracked")
        else:
            yield Same(f"{ours}.norm.num_batches_tracked", f"{norm}.num_batches_tracked")
    if classes:
        yield from same("head", "classifier.1" if huggingface else "fc")


def layers(
    depths: Sequence[int], convolutions: int, shortcuts: Collection[tuple[int, int]]
) -> Iterator[tuple[str, tuple[str, str], tuple[str, str]]]:
    """Yield each `ConvNorm`: our name, torchvision's two and transformers' two."""
    stem = "embedder.embedder"
    yield "stem", ("conv1", "bn1"), (f"{stem}.convolution", f"{stem}.normalization")
    for i, depth in enumerate(depths):
        for j in range(depth):
            ours = f"stages.{i}.{j}"
            torchvision, transformers = f"layer{i + 1}.{j}", f"encoder.stages.{i}.layers.{j}"
            for k in range(convolutions):
                yield (
                    f"{ours}.branch.{k}",
                    (f"{torchvision}.conv{k + 1}", f"{torchvision}.bn{k + 1}"),
                    (
                        f"{transformers}.layer.{k}.convolution",
                        f"{transformers}.layer.{k}.normalization",
                    ),
                )
            if (i, j) in shortcuts:
                yield (
                    f"{ours}.shortcut",
                    (f"{torchvision}.downsample.0", f"{torchvision}.downsample.1"),
                    (
                        f"{transformers}.shortcut.convolution",
                        f"{transformers}.shortcut.normalization",
                    ),
                )


def rules(model: ResNet, layout: str, theirs: Mapping[str, Tensor] | None = None) -> Iterator[Rule]:
    """Yield the names of `ResNetForImageClassification`, without classes of `ResNetModel`.

    With the layout "torchvision" they are those of its `resnet18` … `resnet152` (timm's too).
    """
    config = model.config
    return table(
        layout,
        depths=config.depths,
        convolutions=2 if config.block == "basic" else 3,
        shortcuts={
            (i, j)
            for i, stage in enumerate(model.stages)
            for j, block in enumerate(stage.children())
            if not isinstance(block.shortcut, nn.Identity)
        },
        frozen_norm=config.frozen_norm,
        classes=bool(config.classes),
    )
