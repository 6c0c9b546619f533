"""Public names are where a reader would look for them."""

import ast
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from coursetools.course import Course
from coursetools.notebooks.imports import closure, imports_of_cells

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "coursekit"
PACKAGES = [
    "decoding",
    "boxes",
    "models",
    "plain",
    "tokenizers",
    "objectives",
    "training",
    "data",
    "figures",
    "analysis",
]
NAMES = [
    (package, name) for package in PACKAGES for name in import_module(f"coursekit.{package}").HOMES
]
MENTIONED = re.compile(rf"coursekit\.({'|'.join(PACKAGES)})\.(\w+)\.(\w+)")


LOADED = [
    ("models", "Bert"),
    ("tokenizers", "ByteBPE"),
    ("objectives", "dpo_loss"),
    ("training", "constant"),
    ("data", "verses"),
    ("figures", "mask_grid"),
    ("analysis", "prune"),
]
# What each program prints when the course is not loaded yet. One process answers for all, since to
# load torch takes longer than everything else: the course is forgotten in between, torch is not.
ANSWERS = """
import contextlib, io, json, sys
answers = []
for program in json.load(sys.stdin):
    for name in [name for name in sys.modules if name.partition(".")[0] == "coursekit"]:
        del sys.modules[name]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(program, {})
    answers.append(said.getvalue().strip())
print(json.dumps(answers))
"""


def loads(package: str, name: str) -> str:
    line = f"from coursekit.{package} import {name}"
    return f"import sys; {line}; print(*(m[10:] for m in sys.modules if m[:10] == 'coursekit.'))"


def orders(name: str) -> list[str]:
    """Return programs that take a function of `data` before and after the file of that name."""
    function = f"from coursekit.data import {name}; print({name}.__class__.__name__)"
    file = f"import sys, coursekit.data.{name}; print(sys.modules['coursekit.data.{name}'].CARD)"
    return [f"{function}; {file}; {function}", f"{file}; {function}"]


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """Return what each program says, by the program."""
    programs = [loads(*pair) for pair in LOADED] + orders("verses") + orders("digits")
    done = subprocess.run(
        [sys.executable, "-c", ANSWERS],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(programs, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize(("package", "name"), NAMES, ids=map(".".join, NAMES))
def test_every_name_can_be_imported_from_its_package(package, name):
    whole = import_module(f"coursekit.{package}")
    home = import_module(f"coursekit.{package}.{whole.HOMES[name]}")
    assert getattr(whole, name) is vars(home)[name]
    assert getattr(whole, name).__module__ == home.__name__
    assert name in dir(whole)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_star_means_the_public_names(package):
    whole = import_module(f"coursekit.{package}")
    assert sorted(whole.__all__) == sorted(whole.HOMES)
    found = {}
    exec(f"from coursekit.{package} import *", found)
    assert found.keys() - {"__builtins__"} == whole.HOMES.keys()


@pytest.mark.parametrize(("package", "name"), LOADED, ids=map(".".join, LOADED))
def test_a_name_loads_what_its_own_file_needs_and_no_other(package, name, said):
    """Asked of the program, and of the reader of imports behind the keys of the notebooks."""
    home = import_module(f"coursekit.{package}").HOMES[name]
    path = SOURCE / package / f"{home}.py"
    files = {
        ".".join(found.relative_to(SOURCE).with_suffix("").parts)
        for found in closure(path, Course(ROOT)) | {SOURCE / package / "__init__.py"}
    }
    loaded = {f"{m}.__init__" if (SOURCE / m.replace(".", "/")).is_dir() else m
              for m in said[loads(package, name)].split()}  # fmt: skip
    assert f"{package}.{home}" in loaded and loaded <= files | {"_lazy"}
    siblings = {p.stem for p in (SOURCE / package).glob("*.py")}
    assert len({m for m in loaded if m.startswith(f"{package}.")}) <= len(siblings) / 2


@pytest.mark.parametrize("package", PACKAGES)
def test_a_notebook_that_uses_the_short_name_depends_on_that_file(package, tmp_path):
    whole = import_module(f"coursekit.{package}")
    name, home = next(iter(whole.HOMES.items()))
    keys = []
    for line in (f"coursekit.{package} import {name}", f"coursekit.{package}.{home} import {name}"):
        cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": f"from {line}"}
        notebook = tmp_path / "n.ipynb"
        notebook.write_text(json.dumps({"cells": [cell], "nbformat": 4, "metadata": {}}))
        keys.append(closure(notebook, Course(ROOT)))
    assert keys[0] == keys[1] and SOURCE / package / f"{home}.py" in keys[0]


@pytest.mark.parametrize("first", ["verses", "digits"])
def test_a_function_named_like_its_file_is_the_function_whoever_was_first(first, said):
    for program in orders(first):
        assert said[program].split()[-1] == "function"


def names_in_the_pages() -> set[tuple[str, str, str]]:
    """(package, file, name) of all that pages and notebooks take out of a file of a package."""
    found = set()
    for page in [*ROOT.glob("*.md"), *(ROOT / "book").rglob("*.md"), ROOT / "book/lecture_map.csv"]:
        # A listing names its file, because that is where its code stands.
        text = re.sub(r"^```\{listing\}.*$", "", page.read_text("utf-8"), flags=re.MULTILINE)
        found |= set(MENTIONED.findall(text))
    for path in (ROOT / "notebooks").rglob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found |= {name[1:] for name in imports_of_cells(cells) if len(name) == 4}
    return {found for found in found if found[0] in PACKAGES}


def defined(path: Path) -> set[str]:
    """Return the functions and classes of a file."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, kinds)}


def test_what_the_pages_name_is_where_a_reader_looks():
    named = names_in_the_pages()
    assert ("tokenizers", "byte_bpe", "ByteBPE") in named and len(named) > 50
    for package, file, name in sorted(named):
        files = [p for p in (SOURCE / package).glob("*.py") if name in defined(p)]
        if (SOURCE / package / f"{file}.py") in files and len(files) == 1:
            assert import_module(f"coursekit.{package}").HOMES.get(name) == file, name


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name_is_an_import_error(package):
    with pytest.raises(ImportError, match="Bret"):
        exec(f"from coursekit.{package} import Bret")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("GPT", "from coursekit.models.gpt import GPT"),
        ("MultiHeadAttention", "from coursekit.heads import MultiHeadAttention"),
        ("read_gguf", "from coursekit.models.weights.gguf import read_gguf"),
        ("collate", "from coursekit.models.gpt_heads import collate or from coursekit.training."),
    ],
)
def test_a_name_asked_of_the_package_itself_is_told_where_it_stands(name, line):
    with pytest.raises(ImportError, match=re.escape(f"import {name} from coursekit; use {line}")):
        exec(f"from coursekit import {name}")


def test_a_file_is_had_from_the_package_and_what_is_nowhere_is_not():
    found = {}
    exec("from coursekit import attention, masks", found)
    assert found["attention"].__name__ == "coursekit.attention"
    with pytest.raises(ImportError, match="cannot import name 'Bret'"):
        exec("from coursekit import Bret")
    for name in ("Bret", "check_int", "__wrapped__", "at[", ""):  # `check_int` is for our own files
        assert not hasattr(import_module("coursekit"), name)


def test_weights_are_read_from_where_the_models_are():
    from coursekit.models import read_safetensors, write_safetensors

    assert read_safetensors.__module__ == write_safetensors.__module__
