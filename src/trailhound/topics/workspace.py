"""A workspace, the folders of its topics, and how their names become names of folders.

::

    WORKSPACE/topics/NAME/topic.json       the topic's real name
                          sessions/*.jsonl copies of the sessions it was learned from
                          content.json     pages that came from elsewhere (--content)
                          model/           see model_folder
                          crawl/           see crawls/folder

Different names give different folders, also where the file system ignores case (Windows, macOS):

* letters of all alphabets, digits, blanks and ``-_.,()`` stay as they are;
* what some system forbids or treats in its own way becomes ``%`` and two hexadecimal digits: the
  characters ``/ \\ : * ? " < > | %`` and ``~``, a dot at the beginning, a dot at the end, the first
  letter of the names of devices (``CON``, ``NUL`` …);
* where that is not enough to tell names apart (capitals, very long names), ``~`` and a checksum of
  the name follow.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING
from urllib.parse import unquote

import msgspec
import platformdirs

from trailhound import __version__
from trailhound.errors import UNREADABLE, ModelError, StorageError, UsageError, unknown_name
from trailhound.sessions.events import Session, session_lines
from trailhound.sessions.files import SESSION_SUFFIX, read_session, write_session
from trailhound.storage.files import make_folder, write_whole
from trailhound.storage.locks import Ownership

if TYPE_CHECKING:
    from trailhound.topics.learned import LearnedTopic
    from trailhound.topics.learning import KnownContent

MAX_NAME_LENGTH = 200
"""Characters of a topic's name."""
MAX_STEM_BYTES = 80
"""Of a folder's name, in UTF-8, before a checksum. Windows wants whole paths below 260
characters, other systems each name below 256 bytes."""

_FORBIDDEN = re.compile(r'[/\\:*?"<>|%~]')
_DEVICE = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³]|conin\$|conout\$) *(\.|$)", re.IGNORECASE)


def checked_name(name: str) -> str:
    """A topic's name in its one spelling; UsageError when no topic can be called that."""
    tidy = " ".join(unicodedata.normalize("NFC", name).split())
    if not tidy:
        raise UsageError("A topic needs a name. Give it one, for example: bees")
    if len(tidy) > MAX_NAME_LENGTH:
        raise UsageError(
            f"The topic name '{tidy[:40]}…' has {len(tidy)} characters, and {MAX_NAME_LENGTH} are "
            "the most. Give it a shorter one."
        )
    if any(unicodedata.category(character) in ("Cc", "Cs", "Cn", "Co") for character in tidy):
        raise UsageError(
            f"The topic name {tidy!r} holds characters that cannot be shown. Leave them out."
        )
    return tidy


def folder_name(name: str) -> str:
    """The folder of the topic with this name. Always the same, and its own."""
    name = checked_name(name)
    stem = _encoded(name)
    cut = _cut(stem)
    # "Bees" and "bees" are the same folder to many file systems.
    if cut == stem and name == name.casefold() == name.upper().lower():
        return stem
    checksum = hashlib.sha256(name.encode()).hexdigest()[:10]
    return f"{cut}~{checksum}"


def _encoded(name: str) -> str:
    encoded = _FORBIDDEN.sub(lambda found: _escape(found[0]), name)
    if encoded.startswith("."):
        encoded = _escape(".") + encoded[1:]
    if encoded.endswith("."):
        encoded = encoded[:-1] + _escape(".")
    if _DEVICE.match(encoded):
        encoded = _escape(encoded[0]) + encoded[1:]
    return encoded


def _escape(character: str) -> str:
    return f"%{ord(character):02x}"


def _cut(stem: str) -> str:
    """At most ``MAX_STEM_BYTES`` of a folder name, whole characters, nothing trailing."""
    head = stem.encode()[:MAX_STEM_BYTES].decode("utf-8", "ignore")
    return head if head == stem else head.rstrip(". ")


WORKSPACE_VARIABLE = "TRAILHOUND_WORKSPACE"


