"""Which of a ResNet's weights are which in torchvision (and timm) and in transformers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from torch import nn

from coursekit.models.conversion import Ignored, Rule, Same

if TYPE_CHECKING:
    from coursekit.models.resnet import ResNet

Layout = Literal["torchvision", "huggingface"]


def rules(model: ResNet, layout: Layout) -> Iterator[Rule]:
    """Yield the rules for `model`; a frozen norm does not count the batches it has seen."""
    huggingface = layout == "huggingface"
    prefix = "resnet." if huggingface and model.config.classes else ""
    for ours, torchvision, transformers in layers(model):
        convolution, norm = (
            prefix + name for name in (transformers if huggingface else torchvision)
        )
        yield Same(f"{ours}.convolution.weight", f"{convolution}.weight")
        for kind in ("weight", "bias", "running_mean", "running_var"):
            yield Same(f"{ours}.norm.{kind}", f"{norm}.{kind}")
        if model.config.frozen_norm:
            yield Ignored(f"{norm}.num_batches_tracked")
        else:
            yield Same(f"{ours}.norm.num_batches_tracked", f"{norm}.num_batches_tracked")
    if model.config.classes:
        for kind in ("weight", "bias"):
            yield Same(f"head.{kind}", f"classifier.1.{kind}" if huggingface else f"fc.{kind}")


def layers(model: ResNet) -> Iterator[tuple[str, tuple[str, str], tuple[str, str]]]:
    """Yield each `ConvNorm`: our name, torchvision's two and transformers' two."""
    stem = "embedder.embedder"
    yield "stem", ("conv1", "bn1"), (f"{stem}.convolution", f"{stem}.normalization")
    for i, stage in enumerate(model.stages):
        for j, block in enumerate(stage):
            ours = f"stages.{i}.{j}"
            torchvision, transformers = f"layer{i + 1}.{j}", f"encoder.stages.{i}.layers.{j}"
            for k in range(len(block.branch)):
                yield (
                    f"{ours}.branch.{k}",
                    (f"{torchvision}.conv{k + 1}", f"{torchvision}.bn{k + 1}"),
                    (
                        f"{transformers}.layer.{k}.convolution",
                        f"{transformers}.layer.{k}.normalization",
                    ),
                )
            if not isinstance(block.shortcut, nn.Identity):
                yield (
                    f"{ours}.shortcut",
                    (f"{torchvision}.downsample.0", f"{torchvision}.downsample.1"),
                    (
                        f"{transformers}.shortcut.convolution",
                        f"{transformers}.shortcut.normalization",
                    ),
                )
