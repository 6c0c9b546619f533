"""The page for whoever is stuck: its headings are what the screen says, where we can have it said.

What Windows, VS Code and Colab say cannot be had here, and is taken from what they document.
"""

from __future__ import annotations

import errno
import importlib.metadata
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch

from coursekit.check import check
from coursetools.cli import parse
from coursetools.course import Course
from coursetools.doctor import examine
from coursetools.notebooks import header_cells

ROOT = Path(__file__).resolve().parents[2]
START = (ROOT / "book" / "start.md").read_text(encoding="utf-8")
PAGE = (ROOT / "book" / "stuck.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SECTIONS = dict(re.findall(r"^### ([^\n]+)\n\n(.+?)(?=^#|^\(sec|\Z)", PAGE, flags=re.M | re.S))
TYPED = re.findall(r"`(\.venv/bin/\w+(?: [^`]*)?)`|^(\.venv/bin/.+)$", START + PAGE, flags=re.M)
COMMANDS = [shlex.split(text) for text in dict.fromkeys(map("".join, TYPED))]
# Not imported, and not looked for as a module: setuptools then has no distutils in this process.
PIP = any(distribution.name == "pip" for distribution in importlib.metadata.distributions())
ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux's own words")


def heading(*words: str) -> str:
    """Return the one heading in which all of these words stand."""
    (found,) = (name for name in SECTIONS if all(word in name for word in words))
    return found


def error(call) -> str:
    """Return what the error of a call says, with its name."""
    with pytest.raises(Exception) as caught:
        call()
    return f"{type(caught.value).__name__}: {caught.value}"


def test_every_heading_has_something_to_do():
    assert len(SECTIONS) > 20
    for name, text in SECTIONS.items():
        assert re.search(r"`[^`]+`|\*[A-Z][^*]+\*", text), name  # to type, or to choose
        assert re.search(r"`[^`]+`|\*[A-Z][^*]+\*", name) or "An answer" in name or "see" in name


def test_the_course_asks_for_what_the_page_says():
    assert PROJECT["requires-python"] in heading("requires a different Python")
    (wanted,) = (text for text in PROJECT["dependencies"] if text.startswith("torch"))
    assert f"No matching distribution found for {wanted}" in heading("No matching distribution")


def test_what_the_first_cell_says(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    said = error(lambda: exec(header_cells.NO_ADDRESS, {}))
    assert said.startswith("ModuleNotFoundError: the package coursekit is missing")
    assert "the package coursekit is missing" in heading("No module named 'coursekit'")


def test_a_first_cell_whose_pip_fails_stops_there(monkeypatch, tmp_path):
    (tmp_path / "_config.yml").write_text("repository:\n  url: https://github.com/a/b\n")
    cells = [{"cell_type": "code", "source": "from coursekit.data import scenes"}]
    source = header_cells.setup_source(Course(tmp_path), cells, tmp_path)
    assert source.count("%pip") == 2
    without = re.sub(r"%pip [^\n]*", "pass", source)
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name != "skimage" or None)
    said = error(lambda: exec(without, {}))
    assert said.startswith("ModuleNotFoundError: skimage could not be installed")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: find("sys"))
    exec(without, {})  # all there: nothing to say


def test_what_python_and_torch_say():
    assert error(lambda: eval("torch.ones(2)", {})) in heading("NameError").strip("`")
    assert error(lambda: exec("import coursekitt", {}))[:-2] in heading("ModuleNotFoundError")
    for number, words in ((errno.EACCES, "Permission denied"), (errno.ENOSPC, "No space left")):
        assert f"[Errno {number}] {os.strerror(number)}" in heading(words)


@ON_LINUX
def test_what_a_full_memory_says():
    words = re.search(r"`(DefaultCPUAllocator: [^`]+)`", heading("DefaultCPUAllocator"))[1]
    assert words in error(lambda: torch.empty(10**15))


@ON_LINUX
def test_what_another_systems_line_endings_say(tmp_path):
    script = tmp_path / "script"
    script.write_bytes(b"#!/usr/bin/env bash\r\necho here\r\n")
    script.chmod(0o755)
    told = {**os.environ, "LC_ALL": "C.UTF-8"}
    said = subprocess.run([script], capture_output=True, text=True, env=told).stderr
    assert heading("bash\\r").strip("`") in said


def test_what_pip_says_in_another_folder(tmp_path):
    if not PIP:
        pytest.skip("this environment has no pip")
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "."]
    done = subprocess.run(pip, cwd=tmp_path, capture_output=True, text=True)
    assert heading("is not installable").strip("`") in done.stderr


def test_what_check_says():
    def softmax_of_nothing(scores):
        raise NotImplementedError

    softmax_of_nothing.__name__ = softmax_of_nothing.__qualname__ = "shares"
    assert str(check(softmax_of_nothing)).startswith("shares: not written yet")
    heading("not written yet", "is not answered")
    submit = (ROOT / "src/coursekit/check/handin.py").read_text(encoding="utf-8")
    assert "is not answered" in submit


def test_jupyterlab_says_that_a_kernel_has_died():
    import jupyterlab

    folder = Path(sys.prefix) / "share" / "jupyter" / "lab" / "static"
    scripts = list(folder.glob("*.js"))
    if not scripts:
        pytest.skip(f"JupyterLab {jupyterlab.__version__} keeps its scripts elsewhere")
    words = re.search(r"\*The kernel … (.+?)\*", heading("appears to have died"))[1]
    assert any(f"The kernel for %1 {words}" in path.read_text("utf-8") for path in scripts)


def test_the_lines_of_doctor_that_matter_are_there():
    told = re.search(r"For notebooks its lines (.+?) have to be `ok`", PAGE)[1]
    names = [one.name for one in examine(None)]
    assert re.findall(r"`(\w+)`", told) == [
        name for name in names if name in ("coursekit", "python", "packages", "torch", "disk")
    ]
    rest = re.search(r"what it says of (.+?) concerns those", PAGE)[1]
    assert set(re.findall(r"`(\w+)`", rest)) < set(names) and "groups" in rest


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_one(words):
    program = Path(words[0]).name
    if program == "coursekit":
        if words[1:]:
            parse(words[1:])
    elif words[1:3] == ["-m", "pip"]:
        if not PIP:
            pytest.skip("this environment has no pip")
        understood = "create_command(sys.argv[1]).parser.parse_args(sys.argv[2:])"
        if words[3] == "cache":
            understood = "assert 'purge' in str(create_command('cache').usage)"
        code = f"import sys; from pip._internal.commands import create_command; {understood}"
        subprocess.run([sys.executable, "-c", code, *words[3:]], check=True)
    elif words[1:2] == ["-c"]:
        exec(compile(words[2], "page", "exec"), {})
    else:
        assert program in ("python", "jupyter")


def test_the_page_leads_to_where_vs_code_and_colab_are_told():
    for label in ("sec-start-vscode", "sec-start-colab"):
        assert f"({label})=" in START and re.search(rf"\{{ref}}`[^`]*{label}>?`", PAGE)
    assert "{ref}`sec-stuck`" in START
    assert "(sec-gpu-colab)=" in (ROOT / "book" / "gpu.md").read_text(encoding="utf-8")


def test_the_versions_of_python_are_those_that_are_tried():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    matrix = re.findall(r"python: \[([^\]]*)\]", workflow)
    tried = sorted(version for row in matrix for version in re.findall(r"3\.\d+", row))
    assert f"Python {tried[0]} to {tried[-1]}" in START
