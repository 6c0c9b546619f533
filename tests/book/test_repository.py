"""A mistake is reported from its page, wherever the course has an address."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from lxml import html

from coursekit._base import address

LABEL = "Report a mistake on this page"
HOME = "https://github.com/somebody/waves"


def built(folder: Path, run_sphinx: Callable, url: str, **settings: object) -> dict[str, str]:
    """Build two pages; return the link of the report on each, where there is one."""
    (folder / "book").mkdir()
    (folder / "index.md").write_text("# Sea\n\n```{toctree}\nbook/waves\n```\n")
    (folder / "book" / "waves.md").write_text("# Waves\n\nHigh.\n")
    warnings = run_sphinx(folder, folder / "out", {
        "extensions": ["myst_parser", "sphinx_book_theme", "coursetools.book.repository"],
        "html_theme": "sphinx_book_theme", "project": "Sea",
        "html_theme_options": {"repository_url": url, "use_issues_button": True,
                               "use_repository_button": True},
        **settings,
    })  # fmt: skip
    assert "WARNING" not in warnings
    label, links = settings.get("report_label", LABEL), {}
    for name in ("index", "book/waves"):
        text = (folder / "out" / f"{name}.html").read_text(encoding="utf-8")
        assert url or ".invalid" not in text
        for link in html.fromstring(text).iter("a"):
            if " ".join(link.text_content().split()) == label:
                links[name] = link.get("href")
    return links


def test_with_an_address_a_page_has_a_report_with_its_name(tmp_path, run_sphinx):
    links = built(tmp_path, run_sphinx, HOME)
    assert links.keys() == {"index", "book/waves"}
    for name, link in links.items():
        assert link.startswith(f"{HOME}/issues/new?")
        (title,) = parse_qs(urlsplit(link).query)["title"]
        assert name in title


@pytest.mark.parametrize("url", [address.UNSET, "https://elsewhere.invalid/a/b", ""])
def test_without_an_address_there_is_none(tmp_path, run_sphinx, url):
    assert built(tmp_path, run_sphinx, url) == {}
    page = (tmp_path / "out" / "book" / "waves.html").read_text(encoding="utf-8")
    assert "issues/new" not in page and ".invalid" not in page


def test_another_language_has_its_own_words(tmp_path, run_sphinx):
    links = built(tmp_path, run_sphinx, HOME, report_label="Fehler melden")
    assert len(links) == 2
