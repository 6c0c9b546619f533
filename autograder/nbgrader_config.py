"""nbgrader's settings for this course; `coursekit` reads the same file.

Run nbgrader's own commands in this folder: `nbgrader autograde a01_kernels` uses the course's
engine in place of a notebook kernel. The formgrader is a page of `jupyter lab --notebook-dir=..`.
"""

from pathlib import Path

c = get_config()  # noqa: F821
root = Path(__file__).resolve().parents[1]

c.CourseDirectory.course_id = "attention"
c.CourseDirectory.root = str(root)
c.CourseDirectory.source_directory = "solutions/notebooks"
c.CourseDirectory.ignore.extend(["*.py", "*.md", "*.toml"])  # of questions, should one be astray
c.CourseDirectory.release_directory = "notebooks/assignments"
c.CourseDirectory.submitted_directory = "autograder/submitted"
c.CourseDirectory.autograded_directory = "autograder/autograded"
c.CourseDirectory.feedback_directory = "autograder/feedback"
c.CourseDirectory.solution_directory = "autograder/solution"
# A Postgres gradebook works the same: "postgresql+psycopg://user@host/name".
c.CourseDirectory.db_url = f"sqlite:///{root / 'autograder' / 'gradebook.db'}"

# Nothing of a submission is believed before it is rebuilt, and nothing of it runs in a kernel.
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "coursetools.grading.nbgrader_executor.Rebuild",
]
c.Autograde.autograde_preprocessors = [
    "coursetools.grading.nbgrader_executor.ExecuteByEngine",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# An exam is released by coursekit alone, and its feedback waits until nobody sits it any more.
ours = "coursetools.grading.nbgrader_executor"
c.GenerateAssignment.preprocessors.insert(0, f"{ours}.RefuseExam")
c.GenerateFeedback.preprocessors.insert(0, f"{ours}.RefuseEarlyFeedback")

# Late hand-ins: `rate` of the score for each day begun; an assignment's own rule is [late] in its
# assignment.toml, and its deadline `due` there; without one, the deadline set in formgrader counts.
c.AssignLatePenalties.plugin_class = "coursetools.grading.late_plugin.DailyPenalty"
c.DailyPenalty.solutions = str(root / "solutions")
