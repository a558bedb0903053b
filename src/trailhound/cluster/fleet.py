"""The actors of a crawl's shards, as the driver handles them: started, found, moved and ended.

Each machine has as many shards as its processors can bear, like all others.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import msgspec

from trailhound.cluster.connecting import NAMESPACE
from trailhound.cluster.messages import NOT_OPEN, Look, decode_look
from trailhound.errors import TrailhoundError
from trailhound.records import PageEvent

Capacity = Mapping[str, float]
"""Processors of each machine."""


class Move(NamedTuple):
    """A shard that another machine should have."""

    shard: int
    machine: str


def least_loaded(owners: Mapping[int, str], capacity: Capacity) -> str:
    """The machine that the next shard should go to."""
    counts = Counter(owners.values())
    return min(capacity, key=lambda name: ((counts[name] + 1) / capacity[name], name))


def next_move(owners: Mapping[int, str], capacity: Capacity) -> Move | None:
    """One shard from a machine that has too many to one that has too few; ``None`` when balanced.

    Shards of machines that are gone are none of this: they are opened anew.
    """
    counts = Counter(name for name in owners.values() if name in capacity)
    if not counts:
        return None
    target = least_loaded(owners, capacity)
    source = max(counts, key=lambda name: (counts[name] / capacity[name], name))
    if counts[source] / capacity[source] <= (counts[target] + 1) / capacity[target]:
        return None
    return Move(max(shard for shard, name in owners.items() if name == source), target)


LOOK_SECONDS = 5.0
"""For the answers of all shards; those that come later are taken next time."""
CLOSE_SECONDS = 90.0
"""For one answer of a shard that is to end."""
STUCK_SECONDS = 600.0
"""A shard that is to end and has kept nothing more for so long is given up."""
MAX_DEATHS = 3
"""In a row, of actors that Ray does not start again by itself."""
NAME_SECONDS = 60.0
"""Ray takes a moment until the name of an actor that has ended is free."""


class Note(Protocol):
    """Writes an event to the crawl's log."""

    def __call__(self, event: str, **details: object) -> None:
        """One line."""
        ...


