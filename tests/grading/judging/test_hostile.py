"""What strangers hand in: each is graded between two good ones, which must not notice (HOSTILE.md).

`desk.grade` holds the invariants: nothing is left, no secret is told, the good ones stay the same.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import socket
from pathlib import Path

import bs4
import pytest
from helpers import marks

import coursekit
from coursekit.submission.resource_limits import Limits
from coursetools.course import Course
from coursetools.grading.records.folders import Folders
from coursetools.grading.records.verdict_files import Verdicts
from coursetools.grading.results.feedback import write_feedback
from coursetools.grading.running.grade_class import Options, grade_class

ROOT = Path(__file__).parents[3]
SPIN = "def square(x):\n    while True: pass"


def inside(body: str) -> str:
    """Return a `square` that does `body` and returns the right answer."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"def square(x):\n{lines}\n    return x * x"


# name -> source of the cell of `square`, its status, a word of the reason
EXHAUSTION = {
    "an endless function": (SPIN, "TIMEOUT", "longer than"),
    "an endless function that swallows": (
        "def square(x):\n  while True:\n    try:\n      while True: pass\n"
        "    except BaseException: pass",
        "TIMEOUT",
        "longer than",
    ),
    "an endless cell": ("while True: pass", "TIMEOUT", "longer than"),
    "a sleeping cell": ("import time; time.sleep(10**6)", "TIMEOUT", "longer than"),
    "a memory bomb": ("x = []\nwhile True: x.append(bytearray(1 << 20))", "MEM", "memory"),
    "a memory bomb when called": (
        "def square(x):\n    return torch.ones(1 << 33)",
        "MEM",
        "memory",
    ),
    "endless printing": ("while True: print('x' * 10**6)", "OUTPUT", "printed more"),
    "endless printing when called": (
        "def square(x):\n    while True: print('x' * 10**6)",
        "OUTPUT",
        "printed more",
    ),
    "a fork bomb": ("import os\nwhile True: os.fork()", "BLOCKED", "processes"),
    "threads": (
        "import threading, time\n"
        "for _ in range(100): threading.Thread(target=time.sleep, args=(9,)).start()",
        "BLOCKED",
        "processes or threads",
    ),
    "a large file": ("open('/tmp/f', 'wb').write(b'0' * (1 << 24))", "BLOCKED", "it wrote"),
    "a sparse file": (
        "f = open('f', 'wb'); f.truncate(1 << 40)",
        "BLOCKED",
        "file",
    ),
    "many files": (
        "for n in range(10**6): open(f'/tmp/{n}', 'w').close()",
        "BLOCKED",
        "files",
    ),
    "a segfault": ("import ctypes; ctypes.string_at(0)", "CRASH", "SIGSEGV"),
    "a segfault when called": (
        "def square(x):\n    import ctypes; ctypes.string_at(0)",
        "CRASH",
        "SIGSEGV",
    ),
    "os._exit": (inside("import os; os._exit(0)"), "CRASH", "exit code 0"),
    "abort": (inside("import os; os.abort()"), "CRASH", "ended"),
    "sys.exit": (inside("import sys; sys.exit(0)"), "FAIL", "exit()"),
    "SystemExit in the cell": ("raise SystemExit", "FAIL", "exit()"),
    "endless recursion": ("def square(x): return square(x)", "FAIL", "RecursionError"),
}


@pytest.mark.parametrize("name", EXHAUSTION)
def test_what_takes_too_much_costs_its_own_question_only(desk, tools, name, monkeypatch):
    source, status, word = EXHAUSTION[name]
    if status == "TIMEOUT":  # what never ends proves as much in half the time
        limits = dataclasses.replace(tools.LIMITS, cell_seconds=0.5, question_seconds=1.0)
        monkeypatch.setattr(desk.engine._server, "limits", limits)
    verdict = desk.grade(source)
    assert tools.statuses(verdict) == [status, "OK"], verdict.questions[0]
    assert (verdict.points, verdict.status) == (3, "PARTIAL")
    assert word in verdict.questions[0].reason


