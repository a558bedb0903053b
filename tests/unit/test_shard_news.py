"""News of pages reach every shard once, whatever happens to letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from trailhound.cluster import messages as desks
from trailhound.cluster.messages import NewsDesk
from trailhound.records import (
    Candidate,
    CrawledPage,
    FetchResult,
    FinishedPage,
    Link,
    Outcome,
    Page,
    PageEvent,
    Relevance,
)
from trailhound.strategies import BreadthFirstStrategy, News, Strategy


class Parrot(BreadthFirstStrategy):
    """Tells addresses of pages."""

    def join(self, owns: Callable[[str], bool]) -> None:
        self.owns = owns

    def news(self, crawled: CrawledPage) -> News:
        return News(crawled.page.url.encode(), b"links")

    def heed(self, news: Sequence[News]) -> None:
        del news


def owner(url: str) -> int:
    return int(url[-1])


def desk(shard: int, epoch: int = 1, strategy: Strategy | None = None, shards: int = 4) -> NewsDesk:
    made = NewsDesk(shard, epoch, owner, shards)
    made.serve(strategy or Parrot())
    return made


def fetched(number: int, outcome: Outcome = Outcome.FETCHED, link: str = "2") -> FinishedPage:
    url = f"http://a.test/{number}"
    page = Page(url, links=(Link(f"http://b.test/{link}"),))
    relevance = Relevance(1.0, True)
    event = PageEvent(number, url, url, outcome, None, 0, 0.0, 1, number, relevance, 1, 1, 0, "")
    return FinishedPage(event, Candidate(url, 0.0), FetchResult(url, outcome, url), page)


def tell(sender: NewsDesk, receiver: NewsDesk, shard: int = 2) -> list[str]:
    letter = sender.letter(shard, receiver.heard)
    return [news.for_all.decode() for news in receiver.open(letter)]


@given(st.lists(st.integers(0, 3), max_size=30), st.data())
def test_each_page_is_heard_once_however_letters_travel(
    fetches: list[int], data: st.DataObject
) -> None:
    sender, receiver, letters, heard = desk(1), desk(2), [], []
    number = 0
    for count in fetches:
        for _ in range(count):
            number += 1
            sender.keep(fetched(number))
        letters.append(sender.letter(2, receiver.heard))
        arrives = data.draw(st.sampled_from(letters))
        if data.draw(st.booleans()):
            heard += [news.for_all for news in receiver.open(arrives)]
    heard += [news.for_all for news in receiver.open(sender.letter(2, receiver.heard))]
    assert heard == [f"http://a.test/{place + 1}".encode() for place in range(number)]


def test_links_are_told_to_those_that_own_one() -> None:
    sender = desk(1)
    sender.keep(fetched(1, link="2"))
    assert sender.letter(2, {}).news[0].for_owners == b"links"
    assert sender.letter(3, {}).news[0] == News(b"http://a.test/1")


def test_among_many_shards_those_without_a_link_hear_of_some_pages() -> None:
    sender = desk(1, shards=4 * desks.TELL_ALL)
    for number in range(20):
        sender.keep(fetched(number, link="2"))
    owning, other = desk(2), desk(3)
    assert len(tell(sender, owning, 2)) == 20
    assert len(tell(sender, other, 3)) == 5
    sender.keep(fetched(20))
    assert len(tell(sender, other, 3)) == 1
    assert tell(sender, other, 3) == []


def test_only_fetched_pages_are_news_and_only_of_a_strategy_that_shares() -> None:
    sender, other = desk(1), desk(1, strategy=BreadthFirstStrategy())
    sender.keep(fetched(1, Outcome.BROKEN))
    other.keep(fetched(1))
    assert sender.letter(2, {}).news == other.letter(2, {}).news == []


def test_a_shard_that_was_opened_again_begins_to_tell_anew() -> None:
    receiver, first, second = desk(2), desk(1, epoch=1), desk(1, epoch=2)
    first.keep(fetched(1))
    late = first.letter(2, {})
    second.keep(fetched(2))
    assert tell(second, receiver) == ["http://a.test/2"]
    assert receiver.open(late) == []
    assert tell(second, receiver) == []


def test_letters_and_what_is_kept_are_bounded() -> None:
    sender, receiver = desk(1), desk(2)
    for number in range(desks.MAX_KEPT + 5):
        sender.keep(fetched(number))
    heard = []
    while told := tell(sender, receiver):
        assert len(told) <= desks.MAX_TOLD
        heard += told
    assert heard == [f"http://a.test/{number}" for number in range(5, desks.MAX_KEPT + 5)]
