"""A shard as a Ray actor. Imported where Ray is: in its workers, and by the driver.

Ray starts the actor, starts it again elsewhere when its process or its machine dies, and carries
the calls. The actor opens its shard in a thread, so that it answers meanwhile, and however long
that takes.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
import ray
from ray.exceptions import RayError

from trailhound.cluster.connecting import NAMESPACE
from trailhound.cluster.keeping import scratch_folder
from trailhound.cluster.layout import ClusterFolder, Placement, ShardSpec, actor_name
from trailhound.cluster.messages import (
    Heard,
    Letter,
    Look,
    Receipt,
    ShardState,
    Turn,
    TurnWish,
    decode_letter,
    encode_letter,
    encode_look,
)
from trailhound.cluster.places import FencedError
from trailhound.cluster.shard import Shard
from trailhound.errors import StorageError, TrailhoundError
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import TopicFolder, Workspace

T = TypeVar("T")

ANSWER_SECONDS = 60.0
"""A shard that does not answer for so long is asked again later."""
OPEN_ATTEMPTS = 60
"""A second apart: the process that had the shard before may take so long to notice."""
ORPHANED_SECONDS = 900.0
"""A shard whose driver has not looked for so long ends; what it has is on disk."""
ENDING_SECONDS = 3600.0
"""Of one without a driver, for its last checkpoint."""


class ShardActor:
    """Opens a shard and lets it crawl, until it is closed."""

    def __init__(self, spec: ShardSpec) -> None:
        self._spec = spec
        self._shard: Shard | None = None
        self._failure = ""
        self._is_closing = False
        self._is_over = threading.Event()
        self._looked_at = time.monotonic()
        self._node = ray.get_runtime_context().get_node_id()
        self._peers = RayPeers(_topic(spec))
        threading.Thread(target=self._live, name="shard", daemon=True).start()
        threading.Thread(target=self._watch, name="orphan watch", daemon=True).start()

    async def deliver(self, batch: bytes) -> Receipt:
        """Links from another shard."""
        return await self._open().receive(batch)

    async def give_turn(self, wish: TurnWish) -> Turn:
        """A turn at an address."""
        return self._open().give_turn(wish)

    async def news_for(self, receiver: int, heard: Heard) -> bytes:
        """A :class:`Letter` with what another shard may learn (msgpack)."""
        return encode_letter(self._open().news_for(receiver, heard))

    async def look(self, epoch: int, seen: int) -> bytes:
        """A :class:`Look` for the driver (msgpack)."""
        self._looked_at = time.monotonic()
        if self._failure or self._shard is None:
            state = "failed" if self._failure else "starting"
            look = Look(ShardState(shard=self._spec.number, state=state, why=self._failure))
        else:
            look = await self._shard.look(epoch, seen)
        placed = msgspec.structs.replace(look.state, node=self._node, pid=os.getpid())
        return encode_look(msgspec.structs.replace(look, state=placed))

    async def allow(self, limit: int | None) -> None:
        """How many requests the shard may make, in all; one that cannot hear it is told again."""
        with suppress(ConnectionError):
            await self._open().allow(limit)

    async def close(self, epoch: int, seen: int) -> tuple[bool, bytes]:
        """End the crawl of this shard in order: whether it has ended by now, and how, as a look.

        A last checkpoint may take long: whoever waits for it calls again.
        """
        self._is_closing = True
        if self._shard is not None:
            self._shard.stop()
        await asyncio.to_thread(self._is_over.wait, ANSWER_SECONDS)
        is_over = self._is_over.is_set()
        return is_over, await self.look(epoch, seen)

    def _open(self) -> Shard:
        if self._shard is None:
            raise ConnectionError(f"Shard {self._spec.number} is not open yet.")
        return self._shard

    def _live(self) -> None:
        try:
            self._run()
        except FencedError:
            os._exit(0)  # another has the shard: nothing here may be written any more
        except TrailhoundError as error:
            self._failure = str(error)
        except BaseException as error:
            self._failure = f"{type(error).__name__}: {error}"
        finally:
            self._is_over.set()

    def _run(self) -> None:
        spec = self._spec
        context = ray.get_runtime_context()
        is_reopened = spec.reopened or context.was_current_actor_reconstructed
        folder = ClusterFolder(_topic(spec)).shard(spec.number)
        if spec.kept_at:
            name = actor_name(_topic(spec), spec.number)
            folder = CrawlFolder(_topic(spec), scratch_folder(name, spec.number))
        shard = Shard(
            folder,
            Placement(spec.shards),
            self._peers,
            is_reopened=is_reopened,
            owner=self._node,
            kept_at=spec.kept_at,
        )
        self._open_patiently(shard, spec.request)
        self._shard = shard
        if not self._is_closing:
            shard.run()

    def _open_patiently(self, shard: Shard, request: CrawlRequest) -> None:
        for attempt in range(OPEN_ATTEMPTS):
            try:
                shard.open(request, limit=0 if self._spec.limited else None)
                return
            except StorageError:
                if attempt == OPEN_ATTEMPTS - 1 or self._is_closing:
                    raise
                shard.epoch.check()
                time.sleep(1.0)

    def _watch(self) -> None:
        """End the actor when nobody looks any more, also one that has failed."""
        while time.monotonic() - self._looked_at <= ORPHANED_SECONDS:
            time.sleep(10.0)
        self._is_closing = True
        if self._shard is not None:
            self._shard.stop()
        self._is_over.wait(ENDING_SECONDS)
        ray.kill(ray.get_runtime_context().current_actor)


def _topic(spec: ShardSpec) -> TopicFolder:
    return Workspace(spec.workspace).folder_for(spec.topic)


class RayPeers:
    """The other shards, by the names of their actors."""

    def __init__(self, topic: TopicFolder) -> None:
        self._topic = topic
        self._actors: dict[int, Any] = {}

    async def deliver(self, shard: int, batch: bytes) -> Receipt:
        """Hand links to their owner."""
        return await self._answer(shard, self._actor(shard).deliver.remote(batch))

    async def ask_turn(self, shard: int, wish: TurnWish) -> Turn:
        """Ask for a turn at an address."""
        return await self._answer(shard, self._actor(shard).give_turn.remote(wish))

    async def ask_news(self, shard: int, receiver: int, heard: Heard) -> Letter:
        """Ask what a shard has learned."""
        asked = self._actor(shard).news_for.remote(receiver, heard)
        return decode_letter(await self._answer(shard, asked))

    def _actor(self, shard: int) -> Any:
        if shard not in self._actors:
            try:
                self._actors[shard] = ray.get_actor(actor_name(self._topic, shard), NAMESPACE)
            except ValueError as error:
                raise ConnectionError(f"Shard {shard} is nowhere.") from error
        return self._actors[shard]

    async def _answer(self, shard: int, asked: Awaitable[T]) -> T:
        try:
            return await asyncio.wait_for(asked, ANSWER_SECONDS)
        except (RayError, TimeoutError) as error:
            self._actors.pop(shard, None)  # it may be another one by now
            raise ConnectionError(f"Shard {shard} does not answer: {error}") from error
