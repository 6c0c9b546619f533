"""The cache key follows what a notebook imports: no less, or results go stale; and no more."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from coursekit._base.errors import CourseError
from coursetools.course import Course
from coursetools.notebooks import imports
from coursekit.submission.cells import parse_cell, python_of
from coursetools.notebooks.imports import cache_key, closure

ROOT = Path(__file__).resolve().parents[2]


def names(paths, root):
    return {path.relative_to(root / "src" / "coursekit").as_posix() for path in paths}


@pytest.fixture
def package(course):
    """Return a course whose package has every kind of import between its modules."""
    course.module("coursekit/base", "ONE = 1\n")
    course.module("coursekit/absolute", "from coursekit.base import ONE\n")
    course.module("coursekit/relative", "from .base import ONE\nfrom . import absolute\n")
    course.module("coursekit/inside", "def f():\n    from coursekit import base\n")
    course.module(
        "coursekit/typed",
        "import typing\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from coursekit import base\n"
        "if typing.TYPE_CHECKING:\n    from coursekit import base\n"
        "else:\n    from coursekit import inside\n",
    )
    course.module(
        "coursekit/attempt",
        "try:\n    import base2\nexcept Exception:\n    x = 1\n"
        "finally:\n    import coursekit.base\n",
    )
    course.module(
        "coursekit/named", "import importlib\nimportlib.import_module('coursekit.base')\n"
    )
    course.module("coursekit/figures/masks", "from ..base import ONE\n")
    course.module("coursekit/figures/plain", "")
    course.module("coursekit/ring_a", "from coursekit import ring_b\n")
    course.module("coursekit/ring_b", "from coursekit import ring_a\n")
    course.module("coursekit/matched", "match 1:\n    case 1:\n        import coursekit.base\n")
    (course.root / "src" / "coursekit" / "figures" / "__init__.py").write_text("def show(): pass\n")
    course.module("coursekit/zoo/lion", "from coursekit.base import ONE\n")
    course.module("coursekit/zoo/mouse", "")
    (course.root / "src" / "coursekit" / "zoo" / "__init__.py").write_text(
        'HANDS_OUT = {"lion": "Lion", "mouse": "Mouse"}\n'
    )
    return course


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("", ""),
        ("import coursekit", "__init__"),
        ("import coursekit.base", "__init__ base"),
        ("import coursekit.base as b", "__init__ base"),
        ("from coursekit import base", "__init__ base"),
        ("from coursekit.base import ONE", "__init__ base"),
        ("from coursekit import absolute", "__init__ base absolute"),
        ("from coursekit import relative", "__init__ base absolute relative"),
        ("from coursekit import inside", "__init__ base inside"),
        ("from coursekit import typed", "__init__ typed inside base"),
        ("from coursekit import attempt", "__init__ attempt base"),
        ("from coursekit import named", "__init__ named base"),
        ("from coursekit import matched", "__init__ matched base"),
        ("from coursekit.figures import show", "__init__ figures/__init__"),
        ("import coursekit.figures.plain", "__init__ figures/__init__ figures/plain"),
        ("from coursekit.figures import masks", "__init__ figures/__init__ figures/masks base"),
        ("from coursekit.zoo import Lion", "__init__ zoo/__init__ zoo/lion base"),
        ("from coursekit.zoo import Mouse", "__init__ zoo/__init__ zoo/mouse"),
        ("from coursekit.zoo.mouse import Mouse", "__init__ zoo/__init__ zoo/mouse"),
        ("from coursekit import zoo", "__init__ zoo/__init__ zoo/lion zoo/mouse base"),
        ("from coursekit.zoo import *", "__init__ zoo/__init__ zoo/lion zoo/mouse base"),
        ("import coursekit.ring_a", "__init__ ring_a ring_b"),
        ("def f():\n    if True:\n        import coursekit.base", "__init__ base"),
        ("if TYPE_CHECKING:\n    import coursekit.base", ""),
        ("await f()\nimport coursekit.base", "__init__ base"),
        ("import torch, coursekit.base", "__init__ base"),
        ("%pip install -q x\nimport coursekit.base", "__init__ base"),
        ("!pip install \\\n   x\nimport coursekit.base", "__init__ base"),
        ("files = !ls\nimport coursekit.base", "__init__ base"),
        ("if True:\n    %pip install x\nimport coursekit.base", "__init__ base"),
        ("%%time\nimport coursekit.base", "__init__ base"),
        ("\n%%capture out\nimport coursekit.base", "__init__ base"),
        ("%%bash\nimport coursekit.base", ""),
        ("coursekit?\nimport coursekit.base", "__init__ base"),
        ("?coursekit\nimport coursekit.base", "__init__ base"),
        ("text = '''\n%d\nimport coursekit.base'''", ""),
    ],
)
def test_closure_of_a_cell(package, cell, expected):
    path = package.notebook("one", cell)
    assert names(closure(path, Course(package.root)), package.root) == {f"{n}.py" for n in expected.split()}


def test_closure_of_a_module_counts_itself_and_its_packages(package):
    path = package.root / "src" / "coursekit" / "figures" / "masks.py"
    found = closure(path, Course(package.root))
    assert names(found, package.root) == {
        "__init__.py",
        "figures/__init__.py",
        "figures/masks.py",
        "base.py",
    }
    assert closure([path], Course(package.root / "src")) == found  # either folder may be called the root


def test_imports_of_several_cells_and_of_a_neighbour_are_joined(package):
    path = package.notebook("one", "import neighbour", "import coursekit.ring_a")
    (path.parent / "neighbour.py").write_text("import coursekit.base\n")
    found = closure(path, Course(package.root))
    assert path.parent / "neighbour.py" in found
    assert names(found - {path.parent / "neighbour.py"}, package.root) == {
        "__init__.py",
        "base.py",
        "ring_a.py",
        "ring_b.py",
    }


@pytest.mark.parametrize(
    "cell",
    [
        "x = 1\n%pip a\ny = 2",
        "%%time\nx = 1",
        "%%html\n<b>\n</b>",
        "!a \\\n b \\\n c\nx",
        "x?\n",
        "a\n",
    ],
)
def test_taking_magics_out_keeps_the_lines_and_leaves_python(cell):
    assert python_of(cell).count("\n") == cell.count("\n")
    parse_cell(cell)


def test_plain_python_is_not_touched():
    cell = "text = '''\n%pip\n!ls\n'''\nvalue = (5\n% 3)\nif a != b: pass"
    assert python_of(cell) == cell


def test_what_is_not_python_is_still_an_error():
    with pytest.raises(SyntaxError):
        parse_cell("%pip x\nvalue = = 1")


def test_the_static_graph_covers_what_really_is_loaded():
    """Import each module of the parts in a fresh state and compare with its closure."""
    modules = sorted(p.stem for p in (ROOT / "src" / "coursekit").glob("*.py") if p.stem[0] != "_")
    program = (
        "import json, sys, importlib, torch\n"
        "found = {}\n"
        f"for name in {modules}:\n"
        "    for old in [m for m in sys.modules if m.split('.')[0] == 'coursekit']:\n"
        "        del sys.modules[old]\n"
        "    importlib.import_module('coursekit.' + name)\n"
        "    found[name] = [m.__file__ for k, m in list(sys.modules.items())\n"
        "                   if k.split('.')[0] == 'coursekit']\n"
        "print(json.dumps(found))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = json.loads(run.stdout)
    assert "masks" in loaded
    for name, files in loaded.items():
        static = closure(ROOT / "src" / "coursekit" / f"{name}.py", Course(ROOT))
        assert {Path(file).resolve() for file in files} <= static, name


def changed(root, edit):
    """Return the notebooks whose key differs after `edit`, and those whose key does not."""
    notebooks = sorted((root / "notebooks").glob("*.ipynb"))
    before = {path.stem: cache_key(path) for path in notebooks}
    edit()
    after = {path.stem: cache_key(path) for path in notebooks}
    return {n for n in before if before[n] != after[n]}, {
        n for n in before if before[n] == after[n]
    }


@pytest.fixture
def real(course):
    """Return a miniature course with the real package and all the real notebooks beside its own."""
    shutil.copytree(
        ROOT / "src" / "coursekit",
        course.root / "src" / "coursekit",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy(path, course.root / "notebooks")
    course.notebook("uses-masks", "from coursekit import masks")
    course.notebook("uses-figures", "from coursekit.figures import show")
    course.notebook("uses-nothing", "print(1)")
    return course


def test_a_change_in_masks_touches_the_notebooks_that_use_it_and_no_other(real):
    masks = real.root / "src" / "coursekit" / "masks.py"
    users = {
        path.stem
        for path in (real.root / "notebooks").glob("*.ipynb")
        if masks in closure(path, Course(real.root))
    }
    yes, no = changed(real.root, lambda: masks.write_text(masks.read_text() + "\n# edited\n"))
    assert yes == users
    assert "uses-masks" in yes
    assert {"uses-nothing", "uses-figures"} <= no
    if (ROOT / "notebooks" / "masking.ipynb").is_file():
        assert "masking" in yes


def test_every_module_changes_exactly_the_keys_of_the_notebooks_that_reach_it(real):
    reach = {p.stem: closure(p, Course(real.root)) for p in (real.root / "notebooks").glob("*.ipynb")}
    notebooks = sorted((real.root / "notebooks").glob("*.ipynb"))
    before = {path.stem: cache_key(path) for path in notebooks}
    modules = sorted((real.root / "src").rglob("*.py"))
    reached = [module for module in modules if any(module in files for files in reach.values())]
    assert 20 < len(reached) < len(modules) - 20

    texts = {module: module.read_text(encoding="utf-8") for module in modules}

    def edited_keys(paths, asked):
        """Return the keys of the notebooks asked for while all of `paths` are edited."""
        for path in paths:
            path.write_text(texts[path] + "\n# edited\n", encoding="utf-8")
        keys = {path.stem: cache_key(path) for path in asked}
        for path in paths:
            path.write_text(texts[path], encoding="utf-8")
        return keys

    # Each notebook once with all that it does not reach, each module once with one that reaches it:
    # every pair would be as many as modules times notebooks.
    for path in notebooks:
        others = [module for module in modules if module not in reach[path.stem]]
        assert edited_keys(others, [path])[path.stem] == before[path.stem], path.stem
    asked = Counter()
    for module in reached:
        name = min((n for n, files in reach.items() if module in files), key=lambda n: asked[n])
        asked[name] += 1
        key = edited_keys([module], [real.root / "notebooks" / f"{name}.ipynb"])[name]
        assert key != before[name], (module, name)
    assert {path.stem: cache_key(path) for path in notebooks} == before


def edited(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    "change",
    [
        lambda n: n["cells"][2].update(source="x = 2"),
        lambda n: n["cells"][0].update(source="# Another title"),
        lambda n: n["cells"][2].update(id="renamed"),
        lambda n: n["cells"][2].update(metadata={"tags": ["hide-input"]}),
        lambda n: n["metadata"].update(mystnb={"execution_timeout": 5}),
        lambda n: n["cells"].append(n["cells"].pop(0)),
    ],
)
def test_a_change_of_the_notebook_changes_its_key(course, change):
    path = course.notebook("one", "x = 1", "y = 1")
    before = cache_key(path)
    edited(path, change)
    assert cache_key(path) != before


@pytest.mark.parametrize(
    "change",
    [
        lambda n: n["cells"][2].update(outputs=[{"output_type": "stream"}], execution_count=3),
        lambda n: n["cells"][3].update(source=["y = 1\n", "z = 1"]),
        lambda n: n["metadata"].update(language_info={"version": "3.99"}),
        lambda n: None,
    ],
)
def test_results_and_layout_of_the_file_do_not_change_the_key(course, change):
    path = course.notebook("one", "x = 1", "y = 1\nz = 1")
    before = cache_key(path)
    edited(path, change)
    assert cache_key(path) == before


def test_versions_are_in_the_key(course, monkeypatch):
    path = course.notebook("one", "x = 1")
    before = cache_key(path)
    with monkeypatch.context() as patch:
        patch.setattr(imports.platform, "python_version", lambda: "3.99.0")
        assert cache_key(path) != before
    for package in ("torch", "numpy", "matplotlib"):
        with monkeypatch.context() as patch:
            patch.setattr(imports, "installed_version", lambda n, p=package: "9" if n == p else "1")
            assert imports.keyed_versions()[package] == "9"
            assert cache_key(path) != before
    assert cache_key(path) == before


RESULTS = {
    "reads": "from coursekit.training.records import result",
    "reads-sweep": "from coursekit.training.records import choose, sweep_result as s",
    "reads-whole": "from coursekit.training import records\nrecords.result('toy')",
    "reads-below": "from coursekit.figures import curves",
    "records-only": "from coursekit.training.records import choose, record",
    "result-of-another": "from coursekit.other import result",
    "nothing": "x = 1",
}


def test_results_are_in_the_key_of_who_reads_them(course):
    """Whether a notebook reads them itself or a module that it imports; a training makes them."""
    course.module("coursekit/training/records", "def result(name): ...\n")
    course.module("coursekit/other", "def result(name): ...\n")
    course.module("coursekit/figures/curves", "from ..training.records import result\n")
    for name, cell in RESULTS.items():
        course.notebook(name, cell)
    training = course.notebook("toy", RESULTS["reads"], folder="notebooks/training")
    of_training = cache_key(training)
    readers = {name for name in RESULTS if name.startswith("reads")}
    folder = course.root / "results" / "toy"
    folder.mkdir(parents=True)

    def write(path, text):
        return lambda: path.write_text(text)

    assert changed(course.root, write(folder / "cpu.json", "{}"))[0] == readers
    assert changed(course.root, write(folder / "cpu.json", "{ }"))[0] == readers
    assert changed(course.root, write(folder / "cpu.json", "{ }"))[0] == set()
    assert changed(course.root, lambda: folder.rename(folder.with_name("toys")))[0] == readers
    assert changed(course.root, write(folder.parent / "benchmarks.json", "{}"))[0] == set()
    assert cache_key(training) == of_training


def test_the_key_does_not_depend_on_where_the_course_lies(course, tmp_path):
    course.module("coursekit/base", "ONE = 1\n")
    path = course.notebook("one", "import coursekit.base")
    shutil.copytree(course.root, tmp_path / "elsewhere")
    assert cache_key(tmp_path / "elsewhere" / "notebooks" / "one.ipynb") == cache_key(path)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"cells": 3}', '{"cells": [{}], "nbformat": 4}']
)
def test_a_file_that_is_no_notebook_is_named(course, content):
    path = course.root / "notebooks" / "broken.ipynb"
    path.write_text(content)
    with pytest.raises(CourseError, match=r"broken\.ipynb is not a Jupyter notebook"):
        cache_key(path)


def test_the_key_is_read_without_loading_torch_or_the_notebook_tools(course):
    path = course.notebook("one", "from coursekit import masks")
    program = (
        f"import sys; from coursetools.notebooks.imports import cache_key; cache_key({str(path)!r})\n"
        "print({'torch', 'numpy', 'nbformat', 'IPython', 'nbclient'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "set()"
