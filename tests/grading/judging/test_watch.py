"""A watched function is like any other to the libraries that look at it; its calls are noted."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from coursekit.submission import regions
from coursekit.submission.forbidden import SOFTMAX
from coursetools.course import Course
from coursetools.grading.judging.engine import Engine
from coursetools.grading.judging.master import Master
from coursetools.questions import catalogue

ROOT = Path(__file__).resolve().parents[3]

# What a right answer may do with torch besides, each beginning with what it imports.
TOUCHED = {
    "an optimizer": "torch.optim.AdamW([torch.nn.Parameter(torch.ones(2))]).step()",
    "a checkpoint": """
        from torch.utils.checkpoint import checkpoint
        x = torch.ones(2, requires_grad=True)
        checkpoint(torch.exp, x, use_reentrant=False).sum().backward()
    """,
    "compiled": """
        torch.compile(lambda x: x.exp() / x.exp().sum(), backend="eager")(torch.ones(2))
    """,
    "a pickle": """
        import pickle
        for one in (torch.softmax, F.softmax, torch.Tensor.softmax, torch.special.softmax,
                    F.scaled_dot_product_attention, torch.nn.attention.sdpa_kernel):
            assert pickle.loads(pickle.dumps(one)) is one
    """,
    "a copy": """
        import copy
        for one in (torch.softmax, F.softmax, torch.Tensor.softmax):
            assert copy.copy(one) is copy.deepcopy([one])[0] is one
    """,
    "a script": """
        torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Softmax(-1)))
        torch.jit.script(torch.nn.MultiheadAttention(4, 2))
    """,
    "a trace": "torch.jit.trace(lambda x: torch.softmax(x, -1), torch.ones(2))",
    "a graph": """
        import torch.fx
        torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Softmax(-1)))(torch.ones(2))
    """,
    "functions of functions": """
        from torch.func import grad, jacrev, vmap
        vmap(torch.softmax, in_dims=(0, None))(torch.ones(2, 3), -1)
        vmap(grad(lambda x: F.softmax(x, dim=-1)[0]))(torch.ones(2, 2))
        jacrev(lambda x: x.softmax(-1))(torch.ones(2))
    """,
    "a derivative of one's own": """
        class Own(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x): return torch.softmax(x, -1)
            @staticmethod
            def backward(ctx, grads): return grads
        Own.apply(torch.ones(2, requires_grad=True)).sum().backward()
    """,
    "a parametrization": """
        from torch.nn.utils import parametrize
        layer = torch.nn.Linear(2, 2)
        parametrize.register_parametrization(layer, "weight", torch.nn.Softmax(-1))
        assert layer.weight.sum().isclose(torch.tensor(2.0))
    """,
    "a wrapper": """
        import functools
        made = functools.wraps(F.softmax)(lambda *given, **named: F.softmax(*given, **named))
        assert made.__name__ == "softmax" and made(torch.ones(2), dim=-1).sum() == 1
        functools.wraps(torch.softmax)(lambda *given: 0)
        functools.lru_cache(torch.softmax)
    """,
    "a look": """
        import inspect, types
        assert list(inspect.signature(F.softmax).parameters)[:2] == ["input", "dim"]
        assert inspect.isfunction(F.softmax) and inspect.isbuiltin(torch.softmax)
        assert isinstance(torch.softmax, types.BuiltinFunctionType)
        assert isinstance(torch.Tensor.softmax, types.MethodDescriptorType)
        assert isinstance(torch.nn.Softmax.forward, types.FunctionType)
        assert "def softmax(" in inspect.getsource(F.softmax)
        assert torch.softmax.__name__ == "softmax" and "softmax" in repr(torch.softmax)
        assert "dim" in torch.softmax.__doc__ and "__name__" in dir(torch.softmax)
    """,
    "a name for a type": """
        import typing
        assert "dim" in typing.get_type_hints(F.softmax)
        assert callable(torch.softmax) and isinstance(torch.softmax, typing.Callable)
    """,
    "a record": """
        import dataclasses
        @dataclasses.dataclass(frozen=True)
        class Layer:
            act: object = torch.softmax
        assert dataclasses.asdict(Layer())["act"] is torch.softmax and hash(Layer()) is not None
    """,
    "a key": """
        table = {torch.softmax: 1, F.softmax: 2, torch.Tensor.softmax: 3}
        assert table[torch.softmax] == 1 and table[F.softmax] == 2 and torch.softmax != torch.relu
    """,
    "an attribute": """
        class Layer(torch.nn.Module):
            act, other = torch.softmax, torch.Tensor.softmax
        assert Layer().act(torch.ones(2), -1).sum() == 1
    """,
    "a tensor of one's own": """
        seen = []
        class Own(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, given=(), named=None):
                seen.append(function)
                return super().__torch_function__(function, types, given, named or {})
        torch.softmax(torch.ones(2).as_subclass(Own), -1)
        assert torch.softmax in seen
    """,
    "threads": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(torch.sin, [torch.ones(2)] * 2))
    """,
    "a backend": """
        from torch.nn.attention import SDPBackend, sdpa_kernel
        with sdpa_kernel(SDPBackend.MATH):
            pass
        sdpa_kernel(SDPBackend.MATH)(lambda: 1)()
    """,
    "a distribution": "torch.distributions.Normal(0.0, 1.0).log_prob(torch.ones(1))",
}
# What needs the source of a cell, or is compiled whole; on its own, as text of a cell.
WHOLE = {
    "a script of softmax": """
        @torch.jit.script
        def scripted(x):
            return torch.softmax(x, -1) + F.softmax(x, dim=-1) + x.softmax(-1)
        scripted(torch.ones(2))
    """,
    "compiled softmax": """
        @torch.compile(backend="eager", fullgraph=True)
        def compiled(x):
            y = F.softmax(x, dim=-1) + torch.nn.Softmax(-1)(x) + torch.nn.LogSoftmax(-1)(x)
            return torch.softmax(x, -1) + x.softmax(-1) + torch.special.softmax(x, -1) + y
        compiled(torch.ones(2))
        compiled(torch.ones(2))
    """,
    "compiled attention": """
        layer = torch.nn.MultiheadAttention(4, 2, batch_first=True)
        x = torch.ones(2, 3, 4)
        torch.compile(layer, backend="eager")(x, x, x)
        torch.compile(layer.eval(), backend="aot_eager")(x, x, x)
    """,
    "exported": """
        class Layer(torch.nn.Module):
            def forward(self, x):
                return torch.softmax(x, -1) + F.softmax(x, dim=-1) + x.softmax(-1)
        torch.export.export(Layer(), (torch.ones(2),)).module()(torch.ones(2))
    """,
}
LINES = {name: textwrap.dedent(text).strip() for name, text in {**TOUCHED, **WHOLE}.items()}
FIRST = "import torch\nimport torch.nn.functional as F\n"
ALONE = """
import json, linecache, sys, warnings
warnings.simplefilter("ignore")
from coursetools.grading.student.watch import watch
forbidden, lines, first = json.loads(sys.stdin.read())
begin, end = watch(forbidden)
problems, used = {}, {}
for number, (name, text) in enumerate(lines.items()):
    file, text = f"<cell {number}>", first + text
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    begin(forbidden)
    try:
        exec(compile(text, file, "exec"), {"__name__": "__main__"})
    except BaseException as error:
        problems[name] = f"{type(error).__name__}: {error}"[:500]
    used[name] = end()
print(json.dumps([problems, used]))
"""


