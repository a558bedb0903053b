"""The strategy trail: a model of links, learned from the session and on the way."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from trail_pages import (
    ALL,
    H,
    P,
    hub,
    page,
    score,
    session,
    taught,
    told,
    with_more_staff,
    with_pages_of_their_own,
)

from trailhound.errors import UsageError
from trailhound.records import Candidate, CrawledPage, Link, Outcome, Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing, FoundLink, learns_online
from trailhound.strategies.choosing import make_strategy
from trailhound.strategies.trail import link_model, link_table
from trailhound.strategies.trail.columns import Columns, stretches
from trailhound.strategies.trail.features import N_FEATURES, NAMES, PRIORS, by_name, describe
from trailhound.strategies.trail.host_shares import HELD_BACK
from trailhound.strategies.trail.link_table import MAX_PARENTS, MAX_READ, LinkTable
from trailhound.strategies.trail.link_words import read_links, read_links_of
from trailhound.strategies.trail.phrases import FIELDS, Phrases
from trailhound.strategies.trail.reasons import PARTS, memories, told_parts
from trailhound.strategies.trail.strategy import RANKED_BETWEEN, TrailStrategy


def test_links_like_those_of_the_session_come_first() -> None:
    found = score(taught(), hub("other", ("people/eve", "Eve, professor"), ("news/3", "football")))
    assert found["people/eve"] > found["news/3"]


def test_what_pays_on_the_way_is_learned() -> None:
    strategy = taught()
    links = [(f"jam/{n}", "strawberry jam") for n in range(40)]
    links += [(f"tax/{n}", "tax return") for n in range(40)]
    before = score(strategy, hub("list", *links, ("a/jam", "jam"), ("a/tax", "tax")))
    for n in range(20):
        for name, relevant in (("jam", 1.0), ("tax", 0.0)):
            score(strategy, hub(f"{name}/{n}", relevance=relevant))
    after = score(strategy, hub("list2", ("b/jam", "jam"), ("b/tax", "tax")))
    assert after["b/jam"] - after["b/tax"] > before["a/jam"] - before["a/tax"] + 0.5


def test_what_links_promised_is_heard_beside_the_judge_who_alone_teaches() -> None:
    """Two pages of the same score: the one that looked like the session's finds counts for more."""
    strategy = taught()
    score(strategy, hub("other", ("people/eve", "Eve, professor"), ("news/3", "football")))
    for name in ("people/eve", "news/3"):
        strategy.observe(hub(name, relevance=0.5))
    table, examples = strategy._table, strategy._model._examples
    believed = [
        float(table.nodes["label"][table.node(H + name)]) for name in ("people/eve", "news/3")
    ]
    assert believed[0] > max(0.5, believed[1])
    assert examples["label"][examples.size - 2 : examples.size].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("judged", [0.0, 1.0])
def test_a_judge_who_is_sure_is_not_overruled(judged: float) -> None:
    model = taught()._model
    row = np.zeros(N_FEATURES)
    for words in (-100.0, 100.0):
        assert model.believed(judged, row, np.array([words, 0.0])) == pytest.approx(
            judged, abs=0.01
        )


def test_what_waits_is_ranked_anew_by_what_was_learned() -> None:
    strategy = taught()
    links = [(f"jam/{n}", "jam") for n in range(25)] + [(f"tax/{n}", "tax") for n in range(25)]
    first = score(strategy, hub("list", *links))
    for n in range(20):
        for name, relevant in (("jam", 1.0), ("tax", 0.0)):
            score(strategy, hub(f"{name}/{n}", relevance=relevant))
    anew = strategy.rescore(ALL) or {}
    assert anew[f"{H}jam/24"] > first["jam/24"]
    assert anew[f"{H}jam/24"] > anew.get(f"{H}tax/24", first["tax/24"])
    assert f"{H}jam/3" not in anew, "it was fetched"
    assert strategy.rescore(ALL) is None or f"{H}jam/24" not in (strategy.rescore(ALL) or {})