def test_many_small_memory_bombs_are_one_large_one(desk, tools, monkeypatch):
    limits = dataclasses.replace(tools.LIMITS, cell_seconds=7.0)
    monkeypatch.setattr(desk.engine._server, "limits", limits)
    bombs = (
        "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n"
        "        x = b'x' * (180 << 20)\n        time.sleep(9)\ntime.sleep(9)"
    )
    assert tools.statuses(desk.grade(bombs)) == ["MEM", "OK"]


def test_an_example_call_that_never_ends_does_not_lose_the_answer(desk, tools):
    verdict = desk.grade(f"{tools.GOOD}\nwhile True: pass")
    assert verdict.points == 5
    assert any("TIMEOUT" in flag for flag in verdict.flags)


def test_the_whole_notebook_has_an_end_too(desk, tools, monkeypatch):
    limits = dataclasses.replace(tools.LIMITS, notebook_seconds=0.5)
    monkeypatch.setattr(desk.engine._server, "limits", limits)

    def napping(times: int) -> bytes:
        data = json.loads(tools.submission())
        for number in range(times):
            nap = "import time\ntime.sleep(0.35)"  # two fit into the second that one may sleep
            data["cells"].insert(1, tools.cell(f"nap{number}", nap))
        return json.dumps(data).encode()

    few = desk.grade_bytes(napping(4))
    assert few.points == 5
    assert any("the 0.5 seconds for the notebook were used up" in flag for flag in few.flags)
    many = desk.grade_bytes(napping(16))
    assert (many.points, tools.statuses(many)) == (0, ["CRASH", "CRASH"])
    assert "too often" in many.questions[0].reason


