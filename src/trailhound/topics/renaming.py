"""A topic under another name, and sessions of one topic copied into another."""

from __future__ import annotations

import msgspec

from trailhound.errors import UsageError
from trailhound.sessions.files import write_session
from trailhound.storage.files import explaining, write_whole
from trailhound.topics.crawl_folder import CrawlFolder, CrawlLock
from trailhound.topics.workspace import TopicFolder, Workspace


def rename(workspace: Workspace, topic: TopicFolder, name: str) -> TopicFolder:
    """Move everything that a topic has to the folder of another name.

    UsageError when that is taken; StorageError while a crawl of the topic is running.
    """
    target = workspace.folder_for(name)
    if target.name == topic.name:
        return topic
    if target.exists() or target.path.exists():
        raise UsageError(f"There is a topic '{target.name}' already. Choose another name.")
    record = topic.record()
    CrawlLock(topic).release()  # raises while a crawl is running
    crawl = CrawlFolder(topic)
    if crawl.exists():
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
    """Copy the sessions of ``source`` into ``target``; how many it did not have already."""
    added = 0
    for name, session in source.sessions().items():
        path = target.sessions_path / name
        if path.exists() and name in ("marks.jsonl",):
            path = target.sessions_path / f"marks-of-{source.path.name}.jsonl"
        if not path.exists():
            write_session(msgspec.structs.replace(session, topic=target.name), path)
            added += 1
    return added