def test_reasons_name_words_and_count_how_others_turned_out() -> None:
    strategy = taught()
    names = [(f"jam/{n}", "strawberry jams") for n in range(30)]
    listed = hub("list", *names, ("tea/1", "green tea"), relevance=0.9)
    for shown in (listed, *(hub(f"jam/{n}", relevance=1.0) for n in range(25))):
        score(strategy, shown)
    other = hub("list2", ("jam/new", "strawberry jams"), ("jam/3", "jam"), relevance=0.9)
    strategy.observe(other)
    memory = {each.link.url: each.memory for each in told(strategy, other)}[f"{H}jam/new"]
    assert len(memory) <= 80
    outcomes = {f"{H}jam/{n}": n != 7 for n in range(25)} | {f"{H}list2": True}
    found = FoundLink(f"{H}jam/new", memory, other.page, outcomes)
    reasons = strategy.reasons(found)
    by_words = {reason.words: reason.moved or 0.0 for reason in reasons}
    assert by_words["anchor 'jams'"] > 0.1
    assert by_words["its folder had given 24 of 25"] > 0
    assert by_words["1 of 1 links of that page were wanted"] > 0
    assert "it was found on a relevant page" in by_words
    strengths = [abs(reason.moved or 0.0) for reason in reasons]
    assert strengths == sorted(strengths, reverse=True)


def test_reasons_without_the_page_and_for_pages_of_the_session() -> None:
    strategy = taught()
    shown = hub("list", ("people/eve", "Eve, professor"))
    strategy.observe(shown)
    (eve,) = told(strategy, shown)
    blind = [reason.words for reason in strategy.reasons(FoundLink(eve.link.url, eve.memory))]
    assert "its words, next to those of the pages you marked" in blind
    (gateway,) = strategy.reasons(FoundLink(f"{H}staff", b""))
    assert "a page of your sessions" in gateway.words
    marked_since = FoundLink(f"{H}staff", eve.memory)
    assert not any("your sessions" in reason.words for reason in strategy.reasons(marked_since))
    assert strategy.reasons(FoundLink(f"{H}x", b"")) == []
    assert strategy.reasons(FoundLink(f"{H}x", b"foreign")) == []


def test_what_was_learned_outlives_the_process() -> None:
    strategy = taught()
    for n in range(45):
        score(strategy, hub(f"jam/{n}", (f"jam/{n + 1}", "jam"), relevance=1.0))
    copy = taught()
    copy.restore(strategy.snapshot())
    new = hub("list", ("a/jam", "jam"), ("a/tax", "tax"), ("jam/3", "jam"))
    mine, its = score(strategy, new), score(copy, new)
    assert set(its) == set(mine) == {"a/jam", "a/tax"}, "jam/3 was fetched before"
    assert its["a/jam"] == pytest.approx(mine["a/jam"], abs=0.3)
    assert its["a/jam"] > its["a/tax"]


def experienced() -> TrailStrategy:
    """One that has been to a web where jam is wanted, and reached through lists."""
    strategy = taught()
    for n in range(60):
        links = [(f"old/{n + k}/jam", "jam") for k in (1, 2, 3)]
        name, relevance = ("jam", 1.0) if n % 2 else ("tax", 0.0)
        score(strategy, hub(f"{name}/{n}", *links, (f"{name}/{n + 2}", name), relevance=relevance))
        score(strategy, hub(f"old/{n}/jam", relevance=1.0))
    return strategy


def test_a_new_crawl_begins_with_what_an_earlier_one_learned_of_links() -> None:
    new = hub("list", ("a/jam", "jam"), ("a/tax", "tax"), ("jam/3", "jam"))
    earlier, fresh, heir, doubtful = experienced(), taught(), taught(), taught()
    heir.inherit(earlier.snapshot(), in_full=True)
    doubtful.inherit(earlier.snapshot(), in_full=False)
    leads = [found["a/jam"] - found["a/tax"] for found in (score(fresh, new), score(heir, new))]
    assert leads[1] > leads[0] + 0.4
    in_doubt = score(doubtful, new)
    assert leads[0] < in_doubt["a/jam"] - in_doubt["a/tax"] < leads[1]
    assert "jam/3" in in_doubt, "no page was fetched yet"
    assert heir._model.leading.words.any()
    model = doubtful._model
    counts = model._examples["count"][model._from_session : model._examples.size]
    assert counts.sum() == pytest.approx(model._from_session)
    again = taught()
    again.restore(doubtful.snapshot())
    kept = again._model._examples["count"][again._model._from_session : again._model._examples.size]
    assert kept == pytest.approx(counts)


