"""What students have holds no answer: by name, by syntax tree, and by trying."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from importlib import import_module
from urllib.parse import unquote

import ours
import pytest
from ours import ROOT

from coursekit._base.errors import CourseError
from coursekit.check import compiled
from coursekit.submission.forbidden import used
from coursetools.assignments.release import write_release
from coursetools.cli import main
from coursetools.course import Course
from coursetools.questions import catalogue, library_answers, notebook_answers
from coursetools.questions.known_answers import Known
from coursetools.questions.publish import public, publish, write_solution
from coursetools.questions.wrong import source_of

PAIRS = ours.everything()
IDS = [question.name for _, question in PAIRS]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The public course."""
    folder = tmp_path_factory.mktemp("public") / "course"
    public(Course(ROOT), folder)
    return folder


def normalised(node):
    """Return the tree of a definition without its names, docstring and annotations."""
    node = ast.parse(ast.unparse(node)).body[0]
    places = {}
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            part.name = ""
            if isinstance(part, ast.FunctionDef):
                part.returns = None
            if ast.get_docstring(part):
                part.body = part.body[1:]
        elif isinstance(part, ast.arg):
            part.annotation = None
            part.arg = places.setdefault(part.arg, f"v{len(places)}")
        elif isinstance(part, ast.Name):
            part.id = places.setdefault(part.id, f"v{len(places)}")
    return ast.dump(node)


def definitions(text):
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node


def test_the_public_course_is_the_course_without_what_is_private(tree):
    there = {path.name for path in tree.glob("*")}
    assert {"src", "notebooks", "book"} <= there
    assert not there & {"solutions", "autograder", ".git"}
    private = {"assignments", "check", "grading", "questions"}
    assert not private & {path.name for path in tree.glob("tests/*")}


def test_no_answer_is_in_the_public_course(tree):
    """By syntax tree: but for parts of the library that a question's text names."""
    private = {}
    for _, question in PAIRS:
        (node,) = ast.parse(source_of(question.reference)).body
        private[normalised(node)] = question
    for path in tree.rglob("*"):
        if not path.is_file() or path.suffix not in (".py", ".ipynb"):
            continue
        text = path.read_text(encoding="utf-8")
        cells = [text]
        if path.suffix == ".ipynb":
            cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
        for node in (node for cell in cells for node in definitions(cell)):
            question = private.get(normalised(node))
            said = question and any(
                part.endswith((f".{node.name}", f":{node.name}")) for part in question.parts
            )
            assert question is None or said, f"{path}: {node.name} answers {question.name}"


def test_the_public_course_has_nothing_of_the_private_folder(tree):
    assert not (tree / "solutions").exists() and not (tree / "tests" / "questions").exists()
    assert (tree / "src" / "coursekit" / "check" / "compiled" / "a01_kernels.zip").is_file()
    names = {path.name for path in tree.rglob("*")}
    assert not names & {f"{catalogue.file_of(question.name)}.md" for _, question in PAIRS}


CODE = re.compile(r"^(`{3,}|~{3,})[\s\S]*?^\1|(`+)(?!`)[\s\S]*?(?<!`)\2(?!`)", re.MULTILINE)
LINK = re.compile(
    r"\]\(<?([^()\s<>]+)>?[^()]*\)|\b(?:href|src)=\"([^\"]+)\"|^\[[^\]]+\]:\s+(\S+)", re.M
)


def links(path):
    """Yield the links of a page or a notebook that lead to files."""
    text = path.read_text(encoding="utf-8")
    cells = [text]
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        cells = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    for cell in cells:
        for found in LINK.finditer(CODE.sub("", cell)):
            target = found[1] or found[2] or found[3]
            if not re.match(r"[a-z+.-]+:|#|/", target):
                yield unquote(target.partition("#")[0])


def test_every_link_of_the_public_course_leads_to_a_file_of_it(tree):
    pages = [path for path in tree.rglob("*") if path.suffix in (".md", ".ipynb")]
    there = [(path, link) for path in pages for link in links(path)]
    assert len(there) > 100
    assert not [(path, link) for path, link in there if not (path.parent / link).exists()]
    readme = (tree / "README.md").read_text(encoding="utf-8")
    assert "solutions (instructors only)" in readme and "](LICENSE)" in readme


