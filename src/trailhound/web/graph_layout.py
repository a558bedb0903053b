"""Places for the nodes of a graph on a flat picture: the same graph always gives the same picture.

First roughly, by distances to a few pivots (pivot MDS; Brandes and Pich 2006); then links pull
their ends together while nodes that are near push each other away, for a fixed number of steps. All
of it in arrays: 2,000 nodes take some 150 ms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

Places = NDArray[np.float64]
Edges = Sequence[tuple[int, int]]

ASPECT = 1.6
"""Width of the picture, where its height is 1."""
N_PIVOTS = 40
MOST_HOPS = 40
"""Farther apart than this counts as this far: a picture has little room."""
STEPS = 60
"""For graphs of up to FEW nodes; larger ones have fewer, down to LEAST_STEPS."""
LEAST_STEPS, FEW = 24, 500
REACH = 2.2
"""Nodes push each other away up to so many times the distance that a link wants to have."""


def lay_out(n_nodes: int, edges: Edges) -> Places:
    """Where the nodes are, within (0, 0) and (ASPECT, 1). Shape (n_nodes, 2)."""
    if n_nodes < 3:
        return np.array([(0.4, 0.5), (1.2, 0.5)][:n_nodes]).reshape(n_nodes, 2)
    ends = np.array(edges, np.int64).reshape(-1, 2)
    rough = _by_pivots(n_nodes, ends)
    return _framed(_settled(rough, ends))


def _by_pivots(n_nodes: int, ends: NDArray[np.int64]) -> Places:
    """The two directions in which the distances to pivots differ most, in units of a link."""
    distances = _distances(n_nodes, ends)
    squares = distances**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    _, _, directions = np.linalg.svd(centred.T @ centred)
    flat = centred @ directions[:2].T
    spread = np.maximum(np.abs(flat).max(axis=0), 1e-9)
    # Nodes at the same place could never part: each gets its own small push, along a spiral.
    turn, away = np.arange(n_nodes) * 2.399963, np.sqrt(np.arange(n_nodes) + 1)
    nudge = np.stack([away * np.cos(turn), away * np.sin(turn)], axis=1)
    places: Places = flat / spread * np.sqrt(n_nodes) * 0.6 + nudge * 0.08
    return places


def _distances(n_nodes: int, ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """Links from every node to each pivot, from all pivots at once. Shape (n_nodes, n_pivots)."""
    both = np.concatenate([ends, ends[:, ::-1]])
    ones = np.ones(len(both), np.float32)
    adjacency = sparse.csr_array((ones, (both[:, 0], both[:, 1])), shape=(n_nodes, n_nodes))
    pivots = np.unique(np.linspace(0, n_nodes - 1, min(N_PIVOTS, n_nodes)).astype(np.int64))
    reached = np.zeros((n_nodes, len(pivots)), np.float32)
    reached[pivots, np.arange(len(pivots))] = 1
    distances = np.where(reached > 0, 0.0, np.inf)
    for hops in range(1, MOST_HOPS):
        wider = ((adjacency @ reached + reached) > 0).astype(np.float32)
        distances[(wider > 0) & (reached == 0)] = hops
        if (wider == reached).all():
            break
        reached = wider
    farthest = distances[np.isfinite(distances)].max(initial=1.0)
    distances[~np.isfinite(distances)] = farthest + 1.0
    return distances


def _settled(places: Places, ends: NDArray[np.int64]) -> Places:
    """After some steps of pulling and pushing, each smaller than the last."""
    n_nodes = len(places)
    degree = np.bincount(ends.ravel(), minlength=n_nodes)
    # A page with hundreds of links would pull everything onto itself.
    weight = 1.0 / np.sqrt(np.maximum(np.minimum(degree[ends[:, 0]], degree[ends[:, 1]]), 1))
    steps = max(LEAST_STEPS, STEPS * FEW // max(n_nodes, FEW))
    for step in range(steps):
        force = np.zeros_like(places)
        apart = places[ends[:, 1]] - places[ends[:, 0]]
        length = np.maximum(np.linalg.norm(apart, axis=1), 1e-9)
        pull = apart * (weight * (length - 1.0) / length)[:, None] * 0.3
        _add_at(force, ends[:, 0], pull)
        _add_at(force, ends[:, 1], -pull)
        pairs = cKDTree(places).query_pairs(REACH, output_type="ndarray")
        apart = places[pairs[:, 1]] - places[pairs[:, 0]]
        length = np.maximum(np.linalg.norm(apart, axis=1), 1e-3)
        push = apart * (0.5 * (REACH - length) / (length * REACH))[:, None]
        _add_at(force, pairs[:, 0], -push)
        _add_at(force, pairs[:, 1], push)
        most = 1.2 * (1 - step / steps) + 0.05
        size = np.maximum(np.linalg.norm(force, axis=1), 1e-9)
        places = places + force * np.minimum(1.0, most / size)[:, None]
    return places


def _add_at(force: Places, nodes: NDArray[np.int64], pushes: Places) -> None:
    """Like ``numpy.add.at``, some ten times as fast."""
    for axis in (0, 1):
        force[:, axis] += np.bincount(nodes, pushes[:, axis], minlength=len(force))


def _framed(places: Places) -> Places:
    """Turned so that the picture is wide, and scaled to its frame."""
    centred = places - places.mean(axis=0)
    _, _, axes = np.linalg.svd(centred.T @ centred)
    # Signs are arbitrary; fixed here, so that a picture is never mirrored.
    turned = centred @ (axes * np.where(axes[:, :1] < 0, -1, 1)).T
    low, high = turned.min(axis=0), turned.max(axis=0)
    size = np.maximum(high - low, 1e-9)
    room = np.array([ASPECT, 1.0]) * 0.94
    # A little stretching fills the frame; more would bend what is near and far.
    scale = room / size
    scale = np.minimum(scale, scale.min() * 1.5)
    framed: Places = (turned - (low + high) / 2) * scale + np.array([ASPECT, 1.0]) / 2
    return framed
