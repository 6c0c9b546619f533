"""A JupyterHub with its proxy, walked by two students and their instructor.

It is started from the settings that the course gives away, with what only a test needs put behind
them: free ports on loopback, passwords that nobody asks for, one account for all. Nobody opens a
browser, but everybody does what a browser does.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import bs4
import pytest

from coursetools.course import Course
from coursetools.questions.leaks import leaks, private_lines

if sys.platform == "win32":
    pytest.skip("nbgrader has no exchange on Windows", allow_module_level=True)
HUB = ("jupyterhub", "configurable_http_proxy", "nbgrader", "requests", "websocket")
if missing := [name for name in HUB if find_spec(name) is None]:
    reason = f"without {', '.join(missing)} no hub runs; pip install -e '.[hub,grade]'"
    pytest.skip(reason, allow_module_level=True)
requests, websocket = import_module("requests"), import_module("websocket")

ROOT = Path(__file__).resolve().parents[2]
COURSE, NAME = "attention", "a01_kernels"
NOTEBOOK = f"{NAME}/{NAME}.ipynb"
INSTRUCTOR = getpass.getuser()
WRONG = "def shares(scores):\n    return scores / scores.sum(dim=-1, keepdim=True)"
FOR_A_TEST = """
load_subconfig({settings!r})
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy}"
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r}
c.Spawner.args = ["--allow-root"]
c.Spawner.environment["JUPYTER_CONFIG_PATH"] = {students!r}
"""


class Visitor:
    """Somebody at a hub, with the cookies of one browser."""

    def __init__(self, hub: str, name: str) -> None:
        self.hub, self.name = hub, name
        self.web = requests.Session()
        self.web.trust_env = False  # no proxy of the machine's on the way to its own port
        page = self.web.get(f"{hub}/hub/login", timeout=60)
        page.raise_for_status()
        words = {"username": name, "password": "-", "_xsrf": self.cookies("/hub/")["_xsrf"]}
        answer = self.web.post(f"{hub}/hub/login", data=words, timeout=60, allow_redirects=False)
        assert answer.status_code == 302, answer.text
        self.web.get(f"{hub}/hub/spawn", timeout=60)

    def cookies(self, path: str) -> dict[str, str]:
        """Return those of one part of the hub; each has its own `_xsrf`."""
        return {cookie.name: cookie.value for cookie in self.web.cookies if cookie.path == path}

    @property
    def home(self) -> str:
        """The path of their own server."""
        return f"/user/{self.name}/"

    def arrive(self, seconds: float = 300) -> None:
        """Wait until their server is up, and let the hub give them its cookies."""
        last = time.monotonic() + seconds
        while self.web.get(f"{self.hub}{self.home}api/status", timeout=60).status_code != 200:
            assert time.monotonic() < last, f"{self.name}'s server did not start"
            self.web.get(f"{self.hub}{self.home}lab", timeout=60)
            time.sleep(1)

    def ask(self, method: str, path: str, **what: Any) -> requests.Response:
        """Send a request to a server, by default their own."""
        path = path if path.startswith("/") else f"{self.home}{path}"
        headers = {"X-XSRFToken": self.cookies(self.home).get("_xsrf", "")}
        return self.web.request(method, f"{self.hub}{path}", headers=headers, timeout=120, **what)

    def get(self, path: str, **what: Any) -> Any:
        """Return the JSON that a path of their server answers with."""
        answer = self.ask("GET", path, **what)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def read(self, path: str) -> Any:
        """Return the content of a file, by the contents API."""
        return self.get(f"api/contents/{quote(path)}?content=1")["content"]

    def write(self, path: str, notebook: dict) -> None:
        """Save a notebook, by the contents API."""
        what = {"type": "notebook", "format": "json", "content": notebook}
        answer = self.ask("PUT", f"api/contents/{quote(path)}", json=what)
        assert answer.status_code == 200, answer.text

    def press(self, action: str) -> list[dict]:
        """Press a button of the assignment list: fetch, submit or fetch_feedback."""
        words = {"course_id": COURSE, "assignment_id": NAME}
        answer = self.ask("POST", f"assignments/{action}", data=words)
        assert answer.status_code == 200, answer.text
        assert answer.json()["success"], answer.text
        return answer.json()["value"]

    def run(self, code: str, seconds: float = 120) -> str:
        """Run code in a kernel of their server; return what it printed, or how it failed."""
        kernel = self.ask("POST", "api/kernels", json={"name": "python3"}).json()["id"]
        place = f"{self.hub.replace('http', 'ws', 1)}{self.home}api/kernels/{kernel}/channels"
        cookies = "; ".join(f"{k}={v}" for k, v in self.cookies(self.home).items())
        channel = websocket.create_connection(place, cookie=cookies, timeout=seconds)
        header = {"msg_id": uuid4().hex, "msg_type": "execute_request", "username": self.name,
                  "session": uuid4().hex, "version": "5.3"}  # fmt: skip
        message = {"channel": "shell", "header": header, "parent_header": {}, "metadata": {},
                   "content": {"code": code, "silent": False}}  # fmt: skip
        channel.send(json.dumps(message))
        printed = []
        while True:
            reply = json.loads(channel.recv())
            if reply["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            content = reply["content"]
            if reply["msg_type"] == "stream":
                printed.append(content["text"])
            elif reply["msg_type"] in ("execute_result", "display_data"):
                printed.append(content["data"]["text/plain"])
            elif reply["msg_type"] == "error":
                printed.append(f"{content['ename']}: {content['evalue']}")
            elif reply["msg_type"] == "status" and content["execution_state"] == "idle":
                break
        channel.close()
        self.ask("DELETE", f"api/kernels/{kernel}")
        return "".join(printed)


def free_ports(number: int) -> list[int]:
    """Return ports of loopback that nobody has, at this moment."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def told(page: str, word: str) -> str:
    """Return the block of Python on a page of the book that has this word in it."""
    text = (ROOT / "book" / page).read_text(encoding="utf-8")
    (block,) = (b for b in re.findall(r"```python\n(.+?)```", text, re.DOTALL) if word in b)
    return block


