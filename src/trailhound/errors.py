"""Errors a user can act on.

::

    TrailhoundError            exit code 1
    ├── UsageError             exit code 2: a name or value that cannot be meant, a missing input
    ├── ConfigError            exit code 2: a setting or configuration file is wrong
    ├── SessionError           a browsing session cannot be read or learned from
    ├── CorpusError            a recorded web cannot be read or written
    ├── TopicError             a topic has no targets, no seeds, or nothing to find
    ├── ModelError             a trained model is missing, damaged or from a newer version
    ├── SourceError            backlinks, a trace or a search cannot be had
    ├── FrontierError          the queue's store cannot be used
    └── StorageError           results or archives cannot be read or written

Dead links, refusals and time-outs are not errors: see :class:`trailhound.records.Outcome`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What readers of JSON raise: it is none or of another shape, no UTF-8, or nested too deeply."""


def plugin_faults() -> tuple[type[BaseException], ...]:
    """What a plug-in may raise at its own cost: it is not for it to end the program.

    To be called by ``except``, when something was raised. A task of the plug-in's own may have been
    cancelled, and it waited for that; when the running task is, that is for whoever did it.
    """
    import asyncio  # here: what only looks at crawls does without

    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop is running
        task = None
    if task is not None and task.cancelling():
        return Exception, SystemExit
    return Exception, SystemExit, asyncio.CancelledError


class TrailhoundError(Exception):
    """Root of all. The message says what went wrong, where, and what to do next."""

    exit_code = 1


class UsageError(TrailhoundError):
    """A name or value that cannot be meant, such as an input that does not exist."""

    exit_code = 2


class ConfigError(TrailhoundError):
    """A setting or configuration file is wrong."""

    exit_code = 2


class SessionError(TrailhoundError):
    """A browsing session cannot be read or learned from."""


class CorpusError(TrailhoundError):
    """A recorded web cannot be read or written."""


class TopicError(TrailhoundError):
    """A topic has no targets, no seeds, or nothing to find."""


class ModelError(TrailhoundError):
    """A trained model is missing, damaged or from a newer version."""


class SourceError(TrailhoundError):
    """Backlinks, an access trace or a search cannot be had."""


class FrontierError(TrailhoundError):
    """The queue's store cannot be used."""


class StorageError(TrailhoundError):
    """Results or archives cannot be read or written."""


_FLAG = re.compile(
    r"trailhound [a-z]+(?: [^\s(,;]+)*"
    r"|(?<![\w/.:-])--([a-z][a-z-]*)(?: (?=['\dA-Z]|[\w-]+[.:][\w/]))?"
)
"""A whole command, or a flag with the blank in front of its value: a host may be one.

Addresses and paths hold two dashes as well, in the middle of a word."""
_ARGUMENTS = {
    "seed": "seeds",
    "session": "sessions",
    "delay": "delay_seconds",
    "allow-address": "allow_addresses",
    "sink": "sinks",
    "states": "n_states",
    "metrics": "metrics_port",
    "header": "headers",
    "cookies": "access_file",
    "for-host": "as_me",
    "resume": "the same folder",
    "restart": "another folder",
}
"""What flags of the command line are in a program, where it is not the same word."""


def in_arguments(message: str) -> str:
    """A message for programs: ``--max-requests 200`` is ``max_requests=200`` there.

    Commands that are quoted as a whole stay as they are.
    """

    def argument(flag: re.Match[str]) -> str:
        if flag[1] is None:
            return flag[0]
        name = _ARGUMENTS.get(flag[1], flag[1].replace("-", "_"))
        return f"{name}=" if flag[0].endswith(" ") else name

    return _FLAG.sub(argument, message)


@contextmanager
def told_to_programs() -> Iterator[None]:
    """Within it, errors that name flags of the command line name arguments instead."""
    try:
        yield
    except TrailhoundError as error:
        error.args = (in_arguments(str(error)),)
        raise


def unknown_name(kind: str, name: str, known: Iterable[str], hint: str = "") -> UsageError:
    """The error for a name that is not in ``known``, with the nearest ones suggested."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3)
    if near:
        advice = "Did you mean " + " or ".join(near) + "?"
    else:
        shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        advice = f"Known: {shown}." if names else "There are none."
    return UsageError(f"Unknown {kind} '{name}'. {advice}" + (f" {hint}" if hint else ""))
