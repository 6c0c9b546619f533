"""What a question forbids: the references are not there to be found, and who goes round is seen."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

import coursekit
from coursekit.submission.forbidden import SOFTMAX, used
from coursetools.course import Course
from coursetools.grading.sandbox import hiding

ROOT = Path(__file__).parents[3]

# Ways to the reference `coursekit.attention.attention`. Each leaves in `found` what it has found:
# a function, a module, or the text of a file; and the cell then says whether it is the reference.
SEARCHES = {
    "a split name": "found = __import__('course' + 'kit.attention', fromlist=['x']).attention",
    "importlib": "import importlib\nfound = importlib.import_module('coursekit.attention')",
    "a finder of its own": (
        "import sys\nsys.meta_path.pop(0)\nsys.path_importer_cache.clear()\n"
        "import coursekit.attention\nfound = coursekit.attention"
    ),
    "sys.modules": (
        "import sys\nfound = [m for m in list(sys.modules.values())"
        " if hasattr(m, '__dict__') and 'LocalAttention' in vars(m) or is_it(m)]"
    ),
    "frames": (
        "import sys\nframe, found = sys._getframe(), []\nwhile frame:\n"
        "    found += [frame.f_globals.get('attention'), *map(type, frame.f_locals.values())]\n"
        "    frame = frame.f_back"
    ),
    "a traceback's frames": (
        "found = []\ntry:\n    1 / 0\nexcept ZeroDivisionError as error:\n"
        "    frame = error.__traceback__.tb_frame\n    while frame:\n"
        "        found += [frame.f_globals.get('attention')]\n        frame = frame.f_back"
    ),
    "inspect": (
        "import inspect\nfound = [i.frame.f_globals.get('attention') for i in inspect.stack()]"
    ),
    "gc": "import gc\nfound = [o for o in gc.get_objects() if is_it(o)]",
    "what gc has set aside": (
        "import gc\ngc.unfreeze()\nfound = [o for o in gc.get_objects() if is_it(o)]"
    ),
    "all classes": (
        "found = [f for c in object.__subclasses__() for f in vars(c).values()"
        " if hasattr(f, '__globals__') and 'coursekit.attention' in str(f.__globals__)]"
    ),
    "pkgutil": (
        "import pkgutil, coursekit\nfound = [m.name for m in pkgutil.walk_packages("
        "coursekit.__path__, 'coursekit.') if m.name == 'coursekit.attention']"
    ),
    "its file": (
        "import os, coursekit\nhome = os.path.dirname(coursekit.__file__)\n"
        "found = open(os.path.join(home, 'attention.py')).read()"
    ),
    "its compiled file": (
        "import glob, os, coursekit\nhome = os.path.dirname(coursekit.__file__)\n"
        "found = glob.glob(home + '/**/attention*.pyc', recursive=True)"
    ),
    "a copy of the package": (
        "import os, sys\nfound = [p for p in sys.path"
        " if os.path.exists(os.path.join(p, 'coursekit', 'attention.py'))]"
    ),
    "linecache": (
        "import linecache, coursekit\n"
        "found = linecache.getlines(coursekit.__file__.replace('__init__', 'attention'))"
    ),
    "zipimport": (
        "import zipimport, sys\nfound = [zipimport.zipimporter(p).find_spec('coursekit.attention')"
        " for p in sys.path if p.endswith('.zip')]"
    ),
    "a loader": (
        "import importlib.util as u, coursekit\n"
        "s = u.spec_from_file_location('m', coursekit.__file__.replace('__init__', 'attention'))\n"
        "found = u.module_from_spec(s)\ns.loader.exec_module(found)"
    ),
    "what is mapped": (
        "lines = open('/proc/self/maps').read().splitlines()\n"
        "found = [l for l in lines if 'coursekit' in l]"
    ),
    "open files": (
        "import os\nfound = [os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd')"
        " if 'attention' in os.readlink(f'/proc/self/fd/{n}')]"
    ),
    "another root": "found = open('/proc/self/root' + {attention!r}).read()",
    "another Python": (
        "import subprocess, sys\nfound = subprocess.run([sys.executable, '-c',"
        " 'import coursekit.attention as a; print(a.attention)'],"
        " capture_output=True, text=True).stdout"
    ),
    "a fork that becomes another": (
        "import os, sys\nr, w = os.pipe()\nif os.fork() == 0:\n    os.dup2(w, 1)\n"
        "    os.execv(sys.executable, [sys.executable, '-c',"
        " 'import coursekit.attention; print(1)'])\n"
        "os.close(w)\nfound = os.read(r, 9)"
    ),
    "a pickle": "import pickle\nfound = pickle.loads(b'ccoursekit.attention\\nattention\\n.')",
    "the questions": "import coursetools.questions.catalogue as found",
    "the questions' file": "found = open({questions!r}).read()",
    "the questions in another Python": (
        "import subprocess, sys\nfound = subprocess.run([sys.executable, '-c',"
        " 'import coursetools.questions.catalogue; print(1)'],"
        " capture_output=True, text=True).stdout"
    ),
    "the answers": "found = open({answers!r}).read()",
    "the answers in another root": "found = open('/proc/self/root' + {answers!r}).read()",
    "the folder of the answers": "import os\nfound = os.listdir(os.path.dirname({answers!r}))",
    "the answers as modules": (
        "import sys\nfound = [n for n in sys.modules if 'question' in n or 'a01_kernels' in n]"
    ),
    "the answers' lines": (
        "import linecache\nfound = [f for f in linecache.cache if 'solutions' in str(f)]"
    ),
    "what check compares with": "import coursekit.check.compiled as found",
    "what check compares with, its file": "found = open({compiled!r}, 'rb').read()",
    "what check compares with, from its package": "from coursekit.check import compiled as found",
    "the judge": "import coursetools.grading.judging.judge as found",
    "the memory of this process": (
        "found, maps, mem = False, open('/proc/self/maps'), open('/proc/self/mem', 'rb')\nif 1:\n"
        "    for line in maps:\n        if '[heap]' in line:\n"
        "            a, b = (int(n, 16) for n in line.split()[0].split('-'))\n"
        "            mem.seek(a)\n"
        "            found = b'Scaled dot-product' in mem.read(b - a)"
    ),
}
IS_IT = """
def is_it(thing):
    try:
        return thing.__module__ == 'coursekit.' + 'attention' or (
            thing.__name__ == 'coursekit.' + 'attention')
    except BaseException:
        return False
