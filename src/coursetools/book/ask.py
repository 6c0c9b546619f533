"""A question that takes its answer in the page: a number, a shape, or one of a few sentences.

    ```{ask} 4 / 3
    :name: ask-kernels-mean
    :code: (1 + 2 + 1) / 3

    What is the mean of 1, 2 and 1?

    - 4: That is the sum.
    - 2: That is the one in the middle.

    ---

    Add them up and divide by how many there are.
    ```

What follows the name is the answer: a number, a shape in brackets, or the right sentence. The list
has wrong answers with what to say of each; with sentences it and the right one are the choices.
Behind the line is what the answer's fold says. `:code:` is Python, statements and an expression,
by which a test finds the same answer. Without scripts it is a question with a fold below it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from coursekit._base.errors import CourseError

BLOCK = re.compile(
    r"^(`{3,})\{(ask|catch)\} ([^\n]*)\n((?::\w+:[^\n]*\n)*)(.*?)\n?\1$",
    re.DOTALL | re.MULTILINE,
)
OPTION = re.compile(r"^:(\w+): ?(.*)$", re.MULTILINE)
WRONG = re.compile(r"^- (.+?): (.*)$")
NUMBER = re.compile(r"^[−-]?\d+(?:,\d{3})*(?:\.\d+)?(?: ?/ ?\d+)?%?$")
SHAPE = re.compile(r"^\((?:\d+, ?)*\d*\)$")


@dataclass(frozen=True)
class Asked:
    """A question, its answer, wrong answers with their replies, and why."""

    name: str
    answer: str
    question: list[str]
    replies: dict[str, str]
    why: list[str]
    code: str = ""

    @classmethod
    def read(cls, answer: str, options: dict[str, str], lines: Sequence[str]) -> Asked:
        """Read the lines of a directive; what is missing is said in one sentence."""
        name, answer = options.get("name", ""), " ".join(answer.split())
        if not name:
            raise CourseError(f"the question answered by {answer!r} needs a :name:")
        if "---" not in lines:
            raise CourseError(f"{name} needs a line --- and below it why {answer!r} is right")
        cut = list(lines).index("---")
        question, replies = [], {}
        for line in _joined(lines[:cut]):
            wrong = WRONG.match(line)
            if wrong:
                replies[wrong[1].strip()] = wrong[2].strip()
            else:
                question.append(line)
        asked = cls(
            name, answer, question, replies, list(lines[cut + 1 :]), options.get("code", "")
        )
        asked._check()
        return asked

    def _check(self) -> None:
        if not any(line.strip() for line in self.question):
            raise CourseError(f"{self.name} asks nothing")
        if not any(line.strip() for line in self.why):
            raise CourseError(f"{self.name} does not say why {self.answer!r} is right")
        if self.kind == "choice" and not self.replies:
            raise CourseError(f"{self.name} has one choice, {self.answer!r}; name wrong ones")
        for wrong, reply in self.replies.items():
            if "$" in reply or "{" in reply:
                raise CourseError(f"{self.name}: the reply to {wrong!r} is plain words, no formula")
            if kind(wrong) != self.kind or value(wrong) == value(self.answer):
                raise CourseError(
                    f"{self.name}: {wrong!r} should be a wrong {self.kind} beside {self.answer!r}"
                )
        if self.kind != "choice" and not self.code:
            raise CourseError(f"{self.name} needs :code: that finds {self.answer!r}")

    @property
    def kind(self) -> str:
        """`number`, `shape` or `choice`."""
        return kind(self.answer)

    @property
    def within(self) -> float:
        """How far a number may be from the answer: half a unit of the last digit that is typed."""
        digits = self.answer.rstrip("%").partition(".")[2] if "/" not in self.answer else "000"
        return 0.5 * 10.0 ** -len(digits) if digits else 1e-9

    @property
    def sentence(self) -> str:
        """The answer as Markdown; the full stop is escaped, since `46.` would begin a list."""
        return self.answer + ("" if self.answer.endswith((".", "?", "!")) else r"\.")

    @property
    def choices(self) -> list[str]:
        """All sentences to choose from; their order says nothing of which is right."""
        return sorted([self.answer, *self.replies]) if self.kind == "choice" else []

    def value(self) -> Any:
        """Return what the code gives."""
        space: dict[str, Any] = {}
        tree = ast.parse(self.code)
        last = tree.body.pop()
        if not isinstance(last, ast.Expr):
            raise CourseError(f"the code of {self.name} should end with an expression")
        exec(compile(tree, self.name, "exec"), space)
        return eval(compile(ast.Expression(last.value), self.name, "eval"), space)


def kind(answer: str) -> str:
    """Return what kind of an answer this is."""
    return "shape" if SHAPE.match(answer) else "number" if NUMBER.match(answer) else "choice"


def value(answer: str) -> float | tuple[int, ...] | str:
    """Return an answer as a number, a shape, or the sentence itself."""
    if kind(answer) == "shape":
        return tuple(int(side) for side in re.findall(r"\d+", answer))
    if kind(answer) == "choice":
        return answer
    upper, _, lower = answer.rstrip("%").replace(",", "").replace("−", "-").partition("/")
    return float(upper) / float(lower or 1)


def questions(text: str) -> Iterator[Asked]:
    """Yield the questions of a page's text."""
    for answer, options, content in fences(text, "ask"):
        yield Asked.read(answer, options, content.split("\n"))


