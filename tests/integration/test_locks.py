"""Locks: one holder at a time, none left behind by the dead."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from trailhound.errors import StorageError
from trailhound.storage.locks import Ownership

HOLD = """
import sys, time
from pathlib import Path
from trailhound.errors import StorageError
from trailhound.storage.locks import Ownership
held = Ownership(Path(sys.argv[1]), in_use=StorageError("in use"), unwritable=StorageError)
print("held", flush=True)
time.sleep(60)
"""


def own(path: Path) -> Ownership:
    return Ownership(path, in_use=StorageError("in use"), unwritable=StorageError)


def test_only_one_holds_it_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "some.lock"
    with own(path), pytest.raises(StorageError, match="in use"):
        own(path)
    own(path).release()


def test_any_thread_may_release_it(tmp_path: Path) -> None:
    held = own(tmp_path / "some.lock")
    other = threading.Thread(target=held.release)
    other.start()
    other.join()
    own(tmp_path / "some.lock").release()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system knows no kill -9")
def test_a_killed_holder_leaves_nothing_locked(tmp_path: Path) -> None:
    path = tmp_path / "some.lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"held"
        with pytest.raises(StorageError, match="in use"):
            own(path)
        holder.kill()
        holder.wait(timeout=30)
    own(path).release()


def test_a_lock_file_of_an_earlier_version_is_as_good_as_any(tmp_path: Path) -> None:
    path = tmp_path / "crawl.lock"
    former = sqlite3.connect(path, isolation_level=None)
    former.execute("CREATE TABLE something (x)")
    former.close()
    content = path.read_bytes()
    with own(path), pytest.raises(StorageError, match="in use"):
        own(path)
    assert path.read_bytes() == content


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="does not exist"):
        own(tmp_path / "missing" / "some.lock")


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "some.lock").mkdir()
    with pytest.raises(StorageError, match="directory"):
        own(tmp_path / "some.lock")