def workspace_folder(chosen: Path | None, environment: Mapping[str, str]) -> Path:
    """``chosen``, else ``TRAILHOUND_WORKSPACE``, else the place of the system for a user's data."""
    if chosen is not None:
        return chosen.expanduser()
    configured = environment.get(WORKSPACE_VARIABLE, "").strip()
    if configured:
        return Path(configured).expanduser()
    return platformdirs.user_data_path("trailhound", appauthor=False)


FORMAT_NAME = "trailhound-topic"
FORMAT_VERSION = 1
MADE_BY = f"trailhound {__version__}"


class TopicRecord(msgspec.Struct, frozen=True):
    """``topic.json``."""

    name: str
    label: str | None = None
    """Which of the topics in its sessions it is, when it was learned with a label."""
    thresholds: dict[str, float] = {}
    """By the judge's name: from which score on a page is relevant, where a person has chosen it."""
    created_by: str = MADE_BY
    format: str = FORMAT_NAME
    version: int = FORMAT_VERSION


class TopicFolder:
    """One topic on disk. Nothing is there before the first :meth:`save`."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name

    @property
    def picture_path(self) -> Path:
        """Its sessions as the app has drawn them last; made again when it is missing."""
        return self.path / "sessions-picture.json"

    @property
    def model_path(self) -> Path:
        """Where the model is."""
        return self.path / "model"

    @property
    def sessions_path(self) -> Path:
        """Where its sessions are."""
        return self.path / "sessions"

    @property
    def content_path(self) -> Path:
        """Where pages are that came from elsewhere."""
        return self.path / "content.json"

    def prepare(self) -> None:
        """Make the folder, so that sessions can be recorded into it before anything is learned."""
        self._make()
        if self.exists():
            self.record()
        else:
            self._write(TopicRecord(self.name))

    def discard_unless_used(self) -> None:
        """Take back what :meth:`prepare` has made, when nothing has come of it."""
        made = {"topic.json", "sessions", "crawl.lock", "sessions.lock"}
        is_used = any(each.name not in made for each in self.path.iterdir())
        if not is_used and not any(self.sessions_path.iterdir()):
            shutil.rmtree(self.path)

    def exists(self) -> bool:
        """Whether the topic was ever saved."""
        return (self.path / "topic.json").exists()

    def is_damaged(self) -> bool:
        """Whether something is there that has lost its ``topic.json``, or whose cannot be read."""
        try:
            read_record(self.path / "topic.json")
        except ModelError:
            return self.path.is_dir()
        return False

    def is_learned(self) -> bool:
        """Whether there is a model, sound or not."""
        return (self.model_path / "model.json").exists()

    def record(self) -> TopicRecord:
        """The topic's own description; ModelError when it cannot be read or is another topic's."""
        record = read_record(self.path / "topic.json")
        if record.name != self.name:
            raise ModelError(
                f"The folder {self.path} belongs to the topic '{record.name}', not to "
                f"'{self.name}'. Move it away, or choose another name."
            )
        return record

    def choose_threshold(self, judge: str, threshold: float | None) -> None:
        """Let a threshold hold for a judge; ``None`` for the learned one."""
        record = self.record()
        chosen = {name: each for name, each in record.thresholds.items() if name != judge}
        if threshold is not None:
            chosen[judge] = threshold
        self._write(msgspec.structs.replace(record, thresholds=chosen))

    def renamed_as_told(self, told: str) -> TopicFolder:
        """The same folder by the topic's name: that which is ``told``, or else what it is called.

        UsageError when neither can be the name of a topic here.
        """
        for name in (told, self.name, _name_by_folder(self.path)):
            if _is_called(self.path, name):
                return TopicFolder(self.path, checked_name(name))
        raise UsageError(
            f"What the topic in {self.path} is called cannot be told from its folder. Give its "
            "whole name."
        )

    def write_record_anew(self, label: str | None) -> None:
        """Replace a ``topic.json`` that is lost."""
        self._write(TopicRecord(self.name, label))

    def _write(self, record: TopicRecord) -> None:
        write_whole(self.path / "topic.json", msgspec.json.encode(record))

    def sessions(self, *, strict: bool = True) -> dict[str, Session]:
        """The sessions learned from, by file name; ``strict`` as for ``read_session``."""
        paths = sorted((self.path / "sessions").glob(f"[!.]*{SESSION_SUFFIX}"))
        return {path.name: read_session(path, strict=strict) for path in paths}

    def known_content(self) -> KnownContent:
        """Pages that an earlier learning found outside its sessions."""
        from trailhound.topics.learning import read_known_content

        return read_known_content(self.content_path)

    def load(self) -> LearnedTopic:
        """The topic's model; UsageError if there is none, ModelError says what is wrong with it."""
        from trailhound.topics.model_folder import LEARN_AGAIN, load_model

        if not self.is_learned():
            raise self._not_learned()
        try:
            return load_model(self.model_path)
        except ModelError as error:
            again = LEARN_AGAIN.replace("TOPIC", quote(self.name))
            raise ModelError(str(error).replace(LEARN_AGAIN, again)) from error

    def _not_learned(self) -> UsageError:
        name = quote(self.name)
        if self.session_names():
            how = f"Learn it with: trailhound learn {name}"
        else:
            how = (
                f"Learn it from a session with: trailhound learn {name} --session FILE, or from "
                f"results of a crawl with: trailhound mark {name} URL --learn"
            )
        return UsageError(f"Nothing has been learned for the topic '{self.name}' yet. {how}")

    def session_names(self) -> frozenset[str]:
        """File names of all sessions that are there now."""
        return frozenset(path.name for path in self.sessions_path.glob(f"[!.]*{SESSION_SUFFIX}"))

    def require_sessions(self) -> None:
        """UsageError when there is nothing to learn from."""
        if not self.session_names():
            raise self.no_sessions()

    def no_sessions(self) -> UsageError:
        """What to tell a user who wants to learn from nothing."""
        return UsageError(
            f"The topic '{self.name}' has no sessions yet. Name one or more with --session FILE."
        )

    def save(
        self,
        learned: LearnedTopic,
        sessions: Mapping[str, Session],
        content: KnownContent,
        replaced: Iterable[str] | None = None,
    ) -> None:
        """Keep sessions and model; the model goes last, in one step.

        Sessions among ``replaced`` (default: all that are there) and not in ``sessions`` go. What
        was recorded while the model was learned is not among them.
        """
        from trailhound.topics.model_folder import save_model

        replaced = self.session_names() if replaced is None else replaced
        self._make()
        for name, session in sessions.items():
            if not (self.path / "sessions" / name).exists():
                write_session(session, self.path / "sessions" / name)
        content.write(self.content_path)
        chosen: dict[str, float] = {}
        with contextlib.suppress(ModelError):  # there is no record yet, or a damaged one
            chosen = self.record().thresholds
        self._write(TopicRecord(self.name, learned.origin.label, chosen))
        save_model(learned, self.model_path)
        for name in set(replaced) - set(sessions):
            with contextlib.suppress(OSError):
                (self.sessions_path / name).unlink()

    def _make(self) -> None:
        self.check_if_new()
        make_folder(self.path / "sessions")

    def check_if_new(self) -> None:
        """UsageError when no new topic may be called that; those that there are stay readable."""
        if self.name in (".", "..") and not self.exists():
            raise UsageError(
                f"No topic can be called '{self.name}': in the addresses of the app, browsers take "
                "it for the way to another page. Give it another name, for example: bees"
            )


