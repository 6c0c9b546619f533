"""Mutants: classic mistakes are put into the code one by one, and each must fail a test.

Each mistake stands in a table beside this file: `file` of src/coursekit, the `old` text, the `new`
one, and the `tests` that should notice. A mistake that learners hunt for with `catch` has its name
and its tests here, and the rest in `coursekit.check.games`. The code is copied to a temporary
folder, broken there, and tested there; the working tree is never touched. A survivor is a gap in
the tests, and exits 1.

    make mutants                    all of them
    python tests/mutants/run.py detr    those whose file or mistake contains "detr"
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutant:
    """One mistake: where `old` stands in `file`, `new` is put, and one of `tests` must fail."""

    mistake: str
    file: str
    old: str
    new: str
    tests: str


def read_mutants(folder: Path = ROOT / "tests" / "mutants") -> list[Mutant]:
    """Return the mutants of all tables."""
    tables = [tomllib.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.toml"))]
    return [
        Mutant(**(entry if "old" in entry else entry | _of_a_game(entry["mistake"])))
        for table in tables
        for entry in table["mutant"]
    ]


def _of_a_game(mistake: str) -> dict[str, str]:
    """Return file, old and new text of a mistake of `catch`."""
    from coursekit.check.games import GAMES  # a process that tests imports the copy's package

    ((game, found),) = [
        (game, one) for game in GAMES.values() for one in game.mistakes if one.name == mistake
    ]
    return {"file": game.file, "old": found.old, "new": found.new}


def misfit(mutant: Mutant, root: Path = ROOT) -> str | None:
    """Return why a mutant cannot be applied, or None: `old` must stand in its file exactly once."""
    path = root / "src" / "coursekit" / mutant.file
    missing = [test for test in mutant.tests.split() if not (root / test).is_file()]
    if not path.is_file() or missing:
        return f"there is no {missing[0] if missing else mutant.file}"
    count = path.read_text(encoding="utf-8").count(mutant.old)
    if count != 1 or mutant.old == mutant.new:
        return f"{mutant.old!r} stands {count} times in {mutant.file}, expected once"
    return None


def copy_of_the_code(folder: Path) -> Path:
    """Copy what the tests of the package need, and nothing that would be slow to copy."""
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("src", "tests", "benchmarks", "book", "notebooks"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    for name in ("pyproject.toml", "_config.yml", "_toc.yml", "requirements.lock"):
        shutil.copy(ROOT / name, folder)
    return folder


class Tester:
    """A process of its own that has torch loaded, and forks for each run of the tests on a copy."""

    def __init__(self, copy: Path) -> None:
        self.copy = copy
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        environment |= {"HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", copy],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def passes(self, tests: str) -> bool:
        """Run test files on the copy of the code."""
        self.process.stdin.write(tests + "\n")
        self.process.stdin.flush()
        code = int(self.process.stdout.readline())
        if code not in (0, 1):
            raise SystemExit(f"pytest could not run {tests}: it ended with {code}")
        return code == 0

    def survives(self, mutant: Mutant) -> bool:
        """Break the copy, test it, mend it."""
        path = self.copy / "src" / "coursekit" / mutant.file
        whole = path.read_text(encoding="utf-8")
        path.write_text(whole.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            return self.passes(mutant.tests)
        finally:
            path.write_text(whole, encoding="utf-8")


def serve(copy: Path) -> None:
    """Be a `Tester`'s process: a line with test files in, pytest's exit code out."""
    sys.path.insert(0, str(copy / "src"))
    os.chdir(copy)
    import hypothesis  # noqa: F401  what takes long to import is imported once, before the forks
    import pytest
    import transformers  # noqa: F401

    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--timeout=120"]
    for line in sys.stdin:
        child = os.fork()
        if not child:
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1), os.dup2(silence, 2)
            os._exit(pytest.main([*options, *line.split()]))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def main(words: list[str], workers: int = 2) -> int:
    """Print the table and return the number of survivors, at most 1."""
    chosen = [
        m for m in read_mutants() if not words or any(w in m.file or w in m.mistake for w in words)
    ]
    if wrong := [why for m in chosen if (why := misfit(m))]:
        raise SystemExit("\n".join(wrong))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        testers: SimpleQueue[Tester] = SimpleQueue()
        for number in range(workers):
            testers.put(Tester(copy_of_the_code(Path(folder) / str(number))))

        def with_a_tester(job: str, of: str | Mutant) -> bool:
            tester = testers.get()
            try:
                return getattr(tester, job)(of)
            finally:
                testers.put(tester)

        start = time.perf_counter()
        suites = sorted({mutant.tests for mutant in chosen})
        for tests, fine in zip(suites, pool.map(lambda t: with_a_tester("passes", t), suites)):
            if not fine:
                raise SystemExit(f"{tests} fails before anything was broken; mend that first")
        alive = []
        verdicts = pool.map(lambda m: with_a_tester("survives", m), chosen)
        for number, (mutant, lives) in enumerate(zip(chosen, verdicts), 1):
            verdict = "SURVIVED" if lives else "killed"
            print(
                f"{number:3}/{len(chosen)} {verdict:9} {mutant.file:30} {mutant.mistake}",
                flush=True,
            )
            alive += [mutant] * lives
        while not testers.empty():
            testers.get().process.stdin.close()
    print(f"{len(chosen) - len(alive)} of {len(chosen)} mutants killed "
          f"in {time.perf_counter() - start:.0f} s")  # fmt: skip
    return int(bool(alive))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(Path(sys.argv[2]))
    else:
        sys.exit(main(sys.argv[1:]))
