from __future__ import annotations

from pathlib import Path

import pytest
from small_webs import record_web

from trailhound.errors import TopicError
from trailhound.lab.corpora import Corpus
from trailhound.lab.topics import topic_source
from trailhound.lab.topics.labels import GroupTopics, largest_domain_share
from trailhound.sessions.events import Mark, Visit

N_COURSES = 12


def university(domain: str) -> dict[str, list[str]]:
    """Front page, three sections, a list of courses, the courses, and some news."""
    base = f"http://www.{domain}/"
    sections = [f"{base}{name}/" for name in ("teaching", "people", "news")]
    courses = [f"{base}teaching/c{n}" for n in range(N_COURSES)]
    news = [f"{base}news/{n}" for n in range(30)]
    web = {base: sections, sections[0]: [f"{base}teaching/all", base]}
    web |= {f"{base}teaching/all": courses, sections[1]: [base], sections[2]: news}
    web |= {course: [base] for course in courses}
    return web | {item: [sections[2]] for item in news}


def courses_of(domain: str) -> list[str]:
    return [f"http://www.{domain}/teaching/c{n}" for n in range(N_COURSES)]


DOMAINS = ("oak.edu", "elm.edu")
SCATTERED = [f"http://www.site{n}.org/" for n in range(20)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    webs = {domain: university(domain) for domain in DOMAINS}
    web = {url: links for each in webs.values() for url, links in each.items()}
    web |= {url: [SCATTERED[(n + 1) % 20]] for n, url in enumerate(SCATTERED)}
    return record_web(
        tmp_path_factory.mktemp("groups"),
        web,
        labels={
            "course": [*courses_of("oak.edu"), *courses_of("elm.edu"), *SCATTERED[:2]],
            "front": ["http://www.oak.edu/", "http://www.elm.edu/", *SCATTERED[3:]],
            "oaken": courses_of("oak.edu"),
        },
        groups={"oak": webs["oak.edu"], "elm": webs["elm.edu"], "rest": SCATTERED},
    )


def test_topics_are_labels_at_groups_that_are_one_site(corpus: Corpus) -> None:
    source = topic_source(corpus)
    assert isinstance(source, GroupTopics)
    assert source.names() == ("course@elm", "course@oak")
    reasons = source.left_out()
    assert "many sites" in reasons["course@rest"]
    assert "0 pages of the label can be browsed to" in reasons["front@oak"]
    assert "the label has 0 pages to find" in reasons["oaken@oak"]
    with pytest.raises(TopicError, match="many sites"):
        source.build("course@rest", 1, 1)


def test_one_site_is_browsed_from_its_front_page_and_the_others_are_crawled(
    corpus: Corpus,
) -> None:
    topic = topic_source(corpus).build("course@oak", n_seed_sets=2, seed=1)
    visits = [event for event in topic.session.events if isinstance(event, Visit)]
    marks = [event.url for event in topic.session.events if isinstance(event, Mark)]
    assert visits[0].url == "http://www.oak.edu/"
    assert all(visit.url.startswith("http://www.oak.edu/") for visit in visits)
    assert len(set(marks)) == len(marks) == N_COURSES // 2
    assert set(marks) <= set(courses_of("oak.edu"))
    assert topic.relevant == {*courses_of("elm.edu"), *SCATTERED[:2]}


def test_seeds_lie_outside_the_browsed_site_two_hops_off(corpus: Corpus) -> None:
    topic = topic_source(corpus).build("course@oak", n_seed_sets=3, seed=1)
    numbers = [number for url in topic.relevant if (number := corpus.page_id(url)) is not None]
    hops = corpus.graph.hops_to(numbers)
    for seeds in topic.seed_sets:
        for url in seeds:
            number = corpus.page_id(url)
            assert number is not None
            assert hops[number] >= 2
            assert "oak" not in url
    assert topic.findable == (N_COURSES + 2,) * 3  # both pieces of the web are entered


def test_copies_of_the_browsed_site_are_not_elsewhere(tmp_path: Path) -> None:
    webs = {domain: university(domain) for domain in DOMAINS}
    copy, original = courses_of("elm.edu")[0], courses_of("oak.edu")[0]
    web = record_web(
        tmp_path,
        {url: links for each in webs.values() for url, links in each.items()},
        labels={"course": [*courses_of("oak.edu"), *courses_of("elm.edu")]},
        groups={"oak": webs["oak.edu"], "elm": webs["elm.edu"]},
        duplicates={copy: original},
    )
    topic = topic_source(web).build("course@oak", 1, 1)
    assert topic.relevant == set(courses_of("elm.edu")[1:])


def test_share_of_the_largest_domain() -> None:
    urls = ["http://a.x.co.uk/", "http://b.x.co.uk/", "http://y.co.uk/", "http://z.test/"]
    assert largest_domain_share(urls) == 0.5
    assert largest_domain_share([]) == 0.0
