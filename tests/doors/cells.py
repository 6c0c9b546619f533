"""Runs cells, JSON on standard input, with the IPython of this environment, to the first error.

Colab's IPython is 7.34, whose reading of `%pip` inside an `if` this is about.
"""

from __future__ import annotations

import json
import os
import sys

from IPython.core.interactiveshell import InteractiveShell

job = json.load(sys.stdin)
os.chdir(job["folder"])
sys.path.insert(0, "")
shell = InteractiveShell.instance()
for cell in job["cells"]:
    result = shell.run_cell(cell)
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)
