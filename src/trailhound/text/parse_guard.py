"""A limit to what a hostile page can make the HTML parser do.

Three rules of HTML cost more than the page is long. Unclosed formatting elements are repeated
inside every later paragraph: 70 KB of ``<i id=1><p><i id=2><p>...`` become 12 million nodes, 5 GB
and 9 s. Many tags search the open elements: a megabyte of ``<span>`` and stray end tags takes
minutes. Each attribute is compared with the others of its element: 100,000 of them take 45 s. All
three can be counted from the tags alone, in one pass that only large pages pay for (0.4 µs a tag).
"""

from __future__ import annotations

import re
from collections import Counter

# Pages with less of both do little harm: 1,000 pairs like the above give 500,000 nodes, and
# 50,000 characters hold attributes for half a second.
UNCHECKED_TAGS = 2_000
UNCHECKED_CHARS = 50_000

# Elements that the parser may add by repeating formatting elements (about 450 bytes each).
MAX_REPEATED_ELEMENTS = 500_000
# Open elements passed over while searching, summed over all tags (about 3 ns each).
MAX_SEARCHED_ELEMENTS = 50_000_000
MAX_ATTRIBUTES = 2_000

# A tag up to its ">", which may also stand inside a quoted value.
_TAG = re.compile(
    r"""<(/?)([A-Za-z][A-Za-z0-9:-]{0,30})(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+"""
)
_VALUES = re.compile(r"""=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+)""")
_BETWEEN_ATTRIBUTES = re.compile(r"[\s/]+")
_FORMATTING = frozenset([
    "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
])  # fmt: skip
# Start tags that open nothing, or end an element of their own kind first.
_NEVER_DEEP = frozenset([
    "a", "area", "base", "br", "button", "col", "dd", "dt", "embed", "hr", "img", "input", "li",
    "link", "meta", "option", "optgroup", "p", "param", "source", "tbody", "td", "tfoot", "th",
    "thead", "tr", "track", "wbr",
])  # fmt: skip


def within_parse_budget(html: str) -> str:
    """``html``, cut off where parsing it would become unreasonably expensive."""
    if len(html) <= UNCHECKED_CHARS and html.count("<") <= UNCHECKED_TAGS:
        return html
    cost = _ParseCost()
    for tag in _TAG.finditer(html):
        cost.add_tag(tag[2].lower(), is_end=bool(tag[1]))
        if cost.is_exceeded() or _has_too_many_attributes(tag):
            return html[: tag.start()]
    return html


class _ParseCost:
    """Upper bounds of what the tags so far cost a parser."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._depth = self._formatting = 0
        self._repeated = self._searched = 0

    def add_tag(self, name: str, is_end: bool) -> None:
        if name not in _NEVER_DEEP:
            # An end tag of nothing open ends nothing.
            step = 1 if not is_end else -1 if self._open[name] else 0
            self._open[name] += step
            self._depth += step
            if name in _FORMATTING:
                self._formatting += step
        self._repeated += self._formatting
        self._searched += self._depth

    def is_exceeded(self) -> bool:
        return self._repeated > MAX_REPEATED_ELEMENTS or self._searched > MAX_SEARCHED_ELEMENTS


def _has_too_many_attributes(tag: re.Match[str]) -> bool:
    if tag.end() - tag.start() <= 2 * MAX_ATTRIBUTES:
        return False
    names = _BETWEEN_ATTRIBUTES.split(_VALUES.sub(" ", tag[0]))
    return len(names) > MAX_ATTRIBUTES
