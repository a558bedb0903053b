"""Which pages are worth a browser: told by their HTML, and learned from those rendered before.

Reading a page's HTML for signs must cost next to nothing, as it is done for every page, and be
linear in its size whatever a server sends: plain searches, and patterns that stop at the next tag.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlsplit

from trailhound.counting import counted
from trailhound.urls import canonicalize, host_key

LITTLE_TEXT_CHARS = 250
"""A page that shows less and has a script is mostly a shell."""
NOT_MUCH_TEXT_CHARS = 600
"""A page that shows less, and has much script, as well."""
SOME_TEXT_CHARS = 1500
"""A page that shows less may well ask for JavaScript; one that shows more says enough without."""
MUCH_SCRIPT = 40
"""Bytes of script for each character of text; one elsewhere counts as ``_FAR_SCRIPT_BYTES``."""
IN_VAIN = 2
"""Pages of a kind that rendering gave nothing: others are left as they are."""
TRIED_AGAIN_EVERY = 25
MAX_PROBES_IN_VAIN = 2
"""Of a host: pages with weak signs that were rendered for nothing."""
MAX_KINDS = 20_000
_FAR_SCRIPT_BYTES = 10_000
_READ_BYTES = 1_000_000
_NEW_CHARS = 100
_LEAST_SHARE = 0.5
"""Of a page's text; banners and the like may well go when it is rendered."""
_MAX_NOSCRIPTS = 20
_PIECE_BYTES = 5_000
_MAX_TAG_BYTES = 700

_SCRIPT = re.compile(rb"<script\b([^<>]{0,2000})>", re.IGNORECASE)
_SRC = re.compile(rb"""\bsrc\s{0,9}=\s{0,9}["']?([^"'\s<>]{1,1000})""", re.IGNORECASE)
_DATA_TYPE = re.compile(rb"""\btype\s{0,9}=\s{0,9}["']?[a-z]+/(?:ld\+)?json""", re.IGNORECASE)
_NOSCRIPT = re.compile(rb"<noscript\b[^<>]{0,500}>", re.IGNORECASE)
_MUTE = re.compile(rb"<(script|style|noscript|template|svg|head)\b", re.IGNORECASE)
_ENDS = {
    name: re.compile(b"</" + name + rb"[^<>]{0,200}>?", re.IGNORECASE)
    for name in (b"script", b"style", b"noscript", b"template", b"svg", b"head")
}
_TAG = re.compile(rb"<[^<>]{0,20000}>")
_HREF = re.compile(
    rb"""<a\b[^<>]{0,2000}?\bhref\s{0,9}=\s{0,9}(?:"([^"<>]{1,2000})|'([^'<>]{1,2000})|([^"'\s<>]{1,2000}))""",
    re.IGNORECASE,
)
_ROOT = re.compile(
    rb"""<(?:div|main|section|body)\b[^<>]{0,300}?\bid\s{0,9}=\s{0,9}["']?"""
    rb"""(?:root|app|application|__next|__nuxt|___gatsby|svelte|q-app|mount|react-root|main-app)\b"""
    rb"""["']?[^<>]{0,300}>\s{0,200}(?:<!--[^<>]{0,200}-->\s{0,200})?</""",
    re.IGNORECASE,
)
_CLOSED_AT_ONCE = re.compile(rb">\s{0,200}</")
_PLACE = re.compile(
    rb"<(?:(?:div|main|section|ul|ol|nav|article|aside|tbody)\b[^<>]{0,300}?\bid\s{0,9}=[^<>]{0,300}"
    rb"|[a-z][a-z0-9]{0,40}-[a-z0-9-]{1,60}\b[^<>]{0,300})>",
    re.IGNORECASE,
)


class Sign(IntEnum):
    """How much a page's HTML asks to be rendered."""

    NONE = 0
    WEAK = 1
    STRONG = 2


class Signs(NamedTuple):
    """What the HTML of one page says for rendering."""

    strength: Sign
    why: str
    scripts: frozenset[bytes] = frozenset()
    """Addresses of its scripts: pages with the same ones are of one kind."""


class Decision(NamedTuple):
    """Whether a page is rendered, and the reason in words."""

    render: bool
    why: str
    kind: tuple[str, ...] = ()
    is_probe: bool = False


