"""XML of strangers, read in one pass: no entities, no depth without end, nothing from outside.

Encodings, the parser knows few of: :func:`tolerable_xml` makes characters of bytes, and heals what
browsers and feed readers bear with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape, unescape
from html.entities import html5
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from trailhound.text.encoding import decode

MAX_DEPTH = 200
"""Of elements within elements; the parser keeps some of each."""

Attributes = Mapping[str, str]
_ENTITIES = {name[:-1]: text for name, text in html5.items() if name.endswith(";")}
# An ampersand that is none of XML's own references. What is no markup is passed over to its end, or
# to that of the text, so that no character is looked at twice.
_AMPERSAND = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)"
    r"|&(?!(?:amp|lt|gt|quot|apos);)(#?\w{1,32};)?",
    re.DOTALL,
)
# Honest feeds have some per entry; eight million took 18 seconds.
_MAX_HEALED = 300_000
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class EnoughError(Exception):
    """Raised by a walk that wants no more."""


class XmlWalk:
    """Told of elements by their local names, as name spaces are often wrong."""

    def __init__(self) -> None:
        self.path: list[str] = []
        """The open elements, the root first."""

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""
        if len(self.path) >= MAX_DEPTH:
            raise ValueError("its elements are nested too deeply")
        name = tag.rpartition("}")[2]
        self.path.append(name)
        self.enter(name, attributes)

    def end(self, _tag: str) -> None:
        """An element ends."""
        self.leave(self.path[-1])
        self.path.pop()

    def data(self, text: str) -> None:
        """Characters."""

    def close(self) -> None:
        """The document ends."""

    def enter(self, name: str, attributes: Attributes) -> None:
        """An element begins; it is the last of :attr:`path`."""

    def leave(self, name: str) -> None:
        """The last element of :attr:`path` ends."""


def tolerable_xml(body: bytes, content_type: str = "") -> str:
    """XML as characters, without what a parser stumbles over.

    Blanks in front of the declaration, HTML's entities without the DTD that declares them, a bare
    ampersand, control characters.
    """
    text = decode(body, content_type, is_xml=True).text.lstrip("\ufeff \t\r\n\f")
    text = _NO_XML.sub(" ", text)
    return _AMPERSAND.sub(_resolved, text, _MAX_HEALED) if "&" in text else text


def _resolved(found: re.Match[str]) -> str:
    written = found[0]
    if written == "&":
        return "&amp;"
    return _meaning(written) if found[1] else written


@lru_cache(maxsize=1_000)
def _meaning(reference: str) -> str:
    """The characters behind a reference of HTML's, or the reference as text."""
    return escape(_NO_XML.sub(" ", unescape(reference)))


def walk_xml(content: bytes | str, walk: XmlWalk) -> str:
    """Lead a walk through a document; why it did not come to the end, or nothing."""
    parser = DefusedXMLParser(target=walk)
    parser.entity.update(_ENTITIES)
    try:
        parser.feed(content)
        parser.close()
    except EnoughError:
        return ""
    except DefusedXmlException:
        return "it declares XML entities, which are refused"
    except (ParseError, ValueError, LookupError) as error:  # LookupError: an unknown encoding
        return f"its XML is malformed ({error})"
    return ""


def attribute(attributes: Attributes, name: str) -> str:
    """An attribute by its local name; empty without one."""
    return next((each for key, each in attributes.items() if key.rpartition("}")[2] == name), "")
