"""DETR: detection as the prediction of a set (Carion et al., 2020).

A backbone makes a feature map of the image, an encoder lets its cells attend to each other, a
decoder lets Q learned *object queries* attend to the map and to each other, and each query predicts
one class (or "no object") and one box. No anchors, no suppression of duplicates: the loss matches
queries and objects one to one (`coursekit.objectives.detection`). The same on one page, without
padding, is `plain/detr.py`. The book explains it in "DETR".

What differs from Vaswani et al. (2017): positions are added to queries and keys at *every*
attention, never to values; the decoder writes all objects at once, so nothing is masked but padding
and its input is zero, only the queries tell its rows apart; every layer's output is read out.
Dropout is where the authors' code has it: after each sublayer, on the attention weights,
inside the feed-forward network.
Shapes: B batch, C classes, D width, H heads, L decoder layers, Q object queries, S = h·w places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._pytree import register_pytree_node

from coursekit._base.checks import check_config, check_images, check_numbers, check_shape, readable
from coursekit.blocks import Stack
from coursekit.boxes.geometry import Objects
from coursekit.models.resnet import ResNet, ResNetConfig
from coursekit.positions import padded_sine_2d

Places = Literal["sine", "learned", "decoder", "input", "none"]
LONGEST = 50  # rows and columns of a map that learned places are made for, as in the authors' code


@dataclass(frozen=True, kw_only=True)
class DETRConfig:
    """Sizes and choices of a `DETR`; the backbone comes as a module of its own."""

    classes: int = 91  # without "no object"; 91 is COCO's highest class id + 1
    queries: int = 100  # no image can have more objects
    channels: int = 2048  # of the backbone's feature map
    width: int = 256
    heads: int = 8
    hidden: int = 2048
    encoder_depth: int = 6
    decoder_depth: int = 6
    norm: Literal["post", "pre"] = "post"
    auxiliary: bool = True  # read out every decoder layer, as the loss wants it
    # Positions on the map, the rows of the paper's Table 3: sines at every attention, or learned
    # vectors in their place; sines for the decoder alone; sines at the input alone; nothing. With
    # the last two the queries are the decoder's input and are not added again.
    places: Places = "sine"
    feed_forward: bool = True
    dropout: float = 0.1
    attention_dropout: float = 0.1
    hidden_dropout: float = 0.1
    eps: float = 1e-5

    def __post_init__(self) -> None:
        check_config(self)
        if self.width % 4 or self.width % self.heads:
            raise ValueError(
                "4 (sine and cosine of rows and columns) and the number of heads must divide the "
                f"width, found width {self.width} and {self.heads} heads"
            )

    @classmethod
    def r50(cls, **changes: Any) -> Self:
        """Return the sizes of the paper's DETR on a ResNet-50, 41 million parameters with it.

        The backbone is `ResNet(ResNetConfig.resnet50(classes=0, frozen_norm=True))`, pretrained;
        the authors also `freeze(1)` it.
        """
        return cls(**changes)

    @classmethod
    def r101(cls, **changes: Any) -> Self:
        """Return DETR-R101, 60 million: the same but for the backbone, a ResNet-101."""
        return cls(**changes)

    @classmethod
    def small(cls, **changes: Any) -> Self:
        """Return a DETR for laptops: 2 + 2 layers, 128 wide, 20 queries, a map of 128 channels."""
        sizes = {
            "queries": 20, "channels": 128, "width": 128, "hidden": 512, "encoder_depth": 2,
            "decoder_depth": 2,
        }  # fmt: skip
        return cls(**(sizes | changes))


@dataclass(frozen=True, kw_only=True)
class Detections:
    """What a DETR predicts for a batch of images."""

    logits: Tensor  # (B, Q, C + 1), the last class is "no object"
    boxes: Tensor  # (B, Q, 4), centre x, centre y, width, height in parts of the unpadded image
    states: Tensor  # (B, Q, D), the normed output of the decoder that both heads read
    earlier: tuple[Detections, ...] = ()  # the same of the other decoder layers, first layer first
    grid: tuple[int, int] = (0, 0)  # h, w of the feature map, to see weights over S as an image

    @torch.no_grad()
    def objects(self, sizes: Sequence[tuple[int, int]]) -> list[Objects]:
        """Heights and widths of the unpadded images -> the `Objects` of each, corners in pixels.

        Every query gives its best class that is not "no object"; the score is its probability.
        """
        if len(sizes) != len(self.logits):
            raise ValueError(f"{len(self.logits)} images need as many sizes, found {len(sizes)}")
        check_numbers(self.logits, "the logits")
        scores, labels = self.logits.softmax(dim=-1)[..., :-1].max(dim=-1)  # 2 × (B, Q)
        return [
            Objects(labels=labels[b], boxes=self.boxes[b], scores=scores[b]).in_pixels(*size)
            for b, size in enumerate(sizes)
        ]


# torch.export and ONNX must find the tensors in what a DETR returns. `grid` is no tensor, and an
# exported DETR does not return it.
_TREE = [field.name for field in fields(Detections) if field.name != "grid"]


def _flatten(detections: Detections) -> tuple[list[Any], list[str]]:
    names = [name for name in _TREE if getattr(detections, name) is not None]
    return [getattr(detections, name) for name in names], names


register_pytree_node(
    Detections,
    _flatten,
    lambda values, names: Detections(**dict(zip(names, values))),
    serialized_type_name="coursekit.models.detr.Detections",
)


class DETR(nn.Module):
    """Backbone, encoder, decoder, two heads.

    `backbone` is any module that turns images into a feature map (B, `channels`, h, w); without one
    the model is given such maps for images.
    """

    def __init__(self, config: DETRConfig, backbone: nn.Module | None = None) -> None:
        super().__init__()
        self.config = config
        self.backbone = nn.Identity() if backbone is None else backbone
        width = config.width
        self.project = nn.Conv2d(config.channels, width, kernel_size=1)
        layers: dict[str, Any] = {
            "width": width, "heads": config.heads, "hidden": config.hidden, "norm": config.norm,
            "activation": F.relu, "dropout": config.dropout, "eps": config.eps,
            "attention_dropout": config.attention_dropout,
            "hidden_dropout": config.hidden_dropout, "feed_forward": config.feed_forward,
        }  # fmt: skip
        self.rows: nn.Parameter | None = None
        self.columns: nn.Parameter | None = None
        if config.places == "learned":
            self.rows = nn.Parameter(torch.rand(LONGEST, width // 2))
            self.columns = nn.Parameter(torch.rand(LONGEST, width // 2))
        self.encoder = Stack(depth=config.encoder_depth, **layers)
        self.queries = nn.Parameter(torch.randn(config.queries, width))  # (Q, D)
        self.decoder = Stack(
            depth=config.decoder_depth, cross_attention=True, final_norm=True, **layers
        )
        self.class_head = nn.Linear(width, config.classes + 1)
        self.box_head = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 4), nn.Sigmoid(),
        )  # fmt: skip
        for parameter in (*self.encoder.parameters(), *self.decoder.parameters()):
            if parameter.ndim > 1:
                nn.init.xavier_uniform_(parameter)

    def forward(self, images: Tensor, keep: Tensor | None = None) -> Detections:
        """images (B, channels, height, width), keep (B, height, width) -> `Detections`.

        `keep` is True at real pixels, False at padding (see `pad_images`); None: all are real.
        """
        features, keep = self.features(images, keep)  # (B, D, h, w), (B, h, w) or None
        mask = None if keep is None else keep.flatten(1)[:, None, None, :]  # (B, 1, 1, S)
        positions = self.positions(features, keep)  # (B or 1, S, D) or None
        cells = features.flatten(2).mT  # (B, S, D): row by row, as `positions`
        queries = self.queries.expand(cells.shape[0], -1, -1)  # (B, Q, D)
        query_positions: Tensor | None = queries
        start = torch.zeros_like(queries)  # (B, Q, D): only the queries tell its rows apart
        if self.config.places in ("input", "none"):  # positions are added once, at the input
            cells = cells if positions is None else cells + positions
            start, query_positions, positions = queries, None, None

        memory = self.encoder(
            cells,
            mask=mask,
            positions=None if self.config.places == "decoder" else positions,
        )  # (B, S, D)
        layers = self.decoder.states(
            start,
            memory,
            memory_mask=mask,
            positions=query_positions,
            memory_positions=positions,
        )[1:]
        outputs = layers if self.config.auxiliary else layers[-1:]
        states = self.decoder.final(torch.stack(outputs))  # (L, B, Q, D): one norm for all layers
        grid = features.shape[2], features.shape[3]
        *earlier, last = [
            Detections(logits=logits, boxes=boxes, states=state, grid=grid)
            for logits, boxes, state in zip(self.class_head(states), self.box_head(states), states)
        ]
        return replace(last, earlier=tuple(earlier))

    def positions(self, features: Tensor, keep: Tensor | None) -> Tensor | None:
        """Map (B, D, h, w), keep (B, h, w) or None -> position vectors (B or 1, S, D) or None."""
        rows, columns = features.shape[2:]
        if self.config.places == "none":
            return None
        if self.rows is not None and self.columns is not None:
            if max(rows, columns) > LONGEST:
                raise ValueError(
                    f"a map may be at most {LONGEST}×{LONGEST} here, found {rows}×{columns}"
                )
            down = self.rows[:rows, None].expand(-1, columns, -1)  # (h, w, D/2)
            right = self.columns[:columns].expand(rows, -1, -1)  # (h, w, D/2)
            return torch.cat([right, down], dim=-1).flatten(0, 1)[None]  # (1, S, D)
        real = features.new_ones(1, rows, columns).bool() if keep is None else keep
        sines = padded_sine_2d(real, self.config.width, dtype=features.dtype)  # (B or 1, h, w, D)
        return sines.flatten(1, 2)  # (B or 1, S, D)

    def features(self, images: Tensor, keep: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Images and their `keep` -> the projected map (B, D, h, w) and its `keep` (B, h, w).

        A place of the map is real if the pixel at its corner is.
        """
        check_shape(images, "images", "batch, channels, height, width")
        maps = self.backbone(images)  # (B, channels, h, w)
        check_images(
            maps,
            self.config.channels,
            "without a backbone, images that are feature maps"
            if isinstance(self.backbone, nn.Identity)
            else "the backbone's feature maps",
            weight=self.project.weight,
        )
        if keep is None:
            return self.project(maps), None
        check_shape(keep, "keep", (images.shape[0], *images.shape[2:]), torch.bool)
        keep = F.interpolate(keep[None].float(), size=maps.shape[2:])[0].bool()  # nearest pixel
        if readable(keep) and not keep.any(dim=(1, 2)).all():
            image = int((~keep.any(dim=(1, 2))).nonzero()[0])
            raise ValueError(f"every image needs a real pixel, but image {image} is only padding")
        return self.project(maps), keep


