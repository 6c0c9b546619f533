"""`coursekit review NAME`: what the instructor reads before anything goes back to students.

The report about the class, the answers that are alike, and a question to each student about their
own code.
"""

from __future__ import annotations

import argparse

from coursekit._base.progress import track
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.results import own_code, similarity
from coursetools.grading.results.report import write_report
from coursetools.grading.results.scores import graded
from coursetools.questions import catalogue


def run(arguments: argparse.Namespace) -> int:
    """Write the pages and print where they are: `name`, `earlier`, `course`, `quiet`."""
    course, name = arguments.course, arguments.name
    folders = Folders(course, name)
    with track(len(Verdicts(folders.verdicts).index()), "report", arguments.quiet) as progress:
        report = write_report(course, name, progress)
    print(report)
    with track(len(graded(folders)), "similarity", arguments.quiet) as progress:
        page, similar = similarity.write_similarity(course, name, progress, arguments.earlier)
    if not arguments.quiet:
        print("\n".join(similarity.in_words(similar)))
    print(page)
    if name in catalogue.names(course):  # other assignments have no known mistakes to ask about
        said = own_code.write_questions(course, name)
        print("\n".join(said[-1:] if arguments.quiet else said))
    return 0