def test_lessons_name_the_words_that_count_and_what_has_moved() -> None:
    strategy = experienced()
    shown = [*session().pages, hub("list", ("a", "jams"), ("b", "tax")).page]
    lessons = strategy.lessons(shown)
    weights = {(lesson.field, lesson.name): lesson.weight for lesson in lessons}
    assert weights["anchor", "jams"] > 0.1 > -0.1 > weights["anchor", "tax"]
    features = {lesson.name: lesson for lesson in lessons if not lesson.field}
    assert set(features) == set(NAMES) - {"bias"}
    assert features["success of the host"].prior == PRIORS["success of the host"]
    moves = [abs(lesson.weight - lesson.prior) for lesson in lessons]
    assert moves == sorted(moves, reverse=True)
    assert not any(lesson.field for lesson in strategy.lessons([])), "words nobody shows it"


def test_where_links_led_outlives_the_pages_at_hand() -> None:
    earlier = experienced()
    copy = taught()
    copy.restore(earlier.snapshot())
    copy._model.fit()
    mine, its = earlier._model.leading.weights, copy._model.leading.weights
    assert its == pytest.approx(mine, abs=0.2)


def test_what_does_not_wait_any_more_is_not_ranked_anew_nor_what_only_it_would_open() -> None:
    strategy = taught()
    links = [(f"jam/{n}", "jam") for n in range(25)] + [(f"tax/{n}", "tax") for n in range(25)]
    score(strategy, hub("list", *links))
    for n in range(20):
        for name, relevant in (("jam", 1.0), ("tax", 0.0)):
            score(strategy, hub(f"{name}/{n}", relevance=relevant))
    anew = strategy.rescore({f"{H}jam/24": b""}) or {}
    assert {url for url in anew if "/jam/" in url} == {f"{H}jam/24"}
    strategy.regret(Candidate(f"{H}jam/23", 0.0), Outcome.NOT_HTML)
    strategy._is_fitted = strategy._is_read_again = True
    anew = strategy.rescore(ALL) or {}
    assert {f"{H}jam/24", f"{H}jam/22"} <= anew.keys(), "it was under way, say"
    assert f"{H}jam/23" not in anew


def test_what_one_page_could_not_bring_in_another_can() -> None:
    """By the rules of the crawl: a page that asks for nofollow, a host's budget."""
    strategy = taught()
    score(strategy, hub("list", ("people/dan", "professor")))
    strategy._is_read_again = True
    assert f"{H}people/dan" not in (strategy.rescore({}) or {})
    assert "people/dan" in score(strategy, hub("other", ("people/dan", "professor")))
    strategy._is_read_again = True
    assert f"{H}people/dan" in (strategy.rescore({f"{H}people/dan": b""}) or {})


def test_links_seen_before_a_restart_are_ranked_anew_after_it() -> None:
    strategy = taught()
    links = [(f"jam/{n}", "jam") for n in range(40)] + [(f"tax/{n}", "tax") for n in range(40)]
    shown = [hub("list", *links)]
    for n in range(20):
        shown += [hub(f"jam/{n}", (f"new/{n}", "jam"), relevance=1.0), hub(f"tax/{n}")]
    for each in shown:
        score(strategy, each)
    copy = taught()
    copy.restore(strategy.snapshot())
    assert f"{H}jam/30" not in (copy.rescore(ALL) or {}), "it has no links yet"
    for each in shown:
        copy.read_again(each)
    strategy.rescore(ALL)
    waiting = [f"{H}jam/30", f"{H}tax/30", f"{H}new/3"]
    mine, its = (
        each._model.score(np.array([each._table.node(url) for url in waiting]))
        for each in (strategy, copy)
    )
    assert its == pytest.approx(mine, abs=0.1)
    anew = copy.rescore(ALL) or {}
    assert set(waiting) <= set(anew), "whatever they were told before"
    assert f"{H}jam/3" not in anew


def test_what_was_learned_before_a_feature_came_is_of_use() -> None:
    before, after = experienced(), taught()
    kept = msgspec.msgpack.decode(before.snapshot(), type=dict[str, Any])
    model, n = kept["model"], len(NAMES)
    rows = np.frombuffer(model["rows"], "f4").reshape(-1, n)
    model["rows"], model["names"] = rows[:, :-1].tobytes(), NAMES[:-1]
    model["heads"] = [(weights[:-8], *words) for weights, *words in model["heads"]]
    after.restore(msgspec.msgpack.encode(kept))
    links = (("jam/9", "strawberry jam"), ("tax/9", "tax return"))
    assert score(after, hub("z", *links)) == pytest.approx(score(before, hub("z", *links)), abs=0.2)
    with pytest.raises(ValueError, match="other features"):
        taught().restore(msgspec.msgpack.encode(kept | {"model": model | {"names": ["x"]}}))


