"""A notebook's header is the same in whatever order address, deadline and release are typed."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pytest

from coursetools.cli import main
from coursetools.course import Course
from coursetools.notebooks.header_lines import COLAB_DOOR, header_text, without_header

ROOT = Path(__file__).resolve().parents[2]
NAME, OURS = "a01_kernels", "https://github.com/some-body/a-course"
COMMANDS = {
    "deadline": {
        "address": f"address {OURS}",
        "due": f"settings {NAME} --due 2030-11-20T12:00",
        "release": f"assignment release {NAME}",
    },
    "exam": {
        "address": f"address {OURS}",
        "due": f"settings {NAME} --due 2030-11-20T12:00 --start 2030-11-20T10:00",
        "release": f"assignment release {NAME}",
    },
    "moved": {
        "address": "address https://github.com/another/place",
        "moved": f"address {OURS}",
        "due": f"settings {NAME} --due 2030-11-20T12:00",
        "release": f"assignment release {NAME}",
    },
}
FILES = ("_config.yml", "book/kernels.md", f"src/coursekit/check/compiled/{NAME}.zip")


def course(root: Path) -> Path:
    """Return a course of one assignment."""
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    for place in ("notebooks/assignments", "solutions/notebooks", "solutions"):
        shutil.copytree(ROOT / place / NAME, root / place / NAME)
    return root


def typed(root: Path, *commands: str) -> bytes:
    """Type commands; return the students' notebook."""
    for command in commands:
        assert main([*command.split(), "--root", str(root)]) == 0, command
    return (root / "notebooks" / "assignments" / NAME / f"{NAME}.ipynb").read_bytes()


@pytest.mark.parametrize("kind", COMMANDS)
def test_every_order_gives_the_same_notebook_and_the_public_course_takes_it(kind, tmp_path):
    commands, results = COMMANDS[kind], set()
    for number, order in enumerate(itertools.permutations(commands)):
        if "moved" in order and order.index("moved") < order.index("address"):
            continue
        if order.index("release") < order.index("due"):  # students learn of it by a release
            order = (*order, "release")
        root = course(tmp_path / f"course-{number}")
        results.add(typed(root, *(commands[name] for name in order)))
        source = (root / "solutions" / "notebooks" / NAME / f"{NAME}.ipynb").read_bytes()
        assert source == (ROOT / "solutions" / "notebooks" / NAME / f"{NAME}.ipynb").read_bytes()
    (text,) = results
    if kind != "exam":  # which the public course does not have before its end
        typed(root, f"assignment public {tmp_path / 'public'}")
        public = tmp_path / "public" / "notebooks" / "assignments" / NAME / f"{NAME}.ipynb"
        assert public.read_bytes() == text
    first = "".join(json.loads(text)["cells"][0]["source"])
    title, _, notice = first.split("\n")[:3]
    assert title.startswith("# ") and notice.startswith(
        "**Exam." if kind == "exam" else "**Due Wednesday 20 November 2030, 12:00 UTC.**"
    )
    assert first.count(f"{OURS.split('.com/')[1]}/blob/main") == (kind != "exam")
    assert kind == "exam" or first.split("\n")[-1].startswith("[Open in Colab](")


def test_a_header_is_written_once_however_often():
    link = "[Open in Colab](https://colab.research.google.com/github/a/b/blob/main/c.ipynb)"
    text = "# Title\n\nAbout it."
    assert header_text(text, link) == f"{text}\n\n{link}"
    assert header_text(header_text(text, link), link) == header_text(text, link)
    assert header_text(header_text(text, link)) == text
    both = f"# Title\n\nDue.\n\nAbout it.\n\n{link}"
    assert header_text(header_text(text, link), link, "Due.") == both
    assert header_text(header_text(text, notice="Due."), link) == both
    assert header_text("No title\nhere", notice="Due.") == "Due.\n\nNo title\nhere"


def test_what_is_graded_is_the_notebook_without_its_header(tmp_path):
    path = ROOT / "solutions" / "notebooks" / NAME / f"{NAME}.ipynb"
    text = path.read_text(encoding="utf-8")
    plain, changed = json.loads(without_header(text)), json.loads(text)
    changed["cells"][0]["source"].append(
        "\n\n[Open in Colab](https://colab.research.google.com/github/a/b/blob/main/c.ipynb)"
    )
    changed["cells"][1]["source"] = ["%pip install something else"]
    again = json.loads(without_header(json.dumps(changed)))
    same = ["".join(cell["source"]) for cell in plain["cells"]]
    assert ["".join(cell["source"]) for cell in again["cells"]] == same
    assert same[2:] == ["".join(cell["source"]) for cell in json.loads(text)["cells"]][2:]
    assert without_header("no JSON") == "no JSON" and without_header("[1]") == "[1]"


def test_a_notebook_without_our_cells_stays_as_its_author_wrote_it(classroom):
    (classroom.root / "_config.yml").write_text(
        "repository:\n  url: https://address-not-set.invalid/course\n"
    )
    release = ["assignment", "release", "ps1", "--root", str(classroom.root)]
    assert main(release) == 0
    path = classroom.course.released("ps1") / "ps1.ipynb"
    before = path.read_bytes()
    assert main(["address", OURS, "--root", str(classroom.root)]) == 0
    assert path.read_bytes() == before and COLAB_DOOR.encode() not in before
    assert main(release) == 0 and path.read_bytes() == before
    assert Course(classroom.root).address == OURS
