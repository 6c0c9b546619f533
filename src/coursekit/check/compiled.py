"""What a learner's machine knows of an assignment: visible cases, and what came out of them.

One zip file an assignment, `compiled/a01_kernels.zip`, written by `coursekit assignment release`:
the cases of each question as Python; `index.json` with its hint, its page and its mistakes; and the
numbers, each once. Of our answer it holds the values that `check` shows beside a learner's, of each
known mistake a sketch: its form, and some of its numbers. No answer is in it.
"""

from __future__ import annotations

import io
import json
import linecache
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coursekit._base.errors import CourseError
from coursekit._base.nearest import did_you_mean
from coursekit.check.compare import Difference, same
from coursekit.check.outcome import Outcome, differ, explained, observe
from coursekit.check.variants import Variant, reading

FOLDER = Path(__file__).parent / "compiled"
KINDS = {"f": "<f4", "d": "<f8", "i": "<i8", "b": "|u1"}  # how numbers are stored
FINE = 1e-6  # below such a tolerance numbers are stored with all their digits
FULL = {
    "f": 10,
    "d": 10,
    "i": 60,
    "b": 200,
}  # up to how many numbers a sketch of a tensor has them all


@dataclass(frozen=True)
class CompiledCase:
    """One visible case, and what came out of it."""

    says: str
    run: Callable[[Any], Any]
    tolerance: float
    expected: Outcome

    def observe(self, student: Any) -> Outcome:
        """Run the case."""
        return observe(self.run, student)

    def difference(self, outcome: Outcome) -> Difference | None:
        """Return how an outcome differs from what ours gives, None if it does not."""
        return explained(differ(outcome, self.expected, self.tolerance), self.run)


@dataclass(frozen=True)
class CompiledMistake:
    """A wrong answer that is known by what it gives."""

    name: str
    hint: str
    sketches: tuple[Any, ...]  # one for each case; None where it gives what is right


@dataclass(frozen=True, kw_only=True)
class CompiledQuestion:
    """What `check` needs of a question."""

    name: str
    title: str
    is_class: bool
    hint: str
    page: str
    forbidden: tuple[str, ...]
    needs: tuple[str, ...]
    code: str  # of the cases
    cases: tuple[CompiledCase, ...]
    mistakes: tuple[CompiledMistake, ...]
    numbers: Numbers
    variant: Variant | None = None  # where not everybody has the same numbers
    variants: tuple[CompiledQuestion, ...] = ()  # the same question with the others, from 1 on

    @property
    def count(self) -> int:
        """How many variants there are."""
        return 1 + len(self.variants)

    def of(self, number: int) -> CompiledQuestion:
        """Return the question with the numbers of one variant."""
        return self.variants[number - 1] if number else self

    def misconception(self, outcomes: Sequence[Outcome | None]) -> CompiledMistake | None:
        """Return the mistake that gives exactly these outcomes; None of a case speaks for none."""
        numbered = [(n, outcome) for n, outcome in enumerate(outcomes) if outcome is not None]
        right = {n: self.cases[n].difference(outcome) is None for n, outcome in numbered}
        if all(right.values()):
            return None
        for mistake in self.mistakes:
            if all(
                right[n]
                if (sketch := mistake.sketches[n]) is None
                else self._like(outcome, n, sketch)
                for n, outcome in numbered
            ):
                return mistake
        return None

    def _like(self, outcome: Outcome, number: int, sketch: Any) -> bool:
        try:
            return resembles(outcome, sketch, self.cases[number].tolerance, self.numbers)
        except Exception:  # a value on which the comparison itself breaks is like no other
            return False


@dataclass(frozen=True)
class CompiledAssignment:
    """What a learner's machine knows of an assignment."""

    name: str
    title: str
    questions: tuple[CompiledQuestion, ...]
    written: tuple[str, ...]  # names of the questions in words