def alone(forbidden, lines) -> list:
    asked = json.dumps([forbidden, lines, FIRST])
    run = [sys.executable, "-c", ALONE]
    said = subprocess.run(run, input=asked, capture_output=True, text=True, check=True).stdout
    return json.loads(said.splitlines()[-1])


def test_what_works_without_the_watch_works_with_it():
    problems, used = alone(SOFTMAX, LINES)
    assert problems == {}
    assert "torch.nn.functional.softmax" in used["compiled softmax"]


# Ways to call a softmax that its watch has to notice, whatever they go through.
CALLS = {
    "by its name": "torch.softmax(x, -1)",
    "as a method": "x.softmax(-1)",
    "as a function of the class": "torch.Tensor.softmax(x, -1)",
    "a function of functions": "list(map(torch.softmax, [x], [-1]))",
    "a part": "functools.partial(torch.softmax, dim=-1)(x)",
    "a method by name": "operator.methodcaller('softmax', -1)(x)",
    "its call": "torch.softmax.__call__(x, -1)",
    "bound": "torch.Tensor.softmax.__get__(x)(-1)",
    "a class": "torch.nn.Softmax(-1)(x)",
    "a class of one's own": "type('Own', (torch.nn.Softmax,), {})(-1)(x)",
    "a vmap": "torch.func.vmap(torch.softmax, in_dims=(0, None))(x, -1)",
    "compiled": "torch.compile(lambda x: F.softmax(x, dim=-1), backend='eager')(x)",
    "compiled, in a class": "torch.compile(torch.nn.Softmax(-1), backend='eager')(x)",
    "a pickle of it": "pickle.loads(pickle.dumps(torch.softmax))(x, -1)",
    "a copy of it": "copy.deepcopy(torch.softmax)(x, -1)",
    "unwrapped": "inspect.unwrap(F.softmax)(x, dim=-1)",
    "in a thread": "threads.ThreadPoolExecutor(1).submit(torch.softmax, x, -1).result()",
    "a checkpoint": "checkpoint(torch.softmax, x, -1, use_reentrant=False)",
    "attention's module": "torch._C._nn.scaled_dot_product_attention(x, x, x)",
    "loss": "F.cross_entropy(x, x.argmax(-1))",
}
TOOLS = (
    "import concurrent.futures as threads, copy, functools, inspect, operator, pickle\n"
    "from torch.utils.checkpoint import checkpoint\n"
    "x = torch.eye(2)\n"
)


