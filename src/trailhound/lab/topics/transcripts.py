"""Writing down browsing as a session, visit by visit."""

from __future__ import annotations

from trailhound.sessions.events import Event, Mark, Reached, Session, Submit, Visit


class Transcript:
    """Collects what somebody did; each visit knows the page before it."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._shown: str | None = None
        self._time = 0.0

    def visit(self, time: float, url: str, reached: Reached = Reached.LINK) -> None:
        """A page was shown. A typed address starts afresh: it comes from no page."""
        from_url = None if reached is Reached.TYPED else self._shown
        self._events.append(Visit(time=time, url=url, reached=reached, from_url=from_url))
        self._shown = url
        self._time = time

    def mark_useful(self) -> None:
        """*Useful* was pressed on the page shown last."""
        if self._shown is not None:
            self._events.append(Mark(time=self._time, url=self._shown))

    def session(self, topic: str, recorder: str) -> Session:
        """The whole session, submitted at its end."""
        events = (*self._events, Submit(time=self._time))
        return Session(topic=topic, events=events, recorder=recorder)
