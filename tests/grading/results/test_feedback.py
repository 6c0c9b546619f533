"""What a student reads: everything of theirs, nothing hidden, nothing live; written once, whole."""

from __future__ import annotations

import base64
import os
import re
import signal
import struct
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import psutil
import pytest

from coursekit._base.errors import CourseError
from coursekit._base.progress import Progress
from coursetools import text
from coursetools.grading.gradebook.autograded import report_of
from coursetools.grading.hints import hint_of
from coursetools.grading.records.verdict import CaseVerdict
from coursetools.grading.results import feedback, pages
from coursetools.grading.results.feedback import write_feedback
from coursetools.grading.results.scores import handed_in

SECRET = "hidden-secret-49"


def png(width: int = 2, height: int = 2) -> str:
    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    raw = zlib.compress((b"\0" + b"\xff\0\0" * 2) * 2)
    data = pages.PNG + chunk(b"IHDR", header) + chunk(b"IDAT", raw) + chunk(b"IEND", b"")
    return base64.b64encode(data).decode()


DEAD = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "div",
        "section", "span", "small", "ol", "ul", "li", "pre", "code", "details", "summary", "a",
        "img", "strong", "em", "b", "bdi", "blockquote", "br", "hr", "table", "thead", "tbody",
        "tr", "th", "td", "s"}  # fmt: skip


