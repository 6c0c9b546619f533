"""The literals that code and records have, found by an expression; nothing is executed.

`values` says what an expression is.
"""

from __future__ import annotations

import ast
import functools
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

SEED = re.compile(r", seed \d+$")  # behind the name of a run
HOLE = "_"
DIGITS = 12  # of a sum of decimals: 0.1 + 0.2 is 0.3
FUNCTIONS: dict[str, Callable] = {
    "len": len, "min": min, "max": max, "sum": sum, "range": range, "round": round, "set": set,
    "list": list,
    "tensor": lambda x: x, "array": lambda x: x,
    "linspace": lambda a, b, n: tuple(round(a + (b - a) * i / (n - 1), DIGITS) for i in range(n)),
    "logspace": lambda a, b, n: tuple(10 ** (a + (b - a) * i / (n - 1)) for i in range(n)),
}  # fmt: skip
METHODS: dict[str, Callable] = {
    "split": str.split,
    "index": lambda items, item: items.index(item),
}
OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}  # fmt: skip
NO_VALUE = (LookupError, TypeError, ValueError, ArithmeticError)
Found = Any  # what a literal is: a number, a text, or a tuple, a list or a table of such
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Bindings = dict[str, list[ast.expr]]


@dataclass(frozen=True)
class Unread:
    """A part of a tuple or a table that is not a literal: it only counts."""

    code: str


