"""The one place where sessions meet the disk: session files, and folders that describe topics.

Session files are read, written at once, or appended to while a session is recorded. ``-`` stands
for standard input and output. The format is in ``docs/session-format.md``.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Self

import msgspec

from trailhound.counting import counted
from trailhound.errors import UNREADABLE, SessionError, UsageError
from trailhound.sessions.events import (
    Event,
    Header,
    Mark,
    Reading,
    Session,
    UnsafeReferenceError,
    event_in,
    event_line,
    header_line,
    is_cut_header,
    parse_session,
    problem_summary,
    session_lines,
)
from trailhound.storage.files import whole_file
from trailhound.text.encoding import decode

STREAM = "-"
SESSION_SUFFIX = ".jsonl"
FEWEST_TOPICS = 2

TopicTerms = dict[str, dict[str, int]]
"""Topics by name, each with its terms and how often it holds them."""

_log = logging.getLogger(__name__)


def read_session(path: str | Path, *, strict: bool = True) -> Session:
    """The session in a file, with the sources that ``html_ref`` names filled in.

    An incomplete last line and missing source files are logged as a warning. A damaged line is a
    :class:`SessionError`; with ``strict=False`` it is skipped and counted in the warning.
    """
    reading = read_with_problems(path, strict=strict)
    if reading.problems:
        _log.warning("%s", problem_summary(str(path), reading.problems))
    return reading.session


def read_with_problems(path: str | Path, *, strict: bool = True) -> Reading:
    """Like :func:`read_session`, with the problems returned instead of logged."""
    if str(path) == STREAM:
        data = sys.stdin.buffer.read()
        return parse_session(data, "standard input", strict=strict, load_html=_no_folder)
    data, load = _read_bytes(Path(path)), partial(_load_source, Path(path).parent, {})
    return parse_session(data, str(path), strict=strict, load_html=load)


def marks_in(path: Path) -> Iterator[Mark]:
    """The marks of a session, without the work of reading its pages; damaged lines have none."""
    for line in _read_bytes(path).splitlines():
        if b'"mark"' in line and isinstance(event := event_in(line), Mark):
            yield event


def header_of(path: Path) -> Header:
    """What a session says of itself, without reading it; empty when that is not told."""
    with suppress(*UNREADABLE, OSError), path.open("rb") as file:
        return msgspec.json.decode(file.readline(), type=Header)
    return Header("", 0)


def load_sessions(
    source: str | Path | Iterable[str | Path], *, strict: bool = True
) -> list[Session]:
    """Sessions from a file, from all ``*.jsonl`` files of a folder (by name), or from several."""
    sources = [source] if isinstance(source, str | Path) else list(source)
    paths = [path for each in sources for path in session_paths(each)]
    return [read_session(path, strict=strict) for path in paths]


def write_session(session: Session, path: str | Path, *, sync: bool = True) -> None:
    """Write a whole session; a file appears under its name only when it is complete.

    Without ``sync`` a power cut within seconds may undo it: for thousands of files that can be
    made again, a wait for the disk at each is too long.
    """
    if str(path) == STREAM:
        sys.stdout.buffer.writelines(session_lines(session))
        sys.stdout.buffer.flush()
        return
    try:
        with whole_file(Path(path), sync=sync) as file:
            file.writelines(session_lines(session))
    except OSError as error:
        raise _cannot_write(Path(path), error) from error


class SessionRecorder:
    """Appends events to a session file as they happen; each is on disk when ``append`` returns.

    An existing file is continued: its header stays, and the incomplete last line that a killed
    recorder left is cut off; ``bytes_cut`` says how much that was.
    """

    def __init__(
        self, path: str | Path, topic: str = "", user: str = "", recorder: str = ""
    ) -> None:
        self.path = Path(path)
        self.bytes_cut = 0
        try:
            self._file = self._open(header_line(topic, user, recorder))
        except OSError as error:
            raise _cannot_write(self.path, error) from error

    def append(self, event: Event) -> None:
        """Add one event."""
        try:
            self._file.write(event_line(event))
            self._file.flush()
        except OSError as error:
            raise _cannot_write(self.path, error) from error

    def close(self) -> None:
        """Close the file. Appending afterwards is an error."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self, header: bytes) -> BinaryIO:
        if not self.path.exists():  # nobody finds it without its header
            with whole_file(self.path, sync=False) as new:
                new.write(header)
        content = self.path.read_bytes()
        kept = _complete_lines(content, str(self.path))
        self.bytes_cut = max(0, len(content) - len(kept))
        file = self.path.open("r+b")
        file.truncate(len(content) - self.bytes_cut)
        file.seek(0, os.SEEK_END)
        file.write(kept[len(content) :] if kept else header)
        file.flush()
        return file


