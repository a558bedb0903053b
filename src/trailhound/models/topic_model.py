"""Everything learned from browsing for one topic: terms, latent space, clusters, hop HMM.

Where it sits: :class:`~trailhound.sessions.page_graph.PageGraph` in, and out comes what the
``hidden-markov`` strategy needs to turn the pages along a path into a belief about the hops that
remain to a target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.counting import counted
from trailhound.errors import SessionError, UsageError
from trailhound.models.hop_hmm import HopHMM, fit_hop_hmm
from trailhound.models.xmeans import XMeans
from trailhound.sessions.page_graph import PageGraph, hop_levels
from trailhound.text.lsi import LatentSpace
from trailhound.text.tfidf import Terms, TermWeights

FAMILIAR = 0.8
"""A page with less than this part of the session's median share in the latent space is strange."""


class NearestClusters:
    """k nearest neighbours by cosine.

    A vote weighs the neighbour's cosine, divided by a power of its cluster's size. With the plain
    majority of the papers a session with one target could never yield cluster 0 for k ≥ 3;
    ``majority`` asks for that one: each neighbour has one vote.
    ``points`` are the training pages' unit vectors, shape (n_pages, rank); ``clusters`` has shape
    (n_pages,); ``size_power`` 0 ignores cluster sizes, 1 votes by the share of a cluster that is
    near.
    """

    def __init__(
        self,
        points: NDArray[np.float32],
        clusters: NDArray[np.int64],
        n_neighbours: int = 5,
        size_power: float = 0.5,
        *,
        majority: bool = False,
    ) -> None:
        if n_neighbours < 1:
            raise UsageError(
                f"At least 1 training page must vote on a cluster, not {n_neighbours}."
            )
        self._size_power = size_power
        self._majority = majority
        sizes = np.bincount(clusters, minlength=1)
        self._points = points
        self._clusters = clusters
        self._n_neighbours = min(n_neighbours, len(points))
        self._vote_weights = (np.maximum(sizes, 1.0) ** -size_power)[clusters].astype(np.float32)
        # For a page without any known word: the largest cluster of ordinary pages.
        self._default = int(sizes[1:].argmax()) + 1 if len(sizes) > 1 else 0

    def with_targets(self, points: NDArray[np.float32]) -> NearestClusters:
        """The same with more pages in cluster 0. Shape of ``points``: (n_new, rank)."""
        return NearestClusters(
            np.concatenate([self._points, points]),
            np.concatenate([self._clusters, np.zeros(len(points), np.int64)]),
            self._n_neighbours,
            self._size_power,
            majority=self._majority,
        )

    def cluster_of(self, point: NDArray[np.float32]) -> int:
        """The winning cluster; ties go to the smaller number."""
        cosines = self._points @ point
        nearest = np.argpartition(-cosines, self._n_neighbours - 1)[: self._n_neighbours]
        near = np.maximum(cosines[nearest], 0)
        if not near.any():
            return self._default
        votes = np.ones_like(near) if self._majority else near * self._vote_weights[nearest]
        return int(np.bincount(self._clusters[nearest], votes).argmax())


class TopicParameters(msgspec.Struct, frozen=True):
    """How to learn. The defaults come from the study in ``docs/results.md``."""

    n_states: int = 4
    """Hidden states: 0, 1, … hops from a target, and farther."""
    max_rank: int = 100
    """Most dimensions of the latent space."""
    variance_share: float = 0.6
    """Part of the variance that the latent space must hold; 1 keeps all of it."""
    use_lsi: bool = True
    """Without it, pages are compared by their weighted terms alone."""
    min_clusters: int = 3
    max_clusters: int = 8
    n_neighbours: int = 5
    """Training pages that vote on a new page's cluster."""
    smoothing: float = 0.5
    """κ, added to every count of the HMM."""
    literal: bool = False
    """The papers' own reading of their equations, for comparison."""
    random_state: int = 0


