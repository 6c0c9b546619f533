"""The book as an EPUB 3: the articles of the built pages, with formulas as MathML.

The MathJax that the site has turns each formula into MathML, and the browser that it runs in writes
the pages as XHTML. Nothing in the file is a program, and nothing in it is asked of the network.
"""

from __future__ import annotations

import io
import mimetypes
import re
import uuid
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from lxml import html

from coursekit import __version__
from coursekit._base.errors import CourseError
from coursekit._base.progress import track
from coursetools.book.formats import articles, chromium
from coursetools.book.formats.articles import Heading, Page
from coursetools.course import Course, write_whole

STYLE = Path(__file__).with_name("epub.css")
BEGAN = (1980, 1, 1, 0, 0, 0)  # no entry of the archive has a date: equal books are equal files
HELD = {"mathml": b"<math ", "svg": b"<svg ", "nav": b'epub:type="toc"'}
PICTURE = re.compile(r'src="(_images/[^"]+)"')
AS_XHTML = """async () => {
  await MathJax.startup.promise;
  for (const plain of document.querySelectorAll("[data-tex]")) {
    const display = plain.classList.contains("displayed");
    const written = await MathJax.tex2mmlPromise(plain.dataset.tex, { display });
    const math = new DOMParser().parseFromString(written, "application/xml").documentElement;
    for (const element of [math, ...math.querySelectorAll("*")])
      for (const { name } of [...element.attributes])
        if (name.startsWith("data-")) element.removeAttribute(name);
    math.setAttribute("alttext", plain.textContent);
    plain.replaceWith(math);
  }
  const pages = [...document.querySelectorAll(".page")];
  return pages.map((page) => new XMLSerializer().serializeToString(page));
}"""
CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
"""
PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" \
lang="en" xml:lang="en">
<head>
<title>{title}</title>
<link rel="stylesheet" type="text/css" href="book.css"/>
</head>
<body>
{body}
</body>
</html>
"""
PACKAGE = """<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="book" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="book">urn:uuid:{identifier}</dc:identifier>
<dc:title>{title}</dc:title>
<dc:creator>{author}</dc:creator>
<dc:language>en</dc:language>
<dc:rights>{licence}</dc:rights>
<meta property="dcterms:modified">{modified}</meta>
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessMode">visual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
<meta property="schema:accessibilityFeature">MathML</meta>
<meta property="schema:accessibilityFeature">alternativeText</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityHazard">none</meta>
</metadata>
<manifest>
{manifest}
</manifest>
<spine>
{spine}
</spine>
</package>
"""


def write_epub(course: Course, program: str | None, *, quiet: bool = False) -> Path:
    """Write the built book of a course as an EPUB, with the Chromium `program`; return the file."""
    folder, pages = articles.built(course), articles.gather(course)
    _link_files(pages)
    path = course / "_build" / f"{articles.slug(course)}.epub"
    with track(3, "epub", quiet) as progress:
        progress.advance(f"{len(pages)} pages of the site gathered")
        written = _as_xhtml(pages, folder, program)
        formulas = sum(text.count("<math ") for text in written)
        progress.advance(f"{formulas:,} formulas written as MathML")
        files = _files(course, folder, pages, written)
        content = _archive(files)
        write_whole(path, content)
        progress.advance(f"{len(content) / 1e6:.1f} MB written")
    return path


def _link_files(pages: list[Page]) -> None:
    """Let links into the book name the file that their place is in."""
    files = {e.get("id"): page.stem for page in pages for e in page.element.iter() if e.get("id")}
    for page in pages:
        for link in page.element.iter("a"):
            place = link.get("href", "")
            if place.startswith("#"):
                link.set("href", f"{files[place[1:]]}.xhtml{place}")


