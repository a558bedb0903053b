"""The worked example of docs/how-it-works.md: learn from five pages, then follow three links.

Prints every table of that page, computed by the code that crawls use::

    python examples/five_pages.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.models.hop_hmm import LexicographicKey
from trailhound.models.topic_model import TopicModel, TopicParameters, learn_topic
from trailhound.records import Page
from trailhound.sessions.files import read_session
from trailhound.sessions.page_graph import PageGraph, build_page_graph
from trailhound.text.extract import extract_page

SESSION = Path(__file__).with_name("five_pages.jsonl")
NAMES = ("town", "weather", "clubs", "beekeepers", "harvest")
"""The five pages in the order in which they were visited."""

# Written out, so that the example stays as it is when the defaults move.
PARAMETERS = TopicParameters(
    n_states=4, variance_share=0.6, min_clusters=3, max_clusters=8, n_neighbours=1, smoothing=0.5
)

NEW_PAGES = {
    "city": "<title>The city</title><p>Council, library, city hall and clubs of the city.</p>",
    "apiary": "<title>An apiary</title><p>Beekeepers show their bees and hives.</p>",
    "storm": "<title>Storm warning</title><p>Wind and rain, more wind tomorrow.</p>",
    "jars": "<title>Jars</title><p>Honey in jars, honey in combs, fresh from the harvest.</p>",
}
"""Pages of a crawl. The first links to the other three."""

PATHS = {"city": ["city"]} | {f"city → {end}": ["city", end] for end in ("apiary", "storm", "jars")}
LONG_PATH = ["city", "city", "apiary", "apiary", "apiary"]


def tables() -> dict[str, str]:
    """Every table of the page by name."""
    graph = five_page_graph()
    model = learn_topic(graph, PARAMETERS)
    return {
        "pages": _pages(graph),
        "levels": _levels(model),
        "clusters": _clusters(model),
        "transitions": _matrix(model.hmm.transition, "from", _states(), _states()),
        "emissions": _matrix(model.hmm.emission, "state", _states(), _cluster_names(model)),
        "neighbours": _neighbours(model),
        "filter": _filter(model),
        "predictions": _predictions(model),
        "literal": _literal(graph),
    }


def five_page_graph() -> PageGraph:
    """The page graph of the recorded session; all sources are inside the session."""
    return build_page_graph([read_session(SESSION)], lambda _: None)


def new_page(name: str) -> Page:
    """A page that the crawl comes to, as the extractor understands it."""
    return extract_page(NEW_PAGES[name].encode(), f"http://{name}.example/", "text/html")


def _pages(graph: PageGraph) -> str:
    rows = []
    for number, page in enumerate(graph.pages):
        words = ", ".join(f"{term} {count}" for term, count in sorted(page.terms.items()))
        links = [NAMES[end] for start, end in graph.edges if start == number]
        rows.append([NAMES[number], ", ".join(links), words])
    return _table(["page", "links to", "terms and how often"], rows)


def _levels(model: TopicModel) -> str:
    rows = [[name, f"T{level}"] for name, level in zip(NAMES, model.levels, strict=True)]
    return _table(["page", "state"], rows)


def _clusters(model: TopicModel) -> str:
    rows = [
        [name, *_numbers(place, 2), str(cluster)]
        for name, place, cluster in zip(NAMES, model.space.coordinates, model.clusters, strict=True)
    ]
    return _table(["page", *(f"axis {n + 1}" for n in range(model.space.rank)), "cluster"], rows)


def _neighbours(model: TopicModel) -> str:
    """Cosines of the new pages to the old ones, and the cluster that wins the vote."""
    rows = []
    for name in NEW_PAGES:
        place = model.locate(new_page(name).terms)
        cosines = model.space.coordinates @ place
        rows.append([name, *_numbers(cosines, 2), str(model.classifier().cluster_of(place))])
    return _table(["cosine to", *NAMES, "cluster"], rows)


def _filter(model: TopicModel) -> str:
    """The belief on the first page, and on each page that it links to."""
    rows = [[path, *_numbers(belief, 3)] for path, belief in _beliefs(model).items()]
    return _table(["path", *_states()], rows)


def _predictions(model: TopicModel) -> str:
    key = LexicographicKey(model.hmm.n_states)
    rows = []
    for path, belief in _beliefs(model).items():
        ahead = model.hmm.predict(belief)
        digits = ", ".join(str(digit) for digit in key.digits(ahead))
        rows.append([path, *_numbers(ahead, 3), digits, f"{key(ahead):,.0f}"])
    return _table(["links of", *_states(), "steps", "priority"], rows)


def _literal(graph: PageGraph) -> str:
    """Sums of A's rows and of the belief along paths, with and without the repairs."""
    rows = []
    for name, literal in (("repaired", False), ("literal", True)):
        model = learn_topic(graph, msgspec.structs.replace(PARAMETERS, literal=literal))
        paths = [LONG_PATH[:1], LONG_PATH[:3], LONG_PATH, PATHS["city → jars"]]
        beliefs = [f"{belief_after(model, path).sum():.2g}" for path in paths]
        rows.append([name, *_numbers(model.hmm.transition.sum(axis=1), 2), *beliefs])
    heads = [
        *(f"row {state}" for state in _states()),
        "1 page",
        "3 pages",
        "5 pages",
        "city → jars",
    ]
    return _table(["reading", *heads], rows)


def _beliefs(model: TopicModel) -> dict[str, NDArray[np.float64]]:
    return {path: belief_after(model, names) for path, names in PATHS.items()}


def belief_after(model: TopicModel, names: Sequence[str]) -> NDArray[np.float64]:
    """α on the last of these pages, each of which links to the next."""
    first, *rest = (cluster_of(model, name) for name in names)
    belief = model.hmm.first(first)
    for cluster in rest:
        belief = model.hmm.step(belief, cluster)
    return belief


def cluster_of(model: TopicModel, name: str) -> int:
    """The cluster that a new page is taken for."""
    return model.classifier().cluster_of(model.locate(new_page(name).terms))


def _states() -> list[str]:
    return [f"T{state}" for state in range(PARAMETERS.n_states)]


def _cluster_names(model: TopicModel) -> list[str]:
    return [f"cluster {number}" for number in range(model.n_clusters + 1)]


def _matrix(
    matrix: NDArray[np.float64], corner: str, rows: Sequence[str], columns: Sequence[str]
) -> str:
    named = [[name, *_numbers(row, 3)] for name, row in zip(rows, matrix, strict=True)]
    return _table([corner, *columns], named)


def _numbers(values: Iterable[float], digits: int) -> list[str]:
    # Adding 0 turns a negative zero into a plain one.
    return [f"{round(float(value), digits) + 0:.{digits}f}" for value in values]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Print all tables."""
    for name, table in tables().items():
        print(f"{name}\n\n{table}\n")


if __name__ == "__main__":
    main()
