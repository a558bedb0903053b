"""Trailhound: a focused web crawler that learns from how people browse.

The names below are the library; ``docs/library.md`` shows them at work. Each is loaded when it is
first used, so that ``import trailhound`` takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from trailhound.crawling.budget import StopReason as StopReason
    from trailhound.crawling.duplicates import DuplicateFinder as DuplicateFinder
    from trailhound.crawling.engine import Crawler as Crawler
    from trailhound.crawling.scope import make_scope as make_scope
    from trailhound.crawling.sinks import ArchiveSink as ArchiveSink
    from trailhound.errors import TrailhoundError as TrailhoundError
    from trailhound.fetching.http import HttpFetcher as HttpFetcher
    from trailhound.frontier.memory import MemoryFrontier as MemoryFrontier
    from trailhound.frontier.sqlite import SqliteFrontier as SqliteFrontier
    from trailhound.judges.choosing import make_judge as make_judge
    from trailhound.judges.contrast import ContrastJudge as ContrastJudge
    from trailhound.judges.cosine import CosineJudge as CosineJudge
    from trailhound.judges.cosine import LatentJudge as LatentJudge
    from trailhound.judges.rules import KeywordsJudge as KeywordsJudge
    from trailhound.judges.rules import PredicateJudge as PredicateJudge
    from trailhound.judges.rules import RegexJudge as RegexJudge
    from trailhound.models.topic_model import TopicModel as TopicModel
    from trailhound.models.topic_model import TopicParameters as TopicParameters
    from trailhound.models.topic_model import learn_topic as learn_topic
    from trailhound.records import CrawledPage as CrawledPage
    from trailhound.records import Link as Link
    from trailhound.records import Outcome as Outcome
    from trailhound.records import Page as Page
    from trailhound.records import PageEvent as PageEvent
    from trailhound.records import Relevance as Relevance
    from trailhound.records import ScoredLink as ScoredLink
    from trailhound.sessions.files import load_sessions as load_sessions
    from trailhound.sessions.page_graph import PageGraph as PageGraph
    from trailhound.sessions.page_graph import build_page_graph as build_page_graph
    from trailhound.storage.results import ResultsStore as ResultsStore
    from trailhound.storage.results_reading import Results as Results
    from trailhound.storage.results_reading import StoredPage as StoredPage
    from trailhound.storage.warc import ArchiveWriter as ArchiveWriter
    from trailhound.strategies.base import Briefing as Briefing
    from trailhound.strategies.baselines import BestFirstStrategy as BestFirstStrategy
    from trailhound.strategies.baselines import BreadthFirstStrategy as BreadthFirstStrategy
    from trailhound.strategies.choosing import make_strategy as make_strategy
    from trailhound.strategies.fish_and_shark import SharkSearchStrategy as SharkSearchStrategy
    from trailhound.strategies.hidden_markov import HiddenMarkovStrategy as HiddenMarkovStrategy
    from trailhound.text.extract import extract_page as extract_page
    from trailhound.topics.learned import LearnedTopic as LearnedTopic
    from trailhound.topics.model_folder import load_model as load_model
    from trailhound.topics.model_folder import save_model as save_model

_PLACES = {
    "storage.results_reading": ("Results", "StoredPage"),
    "storage.results": ("ResultsStore",),
    "storage.warc": ("ArchiveWriter",),
    "crawling.sinks": ("ArchiveSink",),
    "crawling.duplicates": ("DuplicateFinder",),
    "crawling.engine": ("Crawler",),
    "crawling.scope": ("make_scope",),
    "crawling.budget": ("StopReason",),
    "errors": ("TrailhoundError",),
    "fetching.http": ("HttpFetcher",),
    "frontier.memory": ("MemoryFrontier",),
    "frontier.sqlite": ("SqliteFrontier",),
    "judges.choosing": ("make_judge",),
    "judges.contrast": ("ContrastJudge",),
    "judges.cosine": ("CosineJudge", "LatentJudge"),
    "judges.rules": ("KeywordsJudge", "PredicateJudge", "RegexJudge"),
    "models.topic_model": ("TopicModel", "TopicParameters", "learn_topic"),
    "records": (
        "CrawledPage",
        "Link",
        "Outcome",
        "Page",
        "PageEvent",
        "Relevance",
        "ScoredLink",
    ),
    "sessions.files": ("load_sessions",),
    "sessions.page_graph": ("PageGraph", "build_page_graph"),
    "strategies.base": ("Briefing",),
    "strategies.baselines": ("BestFirstStrategy", "BreadthFirstStrategy"),
    "strategies.choosing": ("make_strategy",),
    "strategies.fish_and_shark": ("SharkSearchStrategy",),
    "strategies.hidden_markov": ("HiddenMarkovStrategy",),
    "text.extract": ("extract_page",),
    "topics.learned": ("LearnedTopic",),
    "topics.model_folder": ("load_model", "save_model"),
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [  # in the order of the alphabet; a test compares it with what is above
    "ArchiveSink",
    "ArchiveWriter",
    "BestFirstStrategy",
    "BreadthFirstStrategy",
    "Briefing",
    "ContrastJudge",
    "CosineJudge",
    "CrawledPage",
    "Crawler",
    "DuplicateFinder",
    "HiddenMarkovStrategy",
    "HttpFetcher",
    "KeywordsJudge",
    "LatentJudge",
    "LearnedTopic",
    "Link",
    "MemoryFrontier",
    "Outcome",
    "Page",
    "PageEvent",
    "PageGraph",
    "PredicateJudge",
    "RegexJudge",
    "Relevance",
    "Results",
    "ResultsStore",
    "ScoredLink",
    "SharkSearchStrategy",
    "SqliteFrontier",
    "StopReason",
    "StoredPage",
    "TopicModel",
    "TopicParameters",
    "TrailhoundError",
    "__version__",
    "build_page_graph",
    "extract_page",
    "learn_topic",
    "load_model",
    "load_sessions",
    "make_judge",
    "make_scope",
    "make_strategy",
    "save_model",
]


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'trailhound' has no attribute '{name}'")
    value: object = getattr(import_module(f"trailhound.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
