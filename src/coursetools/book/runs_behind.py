"""Which stored training runs are behind the names of a notebook, followed through its cells.

`sweep_result("swin", sweep)` reads every sweep that `sweep` can be: a constant, one of a loop over
constants, an f-string of them, an argument of a function of the notebook. If the notebook does
not determine it, the result is `swin-*`, any sweep of that training.
"""

from __future__ import annotations

import ast
import itertools
import symtable
from collections.abc import Iterator

from coursekit.submission.cells import parse_cell

READ = {"result": 1, "trained": 1, "sweep_result": 2}  # names in a call: `result("bert")`
ANY = "*"
DEEPEST = 4  # functions that call functions

Values = dict[str, list[ast.expr]]  # the expressions that a name may be bound to


class Runs:
    """The runs behind each name of a notebook; follow its cells in order."""

    def __init__(self) -> None:
        self.behind: dict[str, set[str]] = {}
        self.values: Values = {}
        self.functions: dict[str, ast.FunctionDef] = {}

    def follow(self, source: str) -> set[str]:
        """Note which runs are behind the names that a cell binds; return those that it glues."""
        glued: set[str] = set()
        for statement in parse_cell(source).body:
            used, bound = _names(statement)
            read = set(self._read(statement, self.values))
            if isinstance(statement, ast.FunctionDef):
                read = {run for run in read if not run.endswith(ANY)}  # its calls determine which
            read = read.union(*(self.behind.get(name, set()) for name in used))
            values = _bind_all(statement, self.values)
            for name in bound:
                self.behind[name] = read
                self.functions.pop(name, None)
                self.values[name] = values.get(name, [])
            if isinstance(statement, ast.FunctionDef):
                self.functions[statement.name] = statement
            glued |= read if "glue" in used else set()
        return glued

    def _read(self, tree: ast.AST, values: Values, depth: int = 0) -> Iterator[str]:
        """Yield the runs that a part of a notebook reads, also in the functions that it calls."""
        values = _bind_all(tree, values)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        called = {id(call.func): call for call in calls}
        for call in calls:
            if getattr(call.func, "id", "") in READ:
                yield from _runs(call, values)
        for name in ast.walk(tree):
            if isinstance(name, ast.Name) and name.id in self.functions and depth < DEEPEST:
                function = self.functions[name.id]
                given = _given(function, called.get(id(name)), values)
                yield from self._read(function, self.values | given, depth + 1)


def _runs(call: ast.Call, values: Values) -> Iterator[str]:
    """Yield what a call reads: `result("bert")` bert, `sweep_result("swin", "table4")` both."""
    count = READ[call.func.id]  # type: ignore[attr-defined]
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    given = [*call.args, *(keywords[name] for name in ("name", "sweep") if name in keywords)]
    names = [sorted(_texts(one, values)) for one in given[:count]]
    if count == 2 and len(names) == 2:
        names[1] = names[1] or [ANY]
    yield from ("-".join(parts) for parts in itertools.product(*names) if parts)


def _texts(node: ast.expr, values: Values, depth: int = 0) -> set[str]:
    """Return the texts that an expression may be, as far as the notebook says."""
    if depth > 9:
        return set()
    parts = []
    match node:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.Name(id=name):
            parts = values.get(name, [])
        case ast.IfExp():
            parts = [node.body, node.orelse]
        case ast.Subscript():
            parts = _elements(node.value, values, depth + 1, of_dict="values")
        case ast.BinOp(op=ast.Add()):
            pairs = itertools.product(
                *(_texts(n, values, depth + 1) for n in (node.left, node.right))
            )
            return set(map("".join, pairs))
        case ast.JoinedStr():
            pieces = [
                one.value if isinstance(one, ast.FormattedValue) else one for one in node.values
            ]
            texts = (_texts(piece, values, depth + 1) for piece in pieces)
            return set(map("".join, itertools.product(*texts)))
    return set().union(*(_texts(part, values, depth + 1) for part in parts))


