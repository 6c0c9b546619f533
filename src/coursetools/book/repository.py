"""The theme's buttons to the repository: none without an address, and one to report a mistake.

The theme's issue button opens a new issue with the page's name in the title; it gets a label here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from sphinx.application import Sphinx
from sphinx.config import Config

ISSUES = "source-issues-button"  # the theme's name of the button


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.add_config_value("report_label", "Report a mistake on this page", "html", str)
    app.connect("config-inited", lead_nowhere_without_address)
    app.connect("html-page-context", name_report, priority=502)  # after the theme's 501


def lead_nowhere_without_address(app: Sphinx, config: Config) -> None:
    """Show no button to Colab or to the repository while the course has no address.

    Text about them goes under `{only} address`.
    """
    options = config.html_theme_options
    host = urlsplit(options.get("repository_url") or "").hostname
    if host and not host.endswith(".invalid"):
        app.tags.add("address")
        return
    buttons = dict.fromkeys(name for name in options if name.startswith("use_"))
    config.html_theme_options = {
        **options, **buttons, "repository_url": "", "launch_buttons": {}
    }  # fmt: skip


def name_report(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Label the button that opens a new issue."""
    for button in _buttons(context.get("header_buttons", ())):
        if button.get("label") == ISSUES:
            button["tooltip"] = app.config.report_label
            if button.get("text"):  # empty if the theme shows only the icon
                button["text"] = app.config.report_label


def _buttons(buttons: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for button in buttons:
        yield button
        yield from _buttons(button.get("buttons", ()))