class Fleet:
    """One actor for each of the ``shards``; ``spec`` tells an actor what it needs to know.

    Actors are detached: they outlive a driver, and the next one finds them by their names.
    """

    def __init__(
        self,
        ray: ModuleType,
        shards: int,
        name: Callable[[int], str],
        spec: Callable[[int, bool], object],
        note: Note,
    ) -> None:
        self._ray = ray
        self._shards = shards
        self._name = name
        self._spec = spec
        self._note = note
        self._actors: dict[int, Any] = {}
        self._pending: dict[int, Any] = {}
        self._lost: set[int] = set()
        self._at_work: set[int] = set()
        """Those that an earlier driver has left, until they are met."""
        self._epochs: dict[int, int] = {}
        """Openings that were noted."""
        self._deaths: Counter[int] = Counter()
        """By shard, since it was seen last."""
        self.looks: dict[int, Look] = {}
        """What was seen of each shard last."""
        self._late: list[PageEvent] = []
        """Pages that shards told of when they were closed to be opened elsewhere."""
        self.is_fresh = False
        """Whether every shard has answered when it was looked at last."""

    def start(self) -> int:
        """Find the actors that run, and start the others; how many were found."""
        self._actors = self._all_found()
        self._at_work, count = set(self._actors), len(self._actors)
        owners: dict[int, str] = {}
        for number in range(self._shards):
            if number not in self._actors:
                owners[number] = least_loaded(owners, self._machines())
                self._create(number, owners[number], is_reopened=bool(count))
        return count

    def end_left(self) -> None:
        """End those that an earlier driver has left, in order."""
        self._actors = self._all_found()
        self.close()

    def _all_found(self) -> dict[int, Any]:
        found = {number: self._found(number) for number in range(self._shards)}
        return {number: actor for number, actor in found.items() if actor is not None}

    def _found(self, number: int) -> Any:
        try:
            return self._ray.get_actor(self._name(number), NAMESPACE)
        except ValueError:
            return None

    def _machines(self) -> dict[str, float]:
        """Processors of each machine that is there."""
        nodes = (node for node in self._ray.nodes() if node["Alive"])
        return {node["NodeID"]: max(1.0, node["Resources"].get("CPU", 0.0)) for node in nodes}

    def _create(self, number: int, machine: str, *, is_reopened: bool) -> None:
        options = self._actor_on(machine, self._name(number))
        give_up_at = time.monotonic() + NAME_SECONDS
        while True:
            try:
                self._actors[number] = options.remote(self._spec(number, is_reopened))
                return
            except ValueError:  # the name is not free yet
                if time.monotonic() > give_up_at:
                    raise
                time.sleep(0.1)

    def _actor_on(self, machine: str, name: str) -> Any:
        """What makes an actor of that name."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        from trailhound.cluster.actors import ShardActor

        # How many share a processor is ours to say; without any, Ray would not heed the machine.
        return self._ray.remote(ShardActor).options(
            name=name,
            namespace=NAMESPACE,
            lifetime="detached",
            max_restarts=-1,
            num_cpus=0.001,
            scheduling_strategy=NodeAffinitySchedulingStrategy(machine, soft=True),
        )

    def look(self) -> dict[int, Look]:
        """How the shards are that have answered, all but those that are lost at the moment."""
        for number, actor in self._actors.items():
            if number not in self._pending:
                self._pending[number] = actor.look.remote(*self._seen(number))
        asked = list(self._pending.values())
        ready, _ = self._ray.wait(asked, num_returns=len(asked), timeout=LOOK_SECONDS)
        answers: dict[int, Look] = {}
        for number, ref in list(self._pending.items()):
            if ref in ready:
                del self._pending[number]
                look = self._answer(number, ref)
                if look is not None:
                    answers[number] = look
        self.is_fresh = len(answers) == self._shards
        return answers

    def _seen(self, number: int) -> tuple[int, int]:
        """Of which opening of a shard how many pages are known."""
        before = self.looks.get(number)
        return (before.state.epoch, before.told) if before is not None else (0, 0)

    def take_late(self) -> list[PageEvent]:
        """Pages of shards that were closed since this was asked."""
        late, self._late = self._late, []
        return late

    def _answer(self, number: int, ref: Any) -> Look | None:
        errors = self._ray.exceptions
        try:
            look = decode_look(self._ray.get(ref))
        except errors.ActorDiedError as error:  # Ray does not start it again by itself
            self._lose(number, error)
            self._deaths[number] += 1
            if self._deaths[number] > MAX_DEATHS:
                raise TrailhoundError(
                    f"Shard {number} dies whenever it is started: {str(error).strip()} Check that "
                    "all machines of the cluster have the same Trailhound, then resume."
                ) from error
            owners = {each: known.state.node for each, known in self.looks.items()}
            self._create(number, least_loaded(owners, self._machines()), is_reopened=True)
            return None
        except errors.RayError as error:
            self._lose(number, error)
            return None
        self._meet(number, look)
        return look

    def _lose(self, number: int, error: Exception) -> None:
        if number not in self._lost:
            self._lost.add(number)
            before = self.looks.get(number)
            node = before.state.node if before is not None else ""
            why = str(error).strip().partition("\n")[0]
            self._note("shard-lost", shard=number, node=node, why=why)

    def _meet(self, number: int, look: Look) -> None:
        state = look.state
        self.looks[number] = self._with_what_is_known(number, look)
        if state.state in NOT_OPEN:
            return
        if state.epoch != self._epochs.get(number):
            event = "reopened" if number in self._epochs else "opened"
            if number in self._at_work:
                self._at_work.remove(number)
                event = "found"
            self._epochs[number] = state.epoch
            self._note(
                f"shard-{event}", shard=number, epoch=state.epoch, node=state.node, pid=state.pid
            )
        self._lost.discard(number)
        del self._deaths[number]

    def _with_what_is_known(self, number: int, look: Look) -> Look:
        """What a shard has made so far still counts while it is not open."""
        state, before = look.state, self.looks.get(number)
        if state.state not in NOT_OPEN or before is None:
            return look
        known = msgspec.structs.replace(
            before.state, state=state.state, why=state.why, node=state.node, pid=state.pid
        )
        return msgspec.structs.replace(before, state=known, events=[], best=[])

    @property
    def is_complete(self) -> bool:
        """Whether every shard is open, as far as is known."""
        return not self._lost and len(self.looks) == self._shards

    def allow(self, limits: dict[int, int | None]) -> None:
        """Tell shards how many requests they may make; what is not heard is told again."""
        for number, limit in limits.items():
            self._actors[number].allow.remote(limit)

    def was_left(self, number: int) -> bool:
        """Whether an earlier driver has started its actor, which was not seen open since."""
        return number in self._at_work

    def reopen(self, number: int) -> None:
        """Start a shard anew that has failed."""
        self._at_work.discard(number)
        self._end(number)
        owners = {each: known.state.node for each, known in self.looks.items() if each != number}
        self._create(number, least_loaded(owners, self._machines()), is_reopened=True)

    def balance(self) -> bool:
        """Move one shard to a machine that has too few; whether there was one to move."""
        if not self.is_complete:
            return False
        owners = {number: look.state.node for number, look in self.looks.items()}
        move = next_move(owners, self._machines())
        if move is None:
            return False
        self._note("shard-moved", shard=move.shard, node=move.machine, was=owners[move.shard])
        self._end(move.shard)
        self._create(move.shard, move.machine, is_reopened=True)
        return True

    def _end(self, number: int) -> None:
        """Close one actor in order, and let it go."""
        actor = self._actors.pop(number)
        self._pending.pop(number, None)
        self._lost.add(number)  # until it is open elsewhere
        try:
            self._late += self._ended(number, actor, self._closing(number, actor)).events
        except (self._ray.exceptions.RayError, TrailhoundError) as error:
            self._note("shard-lost", shard=number, why=str(error).partition("\n")[0])
        self._ray.kill(actor)

    def _closing(self, number: int, actor: Any) -> Any:
        return actor.close.remote(*self._seen(number))

    def _ended(self, number: int, actor: Any, closing: Any) -> Look:
        """How an actor is that is ``closing``, when it has ended, or does not come to its end.

        What it has is kept once more then, however long that takes.
        """
        kept, give_up_at = -1, 0.0
        while True:
            is_over, told = self._ray.get(closing, timeout=CLOSE_SECONDS)
            look, now = decode_look(told), time.monotonic()
            if look.state.kept != kept:
                kept, give_up_at = look.state.kept, now + STUCK_SECONDS
            if is_over or now >= give_up_at:
                return look
            closing = self._closing(number, actor)

    def close(self) -> dict[int, Look]:
        """End all shards in order; how they have ended."""
        self._pending.clear()
        ended: dict[int, Look] = {}
        closing = {number: self._closing(number, actor) for number, actor in self._actors.items()}
        for number, ref in closing.items():
            try:
                look = self._ended(number, self._actors[number], ref)
                ended[number] = self._with_what_is_known(number, look)
            except self._ray.exceptions.RayError as error:  # it is on disk as it was
                self._lose(number, error)
            self._ray.kill(self._actors[number])
        self._actors.clear()
        return ended