def is_text(thing):
    return isinstance(thing, str) and thing != ''
"""


def test_the_references_are_not_there_to_be_found(desk):
    import coursekit.attention as reference

    package = Path(coursekit.__file__).parent
    places = {
        "attention": Path(reference.__file__),
        "questions": package.parent / "coursetools" / "questions" / "question.py",
        "compiled": package / "check" / "compiled" / "a01_kernels.zip",
        "answers": Course(ROOT).private("a01_kernels") / "shares.py",
    }
    assert all(path.is_file() for path in places.values())
    cell = [IS_IT]
    for number, (name, search) in enumerate(SEARCHES.items()):
        for place, path in places.items():
            search = search.replace(f"{{{place}!r}}", repr(str(path)))
        body = textwrap.indent(search, "        ")
        cell += [f"def search{number}():", "    try:", body, "    except BaseException as error:"]
        cell += ["        return ''", "    if isinstance(found, (list, tuple)):"]
        cell += ["        found = [f for f in found if is_it(f) or is_text(f)]"]
        cell += [f"    return bool(found) and {name!r}"]
    cell += [f"for f in [{', '.join(f'search{n}' for n in range(len(SEARCHES)))}]:"]
    cell += ["    if f(): print('FOUND', f())"]
    verdict = desk.grade(first="\n".join(cell))
    said = str(desk.first(verdict))
    assert "SyntaxError" not in said
    assert "FOUND" not in said, said
    assert verdict.points == 5


# Ways to use torch.pow unseen, where it is forbidden.
SILENCINGS = {
    "by its name": "return torch.pow(x, 2)",
    "by a computed name": "return getattr(torch, 'p' + 'ow')(x, 2)",
    "as a method": "return x.pow(2)",
    "from the operations": "return torch.ops.aten.pow(x, 2)",
    "from torch's C++": "return torch._C._VariableFunctions.pow(x, 2)",
    "under another name": "t = torch\n    return t.ops.aten.pow(x, 2)",
    "compiled": "return torch.jit.script('def f(x):\\n  return x.pow(2)')(x)",
    "behind the note": "return torch.pow.__closure__[3].cell_contents(x, 2)",
    "without a profile": "import sys\n    sys.setprofile(None)\n    return {pow}(x, 2)",
    "with the watch replaced": (
        "import sys\n    f = sys._getframe()\n    while f:\n        s = f.f_locals.get('self')\n"
        "        if hasattr(s, '_end'): s._end = lambda: []\n"
        "        if hasattr(s, '_watch'): s._watch._looking = frozenset()\n"
        "        f = f.f_back\n    return {pow}(x, 2)"
    ),
    "with the watch found by gc": (
        "import gc\n    gc.unfreeze()\n    for o in gc.get_objects():\n"
        "        if type(o).__name__ == 'Student': o._end = lambda: []\n    return {pow}(x, 2)"
    ),
    "with the watch's class found": (
        "for c in object.__subclasses__():\n"
        "        if c.__name__ == 'Student': c._answer = lambda *a: ({}, [])\n"
        "    return {pow}(x, 2)"
    ),
    "frames by a computed name": (
        "import sys\n    f = vars(sys)['_get' + 'frame']()\n    while f:\n"
        "        s = vars(f) if 0 else f.f_locals.get('self')\n"
        "        if hasattr(s, '_end'): s._end = lambda: []\n        f = f.f_back\n"
        "    return {pow}(x, 2)"
    ),
    "by text": "return eval('tor' + 'ch.pow')(x, 2)",
    "by ctypes": "import ctypes\n    return ctypes.py_object(torch.pow).value(x, 2)",
    "by a pickle": (
        "import pickle\n    f = pickle.loads(b'ctorch._C\\n_VariableFunctions\\n.')\n"
        "    return f.pow(x, 2)"
    ),
    "by an import hidden in a magic": "get_ipython().run_line_magic('time', 'import gc')\n"
    "    return {pow}(x, 2)",
}


@pytest.mark.parametrize("name", SILENCINGS)
def test_whoever_goes_round_is_seen(desk, name):
    computed = "getattr(torch, 'p' + 'ow')"  # its name would be seen anyway
    source = f"def square(x):\n    {SILENCINGS[name]}".replace("{pow}", computed)
    verdict = desk.grade(source)
    flags = [*verdict.flags, *verdict.questions[0].flags]
    assert flags, source
    for way in ("_getframe", "get_objects", "__subclasses__", "sys.setprofile", "eval", "pickle"):
        assert (way in source) <= any(way in flag for flag in verdict.flags), flags
    assert not any("cell 1" in flag for flag in flags)


def test_an_honest_notebook_has_no_flag(desk):
    honest = (
        "import math, sys, os, importlib.util\nfrom functools import partial\n"
        "from dataclasses import dataclass\nprint(sys.version_info, os.getcwd(), _ if 0 else 1)\n"
        "@dataclass\nclass Holder:\n    _value: int = 1\n    def __repr__(self): return 'x'\n"
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self._own = getattr(self, 'training')\n"
        "print(Net().__class__.__name__, hasattr(torch, 'nn'), torch.trace(torch.eye(2)))\n"
        "%matplotlib inline\n%time 1 + 1\n"
    )
    verdict = desk.grade(first=honest)
    assert (verdict.points, verdict.flags) == (5, [])
    assert [question.flags for question in verdict.questions] == [[], []]


def test_an_import_is_remembered_in_every_later_cell_and_length_hides_nothing(desk):
    two = "def square(x):\n    return here.ops.aten.pow(x, 2)"
    again = "def cube(x):\n    return here.jit.script('x')"
    verdict = desk.grade(two, again, first="import torch as here")
    assert [flag.split(" ", 2)[2] for flag in verdict.flags] == [
        "uses aten, torch.ops",
        "uses torch.jit",
    ]
    padded = f"def square(x):\n    return torch.ops.aten.pow(x, 2)\n{'#' * 300_000}"
    assert ["too long" in flag for flag in desk.grade(padded).flags] == [True]


def test_a_name_of_a_package_shows_the_file_that_holds_it(tmp_path):
    """A released notebook may say `from coursekit.tokenizers import ByteBPE`."""
    package = Path(coursekit.__file__).parent
    cells = [(1, "from coursekit.tokenizers import ByteBPE")]
    _, shown, modules = hiding.hidden(package.parent, [], ["coursekit"], cells)
    assert str(package / "tokenizers" / "byte_bpe.py") in shown
    assert "coursekit.tokenizers.byte_bpe" in modules
    assert "coursekit.tokenizers.unigram" not in modules


def test_where_the_package_may_be_used_what_check_compares_with_is_hidden():
    """And no released notebook can ask to be shown it."""
    package = Path(coursekit.__file__).parent
    hide, shown, modules = hiding.hidden(package.parent, [], ["torch.pow"], [])
    assert hide == [str(package / "check")]
    assert (shown, modules) == ([], [])
    cells = [(1, "from coursekit.check import check\nimport coursekit.check.compiled")]
    _, shown, modules = hiding.hidden(package.parent, [], ["coursekit"], cells)
    assert "coursetools.grading.student.serve" in modules
    rooms = {Path(one).relative_to(package.parent).parts[:2] for one in shown}
    hidden = {("coursekit", "check"), ("coursetools", "questions")}
    assert rooms and not rooms & hidden


# Ways to a softmax of `x` that are not called so; each is an expression.
ROUNDS = {
    "the gradient of a loss": "grad(F.cross_entropy(x, x.argmax(1), reduction='sum'), x)",
    "the gradient of a loss's class": "grad(nn.CrossEntropyLoss()(x, x.argmax(1)), x)",
    "the gradient of a logarithm": "grad(torch.logsumexp(x, 1).sum(), x)",
    "a sum that grows": "(x - torch.logcumsumexp(x, 1)[:, -1:]).exp()",
    "a sum that grows, as a method": "(x - x.logcumsumexp(1)[:, -1:]).exp()",
    "two and two": "(x - torch.logaddexp(x[:, :1], x[:, 1:])).exp()",
    "sparse": "torch.sparse.softmax(x.to_sparse(), 1).to_dense()",
    "masked": "torch.masked.softmax(torch.masked.masked_tensor(x, x == x), 1)",
    "over channels": "nn.Softmax2d()(x[..., None, None])",
    "of what is turned round": "F.softmin(-x, 1)",
    "the class of that": "nn.Softmin(1)(-x)",
    "with noise": "F.gumbel_softmax(x, dim=1)",
    "a distribution": "torch.distributions.Categorical(logits=x).probs",
    "a distribution with another name": "D.OneHotCategorical(logits=x).probs",
    "attention of itself": "F.scaled_dot_product_attention(x, eye, eye, scale=1.0)",
    "special": "torch.special.log_softmax(x, 1).exp()",
    "scipy": "soft(x.detach().numpy(), 1)",
    "scikit-learn": "soft_too(x.detach().numpy())",
    "numpy": "np.exp(x.detach().numpy() - np.logaddexp.reduce(x.detach().numpy(), 1)[:, None])",
}
IMPORTS = """
import numpy as np, torch, torch.distributions as D, torch.nn.functional as F
from scipy.special import softmax as soft
from sklearn.utils.extmath import softmax as soft_too
from torch import nn
from torch.autograd import grad
"""
ON_THE_WAY = """
import json, sys, warnings
warnings.simplefilter("ignore")
from coursetools.grading.student.watch import watch
forbidden, ways, imports = json.loads(sys.stdin.read())
begin, end = watch(forbidden)
names = {"eye": __import__("torch").eye(2), "x": __import__("torch").eye(2).requires_grad_()}
exec(compile(imports, "<cell 1>", "exec"), names)
found = {}
for name, way in ways.items():
    begin(forbidden)
    eval(compile(way, "<cell 2>", "eval"), names)
    found[name] = end()
