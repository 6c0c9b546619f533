"""The command line: one sentence and an exit code, whatever goes wrong."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import pytest

from coursekit import __version__
from coursekit._base.errors import CourseError
from coursetools import cli, doctor
from coursetools.notebooks import run


@pytest.fixture
def inside(course, monkeypatch):
    """Return a miniature course with the working directory in it."""
    monkeypatch.chdir(course.root)
    return course


def ask(capsys, *arguments):
    """Run the command line; return exit code, stdout and the lines of stderr."""
    code = cli.main(list(arguments))
    said = capsys.readouterr()
    return code, said.out, said.err.splitlines()


def only_sentence(lines):
    assert len(lines) == 1, lines
    assert lines[0].startswith("coursekit: ")
    return lines[0]


def test_version(capsys):
    assert ask(capsys, "--version") == (0, f"coursekit {__version__}\n", [])


def test_help_names_every_command(capsys):
    code, out, _ = ask(capsys, "--help")
    assert code == 0
    assert all(name in out for name in ("doctor", "notebooks", "book", "--quiet", "--debug"))
    assert ask(capsys, "notebooks", "--help")[0] == 0


def test_alone_it_shows_every_command_once_by_who_needs_it(capsys):
    code, out, _ = ask(capsys)
    assert (code, out) == (0, ask(capsys, "--help")[1])
    (commands,) = (a for a in cli.parser()._actions if isinstance(a, argparse._SubParsersAction))
    listed = " ".join(cli.GROUPS.values()).split()
    assert sorted(listed) == sorted(commands.choices)
    assert all(f"\n{group}:\n" in out for group in cli.GROUPS)
    assert all(len(line) < 100 for line in out.splitlines() if line.startswith("  "))


def commands(parser=None, name=""):
    """Return each command that can be typed, by its whole name."""
    parser = parser or cli.parser()
    below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not below:
        return {name: parser}
    return {
        whole: command
        for word, one in below[0].choices.items()
        for whole, command in commands(one, f"{name} {word}".strip()).items()
    }


def options(parser):
    """Return the options of one command, without --help."""
    return {
        a.option_strings[-1]: a for a in parser._actions if a.option_strings if a.dest != "help"
    }


EVERYWHERE = {"--quiet", "--debug", "--root"}


def test_there_are_few_options_and_none_is_the_same_everywhere():
    counted = {name: len(options(one)) for name, one in commands().items()}
    assert sum(counted.values()) + len(EVERYWHERE) <= 80, counted
    assert all(EVERYWHERE.isdisjoint(options(one)) for one in commands().values())
    assert all(word in cli.EVERYWHERE for word in EVERYWHERE)


def test_an_option_means_the_same_in_every_command():
    shapes = {}
    for name, one in commands().items():
        for option, action in options(one).items():
            choices = tuple(action.choices or ())
            shape = (type(action), action.nargs, action.type, action.metavar, choices)
            shapes.setdefault(option, {}).setdefault(shape, []).append(name)
    assert {option: same for option, same in shapes.items() if len(same) > 1} == {}


def test_every_command_is_described_in_a_line_and_every_option_at_all():
    for name, one in commands().items():
        assert one.description and len(one.description) <= 100, name
        assert all(action.help for action in options(one).values()), name


def test_the_options_of_all_commands_go_anywhere(tmp_path):
    root = ["--root", str(tmp_path)]
    for line in (["--quiet", *root, "book"], ["book", f"--root={tmp_path}", "--quiet"]):
        seen = cli.parse(line)
        assert (seen.quiet, seen.debug, seen.root) == (True, False, tmp_path)
    text = cli.parse(["chapter", "new", "a", "--after", "b", "--", "--quiet"])
    assert (text.title, text.quiet) == ("--quiet", False)


def test_names_and_files_go_before_between_and_after_options():
    for line in (
        "return ps1 Grades.csv --to moodle --force",
        "return ps1 --to moodle Grades.csv --force",
        "return --force ps1 --to moodle Grades.csv",
        "return --to moodle --force -- ps1 Grades.csv",
    ):
        seen = cli.parse(line.split())
        assert (seen.name, str(seen.file), seen.to) == ("ps1", "Grades.csv", "moodle"), line
    words = ["return", "ps1", "--student", "ada", "ben", "--to", "plain", "--student", "cy"]
    seen = cli.parse(words)
    assert (seen.students, seen.file) == (["ada", "ben", "cy"], None)
    assert cli.parse(["return", "ps1"]).students == []  # the list is not shared


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("book", "--root"), "--root needs a folder"),
        (("fly",), "No command fly."),
        (("notebooks",), "required: COMMAND"),
        (("notebooks", "fly"), "No command fly."),
        (("doctor", "--fast"), "--fast"),
        (("doctor", "--js"), "--js"),
        (("train", "writer", "--processes", "0"), "'0' should be a whole number from 1"),
        (("train", "writer", "--processes", "two"), "'two' should be a whole number from 1"),
        (("train", "--all", "--budget", "-1"), "'-1' should be a number of minutes above 0"),
        (("train", "--all", "--budget", "nan"), "'nan' should be a number of minutes above 0"),
        (("notebooks", "run", "nowhere.ipynb"), "No file nowhere.ipynb."),
        (("notebooks", "lint", "nowhere"), "No file nowhere."),
        (("notebooks", "lint", "_config.yml"), "_config.yml is not a notebook"),
        (("--root", "nowhere", "book"), "there is no folder nowhere"),
        (("override", "ps1", "cube", "full", "more"), "more; see coursekit override --help"),
        (("settings", "ps1", "a"), "a; see coursekit settings --help"),
    ],
)
def test_what_does_not_exist_is_one_sentence_and_exit_code_2(inside, capsys, arguments, said):
    code, out, err = ask(capsys, *arguments)
    assert (code, out) == (2, "")
    assert said in only_sentence(err)


@pytest.mark.parametrize("arguments", [("book",), ("notebooks", "lint"), ("notebooks", "run")])
def test_outside_a_course_is_one_sentence(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    code, out, err = ask(capsys, *arguments)
    assert (code, out) == (1, "")
    assert "is not inside a course" in only_sentence(err)
    assert "--root DIR" in err[0]


def test_the_course_is_found_from_below_by_name_and_by_path(course, tmp_path, monkeypatch, capsys):
    path = course.notebook("one", "x = 1")
    expected = (0, "1 file in good form\n", [])
    monkeypatch.chdir(course.root / "notebooks")
    assert ask(capsys, "notebooks", "lint") == expected
    monkeypatch.chdir(tmp_path)
    assert ask(capsys, "notebooks", "lint", "--root", str(course.root)) == expected
    assert ask(capsys, "notebooks", "lint", str(path)) == expected
    assert ask(capsys, "notebooks", "lint", str(path.parent)) == expected


def test_lint_prints_each_problem_and_fix_mends(inside, capsys):
    path = inside.notebook("one", "x = 1")
    content = json.loads(path.read_text())
    content["cells"][2]["execution_count"] = 3
    content["metadata"]["kernelspec"]["name"] = "mine"
    path.write_text(json.dumps(content))
    code, out, err = ask(capsys, "notebooks", "lint")
    assert code == 1
    assert sorted(out.splitlines()) == [
        "notebooks/one.ipynb, cell step-1: has execution_count 3; null is expected",
        "notebooks/one.ipynb: has the kernel 'mine'; 'python3' is expected",
    ]
    assert only_sentence(err) == "coursekit: error: 2 problems in 1 file"
    code, out, err = ask(capsys, "notebooks", "lint", "--fix")
    assert (code, err) == (0, [])
    assert out == "notebooks/one.ipynb: fixed\n1 file in good form\n"
    assert ask(capsys, "--quiet", "notebooks", "lint", "--fix") == (0, "", [])


def test_run_executes_what_is_stale(inside, capsys):
    inside.notebook("one", "print(1)")
    code, out, err = ask(capsys, "notebooks", "run")
    assert code == 0
    assert out.startswith("_build/executed/one.ipynb  ")
    assert len(err) == 1 and err[0].startswith("notebooks 1/1: one ran in ")
    code, out, err = ask(capsys, "notebooks", "run", "notebooks/one.ipynb")
    assert (code, out) == (0, "_build/executed/one.ipynb  unchanged\n")
    assert ask(capsys, "notebooks", "run", "--quiet") == (0, "", [])
    assert ask(capsys, "--quiet", "notebooks", "run", "--root", str(inside.root)) == (0, "", [])
    inside.notebook("one", "1 / 0")
    code, out, err = ask(capsys, "notebooks", "--quiet", "run")
    assert (code, out) == (1, "")
    assert "notebooks/one.ipynb, cell step-1: ZeroDivisionError" in only_sentence(err)


def test_the_options_reach_the_runner(inside, capsys, monkeypatch):
    seen = {}

    def note(paths, **options):
        seen.update(options, paths=paths)
        return []

    monkeypatch.setattr(run, "run_notebooks", note)
    path = inside.notebook("one", "x = 1")
    inside.notebook("two", "x = 1")
    assert ask(capsys, "notebooks", "run", "notebooks/one.ipynb", "--force")[0] == 0
    seen.pop("progress")
    assert seen == {"paths": [path], "force": True}


def test_book_prints_the_path_of_its_first_page_last(inside, capsys, monkeypatch):
    build = pytest.importorskip("coursetools.book.build")
    seen = {}

    def built(course, **options):
        seen.update(options, root=course.root)
        print("built")
        return course / "_build" / "html" / "index.html"

    monkeypatch.setattr(build, "build_book", built)
    code, out, _ = ask(capsys, "book", "--force", "--quiet")
    assert code == 0
    assert out.splitlines()[-1] == str(inside.root / "_build" / "html" / "index.html")
    assert seen == {"root": inside.root, "quiet": True, "force": True}
    ask(capsys, "book")
    assert (seen["quiet"], seen["force"]) == (False, False)


class Told(CourseError):
    exit_code = 7


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (CourseError("the roof leaks"), 1, "error: the roof leaks"),
        (Told("the roof leaks"), 7, "error: the roof leaks"),
        (
            ValueError("two\nlines"),
            1,
            "error: ValueError: two lines; run again with --debug for the traceback",
        ),
        (KeyError(), 1, "error: KeyError; run again with --debug for the traceback"),
        (
            ModuleNotFoundError("No module named 'nbclient'"),
            1,
            "error: ModuleNotFoundError: No module named 'nbclient'; "
            "coursekit doctor names the command that installs what is missing",
        ),
        (KeyboardInterrupt(), 130, "interrupted; finished results are kept"),
    ],
)
def test_whatever_is_raised_becomes_a_sentence(capsys, monkeypatch, error, code, said):
    def fail(*_):
        raise error

    monkeypatch.setattr(doctor, "examine", fail)
    got, out, err = ask(capsys, "doctor")
    assert (got, out) == (code, "")
    assert only_sentence(err) == f"coursekit: {said}"
    for line in (["--debug", "doctor"], ["doctor", "--debug"]):
        got, _, err = ask(capsys, *line)
        assert got == code
        assert err[0].startswith("Traceback")
        assert err[-1] == f"coursekit: {said}"


def test_a_reader_that_goes_away_is_no_error(inside):
    for number in range(30):
        inside.notebook(f"n{number}", "x = '" + "very long " * 30 + "'\n1 / = 2")
    program = "import sys; from coursetools.cli import main; sys.exit(main(['notebooks', 'lint']))"
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(
        command, cwd=inside.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()  # before anything can have been written
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) in (0, 1)
    assert "BrokenPipe" not in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["traim", "writer"], "`train`"),
        (["grad", "a01_kernels"], "`grade`"),
        (["notebooks", "lnit"], "`notebooks lint`"),
        (["release", "a01_kernels"], "`assignment release`"),
        (["assignment", "relase"], "`assignment release`"),
        (["lnt"], "`notebooks lint`"),
        (["train", "writer", "--process", "2"], "--processes"),
        (["train", "--profile", "gpus"], "gpu"),
    ],
)
def test_a_command_or_choice_that_is_almost_right_is_named(capsys, typed, meant):
    assert cli.main(typed) == 2
    assert f"Did you mean {meant}?" in capsys.readouterr().err


def test_a_choice_like_no_other_gets_the_list_where_it_is_short(capsys):
    assert cli.main(["train", "--profile", "qqqq"]) == 2
    assert "Choose from smoke, cpu, gpu." in capsys.readouterr().err
