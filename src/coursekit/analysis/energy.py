"""What a training costs in operations and in energy, and what papers print about theirs.

Operations are found in two ways. By count: each weight takes part in a multiplication and an
addition for each token on the way forward, and in twice as much on the way back. By clock: devices
times time times what one of them sustains, as in footnote 5 of Vaswani et al. (2017). The book sets
both beside each other in "Limits".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from coursekit._base.checks import check_at_least, check_int, check_number, check_positive

FORWARD, BACKWARD = 2, 4  # operations for each weight and token
SUSTAINED = {"K80": 2.8e12, "K40": 3.7e12, "M40": 6.0e12, "P100": 9.5e12}  # footnote 5, per second


def flops_by_count(parameters: float, tokens: float, *, training: bool = True) -> float:
    """Return 6 · parameters · tokens; without `training`, when a model is only used, 2.

    Attention's products of tokens with tokens are left out; they are few where T is well below 6D.
    In an encoder-decoder a token meets the weights of one side only: count each side by itself.
    """
    check_positive(parameters=parameters, tokens=tokens)
    return (FORWARD + BACKWARD if training else FORWARD) * parameters * tokens


def flops_by_clock(device_hours: float, sustained: float) -> float:
    """Return the operations of all devices in their hours, at `sustained` operations a second."""
    check_positive(device_hours=device_hours, sustained=sustained)
    return device_hours * 3600 * sustained


def kilowatt_hours(device_hours: float, watts: float, *, pue: float = 1.0) -> float:
    """Return the energy of devices that draw `watts` each, with their share of the machine.

    `pue`, power usage effectiveness, is what the whole data centre draws for each unit that
    reaches its computers: cooling and transformers come on top.
    """
    check_positive(device_hours=device_hours, watts=watts)
    check_at_least(1.0, pue=pue)
    return device_hours * watts * pue / 1000


@dataclass(frozen=True, kw_only=True)
class Training:
    """What is published about one training; None is what nobody printed.

    `tokens` are those that each weight meets. `watts` is the mean power for each device with its
    share of processor and memory. `flops` and `kwh` are the printed totals, which ours are held
    against. `sources` are keys in references.bib, the paper of the model first.
    """

    name: str
    sources: tuple[str, ...]
    device: str
    devices: int
    device_hours: float
    parameters: float
    tokens: float | None = None
    sustained: float | None = None
    watts: float | None = None
    pue: float = 1.0
    flops: float | None = None
    kwh: float | None = None

    def __post_init__(self) -> None:
        check_int(-math.inf, devices=self.devices)
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or field.name in ("name", "sources", "device"):
                continue
            check_number(**{field.name: value})
            if not value > 0:
                raise ValueError(f"{field.name} must be more than 0, found {value} ({self.name})")

    @property
    def days(self) -> float:
        """How long it took."""
        return self.device_hours / self.devices / 24

    @property
    def counted(self) -> float | None:
        """Operations by count."""
        return None if self.tokens is None else flops_by_count(self.parameters, self.tokens)

    @property
    def clocked(self) -> float | None:
        """Operations by clock."""
        return None if self.sustained is None else flops_by_clock(self.device_hours, self.sustained)

    @property
    def energy(self) -> float | None:
        """Energy in kilowatt-hours."""
        if self.watts is None:
            return None
        return kilowatt_hours(self.device_hours, self.watts, pue=self.pue)


# Strubell et al. (2019) estimated the power of such machines from what they measured on cards of
# their own; 1.58 is the mean effectiveness of data centres in 2018, and BERT's hours are those of
# Nvidia. Patterson et al. (2021) had the power, speed and effectiveness of T5's and GPT-3's
# trainings from those who ran them. BLOOM's 433,196 kWh are those of the devices alone. What BERT's
# weights met: a million steps of 256 rows, nine tenths of them 128 tokens long, the others 512. The
# Transformer's encoder met 25,000 source tokens in each step, its decoder 25,000 target tokens.
PUBLISHED = (
    Training(
        name="Transformer base",
        sources=("vaswani2017", "strubell2019"),
        device="P100",
        devices=8,
        device_hours=8 * 12,
        parameters=65e6,
        tokens=25_000 * 100_000,
        sustained=SUSTAINED["P100"],
        watts=1415.78 / 8,
        pue=1.58,
        flops=3.3e18,
        kwh=27,
    ),
    Training(
        name="Transformer big",
        sources=("vaswani2017", "strubell2019"),
        device="P100",
        devices=8,
        device_hours=8 * 3.5 * 24,
        parameters=213e6,
        tokens=25_000 * 300_000,
        sustained=SUSTAINED["P100"],
        watts=1515.43 / 8,
        pue=1.58,
        flops=2.3e19,
        kwh=201,
    ),
    Training(
        name="BERT base",
        sources=("devlin2019", "strubell2019"),
        device="V100",
        devices=64,
        device_hours=64 * 79.2,
        parameters=110e6,
        tokens=1_000_000 * 256 * (0.9 * 128 + 0.1 * 512),
        watts=12_041.51 / 64,
        pue=1.58,
        kwh=1507,
    ),
    Training(
        name="T5 11B",
        sources=("raffel2020", "patterson2021"),
        device="TPU v3",
        devices=512,
        device_hours=512 * 20 * 24,
        parameters=11e9,
        tokens=2**11 * 512 * 10**6,  # of the inputs; an encoder-decoder: see `flops_by_count`
        sustained=45.6e12,
        watts=310,
        pue=1.12,
        flops=4.05e22,
        kwh=85_700,
    ),
    Training(
        name="GPT-3",
        sources=("brown2020", "patterson2021"),
        device="V100",
        devices=10_000,
        device_hours=10_000 * 14.8 * 24,
        parameters=174.6e9,
        tokens=300e9,
        sustained=24.6e12,
        watts=330,
        pue=1.10,
        flops=3.14e23,
        kwh=1_287_000,
    ),
    Training(
        name="PaLM",
        sources=("chowdhery2022",),
        device="TPU v4",
        devices=6144,
        device_hours=6144 * 1200 + 3072 * 336,
        parameters=540e9,
        tokens=780e9,
        flops=2.5272e24,
    ),
    Training(
        name="BLOOM",
        sources=("luccioni2023",),
        device="A100",
        devices=384,
        device_hours=1_082_990,
        parameters=176e9,
        tokens=366e9,
        watts=400,
        kwh=433_196,
    ),
    Training(
        name="LLaMA 65B",
        sources=("touvron2023",),
        device="A100",
        devices=2048,
        device_hours=1_022_362,
        parameters=65.2e9,
        tokens=1.4e12,
        watts=400,
        pue=1.1,
        kwh=449_000,
    ),
)
