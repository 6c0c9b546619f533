"""Where this course is at home: the repository that learners install from, and its pages.

The name of somebody else's repository would run that person's code on every learner's machine. So
the address is a real one only once `coursekit address URL` has set it, here and everywhere else;
until then it ends in `.invalid`, a name that nobody can register (RFC 2606).
"""

from __future__ import annotations

import re

from coursekit._base.errors import CourseError

UNSET = "https://address-not-set.invalid/course"
UNSET_PAGES = "https://address-not-set.invalid/pages"
HOME = "https://address-not-set.invalid/course"  # `coursekit address` writes this line

GITHUB = re.compile(r"https://github\.com/([A-Za-z0-9][A-Za-z0-9-]*)/([\w.-]*[\w-][\w.-]*)")


def is_set(home: str) -> bool:
    """Return whether `home` is a repository, and not what stands for none."""
    return home != UNSET


def parse(url: str) -> str:
    """Return `url` in the one form that the course uses, or say what is wrong with it."""
    short = url.strip().removesuffix("/").removesuffix(".git")
    if not GITHUB.fullmatch(short) and short != UNSET:
        raise CourseError(
            f"the address is {url!r}; https://github.com/OWNER/REPOSITORY is expected, "
            f"or {UNSET} for none"
        )
    return short


def repository(home: str) -> str:
    """Return `OWNER/REPOSITORY`, or nothing where the address is not set."""
    match = GITHUB.fullmatch(home)
    return f"{match[1]}/{match[2]}" if match else ""


def pages(home: str) -> str:
    """Return where GitHub publishes the pages of a repository, without a slash at the end."""
    match = GITHUB.fullmatch(home)
    if not match:
        return UNSET_PAGES
    host = f"{match[1]}.github.io".lower()
    return f"https://{host}" if match[2].lower() == host else f"https://{host}/{match[2]}"
