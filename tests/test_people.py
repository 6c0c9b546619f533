"""The files for people: what they promise exists, and nothing in them belongs to one machine."""

from __future__ import annotations

import csv
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
GUIDES = [
    path
    for folder in ("", "notebooks", "src/coursekit", "src/coursetools/grading", "solutions")
    for name in ("README.md", "CONTRIBUTING.md")
    if (path := ROOT / folder / name).is_file()  # a public course has no solutions
]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAP_COLUMNS = ["deck", "topic", "chapter", "section", "phrase", "object", "test", "state"]


def text(name: str) -> str:
    """Return the content of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def tracked_files() -> list[Path]:
    """Return the files that git has or would take; without git, those outside built folders."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout.decode()
        return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        built = {".venv", "_build", "build", "dist", "__pycache__", "node_modules"}
        return [
            path
            for path in ROOT.rglob("*")
            if path.is_file() and not built & set(path.relative_to(ROOT).parts)
        ]


def normal(name: str) -> str:
    """Return a distribution's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, str]:
    """Return name -> version of every line of the lock file."""
    lines = [line.split("#")[0].strip() for line in text("requirements.lock").splitlines()]
    return {normal(name): version for name, _, version in (x.partition("==") for x in lines if x)}


# --- README and CONTRIBUTING ---


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_make_command_is_a_target(guide):
    used = set(re.findall(r"`make ([\w-]+)`", guide.read_text(encoding="utf-8")))
    targets = set(re.findall(r"^([a-z][\w-]*):", text("Makefile"), flags=re.MULTILINE))
    assert used or guide.parent != ROOT, f"{guide.name} names no make command"
    assert used <= targets


def test_readme_names_the_two_commands_and_only_targets_that_exist():
    readme = text("README.md")
    assert "`make book`" in readme
    assert "`make test`" in readme
    further = re.search(r"Further targets of `make`: (.+?)\.", readme).group(1)
    targets = set(re.findall(r"^([a-z][\w-]*):", text("Makefile"), flags=re.MULTILINE))
    assert set(re.findall(r"`([\w-]+)`", further)) <= targets


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_local_link_leads_to_a_file(guide):
    links = re.findall(r"\]\(([^)\s]+)\)", guide.read_text(encoding="utf-8"))
    local = [link.split("#")[0] for link in links if not re.match(r"https?:|mailto:|#", link)]
    assert local or guide.parent != ROOT
    if not (ROOT / "solutions").exists():  # the public course
        local = [link for link in local if not link.startswith("solutions/")]
    assert [link for link in local if not (guide.parent / link).exists()] == []


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_coursekit_command_answers_help(guide):
    commands = set(re.findall(r"coursekit ((?:[a-z]+ ?)+)`", guide.read_text(encoding="utf-8")))
    commands |= set(re.findall(r"bin/coursekit ([a-z ]+?) *#", guide.read_text(encoding="utf-8")))
    commands = {command.strip() for command in commands}
    assert commands or guide.parent != ROOT
    from coursetools.cli import main

    for command in sorted(commands):
        try:
            code = main([*command.split(), "--help"])
        except SystemExit as end:  # argparse leaves by this door
            code = end.code
        assert code in (0, None), command


def test_readme_code_runs(capsys):
    blocks = re.findall(r"```python\n(.+?)```", text("README.md"), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    sums = [float(x) for x in re.findall(r"\d\.\d*", capsys.readouterr().out)]
    assert sums == pytest.approx([1.0] * 8, abs=1e-3)


def test_every_assignment_is_released_and_has_a_page():
    there = {path.parent.name for path in (ROOT / "solutions/notebooks").glob("*/*.ipynb")}
    if not there:
        pytest.skip("this is the public course, without solutions/")
    released = {path.parent.name for path in (ROOT / "notebooks/assignments").glob("*/*.ipynb")}
    pages = set(re.findall(r"notebooks/assignments/(\w+)/\1\b", text("_toc.yml")))
    assert pages == there == released


# --- licences, citation, environment ---


def test_licences_name_themselves():
    assert text("LICENSE").startswith("MIT License")
    assert "https://creativecommons.org/licenses/by/4.0/" in text("LICENSE-TEXT")
    package = tomllib.loads(text("pyproject.toml"))["project"]
    assert package["license"] == "MIT"
    assert all((ROOT / name).is_file() for name in package["license-files"])


def test_citation_is_complete_and_agrees_with_the_package():
    citation = yaml.safe_load(text("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    package = tomllib.loads(text("pyproject.toml"))["project"]
    assert citation["version"] == package["version"]
    assert citation["repository-code"] == package["urls"]["Repository"]


def test_the_book_has_one_title():
    title = yaml.safe_load(text("_config.yml"))["title"]
    assert text("README.md").startswith(f"# {title}\n")
    assert yaml.safe_load(text("CITATION.cff"))["title"] == title


def test_environment_installs_the_lock_and_the_checkout():
    environment = yaml.safe_load(text("environment.yml"))
    nested = [item for item in environment["dependencies"] if isinstance(item, dict)]
    assert "pip" in environment["dependencies"]
    (pip,) = (item["pip"] for item in nested)
    assert "-e ." in pip
    for line in pip:
        flag, _, target = line.partition(" ")
        assert flag in ("-r", "-e"), line
        assert (ROOT / target).exists(), line
    (python,) = (x for x in environment["dependencies"] if str(x).startswith("python="))
    assert python.split("=")[1] in ("3.11", "3.12", "3.13")


# --- workflows ---


def workflow(name: str) -> dict:
    """Return a workflow with its trigger under "on", which YAML 1.1 reads as True."""
    content = yaml.safe_load(text(f".github/workflows/{name}.yml"))
    return {**content, "on": content.get(True)}


def runs(job: dict) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])


WRITES = {
    "publish": {("deploy", "pages"), ("deploy", "id-token"), ("files", "contents")},
    "weekly": {("colab", "issues")},
}


@pytest.mark.parametrize("name", [path.stem for path in WORKFLOWS])
def test_a_workflow_may_write_little_ends_and_makes_what_there_is(name):
    jobs = workflow(name)["jobs"]
    assert workflow(name)["permissions"] == {"contents": "read"}
    rights = [(job, *right) for job in jobs for right in jobs[job].get("permissions", {}).items()]
    assert {(job, what) for job, what, level in rights if level == "write"} == WRITES.get(
        name, set()
    )
    assert "secrets." not in text(f".github/workflows/{name}.yml")
    assert all(job["timeout-minutes"] <= 350 for job in jobs.values())
    assert all(
        "@v" in step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step
    )
    targets = set(re.findall(r"^([a-z][\w-]*):", text("Makefile"), flags=re.MULTILINE))
    assert {
        target for job in jobs.values() for target in re.findall(r"\bmake (\w+)", runs(job))
    } <= targets


def test_ci_runs_three_systems_and_both_ends_of_the_versions():
    jobs = workflow("ci")["jobs"]
    matrix = jobs["test"]["strategy"]["matrix"]
    assert {system.split("-")[0] for system in matrix["os"]} == {"ubuntu", "macos", "windows"}
    lowest = re.search(r'requires-python = ">=([\d.]+)"', text("pyproject.toml"))[1]
    assert lowest in matrix["python"] and len(matrix["python"]) > 1
    pattern = re.search(r"grep -oP '(.+?)' pyproject.toml", runs(jobs["lowest"]))[1]
    assert re.search(pattern.replace(r"\K", ""), text("pyproject.toml"))  # its lowest torch
    weekly = workflow("weekly")
    assert weekly["on"]["schedule"] and {"newest", "links"} <= set(weekly["jobs"])


def test_only_what_ci_has_built_of_main_is_published():
    content, built = workflow("publish"), workflow("ci")["jobs"]["book"]["steps"]
    assert content["on"]["workflow_run"]["branches"] == ["main"]
    build, deploy, files = (content["jobs"][name] for name in ("build", "deploy", "files"))
    assert "success" in build["if"] and deploy["needs"] == "build" and "release" in files["if"]
    (book,) = (
        step["with"] for step in build["steps"] if "download-artifact" in step.get("uses", "")
    )
    assert book["name"] in [step.get("with", {}).get("name") for step in built]
    assert re.search(r"address --is(.|\n)*make pdf epub offline", runs(files))


# --- the lock, and what belongs to one machine ---


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-data.lock"])
def test_lock_has_only_names_with_versions(lock):
    lines = text(lock).splitlines()
    odd = [
        line
        for line in lines
        if line.strip()
        and not line.startswith("#")
        and not re.fullmatch(r"[A-Za-z0-9][\w.-]*==\d[\w.!]*", line.strip())
    ]
    assert lines
    assert odd == []


def test_lock_covers_every_dependency_and_extra():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    wanted = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        wanted += extra
    names = {normal(re.match(r"[A-Za-z0-9][\w.-]*", item).group()) for item in wanted} - {
        "coursekit"
    }
    assert len(names) > 10
    assert names - set(locked()) == set()


def test_lock_keeps_the_bounds_of_the_package():
    from packaging.requirements import Requirement

    project = tomllib.loads(text("pyproject.toml"))["project"]
    wanted = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        wanted += extra
    versions = locked()
    for requirement in map(Requirement, wanted):
        if normal(requirement.name) in versions:
            assert requirement.specifier.contains(
                versions[normal(requirement.name)], prereleases=True
            ), str(requirement)


# Written in pieces, so that this file does not find itself.
MACHINE = re.compile(
    "|".join(
        [
            r"(?<![\w.])/" + r"root/",
            r"(?<![\w./:])/" + r"work/",
            r"(?<![\w./:])/" + r"home/\w+/",
            r"(?<![\w./:])/" + r"Users/\w+/",
            r"[A-Z]:\\" + r"Users\\",
            r"--?(?:extra-)?index" + r"-url",
            r"--find" + r"-links",
            r"pypi\." + r"org/simple",
            r"download\.pytorch\." + r"org/whl",
        ]
    )
)


@pytest.mark.parametrize(
    "line",
    [
        "cd /" + "root/x",
        "open('/" + "work/main')",
        "pip install --index" + "-url x",
        "/" + "home/a/b",
    ],
)
def test_the_pattern_finds_what_it_should(line):
    assert MACHINE.search(line)


@pytest.mark.parametrize(
    "line", ["book/work/x", "https://a.b/work/x", "the work/life", "src/root/x"]
)
def test_the_pattern_lets_ordinary_text_pass(line):
    assert not MACHINE.search(line)


# The tests of the notebook lint must show it the paths that it forbids.
EXAMPLES = {ROOT / "tests" / "notebooks" / "test_lint.py"}


def test_no_file_names_a_machine_or_a_package_index():
    found = []
    files = [path for path in tracked_files() if path not in EXAMPLES]
    assert Path(__file__).resolve() in files
    for path in files:
        try:
            content = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        found += [
            f"{path.relative_to(ROOT)}: {match.group()}" for match in MACHINE.finditer(content)
        ]
    assert found == []


# --- the table and the bibliography: their form; tests/book checks what they point at ---


def lecture_map() -> list[dict[str, str]]:
    """Return the rows of the lecture map."""
    with (ROOT / "book" / "lecture_map.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    assert reader.fieldnames == MAP_COLUMNS
    return rows


def test_lecture_map_rows_are_whole():
    rows = lecture_map()
    assert [row["deck"] for row in rows] == sorted(row["deck"] for row in rows), "decks in order"
    assert {row["deck"] for row in rows} == {"L0", "L1", "L2", "L3", "L4"}
    for row in rows:
        assert row["topic"].strip() == row["topic"] != "", row
        assert row["chapter"], row
        rest = [row["section"], row["phrase"], row["object"], row["test"]]
        if row["state"] == "built":
            assert row["section"] and bool(row["object"]) == bool(row["test"]), row
            page = row["chapter"].partition("_")[0]  # gpt_size has kept the labels of gpt
            assert row["section"].startswith(f"sec-{page}-"), row
        else:
            assert row["state"] == "coming", row
            assert not any(rest), row


def test_bibliography_entries_have_what_a_reader_needs_to_find_the_paper():
    from pybtex.database import parse_file

    entries = parse_file(str(ROOT / "book" / "references.bib")).entries
    assert len(entries) > 50
    for key, entry in entries.items():
        assert re.fullmatch(r"[a-z]+\d{4}[a-z0-9]*", key), key
        assert entry.persons.get("author"), key
        assert {"title", "year"} <= set(entry.fields), key
        if "eprint" in entry.fields:
            assert re.fullmatch(r"\d{4}\.\d{4,5}", entry.fields["eprint"]), key
            # An arXiv number begins with year and month, and no paper appears before its preprint.
            assert 2000 + int(entry.fields["eprint"][:2]) <= int(entry.fields["year"][:4]), key
        found = {"eprint", "doi", "url", "howpublished", "journal"} & set(entry.fields)
        assert found, f"{key} says nowhere where to find it"


@pytest.mark.parametrize("package", ["coursekit", "coursetools"])
def test_what_is_no_python_is_installed_too(package):
    patterns = tomllib.loads(text("pyproject.toml"))["tool"]["setuptools"]["package-data"][package]
    folder = ROOT / "src" / package
    listed = {path for pattern in patterns for path in folder.glob(pattern)}
    kinds = {".py", ".pyc", ".md"}  # a README is for those who write the package
    files = {p for p in folder.rglob("*") if p.is_file() and p.suffix not in kinds}
    assert files and files <= listed
