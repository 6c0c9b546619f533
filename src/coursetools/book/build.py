"""Build the whole book: scripts, notebooks, pages; and do nothing where nothing has changed.

After a build without fault a stamp holds the digest of everything that went in and a list of what
came out. The next build compares both and returns at once if they still hold. Contents are
compared, never dates.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from coursekit._base.errors import CourseError
from coursekit._base.progress import track
from coursetools.book import assets
from coursetools.course import Course, write_whole
from coursetools.notebooks.run import run_notebooks, stale

NO_LOCAL_SCRIPTS = "COURSEKIT_CDN"  # tells the extension that npm was tried already
TOOLS = ("jupyter-book", "Sphinx", "myst-nb", "sphinx-book-theme", "pydata-sphinx-theme")
JUPYTER_BOOK = """\
from coursetools.course import quick_imports
with quick_imports():
    from jupyter_book.cli.main import main
    main()  # which imports the most of it
"""
ANSI = re.compile(r"\x1b\[[0-9;]*m")
FAULT = re.compile(r"\b(WARNING|ERROR|CRITICAL|SEVERE)\b:?|error:|Error:|Exception")


@dataclass(frozen=True)
class Edition:
    """A book that is made of the course: its folder, Jupyter Book's options, and further sources.

    The pages are in `html` in that folder.
    """

    folder: Path
    options: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()


def build_book(
    course: Course,
    *,
    quiet: bool = False,
    force: bool = False,
    edition: Edition | None = None,
) -> Path:
    """Build the book of a course, or another edition of it, and return its `index.html`.

    With `force` every notebook is executed and every page written again. A fault in a notebook or
    a page is a `CourseError`, after the faults were listed on stderr; nothing of such a build is
    taken for good by the next.
    """
    with locked(course):
        return _build(course, edition or Edition(course / "_build"), quiet, force)


@contextmanager
def locked(course: Course) -> Iterator[None]:
    """Let one process at a time make something of the book of a course."""
    from filelock import FileLock

    for name in ("_config.yml", "_toc.yml"):
        if not (course / name).is_file():
            raise CourseError(f"{course} holds no book: there is no {name}")
    (course / "_build").mkdir(exist_ok=True)
    with FileLock(course / "_build" / ".book.lock"):
        yield


def pages(course: Course) -> list[str]:
    """Return the pages that `_toc.yml` lists, the first page first, as `book/index`."""

    def files(node: dict | list) -> Iterable[str]:
        if isinstance(node, dict):
            yield from (str(node[key]) for key in ("root", "file") if key in node)
        for child in node.values() if isinstance(node, dict) else node:
            if isinstance(child, (dict, list)):
                yield from files(child)

    names = files(course.contents)
    return [name.removesuffix(".md").removesuffix(".ipynb") for name in names]


def _build(course: Course, edition: Edition, quiet: bool, force: bool) -> Path:
    html = edition.folder / "html"
    stamp = edition.folder / "book.json"
    scripts = _scripts(quiet)
    sources = _sources(course, scripts, edition)
    if not force and _is_current(stamp, sources, course, html):
        return html / "index.html"
    stamp.unlink(missing_ok=True)
    execute_stale(course, quiet, force)
    executed = _executed(course)

    start = time.perf_counter()
    with track(1, "book", quiet) as progress:
        run_jupyter_book(course, [*edition.options, *(["--all"] * force)], bool(scripts))
        missing = [page for page in pages(course) if not (html / f"{page}.html").is_file()]
        if missing or not (html / "index.html").is_file():
            names = ", ".join(missing or ["index"])
            raise CourseError(f"Jupyter Book ended without a fault but did not write {names}")
        progress.advance(f"{len(pages(course))} pages in {time.perf_counter() - start:.1f} s")
    record = {"sources": sources, "executed": executed, "output": _output(html)}
    write_whole(stamp, json.dumps(record, indent=1) + "\n")
    return html / "index.html"


def execute_stale(course: Course, quiet: bool = False, force: bool = False) -> None:
    """Execute the lecture notebooks whose results are stale; all of them with `force`."""
    waiting = course.lectures if force else stale(course)
    with track(len(waiting), "notebooks", quiet) as progress:
        run_notebooks(waiting, progress=progress, force=force)


def _scripts(quiet: bool) -> str:
    """Return the name of the folder of local scripts; empty, and one line, where there is none."""
    try:
        return assets.ensure().name
    except assets.AssetsMissing as error:
        if not quiet:
            print(cdn_sentence(error), file=sys.stderr)
        return ""


def cdn_sentence(reason: Exception) -> str:
    """Return the line that says why the pages will need the network."""
    return f"{reason}, so the pages load MathJax from a CDN"


def run_jupyter_book(course: Course, options: Iterable[str], scripts: bool = False) -> None:
    """Run `jupyter-book build` with further options; any fault of a page is a `CourseError`.

    `scripts` says that MathJax is here, so that the pages need not load it from a CDN.
    """
    command = [sys.executable, "-c", JUPYTER_BOOK]
    command += ["build", str(course), "-n", "-W", "--keep-going", "-q", *options]
    environment = {**os.environ, NO_LOCAL_SCRIPTS: "" if scripts else "1", "NO_COLOR": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(course.packages), os.environ.get("PYTHONPATH")])
    )
    done = subprocess.run(
        command,
        cwd=course.root,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode == 0:
        return
    output = ANSI.sub("", done.stderr).replace(f"{course}{os.sep}", "")
    faults = list(dict.fromkeys(line.strip() for line in output.splitlines() if FAULT.search(line)))
    if not faults:
        faults = [line.strip() for line in output.splitlines() if line.strip()][-5:]
    for fault in faults:
        print(fault, file=sys.stderr)
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    raise CourseError(f"the book was not built, for {count}: {faults[0] if faults else 'unknown'}")


# --- What went in and what came out ---


def _is_current(stamp: Path, sources: str, course: Course, html: Path) -> bool:
    try:
        record = json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    now = {"sources": sources, "executed": _executed(course)}
    return record == {**now, "output": _output(html)}


def _sources(course: Course, scripts: str, edition: Edition) -> str:
    """Return the digest of all that decides what the pages say, but for the notebooks' results."""
    files = [course / name for name in ("_config.yml", "_toc.yml", "requirements.lock")]
    files += [
        path for folder in ("book", "notebooks", "results") for path in (course / folder).rglob("*")
    ]
    files += [*course.packages.rglob("*.py"), *edition.sources]
    tools = [f"{name} {_version(name)}" for name in TOOLS]
    return _digest(files, course, [*tools, sys.version, scripts])


def _executed(course: Course) -> str:
    """Return the digest of the executed notebooks and their records."""
    folder = course.executed
    copies = [folder / path.name for path in course.lectures]
    return _digest([*copies, *(path.with_suffix(".json") for path in copies)], course, [])


def _output(html: Path) -> str:
    """Return the digest of the names and sizes of the book's files."""
    files = sorted(path for path in html.rglob("*") if path.is_file())
    lines = [f"{path.relative_to(html).as_posix()} {path.stat().st_size}" for path in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _digest(files: Iterable[Path], course: Course, more: Iterable[str]) -> str:
    digest = hashlib.sha256("\n".join(more).encode())
    for path in sorted(set(files)):
        ours = path.is_relative_to(course.root)
        inside = path.relative_to(course.root).parts if ours else path.parts[-3:]
        hidden = any(part.startswith((".", "__pycache__")) for part in inside)
        if path.is_file() and not hidden:
            digest.update(f"\n{'/'.join(inside)}\n".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "absent"
