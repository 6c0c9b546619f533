"""The course's home is set everywhere by one command, and until then it is nobody's."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml

from coursekit._base import address
from coursekit.check import answer
from coursetools import cli, doctor
from coursetools.course import SOURCES, Course
from coursetools.notebooks.header_cells import colab_door
from coursetools.notebooks.lint import all_notebooks, lint

ROOT = Path(__file__).resolve().parents[1]
COURSE = Course(ROOT)
OURS, OTHER = "https://github.com/Some-Body/a.course", "https://github.com/else/where"
NAMES = ("_config.yml", "README.md", "CITATION.cff", "pyproject.toml", "book/start.md")
SOURCE = f"{SOURCES}/a01_kernels/a01_kernels.ipynb"
NOTEBOOKS = (
    "notebooks/kernels.ipynb",
    "notebooks/data.ipynb",
    "notebooks/training/cold.ipynb",
    "notebooks/assignments/a01_kernels/a01_kernels.ipynb",
)
PACKAGE = "src/coursekit/_base/address.py"


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """Return a public copy of what has an address, without one; it is the working directory."""
    for name in (*NAMES, *NOTEBOOKS, "book/kernels.md", "book/data.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    shutil.copytree(
        ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("files", "__pycache__")
    )
    monkeypatch.chdir(tmp_path)
    if address.is_set(Course(tmp_path).address):
        assert cli.main(["address", "--quiet", address.UNSET]) == 0
    return tmp_path


@pytest.fixture
def desk(copy):
    """Return an instructor's copy, which has the source of an assignment."""
    if not (ROOT / SOURCE).is_file():
        pytest.skip("the public course has no source of an assignment")
    (copy / SOURCE).parent.mkdir(parents=True)
    shutil.copyfile(ROOT / SOURCE, copy / SOURCE)
    return copy


def contents(root):
    return {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in root.rglob("*")
        if path.is_file() and path.suffix in (".md", ".yml", ".cff", ".toml", ".ipynb", ".py")
    }


