"""Options that cannot be meant are told before a crawl starts."""

from __future__ import annotations

from trailhound.errors import UsageError


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    """UsageError unless the value is one of the choices."""
    if value not in choices:
        raise UsageError(f"Option {option} is '{value}', but it should be {' or '.join(choices)}.")
