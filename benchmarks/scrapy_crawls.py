"""The same focused crawl as Scrapy spiders, to compare with.

    python -m benchmarks.scrapy_crawls idiomatic|our-parts WEB PORT FOLDER

``idiomatic`` is what a Scrapy user would write: ``LinkExtractor``, selectors, and the hidden-Markov
model in scikit-learn terms (TF-IDF, truncated SVD, nearest neighbours, a filter in numpy).
``our-parts`` calls our extraction, judge, strategy and archive instead. Both do what our own crawl
does: obey robots.txt, keep the queue on disk (``JOBDIR``), archive requests and answers as WARC,
write results and a log line for each page. Neither looks for near duplicates or traps, which ours
does. Prints what it cost, as JSON; learning and loading are not counted.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import Stemmer
from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import normalize
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from benchmarks.crawl_measures import CONCURRENCY, CrawlCost, Stopwatch, learned_topic
from benchmarks.measured_web import load_web
from trailhound.judges.cosine import CosineJudge
from trailhound.models.topic_model import TopicModel
from trailhound.records import Candidate, CrawledPage, Exchange
from trailhound.storage.warc import ArchiveWriter
from trailhound.strategies.base import Briefing
from trailhound.strategies.hidden_markov import HiddenMarkovStrategy
from trailhound.text.extract import extract_page

PRIORITY_SCALE = 1_000
"""Scrapy's priorities are whole numbers, and each has a queue file of its own."""


class StemmedTfidf(TfidfVectorizer):  # type: ignore[misc]
    """TF-IDF over stems."""

    def build_analyzer(self) -> Callable[[str], list[str]]:
        """The usual words, stemmed."""
        analyze = super().build_analyzer()
        stemmer = Stemmer.Stemmer("english")
        return lambda text: list(stemmer.stemWords(analyze(text)))


def header_pairs(headers: Any) -> list[tuple[str, str]]:
    """Scrapy's headers as text."""
    return [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.items()
        for value in values
    ]


class MeasuredSpider(Spider):
    """Counts pages and stops the watch."""

    folder = Path()
    pages = 0
    watch: Stopwatch | None = None
    cost: CrawlCost | None = None

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **options: Any) -> MeasuredSpider:
        """Listen to the beginning and the end of the crawl."""
        spider = super().from_crawler(crawler, *args, **options)
        crawler.signals.connect(spider.begin, signals.spider_opened)
        crawler.signals.connect(spider.end, signals.spider_closed)
        return spider

    def begin(self) -> None:
        """The crawl starts."""
        self.watch = Stopwatch()

    def end(self) -> None:
        """The crawl is over."""
        self.close_archive()
        if self.watch is not None:
            MeasuredSpider.cost = self.watch.cost(self.pages)

    def close_archive(self) -> None:
        """Nothing more will be archived."""


class IdiomaticSpider(MeasuredSpider):
    """A focused crawl with the libraries that everybody knows."""

    name = "idiomatic"

    def __init__(self, model: TopicModel, seed: str, **options: Any) -> None:
        super().__init__(**options)
        self.start_urls = [seed]
        self.warc_file = (self.folder / "pages.warc.gz").open("wb")
        self.warc = WARCWriter(self.warc_file, gzip=True)
        self.links = LinkExtractor()
        self.hmm = model.hmm
        texts = [f"{page.title} {page.text}" for page in model.graph.pages]
        self.vectorizer = StemmedTfidf(stop_words="english")
        weights = self.vectorizer.fit_transform(texts)
        self.targets = weights[sorted(model.graph.targets)]
        self.svd = TruncatedSVD(model.space.rank, random_state=0)
        points = normalize(self.svd.fit_transform(weights))
        self.neighbours = KNeighborsClassifier(model.parameters.n_neighbours, weights="distance")
        self.neighbours.fit(points, model.clusters)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        """Judge the page, and queue its links by the belief along the path."""
        if not isinstance(response, TextResponse):
            return
        self.pages += 1
        self.archive(response)
        title = response.css("title::text").get("")
        words = response.xpath("//body//text()[not(parent::script or parent::style)]").getall()
        text = " ".join(" ".join(words).split())
        weights = self.vectorizer.transform([f"{title} {text}"])
        relevance = float((self.targets @ weights.T).max())
        cluster = int(self.neighbours.predict(normalize(self.svd.transform(weights)))[0])
        belief = self.filtered(response.meta.get("belief"), cluster)
        priority = int(PRIORITY_SCALE * (belief @ self.hmm.transition)[0])
        yield {"url": response.url, "title": title, "relevance": relevance, "text": text[:300]}
        for link in self.links.extract_links(response):
            yield Request(link.url, priority=priority, meta={"belief": belief.tolist()})

    def archive(self, response: TextResponse) -> None:
        """Request and answer, as the library's manual has it."""
        status = StatusAndHeaders("200 OK", header_pairs(response.headers), protocol="HTTP/1.1")
        asked = header_pairs(response.request.headers) if response.request else []
        line = StatusAndHeaders("GET / HTTP/1.1", asked, is_http_request=True)
        payload = io.BytesIO(response.body)
        answer = self.warc.create_warc_record(
            response.url, "response", payload=payload, http_headers=status
        )
        request = self.warc.create_warc_record(response.url, "request", http_headers=line)
        self.warc.write_request_response_pair(request, answer)

    def close_archive(self) -> None:
        """Complete the file."""
        self.warc_file.close()

    def filtered(self, before: list[float] | None, cluster: int) -> np.ndarray[Any, Any]:
        """One step of the filter."""
        states = self.hmm.start if before is None else np.array(before) @ self.hmm.transition
        joint = states * self.hmm.emission[:, cluster]
        total = joint.sum()
        return np.asarray(joint / total if total > 0 else self.hmm.start)


