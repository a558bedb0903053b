"""Topics of a corpus whose pages carry labels: somebody browses to some of a label, the crawl on.

Where pages are in groups, a topic is a label at a group that is one site (a university, say): the
session is a walk from the site's front page towards its pages of the label, and what counts as
found are the pages of that label everywhere else; the crawl stays off the browsed site. Groups that
are collections of many sites cannot be browsed so; they are only crawled. Where there are labels
and nothing more, each label is a topic, browsed by a walk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trailhound.counting import counted
from trailhound.errors import TopicError
from trailhound.lab.corpora import Corpus, LinkGraph
from trailhound.lab.corpora.link_graph import links_inside
from trailhound.lab.ground_truth import Answers
from trailhound.lab.topics.base import (
    MIN_FINDABLE,
    MIN_RELEVANT,
    MIN_TARGETS,
    Draft,
    TopicSource,
    most_targets,
    shuffled,
)
from trailhound.lab.topics.seeds import front_page
from trailhound.lab.topics.walks import Errand, walk
from trailhound.sessions.events import Session
from trailhound.urls import registered_domain

ONE_SITE = 0.5
"""Share of a group's pages under its largest registered domain that makes the group one site."""


@dataclass(frozen=True)
class Site:
    """A group that can be browsed."""

    pages: frozenset[int]
    graph: LinkGraph
    """The corpus's links inside the group."""
    front: int
    in_reach: frozenset[int]
    """Pages that can be browsed to from the front page, itself left out."""


class GroupTopics(TopicSource):
    """One topic per label and site, named ``label@site``."""

    def _candidates(self) -> Sequence[str]:
        return sorted(self._parts)

    @cached_property
    def _parts(self) -> dict[str, tuple[str, str]]:
        """From each name to its label and group."""
        labels, groups = self._corpus.labels(), self._corpus.groups()
        return {f"{label}@{group}": (label, group) for label in labels for group in groups}

    def _check(self, name: str) -> None:
        site, members = self._site_and_members(name)
        goals = site.in_reach & members
        if most_targets(len(goals)) < MIN_TARGETS:
            raise TopicError(
                f"'{name}' is no topic: {counted(len(goals), 'page')} of the label can be browsed "
                f"to from the front page, and half of them must give {MIN_TARGETS} targets."
            )
        answers = self._answers(site, members)
        if len(answers.originals) < MIN_RELEVANT:
            raise TopicError(
                f"'{name}' is no topic: outside the browsed site the label has "
                f"{counted(len(answers.originals), 'page')} to find, and {MIN_RELEVANT} are needed."
            )
        self._assembler.require_findable(name, answers, members, MIN_FINDABLE, site.pages)

    def _draft(self, name: str, rng: np.random.Generator) -> Draft:
        site, members = self._site_and_members(name)
        goals = sorted(site.in_reach & members)
        errand = Errand(
            start=site.front,
            goals=shuffled(goals, rng),
            wanted=site.pages & members,
            max_marks=most_targets(len(goals)),
        )
        session = walk(site.graph, self._corpus.page_urls, errand, name, rng)
        to_find = frozenset(self._answers(site, members).originals)
        return Draft(name, session, to_find, no_seeds=members, off_limits=site.pages)

    def _answers(self, site: Site, members: frozenset[int]) -> Answers:
        """Pages of the label elsewhere. Copies of the site's own pages are not elsewhere."""
        return self._assembler.copies.answers(members, site.pages)

    def _site_and_members(self, name: str) -> tuple[Site, frozenset[int]]:
        label, group = self._parts[name]
        site = self._sites[group]
        if isinstance(site, str):
            raise TopicError(f"'{name}' is no topic: {site}")
        return site, self._labelled(label)

    @cached_property
    def _sites(self) -> dict[str, Site | str]:
        """For each group, its site, or why it cannot be browsed."""
        return {name: self._site(name, pages) for name, pages in self._corpus.groups().items()}

    def _site(self, name: str, pages: frozenset[int]) -> Site | str:
        urls = self._corpus.page_urls
        share = largest_domain_share([urls[page] for page in pages])
        if share < ONE_SITE:
            return (
                f"group '{name}' is many sites (its largest has {share:.0%} of the pages) and "
                "cannot be browsed as one."
            )
        allowed = np.zeros(len(urls), dtype=np.bool_)
        allowed[sorted(pages)] = True
        graph = links_inside(self._corpus.graph, allowed)
        front = front_page(graph, urls, sorted(pages), sorted(pages))
        if front is None:
            return f"the pages of group '{name}' do not link to each other."
        in_reach = np.flatnonzero(graph.hops_from([front]) > 0).tolist()
        return Site(pages, graph, front, frozenset(in_reach))


def largest_domain_share(urls: Sequence[str]) -> float:
    """Share of the URLs that lie under the commonest registered domain; 0 for none."""
    domains = Counter(registered_domain(url) for url in urls)
    return max(domains.values(), default=0) / max(1, len(urls))


class LabelTopics(TopicSource):
    """One topic per label. That nothing can be found from any seed shows when it is built."""

    def _candidates(self) -> Sequence[str]:
        return sorted(self._corpus.labels())

    def _check(self, name: str) -> None:
        members = self._labelled(name)
        if most_targets(len(members)) < MIN_TARGETS:
            raise TopicError(
                f"Label '{name}' is no topic: it has {counted(len(members), 'page')}, and half of "
                f"them must give {MIN_TARGETS} targets."
            )

    def _draft(self, name: str, rng: np.random.Generator) -> Draft:
        members = self._labelled(name)
        session = walked_session(self._corpus, name, members, None, rng)
        return Draft(name, session, members, no_seeds=frozenset())


def walked_session(
    corpus: Corpus,
    name: str,
    members: frozenset[int],
    start: int | None,
    rng: np.random.Generator,
) -> Session:
    """A simulated walk to a topic's pages, from ``start`` or a front page that leads to most."""
    begin = _start(corpus, name, members) if start is None else start
    reached = corpus.graph.hops_from([begin])
    goals = [page for page in sorted(members) if reached[page] > 0]
    max_marks = most_targets(len(members))
    if not goals or max_marks == 0:
        raise TopicError(
            f"Topic '{name}' cannot be browsed: of its "
            f"{counted(len(members), 'page')}, {len(goals)} can be reached from "
            f"{corpus.page_urls[begin]}, and half of the topic must be left to find. "
            "Name another start page, add pages, or give a recorded session."
        )
    errand = Errand(begin, shuffled(goals, rng), members, max_marks)
    return walk(corpus.graph, corpus.page_urls, errand, name, rng)


def _start(corpus: Corpus, name: str, members: frozenset[int]) -> int:
    """A start page of the corpus, else any front page, from which most can be reached."""
    urls = corpus.page_urls
    proposed = sorted(set(corpus.page_ids(corpus.start_urls)))
    for pages in (proposed, range(len(urls))):
        outside = [page for page in pages if page not in members]
        found = front_page(corpus.graph, urls, outside, sorted(members))
        if found is not None:
            return found
    raise TopicError(
        f"Topic '{name}' cannot be browsed: no page links to any of its {len(members)} "
        "pages. Give a recorded session."
    )
