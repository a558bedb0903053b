"""Table II of Pal et al.: the links behind the irrelevant page P, to the letter and repaired."""

from __future__ import annotations

import pytest
from interest_pages import crawled

from trailhound.records import Candidate, Link, ScoredLink
from trailhound.strategies.content_link.link_scores import ScoreParts
from trailhound.strategies.content_link.tunnels import (
    MAX_FAMILIES,
    NO_LEVEL,
    Families,
    IrrelevantTable,
    OneQueue,
    Rated,
    Row,
    TableFirst,
    Tag,
    discount,
    level_behind,
)

# P links to a … e with these scores; c links to f, e to g and h. Only a, b and d are irrelevant.
P_LINKS = {"a": 2.0, "b": 3.0, "c": 5.0, "d": 1.0, "e": 4.0}
LINKS = {"c": {"f": 0.9}, "e": {"g": 0.8, "h": 0.7}}
RELEVANT = set("cefgh")
NO_PARTS = ScoreParts(0.0, 0.0, 0.0, 0.0)


def rows(scores: dict[str, float]) -> list[Row]:
    return [Row(url, score) for url, score in scores.items()]


def drain(table: IrrelevantTable) -> list[tuple[str, int]]:
    """Fetch what the table offers: names with their levels at that moment."""
    fetched = []
    while (row := table.pop()) is not None:
        fetched.append((row.url, row.level))
        if row.url in RELEVANT:
            table.relevant(row, rows(LINKS.get(row.url, {})))
        else:
            table.irrelevant(row)
    return fetched


def test_table_2_to_the_letter_loses_f_g_and_h() -> None:
    table = IrrelevantTable(max_level=2)
    table.start(rows(P_LINKS))
    # c is relevant: level 1, f enters with it. e is relevant: level 2 for g and h, where the paper
    # prints 1. b fails: a and d sink to 1. a fails: d and f sink to 2. d fails at 2: f, g, h sink
    # to 3, beyond the deepest level, and are never fetched.
    assert drain(table) == [("c", 0), ("e", 0), ("b", 0), ("a", 1), ("d", 2)]


def test_levels_of_table_2_to_the_letter_before_b_is_fetched() -> None:
    table = IrrelevantTable(max_level=2)
    table.start(rows(P_LINKS))
    for name in "ce":
        row = table.pop()
        assert row is not None
        assert row.url == name
        table.relevant(row, rows(LINKS[name]))
    levels = {name: row.level for name, row in table.rows.items()}
    assert levels == {"a": 0, "b": 0, "d": 0, "f": 1, "g": 2, "h": 2}
    row = table.pop()
    assert row == Row("b", 3.0, 0)
    table.irrelevant(row)
    levels = {name: row.level for name, row in table.rows.items()}
    assert levels == {"a": 1, "d": 1, "f": 1, "g": 2, "h": 2}


def fetch(tunnels: OneQueue, name: str, memory: bytes, links: dict[str, float]) -> list[ScoredLink]:
    tunnels.visit(crawled(name, memory=memory), name in RELEVANT)
    return tunnels.queue([Rated(Link(url), NO_PARTS, score) for url, score in links.items()])


def test_table_2_repaired_keeps_everybody() -> None:
    tunnels = OneQueue(max_level=2)
    waiting: dict[str, tuple[float, bytes]] = {}
    levels: dict[str, int] = {}

    def follow(name: str, memory: bytes, links: dict[str, float]) -> None:
        for scored in fetch(tunnels, name, memory, links):
            waiting[scored.link.url] = scored.priority, scored.memory

    follow("P", b"", P_LINKS)
    # Scores are halved behind one irrelevant page.
    assert {name: priority for name, (priority, _) in waiting.items()} == {
        name: score / 2 for name, score in P_LINKS.items()
    }
    while waiting:
        name = max(waiting, key=lambda each: waiting[each][0])
        _, memory = waiting.pop(name)
        tag = Tag.unpack(memory)
        assert tag is not None
        levels[name] = tunnels._level(tag)
        follow(name, memory, LINKS.get(name, {}))
    # f, g and h belong to relevant pages, so they have no level; b's failure takes a and d to
    # level 1 as printed, a's failure takes d to 2; the family of c and e is left alone.
    assert levels == {"c": 0, "e": 0, "b": 0, "a": 1, "d": 2, "f": -1, "g": -1, "h": -1}


def test_waiting_siblings_sink_when_the_frontier_asks() -> None:
    tunnels = OneQueue(max_level=2)
    queued = {each.link.url: each.memory for each in fetch(tunnels, "P", b"", P_LINKS)}
    other = {each.link.url: each.memory for each in fetch(tunnels, "Q", b"", {"q": 1.0})}
    fetch(tunnels, "b", queued.pop("b"), {})
    assert tunnels.rescore({**queued, **other}) is None, "too early"
    for number in range(50):
        fetch(tunnels, f"n{number}", b"", {})
    # a, d: 0.5² of 2 and 1; c and e score better than b and stay as they were.
    assert tunnels.rescore({**queued, **other, "seed": b""}) == pytest.approx(
        {"a": 0.5, "d": 0.25, "c": 2.5, "e": 2.0}
    )
    for number in range(50):
        fetch(tunnels, f"m{number}", b"", {})
    assert tunnels.rescore(queued) is None, "nothing new"


