"""A crawl in a process of its own, run by tests that let hostile pages loose on it.

Takes a workspace, a port of this machine, and settings as JSON; prints what came of it as JSON, and
``ready`` before that, at the first page.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from live_webs import Site

from trailhound.records import PageEvent
from trailhound.topics.workspace import Workspace


def main() -> None:
    folder, port, told = Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    topic = Workspace(folder).folder_for("wasps")
    is_new = not (topic.path / "crawl").exists()
    topic.prepare()
    site = Site(topic, port, "h.test")
    with site.begun(**told) if is_new else site.resumed(**told) as crawl:
        signal.signal(signal.SIGINT, lambda *_: crawl.stop())
        events: list[PageEvent] = []
        for event in crawl.run():
            if not events:
                tell("ready")
            events.append(event)
        tell(
            json.dumps(
                {
                    "outcomes": {event.url: event.outcome for event in events},
                    "whys": {event.url: event.why for event in events},
                    "links": {event.url: event.links_found for event in events},
                    "failures": [
                        (each.what, each.times, each.example) for each in crawl.failures()
                    ],
                    "ended": crawl.stop_reason,
                    "peak_megabytes": peak_megabytes(),
                }
            )
        )


def peak_megabytes() -> float:
    """Of this process alone: ``getrusage`` would count the one that it was forked from."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) / 1e3


def tell(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