class Code:
    """A cell, a module or a definition: the literals that its names are bound to."""

    def __init__(self, name: str, tree: ast.AST, whole: bool, outer: Code | None = None) -> None:
        """Look at `tree`, in all depths if `whole`, else at its own statements; then at `outer`."""
        self.name, self.tree, self.whole, self.outer = name, tree, whole, outer
        self.open: list[str] = []  # names being looked up: a loop of them has no value

    @functools.cached_property
    def bindings(self) -> Bindings:
        """The expressions that each name is bound to."""
        bindings: Bindings = {}
        for target, given in _bound(self.tree, self.whole):
            bindings.setdefault(target, []).append(given)
        return bindings

    @functools.cached_property
    def definitions(self) -> dict[str, Definition]:
        """The classes and functions."""
        return {n.name: n for n in ast.walk(self.tree) if isinstance(n, Definition)}

    def lookup(self, name: str) -> Found:
        """Return the one literal that a name is bound to."""
        if name not in self.bindings and self.outer:
            return self.outer.lookup(name)
        if name not in self.bindings or name in self.open:
            known = ", ".join(sorted(name for name in self.bindings if name != HOLE)) or "nothing"
            raise LookupError(f"no {name}; there is {known}")
        self.open.append(name)
        try:
            values = [*_literals(self, self.bindings[name])]
        finally:
            self.open.pop()
        if not values:
            expressions = " and ".join(map(ast.unparse, self.bindings[name]))
            raise LookupError(f"{name} is {expressions}, and not a literal")
        return _one(values, f"{name} =", "write a call, such as train(lr=_)")

    def pattern(self, tree: ast.AST, number: int | None = None) -> Found:
        """Return the literal at `_`, where the rest of the code is like `tree`; of several one."""
        all_holes: list[ast.expr] = []
        for node in ast.walk(self.tree):
            holes: list[ast.expr] = []
            if isinstance(node, ast.expr | ast.stmt) and _alike(tree, node, holes):
                all_holes += holes
        all_holes.sort(key=lambda hole: (hole.lineno, hole.col_offset))
        values = [*_literals(Code(self.name, ast.Module([], []), True), all_holes)]
        if not values:
            raise LookupError(f"nothing is like {ast.unparse(tree)} with a literal at {HOLE}")
        if number is not None:
            return values[number]
        return _one(values, f"{HOLE} of {ast.unparse(tree)} is", "write more of it")

    def evaluate(self, node: ast.AST) -> Found:
        """Return the value of an expression of literals and names; else a LookupError."""
        match node:
            case ast.Constant(value=value) if value is not ...:
                return value
            case ast.Name(id=name):
                return self.lookup(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return tuple(self._item(part) for part in parts)
            case ast.Dict(keys=keys, values=parts):
                return {self._item(k): self._item(v) for k, v in zip(keys, parts) if k is not None}
            case ast.UnaryOp(op=ast.USub(), operand=part):
                return -self.evaluate(part)
            case ast.BinOp(op=op, left=left, right=right) if type(op) in OPERATORS:
                result = OPERATORS[type(op)](self.evaluate(left), self.evaluate(right))
                return round(result, DIGITS) if isinstance(result, float) else result
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in self.definitions:
                inside = self.definitions[name]
                function = not isinstance(inside, ast.ClassDef)
                return Code(f"{name} of {self.name}", inside, function, self).lookup(attr)
            case ast.Attribute(value=part, attr=attr):
                return _key(self.evaluate(part), attr)
            case ast.Subscript(value=part, slice=ast.Slice(lower=lower, upper=upper, step=None)):
                ends = (None if end is None else self.evaluate(end) for end in (lower, upper))
                return self.evaluate(part)[slice(*ends)]
            case ast.Subscript(value=part, slice=index):
                return _key(self.evaluate(part), self.evaluate(index))
            case ast.Call(func=func, args=args):
                name = ast.unparse(func).rpartition(".")[2]
                if name == "at":
                    return self.pattern(args[0], *map(self.evaluate, args[1:]))
                if isinstance(func, ast.Attribute) and func.attr in METHODS:
                    return METHODS[func.attr](self.evaluate(func.value), *map(self.evaluate, args))
                if name in FUNCTIONS:
                    return FUNCTIONS[name](*map(self.evaluate, args))
        raise LookupError(f"{ast.unparse(node)} is not a literal")

    def _item(self, node: ast.expr) -> Found:
        try:
            return self.evaluate(node)
        except NO_VALUE:
            return Unread(ast.unparse(node))


class Record(Code):
    """A file of JSON: its names are its keys."""

    def __init__(self, name: str, content: dict[str, Found]) -> None:
        """Hold what the file has."""
        super().__init__(name, ast.Module([], []), True)
        self.content = content

    def lookup(self, name: str) -> Found:
        """Return what the file has under a key."""
        return _key(self.content, name)


def _bound(tree: ast.AST, whole: bool) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name that a tree binds, with the expression it is bound to."""
    for node in ast.walk(tree) if whole else getattr(tree, "body", []):
        match node:
            case ast.Assign(targets=targets, value=given):
                for target in targets:
                    yield from _unpacked(target, given)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as given):
                yield name, given
            case ast.NamedExpr(target=ast.Name(id=name), value=given):
                yield name, given
            case ast.keyword(arg=str(name), value=given):
                yield name, given
            case ast.For(target=target, iter=given) | ast.comprehension(target=target, iter=given):
                yield from _looped(target, given)
            case ast.Dict(keys=keys, values=values):
                for key, given in zip(keys, values):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield key.value, given
            case ast.arguments():
                plain = [*node.posonlyargs, *node.args]
                yield from zip(
                    [one.arg for one in plain[len(plain) - len(node.defaults) :]], node.defaults
                )
                for one, default in zip(node.kwonlyargs, node.kw_defaults):
                    if default is not None:
                        yield one.arg, default


def _unpacked(target: ast.expr, given: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of one assignment; `a, b = 1, 2` binds two."""
    if isinstance(target, ast.Name):
        yield target.id, given
    elif isinstance(target, ast.Attribute):
        yield target.attr, given
    elif isinstance(target, ast.Tuple) and isinstance(given, ast.Tuple):
        for part, one in zip(target.elts, given.elts):
            yield from _unpacked(part, one)


def _looped(target: ast.expr, given: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of a loop, each with all that it runs over."""
    columns: list[list[ast.expr]] = []
    match given:
        case ast.Call(func=ast.Attribute(value=ast.Dict(keys=keys, values=values), attr="items")):
            columns = [[key for key in keys if key is not None], values]
        case ast.Tuple(elts=rows) | ast.List(elts=rows):
            inside = [row.elts for row in rows if isinstance(row, ast.Tuple)]
            columns = [list(column) for column in zip(*inside)]
    if isinstance(target, ast.Name):
        yield target.id, given
    elif isinstance(target, ast.Tuple):
        for part, column in zip(target.elts, columns):
            if isinstance(part, ast.Name):
                yield part.id, ast.Tuple(column, ast.Load())


def _literals(scope: Code, expressions: list[ast.expr]) -> Iterator[Found]:
    for expression in expressions:
        try:
            yield scope.evaluate(expression)
        except NO_VALUE:
            continue


def _alike(pattern: Found, node: Found, holes: list[ast.expr]) -> bool:
    """Return whether a part of the code is like the pattern; note what is at its `_`."""
    if isinstance(pattern, ast.Name) and pattern.id == HOLE:
        holes.append(node)
        return isinstance(node, ast.expr)
    if isinstance(pattern, ast.Constant) and pattern.value is ...:
        return True
    if isinstance(pattern, list):
        return len(pattern) == len(node) and all(map(_alike, pattern, node, [holes] * len(node)))
    if not isinstance(pattern, ast.AST):
        return pattern == node
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, ast.Call) and isinstance(node, ast.Call):
        given = {one.arg: one.value for one in node.keywords}
        called: Found = node.func
        if isinstance(pattern.func, ast.Name) and isinstance(called, ast.Attribute):
            called = ast.Name(called.attr, ast.Load())  # randn is torch.randn, too
        return (
            _alike(pattern.func, called, holes)
            and len(pattern.args) <= len(node.args)
            and all(_alike(p, n, holes) for p, n in zip(pattern.args, node.args))
            and all(k.arg in given and _alike(k.value, given[k.arg], holes)
                    for k in pattern.keywords)
        )  # fmt: skip
    return all(
        _alike(getattr(pattern, part, None), getattr(node, part, None), holes)
        for part in pattern._fields
        if part not in ("ctx", "kind")
    )


def is_pattern(tree: ast.AST) -> bool:
    """Return whether an expression is code with a `_`, and not a sum with such code in `at()`."""
    holes = any(isinstance(node, ast.Name) and node.id == HOLE for node in ast.walk(tree))
    return holes and not any(getattr(getattr(n, "func", n), "id", "") == "at"
                             for n in ast.walk(tree) if isinstance(n, ast.Call))  # fmt: skip


def _key(held: Found, key: Found) -> Found:
    """Return what is under a key; of rows, the one that a name picks, or what all have there."""
    if isinstance(held, dict):
        if key not in held:
            raise LookupError(f"no {key}; there is {', '.join(map(str, held)) or 'nothing'}")
        return held[key]
    if isinstance(held, list) and isinstance(key, str) and all(isinstance(r, dict) for r in held):
        named = [row for row in held if SEED.sub("", str(row.get("name"))) == key]
        if named:
            return named
        found = [row[key] for row in held if key in row]
        if not found:
            names = ", ".join(dict.fromkeys(str(row.get("name")) for row in held))
            raise LookupError(f"no row and no key {key!r}; the rows are {names}")
        return found[0] if all(one == found[0] for one in found) else found
    return held[key]


def _one(values: list[Found], what: str, advice: str) -> Found:
    if all(one == values[0] for one in values):
        return values[0]
    several = dict.fromkeys(map(short, values))
    raise LookupError(f"{what} {' and '.join(several)}; {advice}")


def short(found: Found) -> str:
    """Return how a message shows a value."""
    text = repr(found)
    return text if len(text) <= 60 else f"{text[:60]}…"
