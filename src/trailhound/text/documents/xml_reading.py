"""XML of strangers, read in one pass: no entities, no depth without end, nothing from outside."""

from __future__ import annotations

from collections.abc import Mapping
from html.entities import html5
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

MAX_DEPTH = 200
"""Of elements within elements; the parser keeps some of each."""

Attributes = Mapping[str, str]
_ENTITIES = {name[:-1]: text for name, text in html5.items() if name.endswith(";")}


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


def walk_xml(content: bytes, walk: XmlWalk) -> str:
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
