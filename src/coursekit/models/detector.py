"""A detector small enough to be trained on a laptop: a DETR on a residual network of its own.

`DETR` takes any backbone as a module. This one makes its backbone from a few sizes, so that a
training can keep it and somebody else can build it again from what the training wrote down. The
book trains one in "DETR".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coursekit.models.detr import DETR, DETRConfig
from coursekit.models.resnet import ResNet, ResNetConfig


class Detector(DETR):
    """A `DETR` on a `ResNet` without classes; `resnet` are the fields of its `ResNetConfig`."""

    def __init__(self, config: DETRConfig, *, resnet: Mapping[str, Any]) -> None:
        tuples = {name: tuple(v) for name, v in resnet.items() if isinstance(v, list)}  # from JSON
        backbone = ResNet(ResNetConfig(**{**resnet, **tuples, "classes": 0}))
        if backbone.config.widths[-1] != config.channels:
            raise ValueError(
                f"the map of this ResNet has {backbone.config.widths[-1]} channels, "
                f"and the DETR reads {config.channels}"
            )
        super().__init__(config, backbone)
        self.options = {"resnet": dict(resnet)}  # beside the config, what it takes to build it
