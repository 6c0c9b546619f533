"""Ways past what a question forbids, found in the source: into the interpreter, or below torch.

In the process where an answer runs, its author is the master: whatever watches there can be found
and changed. But to find it one has to say how, in Python, and that is read here by somebody whom no
code of theirs can reach. No exercise needs any of it; still it is only shown to a human.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from coursekit.submission.forbidden import dotted_name, imported

MODULES = {
    *("_ctypes", "_thread", "bdb", "builtins", "cProfile", "cffi", "cloudpickle", "codeop"),
    *("copyreg", "ctypes", "dill", "doctest", "gc", "imp", "importlib.import_module", "inspect"),
    *("importlib.abc", "importlib.machinery", "importlib.reload", "importlib.resources", "joblib"),
    *("importlib.util.module_from_spec", "importlib.util.spec_from_file_location", "linecache"),
    *("marshal", "operator.attrgetter", "operator.methodcaller", "pdb", "pickle", "pkgutil"),
    *("profile", "pydoc", "runpy", "string.Formatter", "sys._current_frames", "sys._getframe"),
    *("sys.addaudithook", "sys.meta_path", "sys.modules", "sys.path_hooks", "sys.setprofile"),
    *("sys.settrace", "threading.setprofile", "threading.settrace", "timeit", "torch.classes"),
    *("torch.export", "torch.fx", "torch.hub", "torch.jit", "torch.library", "torch.load"),
    *("torch.ops", "torch.overrides", "torch.package", "torch.utils", "traceback.walk_stack"),
    *("traceback.walk_tb", "types.CodeType", "types.FunctionType", "typing.get_type_hints"),
    *("unittest", "zipimport"),
}
NAMES = {"__builtins__", "__import__", "breakpoint", "compile", "eval", "exec", "globals", "vars"}
ATTRIBUTES = {
    *("__base__", "__bases__", "__builtins__", "__closure__", "__code__", "__dict__", "__func__"),
    *("__getattribute__", "__globals__", "__import__", "__loader__", "__mro__", "__reduce__"),
    *("__reduce_ex__", "__self__", "__spec__", "__subclasses__", "__traceback__", "__wrapped__"),
    *("_decomp", "_getframe", "_current_frames", "_prims", "_refs", "ag_frame", "addaudithook"),
    *("aten", "attrgetter", "cell_contents", "cr_frame", "f_back", "f_builtins", "f_globals"),
    *("f_locals", "get_objects", "get_referents", "get_referrers", "gi_frame", "import_module"),
    *("meta_path", "methodcaller", "module_from_spec", "run_cell_magic", "run_line_magic"),
    *("setprofile", "settrace", "tb_frame"),
}
COMPUTED = ("getattr", "setattr", "delattr")  # harmless where the name is in the source
MAGIC = re.compile(r"^([^\S\n]*)[%!](?:(?:time|timeit|prun)\b\s*)?(.*)$", re.MULTILINE)
WORDS = {name.rpartition(".")[2] for name in MODULES} | NAMES | ATTRIBUTES | {*COMPUTED}
LONGEST = 200_000  # characters of a notebook's own code, of which most have 10,000
IMPORTS = 500  # lines
WORD = re.compile(r"\w+")


def flags(cells: Sequence[str], given: Collection[str], usual: Collection[str]) -> list[str]:
    """Return a flag for each cell of a notebook that takes a way past the rules.

    The instructor's own, `given`, may do as they like, and so may all what those do: `usual`.
    """
    flagged, room, imports = [], LONGEST, None
    for number, source in enumerate(cells, start=1):
        if source in given:
            continue
        room -= len(source)
        if room < 0:  # untrusted text is never parsed without a limit
            flagged.append(f"cell {number}: too long to search for forbidden names")
            break
        if _may(source):
            if imports is None:
                lines = (line for one in cells if len(one) < LONGEST for line in one.split("\n"))
                imports = [line for line in lines if "import" in line][:IMPORTS]
            names = [name for name in around(source, imports) if name not in usual]
            flagged += [f"cell {number} uses {', '.join(names)}"] if names else []
    return flagged


def around(source: str, imports: Iterable[str] = ()) -> list[str]:
    """Return the ways past the rules that a cell takes; `imports` are other cells' import lines.

    A cell that is no Python is searched for words.
    """
    try:
        tree = ast.parse(MAGIC.sub(_line, source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return sorted((MODULES | NAMES | ATTRIBUTES) & set(re.findall(r"[\w.]+", source)))
    aliases = {}
    for line in imports:
        try:
            aliases.update(_imported(ast.parse(line.strip())))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    aliases.update(_imported(tree))
    return sorted(set(_found(tree, aliases)))


def _may(source: str) -> bool:
    """Return whether a cell has a word that is worth a closer look; most have none."""
    words = set(WORD.findall(source))
    private = (word for word in words if word[0] == "_")
    return not words.isdisjoint(WORDS) or any(re.match("_[A-Za-z]", one) for one in private)


def _found(tree: ast.AST, aliases: dict[str, str]) -> Iterator[str]:
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for dotted in _imported(node).values():
                yield from _listed(dotted)
        elif isinstance(node, ast.Attribute):
            if node.attr in ATTRIBUTES or re.match("_[A-Z]", node.attr):
                yield node.attr
            yield from _listed(dotted_name(node, aliases))
        elif isinstance(node, ast.Name):
            if node.id in COMPUTED:
                yield from _by_name(node.id, called.get(id(node)), aliases)
            elif node.id in NAMES:
                yield node.id
            yield from _listed(aliases.get(node.id, ""))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in ATTRIBUTES | MODULES:
                yield node.value
        elif isinstance(node, ast.MatchClass):
            yield from ATTRIBUTES.intersection(node.kwd_attrs)


def _by_name(name: str, call: ast.Call | None, aliases: dict[str, str]) -> Iterator[str]:
    """Look at `getattr(a, b)` as at `a.b`, if `b` is text."""
    text = call.args[1] if call is not None and len(call.args) > 1 else None
    if call is None or not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        yield f"{name} with a computed name"
    else:
        yield from _listed(f"{dotted_name(call.args[0], aliases)}.{text.value}")


def _listed(dotted: str) -> Iterator[str]:
    """Yield the beginning of a dotted name that is on the list, or is torch's own business."""
    parts = dotted.split(".")
    for number, part in enumerate(parts, start=1):
        name = ".".join(parts[:number])
        private = number > 1 and re.match("_[A-Za-z]", part) and parts[0] == "torch"
        if name in MODULES or private:
            yield name
            return


def _line(match: re.Match[str]) -> str:
    """Return Python for a line of IPython's: what it would run, or nothing."""
    runs = match[0].strip().startswith(("%time ", "%timeit ", "%prun "))
    return match[1] + (match[2] if runs else "pass")


def _imported(tree: ast.AST) -> dict[str, str]:
    """Return the names that imports and plain assignments bind, and the dotted name behind each."""
    names = imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and (dotted := dotted_name(node.value, names)):
            names.update({one.id: dotted for one in node.targets if isinstance(one, ast.Name)})
    return names
