"""Plain `nbgrader autograde` with our engine: two preprocessors for nbgrader's settings.

`Rebuild` takes the place of the preprocessors that clean a submission, `ExecuteByEngine` that of
`Execute`; `autograder/nbgrader_config.py` names both. nbgrader itself saves the points, which it
reads from the outputs that the engine leaves. For a class, `coursekit grade` does the same much
faster, and goes on after whatever happens.
"""

from __future__ import annotations

import atexit
import json
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from coursetools.assignments.rebuild import rebuild
from coursetools.course import Course
from coursetools.grading.folders import Folders
from coursetools.grading.gradebook.autograded import autograded
from coursetools.grading.running.keys import masters_of
from coursetools.grading.running.worker import ENGINE, MASTER, named

_engines: dict[str, Any] = {}


class EngineFailed(Exception):
    """The grader's own fault; nbgrader then leaves the submission without a grade."""


class _OfCourse(NbGraderPreprocessor):
    """What both need: the instructor's notebook that belongs to a submission."""

    engine = Unicode(ENGINE, help="the class that judges, as module:name").tag(config=True)
    master = Unicode(MASTER, help="the class of the instructor's notebook").tag(config=True)

    def of(self, resources: dict[str, Any]) -> tuple[Folders, Any]:
        """Return the assignment's folders and master."""
        about = resources["nbgrader"]
        root = self.config.get("CourseDirectory", {}).get("root") or "."
        folders = Folders(Course(Path(root)), about["assignment"])
        return folders, masters_of(folders, self.master)[about["notebook"]]


class Rebuild(_OfCourse):
    """Puts the student's answers into the instructor's cells."""

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the rebuilt notebook."""
        folders, master = self.of(resources)
        rebuilt = rebuild(master, _bytes(nb), folders.limits)
        for flag in rebuilt.flags:
            self.log.warning("%s: %s", resources["nbgrader"]["student"], flag)
        return nbformat.from_dict(rebuilt.notebook), resources


class ExecuteByEngine(_OfCourse):
    """Judges the notebook and leaves outputs from which nbgrader reads the points."""

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the notebook with outputs."""
        folders, master = self.of(resources)
        data = _bytes(nb)
        if master.key not in _engines:
            _engines[master.key] = named(self.engine)(master, folders.limits, frozenset())
        verdict = _engines[master.key].grade(data, resources["nbgrader"]["student"])
        failed = [q.name for q in verdict.questions if q.status == "INTERNAL"]
        if verdict.status == "INTERNAL" or failed:
            raise EngineFailed(verdict.reason)
        notebook = autograded(master, data, verdict, folders.limits)
        return nbformat.from_dict(notebook), resources


def _bytes(nb: Any) -> bytes:
    return json.dumps(nb).encode()


@atexit.register
def _close() -> None:
    for engine in _engines.values():
        engine.close()
