"""The doctor sees what is missing and names the command that installs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from coursetools import cli, doctor
from coursetools.book.formats import chromium
from coursetools.book.formats.chromium import find_chromium
from coursetools.course import Course
from coursetools.doctor import Check, as_table, examine, healthy

ROOT = Path(__file__).resolve().parents[1]
OURS = Course(ROOT)


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """Return the only folder of programs that this test's machine has."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "ON_A_MAC", (str(tmp_path / "Chromium.app"),))
    return folder


def program(folder, name, says=""):
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return str(path)


def by_name(checks):
    return {check.name: check for check in checks}


def test_chromium_is_looked_for_in_order(bare, tmp_path, monkeypatch):
    assert find_chromium() is None
    mac = program(tmp_path, "Chromium.app")
    assert find_chromium() == mac
    for name in ("google-chrome-stable", "google-chrome", "chromium-browser", "chromium"):
        path = program(bare, name)
        assert find_chromium() == path
    own = program(tmp_path, "my-chromium")
    monkeypatch.setenv("CHROMIUM", own)
    assert find_chromium() == own
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "not-there"))
    assert find_chromium() == path


def test_this_machine_can_build_the_book():
    checks = by_name(examine(OURS))
    assert healthy(list(checks.values()))
    assert checks["torch"].found.startswith(sys.modules["torch"].__version__)
    assert {"coursekit", "python", "packages", "group book", "disk"} <= set(checks)


def test_programs_that_are_missing_are_not_needed_for_the_book(bare):
    program(bare, "git", "git version 9.8.7")
    checks = by_name(examine(OURS))
    assert checks["git"].ok and checks["git"].found == "9.8.7"
    for name, command in (("npm", "npm|node|OpenJS"), ("chromium", "chromium|Chrome")):
        assert not checks[name].ok and not checks[name].needed
        assert any(word in checks[name].install for word in command.split("|"))
    assert healthy(list(checks.values()))


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Return a checkout that asks for packages that nobody has."""
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "pyproject.toml").write_text(
        "[project]\nname = 'coursekit'\ndependencies = ['numpy']\n"
        "[project.optional-dependencies]\n"
        "book = ['no-such-package-1', 'nbclient>=9999', 'nbformat', 'x; python_version < \"3\"']\n"
        "grade = ['no-such-package-2']\n"
        "dev = ['pytest']\n"
    )
    monkeypatch.chdir(root)
    return root


def test_a_group_that_is_missing_comes_with_its_command(checkout):
    checks = by_name(examine(Course(checkout), ["book", "grade"]))
    book = checks["group book"]
    assert not book.ok and book.needed
    assert book.found.startswith("lacks no-such-package-1, nbclient>=9999 (found ")
    assert book.install == f'{sys.executable} -m pip install -e ".[book]"'
    assert not checks["group grade"].ok and checks["group grade"].needed
    assert "group dev" not in checks and checks["packages"].ok
    assert not healthy(list(checks.values()))


class Installed:
    """A package as Python's metadata has it."""

    def __init__(self, name, *requires):
        self.metadata, self.requires = {"Name": name}, list(requires)


LEARNER = [
    Installed("coursekit", "numpy", "nbgrader; extra == 'grade'"),
    Installed("jupyterlab", "nbconvert", "ipykernel>=6"),
    Installed("nbconvert", "nbclient", "nbformat", "pyyaml"),
    *map(Installed, ("nbclient", "nbformat", "ipykernel", "pyyaml", "numpy", "filelock")),
    Installed("torch", "filelock"),
]


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ([], set()),
        ([Installed("Jupyter_Book", "sphinx-exercise")], {"group book"}),
        ([Installed("papermill", "tqdm"), Installed("nbgrader")], {"group book", "group grade"}),
    ],
)
def test_a_learner_hears_of_no_group_that_is_not_there(checkout, monkeypatch, capsys, more, shown):
    """JupyterLab has brought a part of each; a group is there where somebody asked for it."""
    (checkout / "_config.yml").touch()
    (checkout / "notebooks").mkdir()
    text = (checkout / "pyproject.toml").read_text()
    text = text.replace("['no-such-package-1'", "['jupyter-book', 'papermill', 'ipykernel'")
    text = text.replace("'no-such-package-2'", "'nbgrader', 'no-such-package-2'")
    (checkout / "pyproject.toml").write_text(text)
    monkeypatch.setattr(doctor.metadata, "distributions", lambda: [*LEARNER, *more])
    assert cli.main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line[:11].rstrip() for line in lines if line.startswith("group ")} == shown
    assert not [line for line in lines if "MISSING" in line]
    assert any(line.startswith("npm") for line in lines) == ("group book" in shown)
    (others,) = [line for line in lines if line.startswith("Not looked at")]
    assert "dev (runs the tests)" in others and "coursekit doctor --group" in others


def test_the_command_tells_with_its_exit_code(checkout, capsys):
    (checkout / "_config.yml").touch()
    (checkout / "notebooks").mkdir()
    assert cli.main(["doctor", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert cli.main(["doctor", "--group", "book"]) == 1
    needed = capsys.readouterr().out.split("Needed:")[1]
    assert '[book]"' in needed and "[grade]" not in needed
    assert cli.main(["doctor", "--group", "boook"]) == 2
    assert "Did you mean book?" in capsys.readouterr().err
    assert cli.main(["doctor", "--group", "book", "--group", "grade"]) == 1
    needed = capsys.readouterr().out.split("Needed:")[1]
    assert '[book]"' in needed and '[grade]"' in needed
    assert cli.main(["doctor", "--root", str(ROOT), "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_outside_a_checkout_the_package_comes_from_its_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor.address, "HOME", "https://github.com/somebody/attention")
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: ["gone-1; extra == 'book'"])
    book = by_name(examine(None, ["book"]))["group book"]
    assert book.found == "lacks gone-1"
    assert book.install.split(" -m ")[1].startswith(
        'pip install "coursekit[book] @ git+https://github.com/'
    )


def test_a_torch_that_cannot_be_imported_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    torch = by_name(examine(OURS))["torch"]
    assert not torch.ok and torch.needed and torch.found.startswith("cannot be imported")
    assert "pip install -e" in torch.install


def test_a_full_disk_and_an_old_python_are_told(monkeypatch):
    monkeypatch.setattr(doctor, "NEEDED_DISK", 1e12)
    monkeypatch.setattr(doctor, "OLDEST_PYTHON", (9, 9))
    checks = by_name(examine(OURS))
    assert not checks["disk"].ok and not checks["python"].ok
    assert "Python 9.9 or newer" in checks["python"].install


def test_the_reports():
    checks = [
        Check("here", True, "1.0"),
        Check("away", False, "not found", install="get away"),
        Check("core", False, "not found", needed=True, install="get core"),
    ]
    assert as_table(checks).splitlines() == [
        "here  ok       1.0",
        "away  missing  not found",
        "core  MISSING  not found",
        "",
        "Needed:",
        "  core: get core",
        "",
        "Not needed to run the notebooks:",
        "  away: get away",
        "",
        *as_table([]).splitlines()[-1:],
    ]
    assert not healthy(checks)
    assert healthy(checks[:2])
    groups = [Check(f"group {name}", True, "") for name in doctor.GROUPS]
    assert as_table([checks[0], *groups]).splitlines()[0].split() == ["here", "ok", "1.0"]
    assert "Not looked at" not in as_table([checks[0], *groups])


def test_the_sandbox_is_shown():
    check = next(check for check in examine(OURS) if check.name == "sandbox")
    assert "rlimits" in check.found
    assert check.ok or "Linux" in check.install
