"""A document in Chromium, with the files of the built book and no other host.

The document and its files come from an address that does not exist, answered here: so nothing that
Chromium writes can name a folder of the machine that it ran on.
"""

from __future__ import annotations

import mimetypes
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from coursekit._base.errors import CourseError

ORIGIN = "http://book.invalid/"
MATHJAX = "_static/mathjax/tex-mml-chtml.js"
OLDEST = 131  # the first Chromium that prints running heads
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update"]  # fmt: skip
TIMEOUT = 600_000  # milliseconds, for what takes some seconds on a quiet machine
SETTINGS = re.compile(r"<script>(window\.MathJax = .*?)</script>", re.DOTALL)
COUNTS = """() => [
  document.querySelectorAll("mjx-container").length,
  document.querySelectorAll("mjx-merror, [data-mjx-error]").length,
]"""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ON_A_MAC = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def find_chromium() -> str | None:
    """Return the command of a Chromium or Chrome, or None.

    The environment variable CHROMIUM comes first, then the names it has on PATH, then macOS.
    """
    variable = os.environ.get("CHROMIUM")
    if variable and (program := shutil.which(variable)):
        return program
    for name in NAMES:
        if program := shutil.which(name):
            return program
    return next((path for path in ON_A_MAC if os.access(path, os.X_OK)), None)


@contextmanager
def opened(markup: str, folders: dict[str, Path], program: str | None) -> Iterator[Any]:
    """Yield a page of the browser `program` that shows a document.

    `folders` says by the first folder of an address where its files are; "" is all others.
    A file that the document asks for and that is not there is a `CourseError`.
    """
    if program is None:
        raise CourseError("Chromium was not found; `coursekit doctor` says how to install it")
    from playwright.sync_api import Error, sync_playwright

    missing: list[str] = []

    def answer(route: Any) -> None:
        path = unquote(urlsplit(route.request.url).path).lstrip("/")
        if not path:
            return route.fulfill(body=markup, content_type="text/html; charset=utf-8")
        first, _, rest = path.partition("/")
        file = folders[first] / rest if first in folders else folders[""] / path
        if not route.request.url.startswith(ORIGIN) or not file.is_file():
            missing.append(route.request.url.removeprefix(ORIGIN))
            return route.abort()
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return route.fulfill(body=file.read_bytes(), content_type=kind)

    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        except Error as error:
            reason = str(error).strip().splitlines()[0]
            raise CourseError(f"{program} does not start: {reason}") from error
        try:
            if int(browser.version.partition(".")[0]) < OLDEST:
                raise CourseError(
                    f"{program} is version {browser.version}; {OLDEST} or a later one is needed"
                )
            page = browser.new_page()
            page.set_default_timeout(TIMEOUT)
            page.route("**/*", answer)
            page.goto(ORIGIN, wait_until="load", timeout=TIMEOUT)
            if missing:
                raise CourseError(f"the built book has no file {missing[0]}")
            yield page
        finally:
            browser.close()


def mathjax(site: Path, *, typeset: bool) -> str:
    """Return the scripts that set a document's formulas as the built pages have theirs set.

    With `typeset` false MathJax sets none, and waits to be asked.
    """
    need_mathjax(site)
    pages = (path.read_text(encoding="utf-8") for path in sorted(site.glob("book/*.html")))
    match = next(filter(None, map(SETTINGS.search, pages)), None)
    settings = match[1] if match else "window.MathJax = {}"
    more = "" if typeset else ";window.MathJax.startup = { typeset: false }"
    ours = '<script src="_static/formulas.js"></script>\n' if typeset else ""
    return f'<script>{settings}{more}</script>\n{ours}<script src="{MATHJAX}"></script>\n'


def need_mathjax(site: Path) -> None:
    """Raise a `CourseError` where the built pages load MathJax from the network."""
    if not (site / MATHJAX).is_file():
        raise CourseError(
            f"the built book has no {MATHJAX}: npm was not there when it was built, and its pages "
            "load MathJax from a CDN"
        )


def set_formulas(page: Any, wanted: int) -> None:
    """Wait until all formulas of a document are set; fewer, or a faulty one, is a `CourseError`."""
    page.evaluate("() => MathJax.startup.promise")
    count, faulty = page.evaluate(COUNTS)
    if faulty:
        raise CourseError(f"MathJax could not read {faulty} of the {wanted} formulas")
    if count != wanted:
        raise CourseError(f"MathJax set {count} formulas, and the pages have {wanted}")
