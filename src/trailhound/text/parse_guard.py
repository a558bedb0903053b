"""Which pages can do no harm to whoever parses them, whatever they hold.

Three rules of HTML cost more than a page is long, and hostile pages live on them:

* *Unclosed formatting elements* (``<i>``, ``<font>``, ``<a>`` …) are repeated inside every later
  paragraph: 48 KB of ``<p><i id=1><p><i id=2>`` become 750 MB. The parser keeps three of each kind
  at most (the "Noah's Ark clause") and one ``<a>``: that is the *mass* which a tag can repeat once.
  The "adoption agency" repeats it once more: it takes an element past each block one time only.
* *Many tags search the open elements*: a megabyte of ``<span>`` and stray end tags takes minutes.
  No search passes more elements than there are start tags.
* *Attributes are compared* with the others of their element: 100,000 take 45 s.

All three are bounded by counting. Nothing is believed about what a tag closes or where it stands:
in comments, scripts and tables tags may mean nothing, so every ``<`` is taken for one that does its
worst. A page with a small bound is parsed at once; others are for a process that can be stopped
(:mod:`trailhound.crawling.worker_pool`), or are cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple


class ParseLimits(NamedTuple):
    """The most that a page may cost a parser in the worst case."""

    chars: int
    searches: int
    """Tags times start tags: elements passed over. Up to 13 ns each."""
    repeated_bytes: int
    """Taken by elements that the parser repeats."""
    compared: int
    """Characters of the page times those of its longest tag. Up to 0.4 ns each."""


HARMLESS = ParseLimits(400_000, 12_000_000, 100_000_000, 400_000_000)
"""0.2 s and 100 MB: a crawl need not fear it."""
BEARABLE = ParseLimits(8_000_000, 400_000_000, 200_000_000, 8_000_000_000)
"""Some seconds: for one page among those that a person has asked for."""
GENEROUS = ParseLimits(8_000_000, 2_000_000_000, 800_000_000, 16_000_000_000)
"""Half a minute: for imports that run unattended. No page of our corpora is beyond it."""

# In the parsed tree, as measured. A character of a tag takes half an attribute (" a") at the most.
_ELEMENT_BYTES = 200
_ATTRIBUTE_BYTES = 190
_BYTES_PER_CHAR = _ATTRIBUTE_BYTES // 2

# What is repeated; and body and html, which gather the attributes of all tags of their name.
_NAMES = r"[bisu]|big|code|em|font|nobr|small|strike|strong|tt|body|html"
_START = r"<(?=[abcefhinstuABCEFHINSTU])"
_REPEATED_START = re.compile(rf"{_START}(?:a|{_NAMES})[\s/>]", re.IGNORECASE)
_SELECTED_CONTENT = re.compile("<selectedcontent", re.IGNORECASE)
_TAG_START = re.compile("<[A-Za-z]")
_ATTRIBUTE_START = re.compile(r"""[\s/"'][^\s/"'>]""")
# A quoted value with a ">" in it: without any, every tag ends at its first ">".
_SPLIT_VALUE = re.compile(r"""=\s*(?:"[^">]*>|'[^'>]*>)""")
# A tag by the tokenizer's own rules, from a "<" on; a value of which no end is seen is marked.
_WHOLE_TAG = re.compile(
    r"""<[A-Za-z][^\t\n\f\r />]*+
    (?:[\t\n\f\r /]++
      |[^\t\n\f\r />][^\t\n\f\r />=]*+
       (?:[\t\n\f\r ]*+=[\t\n\f\r ]*+
         (?:"[^"]*+(?:"|(?P<endless>))
           |'[^']*+(?:'|(?P<unending>))
           |[^\t\n\f\r "'>][^\t\n\f\r >]*+)?+)?+
    )*+>?""",
    re.VERBOSE,
)


def is_harmless(html: str, limits: ParseLimits = HARMLESS) -> bool:
    """Whether parsing cannot cost more than the limits, by whatever rule."""
    tags, chars = html.count("<"), len(html)
    if 2 * tags * chars * _BYTES_PER_CHAR <= limits.repeated_bytes and chars**2 <= limits.compared:
        return True  # even if it were one tag
    if chars > limits.chars or _searches(html, tags) > limits.searches:
        return False
    # Anchors are many, and one at a time is repeated: few tags make all but the longest negligible.
    anchor_chars = 300 if tags <= 1_000 else 80
    found = _repeated_tags(html, limits.compared // chars, anchor_chars)
    if found is None:
        return False
    repeated = 2 * tags * _mass(found, anchor_chars)
    if 2 * repeated <= limits.repeated_bytes:
        return True
    # The chosen option of a select is shown a second time, with all that was repeated in it.
    return repeated <= limits.repeated_bytes and _SELECTED_CONTENT.search(html) is None


def harmless_start(html: str, limits: ParseLimits) -> str:
    """``html``, cut off somewhat before it could cost more than the limits."""
    if is_harmless(html, limits):
        return html
    good, bad = 0, len(html)
    while bad - good > 1_000 + good // 8:
        middle = (good + bad) // 2
        if is_harmless(html[:middle], limits):
            good = middle
        else:
            bad = middle
    return html[:good]


def _searches(html: str, tags: int) -> int:
    """Every tag may look through all open elements; an end tag opens none."""
    return tags * (tags - html.count("</")) if tags > 3_000 else tags * tags


@cache
def _repeated_tag(anchor_chars: int) -> re.Pattern[str]:
    """Anchors have to have so many characters to be found."""
    anchor = rf"a[\s/][^>]{{{anchor_chars}}}"
    return re.compile(rf"{_START}(?:{anchor}|(?:{_NAMES})(?=[\s/>]))[^>]*", re.IGNORECASE)


def _repeated_tags(html: str, longest: int, anchor_chars: int) -> list[str] | None:
    """The tags that may be repeated, without short anchors; ``None`` when any tag is too long."""
    if not _is_parted(html, longest // 2) and re.search(f"<[A-Za-z][^>]{{{longest}}}", html):
        return None
    tags: list[str] = _repeated_tag(anchor_chars).findall(html)
    for value in _SPLIT_VALUE.finditer(html):
        before = html.rfind(">", 0, value.start()) + 1
        for start in _TAG_START.finditer(html, before, value.start()):
            tag = _WHOLE_TAG.match(html, start.start(), start.start() + longest)
            if tag is None or (tag.lastgroup and start.start() + longest >= len(html)):
                continue  # the page ends first, and the tag with it
            if tag.lastgroup or len(tag[0]) == longest:
                return None
            if _REPEATED_START.match(tag[0]) is not None:
                tags.append(tag[0])
    return tags if _gathered(tags) <= longest else None


def _is_parted(html: str, chars: int) -> bool:
    """Whether every stretch of so many characters has a ``>``: no tag has twice as many then."""
    starts = range(0, len(html) - chars + 1, max(chars, 1))
    return all(html.find(">", start, start + chars) >= 0 for start in starts)


def _gathered(tags: Iterable[str]) -> int:
    """Characters of all tags whose attributes come together in one element."""
    return sum([len(tag) for tag in tags if _is_gathering(tag)])


def _is_gathering(tag: str) -> bool:
    return tag[1:5].lower() in ("body", "html")


def _mass(tags: list[str], anchor_chars: int) -> int:
    """The bytes that repeating everything once takes, and an anchor of so many characters."""
    anchor = _ELEMENT_BYTES + anchor_chars * _BYTES_PER_CHAR
    formatting = 0
    for tag, times in Counter(tags).items():
        if tag[1] in "aA":
            anchor = max(anchor, _size(tag))
        elif not _is_gathering(tag):
            formatting += min(times, 3) * _size(tag)
    return anchor + formatting


def _size(tag: str) -> int:
    attributes = len(_ATTRIBUTE_START.findall(tag))
    values = len(tag) if tag.isascii() else 4 * len(tag)
    return _ELEMENT_BYTES + attributes * _ATTRIBUTE_BYTES + values
