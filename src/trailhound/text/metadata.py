"""What a page says about itself in ``meta``, ``link`` and ``base`` elements."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trailhound.text.document_walk import Attributes
from trailhound.text.spans import collapse

MAX_DESCRIPTION_CHARS = 2_000

_REFRESH = re.compile(r"""\s*[\d.]*\s*[;,]?\s*url\s*=\s*["']?\s*([^"'>]+)""", re.IGNORECASE)


@dataclass(slots=True)
class Metadata:
    """The declarations that concern a crawl; the first of each kind counts."""

    description: str = ""
    base: str = ""
    """Raw ``href`` of ``base``."""
    canonical: str = ""
    """Raw ``href`` of ``rel=canonical``."""
    refresh: str = ""
    """Raw address that the page sends its readers on to."""
    language: str = ""
    """``content-language``, as written."""
    noindex: bool = False
    nofollow: bool = False


def read_metadata(elements: list[tuple[str, Attributes]]) -> Metadata:
    """Gather the declarations of a page's ``meta``, ``link`` and ``base`` elements."""
    found = Metadata()
    social_description = ""
    for tag, attributes in elements:
        if tag == "base":
            found.base = found.base or attributes.get("href") or ""
        elif tag == "link":
            _read_link(found, attributes)
        else:
            name = (attributes.get("name") or attributes.get("property") or "").strip().lower()
            content = attributes.get("content") or ""
            if name == "og:description":
                social_description = social_description or content
            _read_meta(found, name, content, attributes.get("http-equiv"))
    description = found.description or social_description
    found.description = collapse(description[:MAX_DESCRIPTION_CHARS])
    return found


def _read_link(found: Metadata, attributes: Attributes) -> None:
    if "canonical" in (attributes.get("rel") or "").lower().split():
        found.canonical = found.canonical or attributes.get("href") or ""


def _read_meta(found: Metadata, name: str, content: str, http_equiv: str | None) -> None:
    if name == "description":
        found.description = found.description or content
    elif name == "robots":
        _read_robots(found, content)
    directive = (http_equiv or "").strip().lower()
    if directive == "content-language":
        found.language = found.language or content
    elif directive == "refresh":
        target = _REFRESH.match(content[:10_000])
        if target is not None:
            found.refresh = found.refresh or target[1].strip()


def _read_robots(found: Metadata, content: str) -> None:
    """Several robots elements add up: the strictest word wins."""
    words = set(content.lower().replace(",", " ").split())
    found.noindex = found.noindex or not words.isdisjoint(("noindex", "none"))
    found.nofollow = found.nofollow or not words.isdisjoint(("nofollow", "none"))
