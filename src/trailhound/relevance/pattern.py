"""A judge by regular expression over a page's address, title or text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from trailhound.errors import UsageError
from trailhound.records import Page, Relevance
from trailhound.strategies.base import Briefing

PARTS = ("url", "title", "text")


class RegexJudge:
    """A page is relevant when the pattern is found in one of ``parts``; the score is 1 or 0."""

    name: ClassVar[str] = "regex"
    summary: ClassVar[str] = "a regular expression in URL, title or text"

    def __init__(
        self, pattern: str, parts: Sequence[str] = PARTS, *, ignore_case: bool = True
    ) -> None:
        wrong = set(parts) - set(PARTS)
        if wrong or not parts:
            raise UsageError(
                f"The judge 'regex' cannot look into '{' '.join(sorted(wrong))}'. Choose from "
                f"{', '.join(PARTS)}, for example regex:pattern=bee,parts=url title"
            )
        try:
            self._pattern = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
        except re.error as error:
            raise UsageError(
                f"The judge 'regex' cannot use the pattern '{pattern}': {error}. A comma in a "
                "pattern is written as \\, and the whole in quotes of the shell."
            ) from error
        self._parts = tuple(parts)

    @classmethod
    def from_briefing(
        cls,
        briefing: Briefing,
        *,
        pattern: str,
        parts: str = " ".join(PARTS),
        ignore_case: bool = True,
    ) -> RegexJudge:
        """``parts`` are parted by blanks."""
        del briefing
        return cls(pattern, parts.split(), ignore_case=ignore_case)

    def judge(self, page: Page) -> Relevance:
        """Look into the parts in turn."""
        found = any(self._pattern.search(getattr(page, part)) for part in self._parts)
        return Relevance(float(found), found)
