"""Binder, the dev container, a hub: what their files say is what the course needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
BINDER = ROOT / "binder"
CONDA = {"torch": "pytorch-cpu", "matplotlib": "matplotlib-base"}  # what conda calls them
# What repo2docker looks for, and takes the first of: another file would replace environment.yml.
OTHERS = ("Dockerfile", "Project.toml", "default.nix", "Pipfile", "requirements.txt", "setup.py")


def test_binder_has_torch_for_processors_and_all_that_the_course_needs():
    content = yaml.safe_load((BINDER / "environment.yml").read_text(encoding="utf-8"))
    there = {re.match(r"[\w-]+", text)[0] for text in content["dependencies"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [Requirement(text) for text in project["dependencies"]]
    missing = {one.name for one in asked if CONDA.get(one.name, one.name) not in there}
    assert missing == {"safetensors", "accelerate", "sacrebleu", "tqdm"}  # small, and pip's
    assert {"pytorch-cpu", "jupyterlab", "nbgitpuller", "pip"} <= there
    lowest = {one.name: str(one.specifier) for one in asked}["torch"]
    assert f"pytorch-cpu{lowest}" in content["dependencies"]
    assert not [name for name in OTHERS if (BINDER / name).exists()]
    assert not (ROOT / ".binder").exists()  # it would go before this one


@pytest.mark.skipif(sys.platform == "win32", reason="a script of a shell")
def test_binder_installs_the_course_and_its_data(tmp_path):
    """With a Python that only says what it was asked for."""
    script = BINDER / "postBuild"
    assert os.access(script, os.X_OK)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$PWD $*" >> {tmp_path}/asked\n')
    python.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    subprocess.run([script], cwd=ROOT, env={**os.environ, "PATH": path}, check=True)
    first, second = (tmp_path / "asked").read_text().splitlines()
    assert first == f"{ROOT} -m pip install --no-cache-dir ."
    data = second.split("-r ")[1]
    assert "--no-deps" in second and (ROOT / data).is_file()


def test_the_dev_container_sets_the_course_up():
    content = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    assert content["postCreateCommand"].endswith("make setup")
    assert "chromium" in content["postCreateCommand"]  # for the tests of the pages
    version = content["image"].rpartition(":")[2]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert Requirement(f"python{project['requires-python']}").specifier.contains(version)
    python = content["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert python.endswith("/.venv/bin/python")


def test_a_comment_explains_every_setting_of_the_hub():
    """Beside it or in the line above; the page sends an administrator to this file."""
    path = "autograder/jupyterhub_config.py"
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    made = [n for n, line in enumerate(lines) if re.match(r"c\.\w+\.\w+ = ", line)]
    bare = [lines[n] for n in made if "  # " not in lines[n] and not lines[n - 1].startswith("# ")]
    assert made and not bare
    assert path in (ROOT / "book" / "grading.md").read_text(encoding="utf-8")


def test_the_link_for_a_class_is_that_of_the_button():
    launch = pytest.importorskip("sphinx_book_theme.header_buttons.launch")
    button = Path(launch.__file__).read_text(encoding="utf-8")
    assert "{jupyterhub_url}/hub/user-redirect/git-pull?{url_params}" in button
    page = (ROOT / "book" / "grading.md").read_text(encoding="utf-8")
    (link,) = re.findall(r"^HUB(/\S+)$", page, re.MULTILINE)
    path, _, query = link.partition("?")
    assert path == "/hub/user-redirect/git-pull"
    named = [part.partition("=")[0] for part in query.split("&")]
    assert sorted(named) == ["branch", "repo", "urlpath"]
    assert all(f"{name}=" in button for name in named)
    assert (ROOT / query.partition("/NAME/")[2]).is_file()
