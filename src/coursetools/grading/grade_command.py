"""`coursekit grade NAME`: grade what was collected, and print the summary."""

from __future__ import annotations

import argparse
import json

from coursekit._base.progress import Progress, track
from coursetools.grading.notes import Notes
from coursetools.grading.running import grade_class


def run(arguments: argparse.Namespace) -> int:
    """Grade, write the history, and print the summary."""
    asked = (arguments.require or "").replace(",", " ").split()
    options = grade_class.Options(
        workers=arguments.workers,
        cluster=arguments.cluster,
        require=frozenset(asked),
        force=arguments.force,
        dry_run=arguments.dry_run,
    )
    summary = grade_class.grade_class(
        arguments.course,
        arguments.name,
        options,
        Progress() if arguments.quiet else Notes(),
        lambda total: track(total, "grading", arguments.quiet),
    )
    facts, changes = summary.as_json(), ""
    if summary.handed_in and not arguments.dry_run:
        from coursetools.grading.changes.grade_history import graded

        changes = graded(arguments, facts)
    if arguments.json:
        print(json.dumps(facts | {"changes": changes}, indent=1, ensure_ascii=False))
    else:
        print("\n".join([summary.as_table(), *([f"  {changes}"] if changes else [])]))
    return summary.exit_code