def small_course(root: Path, exchange: Path, copied) -> Course:
    """Make a course with one assignment, an exchange, and the settings that ours has."""
    (root / "notebooks").mkdir(parents=True)
    (root / "_config.yml").write_text("title: A small course\n")
    copied(NAME, root)
    (root / "autograder").mkdir()
    for name in ("jupyterhub_config.py", "nbgrader_config.py"):
        shutil.copy(ROOT / "autograder" / name, root / "autograder")
    exchange.mkdir()
    exchange.chmod(0o1777)
    with (root / "autograder" / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.Exchange.root = {str(exchange)!r}\n")
        file.write("c.ExchangeCollect.check_owner = False\n")  # as there is one account
    return Course(root)


class Hub:
    """A hub that runs, and what lies around it."""

    def __init__(self, folder: Path, copied) -> None:
        self.folder, self.exchange = folder, folder / "exchange"
        self.course = small_course(folder / "course", self.exchange, copied)
        self.address = ""
        path = [str(Path(sys.executable).parent), os.environ["PATH"]]
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.upper().startswith("JUPYTER")},
            "PATH": os.pathsep.join(path),
            "PYTHONPATH": str(ROOT / "src"),
            "HOME": str(folder),
        }

    def settings(self) -> Path:
        """Write the settings: the course's own, and behind them what a test needs."""
        students = self.folder / "students"
        students.mkdir()
        own = f"{told('grading.md', 'JUPYTERHUB_USER')}\nc.Exchange.root = {str(self.exchange)!r}\n"
        (students / "nbgrader_config.py").write_text(own)
        port, hub, proxy = free_ports(3)
        self.address = f"http://127.0.0.1:{port}"
        text = FOR_A_TEST.format(
            settings=str(self.course / "autograder" / "jupyterhub_config.py"),
            port=port,
            hub=hub,
            proxy=proxy,
            homes=f"{self.folder}/home/{{username}}",
            students=str(students),
        )
        path = self.folder / "jupyterhub_config.py"
        path.write_text(text)
        return path

    def coursekit(self, *words: str) -> str:
        """Run a command of the instructor's, and return what it says."""
        run = subprocess.run(
            [sys.executable, "-m", "coursetools.cli", *words], cwd=self.course.root,
            env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout + run.stderr


@pytest.fixture(scope="module")
def hub(tmp_path_factory, copied, processes) -> Iterator[Hub]:
    hub = Hub(tmp_path_factory.mktemp("hub"), copied)
    command = [sys.executable, "-m", "jupyterhub", "-f", str(hub.settings())]
    with (hub.folder / "log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=hub.folder, env=hub.environment, stdout=log, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    try:

        def answers() -> bool:
            if server.poll() is not None:
                return True
            try:
                return requests.get(f"{hub.address}/hub/api/", timeout=60).ok
            except requests.ConnectionError:
                return False

        processes.wait_for(answers, "the start of the hub")
        assert server.poll() is None, (hub.folder / "log").read_text()[-3000:]
        yield hub
    finally:
        started = processes.below(server.pid)  # everybody's servers and kernels, the proxy
        server.kill()  # first, since it starts a new proxy when the old one ends
        server.wait()
        processes.end(started)
        processes.wait_for(lambda: not processes.living(started), "the end of the hub", 60)


def model_answers() -> dict[str, str]:
    """Return the sources of the cells that are to be solved, as the solutions have them."""
    notebook = json.loads((Course(ROOT).source(NAME) / f"{NAME}.ipynb").read_text("utf-8"))
    sources = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    return {
        name: re.sub(r" *### (BEGIN|END) SOLUTION\n?", "", source)
        for name, source in sources.items()
        if "BEGIN SOLUTION" in source
    }


@pytest.fixture(scope="module")
def walk(hub) -> SimpleNamespace:
    """Go all the way: release, fetch, solve, submit, collect, grade, hand back."""
    answers = {"ada": model_answers()}
    answers["ben"] = {**answers["ada"], "shares": WRONG}
    everybody = ada, ben, instructor = [Visitor(hub.address, who) for who in (*answers, INSTRUCTOR)]
    hub.coursekit("assignment", "release", NAME)  # while their servers start
    for one in everybody:
        one.arrive()
    said = instructor.run(f"!nbgrader release_assignment {NAME}")  # as in a terminal there
    assert "Released as" in said, said
    for one in (ada, ben):
        one.press("fetch")
        notebook = one.read(NOTEBOOK)
        for cell in notebook["cells"]:
            cell["source"] = answers[one.name].get(cell["id"], cell["source"])
        one.write(NOTEBOOK, notebook)
    looked = ada.run(
        f"from coursekit.check import check\n{answers['ada']['shares']}\ncheck(shares)"
    )
    for one in (ada, ben):
        one.press("submit")
    roster = hub.folder / "class.csv"
    roster.write_text("id,name\nada,Ada L.\nben,Ben K.\ncy,Cy Q.\n")
    collected = hub.coursekit("collect", NAME, "exchange", str(roster))
    hub.coursekit("grade", NAME)
    feedback = hub.coursekit("return", NAME, "--to", "exchange")
    submissions = {one.name: one.press("fetch_feedback") for one in (ada, ben)}
    return SimpleNamespace(
        ada=ada, ben=ben, instructor=instructor, answers=answers, looked=looked,
        collected=collected, feedback=feedback, submissions=submissions,
    )  # fmt: skip


def test_what_the_instructor_is_told(walk):
    assert f"{NAME}: 2 new, 0 known already, 0 refused, 0 set aside" in walk.collected
    assert "nothing submitted: 1 (cy)" in walk.collected
    assert "is unknown" not in walk.collected  # the exchange knows when
    assert "2 students can fetch their feedback" in walk.feedback
    assert "not submitted through the exchange" not in walk.feedback  # cy has nothing there


def test_a_students_kernel_checks_an_answer(walk):
    assert re.search(r"shares: all \d+ cases pass", walk.looked), walk.looked


def test_students_read_their_points(walk):
    for student, points in ((walk.ada, 19), (walk.ben, 16)):
        (entry,) = (one for one in walk.submissions[student.name] if one["status"] == "submitted")
        assert entry["student_id"] == student.name
        (handed_in,) = entry["submissions"]
        assert handed_in["has_exchange_feedback"] and handed_in["has_local_feedback"]
        page = student.read(f"{handed_in['local_feedback_path']}/{NAME}.html")
        text = bs4.BeautifulSoup(page, "html.parser").get_text(" ", strip=True)
        assert f"{points} of 22 points" in text
        assert ("exp makes them positive first" in text) == (student is walk.ben)


def test_nobody_sees_anothers(walk, hub):
    whole = f"/user/ada/api/contents/{NOTEBOOK}"
    assert walk.ada.ask("GET", whole).status_code == 200
    for path in (whole, f"/user/ada/files/{NOTEBOOK}", "/user/ada/lab", "/user/ada/assignments"):
        assert walk.ben.ask("GET", path).status_code == 403, path
        assert requests.get(hub.address + path, allow_redirects=False, timeout=60).status_code in (
            302, 403,
        ), path  # fmt: skip
    copy = walk.ben.ask("POST", "api/contents", json={"copy_from": f"../ada/{NOTEBOOK}"})
    assert copy.status_code in (400, 403, 404), copy.text
    own = walk.ben.ask("POST", "api/contents", json={"copy_from": NOTEBOOK})
    assert own.status_code == 201, own.text  # what is refused is not copying
    assert walk.ben.ask("GET", "/hub/api/users/ada").status_code in (403, 404)
    assert walk.ben.get("formgrader/api/assignments") == []


def test_what_accounts_of_their_own_keep_apart(walk, hub):
    """Here all is one account's. With several, modes and names that nobody guesses hold."""
    course = hub.exchange / COURSE

    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode) & 0o777

    assert mode(course / "inbound") == 0o733  # to be entered, written in, and not listed
    assert mode(course / "feedback") == 0o711
    assert all(re.fullmatch("[0-9a-f]{32}", p.stem) for p in (course / "feedback").iterdir())
    names = [path.name.split("+") for path in (course / "inbound").iterdir()]
    assert sorted(name[0] for name in names) == ["ada", "ben"]
    assert all(len(name[3]) >= 12 for name in names)  # random


def test_nothing_private_reaches_a_student(walk, hub):
    answers, words, hidden = private_lines(hub.course)
    own = {name: "\n".join(walk.answers[name].values()) for name in walk.answers}
    for place, wrote in (
        (hub.folder / "home" / "ada", own["ada"]),
        (hub.folder / "home" / "ben", own["ben"]),
        (hub.exchange / COURSE / "outbound", ""),
        (hub.exchange / COURSE / "feedback", own["ada"]),
    ):
        private = {line for line in answers | words | hidden if line not in wrote}
        assert private > hidden | words
        read = 0
        for path in (*place.rglob("*.ipynb"), *place.rglob("*.html")):
            text = path.read_text(encoding="utf-8").replace('\\"', '"')
            text += bs4.BeautifulSoup(text, "html.parser").get_text()
            assert not [line for line in private if line in text], path
            read += 1
        assert read
    assert leaks(hub.course, hub.exchange / COURSE / "outbound") == []
    assert not list((hub.folder / "home").rglob("*.py"))


def test_the_instructors_server_has_the_course(walk, hub):
    (assignment,) = walk.instructor.get("formgrader/api/assignments")
    assert (assignment["name"], assignment["num_submissions"]) == (NAME, 2)
    assert walk.instructor.ask("GET", f"api/contents/solutions/{NAME}").status_code == 200
    assert "not recognized" not in (hub.folder / "log").read_text()  # of the settings