class Gain(NamedTuple):
    """What a rendering added to a page."""

    links: int = 0
    chars: int = 0
    is_loss: bool = False
    """Whether it took most of the text away, and led nowhere new."""

    @property
    def is_worth_it(self) -> bool:
        """Whether there was something to find."""
        return self.links > 0 or self.chars >= _NEW_CHARS


@dataclass(slots=True)
class _Kind:
    """Pages of one host with the same scripts and the same beginning of their path."""

    rendered: int = 0
    gained: int = 0
    passed_over: int = 0


@dataclass
class Learned:
    """What renderings have brought so far, by kind of page."""

    is_blocked: Callable[[str], bool] = lambda _: False
    """Whether a script, by its address, will not be run anyway."""
    _kinds: OrderedDict[tuple[str, ...], _Kind] = field(default_factory=OrderedDict)
    _probes_in_vain: OrderedDict[str, int] = field(default_factory=OrderedDict)

    def decide(self, url: str, html: bytes) -> Decision:
        """Whether the page at ``url`` is to be rendered."""
        signs = signs_in(html, url, self.is_blocked)
        if signs.strength is Sign.NONE and not signs.scripts:
            return Decision(False, signs.why)
        key = _kind_of(url, signs)
        kind = self._kinds.get(key)
        if kind is not None and kind.gained:
            why = f"{kind.gained} of {counted(kind.rendered, 'page')} of its kind gained by it"
            return Decision(True, why, key)
        if kind is not None and kind.rendered >= IN_VAIN:
            return self._passed_over(kind, key, signs)
        if signs.strength is Sign.STRONG:
            return Decision(True, signs.why, key)
        if signs.strength is Sign.WEAK:
            return self._probe(url, kind, key, signs)
        return Decision(False, signs.why, key)

    def note(self, decision: Decision, url: str, gain: Gain) -> None:
        """A page was rendered; a failure counts as no gain."""
        kind = self._kinds.setdefault(decision.kind, _Kind())
        self._kinds.move_to_end(decision.kind)
        kind.rendered += 1
        kind.gained += gain.is_worth_it
        if decision.is_probe and not gain.is_worth_it:
            host = host_key(url)
            self._probes_in_vain[host] = self._probes_in_vain.get(host, 0) + 1
        for known in (self._kinds, self._probes_in_vain):
            if len(known) > MAX_KINDS:
                known.popitem(last=False)

    def _passed_over(self, kind: _Kind, key: tuple[str, ...], signs: Signs) -> Decision:
        kind.passed_over += 1
        if signs.strength is Sign.STRONG and kind.passed_over % TRIED_AGAIN_EVERY == 0:
            return Decision(True, "pages of its kind gained nothing by it, but may since", key)
        pages = counted(kind.rendered, "page")
        return Decision(False, f"{pages} of its kind gained nothing by it", key)

    def _probe(self, url: str, kind: _Kind | None, key: tuple[str, ...], signs: Signs) -> Decision:
        if kind is not None or self._probes_in_vain.get(host_key(url), 0) >= MAX_PROBES_IN_VAIN:
            return Decision(False, f"{signs.why}, but pages like it gained nothing by it", key)
        return Decision(True, f"{signs.why}; tried once", key, is_probe=True)


def signs_in(html: bytes, url: str, is_blocked: Callable[[str], bool]) -> Signs:
    """What the HTML of ``url`` says for rendering it."""
    html = html[:_READ_BYTES]
    far, near_bytes = _scripts(html, url, is_blocked)
    if not far and not near_bytes:
        return Signs(Sign.NONE, "it has no script")
    chars = shown_chars(html, SOME_TEXT_CHARS)
    scripts = frozenset(far) or frozenset([b""])
    if chars < SOME_TEXT_CHARS:
        if _ROOT.search(html):
            return Signs(Sign.STRONG, "its place for an application is empty", scripts)
        if _pleads(html):
            return Signs(Sign.STRONG, "it asks for JavaScript", scripts)
        script_bytes = near_bytes + len(far) * _FAR_SCRIPT_BYTES
        if chars < LITTLE_TEXT_CHARS:
            return Signs(Sign.STRONG, "it has little text, and a script", scripts)
        if chars < NOT_MUCH_TEXT_CHARS and script_bytes > MUCH_SCRIPT * chars:
            return Signs(Sign.STRONG, "it has little text and much script", scripts)
    if _has_empty_place(html):
        return Signs(Sign.WEAK, "it has an empty place that a script may fill", scripts)
    return Signs(Sign.NONE, "it has enough text, and no place that a script would fill", scripts)


