"""What the command line calls by its flags, programs hear of by their arguments."""

from __future__ import annotations

import pytest

from trailhound.errors import UsageError, in_arguments, told_to_programs


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("Allow more with --max-requests 200.", "Allow more with max_requests=200."),
        ("Name one or more: --seed URL", "Name one or more: seeds=URL"),
        ("Say it with --user-agent 'a bot (+b)'.", "Say it with user_agent='a bot (+b)'."),
        ("begin anew with --restart.", "begin anew with another folder."),
        ("Make room, and go on with --resume;", "Make room, and go on with the same folder;"),
        ("Mend it with: trailhound check bees --repair", None),
        ("Learn it: trailhound learn bees --session FILE, or --judge", None),
        ("Give --header 'X: y' --for-host HOST", "Give headers='X: y' as_me=HOST"),
        ("Give it with --for-host http://a.test", "Give it with as_me=http://a.test"),
        ("Give it with --for-host a.test.", "Give it with as_me=a.test."),
        ("nothing -- to change", None),
        ("http://xn--bcher-kva.test/a--resume-b was not fetched", None),
        ("There is no /tmp/my--session.jsonl, nor /tmp/--seed", None),
    ],
)
def test_flags_are_arguments(told: str, expected: str | None) -> None:
    assert in_arguments(told) == (expected or told.replace("--judge", "judge"))


def test_an_error_keeps_its_kind() -> None:
    with pytest.raises(UsageError, match=r"^take judge$"), told_to_programs():
        raise UsageError("take --judge")
