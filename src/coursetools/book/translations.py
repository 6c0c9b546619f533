"""The book in another language.

Sphinx takes a page apart into messages: a heading, a paragraph, a caption each. In
`translations/LANGUAGE/LC_MESSAGES/PAGE.po`, a file for the tools of gettext, a translation stands
beside each message. Where there is none, or the message has changed since, the page shows the
English one. What notebooks give, numbers and figures, is the same in every language.

`translations/LANGUAGE/settings.yml` has what Sphinx is told otherwise than in `_config.yml`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.nodes import extract_messages

from coursekit._base.errors import CourseError
from coursekit._base.nearest import no_such
from coursetools.book.build import (
    Edition,
    build_book,
    execute_stale,
    locked,
    pages,
    run_jupyter_book,
)
from coursetools.course import Course, write_whole

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

FOLDER = "translations"
GETTEXT = ("--builder", "custom", "--custom-builder", "gettext")
MESSAGES = "messages.json"  # those of the pages that have a catalogue, as the last build met them
# The format behind a number is the language's own.
GLUED = re.compile(r"\{(?:glue:\w+|value)\}`([^`]+?)(?:(?<!:):[\w,.%+]+)?`")
BEGINS = re.compile(r'(?:msg\w+(?:\[\d+\])? +)?"')  # a string of a catalogue; and how it goes on
GOES_ON = re.compile(r'(?:[^"\\]|\\.)*"\s*')
LANGUAGE = re.compile(r"[a-z]{2,3}(_[A-Z][A-Za-z]+)?")


def build_in(course: Course, language: str, **options: Any) -> tuple[Path, list[str]]:
    """Build the book in a language; return its `index.html`, and a sentence for each catalogue.

    `options` are those of `build_book`. A translation without a number of its message, or with
    another one, is a `CourseError`.
    """
    languages = sorted(path.parent.name for path in (course / FOLDER).glob("*/LC_MESSAGES"))
    if language not in languages:
        begins = "coursekit translate LANGUAGE PAGE begins one"
        raise CourseError(f"{no_such('translation', language, languages)} {begins}")
    if faults := list(other_numbers(course, language)):
        raise CourseError("; ".join(faults))
    for compiled in (course / FOLDER / language).rglob("*.mo"):
        if not compiled.with_suffix(".po").is_file():
            compiled.unlink()  # Sphinx would go on using it
    folder = course / "_build" / language
    settings = folder / "settings.yml"
    write_whole(settings, yaml.safe_dump(_settings(course, language), allow_unicode=True))
    edition = Edition(
        folder / "_build",  # where Jupyter Book puts it
        ("--config", str(settings), "--path-output", str(folder)),
        (settings, *_files(course, language).values()),
    )
    index = build_book(course, edition=edition, **options)
    now = json.loads((edition.folder / MESSAGES).read_text(encoding="utf-8"))
    return index, [_state(page, read_catalogue(path), now.get(page))
                   for page, path in _files(course, language).items()]  # fmt: skip


def translate(
    course: Course, language: str, begin: Iterable[str] = (), quiet: bool = False
) -> tuple[Path, list[str]]:
    """Give the catalogues of a language, and of the pages that `begin`, the messages of today.

    Return the folder of the messages of all pages, and a sentence for each catalogue.
    """
    if not LANGUAGE.fullmatch(language) or language == "en":
        raise CourseError(
            f"the language is {language!r}; a code such as de or pt_BR is expected, and not en"
        )
    known = pages(course)
    if strange := [page for page in begin if page not in known]:
        such = f"A page of _toc.yml is expected, such as {known[0]}"
        raise CourseError(f"{no_such('page', strange[0], known, tell=False)} {such}")
    files = _files(course, language)
    files |= {page: _file(course, language, page) for page in begin}
    for path in files.values():
        if path.is_file():
            read_catalogue(path)  # a fault in one is found before anything is done
    templates = write_templates(course, quiet)
    return templates, [
        bring_up_to_date(page, path, templates / f"{page}.pot", language)
        for page, path in files.items()
    ]


def write_templates(course: Course, quiet: bool = False) -> Path:
    """Write the messages of every page, without translations, and return their folder."""
    with locked(course):
        execute_stale(course, quiet=quiet)
        folder = course / "_build" / "catalogues"
        run_jupyter_book(course, [*GETTEXT, "--path-output", str(folder)])
    return folder / "_build" / "gettext"


def bring_up_to_date(page: str, path: Path, template: Path, language: str) -> str:
    """Give a catalogue, which may not be there yet, the messages of its page; say how it stands.

    A translation whose message has changed is kept and marked `fuzzy`; one whose message is gone
    stays at the end of the file.
    """
    from babel.messages.pofile import write_po

    if not template.is_file():
        return _state(page, read_catalogue(path), None)
    today = read_catalogue(template)
    catalogue = read_catalogue(path if path.is_file() else template)
    if not path.is_file():
        catalogue.locale, catalogue.fuzzy = language, False
        catalogue.header_comment = "# What this is: CONTRIBUTING.md, “Translating”."
    catalogue.update(today, update_creation_date=False)
    for message in catalogue:
        message.flags -= {"python-format", "python-brace-format"}  # a % is a percentage
    written = BytesIO()
    write_po(written, catalogue, no_location=True, width=0, include_previous=True)
    if not path.is_file() or path.read_bytes() != written.getvalue():
        write_whole(path, written.getvalue())
    return _state(page, catalogue, [str(message.id) for message in today if message.id])


def read_catalogue(path: Path) -> Catalog:
    """Return the messages of a catalogue with their translations."""
    from babel.messages.pofile import PoFileError, read_po

    try:
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), start=1):
            if (begun := BEGINS.match(line)) and not GOES_ON.fullmatch(line, begun.end()):
                # Babel would read it without its last letter.
                raise CourseError(f"{path}, line {number}: {line[:60]} is not a quoted string")
        return read_po(StringIO(text), abort_invalid=True)
    except (PoFileError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise CourseError(f"{path} is not a gettext catalogue: {reason}") from error


def _files(course: Course, language: str) -> dict[str, Path]:
    """Return the catalogues of a language by their pages."""
    folder = course / FOLDER / language / "LC_MESSAGES"
    paths = sorted(folder.rglob("*.po"))
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in paths}


def _file(course: Course, language: str, page: str) -> Path:
    return course / FOLDER / language / "LC_MESSAGES" / f"{page}.po"


def _settings(course: Course, language: str) -> dict[str, Any]:
    """Return the settings of the book with those of a language."""
    path = course / FOLDER / language / "settings.yml"
    own = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    told = dict(course.settings["sphinx"]["config"])
    for name, value in (own or {}).items():
        told[name] = {**told.get(name, {}), **value} if isinstance(value, dict) else value
    told |= {"language": language, "smartquotes": False}  # which would set English marks otherwise
    return {**course.settings, "sphinx": {**course.settings["sphinx"], "config": told}}


def _state(page: str, catalogue: Catalog, messages: list[str] | None) -> str:
    """Return the sentence that says how much of a page is translated; it may be there no longer."""
    if messages is None:
        return f"{page}: has a catalogue, but is not a page of _toc.yml"
    whole = [message for message in catalogue if message.string and not message.fuzzy]
    done = {text for message in whole for text in (message.id, message.string)}
    missing = sum(message not in done for message in messages)
    if not missing:
        return f"{page}: all {len(messages)} messages are translated"
    return (
        f"{page}: {missing} of {len(messages)} messages are out of date or not translated; "
        "the page has them in English"
    )


def other_numbers(course: Course, language: str) -> Iterator[str]:
    """Yield a sentence for each translation that glues other numbers than its message."""
    for page, path in _files(course, language).items():
        for message in read_catalogue(path):
            texts = str(message.id), str(message.string)
            wanted, given = (Counter(GLUED.findall(text)) for text in texts)
            if all(texts) and not message.fuzzy and wanted != given:
                lacks = ", ".join([*(wanted - given)]) or "nothing"
                more = ", ".join([*(given - wanted)]) or "nothing"
                yield (
                    f"{page} in {language}: the translation of “{texts[0][:50]}…” glues "
                    f"{more} that its message does not, and lacks {lacks}"
                )


# --- While Sphinx builds ---


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.connect("doctree-read", translate_captions, priority=900)  # when the contents are there
    app.connect("build-finished", note_messages)


def translate_captions(app: Sphinx, doctree: nodes.document) -> None:
    """Translate the captions of the contents, which come to a page after its translation."""
    for contents in doctree.findall(addnodes.toctree):
        if not contents.get("rawcaption"):
            contents.attributes.pop("rawcaption", None)  # an empty message would be the header
            continue
        path = _file(Course(Path(app.srcdir)), app.config.language, app.env.docname)
        message = read_catalogue(path).get(contents["rawcaption"]) if path.is_file() else None
        if message is not None and message.string and not message.fuzzy:
            contents["caption"] = message.string


def note_messages(app: Sphinx, exception: Exception | None) -> None:
    """Write down the messages of the pages that have a catalogue in the language of this build."""
    course, language = Course(Path(app.srcdir)), app.config.language
    if exception is not None or app.builder.format != "html" or language == "en":
        return
    now = {}
    for page in set(_files(course, language)) & app.env.found_docs:
        # A message is still there beside its translation; only a picture's text is replaced.
        messages = (message for _, message in extract_messages(app.env.get_doctree(page)))
        now[page] = list(dict.fromkeys(messages))
    write_whole(Path(app.outdir).parent / MESSAGES, json.dumps(now))
