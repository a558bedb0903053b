"""Why a link was ranked as it was, in words.

The memory of a link has a number for each feature, and one for all its words. Which words those
were, and which pages the counts are of, is found out again from the page that the link was found
on and from what the crawl has fetched: nothing of that has to be kept with every link.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from trailhound.strategies.base import FoundLink, Reason
from trailhound.strategies.parts import as_crawled
from trailhound.strategies.trail.columns import Matrix
from trailhound.strategies.trail.features import NAMES, by_name
from trailhound.strategies.trail.lessons import SpelledWord, spelled_words
from trailhound.strategies.trail.link_model import LinkModel
from trailhound.strategies.trail.wanted_words import WantedWords
from trailhound.urls import host_key

_MEANT = ("what its anchor and address mean", "what the words around it mean")
_LAST = ("words of the link", "it may lead to wanted pages")
PARTS = (*NAMES, *_MEANT, *_LAST)
"""What the memory of a link holds, in half precision."""
_PARTS_BEFORE = ((*NAMES, *_LAST), (*NAMES[:-1], *_LAST))
"""The same in crawls that were begun before the meaning of words counted, and before traces did."""
LEAST = 0.05
"""What moved a link by less is not worth a line."""
MAX_WORDS_TOLD = 8
NEAR = 8
"""Links before and after one that are its neighbours."""

_LIKE = {
    "short": (
        ("anchor and address like the targets", "best anchor like the targets"),
        "anchor and address unlike other pages",
    ),
    "around": (
        ("surrounding words like the targets",),
        "surrounding words unlike other pages",
    ),
}
"""Features that are sums over words: of likeness, and of the side of the plane."""
_FIELDS = {"short": ("anchor", "address"), "around": ("context",)}
_OF_WORDS = {name for like, side in _LIKE.values() for name in (*like, side)}
_LINKING = (
    "relevance of the best linking page",
    "relevance of linking pages",
    "sum of the relevance of linking pages",
)
_SIBLINGS = ("success of siblings", "success of the best page's links")
_PLAINER = {
    "success of siblings": "how other links of the pages that link to it turned out",
    "success of the same list": "how other links of the lists that it stands in turned out",
    "success of neighbouring links": "how links next to it turned out",
    "success of the host": "how pages of its host turned out",
    "success of the folder": "how pages of its folder turned out",
    "same host": "it stays on the host of the page that links to it",
    "number of linking pages": "how many pages link to it",
    "success of what was opened near it": "how pages turned out that people opened just before or "
    "after it",
}
"""Where no page can be counted: what it was found on is not archived, or others link to it."""
_COUNTS = {
    "success of siblings": "{} links of that page were wanted",
    "success of the same list": "{} links of its list were wanted",
    "success of neighbouring links": "{} links next to it were wanted",
    "success of the host": "its host had given {}",
    "success of the folder": "its folder had given {}",
}
_LINKED = {True: "it was found on a relevant page", False: "it was found on an irrelevant page"}
_BESIDE = {
    _LINKED[True]: "people opened it near a relevant page",
    _LINKED[False]: "people opened it near an irrelevant page",
    _PLAINER["success of siblings"]: "how other pages turned out that people opened there",
    _PLAINER["success of the same list"]: "how pages turned out that people opened near others",
    _PLAINER["success of neighbouring links"]: "how pages turned out that were opened as often",
    _PLAINER["same host"]: "it is on the host of the page near which people opened it",
    _PLAINER["number of linking pages"]: "how many pages it was opened near",
}
"""Of what people opened near a page that has no link to it."""
_IN_WORDS = {"context": "near it", "title": "title of the page it was found on"}


def memories(parts: Matrix) -> list[bytes]:
    """What moved the priority of each link, a row each, to be explained later."""
    small = parts.astype("<f2")
    size, content = small.shape[1] * small.itemsize, small.tobytes()
    return [content[start : start + size] for start in range(0, len(content), size)]


def told_parts(memory: bytes) -> dict[str, float]:
    """What moved a link when it was found, by name; nothing for a foreign memory."""
    names = {2 * len(each): each for each in (PARTS, *_PARTS_BEFORE)}.get(len(memory), ())
    if not names:
        return {}
    return dict(zip(names, np.frombuffer(memory, "<f2").astype(float).tolist(), strict=True))


def reasons(found: FoundLink, model: LinkModel, wanted: WantedWords) -> list[Reason]:
    """The strongest first."""
    parts = told_parts(found.memory)
    if not parts:
        return []
    if found.page is not None:
        found = replace(found, page=as_crawled(found.page))
    told = [*_by_words(found, parts, model, wanted), *_by_counts(found, parts)]
    if _is_beside(found):
        told = [Reason(_BESIDE.get(each.words, each.words), each.moved) for each in told]
    told = [each for each in told if abs(each.moved or 0.0) >= LEAST]
    return sorted(told, key=lambda each: -abs(each.moved or 0.0))


def _by_words(
    found: FoundLink, parts: Mapping[str, float], model: LinkModel, wanted: WantedWords
) -> Iterator[Reason]:
    words = list(spelled_words(found.page, found.url)) if found.page is not None else []
    if not words:
        like = sum(parts[name] for name in _OF_WORDS)
        yield Reason("its words, by what was learned on the way", parts["words of the link"])
        yield Reason("its words, next to those of the pages you marked", like)
        return
    moved: defaultdict[tuple[str, str], float] = defaultdict(float)
    for each, part in zip(words, _parts_of(words, model, wanted), strict=True):
        moved[each.field, each.word] += part
    strongest = sorted(moved.items(), key=lambda item: -abs(item[1]))
    for (field, word), part in strongest[:MAX_WORDS_TOLD]:
        yield Reason(in_words(field, word), part)


def _parts_of(words: Sequence[SpelledWord], model: LinkModel, wanted: WantedWords) -> list[float]:
    """What each word adds to the log odds."""
    weights = by_name(model.wanted.weights)
    numbers = np.array([word.number for word in words])
    parts = model.wanted.words[numbers] * np.array([word.weight for word in words])
    for kind, fields in _FIELDS.items():
        places = [place for place, word in enumerate(words) if word.field in fields]
        like, side = wanted.each(numbers[places])
        likes, plane = _LIKE[kind]
        parts[places] += sum(weights[name] for name in likes) * like + weights[plane] * side
    return [float(part) for part in parts]


def in_words(field: str, word: str) -> str:
    """A word of a link, with where it stands."""
    if field == "place":
        return f"its place on the page ({word})" if word else "its place on the page"
    return f"{_IN_WORDS.get(field, field)} '{word}'"


def _by_counts(found: FoundLink, parts: Mapping[str, float]) -> Iterator[Reason]:
    moved = dict(parts)
    for name in ("bias", "words of the link", *_OF_WORDS):
        del moved[name]
    yield Reason(_linking(found), sum(moved.pop(name) for name in _LINKING))
    moved[_SIBLINGS[0]] += moved.pop(_SIBLINGS[1])
    pages = _pages_counted(found)
    for name, part in moved.items():
        count = _count(found, pages.get(name, ()))
        words = _COUNTS[name].replace("{}", count) if count else _PLAINER.get(name, name)
        yield Reason(words, part)


def _linking(found: FoundLink) -> str:
    relevant = found.outcomes.get(found.page.url) if found.page is not None else None
    if relevant is None:
        return "relevance of the pages that link to it"
    return _LINKED[relevant]


def _is_beside(found: FoundLink) -> bool:
    """Whether the page has no link there: people's visits have told of it."""
    return found.page is not None and all(link.url != found.url for link in found.page.links)