def test_a_tunnel_goes_through_three_irrelevant_levels_and_no_further() -> None:
    tunnels = OneQueue(max_level=2)
    memory, priorities = b"", []
    for name in ("P", "x0", "x1", "x2"):
        queued = fetch(tunnels, name, memory, {f"under {name}": 1.0})
        if not queued:
            break
        priorities.append(queued[0].priority)
        memory = queued[0].memory
    assert name == "x2"
    assert priorities == [0.5, 0.25, 0.125]


def test_a_relevant_page_ends_a_tunnel() -> None:
    tunnels = OneQueue(max_level=2)
    memory = fetch(tunnels, "P", b"", {"c": 1.0})[0].memory
    found = fetch(tunnels, "c", memory, {"f": 0.9})[0]
    tag = Tag.unpack(found.memory)
    assert tag is not None
    assert (found.priority, tag.level) == (0.9, NO_LEVEL)


def test_levels_and_discounts() -> None:
    assert [discount(level) for level in (NO_LEVEL, 0, 1, 2)] == [1, 0.5, 0.25, 0.125]
    assert level_behind(1, relevant=True, max_level=2) == NO_LEVEL
    assert level_behind(NO_LEVEL, relevant=False, max_level=2) == 0
    assert level_behind(1, relevant=False, max_level=2) == 2
    assert level_behind(2, relevant=False, max_level=2) is None


def test_failures_that_score_no_worse_let_a_sibling_sink() -> None:
    families = Families()
    for score in (0.5, 0.9, 0.1, 0.5):
        families.fail(1, score)
    assert [families.sunk(1, score) for score in (0.0, 0.1, 0.5, 0.6, 1.0)] == [4, 4, 3, 1, 0]


def test_old_families_are_forgotten() -> None:
    families = Families()
    for number in range(MAX_FAMILIES + 1):
        families.fail(number, 1.0)
    assert len(families.failures) <= MAX_FAMILIES
    assert families.sunk(MAX_FAMILIES, 1.0) == 1
    assert families.sunk(0, 1.0) == 0


def literal_fetch(
    tunnels: TableFirst, name: str, memory: bytes, links: dict[str, float]
) -> list[tuple[str, float, bytes]]:
    tunnels.visit(crawled(name, memory=memory), name in RELEVANT)
    queued = tunnels.queue([Rated(Link(url), NO_PARTS, score) for url, score in links.items()])
    return [(each.link.url, each.priority, each.memory) for each in queued]


def test_the_literal_table_is_emptied_before_the_queue_goes_on() -> None:
    tunnels = TableFirst(max_level=2)
    order = []
    waiting = literal_fetch(tunnels, "f", b"", {"later": 99.0, "P": 100.0})
    while waiting:
        waiting.sort(key=lambda each: each[1])
        name, _, memory = waiting.pop()
        order.append(name)
        links = P_LINKS if name == "P" else LINKS.get(name, {})
        waiting += literal_fetch(tunnels, name, memory, links)
    assert order == ["P", "c", "e", "b", "a", "d", "later"]


def test_a_row_that_cannot_be_fetched_is_followed_by_the_next() -> None:
    tunnels = TableFirst(max_level=2)
    assert literal_fetch(tunnels, "P", b"", P_LINKS)[0][0] == "c"
    # c came to nothing; when nothing waits the crawl asks for more.
    more = list(tunnels.restock())
    assert [each.url for each in more] == ["e", "b", "a", "d"]
    assert list(tunnels.restock()) == []
    assert all(isinstance(each, Candidate) for each in more)


def test_links_that_must_not_be_followed_stay_out_of_the_literal_table() -> None:
    tunnels = TableFirst(max_level=2)
    tunnels.visit(crawled("P"), relevant=False)
    assert tunnels.queue([Rated(Link("no", nofollow=True), NO_PARTS, 1.0)]) == []


@pytest.mark.parametrize("kind", [OneQueue, TableFirst])
def test_both_readings_go_on_in_another_process(kind: type[OneQueue] | type[TableFirst]) -> None:
    first, second = kind(2), kind(2)
    first.visit(crawled("P"), relevant=False)
    queued = first.queue([Rated(Link(url), NO_PARTS, score) for url, score in P_LINKS.items()])
    best = max(queued, key=lambda each: each.priority)
    first.visit(crawled(best.link.url, memory=best.memory), relevant=False)
    first.queue([])
    second.take_up(first.keep())
    if isinstance(second, TableFirst):
        assert [each.url for each in second.restock()] == ["b", "a", "d"]
    else:
        tag = Tag.unpack(best.memory)
        assert tag is not None
        assert second._level(tag) == 1


def test_a_memory_that_is_not_ours_is_taken_for_a_seeds() -> None:
    assert Tag.unpack(b"") is None
    assert Tag.unpack(b"something else") is None
    tag = Tag(ScoreParts(0.5, 0.25, 2.0, 1.5), 3.0, 1, 7)
    assert Tag.unpack(tag.pack()) == tag
