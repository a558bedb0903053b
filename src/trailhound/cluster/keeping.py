"""A shard that lives on its machine's own disk, and is kept elsewhere every some seconds.

Whoever opens it begins with the last checkpoint, in a folder of its own. A machine that dies takes
along what was fetched since: that is fetched again. Links that other shards have sent are
acknowledged for good when a checkpoint has them; until then their senders keep them.
"""

from __future__ import annotations

import glob
import logging
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from trailhound.cluster.checkpoints import Checkpoint
from trailhound.cluster.places import FencedError
from trailhound.config.settings import FetchSettings
from trailhound.errors import StorageError
from trailhound.frontier.tables import FRONTIER
from trailhound.storage.files import explaining
from trailhound.storage.locks import is_held
from trailhound.topics.crawls.folder import SHARDS

SAVE_EVERY_SECONDS = 20.0
COPY_ATTEMPTS = 3
_log = logging.getLogger(__name__)

Received = Mapping[int, tuple[int, int]]
"""By sender: its epoch, and the last of its links that is here."""


def shard_url(url: str, number: int) -> str:
    """Where a shard of a crawl that is kept at ``url`` is."""
    return f"{url.rstrip('/')}/{number:03d}"


def scratch_folder(name: str, number: int) -> Path:
    """A new folder on this machine for the shard of an actor called ``name``.

    Those of earlier openings, which nobody has open, are removed.
    """
    place = Path(tempfile.gettempdir())
    for old in place.glob(f"{glob.escape(name)}-*"):
        if not any(is_held(lock) for lock in old.glob(f"{SHARDS}/*/crawl.lock")):
            shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-")) / SHARDS / f"{number:03d}"
    folder.mkdir(parents=True)
    return folder


class Keeper:
    """Keeps the shard in ``folder`` at ``url`` while it is open, and brings it from there."""

    def __init__(self, url: str, folder: Path, epoch: int) -> None:
        self._checkpoint = Checkpoint(url)
        self._folder = folder
        self._epoch = epoch
        self._kept: Received = {}
        self._met: set[tuple[int, int]] = set()
        self._is_restored = self._is_ending = False
        self._hurried = threading.Event()
        self._thread: threading.Thread | None = None

    def restore(self, fetch: FetchSettings) -> None:
        """Begin with the last checkpoint, once; after an error it is to be called again.

        When its owner has not closed it, its hosts may have been asked since: they rest as long as
        any host can want.
        """
        if self._is_restored:
            return
        _empty(self._folder)  # half of a shard must not be taken for a whole one
        if self._checkpoint.restore(self._folder, self._epoch):
            self._let_hosts_rest(fetch)
        self._is_restored = True

    def _let_hosts_rest(self, fetch: FetchSettings) -> None:
        frontier = self._folder / "frontier.db"
        if not self._checkpoint.was_closed and frontier.is_file():
            delay = 1.0 if fetch.delay_seconds is None else fetch.delay_seconds
            until = time.time() + (max(delay, fetch.max_crawl_delay_seconds) if delay else 0.0)
            with closing(sqlite3.connect(frontier)) as connection, connection:
                connection.execute("UPDATE host SET until = max(until, ?)", (until,))

    def begin(self, fenced: Callable[[], None]) -> None:
        """Save every some seconds, in a thread; ``fenced`` is called when that is refused."""
        self._kept = self._received()
        self._thread = threading.Thread(
            target=self._save_on, args=(fenced,), name="checkpoints", daemon=True
        )
        self._thread.start()

    @property
    def uploaded(self) -> int:
        """Bytes that were kept so far."""
        return self._checkpoint.uploaded

    def kept_of(self, sender: int, epoch: int, *, hurry: bool = False) -> int:
        """The last link of a sender that cannot be lost any more; soon more, if it must ``hurry``.

        ConnectionError when the sender is heard of first: it may believe that links are here which
        an earlier owner has lost, and is to begin with those that it still has.
        """
        if (sender, epoch) not in self._met:
            self._met.add((sender, epoch))
            raise ConnectionError(f"Send again what is not kept: {self._folder.name} was reopened.")
        if hurry:
            self._hurried.set()
        kept_epoch, last = self._kept.get(sender, (epoch, 0))
        return last if kept_epoch == epoch else 0

    def end(self) -> None:
        """Keep the shard as it was closed, and leave nothing on this machine."""
        self._is_ending = True
        self._hurried.set()
        if self._thread is not None:
            self._thread.join()
        self._checkpoint.save(self._folder, self._epoch, is_closed=True)
        shutil.rmtree(self._folder.parent.parent, ignore_errors=True)

    def _received(self) -> Received:
        """As it is on disk: a batch that is half taken in is in no checkpoint."""
        frontier = self._folder / "frontier.db"
        with FRONTIER.explaining(frontier), closing(FRONTIER.open_for_reading(frontier)) as file:
            rows = file.execute("SELECT sender, epoch, last FROM received")
            return {sender: (epoch, last) for sender, epoch, last in rows}

    def _save_on(self, fenced: Callable[[], None]) -> None:
        while True:
            self._hurried.wait(SAVE_EVERY_SECONDS)
            self._hurried.clear()
            if self._is_ending:
                return
            try:
                self._save()
            except FencedError:
                fenced()
                return
            except StorageError as error:
                _log.warning("A shard could not be kept elsewhere; it is tried again: %s", error)

    def _save(self) -> None:
        here = self._received()  # first: what comes meanwhile may be in the checkpoint, or not
        self._checkpoint.save(self._folder, self._epoch)
        self._kept = here


def _empty(folder: Path) -> None:
    with explaining(folder):
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def refresh_copies(url: str, shards: Mapping[int, Path]) -> None:
    """Bring the last checkpoints into the crawl's own folder, for whoever reads it.

    One that is renewed meanwhile may be gone before all of it is here: then the newer one is.
    """
    for number, folder in shards.items():
        _copy(Checkpoint(shard_url(url, number)), folder)


def _copy(checkpoint: Checkpoint, folder: Path) -> None:
    for more in reversed(range(COPY_ATTEMPTS)):
        try:
            checkpoint.restore(folder)
            return
        except StorageError:
            if not more:
                raise


def refresh_what_is_there(url: str, shards: Mapping[int, Path]) -> None:
    """The same now and then: what the store does not give is brought the next time."""
    for number, folder in shards.items():
        try:
            refresh_copies(url, {number: folder})
        except StorageError as error:
            _log.warning("A shard could not be copied; it is tried again: %s", error)


def keep_first(url: str, shards: Mapping[int, Path]) -> None:
    """Keep shards that are in the crawl's own folder and not at ``url`` yet."""
    for number, folder in shards.items():
        checkpoint = Checkpoint(shard_url(url, number))
        if (folder / "crawl.json").is_file() and not checkpoint.exists():
            checkpoint.save(folder, checkpoint.fence.advance("driver"), is_closed=True)