class Detector(DETR):
    """A `DETR` on a `ResNet` without classes; `resnet` are the fields of its `ResNetConfig`.

    `DETR` takes any backbone as a module. This one builds its backbone from a few sizes, so that it
    can be saved by a training run and built again from the run's record.
    """

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


def pad_images(images: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Images (channels, height, width) of any size -> one batch, and which pixels are real.

    The batch (B, channels, tallest, widest) is filled with zeros below and on the right; `keep`
    (B, tallest, widest) is False there.
    """
    if not images:
        raise ValueError("a batch needs at least one image, found none")
    for image in images:
        if image.ndim != 3 or image.shape[0] != images[0].shape[0] or 0 in image.shape:
            raise ValueError(
                "images must have shape (channels, height, width), none of them 0 and channels "
                f"the same for all, found {[tuple(image.shape) for image in images]}"
            )
    height, width = (max(image.shape[axis] for image in images) for axis in (1, 2))
    batch = images[0].new_zeros(len(images), images[0].shape[0], height, width)
    keep = torch.zeros(len(images), height, width, dtype=torch.bool, device=batch.device)
    for b, image in enumerate(images):
        batch[b, :, : image.shape[1], : image.shape[2]] = image
        keep[b, : image.shape[1], : image.shape[2]] = True
    return batch, keep
