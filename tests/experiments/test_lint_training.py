"""Every rule for the form of a training notebook is broken once here."""

from __future__ import annotations

import json

import pytest

from coursetools.notebooks.lint import fix, lint

from .conftest import CHOOSE, PARAMETERS, RECORD


def sentences(path):
    return [(problem.cell, problem.sentence) for problem in lint(path)]


def test_a_training_in_good_form_and_a_lecture_with_none_of_it(lab):
    assert sentences(lab.training("toy", RECORD)) == []
    assert sentences(lab.course.notebook("lecture", "x = 1")) == []


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ('profile = "cpu"\ncheckpoints = None', "lacks the parameter seed"),
        ("seed = 1\ncheckpoints = None", "lacks the parameter profile"),
        ('profile = "cpu"\nseed = 1', "lacks the parameter checkpoints"),
        (PARAMETERS.replace('"cpu"', '"gpu"'), "has the profile 'gpu'; a reader begins with 'cpu'"),
        (PARAMETERS + "\nx = f()", "holds 'x = f()'; a parameter is a name = a plain value"),
        (PARAMETERS + "\nimport os", "holds 'import os'; a parameter"),
        (PARAMETERS + "\na.b = 1", "holds 'a.b = 1'; a parameter"),
        (PARAMETERS + "\nx: int", "holds 'x: int'; a parameter"),
    ],
)
def test_the_parameters_are_names_with_plain_values(lab, parameters, said):
    found = sentences(lab.training("toy", RECORD, parameters=parameters))
    assert [cell for cell, _ in found] == ["step-1"]
    assert said in found[0][1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda n: n["metadata"].pop("accelerator"), "needs the metadata accelerator GPU"),
        (lambda n: n["metadata"].update(accelerator="TPU"), "needs the metadata accelerator GPU"),
        (
            lambda n: n["cells"][2].update(metadata={}),
            "needs one cell with the tag parameters, found 0",
        ),
        (
            lambda n: n["cells"][4]["metadata"].update(tags=["parameters"]),
            "needs one cell with the tag parameters, found 2",
        ),
        (lambda n: n["cells"].pop(4), "never calls record of coursekit.training.records"),
        (
            lambda n: n["cells"][3].update(source="from coursekit.training.records import record"),
            "never calls choose of coursekit.training.records",
        ),
        (
            lambda n: n["cells"][3].update(source=CHOOSE.replace("coursekit.training", "mine")),
            "never calls choose",
        ),
        (
            lambda n: n["cells"][3].update(source=CHOOSE.replace("gpu={", "tpu={")),
            "calls choose without gpu",
        ),
        (
            lambda n: n["cells"][3].update(source=CHOOSE.split("    changes")[0] + ")"),
            "calls choose without changes",
        ),
    ],
)
def test_each_rule_is_heard(lab, change, said):
    path = lab.training("toy", RECORD)
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    assert any(said in sentence for _, sentence in sentences(path)), sentences(path)


def test_fix_asks_colab_for_a_gpu_for_trainings_only(lab):
    path = lab.training("toy", RECORD)
    content = json.loads(path.read_text())
    del content["metadata"]["accelerator"]
    path.write_text(json.dumps(content))
    assert fix(path)
    assert json.loads(path.read_text())["metadata"]["accelerator"] == "GPU"
    assert sentences(path) == [] and not fix(path)
    lecture = lab.course.notebook("lecture", "x = 1")
    fix(lecture)
    assert "accelerator" not in json.loads(lecture.read_text())["metadata"]