# what a submission must not reach: each must raise, or not be there
ESCAPES = {
    "the course": "open({course!r}).read()",
    "a database of the course": "import sqlite3; sqlite3.connect({course!r} + '.db').execute('x')",
    "the logs": "import os; os.listdir('/var/log')",
    "keys": "import os; os.listdir({home!r} + '/.ssh')",
    "secrets of the system": "open('/etc/shadow')",
    "writing outside": "open('/usr/here', 'w')",
    "the tests of the grader": "open({tests!r}).read()",
    "the answers": "open({answers!r}).read()",
    "the folder of the answers": "import os; os.listdir(os.path.dirname({answers!r}))",
    "the answers as modules": (
        "import sys; found = [n for n in sys.modules if 'questions' in n]; assert found"
    ),
    "an import of the questions": "import coursetools.questions",
    "an import of what reads them": "from coursetools.questions import catalogue",
    "the questions": "open({questions!r}).read()",
    "what check should see": "open({compiled!r}, 'rb').read()",
    "an import of what check should see": "from coursekit.check import compiled",
    "the memory of another process": "open('/proc/1/../2/mem', 'rb')",
    "a port of this machine": "import socket; socket.create_connection(('127.0.0.1', {port}), 2)",
    "a raw socket": "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "an abstract socket": "import socket as s; s.socket(s.AF_UNIX).connect({abstract!r})",
    "tracing": "assert ctypes.CDLL(None, use_errno=True).ptrace(0, 0, 0, 0) == 0",
    "mounting": "assert ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0",
    "a new namespace": "assert ctypes.CDLL(None).unshare(0x10000000) == 0",
    "root": "import os; os.setuid(0); assert os.getuid() == 0",
    "the keyring": "assert ctypes.CDLL(None).syscall(250, 0, -3, 1) >= 0",
    "a killing of the parent": "import os, signal; assert os.getppid() == 0; os.kill({pid}, 9)",
    "shared memory": "assert ctypes.CDLL(None).shmget(1, 4096, 0o1666) >= 0",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_nothing_outside_can_be_reached(desk, tools, name, tmp_path):
    if os.geteuid() != 0 and name == "root":
        pytest.skip("only a grader that is root has a root to become")
    secret = tmp_path / "source.ipynb"
    secret.write_text(tools.SECRET)
    secret.chmod(0o644)
    abstract = f"\0coursekit-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, _listening(abstract):
        attempt = ESCAPES[name].format(
            course=str(secret),
            home=str(Path.home()),
            tests=__file__,
            answers=_there(Course(ROOT).private("a01_kernels") / "shares.py"),
            port=server.getsockname()[1],
            abstract=abstract,
            pid=os.getpid(),
            **_files(),
        )
        verdict = desk.grade(f"import ctypes\n{attempt}\n{tools.GOOD}")
        server.settimeout(0.01)
        with pytest.raises(TimeoutError):
            server.accept()
    assert tools.statuses(verdict)[1] == "OK"
    assert verdict.questions[0].points == 0, verdict.outputs
    assert verdict.questions[0].status in ("BLOCKED", "FAIL")
    assert secret.read_text() == tools.SECRET


def test_what_can_be_seen_from_inside(desk, tools):
    look = (
        "import os, sys\n"
        "print(sorted(os.environ))\n"
        "print([n for n in os.listdir('/proc') if n.isdigit()])\n"
        "print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:6])\n"
        "print(open('/proc/1/environ').read().count('='))\n"
        "print([n for n in sys.modules if 'coursekit' in n or 'question' in n])\n"
        "print(os.getgroups(), open('/proc/self/status').read().split('CapEff:')[1].split()[0])"
    )
    verdict = desk.grade(first=look)
    [printed] = desk.first(verdict)
    lines = printed["text"].splitlines()
    assert lines[0] == "['HOME', 'LANG', 'PATH']"
    assert lines[1] == "['1']"
    assert lines[2] == "[0, 1, 2, 3, 4]"  # 3 is the judge's, 4 the listing itself
    assert lines[3] == "3"
    assert lines[4] == "['coursekit.check']"  # which says nothing
    assert lines[5].endswith("0000000000000000")


def test_there_is_nothing_worth_finding_in_the_memory(desk, tools, monkeypatch):
    limits = dataclasses.replace(tools.LIMITS, cell_seconds=7.0)
    monkeypatch.setattr(desk.engine._server, "limits", limits)
    look = (
        "import gc, sys\ngc.unfreeze()\nwords = set()\n"
        "def take(o):\n"
        "    if type(o) is str: words.add(o)\n"
        "    if type(o) in (list, tuple): words.update(i for i in o if type(i) is str)\n"
        "for o in gc.get_objects():\n"
        "    if type(o) is dict: [take(v) for v in o.values()]\n"
        "    else: take(o)\n"
        "frame = sys._getframe()\n"
        "while frame: words.update(map(repr, frame.f_locals.values())); frame = frame.f_back\n"
        "text = ' '.join(words)\n"
        "print(len(words) > 1000, 'def ta' + 'ke' in text)\n"
        "split = ('is not to', 'the'), ('hidden', 'secret'), ('sev', 'en')\n"  # not seen here
        "print(' '.join(split[0]) in text, '-'.join(split[1]) in text, ''.join(split[2]) in words)"
    )
    light = "import sys\nf = sys._getframe()\nwhile f: repr(f.f_locals); f = f.f_back"
    verdict = desk.grade(inside(light), first=look)
    assert desk.first(verdict)[0]["text"].split() == ["True", "True", "False", "False", "False"]
    assert verdict.points == 5


NAP = f"317.{os.getpid()}"  # seconds; no other process has these in its command
LEFT = {
    "a daemon": f"import subprocess\nsubprocess.Popen(['sleep', '{NAP}'], start_new_session=True)",
    "a double fork": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n"
        "    if os.fork() == 0: time.sleep(317)\n    os._exit(0)"
    ),
    "a thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(317,)).start()",
    "an atexit handler": "import atexit, time\natexit.register(time.sleep, 317)",
    "a fork that answers as well": "import os\nos.fork()",
}


