"""A filter of system calls: those that no homework needs are refused with "not permitted".

It is a list of what is forbidden, not of what is allowed, since torch and Python use hundreds of
calls that differ between versions. What it forbids is the kernel's machinery: tracing, mounting,
namespaces, keys, BPF, io_uring, modules, and every socket but those between own processes.

A lock on a file is pretended: it succeeds, and nobody sees it. Libraries are the same files for all
submissions, and a lock on one would be a word to another; in a folder of one's own, where nobody
else is, a program misses nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import struct
from functools import lru_cache

from coursetools.grading.sandbox.syscalls import MACHINE, NO_NEW_PRIVS, SECCOMP, prctl

# name: number on x86_64, on aarch64
FORBIDDEN = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "connect": (42, 203),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "inotify_init": (253, None),  # who opens which library
    "inotify_init1": (294, 26),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "semget": (64, 190),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "shmget": (29, 194),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
SOCKET, CLONE, CLONE3 = (41, 198), (56, 220), (435, 435)
FCNTL, FLOCK = (72, 25), (73, 32)
LOCK = (6, 7, 37, 38)  # F_SETLK, F_SETLKW, and the same for open files
ASK = (5, 36, 1024, 1025, 1026)  # who holds one; F_SETLEASE, F_GETLEASE, F_NOTIFY
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

AF_UNIX = 1
NAMESPACES = 0x7E020000  # the flags of clone that make one
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
INSTRUCTION = struct.Struct("=HBBI")
# Where the kernel puts them, of the arguments the lower half.
NUMBER, ARCHITECTURE, ARGUMENT, COMMAND = 0, 4, 16, 24


def program(machine: str = MACHINE) -> list[tuple[int, int, int, int]]:
    """Return the filter as instructions (code, jump if true, jump if false, value)."""
    if machine not in ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no filter has been written for {machine}")
    column = list(ARCHITECTURES).index(machine)
    refuse = (RETURN, 0, 0, REFUSE | errno.EPERM)
    code = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, ARCHITECTURES[machine]),
        refuse,
        (LOAD, 0, 0, NUMBER),
    ]
    if machine == "x86_64":
        code += [(AT_LEAST, 0, 1, 0x40000000), refuse]  # the x32 numbers
    for numbers in FORBIDDEN.values():
        if (number := numbers[column]) is not None:
            code += [(EQUAL, 0, 1, number), refuse]
    pretend = (RETURN, 0, 0, REFUSE)  # an error of number 0 is none
    code += [(EQUAL, 0, 1, FLOCK[column]), pretend]
    commands = [(EQUAL, 0, 1, command) for command in (*LOCK, *ASK)]
    ends = [pretend] * len(LOCK) + [refuse] * len(ASK)
    pairs = [step for pair in zip(commands, ends) for step in pair]
    code += [(EQUAL, 0, len(pairs) + 2, FCNTL[column]), (LOAD, 0, 0, COMMAND), *pairs]
    code += [(RETURN, 0, 0, ALLOW)]
    # Without clone3, whose flags a filter cannot see, the C library falls back to clone.
    code += [(EQUAL, 0, 1, CLONE3[column]), (RETURN, 0, 0, REFUSE | errno.ENOSYS)]
    code += [(EQUAL, 0, 3, SOCKET[column]), (LOAD, 0, 0, ARGUMENT)]
    code += [(EQUAL, 4, 0, AF_UNIX), refuse]
    code += [(EQUAL, 0, 2, CLONE[column]), (LOAD, 0, 0, ARGUMENT), (ANY_BIT, 1, 0, NAMESPACES)]
    return [*code, (RETURN, 0, 0, ALLOW), refuse]


@lru_cache(maxsize=1)
def _packed() -> bytes:
    return b"".join(INSTRUCTION.pack(*instruction) for instruction in program())


def prepare() -> None:
    """Assemble the filter, so that no process has to whose parent has done it."""
    with contextlib.suppress(OSError):
        _packed()


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def restrict() -> None:
    """Put the filter on this process and all that it starts; there is no way back."""
    packed = _packed()
    prctl(NO_NEW_PRIVS, 1)
    pointer = ctypes.pointer(_Program(len(packed) // INSTRUCTION.size, packed))
    prctl(SECCOMP, 2, ctypes.cast(pointer, ctypes.c_void_p).value or 0)
