"""Modules of JavaScript: as files they import each other, and joined they are one module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from coursekit._base.errors import CourseError
from coursekit.figures.live.bundle import bundle, modules
from coursekit.figures.live.figure import HERE, HOST
from coursekit.figures.live.javascript import compacted, tokens

FILES = sorted(HERE.rglob("*.js"))
RUN = """async (code) => {
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  return (await import(url)).value;
}"""
# Code whose comments, strings, templates and regular expressions look like one another.
TRICKY = r"""
// a comment with "quotes" and `templates`
const url = "http://a//b"; /* one */ const quote = '/* none */ \' //';
const half = (8) / 2 / 1; const list = [4]; const two = list[0] / 2; // "half"
const isSlash = /[/"'`]\/[^\]/]/gu.test('"/x');
const inner = `a // ${ { b: `c ${ "}" } d` }.b } /* e */   f
    indented`;
const f = () => /x{2}/.test("xx") ? typeof /y/ : "no"
const g = f () ; let n = 1
const sum = n + +n - -n; const next = n++ + 1
n
++n
const cost = `\${n} costs $5 \``;
export const value = [url, quote, half, two, isSlash, inner, g, sum, next, n, cost];
"""


@pytest.fixture
def run(browser) -> Any:
    """Return a function that runs a module and returns the `value` that it exports."""
    page = browser.new_page()
    yield lambda code: page.evaluate(RUN, code)
    page.close()


@pytest.fixture
def written(tmp_path) -> Any:
    """Return a function that writes modules, `"a.js"` as `a`, and returns the first one's path."""

    def write(**sources: str) -> Path:
        for name, source in sources.items():
            (tmp_path / f"{name}.js").write_text(source, encoding="utf-8")
        return tmp_path / f"{next(iter(sources))}.js"

    return write


def test_every_file_is_a_module_whose_imports_the_browser_finds(browser):
    """The browser links the files as they are: each name that one imports the other exports."""
    page = browser.new_page()

    def answer(route: Any) -> None:
        path = HERE / route.request.url.partition("//localhost/")[2]
        kind = "text/javascript" if path.suffix else "text/html"
        route.fulfill(body=path.read_bytes() if path.suffix else b"", content_type=kind)

    page.route("**/*", answer)
    page.goto("http://localhost/")
    for path in FILES:
        if path == HOST:
            continue
        address = f"/{path.relative_to(HERE).as_posix()}"
        names = page.evaluate("async (address) => Object.keys(await import(address))", address)
        assert sorted(names) == sorted(modules(path)[path].exports), address
    page.close()


def test_names_are_kept_apart_and_a_shared_module_runs_once(run, written):
    path = written(
        a="""
          import { name as other, twice } from "./b.js";
          import {
            name, count,
          } from "./c.js";
          const own = "a's";
          export const value = [own, other, name, twice(2), count()];
        """,
        b="""
          import { count } from "./c.js";
          const own = "b's"; let size = count(); // not c's
          export const name = own;
          export function twice(x) { return 2 * x + size; }
        """,
        c="""
          let size = 0;
          const own = "c's";
          export const name = own, unused = 1;
          export function count() { return ++size; }
          export async function later() {}
          export function* all() {}
          export class Some {}
        """,
    )
    assert run(bundle(path)) == ["a's", "b's", "c's", 5, 2]
    assert [file.name for file in modules(path)] == ["c.js", "b.js", "a.js"]
    exports = modules(path)[path.with_name("c.js")].exports
    assert exports == ["name", "count", "later", "all", "Some"]


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ({"a": 'import { x } from "./b.js";'}, r"a\.js needs .*b\.js: no such file"),
        ({"a": 'import { x } from "./b.js";', "b": "export const y = 1, z = 2;\nconst x = 3;"},
         r"a\.js imports x from b\.js, which exports y$"),
        ({"a": 'import { x } from "./b.js";',
          "b": 'import { y } from "./c.js";\nexport const x = y;',
          "c": 'import { x } from "./b.js";\nexport const y = x;'}, "b.js → c.js → b.js"),
        ({"a": 'import { x } from "./b.js";', "b": "export const x = 1;\nexport default {};"},
         r"a\.js imports b\.js, which is a figure by itself"),
        ({"a": 'import x from "./b.js";'}, r"a\.js: expected `import { name }"),
        ({"a": 'import * as x from "./b.js";'}, r"a\.js: expected `import { name }"),
        ({"a": 'import { x } from "lodash";'}, r"a\.js: expected `import { name }"),
        ({"a": "const x = 1;\nexport { x };"}, r"a\.js: expected .* `export` before a declaration"),
        ({"a": "export let x = 1;"}, r"a\.js: expected .* `export` before a declaration"),
        ({"a": "let x;\nlet y = `${x} …;"}, r"a\.js: the string or template in line 2 has no end"),
        ({"a": "const x = 'it"}, r"a\.js: the string or template in line 1 has no end"),
    ],
)  # fmt: skip
def test_a_module_that_cannot_be_joined_gets_a_message(written, sources, message):
    with pytest.raises(CourseError, match=message):
        bundle(written(**sources))


def test_what_looks_like_an_import_inside_a_text_or_a_call_is_left_alone(run, written):
    source = 'const text = `\nimport { x } from "./none.js";\n`;\nexport const value = text.length;'
    assert run(bundle(written(a=source))) == 32
    source = 'export const value = typeof import.meta.url;\nimport("data:text/javascript,");'
    assert run(bundle(written(a=source))) == "string"


def test_what_only_readers_need_is_left_out_and_nothing_else(run):
    short = compacted(TRICKY)
    assert run(short) == run(TRICKY)
    assert not any(comment in short for comment in ("quotes", "/* one */", 'half"'))
    assert "/* none */" in short and "/* e */   f\n    indented" in short
    assert len(short) < 0.85 * len(TRICKY)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_tokens_of_a_file_are_the_file(path):
    source = path.read_text(encoding="utf-8")
    found = list(tokens(source))
    assert "".join(token.text for token in found) == source
    comments = [token.text for token in found if token.kind == "comment"]
    assert comments and all(text.startswith(("//", "/*")) for text in comments)
    short = compacted(source)
    assert compacted(short) == short
    assert [t for t in tokens(short) if t.kind != "space"] == [
        token for token in found if token.kind not in ("comment", "space")
    ]
