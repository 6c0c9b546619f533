"""What others see of the book: a description, a picture when it is shared, one address a page.

sphinxext-opengraph writes descriptions and previews, sphinx-sitemap the map for search engines,
sphinx-notfound-page the page for an address that is wrong. All but the descriptions need to know
where the book is, so they come with the course's address.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sphinx.application import Sphinx
from sphinx.config import Config

from coursetools.course import Course

PREVIEW = re.compile(r'<meta (?:property="og:|name="twitter:)[^>]*>\s*')


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.setup_extension("sphinxext.opengraph")
    app.setup_extension("notfound.extension")
    app.connect("config-inited", take_the_address, priority=100)
    app.connect("html-page-context", leave_out_previews, priority=900)


def take_the_address(app: Sphinx, config: Config) -> None:
    """Tell the extensions where the book is published, if it is; other languages are below it."""
    home = Course(Path(app.srcdir)).book_address.removesuffix("book")
    if home and config.language != "en":
        home += f"{config.language}/"
    config.ogp_social_cards = {"enable": False}
    config.ogp_use_first_image = True
    config.ogp_image_alt = False
    config.notfound_urls_prefix = begin = urlsplit(home).path or "/"
    config.notfound_template = "page.html"
    config.notfound_context = {
        "title": "Page not found",
        "body": "<h1>Page not found</h1><p>It may have moved. "
        f'<a href="{begin}index.html">The first page</a> leads to every chapter, and '
        f'<a href="{begin}search.html">the search</a> looks through all sections.</p>',
    }
    if home:
        config.ogp_site_url = config.html_baseurl = home
        config.ogp_image = "_static/book.png"
        config.sitemap_url_scheme = "{link}"
        app.setup_extension("sphinx_sitemap")


def leave_out_previews(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Keep only the description of a page whose address nobody knows."""
    if not app.config.html_baseurl:
        context["metatags"] = PREVIEW.sub("", context.get("metatags", ""))