def test_only_links_to_private_files_become_text(small):
    text = "[a](solutions/a01_kernels/shares.py#x) `[b](solutions)` [`c`](none.md) [d](book/e.md)\n"
    (small / "PAGE.md").write_text(text + "```\n[f](solutions)\n```\n[g](https://h.i/solutions)\n")
    folder = small.parent / "public"
    public(Course(small), folder)
    expected = text.replace("[a](solutions/a01_kernels/shares.py#x)", "a (instructors only)")
    assert (folder / "PAGE.md").read_text().startswith(expected + "```\n[f](solutions)\n```\n[g](h")


@pytest.mark.parametrize(("assignment", "question"), PAIRS, ids=IDS)
def test_what_check_knows_holds_no_answer(assignment, question):
    with zipfile.ZipFile(compiled.FOLDER / f"{assignment.name}.zip") as archive:
        code = archive.read(f"{question.name}.py").decode()
        index = archive.read("index.json").decode()
    private = {normalised(node) for node in definitions(source_of(question.reference))}
    assert not private & {normalised(node) for node in definitions(code)}
    assert f"def {question.name}" not in code and f"class {question.name}" not in code
    lines = [line.strip() for line in source_of(question.reference).split("\n")]
    assert not [line for line in lines if len(line) > 40 and line in index]


@pytest.mark.parametrize(("assignment", "question"), PAIRS, ids=IDS)
def test_helpers_of_the_cases_are_no_answers(assignment, question):
    """By trying: whatever stands in the code of the visible cases, in the answer's place."""
    one = next(q for q in compiled.load(assignment.name).questions if q.name == question.name)
    names = compiled._run(one.name, one.code)
    known = Known(assignment, question)
    for name, value in list(names.items()):  # an answer may write among its globals
        if getattr(value, "__module__", "") == f"cases_of_{one.name}" and library_answers.fits(
            value, question.reference
        ):
            assert library_answers.share(known, value) <= library_answers.FEW, name


def test_the_page_names_the_parts_that_are_answers():
    """That these are all is what `coursekit audit` proves."""
    page = (ROOT / "book" / "grading.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(a\d\d_\w+)` \| `(\w+)` \| (.+) \|$", page, re.MULTILINE)
    found = [(*row, part.strip("`")) for *row, parts in rows for part in parts.split(", ")]
    expected = [(a.name, q.name, part) for a, q in PAIRS for part in q.parts]
    assert found == expected


def test_no_question_rests_on_one_part_alone():
    """What the page says of those that are left."""
    for assignment, question in PAIRS:
        for part in (part for part in question.parts if ":" not in part):
            home, _, name = part.rpartition(".")
            answer = getattr(import_module(home), name)
            if library_answers.share(Known(assignment, question), answer) > 0.6:
                text = source_of(answer)
                calls = used(text, question.forbidden)
                alone = {"masked_softmax": "softmax", "nadaraya_watson": "attention("}[name]
                assert alone in text and (calls or name == "nadaraya_watson"), question.name


def test_what_a_notebook_defines_is_tried_as_an_answer(tmp_path):
    """It may be called otherwise, be written on one line, and have a default of a run."""
    cells = [
        "import torch\nfrom coursekit.check import check\nSCALE = 0.5",
        "def other(q, k, v, power=SCALE):\n"
        "    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** power).softmax(dim=-1)\n"
        "    return weights @ v, weights\n\ncheck(other)",
        "def unscaled(q, k, v, more=results[0]):\n"
        "    weights = (q @ k.transpose(-2, -1)).softmax(dim=-1)\n    return weights @ v, weights",
        "def easy(q, k, v):\n    out = torch.nn.functional.scaled_dot_product_attention(q, k, v)\n"
        "    return out, (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)",
    ]
    made = [
        {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "id": f"c{n}"}
        for n, text in enumerate(cells)
    ]
    (tmp_path / "notebooks").mkdir()
    text = json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (tmp_path / "notebooks" / "new.ipynb").write_text(text)
    assignment, question = ours.find("scaled_attention")
    more = dict(notebook_answers.definitions(Course(tmp_path), question))
    assert list(more) == ["notebooks/new.ipynb:other", "notebooks/new.ipynb:unscaled"]
    known = Known(assignment, question)
    shares = {name: library_answers.share(known, part) for name, part in more.items()}
    assert shares["notebooks/new.ipynb:other"] == 1 > 0.2 > shares["notebooks/new.ipynb:unscaled"]


def test_no_notebook_gives_scaled_attention_away():
    assignment, question = ours.find("scaled_attention")
    known = Known(assignment, question)
    for name, part in notebook_answers.definitions(Course(ROOT), question):
        if library_answers.fits(part, question.reference):
            assert library_answers.share(known, part) <= library_answers.FEW, name