@dataclass(frozen=True)
class TopicModel:
    """A trained topic. Arrays are in the order of the graph's pages."""

    parameters: TopicParameters
    graph: PageGraph
    weights: TermWeights
    space: LatentSpace
    clusters: NDArray[np.int64]
    """0 for targets, 1 … n_clusters for the others. Shape (n_pages,)."""
    levels: NDArray[np.int64]
    """Hops to the nearest target, at most n_states - 1. Shape (n_pages,)."""
    hmm: HopHMM

    @property
    def n_clusters(self) -> int:
        """Clusters of pages that are not targets."""
        return int(self.hmm.emission.shape[1]) - 1

    def classifier(self) -> NearestClusters:
        """Assigns new pages to clusters."""
        order = _by_address(self.graph)
        points, clusters = self.space.coordinates[order], self.clusters[order]
        return NearestClusters(
            points, clusters, self.parameters.n_neighbours, majority=self.parameters.literal
        )

    def locate(self, terms: Terms) -> NDArray[np.float32]:
        """A page's unit vector in the latent space. Shape (rank,)."""
        return self.space.fold_in(*self.weights.weigh(terms))

    def familiar_point(self, terms: Terms) -> NDArray[np.float32] | None:
        """The same; ``None`` for a page that is unlike anything in the session.

        Of such a page little more than a few everyday words is left in the latent space, and what
        they are nearest to says nothing.
        """
        point, share = self.space.fold_in_with_share(*self.weights.weigh(terms))
        return point if share >= self._familiar_share else None

    @cached_property
    def _familiar_share(self) -> float:
        weighed = [self.weights.weigh(page.terms) for page in self.graph.pages]
        shares = [self.space.fold_in_with_share(*each)[1] for each in weighed]
        return FAMILIAR * float(np.median(shares))


def learn_topic(graph: PageGraph, parameters: TopicParameters | None = None) -> TopicModel:
    """Learn from a page graph with at least one target."""
    chosen = parameters or TopicParameters()
    if not graph.pages:
        raise SessionError(
            "The session holds no page, so there is nothing to learn from. "
            "Record a session in which you visit pages, and mark the useful ones."
        )
    if not graph.targets:
        raise SessionError(
            f"Of {counted(len(graph.pages), 'visited page')} none is marked useful, so there is "
            "nothing to look for. Mark at least one page as useful and try again."
        )
    weights, space, clusters = _describe_pages(graph, chosen)
    levels = hop_levels(graph, chosen.n_states)
    hmm = fit_hop_hmm(
        graph.edges,
        levels,
        clusters,
        n_states=chosen.n_states,
        n_clusters=int(clusters.max()),
        smoothing=chosen.smoothing,
        literal=chosen.literal,
    )
    return TopicModel(chosen, graph, weights, space, clusters, levels, hmm)


def _describe_pages(
    graph: PageGraph, parameters: TopicParameters
) -> tuple[TermWeights, LatentSpace, NDArray[np.int64]]:
    """Term weights, places in the latent space and clusters, whatever order the pages are in."""
    order = _by_address(graph)
    documents = [graph.pages[page].terms for page in order]
    weights = TermWeights.fit(documents)
    matrix = weights.matrix(documents)
    if parameters.use_lsi:
        space = LatentSpace.fit(matrix, parameters.max_rank, parameters.variance_share)
    else:
        space = LatentSpace.rotate(matrix)
    is_target = np.isin(order, list(graph.targets))
    clusters = _cluster(space.coordinates, is_target, parameters)
    back = np.argsort(order)  # arrays are handed out in the order of the graph
    return weights, replace(space, coordinates=space.coordinates[back]), clusters[back]


def _by_address(graph: PageGraph) -> NDArray[np.int64]:
    """The pages by URL: k-means would turn another order into other clusters. Shape (n_pages,)."""
    urls = [page.url for page in graph.pages]
    return np.array(sorted(range(len(urls)), key=urls.__getitem__), np.int64)


def _cluster(
    points: NDArray[np.float32], is_target: NDArray[np.bool_], parameters: TopicParameters
) -> NDArray[np.int64]:
    """Targets are cluster 0 and take no part; the other pages get clusters 1, 2, …"""
    clusters = np.zeros(len(points), np.int64)
    others = np.flatnonzero(~is_target)
    if others.size:
        xmeans = XMeans(
            parameters.min_clusters, parameters.max_clusters, random_state=parameters.random_state
        )
        clusters[others] = xmeans.fit(points[others]).labels_ + 1
    return clusters
