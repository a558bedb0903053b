"""One pass over a parsed document: its words in reading order, and what stands where among them.

The walk is a loop with its own stack, as pages may be nested deeper than Python recurses. It joins
text as a reader would see it: elements that stand on their own part words, elements inside a line
(``<b>a</b>b``) do not. Links and headings are remembered as spans between *marks*: points in the
text that :mod:`trailhound.text.links` turns into words once the text is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, field
from functools import partial

from selectolax.lexbor import LexborNode

from trailhound.records import LinkKind

MAX_LINKS = 5_000
MAX_HEADINGS = 500
MAX_TEXT_CHARS = 1_000_000
MAX_ADDRESS_CHARS = 8_000
# Tag paths keep the steps nearest to the link, and short class names: pages repeat them.
MAX_PATH_STEPS = 40
MAX_CLASS_CHARS = 40

# A mark in the text. The parser never gives NUL, so it can only be ours.
MARK = "\0"

# Elements that do not part words. Everything else, unknown elements included, does.
_INLINE = frozenset([
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "ruby", "s", "samp", "small", "span",
    "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "-comment",
])  # fmt: skip
# Elements whose content is not shown as text: programs, choices, fallbacks for old browsers.
_UNSEEN = frozenset([
    "script", "style", "noscript", "template", "noembed", "canvas", "audio", "video", "svg",
    "select", "datalist", "textarea", "iframe", "rp",
])  # fmt: skip
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_LINK_KINDS = {kind.value: kind for kind in LinkKind}
_HREF_KINDS = (LinkKind.ANCHOR, LinkKind.AREA)
_ROOTS = ("html", "head", "body")
_METADATA = frozenset(["meta", "link", "base"])
_SPECIAL = (
    _UNSEEN
    | _HEADINGS
    | _METADATA
    | frozenset([*_LINK_KINDS, "img", "title", "noframes", "frameset"])
)

# Elements that the walk does not go into.
_CLOSED = _UNSEEN | frozenset(["title", "noframes"])
# Elements that are nothing but a place for words, and do not part them.
_PLAIN_INLINE = _INLINE - _SPECIAL

Attributes = dict[str, str | None]
_Closing = Callable[[], None]


@dataclass(slots=True)
class HeadingSpan:
    """A heading: the marks before and behind its words."""

    start: int
    end: int = -1


@dataclass(slots=True)
class LinkSpan:
    """A link as found: the marks before and behind its words, and its raw attributes."""

    kind: LinkKind
    address: str
    attributes: Attributes
    tag_path: str
    heading: HeadingSpan | None
    """The nearest heading above, or the one that the link is part of."""
    start: int
    end: int = -1
    image_alts: list[str] = field(default_factory=list)


class DocumentWalk:
    """What one document holds, after :meth:`run`.

    ``surroundings`` says whether anybody wants to know where in the page its links are.
    """

    def __init__(self, surroundings: bool = True) -> None:
        self.surroundings = surroundings
        self.pieces: list[str] = []
        """The text with its marks, to be joined."""
        self.links: list[LinkSpan] = []
        self.headings: list[HeadingSpan] = []
        self.metadata: list[tuple[str, Attributes]] = []
        """Tag and attributes of each ``meta``, ``link`` and ``base``."""
        self.title = ""
        self.hidden: list[tuple[int, int]] = []
        """Pairs of marks around text that is not shown."""
        self.noframes: list[str] = []
        """Markup that a frameset offers to browsers without frames."""
        self.is_frameset = False
        self._marks = 0
        self._stack: list[tuple[LexborNode, str, _Closing | None]] = []
        self._paths: dict[int, str] = {}
        self._open_links: list[LinkSpan] = []

    def run(self, root: LexborNode, hiding_nodes: Set[int] = frozenset()) -> None:
        """Walk everything below ``root``; ``hiding_nodes`` are ids of elements not shown."""
        self._paths.clear()  # ids are unique within one tree only
        add_piece, open_element = self.pieces.append, self._stack.append
        room = MAX_TEXT_CHARS
        node = root.first_child
        while node is not None:
            tag = node.tag
            if tag == "-text":
                text = node.text_content or ""
                room -= len(text)
                if room >= 0:
                    add_piece(text)
                node = node.next or self._leave()
                continue
            if tag in _SPECIAL or hiding_nodes:
                child = self._enter(node, tag or "", hiding_nodes)
            else:
                if tag not in _PLAIN_INLINE:
                    add_piece(" ")
                child = node.first_child
                if child is not None:
                    open_element((node, tag or "", None))
            node = child or node.next or self._leave()

    def _leave(self) -> LexborNode | None:
        """End the elements that have no more to visit; what follows the last of them."""
        stack = self._stack
        while stack:
            node, tag, closing = stack.pop()
            if closing is not None:
                closing()
            if tag not in _INLINE:
                self.pieces.append(" ")
            following = node.next
            if following is not None:
                return following
        return None

    def _enter(self, node: LexborNode, tag: str, hiding_nodes: Set[int]) -> LexborNode | None:
        """Note what begins here; its first child to visit, ``None`` if there is none."""
        closing = self._enter_special(node, tag) if tag in _SPECIAL else None
        if hiding_nodes and node.mem_id in hiding_nodes:
            closing = partial(self._end_hiding, self._mark(), closing)
        if tag not in _INLINE:
            self.pieces.append(" ")
        child = node.first_child if tag not in _CLOSED else None
        if child is not None:
            self._stack.append((node, tag, closing))
        elif closing is not None:
            closing()
        return child

    def _enter_special(self, node: LexborNode, tag: str) -> _Closing | None:
        """Record an element that means more than its words; what to do at its end, if anything."""
        kind = _LINK_KINDS.get(tag)
        if kind is not None:
            return self._start_link(node, kind)
        if tag in _HEADINGS:
            return self._start_heading()
        if tag in _METADATA:
            self.metadata.append((tag, node.attributes))
        elif tag == "img":
            self._add_image(node)
        elif tag == "title":
            self.title = self.title or node.text()
        elif tag == "frameset":
            self.is_frameset = True
        elif tag == "noframes":
            self.noframes.append(node.text())
        return None

    def _start_link(self, node: LexborNode, kind: LinkKind) -> _Closing | None:
        attributes = node.attributes
        address = attributes.get("href" if kind in _HREF_KINDS else "src")
        if not address or len(address) > MAX_ADDRESS_CHARS or len(self.links) >= MAX_LINKS:
            return None
        if self.pieces and self.pieces[-1] is MARK:
            self.pieces.append(" ")  # menus set links side by side: <a>Home</a><a>News</a>
        heading = self.headings[-1] if self.headings else None
        path = self._path() if self.surroundings else ""
        link = LinkSpan(kind, address, attributes, path, heading, self._mark())
        self.links.append(link)
        self._open_links.append(link)
        return partial(self._end_link, link)

    def _end_link(self, link: LinkSpan) -> None:
        self._open_links.pop()
        link.end = self._mark()

    def _start_heading(self) -> _Closing | None:
        if len(self.headings) >= MAX_HEADINGS:
            return None
        heading = HeadingSpan(self._mark())
        self.headings.append(heading)
        return partial(self._end_heading, heading)

    def _end_heading(self, heading: HeadingSpan) -> None:
        heading.end = self._mark()

    def _end_hiding(self, start: int, closing: _Closing | None) -> None:
        if closing is not None:
            closing()
        self.hidden.append((start, self._mark()))

    def _add_image(self, node: LexborNode) -> None:
        if self._open_links:
            alt = node.attributes.get("alt")
            if alt:
                self._open_links[-1].image_alts.append(alt)

    def _mark(self) -> int:
        """Put a mark here; its number."""
        self.pieces.append(MARK)
        self._marks += 1
        return self._marks - 1

    def _path(self) -> str:
        """The open elements below the body, as ``div.nav/ul/li``."""
        stack, paths = self._stack, self._paths
        known = paths.get(stack[-1][0].mem_id) if stack else ""
        if known is None:
            known = self._deep_path() if len(stack) > MAX_PATH_STEPS else self._grown_path()
            paths[stack[-1][0].mem_id] = known
        return known

    def _deep_path(self) -> str:
        nearest = self._stack[-MAX_PATH_STEPS:]
        return "/".join([_step(node, tag) for node, tag, _ in nearest if tag not in _ROOTS])

    def _grown_path(self) -> str:
        """The path of the nearest open element that has one, and the steps from there."""
        stack, paths = self._stack, self._paths
        path, above = "", len(stack) - 1
        while above:
            above -= 1
            found = paths.get(stack[above][0].mem_id)
            if found is not None:
                path = found
                above += 1
                break
        for node, tag, _ in stack[above:]:
            if tag not in _ROOTS:
                path = f"{path}/{_step(node, tag)}" if path else _step(node, tag)
            paths[node.mem_id] = path
        return path


def _step(node: LexborNode, tag: str) -> str:
    """One element of a path, with its first class."""
    classes = (node.attributes.get("class") or "").split(None, 1)
    if classes and classes[0].isprintable():
        return f"{tag}.{classes[0][:MAX_CLASS_CHARS]}"
    return tag
