"""Live figures as widgets: in a real kernel, and in JupyterLab with a hand on them.

That needs `anywidget`, which the course does without: with it a notebook keeps a widget where the
book wants HTML. `pip install --no-deps --target FOLDER anywidget psygnal` and FOLDER in PYTHONPATH
are enough.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import nbformat
import pytest
import torch
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from coursekit.figures.live.packed_models import tokenizer_of
from coursekit.figures.live.soft_lookup import QUERY, soft_lookup
from coursekit.figures.live.writer import writer
from coursekit.training.records import trained, weights_file
from coursetools.notebooks.kernel import ThisInterpreter

if missing := [name for name in ("anywidget", "jupyterlab") if find_spec(name) is None]:
    reason = (
        f"without {', '.join(missing)} no widget is shown; the first lines of this file say how"
    )
    pytest.skip(reason, allow_module_level=True)

ROOT = Path(__file__).parents[2]
TOKEN = "a-test"
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
MOVED = [0.2, 3.8]
CELLS = (
    "from coursekit.figures import soft_lookup, writer\nlooked = soft_lookup().widget()\nlooked",
    "written = writer().widget()\nwritten",
    "writer()",
    f'print("now:", looked.query, written.prompt, written.tokens)\nlooked.query = {MOVED}',
)
SETTINGS = (
    "--ServerApp.ip=127.0.0.1", "--ServerApp.port_retries=0", "--ServerApp.open_browser=False",
    f"--IdentityProvider.token={TOKEN}", "--ServerApp.allow_root=True",
    "--LabApp.extension_manager=readonly",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)  # fmt: skip


def notebook() -> nbformat.NotebookNode:
    python = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = new_notebook(cells=[new_code_cell(source) for source in CELLS])
    return nbformat.from_dict({**made, "metadata": {"kernelspec": python}})


def _front_end() -> str:
    """Return where JupyterLab finds what anywidget gives it, also beside an installed Python."""
    beside = Path(find_spec("anywidget").origin).parents[1] / "share" / "jupyter"
    return str(beside) if beside.is_dir() else ""


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    """What a process is told, whose home is a folder of this test."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER")}
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {
        **own,
        "HOME": str(tmp_path),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "JUPYTER_PATH": _front_end(),
        "JUPYTER_NO_CONFIG": "1",  # no other extension of the server
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }


def test_a_kernel_has_the_view_the_module_and_the_weights(environment):
    executed = notebook()
    manager = AsyncKernelManager(kernel_spec_manager=ThisInterpreter())
    NotebookClient(executed, timeout=300, km=manager).execute(env=environment, cleanup_kc=True)
    states = executed["metadata"]["widgets"][STATE]["state"]
    found = []
    for cell in executed["cells"][:3]:
        (shown,) = cell["outputs"]
        found.append(states[shown["data"][VIEW]["model_id"]])
    for one, figure in zip(found, (soft_lookup(), writer(), writer()), strict=True):
        assert one["model_module"] == "anywidget"
        assert one["state"]["_esm"] == figure.module
        asked = {"query": MOVED} if figure.name == "soft_lookup" else {}  # by the last cell
        assert {name: one["state"][name] for name in figure.state} == {**figure.state, **asked}
    assert "buffers" not in found[0]  # it has no weights
    for one in found[1:]:
        weights = next(b for b in one["buffers"] if b["path"] == ["weights"])
        assert b64decode(weights["data"]) == weights_file("writer")
    assert executed["cells"][2]["outputs"][0]["data"]["text/html"] == writer().still


@pytest.fixture
def lab(tmp_path, environment, processes) -> Iterator[str]:
    """The address of the notebook in a JupyterLab of its own."""
    folder = tmp_path / "work"
    folder.mkdir()
    nbformat.write(notebook(), folder / "live.ipynb")
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", *SETTINGS, f"--ServerApp.port={port}"]
    log = tmp_path / "log"
    with log.open("w") as file:
        server = subprocess.Popen(
            [*command, f"--ServerApp.root_dir={folder}"], env=environment, cwd=tmp_path,
            stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    direct = build_opener(ProxyHandler({}))  # no proxy of the machine's on the way to its own port

    def answers() -> bool:
        if server.poll() is not None:
            return True
        try:
            return (
                direct.open(f"http://127.0.0.1:{port}/api?token={TOKEN}", timeout=60).status == 200
            )
        except (URLError, ConnectionError):
            return False

    try:
        processes.wait_for(answers, "the start of JupyterLab")
        assert server.poll() is None, log.read_text()[-3000:]
        yield f"http://127.0.0.1:{port}/lab/tree/live.ipynb?token={TOKEN}"
    finally:
        started = processes.below(server.pid)
        server.kill()
        server.wait()
        processes.end(started)
        processes.wait_for(lambda: not processes.living(started), "the end of the kernels", 60)


def likeliest(prompt: str) -> int:
    """The id that the writer of PyTorch puts behind a beginning."""
    tokenizer = tokenizer_of("writer")
    ids = [number for character in "1900:" for number in tokenizer.encode(character)]
    with torch.no_grad():
        logits = trained("writer")(torch.tensor([ids + tokenizer.encode(f" {prompt}")]))
    return int(logits[0, -1].argmax())


def test_what_a_hand_does_in_jupyterlab_python_has_and_the_other_way(lab, browser):
    outside: list[str] = []

    def local(route: Any) -> None:
        here = route.request.url.startswith(("http://127.0.0.1:", "blob:", "data:"))
        if here:
            route.continue_()
        else:
            outside.append(route.request.url)
            route.abort()

    context = browser.new_context(viewport={"width": 1400, "height": 2000})
    context.route("**/*", local)
    page = context.new_page()
    page.set_default_timeout(120_000)
    try:
        page.goto(lab)
        cells = page.locator(".jp-Notebook .jp-CodeCell")

        def run(number: int) -> None:
            cells.nth(number).locator(".cm-content").click()
            page.keyboard.press("Shift+Enter")

        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()  # what is run earlier is lost
        run(0)
        run(1)
        query = page.locator(".soft_lookup .asked")
        box = query.locator("path").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 40, y - 30, steps=4)
        page.mouse.up()
        page.get_by_label("How the speech begins").fill("We shall not")
        page.locator(".writer .bars button").first.click()
        moved = [float(n) for n in re.findall(r"\d\.\d", query.get_attribute("aria-label"))]
        assert moved[0] > QUERY[0] + 0.3 and moved[1] > QUERY[1] + 0.3
        run(3)
        said = cells.nth(3).locator(".jp-OutputArea-output", has_text="now:").inner_text()
        place, rest = re.fullmatch(r"now: \[(.+)\] (.+)", said.strip()).groups()
        assert [round(float(n), 1) for n in place.split(",")] == moved
        assert rest == f"We shall not [{likeliest('We shall not')}]"
        page.locator(".soft_lookup .asked[aria-label*='0.2, 3.8']").wait_for()
        assert outside == []
    finally:
        context.close()
