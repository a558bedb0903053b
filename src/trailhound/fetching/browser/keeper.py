"""Starts a browser that cannot outlive us, reach the network, or eat the machine's memory.

Run by path, as the browser's executable, without anything else of Trailhound::

    python -I keeper.py OWNER_PID PROFILE MAX_BYTES NETWORK BROWSER FLAGS...

This process becomes the browser, so that whoever started it drives it by its pipes. A second one,
the keeper, stays behind and watches: it kills every process of the browser when the owner is gone,
however that ended, and takes away its profile; and it kills a page's process that has grown beyond
``MAX_BYTES``. With ``NETWORK`` ``none`` the browser starts without any network, where the system
lets us: all that its pages need is handed to them. Linux only.
"""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path

_CLONE_NEWUSER, _CLONE_NEWNET = 0x1000_0000, 0x4000_0000
_PR_SET_PDEATHSIG = 1
_LOOK_SECONDS = 0.3


def main(arguments: list[str]) -> None:
    """Leave a keeper behind, and become the browser."""
    owner, profile, max_bytes, network, *browser = arguments
    owner_pidfd = os.pidfd_open(int(owner))  # raises when it is gone already
    browser_pid = os.getpid()
    if os.fork() == 0:
        _keep(owner_pidfd, browser_pid, profile, int(max_bytes))
    os.close(owner_pidfd)
    if network == "none":
        _leave_the_network()
    os.execv(browser[0], browser)  # noqa: S606 - no shell is wanted


def _keep(owner_pidfd: int, browser_pid: int, profile: str, max_bytes: int) -> None:
    """Wait for the end of either, and look after the browser's memory meanwhile."""
    for signalled in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signalled, signal.SIG_IGN)  # it leaves last
    group = os.getpgid(browser_pid)
    browser_pidfd = os.pidfd_open(browser_pid)
    os.setpgid(0, 0)  # not of the group that it kills
    os.closerange(0, min(owner_pidfd, browser_pidfd))  # the pipes are the browser's
    poll = select.poll()
    for pidfd in (owner_pidfd, browser_pidfd):
        poll.register(pidfd, select.POLLIN)
    while not poll.poll(_LOOK_SECONDS * 1000):
        _end_the_swollen(group, max_bytes)
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    poll = select.poll()
    poll.register(browser_pidfd, select.POLLIN)
    poll.poll(5000)
    shutil.rmtree(profile, ignore_errors=True)
    os._exit(0)


def _end_the_swollen(group: int, max_bytes: int) -> None:
    """Kill processes of the group, but for its first, that hold too much memory."""
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or entry.name == str(group):
            continue
        with suppress(OSError, ValueError, IndexError):
            pid = int(entry.name)
            if os.getpgid(pid) == group and _resident_bytes(pid) > max_bytes:
                os.kill(pid, signal.SIGKILL)


def _resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _leave_the_network() -> None:
    """A network of our own, with nothing in it; under the same user as before.

    Where that is forbidden, the browser's flags alone keep it from the network.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if user == 0 and libc.unshare(_CLONE_NEWNET) == 0:
        return
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return
    with suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


if __name__ == "__main__":
    main(sys.argv[1:])