def test_each_way_to_call_it_is_noted():
    lines = {name: f"{TOOLS}{text}" for name, text in CALLS.items()}
    problems, used = alone(SOFTMAX, lines)
    assert problems == {}
    assert [name for name, noted in used.items() if not noted] == []
    assert alone(SOFTMAX, {"other": f"{TOOLS}x.exp(); torch.relu(x); F.gelu(x)"})[1]["other"] == []


def test_the_gradients_of_functorch_are_noted_and_torch_s_own_use_of_it_is_not():
    lines = {
        "functorch": "import functorch, torch\nfunctorch.grad(torch.sum)(torch.ones(2))",
        "torch.func": "import torch\ntorch.func.grad(torch.sum)(torch.ones(2))",
        "compiled": "import torch\ntorch.compile(torch.exp, backend='aot_eager')(torch.ones(2))",
    }
    problems, used = alone(["torch.func", "functorch"], lines)
    assert problems == {}
    assert [name for name, noted in used.items() if noted] == ["functorch", "torch.func"]


def inside(source: str, lines: str) -> str:
    """Return a cell with `lines` at the beginning of each of its functions."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name != "__init__":
            node.body.insert(bool(ast.get_docstring(node)), ast.parse(lines).body[0])
    return ast.unparse(tree)


def graded(name: str, above: str = "", within: str = ""):
    """Grade the assignment's own solutions, with more lines above or within each."""
    master = Master.read(Course(ROOT), name)
    cells = json.loads(master.notebook)["cells"]
    for cell in cells:
        if cell["cell_type"] == "code" and regions.is_solution(cell):
            source = "".join(cell["source"])
            lines = [line for line in source.split("\n") if " SOLUTION" not in line]
            source = "\n".join(lines)
            cell["source"] = (
                f"import torch\n{above}\n{inside(source, within) if within else source}"
            )
    data = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    with Engine(master) as engine:
        return engine.grade(json.dumps(data).encode())


ASSIGNMENTS = ["a01_kernels", "a02_scaling", "a05_positions"]  # softmax, gradients, algebra


def test_these_assignments_forbid_all_that_the_first_chapters_forbid():
    def forbidden(names):
        asked = [catalogue.load(Course(ROOT), name).questions for name in names]
        return {one for questions in asked for question in questions for one in question.forbidden}

    assert forbidden(ASSIGNMENTS) == forbidden(catalogue.names(Course(ROOT))[:5])


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_a_right_answer_may_touch_the_library_above_it(name):
    verdict = graded(name, above="\n".join([FIRST, *LINES.values()]))
    assert verdict.points == verdict.max_points, [q.reason for q in verdict.questions]


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_a_right_answer_may_touch_the_library_within(name):
    lines = textwrap.indent("\n".join([FIRST, *(LINES[one] for one in TOUCHED)]), " " * 8)
    above = (
        f"touched = []\ndef touch():\n    import torch\n    with torch.random.fork_rng():\n{lines}"
    )
    once = "if not touched:\n    touched.append(1)\n    touch()"
    verdict = graded(name, above=above, within=once)
    assert verdict.points == verdict.max_points, [q.reason for q in verdict.questions]


def test_a_forbidden_call_is_still_noted(desk):
    """Where only the watch can see it: the source has no name of it."""
    hidden = "get = getattr\ndef square(x):\n    return get(torch, 'p' + 'ow')(x, 2)"
    verdict = desk.grade(hidden)
    assert any("torch.pow" in flag for flag in verdict.questions[0].flags), verdict.questions[0]