@pytest.mark.parametrize("name", LEFT)
def test_nothing_is_left_behind(desk, tools, name):
    verdict = desk.grade(first=LEFT[name])
    assert tools.statuses(verdict)[1] in ("OK", "CRASH", "TIMEOUT")
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            assert NAP.encode() not in status.read_bytes().split(b"\0")


# answers that are none, and what the questions are then worth
CHEATS = {
    "an object that equals everything": (
        "class E:\n    def __eq__(s, o): return True\n    def __bool__(s): return True\n"
        "    def item(s): return 49\n    def __getattr__(s, n): return s\n"
        "def square(x): return E()",
        "an object of type E, expected a Tensor",
    ),
    "a tensor that lies": (
        "class L(torch.Tensor):\n    @classmethod\n"
        "    def __torch_function__(c, f, t, a=(), k=None): return True\n"
        "def square(x): return torch.zeros(()).as_subclass(L)",
        "an object of type L, expected a Tensor",
    ),
    "a class that calls itself Tensor": (
        "class Tensor: pass\nTensor.__module__ = 'torch'\ndef square(x): return Tensor()",
        "an object of type Tensor, expected a Tensor",
    ),
    "patched comparisons": (
        "import math, builtins\ntorch.allclose = lambda *a, **k: True\n"
        "torch.testing.assert_close = lambda *a, **k: None\nmath.isclose = torch.allclose\n"
        "torch.equal = torch.allclose\nbuiltins.abs = lambda x: 0\n"
        "builtins.AssertionError = Exception\ndef square(x): return None",
        "is a return missing?",
    ),
    "IPython's hooks": (
        "ip = get_ipython()\nip.input_transformers_cleanup.append(lambda L: ['pass\\n'])\n"
        "def square(x): return 0",
        "IPython's shell is not there",
    ),
    "the grader's flag": (
        "import os\ndef square(x):\n"
        "    return x * x if 'NBGRADER_EXECUTION' in os.environ else None",
        "is a return missing?",
    ),
    "an answer of the wrong type": ("def square(x): return (x * x).tolist()", "expected a Tensor"),
    "an error with the inputs": (
        "def square(x): raise ValueError(str(x))",
        "ValueError in line 1",
    ),
    "a name of Python's own": ("def square(x): return __class__", "NameError"),
    "a module with a method called like a probe": (
        "class square(torch.nn.Module):\n    def __init__(s, x): super().__init__()\n"
        "    def _gradients(s, *a): return 1",
        "an object of type square",
    ),
}


@pytest.mark.parametrize("name", CHEATS)
def test_no_marks_for_an_answer_that_is_none(desk, tools, name):
    source, word = CHEATS[name]
    verdict = desk.grade(source)
    assert tools.statuses(verdict) == ["FAIL", "OK"]
    assert verdict.points == 3
    assert word in verdict.questions[0].reason


def test_tags_and_edited_tests_change_nothing(desk, tools):
    verdict = desk.grade("def square(x): return 0", tags=["skip-execution"], test="pass")
    assert verdict.points == 3
    assert "TAMPERED" in " ".join(verdict.flags)


