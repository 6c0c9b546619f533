"""Landlock: the kernel refuses this process every file that is not under a named folder.

It needs no privilege, holds for all children, and cannot be taken off again. From version 4 on it
refuses TCP too, from 6 on signals and abstract sockets to processes outside.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from collections.abc import Iterable

from coursetools.grading.sandbox.syscalls import LINUX, NO_NEW_PRIVS, prctl, syscall

CREATE, ADD_RULE, RESTRICT = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REFER, TRUNCATE, IOCTL = 1 << 13, 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL  # the rest is for folders only
RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}  # by version


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """Return what the kernel has, or raise OSError."""
    if not LINUX:
        raise OSError(errno.ENOSYS, "Landlock is Linux's")
    return syscall(CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))


def restrict(read: list[str], write: list[str], enter: Iterable[str] = ()) -> None:
    """Allow reading and running below `read`, everything below `write`, and nothing else.

    Below `enter` the names of files may be listed: Python imports nothing from a folder otherwise.
    """
    known = version()
    everything = RIGHTS[max(v for v in RIGHTS if v <= known)]
    ruleset = _Ruleset(fs=everything, net=3 if known >= 4 else 0, scoped=3 if known >= 6 else 0)
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    rules = syscall(CREATE, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for paths, rights in ((read, READ), (write, everything), (enter, READ_DIR)):
            for path in paths:
                _allow(rules, path, rights & everything)
        prctl(NO_NEW_PRIVS, 1)
        syscall(RESTRICT, rules, ctypes.c_uint32(0))
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            rights &= ON_FILES
        rule = _Beneath(allowed=rights, folder=folder)
        syscall(ADD_RULE, rules, 1, ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(folder)
