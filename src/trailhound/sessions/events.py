"""What a browsing session consists of: visits, marks and the final submit.

The record types live here; reading and writing them as JSON lines is
:mod:`trailhound.sessions.files`, and the meaning of every field is in ``docs/session-format.md``.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

SESSION_VERSION = 1


class Reached(StrEnum):
    """How a visited page came up in the browser."""

    LINK = "link"
    TYPED = "typed"
    BOOKMARK = "bookmark"
    BACK = "back"
    FORWARD = "forward"
    RELOAD = "reload"
    FORM = "form"


class Visit(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="visit"):
    """A page was shown."""

    time: float
    """Unix time in seconds."""
    url: str
    """As the browser showed it, not yet canonical."""
    title: str = ""
    reached: Reached = Reached.LINK
    from_url: str | None = None
    """The page she was on before; ``None`` when the session starts here."""
    requested_url: str | None = None
    """What was asked for, when redirects led to ``url``."""
    frame_of: str | None = None
    """The page whose frame showed this one."""
    html: str | None = None
    """The page's source. Without it, the page is looked up where the session came from."""
    html_ref: str | None = None
    """Name of a file beside the session that holds the source."""


class Mark(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="mark"):
    """*Useful* was pressed, or taken back, or a page was declared not useful."""

    time: float
    url: str
    useful: bool | None = True
    """``None`` takes an earlier mark back."""
    label: str = ""
    """Which of several topics the mark belongs to."""


class Submit(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="submit"):
    """The session was handed in."""

    time: float


Event = Visit | Mark | Submit


class Session(msgspec.Struct, frozen=True):
    """One person's browsing for one or more topics."""

    topic: str
    events: tuple[Event, ...]
    user: str = ""
    recorder: str = ""
    """What wrote the session: ``extension 1.0``, ``har import``, ``demo`` …"""
