"""Join a figure's module and all that it imports: a page opened as a file cannot import files.

Each imported module becomes a function that is called once and returns the names that others use,
so that two modules may have the same names inside. It understands what our modules need: named
imports from a path that starts with a dot, and `export` before a constant, a function or a class.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit.figures.live.javascript import Token, compact

IMPORT, EXPORT = Token("word", "import"), Token("word", "export")
NAMED = re.compile(r'\{([^{}]*)\}from"(\.\.?/[^"]*)"')
EXPORTED = re.compile(r" default\b| (?:const |class |(?:async )?function[ *])(\w+)")
EXPECTED = 'expected `import { name } from "./file.js"`, or `export` before a declaration'


@dataclass(frozen=True)
class Module:
    """A file's code without its imports, what it exports, and (file, name there, name here)."""

    code: list[Token]
    exports: list[str]
    imports: list[tuple[Path, str, str]]


def bundle(path: Path) -> str:
    """Return the module in the file `path` with all that it imports; its exports stay."""
    *others, own = modules(path).items()
    numbers = {file: f"${n}" for n, (file, _) in enumerate(others)}
    used: dict[Path, set[str]] = {file: set() for file, _ in others}
    for _, module in (*others, own):
        for file, name, _ in module.imports:
            used[file].add(name)
    parts = []
    for file, module in others:
        code = "".join(token.text for token in module.code if token != EXPORT).strip()
        body = f"{_constants(module, numbers)}{code}\nreturn{{{','.join(sorted(used[file]))}}}"
        parts.append(f"const {numbers[file]}=(()=>{{\n{body}}})();\n")
    code = "".join(token.text for token in own[1].code).strip()
    return "".join([*parts, _constants(own[1], numbers), code, "\n"])


def modules(path: Path) -> dict[Path, Module]:
    """Return the module in the file `path` and all that it imports, each behind what it needs."""
    done: dict[Path, Module] = {}

    def visit(file: Path, way: tuple[Path, ...]) -> None:
        if file in way:
            ring = " → ".join(one.name for one in (*way[way.index(file) :], file))
            raise CourseError(f"modules import each other in a circle: {ring}")
        if file in done:
            return
        if not file.is_file():
            raise CourseError(f"{way[-1].name if way else 'a figure'} needs {file}: no such file")
        module = read_module(file)
        for other, name, _ in module.imports:
            visit(other, (*way, file))
            if name not in done[other].exports:
                exports = ", ".join(done[other].exports) or "nothing"
                raise CourseError(
                    f"{file.name} imports {name} from {other.name}, which exports {exports}"
                )
        if way and "default" in module.exports:
            raise CourseError(f"{way[-1].name} imports {file.name}, which is a figure by itself")
        done[file] = module

    visit(path.resolve(), ())
    return done


def read_module(path: Path) -> Module:
    """Read the module in a file."""
    try:
        found = list(compact(path.read_text(encoding="utf-8")))
    except CourseError as error:
        raise CourseError(f"{path.name}: {error}") from error
    module = Module([], [], [])
    depth, n = 0, 0
    while n < len(found):
        token, n = found[n], n + 1
        if token.kind == "mark":
            depth += (token.text in "([{") - (token.text in ")]}")
        if depth or token not in (IMPORT, EXPORT) or found[n].text in ("(", "."):
            module.code.append(token)
        elif token == IMPORT:
            end = next((k for k in range(n, len(found)) if found[k].kind == "string"), n) + 1
            _read_import(path, "".join(part.text for part in found[n:end]), module)
            n = end + (found[end : end + 1] == [Token("mark", ";")])
        else:
            match = EXPORTED.match("".join(part.text for part in found[n : n + 6]))
            if match is None:
                raise CourseError(f"{path.name}: {EXPECTED}")
            module.exports.append(match[1] or "default")
            module.code.append(EXPORT)
    return module


def _read_import(path: Path, text: str, module: Module) -> None:
    """Add what an import names to its module."""
    match = NAMED.fullmatch(text.replace("\n", ""))
    if match is None:
        raise CourseError(f"{path.name}: {EXPECTED}")
    file = (path.parent / match[2]).resolve()
    for name in filter(None, match[1].split(",")):
        there, _, here = name.partition(" as ")
        module.imports.append((file, there, here or there))


def _constants(module: Module, numbers: dict[Path, str]) -> str:
    """Return the lines that give a module what it imports."""
    lines = []
    for file in dict.fromkeys(file for file, _, _ in module.imports):
        names = (
            there if there == here else f"{there}:{here}"
            for other, there, here in module.imports
            if other == file
        )
        lines.append(f"const{{{','.join(names)}}}={numbers[file]};\n")
    return "".join(lines)