def fences(text: str, directive: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield what follows the name, the options and the content of all fences of a directive."""
    for _, name, argument, options, content in BLOCK.findall(text):
        if name == directive:
            yield argument, dict(OPTION.findall(options)), content


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines; what is indented below an item of the list belongs to it."""
    current = ""
    for line in lines:
        if current.startswith("- ") and line.startswith("  "):
            current += f" {line.strip()}"
            continue
        if current:
            yield current
        current = line
        if not line:
            yield line
    if current:
        yield current


class Script(nodes.raw, addnodes.translatable):
    """What `ask.js` has to know of a question; its replies are messages for translators."""

    def astext(self) -> str:
        """Return it as HTML."""
        data = json.dumps(self["about"], ensure_ascii=False).replace("<", "\\u003c")
        return f'<script type="application/json">{data}</script>'

    def preserve_original_messages(self) -> None:
        """Keep the English replies."""
        self["messages"] = [*self["about"]["replies"].values()]

    def extract_original_messages(self) -> list[str]:
        """Return the English replies."""
        return self["messages"]

    def apply_translated_message(self, original_message: str, translated_message: str) -> None:
        """Say one reply in another language."""
        for wrong, reply in self["about"]["replies"].items():
            if reply == original_message:
                self["about"]["replies"][wrong] = translated_message


class Ask(SphinxDirective):
    """A question, its choices, and its answer in a fold; `ask.js` adds the rest."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"name": directives.unchanged, "code": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the question as it stands, with what the script has to know."""
        try:
            asked = Asked.read(self.arguments[0], self.options, list(self.content))
        except (CourseError, SyntaxError) as error:
            raise self.error(str(error)) from error
        return [self._placed(asked)]

    def _placed(self, asked: Asked, below: Mapping[str, Iterable[str]] = {}) -> nodes.container:
        """Return the question; `below` has lines that belong to a choice and are not its words."""
        place = nodes.container(classes=["ask", f"ask-{asked.kind}"])
        lines = [*asked.question, ""]
        for choice in asked.choices:
            lines += [f"- {choice}", *below.get(choice, [])]
        about: dict[str, Any] = {"kind": asked.kind, "answer": asked.answer}
        about["replies"] = dict(asked.replies)
        if asked.kind == "number":
            about |= {"value": value(asked.answer), "within": asked.within}
        self._parse(lines, place)
        script = Script(about=about, format="html")
        self.set_source_info(script)
        place += script
        self._parse([":::::{dropdown} Answer", asked.sentence, "", *asked.why, ":::::"], place)
        self.add_name(place)
        return place

    def _parse(self, lines: list[str], into: nodes.container) -> None:
        source = self.get_source_info()[0]
        self.state.nested_parse(StringList(lines, source=source), self.content_offset, into)


def setup(app: Sphinx) -> None:
    """Connect what is here; `extension.setup` calls this."""
    app.add_directive("ask", Ask)
