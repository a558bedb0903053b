"""One pass over a parsed document: its words in reading order, and what stands where among them.

The walk is a loop with its own stack, as pages may be nested deeper than Python recurses. It joins
text as a reader would see it: elements that stand on their own part words, elements inside a line
(``<b>a</b>b``) do not. Links and headings are remembered as spans between *marks*: a mark is a
number of pieces, the point in the text behind that many. :mod:`trailhound.text.links` turns spans
into words once the text is complete.
"""

from __future__ import annotations

from collections.abc import Set

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from trailhound.records import LinkKind

MAX_LINKS = 5_000
MAX_HEADINGS = 500
MAX_TEXT_CHARS = 1_000_000
"""Of what is shown, and of what is not: neither takes the other's room."""
MAX_ADDRESS_CHARS = 8_000
# Tag paths keep the steps nearest to the link, and short class names: pages repeat them.
MAX_PATH_STEPS = 40
MAX_CLASS_CHARS = 40

# Elements that do not part words. Everything else, unknown elements included, does.
_INLINE = frozenset([
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "ruby", "s", "samp", "small", "span",
    "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
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


def _known_ids() -> dict[int, str]:
    """The parser's numbers of the elements above: they are read faster than names."""
    tree = LexborHTMLParser("")
    return {tree.create_node(name).tag_id: name for name in _INLINE | _SPECIAL}


_NAMES = _known_ids()
_TEXT_ID, _COMMENT_ID = 2, 4
_SPECIAL_IDS = frozenset(number for number, name in _NAMES.items() if name in _SPECIAL)
_CLOSED_IDS = frozenset(number for number, name in _NAMES.items() if name in _CLOSED)
_INLINE_IDS = frozenset(number for number, name in _NAMES.items() if name in _INLINE)

Attributes = dict[str, str | None]


class Span(msgspec.Struct, gc=False):
    """A heading: the marks in front of its words and behind."""

    start: int
    end: int = -1


class HiddenSpan(Span, gc=False):
    """Words that are not shown."""


class LinkSpan(msgspec.Struct, gc=False):
    """A link as found: the marks before and behind its words, and its raw attributes."""

    kind: LinkKind
    address: str
    attributes: Attributes
    tag_path: str
    heading: Span | None
    """The nearest heading above, or the one that the link is part of."""
    start: int
    end: int = -1
    image_alts: list[str] = []


_Spans = tuple[Span | LinkSpan, ...]


class DocumentWalk:
    """What one document holds, after :meth:`run`.

    ``surroundings`` says whether anybody wants to know where in the page its links are.
    """

    def __init__(self, surroundings: bool = True) -> None:
        self.surroundings = surroundings
        self.pieces: list[str] = []
        """The text, to be joined."""
        self.links: list[LinkSpan] = []
        self.headings: list[Span] = []
        self.metadata: list[tuple[str, Attributes]] = []
        """Tag and attributes of each ``meta``, ``link`` and ``base``."""
        self.title = ""
        self.hidden: list[HiddenSpan] = []
        """Text that is not shown."""
        self.noframes: list[str] = []
        """Markup that a frameset offers to browsers without frames."""
        self.is_frameset = False
        self._latest_mark = -1
        self._stack: list[tuple[LexborNode, bool, _Spans]] = []
        """The open elements: whether each parts words, and the spans that end with it."""
        self._paths: dict[int, str] = {}
        self._steps: dict[int, str] = {}
        self._open_links: list[LinkSpan] = []
        self._open_hidden = 0
        self._room = self._hidden_room = 0

    def run(self, root: LexborNode, hiding_nodes: Set[int] = frozenset()) -> None:
        """Walk everything below ``root``; ``hiding_nodes`` are ids of elements not shown."""
        self._paths.clear()  # ids are unique within one tree only
        self._steps.clear()
        add_piece, stack = self.pieces.append, self._stack
        self._room = self._hidden_room = MAX_TEXT_CHARS
        node = root.first_child
        while node is not None:
            kind = node.tag_id
            if kind == _TEXT_ID:
                self._add_text(node.text_content or "")
                following = node.next
            elif kind == _COMMENT_ID:
                following = node.next
            else:
                spans = self._enter(node, kind) if kind in _SPECIAL_IDS else ()
                if hiding_nodes and node.mem_id in hiding_nodes:
                    spans = (*spans, self._start_hidden())
                parts_words = kind not in _INLINE_IDS
                if parts_words:
                    add_piece(" ")
                following = node.first_child if kind not in _CLOSED_IDS else None
                stack.append((node, parts_words and following is not None, spans))
            while following is None and stack:
                node, parts_words, spans = stack.pop()
                for span in spans:
                    self._end(span)
                if parts_words:
                    add_piece(" ")
                following = node.next
            node = following

    def _add_text(self, text: str) -> None:
        """As much of it as there is room for."""
        if self._open_hidden:
            text = text[: self._hidden_room]
            self._hidden_room -= len(text)
        else:
            text = text[: self._room]
            self._room -= len(text)
        if text:
            self.pieces.append(text)

    def _enter(self, node: LexborNode, number: int) -> _Spans:
        """Record an element that means more than its words; the span that ends with it, if any."""
        tag = _NAMES[number]
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
        return ()

    def _start_link(self, node: LexborNode, kind: LinkKind) -> _Spans:
        attributes = node.attributes
        address = attributes.get("href" if kind in _HREF_KINDS else "src")
        if not address or len(address) > MAX_ADDRESS_CHARS or len(self.links) >= MAX_LINKS:
            return ()
        if self._latest_mark == len(self.pieces):
            self.pieces.append(" ")  # menus set links side by side: <a>Home</a><a>News</a>
        heading = self.headings[-1] if self.headings else None
        path = self._path() if self.surroundings else ""
        link = LinkSpan(kind, address, attributes, path, heading, self._mark())
        self.links.append(link)
        self._open_links.append(link)
        return (link,)

    def _start_heading(self) -> _Spans:
        if len(self.headings) >= MAX_HEADINGS:
            return ()
        heading = Span(self._mark())
        self.headings.append(heading)
        return (heading,)

    def _start_hidden(self) -> HiddenSpan:
        self._open_hidden += 1
        self.hidden.append(HiddenSpan(self._mark()))
        return self.hidden[-1]

    def _end(self, span: Span | LinkSpan) -> None:
        if isinstance(span, LinkSpan):
            self._open_links.pop()
        elif isinstance(span, HiddenSpan):
            self._open_hidden -= 1
        span.end = self._mark()

    def _add_image(self, node: LexborNode) -> None:
        if self._open_links:
            alt = node.attributes.get("alt")
            if alt:
                self._open_links[-1].image_alts.append(alt)

    def _mark(self) -> int:
        """The point behind the text so far."""
        self._latest_mark = len(self.pieces)
        return self._latest_mark

    def _path(self) -> str:
        """The open elements below the body, as ``div.nav/ul/li``."""
        stack, paths = self._stack, self._paths
        known = paths.get(stack[-1][0].mem_id) if stack else ""
        if known is None:
            known = self._deep_path() if len(stack) > MAX_PATH_STEPS else self._grown_path()
            paths[stack[-1][0].mem_id] = known
        return known

    def _deep_path(self) -> str:
        nearest = [node for node, _, _ in self._stack[-MAX_PATH_STEPS:]]
        return "/".join([self._step(node) for node in nearest if node.tag not in _ROOTS])

    def _step(self, node: LexborNode) -> str:
        """Of an element far above, which may have thousands of attributes, once."""
        if node.mem_id not in self._steps:
            self._steps[node.mem_id] = _step(node)
        return self._steps[node.mem_id]

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
        for node, _, _ in stack[above:]:
            if node.tag not in _ROOTS:
                path = f"{path}/{_step(node)}" if path else _step(node)
            paths[node.mem_id] = path
        return path


def _step(node: LexborNode) -> str:
    """One element of a path, with its first class."""
    classes = (node.attributes.get("class") or "").split(None, 1)
    if classes and classes[0].isprintable():
        return f"{node.tag}.{classes[0][:MAX_CLASS_CHARS]}"
    return node.tag or ""
