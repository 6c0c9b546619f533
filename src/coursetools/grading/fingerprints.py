"""What is left of an answer when names, layout, comments and the order of definitions are gone.

The syntax tree of each definition is written as a row of tokens in which every name of the
student's is the same; of all runs of `RUN` tokens, hashed, winnowing keeps the smallest in each
window of `WINDOW`. Two answers that share a stretch of RUN + WINDOW - 1 tokens share a fingerprint
(Schleimer, Wilkerson, Aiken: Winnowing, 2003).
"""

from __future__ import annotations

import ast
import builtins
import hashlib
from collections import deque

RUN = 12
WINDOW = 5
MOST_SOURCE = 50_000  # characters of one student's answers
KNOWN = frozenset(dir(builtins))

_SKIPPED = (ast.Import, ast.ImportFrom, ast.expr_context)


def fingerprints(answers: dict[str, str]) -> dict[int, tuple[str, int, int]]:
    """Take the fingerprints of the cells of one student; what is no Python has none.

    Each stands with the lines that it was taken from: their cell, the first, the last.
    """
    prints: dict[int, tuple[str, int, int]] = {}
    room = MOST_SOURCE
    for cell, source in answers.items():
        room -= len(source)
        if room < 0:
            break
        for tokens in _definitions(source):
            for mark, first, last in _winnow(tokens):
                prints.setdefault(mark, (cell, first, last))
    return prints


Token = tuple[str, int]  # what it is, its line


def _definitions(source: str) -> list[list[Token]]:
    """Return the tokens of each definition, and of what is between them as one more."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    apart: list[ast.stmt] = []
    loose: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):  # its methods may be in any order
            inside = [child for child in statement.body if isinstance(child, kinds)]
            apart += inside
            loose += [child for child in statement.body if child not in inside]
        elif isinstance(statement, kinds):
            apart.append(statement)
        else:
            loose.append(statement)
    rows = [_tokens([statement]) for statement in apart]
    if loose:
        rows.append(_tokens(loose))
    return [row for row in rows if row]


def _tokens(statements: list[ast.stmt]) -> list[Token]:
    row: list[Token] = []
    waiting: list[ast.AST] = list(reversed(statements))
    line = 1
    while waiting:  # a loop and not a recursion: trees may be deep
        node = waiting.pop()
        line = getattr(node, "lineno", line)
        if isinstance(node, _SKIPPED) or _is_remark(node):
            continue
        row.append((_token(node), line))
        children = [child for child in _children(node) if not isinstance(child, _SKIPPED)]
        waiting += reversed(children)
    return row


def _children(node: ast.AST) -> list[ast.AST]:
    """Return what counts below a node: no annotations, keywords in one order."""
    if isinstance(node, ast.arguments):
        plain = [*node.posonlyargs, *node.args, *node.kwonlyargs]
        return [*plain, *node.defaults, *(d for d in node.kw_defaults if d is not None)]
    if isinstance(node, ast.arg):
        return []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [*node.decorator_list, node.args, *node.body]
    if isinstance(node, ast.AnnAssign):
        return [node.target, *([node.value] if node.value else [])]
    if isinstance(node, ast.Call):
        return [node.func, *node.args, *sorted(node.keywords, key=lambda k: k.arg or "")]
    return list(ast.iter_child_nodes(node))


def _is_remark(node: ast.AST) -> bool:
    """Return whether a statement does nothing: a docstring, a lonely constant, `pass`."""
    if isinstance(node, ast.Pass):
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _token(node: ast.AST) -> str:
    """Name a node: what the language and the library call it stays, what a student does not."""
    if isinstance(node, ast.Name):
        return f"builtin {node.id}" if node.id in KNOWN else "name"
    if isinstance(node, ast.Attribute):
        return f".{node.attr}"
    if isinstance(node, ast.keyword):
        return f"{node.arg}="
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str | bytes):
            return "text"
        return f"constant {node.value!r}"
    if isinstance(node, ast.AnnAssign):
        return "Assign"
    return type(node).__name__


def _winnow(tokens: list[Token]) -> list[tuple[int, int, int]]:
    """Return (fingerprint, first line, last line) of the runs that winnowing keeps."""
    if len(tokens) < RUN:
        return []
    words = [token.encode() for token, _ in tokens]
    hashes = [
        int.from_bytes(
            hashlib.blake2b(b"\0".join(words[i : i + RUN]), digest_size=8).digest(), "big"
        )
        for i in range(len(words) - RUN + 1)
    ]
    chosen: list[tuple[int, int, int]] = []
    smallest: deque[int] = deque()  # positions whose hashes rise
    last = -1
    for position, value in enumerate(hashes):
        while smallest and hashes[smallest[-1]] >= value:
            smallest.pop()
        smallest.append(position)
        if smallest[0] <= position - WINDOW:
            smallest.popleft()
        full = position >= min(WINDOW, len(hashes)) - 1
        if full and smallest[0] != last:
            last = smallest[0]
            lines = [line for _, line in tokens[last : last + RUN]]
            chosen.append((hashes[last], min(lines), max(lines)))
    return chosen