def _elements(
    node: ast.expr, values: Values, depth: int = 0, of_dict: str = "keys"
) -> list[ast.expr]:
    """Return what a loop over an expression goes through, as far as the notebook says."""
    if depth > 9:
        return []
    again = lambda one, of="keys": _elements(one, values, depth + 1, of)  # noqa: E731
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return [
                e for p in parts for e in (again(p.value) if isinstance(p, ast.Starred) else [p])
            ]
        case ast.Dict():
            pairs = [(k, v) for k, v in zip(node.keys, node.values, strict=True) if k is not None]
            if of_dict == "items":
                return [ast.Tuple(list(pair), ast.Load()) for pair in pairs]
            return [pair[of_dict == "values"] for pair in pairs]
        case ast.Name(id=name):
            return [e for one in values.get(name, []) for e in again(one, of_dict)]
        case ast.Call(func=ast.Attribute(value=held, attr=("items" | "values" | "keys") as of)):
            return again(held, of)
        case ast.Call(func=ast.Name(id="sorted" | "list" | "tuple" | "reversed"), args=[held, *_]):
            return again(held)
        case ast.Call(func=ast.Name(id="enumerate"), args=[held, *_]):
            return [ast.Tuple([ast.Constant(0), one], ast.Load()) for one in again(held)]
        case ast.Call(func=ast.Name(id="zip"), args=several):
            rows = zip(*map(again, several), strict=False)
            return [ast.Tuple(list(row), ast.Load()) for row in rows]
    return []


def _bind_all(tree: ast.AST, values: Values) -> Values:
    """Return the values of names, with those that a part of a notebook binds within itself."""
    values = dict(values)
    for node in ast.walk(tree):
        match node:
            case ast.For() | ast.comprehension():
                _bind(node.target, _elements(node.iter, values), values)
            case ast.Assign():
                for target in node.targets:
                    _bind(target, [node.value], values)
            case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
                _bind(node.target, [value], values)
    return values


def _bind(target: ast.expr, given: list[ast.expr], values: Values) -> None:
    if isinstance(target, ast.Name):
        values[target.id] = given
    elif isinstance(target, ast.Tuple | ast.List):
        rows = [one.elts for one in given if isinstance(one, ast.Tuple | ast.List)]
        for number, part in enumerate(target.elts):
            _bind(part, [row[number] for row in rows if len(row) > number], values)


def _given(function: ast.FunctionDef, call: ast.Call | None, values: Values) -> Values:
    """Return what the parameters of a function are in a call; nothing is known without one."""
    names = [one.arg for one in [*function.args.posonlyargs, *function.args.args]]
    given: Values = {name: [] for name in [*names, *(a.arg for a in function.args.kwonlyargs)]}
    for name, default in zip(reversed(names), reversed(function.args.defaults), strict=False):
        given[name] = [default]
    if call is not None:
        passed = [
            *zip(names, call.args, strict=False),
            *((k.arg or "", k.value) for k in call.keywords),
        ]
        for name, one in passed:
            if name in given:
                given[name] = [ast.Constant(text) for text in sorted(_texts(one, values))]
    return given


def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the notebook's names that a statement uses, and those that it binds."""
    whole = symtable.symtable(ast.unparse(statement), "cell", "exec")
    tables, used = [whole], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is whole or symbol.is_global()):
                used.add(symbol.get_name())
    grown = {_base(node.target) for node in ast.walk(statement) if isinstance(node, ast.AugAssign)}
    stored = (n for n in ast.walk(statement) if isinstance(n, ast.Subscript | ast.Attribute))
    grown |= {_base(node) for node in stored if isinstance(node.ctx, ast.Store)}
    loops = [node.target for node in ast.walk(statement) if isinstance(node, ast.For)]
    anew = {one.id for loop in loops for one in ast.walk(loop) if isinstance(one, ast.Name)}
    symbols = whole.get_symbols()
    bound = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    return (used | grown) - anew, bound | grown


def _base(node: ast.expr) -> str:
    """Return the name that `x`, `x[...]` or `x.y` begins with."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return getattr(node, "id", "")
