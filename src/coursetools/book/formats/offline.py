"""The built site as one zip, to be unpacked and opened in a browser without a server."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

from coursekit._base.progress import track
from coursetools.book.formats import articles
from coursetools.book.formats.chromium import need_mathjax
from coursetools.course import Course, write_whole

FOR_A_SERVER = {"404.html", "sitemap.xml", "robots.txt", "CNAME", "objects.inv"}
PICTURE = re.compile(r"_images/([\w.-]+)")
PACKED = {".png", ".woff", ".woff2", ".zip", ".gz", ".jpg"}  # and no smaller packed once more


def write_offline(course: Course, *, quiet: bool = False) -> Path:
    """Write the built book of a course as a zip with one folder in it, and return the file."""
    folder, name = articles.built(course), articles.slug(course)
    need_mathjax(folder)
    files = _files(folder)
    out = io.BytesIO()
    with track(2, "offline", quiet) as progress:
        progress.advance(f"{len(files):,} files of the site")
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                inside = f"{name}/{path.relative_to(folder).as_posix()}"
                kind = zipfile.ZIP_STORED if path.suffix in PACKED else zipfile.ZIP_DEFLATED
                archive.write(path, inside, kind)
        path = course / "_build" / f"{name}-offline.zip"
        write_whole(path, out.getvalue())
        progress.advance(f"{out.tell() / 1e6:.1f} MB written")
    return path


def _files(folder: Path) -> list[Path]:
    """Return what a reader needs: nothing hidden or for a server, no picture of an older build."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    pages = [path.read_text(encoding="utf-8") for path in paths if path.suffix == ".html"]
    shown = {name for page in pages for name in PICTURE.findall(page)}
    return [
        path
        for path in paths
        if not path.name.startswith(".")
        and path.relative_to(folder).as_posix() not in FOR_A_SERVER
        and (path.parent.name != "_images" or path.name in shown)
    ]
