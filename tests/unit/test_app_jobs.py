"""Jobs of the app, and the token that its users must know."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from trailhound.errors import StorageError
from trailhound.web import jobs
from trailhound.web.access import AppToken
from trailhound.web.hub import Hub


def _full_disk(*_: object) -> None:
    raise StorageError("Cannot write jobs.json: No space left on device.")


def test_a_job_that_cannot_be_noted_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_jobs = jobs.Jobs(tmp_path, Hub())
    with monkeypatch.context() as patched:
        patched.setattr(jobs, "write_whole", _full_disk)
        with pytest.raises(StorageError, match="No space left"):
            all_jobs.start("learn", "bees", lambda _: "done")
    assert all_jobs.all() == []
    again = all_jobs.start("learn", "bees", lambda _: "done")
    all_jobs.wait(again)
    assert (again.state, again.message) == ("done", "done")
    all_jobs.finish(1.0)


def test_a_job_ends_although_that_cannot_be_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_jobs, may_end = jobs.Jobs(tmp_path, Hub()), threading.Event()

    def work(handle: jobs.Handle) -> str:
        may_end.wait()
        handle.report("half way")
        return "learned"

    job = all_jobs.start("learn", "bees", work)
    with monkeypatch.context() as patched:
        patched.setattr(jobs, "write_whole", _full_disk)
        may_end.set()
        all_jobs.wait(job)
    assert (job.state, job.message) == ("done", "learned")


def test_names_that_are_no_text_break_no_other_job(tmp_path: Path) -> None:
    def work(handle: jobs.Handle) -> str:
        raise StorageError("/home/b\udcfccher cannot be read.")

    all_jobs = jobs.Jobs(tmp_path, Hub())
    failed = all_jobs.start("learn", "bees", work)
    all_jobs.wait(failed)
    assert (failed.state, failed.message) == ("failed", "/home/b?cher cannot be read.")
    all_jobs.wait(all_jobs.start("learn", "wasps", lambda _: "done"))


def test_bytes_that_are_no_text_are_no_token() -> None:
    assert not AppToken("right").is_right("\udcff")
    assert AppToken("right").is_right("right")
