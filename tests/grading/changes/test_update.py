"""A course that is updated in mid-term: the steps of the page, typed into a clone, in order."""

from __future__ import annotations

import functools
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import blocks, page_of_book

from coursetools.assignments.sources import source
from coursetools.cli import main
from coursetools.course import Course
from coursetools.grading.records.folders import Folders
from coursetools.grading.running import grade_class, keys
from coursetools.grading.running.keys import key_of, masters_of
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
    for command in (f"address {OURS}", f"settings {NAME} --due 2030-11-20T12:00"):
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


CASE = """def one_more_score(student):
    return student.shares(torch.tensor([[0.5, 1.5, -2.0, 0.25, 3.0, -1.0]]))
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


@pytest.fixture
def steps() -> list[str]:
    """Return the commands of the section, in order."""
    _, section = page_of_book("grading_changes").split("(sec-grading-update)=")
    return [line for block in blocks(section, "bash") for line in block.splitlines()]


def test_the_steps_of_the_page(clone, upstream, steps, monkeypatch, capsys):
    monkeypatch.chdir(clone)
    for words in (["config", "user.name", "a"], ["config", "user.email", "a@b.c"]):
        git(clone, *words)
    quick = functools.partial(grade_class.Options, workers=1)
    monkeypatch.setattr(grade_class, "Options", lambda **options: quick(**options | {"workers": 1}))
    (clone / "class.csv").write_text("id,name\n7,A secret grade\n")  # in no commit, and stays so
    inbox = clone.with_name("inbox")
    inbox.mkdir()
    solved = read_notebook(source(Course(clone), NAME))
    (inbox / "ada.ipynb").write_text(notebook_text(solved))
    shutil.copy(clone / FOLDERS[0] / f"{NAME}.ipynb", inbox / "ben.ipynb")
    for command in (
        f"collect {NAME} {inbox}",
        f"grade {NAME}",
        f"return {NAME} --to plain --force",
    ):
        assert main(command.split()) == 0
    corrected(upstream)
    capsys.readouterr()
    said = {}
    for line in steps:
        tool, *words = shlex.split(line)
        if tool == "git":
            said[words[0]] = git(clone, *words)
            continue
        assert tool == "coursekit" and main(words) == 0, line
        output = capsys.readouterr()
        said[" ".join(words)] = output.out + output.err
    assert "2 to grade" in said[f"grade {NAME} --dry-run"]
    assert "assignment changed: 2 (ada, ben)" in said[f"grade {NAME} --dry-run"]
    assert "No student's points differ" in said[f"why {NAME}"]
    shares = (clone / "solutions" / NAME / "shares.py").read_text()
    assert "one_more_score" in shares and OURS in (clone / "_config.yml").read_text()
    public = clone.with_name("public")
    released = (public / FOLDERS[0] / f"{NAME}.ipynb").read_text()
    assert "Due Wednesday 20 November 2030" in released and f"git+{OURS}" in released
    assert f"git+{OURS}" in (public / "notebooks" / "kernels.ipynb").read_text()
    assert f"{OURS}." in (public / "README.md").read_text()
    assert not (public / "class.csv").exists() and not (public / "solutions").exists()
    assert main([*f"grade {NAME} --dry-run".split()]) == 0
    assert "0 to grade, 2 unchanged" in capsys.readouterr().out


def test_what_decides_no_grade_grades_nobody_again(clone, monkeypatch, capsys):
    """Another address and deadline, and another set-up cell upstream."""
    folders = Folders(Course(clone), NAME)
    before = key_of(masters_of(folders)[NAME], "a submission", folders)
    path = source(Course(clone), NAME)
    original = notebook = read_notebook(path)
    for command in (
        "address https://github.com/another/place",
        f"settings {NAME} --due 2031-01-01T10:00",
        f"assignment release {NAME}",
    ):
        assert main([*command.split(), "--root", str(clone)]) == 0
    setup = next(cell for cell in notebook["cells"] if cell["id"] == "setup-colab")
    setup["source"] += "\n%pip install more"
    notebook["cells"][0]["source"] += (
        "\n\n[Open in Colab](https://colab.research.google.com/github/a/b/blob/main/c.ipynb)"
    )
    path.write_text(notebook_text(notebook))
    folders = Folders(Course(clone), NAME)
    assert key_of(masters_of(folders)[NAME], "a submission", folders) == before
    for cell in original["cells"]:
        if cell["id"] in ("imports", "shares", "check-shares", "shares-what"):
            kept, cell["source"] = cell["source"], cell["source"] + "\n# more"
            path.write_text(notebook_text(notebook))
            assert key_of(masters_of(folders)[NAME], "a submission", folders) != before, cell["id"]
            cell["source"] = kept


def test_a_conflict_in_a_released_notebook_is_resolved_as_the_page_says(clone, upstream):
    _, section = page_of_book("grading_changes").split("(sec-grading-update)=")
    typed = ("git checkout --theirs notebooks/assignments", "git commit --all --no-edit")
    assert all(f"`{line}`" in section for line in typed)
    for path in (source(Course(upstream), NAME), upstream / FOLDERS[0] / f"{NAME}.ipynb"):
        notebook = read_notebook(path)
        notebook["cells"][1]["source"] = notebook["cells"][1]["source"].replace("missing", "absent")
        title, _, text = notebook["cells"][0]["source"].partition("\n")
        notebook["cells"][0]["source"] = f"{title}\n\nA new first sentence.\n{text}"
        path.write_text(notebook_text(notebook))
    git(upstream, "commit", "--quiet", "--all", "--message=Another set-up cell and first sentence")
    git(clone, "add", "solutions")
    git(clone, "commit", "--quiet", "--all", "--message=Ours")
    with pytest.raises(AssertionError, match="CONFLICT"):
        git(clone, "pull", "--quiet", "--no-rebase", "--no-edit")
    git(clone, *typed[0].split()[1:])
    assert main(["assignment", "release", "--all", "--root", str(clone)]) == 0
    git(clone, *typed[1].split()[1:])
    assert git(clone, "status", "--porcelain") == ""
    text = (clone / FOLDERS[0] / f"{NAME}.ipynb").read_text()
    assert "A new first sentence." in text and f"git+{OURS}" in text and "**Due " in text


@pytest.mark.parametrize(
    ("file", "same"), [("address.py", True), ("judge.py", False), ("matching.py", False)]
)
def test_the_package_s_address_is_no_part_of_the_grader(monkeypatch, file, same):
    read = Path.read_bytes
    before = keys.engine_version.__wrapped__()
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: read(path) + (b"#" if path.name == file else b"")
    )
    assert (keys.engine_version.__wrapped__() == before) == same
