"""A course that is updated in mid-term: the steps of the page, typed into a clone, in order."""

from __future__ import annotations

import functools
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import blocks, page_of_book

from coursekit._base import address
from coursetools.assignments.sources import source
from coursetools.cli import main
from coursetools.course import Course
from coursetools.grading.running import grade_class
from coursetools.notebooks.imports import notebook_text, read_notebook

pytestmark = [
    pytest.mark.usefixtures("quick_gradebook"),
    pytest.mark.skipif(not shutil.which("git"), reason="needs git"),
]
ROOT = Path(__file__).resolve().parents[3]
NAME, OURS = "a01_kernels", "https://github.com/some-body/a-course"
FILES = (
    "_config.yml",
    "_toc.yml",
    ".gitignore",
    "README.md",
    "book/kernels.md",
    "notebooks/kernels.ipynb",
    f"src/coursekit/check/compiled/{NAME}.zip",
    "src/coursekit/_base/address.py",
)
FOLDERS = (f"notebooks/assignments/{NAME}", f"solutions/notebooks/{NAME}", f"solutions/{NAME}")


def git(folder: Path, *words: str) -> str:
    about = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *about, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def upstream(tmp_path) -> Path:
    """Return a repository with a course of one assignment."""
    root = tmp_path / "upstream"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, root / name)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, root / name)
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(root))
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=The course")
    return root


@pytest.fixture
def clone(upstream) -> Path:
    """Return an instructor's clone, with an address and a deadline in no commit."""
    root = upstream.with_name("course")
    git(upstream.parent, "clone", "--quiet", str(upstream), str(root))
    for command in (f"address {OURS}", f"assignment due {NAME} 2030-11-20T12:00"):
        assert main([*command.split(), "--root", str(root)]) == 0
    assert main(["assignment", "release", NAME, "--root", str(root)]) == 0
    return root


def corrected(upstream: Path) -> None:
    """Correct a page, the text of another question and a hidden case upstream."""
    page = upstream / "book" / "kernels.md"
    page.write_text(page.read_text() + "\nA sentence more.\n")
    case = upstream / "solutions" / NAME / "shares.py"
    case.write_text(case.read_text() + "\n\n@hidden('a row of one more score')\n" + CASE)
    git(upstream, "commit", "--quiet", "--all", "--message=A hidden case, and a page")


CASE = """def one_more_score(shares):
    return shares(torch.tensor([[0.5, 1.5, -2.0, 0.25, 3.0, -1.0]]))
"""


def test_an_address_and_deadlines_touch_few_tracked_files(clone):
    changed = git(clone, "status", "--porcelain").splitlines()
    assert {line[3:] for line in changed} == {
        "_config.yml",
        "src/coursekit/_base/address.py",
        f"notebooks/assignments/{NAME}/{NAME}.ipynb",
        f"solutions/{NAME}/assignment.toml",
    }


def test_an_update_of_other_files_is_pulled_over_an_address_in_no_commit(clone, upstream):
    corrected(upstream)
    git(clone, "pull", "--quiet")
    assert "A sentence more." in (clone / "book" / "kernels.md").read_text()
    assert OURS in (clone / "_config.yml").read_text()
