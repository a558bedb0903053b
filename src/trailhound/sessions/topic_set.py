"""A set of topics that pages can be compared with: descriptions in a folder or a JSON file.

* a JSON file: ``{"bees": "hive honey …", "rocks": ["granite …", "basalt …"]}``
* a folder: ``bees.txt``, ``rocks.txt``; and subfolders with recorded sessions, as a workspace has
  them under ``topics/``, whose useful pages describe the topic.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from trailhound.counting import counted
from trailhound.errors import SessionError, UsageError
from trailhound.sessions.files import load_sessions
from trailhound.sessions.page_graph import build_page_graph
from trailhound.text.tokens import count_terms

FEWEST_TOPICS = 2

TopicTerms = dict[str, dict[str, int]]


def read_topic_set(source: str) -> TopicTerms:
    """Topics with their terms, by name; UsageError when there are too few to tell apart."""
    try:
        topics = _topics_in(source)
    except (OSError, RuntimeError, ValueError) as error:  # of a path, or of a file in a folder
        raise UsageError(
            f"The topic set '{source}' cannot be read: {error}. Check its name and that you may "
            "read what is in it."
        ) from error
    if topics is None:
        raise UsageError(
            f"There is no topic set '{source}'. Name a folder of .txt files, a workspace's topics "
            "folder, or a JSON file of descriptions."
        )
    described = {name: terms for name, terms in sorted(topics.items()) if terms}
    if len(described) < FEWEST_TOPICS:
        raise UsageError(
            f"{source} describes {counted(len(described), 'topic')}, and signatures need at least "
            f"{FEWEST_TOPICS} that can be told apart. Add descriptions."
        )
    return described


def _topics_in(source: str) -> TopicTerms | None:
    """``None`` when there is nothing of that name."""
    path = Path(source).expanduser()
    if path.is_dir():
        return _from_folder(path)
    return _from_json(path) if path.is_file() else None


def _from_json(path: Path) -> TopicTerms:
    try:
        texts = msgspec.json.decode(path.read_bytes(), type=dict[str, str | list[str]])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"The topic set {path} cannot be read: {error}. It should be a JSON object of names "
            "and descriptions."
        ) from error
    return {
        name: count_terms(text if isinstance(text, str) else " ".join(text), "")
        for name, text in texts.items()
    }


def _from_folder(folder: Path) -> TopicTerms:
    topics: TopicTerms = {}
    for entry in sorted(folder.iterdir()):
        if entry.suffix == ".txt" and entry.is_file():
            topics[entry.stem] = count_terms(entry.read_text("utf-8", "replace"), "")
        elif (entry / "sessions").is_dir():
            topics[entry.name] = _useful_words(entry / "sessions")
    return topics


def _useful_words(sessions: Path) -> dict[str, int]:
    try:
        graph = build_page_graph(load_sessions(sessions, strict=False), lambda _: None)
    except SessionError:
        return {}
    words: Counter[str] = Counter()
    for number in graph.targets:
        words.update(graph.pages[number].terms)
    return dict(words)
