"""A model on a page stays on a page."""

from pathlib import Path

import pytest

from coursekit import plain

LINES = {"detr": 110}
PAGES = sorted(Path(plain.__file__).parent.glob("[!_]*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_it_stays_on_a_page(page):
    assert len(page.read_text(encoding="utf-8").splitlines()) <= LINES.get(page.stem, 120)