def test_a_part_that_is_an_answer_is_found():
    assignment, question = ours.find("masked_shares")
    assert library_answers.passing(assignment, question) == {
        "coursekit.attention.masked_softmax": 1.0
    }


def test_what_is_not_in_step_is_not_published(tmp_path, small):
    text = small / "solutions" / "a01_kernels" / "shares.md"
    text.write_text(text.read_text().replace("\n\n##", " Look again.\n\n##", 1))
    with pytest.raises(CourseError, match=r"a01_kernels\.zip is not in step with its source"):
        public(Course(small), tmp_path / "public")
    assert not (tmp_path / "public").exists()


def test_the_package_has_nothing_that_the_public_course_has_not(tree, tmp_path):
    """Built as pip builds it; so what is true of the public course is true of the package."""
    built = tmp_path / "built"
    shutil.copytree(tree, built)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(tmp_path), str(built)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    ours = {name: content for name, content in files.items() if ".dist-info/" not in name}
    public = {path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    assert "coursekit/check/compiled/a01_kernels.zip" in ours
    assert [name for name, content in ours.items() if content not in public] == []


def log(folder):
    done = subprocess.run(
        ["git", "-C", folder, "log", "--format=%s"], capture_output=True, text=True, check=True
    )
    return done.stdout.split("\n")[:-1]


def test_the_public_course_has_a_history_of_its_own(tmp_path, small):
    folder = tmp_path / "public"
    _, said = publish(Course(small), folder)
    assert said == "its history begins" and log(folder) == ["Begin the course"]
    assert publish(Course(small), folder)[1] == "nothing is new"
    (small / "book" / "more.md").write_text("# More\n")
    (small / "book" / "masking.md").unlink()
    assert publish(Course(small), folder)[1] == "one commit more"
    assert log(folder) == ["Update the course", "Begin the course"]
    assert (folder / "book" / "more.md").is_file() and not (folder / "book" / "masking.md").exists()
    (folder / "mine.txt").write_text("a change")
    with pytest.raises(CourseError, match="has changes that are in no commit"):
        publish(Course(small), folder)
    assert (folder / "mine.txt").read_text() == "a change"


def test_solutions_written_before_the_deadline_say_so(small, capsys):
    settings = small / "solutions" / "a01_kernels" / "assignment.toml"
    settings.write_text("due = 2999-01-01T00:00:00+00:00\n")
    line = ["--root", str(small), "assignment", "solutions", "a01_kernels"]
    assert main(line) == 1
    assert "--force" in capsys.readouterr().err
    assert main([*line, "--force"]) == 0
    assert "a01_kernels is due" in capsys.readouterr().out
    settings.write_text("due = 2020-01-01T00:00:00+00:00\n")
    assert main([*line, "--force"]) == 0
    assert "is due" not in capsys.readouterr().out


def test_solutions_are_written_after_the_deadline(small):
    path = small / "notebooks" / "solutions" / "a01_kernels" / "a01_kernels.ipynb"
    settings = small / "solutions" / "a01_kernels" / "assignment.toml"
    later = datetime.now(UTC) + timedelta(days=1)
    settings.write_text(f"due = {later:%Y-%m-%dT%H:%M:%S}+00:00\n")
    with pytest.raises(CourseError, match=r"is due .*; --force"):
        write_solution(Course(small), "a01_kernels")
    assert not path.exists()
    assert write_solution(Course(small), "a01_kernels", force=True) == path
    settings.write_text("due = 2020-01-01T00:00:00+00:00\n")
    write_solution(Course(small), "a01_kernels")
    text = path.read_text()
    assert "raised / raised.sum(" in text and "SOLUTION" not in text and "nbgrader" not in text
    folder = small.parent / "published"
    with pytest.raises(CourseError, match="is not in step"):  # students read another deadline
        public(Course(small), folder)
    write_release(Course(small), "a01_kernels")
    public(Course(small), folder)
    assert (folder / "notebooks" / "solutions" / "a01_kernels" / "a01_kernels.ipynb").is_file()


@pytest.fixture
def small(tmp_path):
    """A course of one assignment, without git."""
    root = tmp_path / "course"
    known = "src/coursekit/check/compiled/a01_kernels.zip"
    for place in ("book/masking.md", "_config.yml", known):
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / place, root / place)
    for place in ("notebooks/assignments", "solutions/notebooks", "solutions"):
        shutil.copytree(ROOT / place / "a01_kernels", root / place / "a01_kernels")
    return root