# what writes to the judge's socket, or makes the runner write nonsense
FORGERIES = {
    "noise on the channel": "import os\nos.write(3, b'x' * 4096)",
    "a giant header": "import os\nos.write(3, b'\\xff' * 12)",
    "pickle": "import os, pickle\nos.write(3, pickle.dumps(os.system))",
    "deep JSON": (
        "import os, struct\nb = b'[' * 100000\nos.write(3, struct.pack('!IQ', len(b), 0) + b)"
    ),
    "an answer nobody asked for": (
        "import os, struct, json\n"
        "b = json.dumps({'sequence': 5, 'token': '', 'value': 49.0, 'sizes': []}).encode()\n"
        "os.write(3, struct.pack('!IQ', len(b), 0) + b)"
    ),
    "a closed channel": "import os\nos.close(3)",
    "a flood of answers": (
        "import os, struct, json\n"
        "b = json.dumps({'sequence': 5, 'token': '', 'sizes': []}).encode()\n"
        "for _ in range(5000): os.write(3, struct.pack('!IQ', len(b), 0) + b)"
    ),
    "a patched json": "import json\njson.dumps = lambda *a, **k: '{}'",
    "a shape that is none": (
        "import json\nd = json.dumps\n"
        "json.dumps = lambda m, **k: d(m).replace('\"shape\": []', '\"shape\": [-1]')"
    ),
    "a shape that is too large": (
        "import json\nd = json.dumps\n"
        "json.dumps = lambda m, **k: d(m).replace('\"shape\": []', '\"shape\": [1099511627776]')"
    ),
    "an object's number that is text": (
        "import json\nd = json.dumps\n"
        'json.dumps = lambda m, **k: d(m).replace(\'"tensor": 0\', \'"object": "0"\')'
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_answer_is_no_answer(desk, tools, name):
    verdict = desk.grade(inside(FORGERIES[name]).replace("return x * x", "return 0"))
    assert verdict.questions[0].points == 0
    assert verdict.questions[0].status in ("FAIL", "CRASH", "TIMEOUT")
    assert tools.statuses(verdict)[1] in ("OK", "PARTIAL", "FAIL", "CRASH")


def test_prints_during_hidden_cases_are_kept_by_nobody(desk, tools):
    spy = (
        "import sys\ndef square(x):\n    print('seen', x)\n    sys.stderr.write(f'seen {x}')\n"
        "    open('/tmp/seen', 'a').write(str(x))\n    return x * x\n"
    )
    peek = "import os\nprint(os.path.exists('/tmp/seen'))"
    crash = "import os\ndef cube(x):\n    os._exit(1)"
    verdict = desk.grade(spy, crash, first=peek)
    assert "('seen" not in str(verdict.outputs)
    assert "seen tensor" not in str(verdict.outputs)
    assert desk.first(verdict)[0]["text"] == "False\n"
    told = (
        "def square(x):\n    if x.numel() == 1 and x.item() == 7: raise ValueError('x=7 seen')\n"
        "    return x * x"
    )
    verdict = desk.grade(told)
    assert verdict.questions[0].status == "PARTIAL"
    assert "seven" in verdict.questions[0].reason
    assert "seen" not in str(desk.for_students(verdict)["questions"][0]["reason"])


def test_what_a_hidden_case_has_shown_is_not_told_by_another_question(desk):
    """The grader looks at all visible cases first: later words of the process reach no student."""
    verdict = desk.grade(
        "seen = []\ndef square(x):\n    seen.append(x.tolist())\n    return x * x",
        "def cube(x): raise ValueError(f'told {seen}')",
    )
    assert "told" in verdict.questions[1].reason
    assert "7" not in verdict.questions[1].reason


def test_strange_text_is_made_fit_for_files(desk, tools):
    verdict = desk.grade(
        first="import os\nprint('\\x1b[31mred\\x00')\nos.write(1, b'\\xff\\xfe ok\\n')\n"
        "'\\ud800 half'"
    )
    text = json.dumps(desk.first(verdict), ensure_ascii=False)
    text.encode("utf-8")
    assert "red" in text
    assert "ok" in text
    assert "\x1b" not in text
    assert "\\u0000" not in json.dumps(verdict.outputs)


def test_only_safe_outputs_come_out(desk, tools):
    html = (
        "class H:\n    def _repr_html_(s): return '<script>window.PWNED=1</script>'\n"
        "    def __repr__(s): return '<script>1</script>'\n"
        "from IPython.display import display, HTML, Javascript\n"
        "display(HTML('<script>1</script>'))\ndisplay(H())\nH()"
    )
    verdict = desk.grade(first=html)
    for output in desk.first(verdict):
        assert output["output_type"] in ("stream", "execute_result", "error")
        assert set(output.get("data", {})) <= {"text/plain"}


def test_a_forged_figure_is_no_figure(desk, tools):
    fake = (
        "import matplotlib.pyplot as plt\nfigure = plt.figure()\n"
        "figure.savefig = lambda f, **k: f.write(b'<svg onload=alert(1)>')\n"
    )
    verdict = desk.grade(first=fake)
    assert "svg" not in str(verdict.outputs)


def broken_files(tools) -> dict[str, tuple[bytes, str, float]]:
    """Return name -> a file, its verdict and its points: what real classes hand in (HOSTILE.md)."""
    good = json.loads(tools.submission())
    plain = json.loads(tools.submission())
    for cell in plain["cells"]:
        cell["metadata"] = {}
    twice = json.loads(tools.submission())
    twice["cells"] += [dict(cell, id=f"{cell['id']}-copy") for cell in twice["cells"]]
    untested = [cell for cell in good["cells"] if not cell["id"].startswith("test_")]
    stub = "def {}(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    page = b"<!DOCTYPE html><title>Google Drive</title><script>PWNED()</script>"
    return {
        "no JSON": (b"hello this is not json", "MALFORMED", 0),
        "nothing": (b"", "MALFORMED", 0),
        "a web page": (page, "MALFORMED", 0),
        "half a notebook": (tools.submission()[:900], "MALFORMED", 0),
        "no metadata": (json.dumps(plain).encode(), "OK", 5),
        "every cell twice": (json.dumps(twice).encode(), "OK", 5),
        "tests deleted": (json.dumps(good | {"cells": untested}).encode(), "OK", 5),
        "no answers": (tools.submission(None, None), "MALFORMED", 0),
        "nothing written": (tools.submission(*map(stub.format, ("square", "cube"))), "FAIL", 0),
        "a syntax error": (tools.submission("def square(x:"), "PARTIAL", 3),
        "a script": (
            tools.submission(first="from IPython.display import HTML\nHTML('<script>PWNED()')"),
            "OK",
            5,
        ),
    }


@pytest.mark.parametrize("workers", [1, 4])
def test_a_class_of_them_is_graded_to_the_last_row(tools, tmp_path, workers, quick_gradebook):
    """All of them in one class, a good one behind each, through `coursekit grade` and feedback.

    Several workers get them all, one worker gets one of each kind: what differs between the two
    is who is asked next and what is left to him, and not which cell it was.
    """
    limits = tools.LIMITS
    root, submitted = _course(tools, tmp_path, limits)
    wanted = {}  # student -> the verdicts that may be, the fewest and the most points
    kinds = set()

    def hand_in(
        kind: str, name: str, data: bytes, verdicts: set[str], least: float, most: float
    ) -> None:
        if workers == 1 and kind in kinds:
            return
        kinds.add(kind)
        for student, what in (
            (f"s{len(wanted):03}-{name.replace(' ', '-')}", data),
            (f"s{len(wanted):03}-then-a-good-one", tools.submission()),
        ):
            path = submitted / student / "powers" / "powers.ipynb"
            path.parent.mkdir(parents=True)
            path.write_bytes(what)
            wanted[student] = ({"OK"}, 5, 5) if what is not data else (verdicts, least, most)

    for name, (data, status, points) in broken_files(tools).items():
        hand_in(f"broken, {status}", name, data, {status}, points, points)
    for name, (source, status, _) in EXHAUSTION.items():
        hand_in(f"exhaustion, {status}", name, tools.submission(source), {"PARTIAL"}, 3, 3)
    for name, source in ESCAPES.items():
        source = source.format(
            course=_there(root / "solutions" / "powers" / "square.py"),
            home=str(Path.home()),
            tests=__file__,
            answers=_there(root / "solutions" / "powers" / "cube.py"),
            port=9,
            abstract="\0nobody",
            pid=os.getpid(),
            **_files(),
        )
        source = f"import ctypes\n{source}\n{tools.GOOD}"
        hand_in("escape", name, tools.submission(source), {"PARTIAL"}, 3, 3)
    for name, first in LEFT.items():
        may = {"OK", "PARTIAL", "FAIL", "TIMEOUT"}
        hand_in("left behind", name, tools.submission(first=first), may, 0, 5)
    for name, (source, _) in CHEATS.items():
        hand_in("cheat", name, tools.submission(source), {"PARTIAL"}, 3, 3)
    for name, forgery in FORGERIES.items():
        source = inside(forgery).replace("return x * x", "return 0")
        may = {"PARTIAL", "FAIL", "CRASH", "TIMEOUT"}
        hand_in("forgery", name, tools.submission(source), may, 0, 3)
    everything = (EXHAUSTION, ESCAPES, LEFT, CHEATS, FORGERIES, broken_files(tools))
    assert len(kinds) == 14
    assert len(wanted) == 2 * (len(kinds) if workers == 1 else sum(map(len, everything)))

    before = _hashes(root / "autograder" / "submitted", root / "solutions")
    standing, folders = tools.descendants(os.getpid()), tools.scratch()  # those of other tests
    options = Options(workers=workers)
    summary = grade_class(Course(root), "powers", options)
    assert _hashes(root / "autograder" / "submitted", root / "solutions") == before
    assert summary.exit_code == 0
    assert tools.descendants(os.getpid()) == standing
    assert tools.gone(folders)
    store = Verdicts(Folders(Course(root), "powers").verdicts)
    places = {student: place for (student, _), place in store.index().items()}
    good = None
    for student, (verdicts, least, most) in wanted.items():
        verdict = store.read(places[student]).verdict
        assert verdict.status in verdicts, (student, verdict)
        assert least <= verdict.points <= most, (student, verdict)
        assert verdict.reason and 0 < verdict.seconds <= limits.longest
        if student.endswith("a-good-one"):
            seen = tools.seen(verdict)
            good = good or seen
            assert seen == good, student
    rows = marks(root, "auto_score")
    assert {student for student, *_ in rows} == set(wanted)
    assert len(rows) == 2 * len(wanted)
    again = grade_class(Course(root), "powers", options)
    assert (again.graded, again.unchanged) == (0, len(wanted))
    assert marks(root, "auto_score") == rows

    write_feedback(Course(root), "powers")
    pages = sorted((root / "autograder" / "feedback").rglob("*.html"))
    assert len(pages) == len(wanted)
    for path in [*pages, *(root / "autograder" / "autograded").rglob("*.ipynb")]:
        assert tools.SECRET not in path.read_text(encoding="utf-8"), path
    for path in pages:
        page = bs4.BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        assert not page.find_all(["script", "iframe", "object", "embed"]), path
        for tag in page.find_all(True):
            assert not [name for name in tag.attrs if name.startswith("on")], path
            assert not str(tag.get("href", "")).lower().startswith("javascript"), path


def _course(tools, folder: Path, limits: Limits) -> tuple[Path, Path]:
    """Make a course with the assignment `powers`; return it and the folder for what comes in."""
    root = folder / "course"
    source, private = Course(root).source("powers"), Course(root).private("powers")
    for made in (source, private):
        made.mkdir(parents=True)
    (root / "notebooks").mkdir()
    (root / "_config.yml").write_text("title: A small course\n")
    (source / "powers.ipynb").write_text(tools.titled(tools.MASTER).notebook)
    for name, text in tools.FILES:
        (private / name).write_text(text)
    fields = "\n".join(f"{name} = {value}" for name, value in dataclasses.asdict(limits).items())
    (private / "assignment.toml").write_text(f"[limits]\n{fields}\n")
    return root, root / "autograder" / "submitted"


def _hashes(*folders: Path) -> dict[Path, str]:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _files() -> dict[str, str]:
    """Return files of ours that tell of questions."""
    package = Path(coursekit.__file__).parent
    compiled = package / "check" / "compiled" / "a01_kernels.zip"
    return {
        "questions": _there(package.parent / "coursetools" / "questions" / "question.py"),
        "compiled": _there(compiled),
    }


def _there(path: Path) -> str:
    """Return the name of a file that is there to be read, but for the sandbox."""
    assert path.is_file(), path
    return str(path)


@contextlib.contextmanager
def _listening(name: str):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        yield