class Live(HTMLParser):
    """Collects what a browser might act on."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.text = ""
        self.sheet = False

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.sheet = tag == "style"
        if tag not in DEAD:
            self.found.append(f"<{tag}>")
        for name, value in attributes:
            if name.startswith("on") or name in ("srcdoc", "formaction", "background"):
                self.found.append(name)
            if name == "href" and not re.match(r"https?://|#q\d|mailto:", value or ""):
                self.found.append(f"href={value}")
            if name == "src" and not (value or "").startswith("data:image/png;base64,"):
                self.found.append(f"src={value}")
            if name == "style" and not re.fullmatch(r"width:\d+%", value or ""):
                self.found.append(f"style={value}")

    def handle_endtag(self, tag: str) -> None:
        self.sheet = False

    def handle_data(self, data: str) -> None:
        if not self.sheet:
            self.text += data


def read(page: str) -> Live:
    live = Live()
    live.feed(page)
    return live


def page_of(classroom, student: str) -> str:
    write_feedback(classroom.course, classroom.name, students=[student] if student else [])
    path = classroom.folders.feedback(student) / f"{classroom.name}.html"
    return path.read_text(encoding="utf-8")


def test_says_what_was_earned_then_what_to_do_then_each_question(classroom) -> None:
    classroom.hand_in("ada", classroom.partial())
    seen = read(page_of(classroom, "ada")).text
    places = [
        seen.index(part)
        for part in (
            "3 of 9 points",
            "What to do next",
            "Question by question",
            "1. Squares",
            "2. Cubes",
            "3. In words",
        )
    ]
    assert places == sorted(places)
    assert "You doubled where you should square." in seen  # the misconception's own hint
    assert "We know this one." in seen
    assert "Expected 9" in seen  # of a visible case
    assert "  actual 6" in seen
    assert "2 of 3 checks pass" in seen and "1 of 3 checks pass" in seen
    assert "def square(x): return 2 * x" in seen
    assert "so far" in seen  # the written answer waits


def test_hidden_case_shows_its_name_and_nothing_else(classroom) -> None:
    verdict = classroom.partial(only_hidden_fails=True)
    classroom.hand_in("ada", verdict)
    assert any(SECRET in case.detail for q in verdict.questions for case in q.cases)
    page = page_of(classroom, "ada")
    assert SECRET not in page
    assert "seven and its neighbours" in page
    assert "one that you cannot see" in page


def test_output_of_a_test_cell_never_reaches_the_page(classroom) -> None:
    error = {"output_type": "error", "ename": "E", "evalue": SECRET, "traceback": [SECRET]}
    own = {"output_type": "error", "ename": "E", "evalue": "mine", "traceback": ["mine"]}
    verdict = classroom.partial(outputs={"id-test-square": [error], "helper": [own]})
    classroom.hand_in("ada", verdict)
    page = page_of(classroom, "ada")
    assert SECRET not in page and "mine" in page


HOSTILE = [
    "<script>window.PWNED=1</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><circle/></svg>",
    "[click](javascript:alert(1)) <javascript:alert(1)>",
    "[click](data:text/html;base64,PHNjcmlwdD4=)",
    "![see](https://tracker.invalid/pixel.png)",
    "![see](x\" onerror=\"alert(1))",
    '[a](https://a.invalid/"onmouseover="alert(1))',
    "</pre></details></style><style>*{display:none}</style><base href=//x>",
    "<!--", "]]>", "&lt;script&gt;", "```\n</code></pre><script>1</script>\n```",
    "\x00\ud800\x1b]0;title\x07\u202etxt",
    "> " * 3000 + "deep", "[" * 3000, "*" * 5001, "| a " * 900,
]  # fmt: skip


@pytest.mark.parametrize("attack", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_that_a_student_writes_is_live(classroom, attack: str) -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": attack},
        {"output_type": "display_data", "data": {"text/html": attack, "text/plain": attack}},
        {"output_type": "display_data", "data": {"image/svg+xml": attack}},
        {"output_type": "display_data", "data": {"application/javascript": "PWNED=1"}},
        {"output_type": "display_data", "data": {"image/png": attack}},
        {"output_type": "error", "ename": attack, "evalue": attack, "traceback": [attack]},
    ]
    verdict = classroom.partial(
        answers={"square": attack, "cube": f"x = '''{attack}'''", "words": attack},
        outputs={"id-square": outputs, "elsewhere": outputs},
        reason=attack,
    )
    classroom.hand_in("eve", verdict, first=attack[:50].replace("\ud800", ""), comment=attack)
    page = page_of(classroom, "eve")
    assert read(page).found == []
    assert "PWNED=1</script>" not in page
    assert "</main>" in page  # whole


def test_pictures_are_png_or_nothing(classroom) -> None:
    bomb = png(60_000, 60_000)
    outputs = [{"output_type": "display_data", "data": {"image/png": data}} for data in
               (png(), bomb, base64.b64encode(b"<svg onload=alert(1)>").decode(), 5)]  # fmt: skip
    classroom.hand_in("ada", classroom.partial(outputs={"id-square": outputs}))
    page = page_of(classroom, "ada")
    assert page.count("<img ") == 1 and png() in page


@pytest.mark.parametrize(
    ("status", "says", "not_there"),
    [
        ("MALFORMED", "web page", "Question by question"),
        ("INTERNAL", "not your fault", "0 of 9"),
        ("MISSING", "no notebook from you", "Question by question"),
    ],
)
def test_says_so_when_nothing_was_graded(classroom, status, says, not_there) -> None:
    classroom.hand_in("ada", classroom.empty(status, "You submitted a web page."))
    seen = read(page_of(classroom, "ada")).text
    assert says in seen
    assert not_there not in seen


def cases_of(failing: dict[str, str], passing: int, hidden: bool = False) -> list[CaseVerdict]:
    """Return checks of equal worth; `failing` says what is said of each that fails."""
    count = len(failing) + passing
    wrong = [
        CaseVerdict(says=says, hidden=hidden, status="FAIL", share=1 / count, detail=detail)
        for says, detail in failing.items()
    ]
    right = [
        CaseVerdict(says=f"number {n}", hidden=False, status="OK", share=1 / count)
        for n in range(passing)
    ]
    return [*wrong, *right]


NO_GRADIENT = "there is no gradient at the first floating-point input: the output should depend"


@pytest.mark.parametrize(
    ("cases", "hint", "not_there"),
    [
        (cases_of({"odd": "6 of 6 values differ"}, 8), "special about “odd”", "Three factors."),
        (cases_of({n: "it differs" for n in "abcd"}, 1), "Three factors.", "special about"),
        (cases_of({"steep": NO_GRADIENT}, 8), ".detach()", "Three factors."),
        (cases_of({n: NO_GRADIENT for n in "abcd"}, 1), ".detach()", "Three factors."),
        (cases_of({"x": "it raised E in line 2: not implemented for 'Long'"}, 1), ".float()", ""),
        (cases_of({"x": f"{SECRET} no gradient at"}, 8, hidden=True), "about “x”", ".detach()"),
        (cases_of({"two": "it differs"}, 0), "Three factors.", "special about"),
    ],
)
def test_the_hint_fits_the_check_that_failed_and_is_said_once(
    classroom, cases, hint, not_there
) -> None:
    verdict = classroom.partial(right=("square",))
    square, cube = verdict.questions
    cube = replace(cube, cases=cases, points=1.5 if len(cases) > 1 else 0)
    classroom.hand_in("ada", replace(verdict, questions=[square, cube]))
    seen = read(page_of(classroom, "ada")).text
    assert seen.count(hint) == 1 and SECRET not in seen
    assert not not_there or not_there not in seen
    following = seen[seen.index("What to do next") : seen.index("Question by question")]
    assert hint not in following and f"{cases[0].says}" in following
    for said in (hint_of(cube), report_of(cube)):
        assert hint in said and SECRET not in said and (not not_there or not_there not in said)


def test_a_hint_about_somebody_elses_numbers_stays(classroom) -> None:
    cube = classroom.partial().questions[1]
    theirs = replace(
        cube, flags=["right with m = 1, not with their own m = 2"], hint="Write your id."
    )
    assert hint_of(replace(theirs, cases=cases_of({"a": ""}, 8))) == "Write your id."


@pytest.mark.parametrize(
    ("failing", "passing", "points", "said"),
    [
        ("ab", 9, 2.4, ["2 that fail cost 0.6 points together"]),
        ("a", 10, 2, ["one that fails costs 1 point"]),
        ("abc", 0, 0, []),
        ("a", 3, 0, []),  # what zeros pass too brings nothing
        ("", 11, 3, []),
    ],
)
def test_what_the_failing_checks_cost_is_said_once(
    classroom, failing, passing, points, said
) -> None:
    verdict = classroom.partial(right=("square",))
    square, cube = verdict.questions
    cases = cases_of(dict.fromkeys(failing, ""), passing)
    status = "OK" if not failing else "PARTIAL" if points else "FAIL"
    cube = replace(cube, cases=cases, points=points, status=status)
    classroom.hand_in("ada", replace(verdict, questions=[square, cube]))
    seen = read(page_of(classroom, "ada")).text
    assert re.findall(r"the (\w+ that fails? costs? [\d.]+ points?(?: together)?)", seen) == said
    assert " pt" not in seen


def test_timeout_of_one_question_is_told_there(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(status="TIMEOUT"))
    assert "ran out of time" in read(page_of(classroom, "ada")).text


def test_advice_fits_how_the_code_ended(classroom) -> None:
    verdict = classroom.partial()
    square, cube = verdict.questions
    endless = [replace(case, status="TIMEOUT", detail="") for case in cube.cases]
    first = replace(square.cases[0], status="TIMEOUT", detail="it took longer than 1 s")
    square = replace(
        square, points=0, status="TIMEOUT", misconception="", cases=[first, *square.cases[1:]]
    )
    cube = replace(
        cube, points=0, status="TIMEOUT", cases=endless, reason="The 3 seconds were used up."
    )
    classroom.hand_in("ada", replace(verdict, points=0, questions=[cube, square]))
    seen = read(page_of(classroom, "ada")).text
    assert seen.index("did not finish") < seen.index("no time left to run this answer")
    assert "(ran out of time). It took longer than 1 s" in seen
    assert "The 3 seconds were used up." in seen


def test_no_answer_is_called_that(classroom) -> None:
    verdict = classroom.partial(answers={"square": "", "cube": ""})
    blank = [
        replace(q, points=0, status="FAIL", reason="There is no answer here yet.",
                            misconception="")
        for q in verdict.questions
    ]  # fmt: skip
    classroom.hand_in("ada", replace(verdict, points=0, questions=blank))
    seen = read(page_of(classroom, "ada")).text
    assert seen.count("no answer") >= 2 and "checks pass" not in seen and "Your code" not in seen


def test_what_others_call_comes_first(classroom) -> None:
    about = classroom.folders.private / "square.md"
    about.write_text(about.read_text().replace("\n", "\nneeds: cube\n", 1))
    classroom.hand_in("ada", classroom.partial())
    seen = read(page_of(classroom, "ada")).text
    following = seen[seen.index("What to do next") : seen.index("Question by question")]
    assert following.index("Cubes") < following.index("Squares")
    assert "tried together with your cube, not yet right" in seen
    assert "We know this one, unless it comes from your cube." in seen
    verdict = classroom.partial()
    square, cube = verdict.questions
    own = replace(square, carried=["cube"])
    classroom.hand_in("ada", replace(verdict, questions=[own, cube]))
    assert "We know this one, and it is in square itself." in read(page_of(classroom, "ada")).text


def test_a_mistake_that_costs_its_own_question_only_is_said_to(classroom) -> None:
    verdict = classroom.partial()
    square, cube = verdict.questions
    right = replace(square, status="OK", carried=["cube"])
    classroom.hand_in("ada", replace(verdict, questions=[right, cube]))
    seen = read(page_of(classroom, "ada")).text
    said = "This calls your cube, not yet right, so it was run with ours instead"
    assert said in seen and "tried together with" not in seen


def test_what_zeros_would_pass_too_is_said_to_bring_nothing(classroom) -> None:
    verdict = classroom.partial()
    square, cube = verdict.questions
    cases = [replace(case, status="OK") for case in cube.cases[:1]]
    cube = replace(cube, points=0.0, status="FAIL", cases=[*cases, *cube.cases[1:]])
    classroom.hand_in("ada", replace(verdict, questions=[square, cube]))
    assert "would pass with zeros" in read(page_of(classroom, "ada")).text


def test_marks_and_comments_of_a_human_are_shown(classroom) -> None:
    classroom.hand_in("ada", classroom.partial(), comment="Well **put**.", manual=3.0)
    page = page_of(classroom, "ada")
    seen = read(page).text
    assert "6 of 9 points" in seen and "so far" not in seen
    assert "<strong>put</strong>" in page
    assert "read by a person" in seen


def test_late_penalty_is_explained(classroom) -> None:
    classroom.late(rate=0.5)
    classroom.hand_in("ada", classroom.partial(), manual=3.0, hours_late=5)
    seen = read(page_of(classroom, "ada")).text
    assert "6 points for your work, less 3 because it was late (5 hours)" in seen
    assert "3 of 9 points" in seen


def test_second_run_changes_nothing_and_leaves_nothing_behind(classroom) -> None:
    for who in ("ada", "bob", "李雷"):
        classroom.hand_in(who, classroom.partial())
    classroom.student("never", "Never", "Came")
    first = write_feedback(classroom.course, classroom.name)
    assert (first.pages, first.changed) == (4, 4)
    second = write_feedback(classroom.course, classroom.name)
    assert (second.pages, second.changed) == (4, 0)
    folder = classroom.folders.class_folder / "feedback"
    assert sorted(p.suffix for p in folder.rglob("*") if p.is_file()) == [".html"] * 4


def test_two_workers_write_the_same_pages(classroom) -> None:
    for position in range(60):
        classroom.hand_in(f"s{position:02}", classroom.partial())
    write_feedback(classroom.course, classroom.name)
    folder = classroom.folders.class_folder / "feedback"
    alone = {path: path.read_bytes() for path in folder.rglob("*.html")}
    for path in alone:
        path.unlink()
    done = write_feedback(classroom.course, classroom.name, workers=2)
    assert done.pages == done.changed == 60
    assert {path: path.read_bytes() for path in folder.rglob("*.html")} == alone


def test_one_page_that_cannot_be_written_costs_no_other(classroom) -> None:
    for who in ("ada", "bob", "cem"):
        classroom.hand_in(who, classroom.partial())
    blocked = classroom.folders.feedback("bob")
    blocked.parent.mkdir(parents=True)
    blocked.write_text("a file where the folder should be")
    done = write_feedback(classroom.course, classroom.name)
    assert done.pages == 2
    assert [who for who, _ in done.failed] == ["bob"]


def test_interrupt_leaves_whole_pages(classroom) -> None:
    class Interrupt(Progress):
        def advance(self, text: str) -> None:
            if text == "bob":
                raise KeyboardInterrupt

    for who in ("ada", "bob", "cem"):
        classroom.hand_in(who, classroom.partial())
    with pytest.raises(KeyboardInterrupt):
        write_feedback(classroom.course, classroom.name, progress=Interrupt())
    files = [p for p in classroom.folders.class_folder.joinpath("feedback").rglob("*.*")]
    assert files and all(p.read_text().endswith("</html>\n") for p in files if p.is_file())


class Killer(Progress):
    """Notes the processes below this one at the first page, and kills them, or this one."""

    def __init__(self, processes, note, whom: str) -> None:
        self.processes, self.note_in, self.whom = processes, note, whom

    def advance(self, text: str) -> None:
        if not self.note_in.exists():
            below = self.processes.below(os.getpid())
            self.note_in.write_text(" ".join(str(process.pid) for process in below))
            for process in below:
                process.send_signal(signal.SIGKILL if self.whom == "workers" else 0)
            if self.whom == "driver":
                os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("whom", ["workers", "driver"])
def test_killed_it_leaves_whole_pages_and_no_process(
    classroom, processes, tmp_path, monkeypatch, whom
) -> None:
    monkeypatch.setattr(feedback, "CHUNK", 1)
    for position in range(40):
        classroom.hand_in(f"s{position:02}", classroom.partial())
    note = tmp_path / "below"
    driver = os.fork()
    if driver == 0:
        code = 1
        try:
            killer = Killer(processes, note, whom)
            write_feedback(classroom.course, classroom.name, workers=2, progress=killer)
        except CourseError as error:
            code = 7 if "was killed, perhaps for lack of memory" in str(error) else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(driver, 0)
    assert os.waitstatus_to_exitcode(status) == (7 if whom == "workers" else -signal.SIGKILL)
    below = [int(pid) for pid in note.read_text().split()]
    assert len(below) >= 2
    processes.wait_for(lambda: not any(map(psutil.pid_exists, below)), "their end", seconds=20)
    written = [*classroom.folders.class_folder.joinpath("feedback").rglob("*.html")]
    assert written and all(path.read_text().endswith("</html>\n") for path in written)


def test_student_names_cannot_leave_the_folder(classroom) -> None:
    for name in ("../../evil", "..", "a/b", ""):
        with pytest.raises(CourseError, match="cannot be the name of a folder"):
            classroom.hand_in(name, classroom.partial(), gradebook=False)
    classroom.hand_in("ada", classroom.partial())
    (own,) = classroom.store.folder.glob("ada/*.json")
    forged = own.read_text().replace('"student":"ada"', '"student":"../../evil"')
    (own.parent / "other.json").write_text(forged)
    assert list(handed_in(classroom.folders)) == ["ada"]
    assert write_feedback(classroom.course, classroom.name).pages == 1
    assert not list(classroom.root.glob("evil*")) and not list(classroom.root.glob("*/evil*"))


def test_unknown_student_and_ungraded_class_get_a_sentence(classroom) -> None:
    with pytest.raises(CourseError, match="graded yet"):
        write_feedback(classroom.course, classroom.name)
    classroom.hand_in("ada", classroom.partial())
    with pytest.raises(CourseError, match=r"No student adda\. Did you mean ada\?"):
        write_feedback(classroom.course, classroom.name, students=["adda"])


def test_long_code_and_output_are_cut(classroom) -> None:
    outputs = [{"output_type": "stream", "name": "stdout", "text": "x\n" * 100_000}]
    verdict = classroom.partial(
        answers={"square": "y = 1\n" * 100_000}, outputs={"id-square": outputs * 50}
    )
    classroom.hand_in("ada", verdict)
    page = page_of(classroom, "ada")
    assert len(page) < 200_000 and "more characters" in page and "42 more outputs" in page


def test_links_lead_to_the_book(classroom) -> None:
    (classroom.root / "_config.yml").write_text(
        "repository:\n  url: https://github.com/some-body/some.course\n"
    )
    assert classroom.course.book_address == "https://some-body.github.io/some.course/book"


def test_policy_stands_before_anything_else(classroom) -> None:
    classroom.hand_in("ada", classroom.partial())
    page = page_of(classroom, "ada")
    policy = page.index("Content-Security-Policy")
    assert policy < page.index("<style") and policy < page.index("<title")
    assert "default-src 'none'" in page and "sandbox" in page
    assert os.path.getsize(classroom.folders.feedback("ada") / f"{classroom.name}.html") < 60_000


NBCONVERT = [*HOSTILE, "[a](\njavascript:alert(1))", "[a]: javascript:alert(1)\n\n[a]", "a ]( b",
             "[a](<javascript:alert(1)>)", "[a](&#106;avascript:alert(1))", "<javascript:alert(1)>",
             "$\\href{javascript:alert(1)}{x}$ and $a<b$ $$<script>1</script>$$",
             "```html\n<script>1</script>\n```", "\\<script>1</script>", "<\x00script>1</script>",
             "> [b]:\n>   javascript:alert(1)\n\n[b]", "![x](attachment:evil.svg)"]  # fmt: skip


@pytest.mark.parametrize("attack", NBCONVERT, ids=range(len(NBCONVERT)))
def test_markdown_that_nbgrader_renders_is_dead(attack: str) -> None:
    """formgrader renders Markdown with nbconvert, which lets HTML live."""
    from nbconvert.filters.markdown_mistune import markdown2html_mistune

    made = markdown2html_mistune(text.harmless_markdown(attack))
    live = read(made)
    live.found = [one for one in live.found if one not in ("<sup>", "<del>")]
    assert live.found == []
    assert "\\href" not in made


def test_ordinary_markdown_is_not_spoiled() -> None:
    source = "**a** < b, `x[0]`, [page](https://a.example/x), [top](#top)\n\n1. one\n2. $x^2$"
    assert text.harmless_markdown(source) == source
