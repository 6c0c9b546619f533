"""What a notebook depends on, and the key that changes when any of it changes.

The static import graph is read with `ast`: nothing is imported, so torch is not loaded and six
notebooks take milliseconds. Imports inside functions count, since they run when the function runs;
imports under `if TYPE_CHECKING:` never run and do not count.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from coursekit._base.errors import CourseError
from coursekit._base.lazy import homes_of
from coursekit.submission.cells import python_of
from coursetools.course import Course, quick_imports

KEYED_VERSIONS = ("torch", "numpy", "matplotlib")
RECORDS = ("coursekit", "training", "records")
READERS = ("result", "sweep_result", "trained")  # what that module has for notebooks that read


def closure(sources: Path | Iterable[Path], course: Course) -> set[Path]:
    """Return every source file that `sources` (modules or notebooks) import, directly or not.

    Modules among `sources` count themselves; notebooks do not. Importing `a.b.c` counts the
    `__init__.py` of `a` and of `a.b`. Installed packages from elsewhere are not followed.
    """
    folder = course.packages
    waiting: list[Path] = []
    files: set[Path] = set()
    for path in [sources] if isinstance(sources, (str, Path)) else sources:
        path = Path(path).resolve()
        if path.suffix == ".ipynb":
            files |= closure_of_cells(read_notebook(path)["cells"], path.parent, course)
        else:
            waiting += [path, *_files(_dotted(path, folder), (folder,))]
    return files | _followed(waiting, folder)


def closure_of_cells(cells: Iterable[Mapping[str, Any]], place: Path, course: Course) -> set[Path]:
    """Return what the cells of a notebook in the folder `place` import, directly or not."""
    folder = course.packages
    names = imports_of_cells(cells)
    return _followed([p for name in names for p in _files(name, (place, folder))], folder)


def _followed(waiting: list[Path], folder: Path) -> set[Path]:
    """Return these files and all that they import."""
    files: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in files:
            continue
        files.add(path)
        folders = (folder,) if path.is_relative_to(folder) else (path.parent, folder)
        for name in _imports_of(path, folders[0]):
            waiting += _files(name, folders)
    return files


def cache_key(notebook: Path, course: Course | None = None) -> str:
    """Return a digest of all that decides what `notebook` shows when it is executed.

    It covers the cells with their metadata and ids (not their outputs), the metadata of the
    notebook, every file of its `closure`, the version of Python and those of `KEYED_VERSIONS`; and
    the results of trainings for a notebook that reads them. A training makes them: its own key
    does not depend on them.
    """
    notebook = Path(notebook).resolve()
    course = course or Course.around(notebook.parent)
    folder = course.packages
    digest = hashlib.sha256()
    for part in (_content(notebook), platform.python_version(), *keyed_versions().items()):
        digest.update(json.dumps(part, sort_keys=True).encode() + b"\n")
    files = sorted(closure(notebook, course))
    results = sorted(
        path for end in ("json", "safetensors") for path in course.root.glob(f"results/*/*.{end}")
    )
    if results and _reads_results(notebook, files, course):
        files += results
    for path in files:
        base = next(b for b in (folder, notebook.parent, course.root) if path.is_relative_to(b))
        digest.update(f"{path.relative_to(base).as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _reads_results(notebook: Path, files: Iterable[Path], course: Course) -> bool:
    """Return whether the cells, or one of the `files` that they import, call `result` of `records`."""
    folder = course.packages
    training = notebook.is_relative_to(course.notebooks / "training")
    if training or folder.joinpath(*RECORDS).with_suffix(".py") not in files:
        return False
    names = imports_of_cells(read_notebook(notebook)["cells"])
    for path in files:
        names |= _imports_of(path, folder if path.is_relative_to(folder) else path.parent)
    return names_a_reader(names)


def imports_of_cells(cells: Iterable[Mapping[str, Any]]) -> set[tuple[str, ...]]:
    """Return the dotted names that the cells of a notebook import."""
    names: set[tuple[str, ...]] = set()
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and "import" in source:
            names |= _imports(python_of(source), ())
    return names


def names_a_reader(names: Iterable[tuple[str, ...]]) -> bool:
    """Return whether imported names are those of what reads the results of trainings."""
    return any(
        name == RECORDS or (name[:2] == RECORDS[:2] and name[-1] in READERS) for name in names
    )


def keyed_versions() -> dict[str, str]:
    """Return the versions of the packages whose change makes every notebook stale."""
    return {name: installed_version(name) or "absent" for name in KEYED_VERSIONS}


@functools.cache
def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution, without importing it."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def read_notebook(path: Path) -> dict:
    """Return the JSON of a notebook, each source one string; a file that is none is an error."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(content.get("cells"), list) or content.get("nbformat") != 4:
            raise ValueError("no list of cells in nbformat 4")
        for cell in content["cells"]:
            cell["source"] = "".join(cell["source"])
            if not cell["cell_type"]:
                raise ValueError("a cell without a type")
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise CourseError(f"{path} is not a Jupyter notebook: {error}") from error
    return content


