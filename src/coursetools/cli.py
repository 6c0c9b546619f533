"""The command line: doctor, notebooks, book, and the commands of two other files.

Those of training runs are in `experiments.training_commands`, those of the grader in
`grading.grading_commands`.

Each command is one function here that takes the parsed arguments and returns the exit code; the
work is in the module that it calls, imported only then, so `--help` answers at once. Errors are one
sentence and an exit code: 1 something failed, 2 the command cannot be understood, 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from coursekit import __version__
from coursekit._base.errors import CourseError
from coursetools.course import Course
from coursetools.experiments.training_commands import add as add_trainings
from coursetools.grading.grading_commands import add as add_grader

Command = Callable[[argparse.Namespace], int]
EVERYWHERE = (
    "With every command: --quiet (only results), --debug (tracebacks) and --root DIR (the course, "
    "if it is not here)."
)
GROUPS = {  # whose commands they are -> which, in the order in which they are needed
    "learners": "check train results doctor",
    "instructors, an evening of grading": "next settings collect grade mark review return",
    "instructors, points afterwards": "why override",
    "instructors, a class": "term backup restore",
    "instructors, assignments": "assignment audit",
    "instructors, advanced": "export gradescope",
    "authors": "book notebooks chapter translate address",
}
FORMATS = ("pdf", "epub", "offline")  # that the built book can be written as


class UsageError(CourseError):
    """The command line asks for something that does not exist."""

    exit_code = 2


class _Parser(argparse.ArgumentParser):
    """Complains in one sentence; argparse would print its usage first."""

    _mixing = False  # inside of argparse's own way to parse names and options in any order

    def __init__(self, **options: Any) -> None:
        options.setdefault("epilog", EVERYWHERE)
        super().__init__(**options, allow_abbrev=False)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuse here what is left over: the parser above would point to its own help.

        A command's names and files may come before, between and after its options.
        """
        below = any(isinstance(one, argparse._SubParsersAction) for one in self._actions)
        if below or self._mixing:
            known, left = super().parse_known_args(args, namespace)
        else:
            self._mixing = True
            try:
                known, left = self.parse_known_intermixed_args(args, namespace)
            finally:
                self._mixing = False
        if self._mixing:
            return known, left
        if left:
            from coursekit._base.nearest import no_such

            options = [one for one in self._option_string_actions if one.startswith("--")]
            if left[0].startswith("--"):
                self.error(no_such("option", left[0].partition("=")[0], options, tell=False))
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return known, left

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is none of the choices: the nearest one first, and not all where many are."""
        from coursekit._base.nearest import no_such

        if action.choices is None or value in action.choices:
            return
        if not isinstance(action, argparse._SubParsersAction):
            choices = [str(choice) for choice in action.choices]
            raise UsageError(no_such(" ".join(action.option_strings[-1:]), str(value), choices))
        raise UsageError(_no_command(self.prog, action, str(value)))

    def error(self, message: str) -> NoReturn:
        see = " See" if message.endswith((".", "?")) else "; see"
        raise UsageError(f"{message}{see} {self.prog} --help")


def _no_command(prog: str, action: Any, name: str) -> str:
    """Return the message about a command that is not there, with the one that was meant."""
    from coursekit._base.nearest import nearest, no_such

    start = prog.removeprefix("coursekit").lstrip()
    here = {word: f"`{start} {word}`".replace("` ", "`") for word in action.choices}
    below = {
        word: f"`{group} {word}`"
        for group, parser in action.choices.items()
        for one in parser._actions
        if isinstance(one, argparse._SubParsersAction)
        for word in one.choices
    }
    close = name if name in below else nearest(name, here, below)
    if not close:
        return no_such("command", name, here)
    return f"No command {name}. Did you mean {(below | here)[close]}?"


class _Top(_Parser):
    """The parser of the whole; its help has the commands in groups."""

    def format_help(self) -> str:
        """Return the usage and a line for each command, by who needs it."""
        (commands,) = (a for a in self._actions if isinstance(a, argparse._SubParsersAction))
        lines = {action.dest: action.help for action in commands._get_subactions()}
        wide = max(map(len, lines))
        text = ["usage: coursekit COMMAND ...", "", str(self.description), ""]
        for group, names in GROUPS.items():
            text += [
                f"{group}:",
                *(f"  {name:{wide}}  {lines[name]}" for name in names.split()),
                "",
            ]
        more = (
            "coursekit COMMAND --help describes a command, coursekit --version says which this is."
        )
        return "\n".join([*text, more, EVERYWHERE, ""])


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has gone, as `head` does; nothing may be written when Python ends either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as stop:
        return _say(str(stop) or "interrupted; finished results are kept", 130, argv)
    except UsageError as error:
        return _say(f"error: {error}", error.exit_code, [])
    except CourseError as error:
        return _say(f"error: {error}", error.exit_code, argv)
    except Exception as error:
        reason = " ".join(str(error).split())
        what = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
        hint = "run again with --debug for the traceback"
        if isinstance(error, ModuleNotFoundError):
            hint = "coursekit doctor names the command that installs what is missing"
        return _say(f"error: {what}; {hint}", 1, argv)


def _run(argv: list[str]) -> int:
    if not argv:
        parser().print_help()
        return 0
    try:
        arguments = parse(argv)
    except SystemExit as end:  # --help and --version
        return int(end.code or 0)
    return arguments.command(arguments)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of a command line; the options that all commands have go anywhere."""
    rest: list[str] = []
    everywhere = argparse.Namespace(quiet=False, debug=False, root=None)
    words = iter(argv)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word in ("--quiet", "--debug"):
            setattr(everywhere, word[2:], True)
        elif word == "--root":
            if (root := next(words, None)) is None:
                raise UsageError("--root needs a folder: --root DIR")
            everywhere.root = Path(root)
        elif word.startswith("--root="):
            everywhere.root = Path(word.partition("=")[2])
        else:
            rest.append(word)
    return parser().parse_args(rest, everywhere)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = _Top(
        prog="coursekit",
        description="Builds, checks and runs the course on attention and Transformers.",
    )
    top.add_argument("--version", action="version", version=f"coursekit {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)

    add = _adder(commands, doctor, "doctor", "show what this machine lacks and how to install it")
    text = "a group of packages to look at too: book, train, grade or dev; several times"
    add("--group", action="append", default=[], metavar="NAME", dest="groups", help=text)

    add = _adder(commands, book, "book", "execute stale notebooks and build the whole book")
    text = "write the built book as a file instead: pdf, epub or offline (a zip of the site)"
    add("formats", nargs="*", metavar="FORMAT", help=text)
    add("--force", action="store_true", help="execute and build everything again")
    add("--paper", choices=("a4", "letter"), help="paper size of the PDF (default: a4)")
    add("--language", metavar="CODE", help="build it in a language of translations/, such as de")

    add = _adder(commands, translate, "translate", "bring a language's catalogues up to date")
    add("language", metavar="LANGUAGE", help="its code, such as de or pt_BR")
    add("pages", nargs="*", metavar="PAGE", help="pages to begin, such as book/heads")

    add = _adder(commands, address, "address", "show or set the course's address")
    add("url", nargs="?", metavar="URL", help="https://github.com/OWNER/REPOSITORY")
    text = "a JupyterHub with nbgitpuller, which a button on every notebook's page opens"
    add("--hub", metavar="HUB", help=text)
    text = "fail unless this is the address: a repository publishes nobody else's course"
    add("--is", dest="expected", metavar="URL", help=text)

    below = commands.add_parser("chapter", help="begin a chapter")
    below.description = "Begins a chapter: page, notebook, figures, and its lines in the tables."
    chapter = below.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add = _adder(chapter, new_chapter, "new", "write a chapter that builds, to be filled in")
    add("name", metavar="NAME", help="the stem of its files, such as mixing")
    add("title", metavar="TITLE", help="the title of its page")
    add("--after", required=True, metavar="NAME", help="the chapter before it, which it needs")

    below = commands.add_parser("notebooks", help="check or execute notebooks")
    below.description = "Checks the form of notebooks, or executes them."
    notebooks = below.add_subparsers(title="commands", metavar="COMMAND", required=True)

    add = _adder(notebooks, lint_notebooks, "lint", "check notebooks, and the numbers on pages")
    add("paths", nargs="*", type=Path, metavar="PATH", help="notebooks, folders or pages (all)")
    add("--fix", action="store_true", help="fix what can be fixed automatically, then check")

    add = _adder(notebooks, run_notebooks, "run", "execute the notebooks whose results are stale")
    add("paths", nargs="*", type=Path, metavar="PATH", help="notebooks (default: all lectures)")
    add("--force", action="store_true", help="execute them even if nothing has changed")

    kinds: dict[str, Callable] = {"count": _count, "minutes": _minutes}
    add_trainings(commands, _adder, _course, kinds)
    add_grader(commands, _adder, _course, _count)
    return top


def doctor(arguments: argparse.Namespace) -> int:
    """Print what the machine has and lacks."""
    from coursekit._base.nearest import no_such
    from coursetools.doctor import GROUPS, as_table, examine, healthy

    for name in arguments.groups:
        if name not in GROUPS:
            raise UsageError(no_such("group", name, GROUPS))

    try:
        course = _course(arguments)
    except CourseError:
        if arguments.root is not None:
            raise
        course = None  # outside a course there is still a package to examine
    checks = examine(course, arguments.groups)
    if not arguments.quiet or not healthy(checks):
        print(as_table(checks))
    return 0 if healthy(checks) else 1


def address(arguments: argparse.Namespace) -> int:
    """Print the address of the course, compare it, or write it everywhere."""
    from coursekit._base import address as known
    from coursetools.notebooks.set_address import move, open_on

    course = _course(arguments)
    if arguments.url is not None and arguments.expected is not None:
        raise UsageError("coursekit address takes URL or --is URL, found both")
    if arguments.url is not None:
        changed = move(course, arguments.url)
        if not arguments.quiet:
            print("".join(f"{name}: changed\n" for name in changed), end="")
    if arguments.hub is not None and open_on(course, arguments.hub) and not arguments.quiet:
        print("_config.yml: changed")
    home = _course(arguments).address  # as it is written now
    if arguments.expected is not None:
        wanted = known.parse(arguments.expected)
        if home.lower() != wanted.lower() or not known.is_set(home):
            raise CourseError(
                f"the address of this course is {home}, and {wanted} is expected; "
                f"`coursekit address {wanted}` sets it"
            )
    print(home)
    if not known.is_set(home) and not arguments.quiet:
        hint = "coursekit address https://github.com/OWNER/REPOSITORY"
        print(f"this course has no address yet; `{hint}` sets one")
    return 0


def new_chapter(arguments: argparse.Namespace) -> int:
    """Write the files of a chapter and say which."""
    from coursetools.book.new_chapter import new

    course = _course(arguments)
    for path in new(course, arguments.name, arguments.title, arguments.after):
        print(course.relative(path))
    return 0


def lint_notebooks(arguments: argparse.Namespace) -> int:
    """Print every problem with the form of the notebooks, and each unvouched number of a page."""
    from coursetools.book.typed_numbers import pages, typed_numbers
    from coursetools.notebooks.lint import Problem, all_notebooks, fix, lint

    prose = [path for path in arguments.paths if path.suffix == ".md"]
    paths = _notebooks([path for path in arguments.paths if path not in prose])
    course = _course(arguments, [*paths, *prose])
    if not arguments.paths:
        paths, prose = all_notebooks(course), pages(course)
    problems = [
        (course.relative(page), Problem(page, "", sentence))
        for page in prose
        for sentence in typed_numbers(page)
    ]
    for path in paths:
        if arguments.fix and fix(path) and not arguments.quiet:
            print(f"{course.relative(path)}: fixed")
        problems += [(course.relative(path), problem) for problem in lint(path)]
    for name, problem in problems:
        print(f"{name}, cell {problem.cell}: " if problem.cell else f"{name}: ", end="")
        print(problem.sentence)
    if not problems and not arguments.quiet:
        print(f"{_counted(len(paths) + len(prose), 'file')} in good form")
    if problems:
        affected = _counted(len({name for name, _ in problems}), "file")
        raise CourseError(f"{_counted(len(problems), 'problem')} in {affected}")
    return 0


def run_notebooks(arguments: argparse.Namespace) -> int:
    """Execute notebooks and print where the results are."""
    from coursekit._base.progress import track
    from coursetools.notebooks.run import run_notebooks as run

    paths = _notebooks(arguments.paths)
    course = _course(arguments, paths)
    if not arguments.paths:
        paths = course.lectures
    with track(len(paths), "notebooks", arguments.quiet) as progress:
        runs = run(paths, progress=progress, force=arguments.force)
    if not arguments.quiet:
        for result in runs:
            state = f"{result.record['seconds']:.1f} s" if result.ran else "unchanged"
            print(f"{course.relative(result.executed)}  {state}")
    return 0


def book(arguments: argparse.Namespace) -> int:
    """Build the book and print the path of its first page, or write the built book as a file."""
    from coursekit._base.nearest import no_such
    from coursetools.book.build import build_book

    for name in arguments.formats:
        if name not in FORMATS:
            raise UsageError(no_such("format", name, FORMATS))
    if arguments.paper and "pdf" not in arguments.formats:
        raise UsageError("--paper is the paper size of a PDF: coursekit book pdf --paper SIZE")
    if arguments.formats:
        return _book_as_files(arguments)
    options = {"quiet": arguments.quiet, "force": arguments.force}
    if arguments.language is None:
        print(build_book(_course(arguments), **options))
        return 0
    from coursetools.book.translations import build_in

    index, states = build_in(_course(arguments), arguments.language, **options)
    if not arguments.quiet:
        print("\n".join(states), file=sys.stderr)
    print(index)
    return 0


def translate(arguments: argparse.Namespace) -> int:
    """Write the messages of today into a language's catalogues, and say what is out of date."""
    from coursetools.book import translations

    course = _course(arguments)
    templates, states = translations.translate(
        course, arguments.language, arguments.pages, arguments.quiet
    )
    if not arguments.quiet:
        print(f"messages of all pages: {course.relative(templates)}")
    print("".join(f"{state}\n" for state in states), end="")
    return 0


def _book_as_files(arguments: argparse.Namespace) -> int:
    """Write the built book in each format that is asked for, and print where."""
    from coursetools.book.formats.chromium import find_chromium
    from coursetools.book.formats.epub import write_epub
    from coursetools.book.formats.offline import write_offline
    from coursetools.book.formats.pdf import write_pdf

    formats = arguments.formats
    if arguments.force or arguments.language:
        raise UsageError(
            f"{' and '.join(formats)} come from the book as it was last built; --force and "
            "--language build it: run coursekit book with them first"
        )
    course, quiet = _course(arguments), arguments.quiet
    if "pdf" in formats:
        print(write_pdf(course, find_chromium(), paper=arguments.paper or "a4", quiet=quiet))
    if "epub" in formats:
        print(write_epub(course, find_chromium(), quiet=quiet))
    if "offline" in formats:
        print(write_offline(course, quiet=quiet))
    return 0


def _adder(commands: argparse._SubParsersAction, run: Command, name: str, text: str) -> Callable:
    """Add a command with the options that all have; return the function that adds its own."""
    command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    command.set_defaults(command=run)
    return command.add_argument


def _course(arguments: argparse.Namespace, paths: Sequence[Path] = ()) -> Course:
    """Return the course that is named, or else that of the notebooks, or else that around here."""

    start = arguments.root
    if start is None:
        try:
            return Course.around(paths[0].parent if paths else Path.cwd())
        except CourseError as error:
            raise CourseError(f"{error}; go there or name it with --root DIR") from error
    if not start.is_dir():
        raise UsageError(f"there is no folder {start}")
    return Course.around(start)


def _notebooks(paths: list[Path]) -> list[Path]:
    notebooks: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = path.rglob("*.ipynb")
            notebooks += sorted(p for p in inside if ".ipynb_checkpoints" not in p.parts)
        elif not path.exists():
            from coursekit._base.nearest import no_such

            there = [str(one) for one in path.parent.glob("*")]
            raise UsageError(no_such("file", str(path), there, tell=False))
        elif path.suffix != ".ipynb":
            raise UsageError(f"{path} is not a notebook; its name should end in .ipynb")
        else:
            notebooks.append(path)
    return list(dict.fromkeys(path.resolve() for path in notebooks))


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} should be a whole number from 1")
    return int(text)


def _minutes(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} should be a number of minutes above 0")
    return number


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _say(sentence: str, code: int, argv: Sequence[str]) -> int:
    """Print the one sentence of an error, after its traceback if `argv` asks for that."""
    if "--debug" in argv:
        import traceback

        traceback.print_exc()
    print(f"coursekit: {sentence}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