def test_reasons_of_before_a_feature_came_are_told() -> None:
    for missing in (2, 3):
        (memory,) = memories(np.arange(len(PARTS) - missing, dtype=np.float64)[None, :])
        told = told_parts(memory)
        assert (NAMES[-1] in told) == (missing == 2)
        assert list(told)[-2:] == list(PARTS[-2:])
        assert len(told) == len(PARTS) - missing
        assert told[PARTS[-1]] == len(PARTS) - missing - 1


def test_a_snapshot_that_makes_no_sense_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    strategy = taught()
    before = strategy.snapshot()
    for nonsense in (b"", b"nonsense", before[: len(before) // 2]):
        with pytest.raises(ValueError, match="links"):
            strategy.restore(nonsense)
        with pytest.raises(ValueError, match="links"):
            strategy.inherit(nonsense, in_full=True)
    other = taught()
    monkeypatch.setattr(link_model, "NAMES", (*NAMES[:-1], "something else"))
    with pytest.raises(ValueError, match="other features"):
        other.inherit(before, in_full=True)
    monkeypatch.undo()
    assert other.snapshot() == strategy.snapshot() == before


def test_it_needs_no_session() -> None:
    nothing = Briefing(PageGraph((), (), frozenset()))
    strategy = make_strategy("trail", nothing)
    assert isinstance(strategy, TrailStrategy)
    for n in range(60):
        relevant = float(n % 2)
        kind = "jam" if relevant else "tax"
        score(strategy, hub(f"{kind}/{n}", (f"{kind}/{n + 2}", kind), relevance=relevant))
    found = score(strategy, hub("list", ("a/jam", "jam"), ("a/tax", "tax")))
    assert found["a/jam"] > found["a/tax"]


def test_one_mark_and_three_pages_are_enough_to_begin() -> None:
    three = PageGraph(session().pages[:3], (), frozenset({2}))
    strategy = TrailStrategy.from_briefing(Briefing(three))
    found = score(strategy, hub("other", ("people/eve", "Eve, professor"), ("x", "football")))
    assert found["people/eve"] > found["x"]


def test_it_learns_online_and_refuses_negative_options() -> None:
    assert learns_online(taught())
    with pytest.raises(UsageError, match="hub"):
        make_strategy("trail:hub=-1", Briefing(session()))


def check_consistent(table: LinkTable) -> None:
    """Every reference leads to what it should."""
    links, nodes, pages = table.links, table.nodes, table.pages
    assert len(table.urls) == len(table.numbers) == nodes.size
    assert all(table.urls[number] == url for url, number in table.numbers.items())
    for page_number in range(pages.size):
        span = slice(pages["first"][page_number], pages["last"][page_number])
        assert (links["page"][span] == page_number).all()
    phrases = table.phrases
    ends = np.append(phrases.columns["first_word"][: phrases.columns.size], phrases.words.size)
    assert (np.diff(ends) == phrases.columns["n_words"][: phrases.columns.size]).all()
    assert links["phrases"][: links.size].max(initial=-1) < phrases.columns.size
    for node in range(nodes.size):
        own = nodes["links"][node]
        assert (links["child"][own[own >= 0]] == node).all()
        assert nodes["page"][node] < pages.size
    assert links["group"][: links.size].max(initial=-1) < table.groups.size
    assert nodes["host"][: nodes.size].max(initial=-1) < table.places.size


def test_memory_is_bounded_and_stays_consistent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_table, "MAX_LINKS", 200)
    monkeypatch.setattr(link_model, "MAX_EXAMPLES", 50)
    strategy = taught()
    for n in range(300):
        links = [(f"d{n % 7}/{n + k}", f"word{k} jam") for k in range(1, 8)]
        score(strategy, hub(f"d{n % 7}/{n}", *links, relevance=float(n % 3 == 0)))
        if n % 10 == 9:
            strategy.rescore(ALL)
    table = strategy._table
    check_consistent(table)
    assert table.links.size < 600
    assert table.nodes.size < 900
    assert table.numbers[f"{H}people/ann"] >= 0, "the session stays"
    assert strategy._model._examples.size < 120


def test_a_link_of_the_session_leads_where_it_did_after_forgetting() -> None:
    """However many links to the same page have come and gone."""
    strategy = TrailStrategy.from_briefing(Briefing(with_more_staff()))
    for n in range(40):
        links = [("people/cyd", "professor")] if n < 10 else [(f"q/{n}", "x")]
        shown = hub(f"o/{n}", *links)
        score(strategy, replace(shown, page=with_pages_of_their_own(shown.page)))
    strategy._forget()
    table = strategy._table
    staff = int(table.nodes["page"][table.node(f"{H}staff")])
    linked = [table.urls[node] for node in table.children(staff).tolist()]
    assert linked == [f"{P}ann", f"{P}bob", f"{P}cyd"]


def test_what_arrives_after_its_news_is_ranked_however_much_is_held_back() -> None:
    strategy = TrailStrategy.from_briefing(Briefing(with_more_staff()))
    strategy.join(lambda url: "elsewhere" not in url)
    shut = tuple((f"shut/{n}", "x") for n in range(RANKED_BETWEEN + 9))
    waiting = {f"{H}{url}": b"" for url in score(strategy, hub("list", *shut))}
    table = strategy._table
    table.nodes["told"][[table.node(url) for url in waiting]] = -2 * HELD_BACK
    late = table.node(f"{H}late")
    table.nodes["queued"][late], table.nodes["told"][late] = True, -np.inf
    assert f"{H}late" in (strategy.rescore({**waiting, f"{H}late": b""}) or {})


def test_rows_describe_what_is_known_and_leave_out_the_own_label() -> None:
    table = LinkTable()
    start = page("", "portal", ("a/1", "one"), ("a/2", "two"), ("b/3", "three"))
    table.add_page(table.node(start.url), read_links(start, table.phrases), 0.8)
    for name, label in (("a/1", 1.0), ("b/3", 0.0)):
        table.label({table.node(H + name): label})
    rows, _ = describe(table, np.array([table.node(H + name) for name in ("a/1", "a/2", "b/3")]))
    named = list(map(by_name, rows))
    base = 1.5 / 3

    def ratio(hits: float, seen: float) -> float:
        return float(np.log((hits + 2 * base) / ((seen + 2) * base)))

    siblings = [row["success of siblings"] for row in named]
    assert siblings == pytest.approx([ratio(0, 1), ratio(1, 2), ratio(1, 1)])
    folders = [row["success of the folder"] for row in named]
    assert folders == pytest.approx([ratio(0, 0), ratio(1, 1), ratio(0, 0)])
    near = [row["success of neighbouring links"] for row in named]
    assert near == pytest.approx([ratio(0, 0.5), ratio(1, 2), ratio(0.5, 0.5)])
    lists = [row["success of the same list"] for row in named]
    assert lists == pytest.approx(siblings), "all links stand in one"
    alike = {
        "bias": 1.0,
        "relevance of the best linking page": 0.8,
        "relevance of linking pages": 0.8,
        "number of linking pages": np.log(2),
        "sum of the relevance of linking pages": np.log(1.8),
        "same host": 1.0,
        "depth of the address": 2 / 4,
        "number of links on the page": np.log(4) - 4,
    }
    for row in named:
        assert {name: row[name] for name in alike} == pytest.approx(alike)
        assert row["success of the best page's links"] == pytest.approx(row["success of siblings"])
        assert row["success of the host"] == pytest.approx(row["success of siblings"])


def test_chances_are_read_by_the_company_they_keep() -> None:
    def success_of_a_list(chance: float, fetched: int) -> tuple[float, float]:
        """What is said of the next link of one, and what plain sums would say."""
        table = LinkTable()
        for other in range(100):  # a crawl in which one page in five is wanted
            table.label({table.node(f"https://else.test/{other}"): float(other % 5 == 0)})
        start = page("", "portal", *[(f"a/{n}", f"word{n}") for n in range(fetched + 1)])
        table.add_page(table.node(start.url), read_links(start, table.phrases), 0.5)
        for number in range(fetched):
            table.label({table.node(f"{H}a/{number}"): chance})
        rows, _ = describe(table, np.array([table.node(f"{H}a/{fetched}")]))
        base = table.base_rate
        plain = (chance * fetched + 2 * base) / ((fetched + 2) * base)
        return by_name(rows[0])["success of the same list"], float(np.log(plain))

    for sure in (0.0, 1.0):
        said, plain = success_of_a_list(sure, 20)
        assert said == pytest.approx(plain), "facts are facts"
    said, plain = success_of_a_list(0.1, 20)
    assert said < plain - 0.5, "twenty of little promise are hardly two finds"
    said, plain = success_of_a_list(0.4, 20)
    assert said > plain + 0.2, "nor are twenty of some promise but eight"
    said, plain = success_of_a_list(0.1, 1)
    assert said == pytest.approx(plain, abs=0.2), "one page is no company"


def test_labels_given_before_and_after_a_page_is_read_count_alike() -> None:
    start = page("", "portal", *[(f"a/{n}", f"word{n}") for n in range(12)])
    labels = {f"{H}a/{n}": float(n % 2) for n in (0, 3, 4, 9, 11)}
    tables = LinkTable(), LinkTable()
    for url, label in labels.items():
        tables[0].label({tables[0].node(url): label})
    for table in tables:
        table.add_page(table.node(start.url), read_links(start, table.phrases), 0.0)
    for url, label in labels.items():
        tables[1].label({tables[1].node(url): label})
    first, second = (table.links["near"][:12] for table in tables)
    assert first == pytest.approx(second, abs=1e-6)
    assert (tables[0].pages["counts"][0] == tables[1].pages["counts"][0]).all()


def test_around_links_to_what_is_known_well_nothing_is_read() -> None:
    table = LinkTable()

    def read(number: int) -> list[bool]:
        near = tuple(Link(H + name, name, before=f"word{number}") for name in ("a", "b"))
        listed = Page(f"{H}{number}", links=near)
        (found,) = read_links_of([listed], table.phrases, table.said_enough)
        table.add_page(table.node(listed.url), found, 0.0)
        around = found.phrases[:, FIELDS.index("context")]
        return [bool(words) for words in table.phrases.columns["n_words"][around]]

    assert read(0) == [True, True]
    table.label({table.node(f"{H}a"): 1.0})
    read_on = [read(number) for number in range(1, MAX_PARENTS)]
    assert read_on == [[False, True]] * (MAX_PARENTS - 1), "the first was fetched"
    assert read(MAX_PARENTS) == [False, False], "as many links are at hand as are looked at"
    words = {int(number) for number in table.words_of(table.node(f"{H}b"))[0]}
    assert len(words) > MAX_READ, "the newest has the words of the one whose place it took"


def test_an_address_is_worth_as_much_however_many_links_of_a_kind_lead_there() -> None:
    strategy = taught()

    def around() -> float:
        rows, _ = describe(strategy._table, np.array([strategy._table.node(f"{H}much")]))
        return float(rows[0, NAMES.index("surrounding words like the targets")])

    seen = []
    for number in range(3 * MAX_PARENTS):
        near = Link(f"{H}much", "more", before="professor of research, publications")
        listed = Page(f"{H}lists/{number}", links=(near,))
        score(strategy, CrawledPage(listed, Relevance(0.1, False), Candidate(listed.url, 0.0)))
        seen.append(around())
    assert seen == pytest.approx([seen[0]] * len(seen))
    assert seen[0] > 0


def test_words_of_all_scripts_have_numbers() -> None:
    start = page("", "日本語 пример", ("%E3%81%82/пчела", "пчела и мёд"), ("x\n", "a\nb"))
    phrases = Phrases()
    found = read_links(start, phrases)
    assert len(found.urls) == 2
    anchors = phrases.columns["n_words"][found.phrases[:, FIELDS.index("anchor")]]
    assert anchors.tolist() == [2, 0], "single letters are no words"
    numbers, weights = phrases.words_of(found.phrases[0])
    assert len(numbers) == len(weights) > 4


def test_what_was_said_before_is_not_read_again() -> None:
    start = page("", "portal", ("a/1", "jam"), ("a/2", "jam"), ("b/3", "tea"))
    phrases = Phrases()
    first = read_links(start, phrases)
    size = phrases.columns.size
    assert (read_links(start, phrases).phrases == first.phrases).all()
    assert phrases.columns.size == size
    anchors = first.phrases[:, FIELDS.index("anchor")].tolist()
    assert anchors[0] == anchors[1] != anchors[2]


def test_columns_grow_and_forget() -> None:
    columns = Columns({"a": "i4", "b": "i4"}, fill={"b": -1}, b=2)
    assert columns.add(300) == 0
    columns["a"][:300] = np.arange(300)
    numbers = columns.keep(columns["a"][:300] % 100 == 0)
    assert columns["a"][:3].tolist() == [0, 100, 200]
    assert (columns.size, numbers[100], numbers[1]) == (3, 1, -1)
    assert columns.add() == 3
    assert columns["a"][3] == 0
    assert columns["b"][3].tolist() == [-1, -1]
    assert stretches(np.array([5, 0]), np.array([2, 1])).tolist() == [5, 6, 0]
