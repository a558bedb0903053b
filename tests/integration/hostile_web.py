"""The kinds of ``benchmarks/chaos`` whose outcome is known, served one by one from a thread.

``CASES`` says what a fetch of each front page must end as; the names are those of the table in
``docs/security.md``.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field

from benchmarks.chaos.behaviours import Asked, page
from benchmarks.chaos.bombs import make_bombs
from benchmarks.chaos.kind import Kind
from benchmarks.chaos.kinds import KINDS
from benchmarks.chaos.server import HostileServer

CASES = [kind for kind in KINDS.values() if kind.outcome]


@dataclass
class HostileWeb:
    """All cases behind one port; unknown hosts get a page."""

    cases: dict[str, Kind]
    port: int = 0
    asked: list[str] = field(default_factory=list)
    """Host and path of every request."""

    def __enter__(self) -> HostileWeb:
        make_bombs()
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        self._thread = threading.Thread(target=self._serve, args=(started,), daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _serve(self, started: threading.Event) -> None:
        self._loop.set_exception_handler(lambda loop, context: None)
        asyncio.set_event_loop(self._loop)
        hostile = HostileServer(self.cases, page(), self._note)
        server = self._loop.run_until_complete(
            asyncio.start_server(hostile.answer, "127.0.0.1", 0, limit=2**20)
        )
        self.port = hostile.inside_port = server.sockets[0].getsockname()[1]
        started.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.05))
        self._loop.close()

    def _note(self, asked: Asked) -> None:
        self.asked.append(f"{asked.host}{asked.path}")