_PATIENCE_SECONDS = 30.0


class SessionsLock(Ownership):
    """Held while a session's file grows, or is written anew: nothing that is added gets lost."""

    def __init__(self, topic: TopicFolder) -> None:
        path = topic.path / "sessions.lock"
        super().__init__(
            path,
            in_use=StorageError(
                f"A page of the topic '{topic.name}' is being forgotten. Try again in a moment."
            ),
            patience_seconds=_PATIENCE_SECONDS,
        )


class Workspace:
    """A folder of topics; it need not exist yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def folder_for(self, name: str) -> TopicFolder:
        """Where the topic with this name is or would be."""
        return TopicFolder(self.folder / "topics" / folder_name(name), checked_name(name))

    def topic(self, name: str, *, even_damaged: bool = False) -> TopicFolder:
        """A topic that exists; UsageError with suggestions for one that does not.

        ModelError when its ``topic.json`` cannot be read, unless that is no matter: then it has
        the name of its folder, too, as :meth:`damaged` lists it.
        """
        folder = self.folder_for(name)
        if not folder.exists():
            self._finish_renaming(folder)
        if even_damaged and folder.is_damaged():
            return folder
        if not folder.exists():
            listed = (each for each, _ in self.damaged() if each.name == folder.name)
            if even_damaged and (damaged := next(listed, None)):
                return damaged
            raise self._unknown(folder.name)
        folder.record()
        return folder

    def _finish_renaming(self, folder: TopicFolder) -> None:
        """Move a topic that has got its name, but was not moved any more, to its folder."""
        for path in self._records():
            with contextlib.suppress(ModelError, OSError):
                if read_record(path).name == folder.name:
                    path.parent.rename(folder.path)
                    return

    def topics(self) -> tuple[str, ...]:
        """Names of all topics, in alphabetical order; unreadable ones are left out."""
        names = []
        for path in self._records():
            with contextlib.suppress(ModelError):
                names.append(read_record(path).name)
        return tuple(sorted(names))

    def damaged(self) -> Iterator[tuple[TopicFolder, str]]:
        """Topics whose ``topic.json`` cannot be read, named after their folders, and why."""
        for path in self._records():
            try:
                read_record(path)
            except ModelError as error:
                yield TopicFolder(path.parent, unquote(path.parent.name)), str(error)

    def _records(self) -> list[Path]:
        try:
            # What begins with a dot is being deleted, or an interruption has left it.
            return sorted((self.folder / "topics").glob("[!.]*/topic.json"))
        except OSError as error:
            raise StorageError(
                f"The workspace {self.folder} cannot be read: {error.strerror or error}. "
                "Check that you may read it, or choose another with --workspace."
            ) from error

    def _unknown(self, name: str) -> UsageError:
        known = self.topics()
        if not known:
            return UsageError(
                f"Unknown topic '{name}': the workspace {self.folder} has no topics yet. "
                f"Learn it with: trailhound learn {quote(name)} --session FILE"
            )
        where = f"The workspace is {self.folder}; a new topic begins with: trailhound learn"
        return unknown_name("topic", name, known, where)


def _name_by_folder(path: Path) -> str:
    """The name of the topic in a folder, as far as the folder tells it."""
    names = (unquote(path.name.partition("~")[0]), unquote(path.name))
    return next((name for name in names if _is_called(path, name)), path.name)


def _is_called(path: Path, name: str) -> bool:
    """Whether the topic with this name has this folder."""
    with contextlib.suppress(UsageError):
        return folder_name(name) == path.name
    return False


def read_record(path: Path) -> TopicRecord:
    """A ``topic.json``; ModelError says what is wrong with it."""
    try:
        record = msgspec.json.decode(path.read_bytes(), type=TopicRecord)
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read: {error.strerror or error}. Check that you may read it."
        ) from error
    except UNREADABLE as error:
        raise ModelError(
            f"{path} is damaged: {error}. Have it made anew with: trailhound check "
            f"{quote(_name_by_folder(path.parent))} --repair"
        ) from error
    if record.format != FORMAT_NAME or record.version > FORMAT_VERSION:
        raise ModelError(
            f"{path} has format '{record.format}' version {record.version}, and this Trailhound "
            f"reads '{FORMAT_NAME}' up to version {FORMAT_VERSION}. Upgrade Trailhound."
        )
    return record


def session_file_name(session: Session) -> str:
    """Named after the content, so that the same session is kept once."""
    digest = hashlib.sha256()
    for line in session_lines(session):
        digest.update(line)
    return f"{digest.hexdigest()[:16]}{SESSION_SUFFIX}"
