"""What several questions of this assignment use."""

from __future__ import annotations

READY_ADAM = ("torch.optim", "coursekit")