def _pages_counted(found: FoundLink) -> dict[str, Iterable[str]]:
    """By feature the pages whose success it counts."""
    page, url = found.page, found.url
    host, folder = host_key(url), _folder(url)
    hosts = [each for each in found.outcomes if host_key(each) == host]
    counted: dict[str, Iterable[str]] = {
        "success of the host": hosts,
        "success of the folder": [each for each in hosts if _folder(each) == folder],
    }
    links = [link for link in page.links if link.url == url] if page is not None else []
    if page is None or not links:
        return counted
    order = list(dict.fromkeys(link.url for link in page.links if link.url != page.url))
    place, own = order.index(url), (links[0].tag_path, links[0].heading)
    return counted | {
        "success of siblings": order,
        "success of the same list": [
            link.url for link in page.links if (link.tag_path, link.heading) == own
        ],
        "success of neighbouring links": order[max(place - NEAR, 0) : place + NEAR + 1],
    }


def _count(found: FoundLink, urls: Iterable[str]) -> str:
    """How many of the pages that were fetched were relevant; nothing when none was fetched."""
    fetched = [found.outcomes[url] for url in {*urls} - {found.url} if url in found.outcomes]
    return f"{sum(fetched)} of {len(fetched)}" if fetched else ""


def _folder(url: str) -> str:
    path = url.partition("?")[0]
    return path[: path.rfind("/") + 1]