def ask(capsys, *arguments):
    code = cli.main(["address", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_one_command_sets_it_everywhere_and_another_one_anew(copy, capsys):
    before = contents(copy)
    assert "](../../../book/kernels.md)" in before[NOTEBOOKS[3]]  # where a learner has the page
    code, out, _ = ask(capsys)
    assert code == 0 and out.startswith(f"{address.UNSET}\nthis course has no address yet")
    code, out, err = ask(capsys, f"{OURS}.git/")
    assert (code, err) == (0, "")
    assert {line.removesuffix(": changed") for line in out.splitlines()[:-1]} == {
        *NAMES,
        *NOTEBOOKS,
        PACKAGE,
    }
    assert out.splitlines()[-1] == OURS
    now = contents(copy)
    rest = "\n".join(text for name, text in now.items() if name != PACKAGE)
    assert "address-not-set.invalid" not in "".join(now[name] for name in (*NAMES, *NOTEBOOKS))
    assert "attention-course/attention-course" not in rest
    assert f'HOME = "{OURS}"' in now[PACKAGE]
    assert f'UNSET = "{address.UNSET}"' in now[PACKAGE]
    assert f"repository-code: {OURS}\n" in now["CITATION.cff"]
    assert f'Repository = "{OURS}"' in now["pyproject.toml"]
    assert f"git clone {OURS} course\n" in now["book/start.md"]
    assert f"The home of this course is {OURS}." in now["README.md"]
    colab = "https://colab.research.google.com/github/Some-Body/a.course/blob/main"
    for name in NOTEBOOKS:
        assert colab_door(f"{colab}/{name}") in now[name], name
        assert f"git+{OURS}" in now[name], name
        assert lint(copy / name) == []
        assert "../../../book/" not in now[name]
    assert "https://some-body.github.io/a.course/book/kernels.html" in now[NOTEBOOKS[-1]]
    assert ask(capsys, OURS) == (0, f"{OURS}\n", "")  # nothing is left to be done
    assert contents(copy) == now
    assert ask(capsys, OTHER)[0] == 0
    assert "Some-Body" not in "".join(contents(copy).values())
    assert ask(capsys, address.UNSET)[0] == 0
    assert contents(copy) == before  # and back


def test_in_an_instructor_s_course_only_what_students_get_is_changed(desk, capsys):
    before = contents(desk)
    code, out, err = ask(capsys, OURS)
    assert (code, err) == (0, "")
    now = contents(desk)
    expected = {"_config.yml", PACKAGE, NOTEBOOKS[3]}
    assert {name for name in now if now[name] != before[name]} == expected
    assert {line.removesuffix(": changed") for line in out.splitlines()[:-1]} == expected
    assert f"git+{OURS}" in now[NOTEBOOKS[3]]
    assert [problem for name in (*NOTEBOOKS, SOURCE) for problem in lint(desk / name)] == []
    assert ask(capsys, OTHER)[0] == 0
    assert "Some-Body" not in "".join(contents(desk).values())
    assert ask(capsys, address.UNSET)[0] == 0
    assert contents(desk) == before


def test_a_hub_gets_a_button_and_loses_it(copy, capsys):
    config = copy / "_config.yml"
    before = config.read_text()
    assert ask(capsys, OURS, "--hub", "https://hub.school.edu/")[0] == 0
    buttons = yaml.safe_load(config.read_text())["launch_buttons"]
    assert buttons["jupyterhub_url"] == "https://hub.school.edu"
    assert set(buttons) == {"colab_url", "binderhub_url", "jupyterhub_url"}
    assert ask(capsys, "--hub", "http://127.0.0.1:8000/base")[0] == 0
    assert config.read_text().count("jupyterhub_url") == 1
    code, _, err = ask(capsys, "--hub", "javascript:x")
    assert code == 1 and "an address such as https://hub.school.edu is expected" in err
    assert ask(capsys, address.UNSET, "--hub", "")[0] == 0
    assert config.read_text() == before


def test_an_interrupted_move_is_finished_by_the_same_command(copy, capsys, monkeypatch):
    from coursetools.notebooks import set_address

    whole, left = set_address._replace, [4]

    def killed(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return whole(*arguments)

    monkeypatch.setattr(set_address, "_replace", killed)
    assert ask(capsys, OURS)[0] == 130
    assert Course(copy).address == address.UNSET
    monkeypatch.setattr(set_address, "_replace", whole)
    assert ask(capsys, OURS)[0] == 0
    texts = contents(copy)
    assert "address-not-set.invalid" not in "".join(texts[n] for n in (*NAMES, *NOTEBOOKS))


@pytest.mark.parametrize(
    "url",
    [
        "github.com/a/b",
        "http://github.com/a/b",
        "https://gitlab.com/a/b",
        "https://github.com/a",
        "https://github.com/a/b/tree/main",
        "https://github.com/a b/c",
        "https://github.com/-a/b",
        "https://github.com/a/..",
        "https://github.com/a/b?x=1",
        "https://x:y@github.com/a/b",
        "https://github.com.evil.example/a/b",
        "git@github.com:a/b.git",
        "",
        'https://github.com/a/b"\nimport os',
    ],
)
def test_a_bad_address_is_one_sentence_and_changes_nothing(copy, capsys, url):
    before = contents(copy)
    code, out, err = ask(capsys, url)
    assert (code, out) == (1, "")
    assert "https://github.com/OWNER/REPOSITORY is expected" in err and err.count("\n") == 1
    assert contents(copy) == before


def test_a_repository_publishes_only_its_own_course(copy, capsys):
    code, _, err = ask(capsys, "--is", OURS)
    assert code == 1 and f"the address of this course is {address.UNSET}" in err
    assert ask(capsys, "--is", address.UNSET)[0] == 1  # none is nobody's
    assert ask(capsys, OURS, "--is", OURS)[0] == 2
    ask(capsys, OURS)
    assert ask(capsys, "--is", OURS.lower())[0] == 0  # GitHub knows no capitals
    code, _, err = ask(capsys, "--is", OTHER)
    assert code == 1 and f"and {OTHER} is expected" in err and err.count("\n") == 1


def test_the_workflow_asks_before_it_builds():
    import yaml

    text = (ROOT / ".github" / "workflows" / "publish.yml").read_text()
    steps = yaml.safe_load(text)["jobs"]["build"]["steps"]
    commands = [step.get("run", "") for step in steps]
    asking = next(i for i, run in enumerate(commands) if "coursetools.cli address --is" in run)
    assert '--is "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"' in commands[asking]
    assert asking < next(i for i, s in enumerate(steps) if "pages-artifact" in s.get("uses", ""))
    assert not any(step.get("continue-on-error") or step.get("if") for step in steps)


def test_no_address_of_somebody_else_stands_anywhere():
    """Where the course has no home, no file leads to one; where it has, to that one only."""
    ours = address.repository(COURSE.address).lower()
    assert COURSE.address == address.HOME
    pattern = r"colab\.research\.google\.com/github/([\w.-]+/[\w.-]+)|git\+https://github\.com/"
    pattern += r"([\w.-]+/[\w.-]+)"
    for path in (*all_notebooks(COURSE), *(ROOT / name for name in NAMES)):
        for found in re.findall(pattern, path.read_text(encoding="utf-8")):
            assert "".join(found).lower() == ours, path


def test_pages_of_a_repository():
    assert address.pages("https://github.com/A/b") == "https://a.github.io/b"
    assert address.pages("https://github.com/a/A.github.io") == "https://a.github.io"
    assert address.pages(address.UNSET) == address.UNSET_PAGES
    assert all(
        url.split("/")[2].endswith(".invalid") for url in (address.UNSET, address.UNSET_PAGES)
    )


def test_hints_and_the_doctor_lead_only_to_an_address(monkeypatch):
    for module in (answer, address):
        monkeypatch.setattr(module, "HOME", address.UNSET)
    assert answer.address("scaling#why") == ""
    assert doctor._install(None, "book").startswith("in the folder of the course: ")
    for module in (answer, address):
        monkeypatch.setattr(module, "HOME", OURS)
    page = "https://some-body.github.io/a.course/book/scaling.html#why"
    assert answer.address("scaling#why") == page
    assert doctor._install(None, "book").endswith(f'pip install "coursekit[book] @ git+{OURS}"')
