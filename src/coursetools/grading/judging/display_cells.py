"""Cells that only show something: released so, tagged "look", and left as they were.

They train a little or draw a table, take longer than all answers together, and decide nothing. So
they are not run while a notebook is graded, unless another cell asks for a name that they bind.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from typing import Any

from coursetools.grading.judging.attempt import Cell

TAG = "look"


def drop_display_cells(cells: list[Cell], release: list[dict[str, Any]]) -> list[Cell]:
    """Return the cells that are run; `release` are those that students were given."""
    given = {
        (str(cell.get("id")), cell["source"])
        for cell in release
        if cell["cell_type"] == "code" and TAG in cell["metadata"].get("tags", ())
    }
    looks = [cell for cell in cells if (cell.id, cell.source) in given]
    if not looks:
        return cells
    asked: set[str] = set()
    for cell in cells:
        if cell not in looks:
            asked.update(_asked(cell.source))
    left_out = {cell.number for cell in looks if not asked & _bound(cell.source)}
    return [cell for cell in cells if cell.number not in left_out]


def _asked(source: str) -> Iterator[str]:
    """Yield the names that a cell reads from the notebook's, also within its functions."""
    top = _table(source)
    waiting = [top] if top else []
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                yield symbol.get_name()
    for node in ast.walk(ast.parse(source)) if top else ():  # these only bind, says the table
        targets = node.targets if isinstance(node, ast.Delete) else []
        targets += [node.target] if isinstance(node, ast.AugAssign) else []
        yield from (one.id for one in targets if isinstance(one, ast.Name))


def _bound(source: str) -> set[str]:
    table = _table(source)
    symbols = table.get_symbols() if table else []
    return {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}


def _table(source: str) -> symtable.SymbolTable | None:
    try:
        return symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
