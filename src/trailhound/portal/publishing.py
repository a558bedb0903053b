"""Which topics are published, and under which names: a file in the folder of each of them.

There it moves along when the topic is renamed, and goes with it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

import msgspec

from trailhound.errors import UNREADABLE, TrailhoundError, UsageError
from trailhound.storage.files import explaining, write_whole
from trailhound.topics.workspace import TopicFolder, Workspace

FILE_NAME = "portal.json"
MAX_NAME_CHARS = 60
MAX_TITLE_CHARS = 200
MAX_DESCRIPTION_CHARS = 1_000

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_NO_NAME = re.compile(r"[^a-z0-9]+")


class Publication(msgspec.Struct, frozen=True, kw_only=True):
    """How a topic is shown to everybody."""

    name: str
    """Its folder in addresses: small letters, digits and hyphens."""
    title: str = ""
    """The topic's name when it is empty."""
    description: str = ""


def publication(
    topic: TopicFolder, name: str = "", title: str = "", description: str = ""
) -> Publication:
    """A checked one; ``name`` is made of the topic's own unless given. UsageError says what is
    wrong with it."""
    chosen = name or name_for(title or topic.name)
    if not _NAME.fullmatch(chosen) or len(chosen) > MAX_NAME_CHARS:
        raise UsageError(
            f"'{chosen[:80]}' cannot be the name of a portal. Take small letters, digits and "
            f"hyphens, at most {MAX_NAME_CHARS}."
        )
    return Publication(
        name=chosen,
        title=" ".join(title.split())[:MAX_TITLE_CHARS],
        description=" ".join(description.split())[:MAX_DESCRIPTION_CHARS],
    )


def name_for(title: str) -> str:
    """``bee-health`` for ``Bée health``; of a title in other letters, ``portal``."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return _NO_NAME.sub("-", plain)[:MAX_NAME_CHARS].strip("-") or "portal"


def publish(
    workspace: Workspace,
    topic: TopicFolder,
    how: Publication,
    more: Mapping[str, Publication] | None = None,
) -> None:
    """From now on, until :func:`unpublish`. UsageError when another topic has the name, also one
    of ``more``, which are published by topic for a while."""
    other = _names(workspace, more or {}).get(how.name, topic.name)
    if other != topic.name:
        raise UsageError(
            f"The topic '{other}' is published as '{how.name}' already. Choose another name."
        )
    with explaining(topic.path / FILE_NAME):
        write_whole(topic.path / FILE_NAME, msgspec.json.encode(how))


def for_a_while(
    workspace: Workspace, topics: Iterable[TopicFolder], title: str = ""
) -> dict[str, Publication]:
    """Publications by topic, beside those that are kept. UsageError when two have one name."""
    made: dict[str, Publication] = {}
    for topic in topics:
        how = publication(topic, title=title)
        other = _names(workspace, made).get(how.name, topic.name)
        if other != topic.name:
            raise UsageError(
                f"The topics '{other}' and '{topic.name}' would both be published as '{how.name}', "
                "a name made of the letters a to z and the digits in theirs. Publish one of them "
                "in the app, where you choose its name."
            )
        made[topic.name] = how
    return made


def _names(workspace: Workspace, more: Mapping[str, Publication]) -> dict[str, str]:
    """Which topic has which name."""
    kept = {how.name: topic.name for topic, how in published(workspace)}
    return {how.name: topic for topic, how in more.items()} | kept


def unpublish(topic: TopicFolder) -> None:
    """Show it to nobody any more."""
    with explaining(topic.path / FILE_NAME):
        (topic.path / FILE_NAME).unlink(missing_ok=True)


def publication_of(topic: TopicFolder) -> Publication | None:
    """How a topic is published; ``None`` when it is not, or that cannot be read: then nothing is
    shown."""
    with suppress(OSError, UsageError, *UNREADABLE):
        stored = msgspec.json.decode((topic.path / FILE_NAME).read_bytes(), type=Publication)
        return publication(topic, **msgspec.structs.asdict(stored))
    return None


def published(workspace: Workspace) -> Iterator[tuple[TopicFolder, Publication]]:
    """All published topics, by topic."""
    names: tuple[str, ...] = ()
    with suppress(TrailhoundError):
        names = workspace.topics()
    for name in names:
        topic = workspace.folder_for(name)
        if (how := publication_of(topic)) is not None:
            yield topic, how
