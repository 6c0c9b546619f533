"""Notes of a command on standard error, where no progress bar is shown."""

from __future__ import annotations

import sys

from coursekit._base.progress import Progress


class Notes(Progress):
    """Prints each note on a line, and counts nothing."""

    def note(self, text: str) -> None:
        """Print to standard error."""
        print(text, file=sys.stderr, flush=True)
