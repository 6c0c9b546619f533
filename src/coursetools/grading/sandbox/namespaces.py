"""A small world of its own: a file system of what Python needs, no network, no other process.

`enter` is called once by the fork server, before anything is imported: it leaves the namespaces
of the machine and builds a root of read-only folders. `enter_again` is called by each child: a
fresh /tmp with a quota, its own /proc, its own shared memory.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
from collections.abc import Iterable
from pathlib import Path

from coursetools.grading.sandbox import syscalls
from coursetools.grading.sandbox.syscalls import (
    BIND,
    DETACH,
    NODEV,
    NOEXEC,
    NOSUID,
    PRIVATE,
    REC,
    REMOUNT,
)

WORK = "/tmp/work"  # where a student's code starts
OLD = "/.old"
DEVICES = ("null", "zero", "full", "random", "urandom")
KEPT: dict[str, str] = {}  # folders to be read that lie below /tmp, and where they wait
PASSWD = "student:x:{uid}:{gid}::/tmp/work:/bin/sh\n"


def enter(read: Iterable[str], hide: Iterable[str], show: Iterable[str] = ()) -> None:
    """Move this process into new namespaces, whose root holds `read` without `hide`, and `show`.

    The caller is forked on the way: the old process waits for the new one and ends with it, since
    the first process of a namespace takes all others with it when it dies.
    """
    _rehearse()
    _leave()
    child = os.fork()
    if child:
        _wait_for(child)
    syscalls.prctl(syscalls.PDEATHSIG, signal.SIGKILL)
    _build(list(read), list(hide), list(show))


def enter_again(uid: int, gid: int, size: int, files: int) -> None:
    """Give this process, the first of a new PID namespace, its own /tmp, /proc and shared memory.

    `size` and `files` bound all that can be written anywhere.
    """
    syscalls.unshare(syscalls.NEWNS | syscalls.NEWIPC)
    _scratch(uid, gid, size, files)
    _mount_proc()


def _leave() -> None:
    uid, gid = os.geteuid(), os.getegid()
    flags = syscalls.NEWNS | syscalls.NEWPID | syscalls.NEWNET | syscalls.NEWUTS | syscalls.NEWIPC
    if uid != 0:
        flags |= syscalls.NEWUSER
    syscalls.unshare(flags)
    if uid != 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    syscalls.mount("", "/", flags=REC | PRIVATE)
    syscalls.mount("none", "/tmp", "tmpfs", NOSUID | NODEV, "size=64m,mode=755")


def _rehearse() -> None:
    """Fail while we can still go on without: half a set of namespaces cannot be left again."""
    child = os.fork()
    if child == 0:
        try:
            _leave()
            # A namespace of processes needs a first one to show whether /proc can be mounted.
            grandchild = os.fork()
            if grandchild == 0:
                _mount_proc()
                os._exit(0)
            os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
        except OSError as error:
            os._exit(min(error.errno or errno.EPERM, 255))
        finally:
            os._exit(errno.EPERM)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise OSError(abs(code), f"namespaces are refused here ({os.strerror(abs(code))})")


def _wait_for(child: int) -> None:
    os.closerange(3, 256)
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0x7F)


def _build(read: list[str], hide: list[str], show: list[str]) -> None:
    """Make the tmpfs on /tmp the root, and bind into it what may be read."""
    os.mkdir(f"/tmp{OLD}")
    syscalls.libc("pivot_root", b"/tmp", f"/tmp{OLD}".encode())
    os.chdir("/")
    for name in ("dev", "etc", "proc", "tmp"):
        os.mkdir(f"/{name}", 0o755)
    for name in DEVICES:
        Path(f"/dev/{name}").touch()
        syscalls.mount(f"{OLD}/dev/{name}", f"/dev/{name}", flags=BIND)
        # Still to be written to, but not to be touched: its time would be seen by the next.
        syscalls.read_only(f"/dev/{name}", NOSUID | NOEXEC)
    os.symlink("/tmp/shm", "/dev/shm")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"/dev/{name}")
    os.symlink("/proc/self/fd", "/dev/fd")
    Path("/etc/passwd").write_text(PASSWD.format(uid=os.geteuid(), gid=os.getegid()))
    for path in sorted({spelling for one in read for spelling in _spellings(one)}):
        if path.startswith("/tmp/"):
            if not any(path.startswith(kept + "/") for kept in KEPT):
                KEPT[path] = f"/.kept/{len(KEPT)}"
                _bind(OLD + path, KEPT[path])
        else:
            _bind(OLD + path, path)
    empty = [path for one in hide if os.path.isdir(path := _kept(one))]
    for path in empty:
        syscalls.mount("none", path, "tmpfs", NOSUID | NODEV | NOEXEC, "size=64k,mode=755")
    for path in show:
        _bind(OLD + path, _kept(path))
    for path in empty:
        syscalls.mount("", path, flags=REMOUNT | BIND | syscalls.RDONLY | NOSUID | NODEV)
    _mount_proc()
    syscalls.libc("umount2", OLD.encode(), DETACH)
    os.rmdir(OLD)
    _scratch(os.geteuid(), os.getegid(), 64 << 20, 4096)
    syscalls.mount("", "/", flags=REMOUNT | BIND | syscalls.RDONLY | NOSUID | NODEV)


def _kept(path: str) -> str:
    """Return where a path is while the root is built."""
    home = next((kept for kept in KEPT if f"{path}/".startswith(f"{kept}/")), "")
    return KEPT[home] + path.removeprefix(home) if home else path


def _spellings(path: str) -> set[str]:
    """Return a path as it is written, and where its links lead."""
    real = os.path.realpath(OLD + path)
    return {path, real.removeprefix(OLD) or "/"} - {"/"}


def _bind(source: str, path: str) -> None:
    """Show `source` of the old root at `path` of the new one."""
    try:
        mode = os.lstat(source).st_mode
    except OSError:
        return  # not every system has everything
    if os.path.lexists(path):
        return  # below a folder that is there already
    os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(source), path)
    elif stat.S_ISDIR(mode) and mode & 0o005 != 0o005 and os.geteuid() == 0:
        # Closed to others, as a private home is: what is in it may be open all the same.
        os.mkdir(path, 0o755)
        for name in os.listdir(source):
            _bind(os.path.join(source, name), os.path.join(path, name))
    elif stat.S_ISDIR(mode) or stat.S_ISREG(mode):
        os.mkdir(path, 0o755) if stat.S_ISDIR(mode) else Path(path).touch()
        syscalls.mount(source, path, flags=BIND | REC)
        syscalls.read_only(path)


def _mount_proc() -> None:
    syscalls.mount("proc", "/proc", "proc", NOSUID | NODEV | NOEXEC)


def _scratch(uid: int, gid: int, size: int, files: int) -> None:
    options = f"size={size},nr_inodes={files + 3 + 20 * len(KEPT)},mode=755,uid={uid},gid={gid}"
    syscalls.mount("none", "/tmp", "tmpfs", NOSUID | NODEV, options)
    for folder in (WORK, "/tmp/shm"):
        os.mkdir(folder, 0o755)
        os.chown(folder, uid, gid)
    for path, kept in KEPT.items():
        os.makedirs(path, 0o755)
        syscalls.mount(kept, path, flags=BIND | REC)
    os.chdir(WORK)
