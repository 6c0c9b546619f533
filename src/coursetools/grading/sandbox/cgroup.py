"""A control group for each fork server: memory and processes counted by the kernel, for all.

Only where there is cgroup version 2 and this process may make a group, as under systemd with
`systemd-run --scope -p Delegate=yes`, or as root.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

MOUNT = Path("/sys/fs/cgroup")
NEEDED = {"memory", "pids"}


class Cgroup:
    """A group with limits; it stays reachable when its file system no longer is."""

    def __init__(self, memory: int, processes: int, mount: Path = MOUNT) -> None:
        parent = _parent(mount)
        self.name = f"coursekit-{os.getpid()}"
        folder = parent / self.name
        folder.mkdir()
        try:
            (folder / "memory.max").write_text(str(memory))
            (folder / "pids.max").write_text(str(processes))
            self._join = os.open(folder / "cgroup.procs", os.O_WRONLY)
            self._kill = os.open(folder / "cgroup.kill", os.O_WRONLY)
        except OSError:
            folder.rmdir()
            raise
        self._parent = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)

    def join(self) -> None:
        """Put the calling process, and all that it starts, into the group."""
        os.write(self._join, b"0")

    def kill(self) -> None:
        """End every process of the group."""
        os.write(self._kill, b"1")

    def remove(self) -> None:
        """Take the empty group away."""
        try:
            os.rmdir(self.name, dir_fd=self._parent)
        finally:
            for descriptor in (self._join, self._kill, self._parent):
                os.close(descriptor)


def _parent(mount: Path) -> Path:
    """Return a group that hands memory and processes down to groups below it."""
    if not (mount / "cgroup.controllers").is_file():
        raise OSError(errno.ENOSYS, "this machine has no cgroup version 2 at /sys/fs/cgroup")
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    own = next((line[3:] for line in lines if line.startswith("0::")), "/")
    here = mount / own.lstrip("/")
    for group in (here, here.parent):
        if not group.is_relative_to(mount):
            continue
        handed = set((group / "cgroup.subtree_control").read_text().split())
        if handed >= NEEDED and os.access(group, os.W_OK):
            return group
    raise OSError(
        errno.EACCES, "no group here may have limits; systemd-run -p Delegate=yes has one"
    )
