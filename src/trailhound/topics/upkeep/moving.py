"""Folders of topics: one moves to another name, gives its sessions to another, or is gone at once.

What an interruption has left of one that was to go is found, and deleted later.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import msgspec

from trailhound.errors import StorageError, UsageError
from trailhound.sessions.events import Session
from trailhound.sessions.files import read_session, write_session
from trailhound.storage.files import cannot_write, explaining, write_whole
from trailhound.topics.crawls.folder import CrawlFolder, CrawlLock, RejudgeLock
from trailhound.topics.crawls.marking import MARKS_FILE
from trailhound.topics.workspace import TopicFolder, Workspace

_LEFT_BEHIND = re.compile(r"\.(.+)\.\d+\.forgotten")


def remove_folder(path: Path) -> None:
    """At once to other programs, even if deleting takes long or is interrupted."""
    finish_removing(path.parent, path.name)
    if not path.exists():
        return
    doomed = path.with_name(f".{path.name}.{os.getpid()}.forgotten")
    try:
        path.rename(doomed)
    except OSError as error:
        raise cannot_write(path, error) from error
    _delete(doomed)


def finish_removing(parent: Path, name: str | None = None) -> None:
    """Delete what earlier removals in ``parent`` have left, of all folders or the one called so."""
    for doomed in left_behind(parent, name):
        _delete(doomed)


def left_behind(parent: Path, name: str | None = None) -> list[Path]:
    """What was to be deleted in ``parent``, and is there still."""
    found = ((path, _LEFT_BEHIND.fullmatch(path.name)) for path in parent.glob(".*.forgotten"))
    return [path for path, match in found if match and name in (None, match[1])]


def _delete(doomed: Path) -> None:
    try:
        shutil.rmtree(doomed)
    except FileNotFoundError:
        return  # another process is at it, too
    except OSError as error:
        raise StorageError(
            f"Cannot delete {error.filename}: {error.strerror or error}. Check that you may write "
            "in its folder, and give the command again: it goes on with what is left."
        ) from error


def rename(workspace: Workspace, topic: TopicFolder, name: str) -> TopicFolder:
    """Move everything that a topic has to the folder of another name.

    UsageError when that is taken or cannot be had; StorageError while it is crawled or judged
    again.
    """
    target = workspace.folder_for(name)
    if target.name == topic.name:
        return topic
    target.check_if_new()
    if target.exists() or target.path.exists():
        raise UsageError(f"There is a topic '{target.name}' already. Choose another name.")
    record = topic.record()
    CrawlLock(topic).release()  # raises while a crawl is running
    crawl = CrawlFolder(topic)
    if crawl.exists():
        RejudgeLock(crawl).release()  # raises while pages are judged again, in its archive
        crawl.write(msgspec.structs.replace(crawl.read(), topic=target.name))
    # Its name before its place: a workspace that finds it half moved moves it on.
    write_whole(
        topic.path / "topic.json",
        msgspec.json.encode(msgspec.structs.replace(record, name=target.name)),
    )
    with explaining(topic.path):
        topic.path.rename(target.path)
    return target


def merge_sessions(source: TopicFolder, target: TopicFolder) -> int:
    """Copy the sessions of ``source`` into ``target``; how many are new there, or have grown."""
    added = 0
    for name, session in source.sessions().items():
        path = target.sessions_path / name
        if path.exists() and name == MARKS_FILE:
            path = target.sessions_path / f"marks-of-{source.path.name}.jsonl"
        if not path.exists() or _has_grown(path, session):
            write_session(msgspec.structs.replace(session, topic=target.name), path)
            added += 1
    return added


def _has_grown(copy: Path, session: Session) -> bool:
    """Whether the session has gone on since it was copied, and nothing else has happened to it."""
    before = read_session(copy, strict=False).events
    return 0 < len(before) < len(session.events) and session.events[: len(before)] == before
