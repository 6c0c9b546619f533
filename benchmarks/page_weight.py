"""What a page of the built book costs a reader on a slow line, page by page.

    make book && python benchmarks/page_weight.py [PAGE ...] [--plain]

Each page is opened in Chromium with an empty cache on a line of 1.6 Mbit/s with 150 ms of latency,
once compressed as a host gives it, or with `--plain` as the files are, and is not scrolled. Printed
are seconds to the first text, requests, megabytes as transferred, and how far the layout shifts.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import http.server
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from coursetools.book.formats.chromium import find_chromium

HTML = Path(__file__).parents[1] / "_build" / "html"
LINE = {"offline": False, "latency": 150, "downloadThroughput": 2e5, "uploadThroughput": 2e5}
TEXT = {".html", ".js", ".css", ".svg", ".json"}
SETTLE = 2000  # milliseconds after the page has loaded
SHIFT = """() => new Promise((done) => {
  let shift = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((e) => (shift += e.value)))
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(shift), 200);
})"""
FIRST = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"


class Host(http.server.SimpleHTTPRequestHandler):
    """Serves the book on loopback, compressed if `compress`."""

    compress = True

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer with the file, compressed where a host would."""
        path = Path(self.translate_path(self.path))
        if not self.compress or path.suffix not in TEXT or not path.is_file():
            super().do_GET()
            return
        body = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        for name, value in {
            "Content-Type": self.guess_type(path),
            "Content-Encoding": "gzip",
            "Content-Length": str(len(body)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def measure(browser: Browser, address: str) -> tuple[float, int, float, float]:
    """Return seconds to the first text, requests, megabytes and layout shift of one page."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    session = context.new_cdp_session(page)
    sizes: dict[str, float] = {}
    asked: list[str] = []
    session.on("Network.requestWillBeSent", lambda event: asked.append(event["request"]["url"]))
    session.on(
        "Network.loadingFinished",
        lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}),
    )
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    session.send("Network.emulateNetworkConditions", LINE)
    page.goto(address, wait_until="load", timeout=180_000)
    page.wait_for_timeout(SETTLE)
    requests = sum(url.startswith("http") for url in asked)
    result = page.evaluate(FIRST) / 1e3, requests, sum(sizes.values()) / 1e6, page.evaluate(SHIFT)
    context.close()
    return result


def main() -> None:
    """Print a row for each page, and the worst of each column."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="book/masking; all pages without a name")
    parser.add_argument("--plain", action="store_true", help="without compression")
    arguments = parser.parse_args()
    names = arguments.pages or [
        path.relative_to(HTML).with_suffix("").as_posix()
        for folder in ("book", "notebooks")
        for path in sorted((HTML / folder).glob("*.html"))
    ]
    Host.compress = not arguments.plain
    host = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Host, directory=str(HTML))
    )
    threading.Thread(target=host.serve_forever, daemon=True).start()
    print(f"{'page':28} {'first text':>10} {'requests':>9} {'MB':>6} {'shift':>6}")
    rows = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for name in names:
            row = measure(browser, f"http://127.0.0.1:{host.server_address[1]}/{name}.html")
            rows.append(row)
            print("{:28} {:8.2f} s {:9d} {:6.2f} {:6.3f}".format(name, *row), flush=True)
        browser.close()
    host.shutdown()
    worst = (max(column) for column in zip(*rows))
    print("{:28} {:8.2f} s {:9d} {:6.2f} {:6.3f}".format("the worst", *worst))


if __name__ == "__main__":
    main()
