"""Public names are where a reader would look for them."""

import subprocess
import sys
from importlib import import_module

import pytest

from coursekit import models


@pytest.mark.parametrize("name", models.HOMES)
def test_every_model_can_be_imported_from_the_package(name):
    home = import_module(f"coursekit.models.{models.HOMES[name]}")
    assert getattr(models, name) is getattr(home, name)
    assert getattr(models, name).__module__ == home.__name__
    assert name in dir(models)


def test_a_name_loads_its_own_file_and_no_other():
    code = (
        "import sys; from coursekit.models import Bert; "
        "print([m for m in ('gpt', 'detr', 'seq2seq') if f'coursekit.models.{m}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_is_an_import_error():
    with pytest.raises(ImportError, match="Bret"):
        from coursekit.models import Bret  # noqa: F401