def _complete_lines(content: bytes, name: str) -> bytes:
    """What of an existing recording can be continued; a file of another kind is refused."""
    head = content[: content.rfind(b"\n") + 1]
    if not head and is_cut_header(content):
        return b""
    parse_session(content, name, strict=False)
    tail = content[len(head) :]
    return content + b"\n" if event_in(tail) is not None else head


def session_paths(source: str | Path) -> list[str | Path]:
    """The session files that a file name, a folder's name or ``-`` stands for."""
    folder = Path(source)
    if str(source) == STREAM or not folder.is_dir():
        return [source]
    found = folder.glob(f"*{SESSION_SUFFIX}")
    paths: list[str | Path] = [path for path in sorted(found) if not path.name.startswith(".")]
    if not paths:
        raise SessionError(
            f"The folder {folder} holds no session (*{SESSION_SUFFIX}). "
            "Name a session file, or record one first."
        )
    return paths


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"There is no session file {path}. Check the name.") from error
    except IsADirectoryError as error:
        raise UsageError(f"{path} is a folder. Name a session file inside it.") from error
    except OSError as error:
        raise SessionError(f"The session {path} cannot be read: {error}. Check it.") from error


def _load_source(folder: Path, read: dict[Path, str], reference: str) -> str:
    """The page source in a file beside the session, or in a folder beside it.

    Each is ``read`` once: ten thousand visits may name one large file.
    """
    try:
        path = _inside(folder, reference)
        if path not in read:
            read[path] = decode(path.read_bytes()).text
        return read[path]
    except OSError as error:
        reason = error.strerror or str(error)
        raise LookupError(f"page source '{reference}' cannot be read ({reason})") from error


def _inside(folder: Path, reference: str) -> Path:
    """The path a reference means, which links and dots must not lead out of the folder."""
    parts = PurePosixPath(reference).parts
    unsafe = any(part in ("/", "..") or set(part) & set("\\:\0") for part in parts) or not parts
    path = folder if unsafe else folder.joinpath(*parts).resolve()
    if unsafe or not path.is_relative_to(folder.resolve()):
        raise UnsafeReferenceError(f"html_ref '{reference}' leaves the session's folder")
    return path


def _no_folder(reference: str) -> str:
    raise LookupError(f"page source '{reference}' is not available for a session from a stream")


def _cannot_write(path: Path, error: OSError) -> SessionError:
    reason = error.strerror or str(error)
    return SessionError(
        f"The session cannot be written to {path}: {reason}. Choose another place or make room."
    )


def read_topic_set(source: str) -> TopicTerms:
    """Topics with their terms, by name; UsageError when there are too few to tell apart."""
    try:
        path = Path(source).expanduser()
        topics: TopicTerms | None = None
        if path.is_dir():
            topics = _from_folder(path)
        elif path.is_file():
            topics = _from_json(path)
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


def _from_json(path: Path) -> TopicTerms:
    from trailhound.text.tokens import count_terms  # takes long to load; few read topic sets

    try:
        texts = msgspec.json.decode(path.read_bytes(), type=dict[str, str | list[str]])
    except (OSError, *UNREADABLE) as error:
        raise UsageError(
            f"The topic set {path} cannot be read: {error}. It should be a JSON object of names "
            "and descriptions."
        ) from error
    return {
        name: count_terms(text if isinstance(text, str) else " ".join(text), "")
        for name, text in texts.items()
    }


def _from_folder(folder: Path) -> TopicTerms:
    from trailhound.text.tokens import count_terms

    topics: TopicTerms = {}
    for entry in sorted(folder.iterdir()):
        if entry.suffix == ".txt" and entry.is_file():
            topics[entry.stem] = count_terms(entry.read_text("utf-8", "replace"), "")
        elif (entry / "sessions").is_dir():
            topics[entry.name] = _useful_words(entry / "sessions")
    return topics


def _useful_words(sessions: Path) -> dict[str, int]:
    from trailhound.sessions.page_graph import build_page_graph

    try:
        graph = build_page_graph(load_sessions(sessions, strict=False), lambda _: None)
    except SessionError:
        return {}
    words: Counter[str] = Counter()
    for number in graph.targets:
        words.update(graph.pages[number].terms)
    return dict(words)