class OurPartsSpider(MeasuredSpider):
    """Scrapy fetches and queues; the rest is ours."""

    name = "our-parts"

    def __init__(self, model: TopicModel, seed: str, **options: Any) -> None:
        super().__init__(**options)
        self.start_urls = [seed]
        self.warc = ArchiveWriter(self.folder / "archive", "scrapy", started_at=time.time())
        similarity = Briefing(model.graph, model=model).similarity
        self.judge = CosineJudge.from_graph(model.graph, similarity=similarity)
        self.strategy = HiddenMarkovStrategy(model)

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        """Extract, judge and score as our own engine does."""
        self.pages += 1
        self.archive(response)
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        page = extract_page(response.body, response.url, content_type)
        relevance = self.judge.judge(page)
        memory = response.meta.get("memory", b"")
        crawled = CrawledPage(page, relevance, Candidate(page.url, 0.0, memory))
        yield {
            "url": page.url,
            "title": page.title,
            "relevance": relevance.score,
            "text": page.text[:300],
        }
        by_url = {scored.link.url: scored for scored in self.strategy.score_links(crawled)}
        for url, scored in by_url.items():
            priority = int(PRIORITY_SCALE * scored.priority)  # Scrapy's queue wants an integer
            yield Request(url, priority=priority, meta={"memory": scored.memory})

    def archive(self, response: Response) -> None:
        """Request and answer, by our own writer."""
        asked = header_pairs(response.request.headers) if response.request else []
        exchange = Exchange(
            url=response.url,
            requested_at=time.time(),
            request_headers=tuple(asked),
            status=response.status,
            reason="OK",
            http_version="1.1",
            headers=tuple(header_pairs(response.headers)),
            body=response.body,
        )
        self.warc.write([exchange])

    def close_archive(self) -> None:
        """Complete the file and its index."""
        self.warc.close()


SPIDERS: dict[str, type[IdiomaticSpider] | type[OurPartsSpider]] = {
    "idiomatic": IdiomaticSpider,
    "our-parts": OurPartsSpider,
}


def settings(folder: Path) -> dict[str, Any]:
    """As a new Scrapy project has them, with more concurrency and the queue on disk."""
    return {
        "JOBDIR": str(folder / "job"),
        "FEEDS": {str(folder / "pages.jsonl"): {"format": "jsonlines"}},
        "CONCURRENT_REQUESTS": CONCURRENCY,
        "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_FILE": str(folder / "log.txt"),
    }


def main() -> int:
    """Crawl once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=sorted(SPIDERS))
    parser.add_argument("web", type=Path)
    parser.add_argument("port", type=int)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    pages = load_web(options.web).at(options.port)
    model = learned_topic(pages).model
    MeasuredSpider.folder = options.folder
    process = CrawlerProcess(settings(options.folder))
    process.crawl(SPIDERS[options.kind], model=model, seed=next(iter(pages)))
    process.start()
    if MeasuredSpider.cost is None:
        return 1
    print(msgspec.json.encode(MeasuredSpider.cost).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
