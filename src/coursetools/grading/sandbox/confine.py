"""What confines a student's code: layers, each put on where the machine allows it, and reported.

The fork server prepares `Ground` once; every child that it forks calls `confine` before it does
anything else. A layer that cannot be put on is no error here: the report says why, and `--require`
decides.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Any

from coursekit.submission.resource_limits import MB, Limits
from coursetools.grading.sandbox import hiding, landlock, namespaces, seccomp, syscalls
from coursetools.grading.sandbox.cgroup import Cgroup
from coursetools.grading.sandbox.descendants import (
    kill_all_of,
    kill_descendants,
    memory_of,
    threads_of,
)
from coursetools.grading.sandbox.sandbox_plan import HELD, LAYERS, Plan

SHARED = 256 * MB  # of what all have from the fork server

OWN_PROC = ("/proc/self", "/proc/cpuinfo", "/proc/meminfo")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
RANDOM = ("/dev/random", "/dev/urandom")


class Ground:
    """How the fork server is confined, and what it can do for its children."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.report = dict.fromkeys(LAYERS, "not tried")
        self.scratch = ""  # a folder of the machine, where there are no namespaces
        self._cgroup: Cgroup | None = None
        self._own_pids = -1
        self._prepare_cgroup()
        self._prepare_namespaces()
        if self._own_pids < 0:
            with contextlib.suppress(OSError):
                syscalls.prctl(syscalls.CHILD_SUBREAPER, 1)
        self.uid = plan.uid if self._may_drop_uid() else os.geteuid()
        with contextlib.suppress(OSError):
            syscalls.drop_bounding_set()  # for us and all children
        seccomp.prepare()

    def fork(self) -> int:
        """Fork; the child is the first process of its own PID namespace where there are such."""
        if self._own_pids >= 0:
            syscalls.unshare(syscalls.NEWPID)
        else:
            self.scratch = tempfile.mkdtemp(prefix="coursekit-student-")
            os.chown(self.scratch, self.uid, -1)
        child = os.fork()
        if child and self._own_pids >= 0:
            syscalls.libc("setns", self._own_pids, syscalls.NEWPID)
        return child

    def confine(self) -> dict[str, str]:
        """Put every layer on the calling process, a fresh fork, and report them."""
        limits, report = self.plan.limits, dict(self.report)
        size = _own_size()
        os.setsid()
        if self._own_pids >= 0:
            namespaces.enter_again(self.uid, self.uid, limits.file_bytes, limits.files)
        else:
            os.chdir(self.scratch)
            os.environ.update(HOME=self.scratch, TMPDIR=self.scratch)
        if self._cgroup is not None:
            self._cgroup.join()
        report["rlimits"] = _limit(limits, size, self.uid, self.plan.questions)
        with contextlib.suppress(OSError):  # where memory runs out for all, these go first
            Path("/proc/self/oom_score_adj").write_text("1000")
        if self.uid != os.geteuid():
            os.setgroups([])
            os.setresgid(self.uid, self.uid, self.uid)
            os.setresuid(self.uid, self.uid, self.uid)
            with contextlib.suppress(OSError):
                syscalls.prctl(syscalls.DUMPABLE, 1)
            report["uid"] = HELD
        with contextlib.suppress(OSError):
            syscalls.drop_capabilities()
        report["no_new_privs"] = _try(syscalls.prctl, syscalls.NO_NEW_PRIVS, 1)
        report["landlock"] = _try(self._landlock)
        report["seccomp"] = _try(seccomp.restrict)
        return report

    def greedy(self) -> bool:
        """Return whether all of a submission's processes together hold more than one may have.

        The limit of each is the kernel's business; this is for those that multiply. Only in our own
        namespace do we see all of them, and no others.
        """
        if self._own_pids < 0:
            return False
        limit = self.plan.limits.memory + SHARED
        processes = [
            path for path in Path("/proc").glob("[0-9]*/smaps_rollup") if path.parts[2] != "1"
        ]
        return len(processes) > 1 and sum(map(memory_of, processes)) > limit

    def clean(self, child: int) -> None:
        """End everything that a child, already dead itself, has left, and its files."""
        if self._cgroup is not None:
            with contextlib.suppress(OSError):
                self._cgroup.kill()
        if self._own_pids >= 0:
            return  # died with the first process of their namespace, files and all
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        if self.uid != os.geteuid():
            kill_all_of(self.uid)
        kill_descendants()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def leave(self) -> None:
        """Take away what this made on the machine."""
        if self._cgroup is not None:
            with contextlib.suppress(OSError):
                self._cgroup.remove()

    def _prepare_cgroup(self) -> None:
        limits = self.plan.limits
        try:
            memory = limits.memory + limits.file_bytes + SHARED
            self._cgroup = Cgroup(memory, limits.processes)
            self.report["cgroup"] = HELD
        except OSError as error:
            self.report["cgroup"] = _why(error)

    def _prepare_namespaces(self) -> None:
        try:
            namespaces.enter(self.plan.read, self.plan.hide, self.plan.show)
            self._own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
            self.report["namespaces"] = HELD
        except OSError as error:
            self.report["namespaces"] = _why(error)

    def _may_drop_uid(self) -> bool:
        """Return whether there is another user to become, who could still read Python."""
        if os.geteuid() != 0:
            self.report["uid"] = "the grader is not root: students' code has the grader's own uid"
            return False
        needed = [path for path in self.plan.path if os.path.isdir(path)]
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setresgid(self.plan.uid, self.plan.uid, self.plan.uid)
                os.setresuid(self.plan.uid, self.plan.uid, self.plan.uid)
                os._exit(0 if all(os.access(p, os.R_OK | os.X_OK) for p in needed) else 1)
            finally:
                os._exit(2)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        reasons = {1: "another user cannot read Python's folders", 2: "no other uid is allowed"}
        self.report["uid"] = reasons.get(code, "not tried")
        return code == 0

    def _landlock(self) -> None:
        if self._own_pids >= 0:
            # The root holds nothing else than what may be read.
            landlock.restrict(read=["/"], write=["/tmp", *DEVICES])
        else:
            own = [*OWN_PROC, *RANDOM]
            read = [*hiding.visible(self.plan.read, self.plan.hide), *self.plan.show, *own]
            write = [self.scratch, *DEVICES]
            landlock.restrict(read=read, write=write, enter=self.plan.path)


def _limit(limits: Limits, size: int, uid: int, questions: int) -> str:
    """Set the resource limits of this process; return "held", or which could not be set."""
    cpu = int(limits.notebook_seconds + questions * limits.question_seconds) + 5
    wanted = {
        "RLIMIT_AS": size + limits.memory,
        "RLIMIT_CPU": cpu,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NPROC": limits.processes + threads_of(uid),
        "RLIMIT_NOFILE": 256,
        "RLIMIT_CORE": 0,
    }
    refused = []
    for name, value in wanted.items():
        try:
            kind = getattr(resource, name)  # not every system has each of them
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, bound))
        except (AttributeError, OSError, ValueError):
            refused.append(name)
    return f"the system refuses {', '.join(refused)}" if refused else HELD


def _own_size() -> int:
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 8 << 30


def _try(action: Any, *arguments: Any) -> str:
    try:
        action(*arguments)
    except (OSError, AttributeError) as error:
        return _why(error)
    return HELD


def _why(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
