"""Learns a topic after its session was submitted, one topic at a time, beside the collecting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from trailhound.counting import counted
from trailhound.errors import TrailhoundError
from trailhound.workspace import LearningRequest, Workspace, learn_into

Learn = Callable[[str], str]
"""Learns the topic with this name; the result in a sentence."""


@dataclass(frozen=True)
class LearningStatus:
    """How far the learning of a topic is."""

    learning: Literal["no", "running", "done", "failed"]
    message: str = ""


class Learner:
    """Learns in a thread, so that browsers are answered meanwhile."""

    def __init__(self, learn: Learn, report: Callable[[str], None]) -> None:
        self._learn = learn
        self._report = report
        self._one_at_a_time = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._status: dict[str, LearningStatus] = {}

    def submitted(self, topic: str) -> None:
        """Start learning ``topic``, or queue it."""
        self._status[topic] = LearningStatus("running")
        task = asyncio.create_task(self._run(topic))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def status(self, topic: str) -> LearningStatus:
        """What became of the last submit."""
        return self._status.get(topic, LearningStatus("no"))

    async def finish(self) -> None:
        """Wait until all that was submitted is learned."""
        await asyncio.gather(*self._tasks)

    async def _run(self, topic: str) -> None:
        async with self._one_at_a_time:
            try:
                self._status[topic] = LearningStatus(
                    "done", await asyncio.to_thread(self._learn, topic)
                )
            except TrailhoundError as error:
                self._status[topic] = LearningStatus("failed", f"Learning failed: {error}")
        self._report(self._status[topic].message)


def learn_in(workspace: Workspace) -> Learn:
    """Learning from all sessions that a topic of ``workspace`` has."""

    def learn(topic: str) -> str:
        learned = learn_into(workspace, LearningRequest(topic))
        graph = learned.model.graph
        return (
            f"Learned '{topic}' from {counted(len(graph.pages), 'page')}, "
            f"{len(graph.targets)} of them useful."
        )

    return learn
