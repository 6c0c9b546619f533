"""What the grader's tests share: a gradebook that is made once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from coursetools.grading.records.folders import Folders

sys.path.insert(0, str(Path(__file__).parent))  # for `helpers`


@pytest.fixture(scope="session")
def empty_gradebook(once) -> Path:
    """Return the file of a gradebook as nbgrader makes it; to make one takes a second."""
    from coursetools.grading.gradebook.database import _venv_on_path, load_nbgrader

    def make(folder: Path) -> None:
        load_nbgrader()
        with _venv_on_path():
            from nbgrader.api import Gradebook

            Gradebook(f"sqlite:///{folder / 'gradebook.db'}").close()

    return once("gradebook", make) / "gradebook.db"


@pytest.fixture
def folders(classroom) -> Folders:
    return Folders(classroom.course, "ps1")


@pytest.fixture
def quick_gradebook(empty_gradebook, monkeypatch) -> None:
    """Let the writer copy that file, where it would make one."""
    import shutil

    from coursetools.grading.gradebook.database import Database

    original = Database._create_tables

    def create(self: Database) -> None:
        path = self.folders.class_folder / "gradebook.db"
        if self.url.startswith("sqlite") and not path.exists():
            copied = path.with_name(f"copy-{path.name}")
            shutil.copy(empty_gradebook, copied)
            copied.rename(path)
        original(self)

    monkeypatch.setattr(Database, "_create_tables", create)