def _as_xhtml(pages: list[Page], folder: Path, program: str | None) -> list[str]:
    """Return the pages as XHTML, their formulas as MathML."""
    body = "".join(html.tostring(page.element, encoding="unicode") for page in pages)
    document = (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{chromium.mathjax(folder, typeset=False)}</head>\n<body>{body}</body>\n</html>\n"
    )
    with chromium.opened(document, {"": folder}, program) as page:
        written = page.evaluate(AS_XHTML)
    faulty = sum(text.count("<merror") for text in written)
    if faulty:
        raise CourseError(f"MathJax could not read {faulty} formulas")
    return written


# --- The files ---


def _files(course: Course, folder: Path, pages: list[Page], written: list[str]) -> dict[str, bytes]:
    """Return the files of the EPUB by their names in it, those of the book in reading order."""
    title, author = articles.title(course), str(course.settings.get("author") or "")
    lines = [author, f"Version {__version__}", f"Text and figures: {articles.LICENCE}"]
    front = f"<h1>{escape(title)}</h1>\n" + "\n".join(f"<p>{escape(line)}</p>" for line in lines)
    texts = {"title.xhtml": PAGE.format(title=escape(title), body=front)}
    texts["contents.xhtml"] = PAGE.format(title="Contents", body=_nav(pages))
    for page, text in zip(pages, written, strict=True):
        texts[f"{page.stem}.xhtml"] = PAGE.format(title=escape(page.title), body=text)
    files = {name: text.encode() for name, text in texts.items()}
    files["book.css"] = STYLE.read_bytes()
    for name in sorted({name for text in written for name in PICTURE.findall(text)}):
        files[name] = (folder / name).read_bytes()
    built = datetime.fromtimestamp((folder / "index.html").stat().st_mtime, UTC)
    package = PACKAGE.format(
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, course.book_address or title),
        title=escape(title),
        author=escape(author),
        licence=articles.LICENCE,
        modified=f"{built:%Y-%m-%dT%H:%M:%SZ}",
        manifest="\n".join(_manifest(files)),
        spine="\n".join(f'<itemref idref="{_item(name)}"/>' for name in texts),
    )
    return {"package.opf": package.encode(), **files}


def _manifest(files: dict[str, bytes]) -> Iterable[str]:
    """Yield a line for each file, which says what is in it."""
    for name, content in files.items():
        kind, properties = mimetypes.guess_type(name)[0], ""
        if name.endswith(".xhtml"):
            kind = "application/xhtml+xml"
            words = [word for word, sign in HELD.items() if sign in content]
            properties = f' properties="{" ".join(words)}"' if words else ""
        yield f'<item id="{_item(name)}" href="{name}" media-type="{kind}"{properties}/>'


def _item(name: str) -> str:
    return "item-" + re.sub(r"[^A-Za-z0-9]", "-", name)


def _nav(pages: list[Page]) -> str:
    """Return the contents as nested lists."""
    files = {one.place: page.stem for page in pages for one in page.headings}

    def listed(entries: list[Heading]) -> str:
        items, rest = [], entries
        while rest:
            first, depth = rest[0], rest[0].depth
            end = next((n for n, e in enumerate(rest[1:], 1) if e.depth <= depth), len(rest))
            link = f'<a href="{files[first.place]}.xhtml#{first.place}">{escape(first.title)}</a>'
            inside = f"\n{listed(rest[1:end])}" if end > 1 else ""
            items.append(f"<li>{link}{inside}</li>")
            rest = rest[end:]
        return "<ol>\n" + "\n".join(items) + "\n</ol>"

    entries = listed(articles.contents(pages))
    return f'<nav epub:type="toc" id="toc">\n<h1>Contents</h1>\n{entries}\n</nav>'


def _archive(files: dict[str, bytes]) -> bytes:
    """Return the archive: first, and as it is, the line that says what it is."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        entries = {"mimetype": b"application/epub+zip"}
        entries["META-INF/container.xml"] = CONTAINER.encode()
        entries |= {f"book/{name}": content for name, content in files.items()}
        for name, content in entries.items():
            packed = name != "mimetype" and not name.endswith(".png")
            kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(name, BEGAN), content, kind)
    return out.getvalue()
