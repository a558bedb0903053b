"""Options that cannot be meant are told before a crawl starts."""

from __future__ import annotations

from trailhound.errors import UsageError


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    """UsageError unless the value is one of the choices."""
    if value not in choices:
        raise UsageError(f"Option {option} is '{value}', but it should be {' or '.join(choices)}.")


def check_at_least(least: float, **options: float) -> None:
    """UsageError unless all are so large; not a number never is."""
    for option, value in options.items():
        if not value >= least:
            raise UsageError(
                f"Option {option} = {value:g} is too small: it should be {least:g} or more."
            )