def notebook_text(notebook: dict) -> str:
    """Return a notebook as its file has it."""
    with quick_imports():
        import nbformat
    return nbformat.writes(nbformat.from_dict(notebook)).rstrip("\n") + "\n"


def _content(notebook: Path) -> dict:
    """Return what a notebook says before it is run; Jupyter's own book-keeping is left out."""
    content = read_notebook(notebook)
    names = ("source", "cell_type", "id", "metadata", "attachments")
    cells = [{name: cell.get(name) for name in names} for cell in content["cells"]]
    left_out = ("language_info", "widgets")
    about = {k: v for k, v in content.get("metadata", {}).items() if k not in left_out}
    return {"cells": cells, "metadata": about}


def _imports_of(path: Path, folder: Path) -> frozenset[tuple[str, ...]]:
    """Return the dotted names that a file below `folder` imports."""
    package = _dotted(path, folder)
    if path.name != "__init__.py":
        package = package[:-1]
    return _imports(path.read_text(encoding="utf-8"), package)


def _dotted(path: Path, folder: Path) -> tuple[str, ...]:
    """Return the dotted name of a file below `folder`: `a/b.py` and `a/b/__init__.py` are a.b."""
    if not path.is_relative_to(folder):
        return (path.stem,)
    parts = path.relative_to(folder).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _files(name: tuple[str, ...], folders: Iterable[Path]) -> list[Path]:
    """Return the files that importing `name` runs: each package's `__init__.py`, then the module.

    What does not exist is skipped: `coursekit.masks.causal` is a function in a module. A package
    may say in `HANDS_OUT` which names a module holds, and load one when it is asked for: then
    the name leads to that module, and the package as a whole to all of them.
    """
    for folder in folders:
        if name[:1] and name[0] not in _packages(folder):
            continue  # torch and the like, without a look at the disk for each
        files = []
        place = folder
        for part in name:
            module = place / f"{part}.py"
            place = place / part
            if (place / "__init__.py").is_file():
                files.append(place / "__init__.py")
            elif module.is_file():
                files.append(module)
                break
            elif not place.is_dir():
                if files and (home := homes(files[-1]).get(part)):
                    files += _at_home(files[-1], home)
                break
        else:
            if files:
                package = files[-1]
                for home in homes(package).values():
                    files += _at_home(package, home)
        if files:
            return files
    return []


def _at_home(package: Path, home: str) -> list[Path]:
    """Return the file that a package's `HANDS_OUT` names, and those of the packages on the way."""
    *rooms, module = home.split(".")
    inside = [package.parent.joinpath(*rooms[:n], "__init__.py") for n in range(1, len(rooms) + 1)]
    return [*inside, package.parent.joinpath(*rooms, f"{module}.py")]


def homes(package: Path) -> dict[str, str]:
    """Return which module holds a name that an `__init__.py` hands out, as its `HANDS_OUT` says."""
    source = package.read_text(encoding="utf-8") if package.name == "__init__.py" else ""
    return _homes_in(source) if "HANDS_OUT" in source else {}


@functools.lru_cache(maxsize=64)
def _homes_in(source: str) -> dict[str, str]:
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HANDS_OUT":
            return homes_of(ast.literal_eval(node.value))
    return {}


def _packages(folder: Path) -> set[str]:
    """Return what can be imported from `folder` by a first name."""
    return {name.partition(".")[0] for name in os.listdir(folder)}


@functools.lru_cache(maxsize=1024)
def _imports(source: str, package: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """Return the dotted names that `source` imports, relative ones resolved against `package`.

    `from a import b` gives both a and a.b, since b may be a module.
    """
    try:
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(source, "<source>", "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return frozenset()  # it cannot run either; when it is mended, its key changes
    names: set[tuple[str, ...]] = set()
    for node in _statements(tree, "TYPE_CHECKING" in source):
        if isinstance(node, ast.Import):
            names.update(tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level > len(package) + 1:
                continue
            base = package[: len(package) + 1 - node.level] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            names.update((*base, alias.name) if alias.name != "*" else base for alias in node.names)
    if "import_module" in source:
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and "import_module" in ast.unparse(call.func):
                names.update(
                    tuple(argument.value.split("."))
                    for argument in call.args[:1]
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
                )
    return frozenset(names)


def _statements(tree: ast.AST, typed: bool) -> Iterator[ast.stmt]:
    """Walk statements only; if `typed`, past those that a type checker alone would read."""
    blocks = [getattr(tree, "body", [])]
    while blocks:
        for node in blocks.pop():
            yield node
            branches = ["body", "orelse", "finalbody"]
            if typed and isinstance(node, ast.If):
                test = ast.unparse(node.test)
                if test in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
                    branches = ["orelse"]
                elif test in ("not TYPE_CHECKING", "not typing.TYPE_CHECKING"):
                    branches = ["body"]
            blocks += [part for name in branches if (part := getattr(node, name, None))]
            for holder in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                blocks.append(holder.body)
