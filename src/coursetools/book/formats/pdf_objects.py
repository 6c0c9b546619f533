"""The objects of a PDF as Chromium writes them: where links lead, and a file a quarter smaller.

Chromium writes a plain table of objects of which tens of thousands, the tags for screen readers,
are some words long. PDF 1.5 puts such objects together into compressed streams.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from itertools import pairwise

from coursekit._base.errors import CourseError

TABLE = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*\Z")
ENTRY = re.compile(rb"(\d{10}) \d{5} n")
OBJECT = re.compile(rb"(\d+) 0 obj\s(.*?)\s*endobj\s*\Z", re.DOTALL)
REFERENCE = re.compile(rb"(\d+) 0 R")
DESTINATION = re.compile(rb"/([^\s\[\]/<>()]+) \[(\d+) 0 R")
CREATOR = re.compile(rb"/Creator \((?:\\.|[^\\)])*\)")
TOGETHER = 200  # objects in one stream


@dataclass(frozen=True)
class Objects:
    """The objects of a PDF by their numbers, and its trailer."""

    bodies: dict[int, bytes]
    trailer: bytes

    def of(self, name: bytes, body: bytes) -> bytes:
        """Return the object that a dictionary refers to as `name`."""
        match = re.search(rb"/%s (\d+) 0 R" % name, body)
        return self.bodies[int(match[1])] if match else b""


def read_objects(pdf: bytes) -> Objects:
    """Return the objects of a PDF with a plain table of them."""
    start = TABLE.search(pdf)
    if start is None or not pdf.startswith(b"xref", int(start[1])):
        raise CourseError("Chromium's PDF has no plain table of objects, as its versions had")
    table = int(start[1])
    rows, _, trailer = pdf[table:].partition(b"trailer")
    places = sorted(int(offset) for offset in ENTRY.findall(rows))
    bodies = {}
    for begin, end in pairwise([*places, table]):
        match = OBJECT.match(pdf[begin:end])
        if match is None:
            raise CourseError(f"Chromium's PDF has no object at byte {begin}")
        bodies[int(match[1])] = match[2]
    return Objects(bodies, trailer.partition(b"startxref")[0].strip())


def page_numbers(objects: Objects) -> dict[str, int]:
    """Return the number of the page, from 1, on which each named destination lies."""
    catalog = objects.of(b"Root", objects.trailer)
    root = objects.of(b"Pages", catalog)
    order = {number: page for page, number in enumerate(_pages(objects, root), start=1)}
    return {
        _name(name): order[int(page)]
        for name, page in DESTINATION.findall(objects.of(b"Dests", catalog))
    }


def _pages(objects: Objects, above: bytes) -> list[int]:
    """Return the numbers of the objects that are the pages below an object, in order."""
    kids = re.search(rb"/Kids \[([^\]]*)\]", above)
    if kids is None:
        return []
    pages = []
    for number in map(int, REFERENCE.findall(kids[1])):
        pages += _pages(objects, objects.bodies[number]) or [number]
    return pages


def _name(name: bytes) -> str:
    return re.sub(rb"#([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), name).decode()


def by(objects: Objects, author: str) -> Objects:
    """Return the same objects with the book's author in place of the browser's name."""
    about = objects.of(b"Info", objects.trailer)
    words = b"/Author <FEFF%s>" % author.encode("utf-16-be").hex().upper().encode()
    signed = CREATOR.sub(lambda _: words, about)
    bodies = {n: signed if body is about else body for n, body in objects.bodies.items()}
    return Objects(bodies, objects.trailer)


def compact(objects: Objects) -> bytes:
    """Return the same PDF with its small objects together in streams, all compressed well."""
    streams = {
        n: _packed(body) for n, body in objects.bodies.items() if body.endswith(b"endstream")
    }
    small = [(n, body) for n, body in objects.bodies.items() if n not in streams]
    places: dict[int, tuple[int, int, int]] = {0: (0, 0, 65535)}  # kind, where, which
    last = max(objects.bodies)
    for begin in range(0, len(small), TOGETHER):
        last, group = last + 1, small[begin : begin + TOGETHER]
        offsets, position = [], 0
        for which, (number, body) in enumerate(group):
            offsets.append(b"%d %d" % (number, position))
            position += len(body) + 1
            places[number] = (2, last, which)
        head = b" ".join(offsets) + b"\n"
        about = b"/Type /ObjStm /N %d /First %d" % (len(group), len(head))
        streams[last] = _stream(about, head + b"\n".join(body for _, body in group))
    out = bytearray(b"%PDF-1.5\n%\xd3\xeb\xe9\xe1\n")
    for number, body in streams.items():
        places[number] = (1, len(out), 0)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table, start = last + 1, len(out)
    places[table] = (1, start, 0)
    rows = (places.get(number, (0, 0, 65535)) for number in range(table + 1))
    cells = b"".join(
        kind.to_bytes(1, "big") + where.to_bytes(4, "big") + which.to_bytes(2, "big")
        for kind, where, which in rows
    )
    named = b" ".join(re.findall(rb"/(?:Root|Info) \d+ 0 R", objects.trailer))
    about = b"/Type /XRef /Size %d /W [1 4 2] %s" % (table + 1, named)
    out += b"%d 0 obj\n%s\nendobj\n" % (table, _stream(about, cells))
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def _packed(stream: bytes) -> bytes:
    """Return a stream compressed as far as zlib can: Chromium is in a hurry."""
    head, _, content = stream.partition(b"stream\n")
    length = re.search(rb"/Length (\d+)\b(?! \d+ R)", head)
    if length is None or b"/Filter /FlateDecode" not in head:
        return stream
    packed = zlib.compress(zlib.decompress(content[: int(length[1])]), 9)
    if len(packed) >= int(length[1]):
        return stream
    head = head[: length.start()] + b"/Length %d" % len(packed) + head[length.end() :]
    return head + b"stream\n" + packed + b"\nendstream"


def _stream(about: bytes, content: bytes) -> bytes:
    packed = zlib.compress(content, 9)
    about += b" /Filter /FlateDecode /Length %d" % len(packed)
    return b"<<%s>> stream\n%s\nendstream" % (about, packed)