@dataclass
class Numbers:
    """The numbers of all values in one file, by how they are stored; equal ones are stored once."""

    parts: dict[str, list[np.ndarray]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    sizes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    places: dict[tuple[str, bytes], int] = field(default_factory=dict)

    def put(self, kind: str, values: np.ndarray) -> int:
        """Keep some numbers and return where."""
        values = np.ascontiguousarray(values, KINDS[kind]).reshape(-1)
        key = kind, values.tobytes()
        if key not in self.places:
            self.places[key] = self.sizes[kind]
            self.parts[kind].append(values)
            self.sizes[kind] += len(values)
        return self.places[key]

    def get(self, kind: str, place: int, count: int) -> np.ndarray:
        """Return the numbers that were put there."""
        return self._whole[kind][place : place + count]

    @cached_property
    def _whole(self) -> dict[str, np.ndarray]:
        return {
            kind: np.concatenate([np.empty(0, KINDS[kind]), *parts])
            for kind, parts in self.parts.items()
        }

    def as_bytes(self) -> dict[str, bytes]:
        """Return the content of the file for each kind."""
        return {kind: values.tobytes() for kind, values in self._whole.items()}

    @classmethod
    def of(cls, read: Callable[[str], bytes]) -> Numbers:
        """Read what `as_bytes` has returned."""
        return cls({kind: [np.frombuffer(read(kind), stored)] for kind, stored in KINDS.items()})


def packed(
    outcome: Outcome, numbers: Numbers, tolerance: float, beside: Outcome | None = None
) -> Any:
    """Return an outcome as JSON that names its numbers; a sketch where `beside` is given.

    A sketch has of each tensor some numbers, spread evenly, and those that are farthest from what
    is at the same place in `beside`.
    """
    if outcome.error is not None:
        return {"error": type(outcome.error).__name__}
    pack = Packing(numbers, tolerance < FINE, beside is not None)
    return pack(outcome.value, beside and beside.value)


@dataclass(frozen=True)
class Packing:
    """How values become JSON."""

    numbers: Numbers
    fine: bool  # with all digits
    sketch: bool  # or whole

    def __call__(self, value: Any, beside: Any) -> Any:
        """Return a value as JSON; `beside` is what a sketch shows the difference from."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) is bytes:
            return {"bytes": value.hex()}
        if type(value) in (list, tuple):
            alike = type(beside) is type(value) and len(beside) == len(value)
            others = beside if alike else [None] * len(value)
            return [type(value).__name__, *map(self, value, others)]
        if type(value) is dict:
            others = beside if type(beside) is dict else {}
            return {"dict": [[key, self(one, others.get(key))] for key, one in value.items()]}
        if type(value) in (Tensor, nn.Parameter):
            return {"tensor": self._tensor(value.detach(), beside)}
        if type(value) is np.ndarray and value.dtype.kind in "biuf":
            return {"array": self._tensor(torch.from_numpy(value), None)}
        raise CourseError(f"a visible case returns a {type(value).__name__}; return plain values")

    def _tensor(self, tensor: Tensor, beside: Any) -> list[Any]:
        """Return dtype, shape, how and where the numbers are stored, and of a sketch which."""
        if tensor.is_complex():
            raise CourseError("a visible case returns complex numbers; return two real tensors")
        kind = "b" if tensor.dtype == torch.bool else "i"
        flat = tensor.cpu().flatten()
        if tensor.is_floating_point():
            kind = "d" if self.fine and tensor.dtype == torch.float64 else "f"
            flat = flat.double() if kind == "d" else flat.float()
        about = [str(tensor.dtype).removeprefix("torch."), list(tensor.shape), kind]
        if not self.sketch:
            return [*about, self.numbers.put(kind, flat.numpy())]
        places = _places(
            flat, beside if isinstance(beside, Tensor) else None, tensor.shape, FULL[kind]
        )
        some = self.numbers.put(kind, flat[places].numpy())
        return [*about, some, self.numbers.put("i", places.numpy()), len(places)]


def _places(flat: Tensor, beside: Tensor | None, shape: torch.Size, some: int) -> Tensor:
    count = len(flat)
    if count <= some:
        return torch.arange(count)
    places = torch.linspace(0, count - 1, some // 2).long()
    if beside is not None and beside.shape == shape:
        far = (flat.double() - beside.detach().cpu().flatten().double()).abs().nan_to_num(1e9)
        places = torch.cat([places, far.topk(some // 2).indices])
    return places.unique()


def unpacked(tree: Any, numbers: Numbers) -> Outcome:
    """Return the outcome that `packed` was given, whole."""
    if type(tree) is dict and "error" in tree:
        return Outcome(error=_error(tree["error"]))
    return Outcome(value=_unpacked(tree, numbers))


def _unpacked(tree: Any, numbers: Numbers) -> Any:
    if type(tree) is list:
        return {"list": list, "tuple": tuple}[tree[0]](_unpacked(one, numbers) for one in tree[1:])
    if type(tree) is not dict:
        return tree
    if "bytes" in tree:
        return bytes.fromhex(tree["bytes"])
    if "dict" in tree:
        return {_key(key): _unpacked(one, numbers) for key, one in tree["dict"]}
    dtype, shape, kind, place = next(iter(tree.values()))
    values = numbers.get(kind, place, int(np.prod(shape, dtype=int)))
    tensor = torch.from_numpy(values.copy()).reshape(shape).to(getattr(torch, dtype))
    return tensor if "tensor" in tree else tensor.numpy()


def _key(key: Any) -> Any:
    return tuple(map(_key, key)) if type(key) is list else key


def _error(name: str) -> BaseException:
    """Return an error that has the name of another and nothing else of it."""
    return type(name, (Exception,), {})()


def resembles(outcome: Outcome, sketch: Any, tolerance: float, numbers: Numbers) -> bool:
    """Return whether an outcome is what a sketch was made of, as far as that tells."""
    if type(sketch) is dict and "error" in sketch:
        return type(outcome.error).__name__ == sketch["error"]
    return outcome.error is None and _resembles(outcome.value, sketch, tolerance, numbers)


def _resembles(value: Any, sketch: Any, tolerance: float, numbers: Numbers) -> bool:
    if type(sketch) is list:
        return (
            type(value).__name__ == sketch[0]
            and len(value) == len(sketch) - 1
            and all(_resembles(a, b, tolerance, numbers) for a, b in zip(value, sketch[1:]))
        )
    if type(sketch) is not dict:
        return same(value, sketch, tolerance) is None
    if "bytes" in sketch:
        return type(value) is bytes and value.hex() == sketch["bytes"]
    if "dict" in sketch:
        pairs = [(_key(key), one) for key, one in sketch["dict"]]
        return (
            type(value) is dict
            and value.keys() == {key for key, _ in pairs}
            and all(_resembles(value[key], one, tolerance, numbers) for key, one in pairs)
        )
    dtype, shape, kind, place, places, count = next(iter(sketch.values()))
    if "array" in sketch:
        if type(value) is not np.ndarray:
            return False
        value = torch.from_numpy(value)
    if type(value) not in (Tensor, nn.Parameter):
        return False
    if list(value.shape) != shape or str(value.dtype) != f"torch.{dtype}":
        return False
    some = value.detach().flatten()[torch.from_numpy(numbers.get("i", places, count).copy())]
    expected = torch.from_numpy(numbers.get(kind, place, count).copy()).to(value.dtype)
    return same(some, expected, tolerance) is None


def write(name: str, index: dict[str, Any], cases: dict[str, str], numbers: Numbers) -> bytes:
    """Return the file of an assignment; equal content gives equal bytes."""
    members: dict[str, str | bytes] = {
        "index.json": json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    }
    members |= {f"{question}.py": text for question, text in cases.items()}
    members |= {f"{kind}.bin": content for kind, content in numbers.as_bytes().items()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for member, content in members.items():
            archive.writestr(zipfile.ZipInfo(member), content, zipfile.ZIP_DEFLATED, 9)
    return file.getvalue()


def names(folder: Path = FOLDER) -> list[str]:
    """Return the names of the assignments that there are, in the order of the course."""
    return sorted(path.stem for path in folder.glob("*.zip"))


@cache
def _asked(path: Path) -> tuple[str, ...]:
    with zipfile.ZipFile(path) as archive:
        return tuple(name.removesuffix(".py") for name in archive.namelist() if name[-3:] == ".py")


def asking(name: str, folder: Path = FOLDER) -> str | None:
    """Return the assignment that asks for a name; no two ask for the same."""
    return next((one for one in names(folder) if name in _asked(folder / f"{one}.zip")), None)


@cache
def load(name: str, folder: Path = FOLDER) -> CompiledAssignment:
    """Return the assignment called `name`."""
    path = folder / f"{name}.zip"
    if not path.is_file():
        known = names(folder)
        close = did_you_mean(name, known)
        raise CourseError(f"there is no assignment {name!r}{close}; there are {', '.join(known)}")
    return read(path.read_bytes())


def read(content: bytes) -> CompiledAssignment:
    """Read the file of an assignment."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        index = json.loads(archive.read("index.json"))
        numbers = Numbers.of(lambda kind: archive.read(f"{kind}.bin"))
        code = {
            one["name"]: archive.read(f"{one['name']}.py").decode() for one in index["questions"]
        }
    questions = tuple(_question(one, code[one["name"]], numbers) for one in index["questions"])
    return CompiledAssignment(index["name"], index["title"], questions, tuple(index["written"]))


def _question(
    index: dict[str, Any], code: str, numbers: Numbers, number: int = 0
) -> CompiledQuestion:
    with reading(number):
        names = _run(index["name"], code)
    cases = tuple(
        CompiledCase(
            one["says"], names[one["run"]], one["tolerance"], unpacked(one["expected"], numbers)
        )
        for one in index["cases"]
    )
    hints = {one["name"]: one["hint"] for one in index["mistakes"] if "hint" in one}
    mistakes = []
    for one in index["mistakes"]:
        hint = one.get("hint") or both(*(hints[name] for name in one["both"]))
        mistakes.append(CompiledMistake(one["name"], hint, tuple(one["sketches"])))
    facts = {key: index[key] for key in ("name", "title", "is_class", "hint", "page")}
    others = index.get("variants", ())
    return CompiledQuestion(
        **facts,
        forbidden=tuple(index["forbidden"]),
        needs=tuple(index["needs"]),
        code=code,
        cases=cases,
        mistakes=tuple(mistakes),
        numbers=numbers,
        variant=Variant(**index["variant"]) if "variant" in index else None,
        variants=tuple(_question(one, code, numbers, n) for n, one in enumerate(others, 1)),
    )


def both(first: str, second: str) -> str:
    """Return the hint for an answer with two mistakes."""
    return f"Two things at once. {first} And: {second}"


def _run(question: str, code: str) -> dict[str, Any]:
    file = f"<visible cases of {question}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": f"cases_of_{question}"}
    exec(compile(code, file, "exec", dont_inherit=True), names)
    return names
