"""The one exception that the command line turns into a sentence."""


class CourseError(Exception):
    """Something the user can mend; the message is one sentence that says what and how."""

    exit_code = 1