def _scripts(html: bytes, url: str, is_blocked: Callable[[str], bool]) -> tuple[list[bytes], int]:
    """Addresses of its scripts that would be run, and bytes of those within the page."""
    far: list[bytes] = []
    near_bytes = behind = 0
    for tag in _SCRIPT.finditer(html):
        if tag.start() < behind:  # it is part of a script
            continue
        source = _SRC.search(tag[1])
        if source is not None:
            address = canonicalize(source[1].decode("utf-8", "replace"), url)
            if address is not None and not is_blocked(address):
                far.append(source[1].partition(b"?")[0])
        elif not _DATA_TYPE.search(tag[1]):
            behind = html.find(b"</", tag.end())
            if behind < 0:  # all that follows is
                return far, near_bytes + len(html) - tag.end()
            near_bytes += behind - tag.end()
    return far, near_bytes


def _has_empty_place(html: bytes) -> bool:
    """Whether an element that a script may fill has nothing in it."""
    for closed in _CLOSED_AT_ONCE.finditer(html):
        start = html.rfind(b"<", max(0, closed.start() - _MAX_TAG_BYTES), closed.start())
        if start >= 0 and _PLACE.fullmatch(html, start, closed.start() + 1):
            return True
    return False


def _pleads(html: bytes) -> bool:
    """Whether what is shown without JavaScript asks for it."""
    for tag in islice(_NOSCRIPT.finditer(html), _MAX_NOSCRIPTS):
        said = _TAG.sub(b"", html[tag.end() : tag.end() + 1000].partition(b"</noscript")[0])
        if b"javascript" in said.lower():
            return True
    return False


def shown_chars(html: bytes, enough: int | None = None) -> int:
    """About how many characters of text a page shows; it stops counting at ``enough``."""
    chars = 0
    for piece in _shown(html):
        # A tag that is cut in two counts as text: a few characters too many.
        step = len(piece) if enough is None else 2 * enough
        for start in range(0, len(piece), step or 1):
            text = _TAG.sub(b"", piece[start : start + step]).replace(b"&nbsp;", b" ")
            chars += len(b" ".join(text.split()))
            if enough is not None and chars >= enough:
                return chars
    return chars


def _shown(html: bytes) -> Iterator[bytes]:
    """The page without what is not shown, in pieces that end before a tag."""
    at = 0
    while at < len(html):
        end = at + _PIECE_BYTES  # who has read enough does not search the rest
        if end < len(html) and (tag := html.rfind(b"<", at, end)) > at:
            end = tag
        mute = _MUTE.search(html, at, end)
        yield html[at : mute.start() if mute is not None else end]
        at = _end_of(html, mute) if mute is not None else end


def _end_of(html: bytes, mute: re.Match[bytes]) -> int:
    """Behind the end of an element whose content is not shown; the page's end without one."""
    end = _ENDS[mute[1].lower()].search(html, mute.end())
    return end.end() if end is not None else len(html)


def gain_of(before: bytes, after: bytes, url: str, in_scope: Callable[[str], bool]) -> Gain:
    """What a rendering added to the page at ``url``: links that may be followed, and text."""
    new = _links(after) - _links(before)
    known = {canonicalize(_text(href), url) for href in _links(before)} | {canonicalize(url)}
    found = {canonicalize(_text(href), url) for href in new} - known - {None}
    links = sum(1 for link in found if link is not None and in_scope(link))
    had, has = shown_chars(before), shown_chars(after)
    is_loss = not links and had - has >= _NEW_CHARS and has < _LEAST_SHARE * had
    return Gain(links, max(0, has - had), is_loss)


def _links(html: bytes) -> set[bytes]:
    found = (link for piece in _shown(html) for link in _HREF.finditer(piece))
    return {link[1] or link[2] or link[3] for link in found}


def _text(href: bytes) -> str:
    return href.decode("utf-8", "replace").replace("&amp;", "&")


def _kind_of(url: str, signs: Signs) -> tuple[str, ...]:
    steps = urlsplit(url).path.strip("/").split("/")
    beginning = steps[0] if len(steps) > 1 else ""
    scripts = b" ".join(sorted(signs.scripts)).decode("latin-1")
    return (host_key(url), beginning, str(hash(scripts)))