print(json.dumps(found))
"""


@pytest.mark.parametrize("name", ROUNDS)
def test_a_softmax_by_another_name_is_seen_in_the_source(name):
    assert used(f"def shares(x):\n    return {ROUNDS[name]}", SOFTMAX, IMPORTS)


def test_a_softmax_by_another_name_is_seen_as_it_runs():
    asked = json.dumps([SOFTMAX, ROUNDS, IMPORTS])
    run = [sys.executable, "-c", ON_THE_WAY]
    said = subprocess.run(run, input=asked, capture_output=True, text=True, check=True).stdout
    unseen = {name for name, found in json.loads(said).items() if not found}
    assert unseen == {"scipy", "scikit-learn", "numpy"}  # not there, and without gradients


def test_nothing_in_torch_that_is_called_like_a_softmax_is_left_out():
    homes = "", ".special", ".sparse", ".masked", ".nn", ".nn.functional", ".Tensor"
    known = re.compile(
        r"soft(max|min)|log(cum)?sumexp|logaddexp|(?<!binary_)cross_?entropyl?", re.I
    )
    names = []
    for home in (f"torch{home}" for home in homes):
        holder = torch
        for part in home.split(".")[1:]:
            holder = getattr(holder, part)
        names += [f"{home}.{leaf}" for leaf in dir(holder) if leaf[0] != "_" and known.search(leaf)]
    options = "torch.nn.LinearCrossEntropyOptions"  # which compute nothing
    assert len(names) > 30 and {*names} - {*SOFTMAX} <= {options}
