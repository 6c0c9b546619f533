"""Two submissions have no word with each other: what the first leaves, the second does not see."""

from __future__ import annotations

import fcntl
import os

import pytest
import torch

# name -> what the first does, and what the second prints, as does one who comes after nobody
CHANNELS = {
    "a file": ("open('/tmp/x', 'w').write('1')", "os.listdir('/tmp')"),
    "a file of shared memory": ("open('/dev/shm/x', 'w').write('1')", "os.listdir('/dev/shm')"),
    "shared memory": (
        "from multiprocessing.shared_memory import SharedMemory\n"
        "SharedMemory('word', create=True, size=8)",
        "os.path.exists('/dev/shm/word')",
    ),
    "the time of a library's file": (
        "quietly(os.utime, torch.__file__, (1, 1))",
        "os.stat(torch.__file__).st_mtime",
    ),
    "when a library's file was read": (
        "open(torch.__file__.replace('__init__', 'hub')).read()",
        "os.stat(torch.__file__.replace('__init__', 'hub')).st_atime",
    ),
    "the time of a device": ("quietly(os.utime, '/dev/null')", "os.stat('/dev/null').st_mtime"),
    "the rights of a device": ("quietly(os.chmod, '/dev/zero', 0o600)", "os.stat('/dev/zero')[0]"),
    "an attribute of a file": (
        "quietly(os.setxattr, torch.__file__, 'user.x', b'1')",
        "os.listxattr(torch.__file__)",
    ),
    "an abstract socket": (
        "import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind('\\0word')",
        "'word' in open('/proc/net/unix').read()",
    ),
    "a queue": ("libc.mq_open(b'/word', 66, 0o666, None)", "libc.mq_open(b'/word', 0)"),
    "a segment of System V": ("libc.shmget(77, 4096, 0o1666)", "libc.shmget(77, 4096, 0)"),
    "a semaphore": ("libc.semget(77, 1, 0o1666)", "libc.semget(77, 1, 0)"),
    "a key": (
        "libc.syscall(248, b'user', b'word', b'1', 1, -4)",
        "libc.syscall(250, 10, -4, b'user', b'word', 0)",
    ),
    "the environment": ("os.environ['WORD'] = '1'", "os.environ.get('WORD')"),
    "priority": ("os.nice(5)", "os.nice(0)"),
    "processors": (
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})",
        "len(os.sched_getaffinity(0))",
    ),
    "a limit": (
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))",
        "__import__('resource').getrlimit(7)",
    ),
    "the mask of new files": ("os.umask(0o777)", "os.umask(0)"),
    "a process that stays": (
        "import subprocess\nsubprocess.Popen(['sleep', '60'], start_new_session=True)",
        "len([p for p in os.listdir('/proc') if p.isdigit()])",
    ),
    "a name in the kernel": ("quietly(open, '/proc/sys/kernel/domainname', 'w')", "os.uname()[1]"),
    "a module's value": ("torch.word = 1", "hasattr(torch, 'word')"),
    "random numbers": ("torch.manual_seed(7)", "torch.initial_seed()"),
    "the number of threads": ("torch.set_num_threads(3)", "torch.get_num_threads()"),
    "how torch computes": (
        "torch.set_default_dtype(torch.float64)\ntorch.use_deterministic_algorithms(True)",
        "(torch.get_default_dtype(), torch.are_deterministic_algorithms_enabled())",
    ),
}
BEFORE = """
import ctypes, os
libc = ctypes.CDLL(None)
def quietly(function, *arguments):
    try:
        function(*arguments)
    except OSError:
        pass
"""


def test_what_one_leaves_the_next_does_not_see(desk):
    reads = [BEFORE]
    for name, (_, look) in CHANNELS.items():
        reads += [f"try: print({name!r}, {look})"]
        reads += [f"except OSError as error: print({name!r}, type(error).__name__)"]
    looking = "\n".join(reads)

    def seen() -> list[str]:
        outputs = desk.first(desk.grade(first=looking))
        assert [output["name"] for output in outputs] == ["stdout"], outputs
        return outputs[0]["text"].splitlines()

    before = seen()
    assert len(before) == len(CHANNELS)
    for name, (leave, _) in CHANNELS.items():
        verdict = desk.grade(first=f"{BEFORE}\n{leave}")
        errors = [o for o in desk.first(verdict) if o["output_type"] == "error"]
        assert all("Error" in error["ename"] for error in errors), name
    assert seen() == before


@pytest.mark.skipif(not hasattr(fcntl, "flock"), reason="locks of this kind are Unix's")
def test_a_lock_on_a_library_is_no_word_to_another(desk):
    look = (
        "import fcntl\nwith open(torch.__file__) as f:\n"
        "    print(fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB))\n"
        "    print(fcntl.lockf(f, fcntl.LOCK_SH | fcntl.LOCK_NB))"
    )
    with open(torch.__file__) as file:
        free = desk.first(desk.grade(first=look))
        fcntl.flock(file, fcntl.LOCK_EX)
        assert desk.first(desk.grade(first=look)) == free
        assert free[0]["text"] == "None\nNone\n"
    hold = f"import fcntl, time\nf = open(torch.__file__)\nfcntl.flock(f, 2)\n{'time.sleep(0.2)'}"
    assert desk.grade(first=hold).points == 5


def test_who_opens_a_library_is_not_told(desk):
    watch = (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "print(libc.inotify_init(), libc.inotify_init1(0), libc.fanotify_init(0, 0))"
    )
    assert desk.first(desk.grade(first=watch))[0]["text"] == "-1 -1 -1\n"


def test_no_memory_is_shared_for_writing(desk):
    look = "print([l for l in open('/proc/self/maps') if l.split()[1][1::2] == 'ws'])"
    assert desk.first(desk.grade(first=look))[0]["text"] == "[]\n"


def test_libraries_that_lock_still_work(desk):
    use = (
        "import sqlite3, tempfile, matplotlib.pyplot as plt\n"
        "with sqlite3.connect('notes.db') as base:\n    base.execute('create table t (a)')\n"
        "    base.execute('insert into t values (4)')\nbase.close()\n"
        "print(sqlite3.connect('notes.db').execute('select a from t').fetchone())\n"
        "with tempfile.NamedTemporaryFile() as f:\n    torch.save({'a': torch.ones(1)}, f.name)\n"
        "    print(torch.load(f.name)['a'].item())\n"
        "plt.plot([1, 2]); plt.title('of a kind')"
    )
    outputs = desk.first(desk.grade(first=use))
    assert outputs[0]["text"].startswith("(4,)\n1.0\n")
    assert [o["output_type"] for o in outputs] == ["stream", "display_data", "execute_result"]
    assert os.path.exists("/dev/null")
