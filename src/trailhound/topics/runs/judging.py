"""The judge of a topic's crawl, by which its next page is judged, and the threshold it goes by.

A threshold is learned with the topic. A person may choose another one, which is kept in
``topic.json`` for the judge that it was chosen for, and holds from then on: in crawls that begin or
go on, and when archived pages are judged again (:mod:`trailhound.topics.finds.rejudging`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import msgspec

from trailhound import __version__
from trailhound.config.settings import Settings
from trailhound.crawling.build import Knowledge
from trailhound.crawling.processes import PageLimits
from trailhound.errors import UsageError
from trailhound.judges.base import RelevanceJudge
from trailhound.judges.choosing import chosen_judge, make_judge
from trailhound.storage.verdicts import JudgedBy
from trailhound.strategies.base import Briefing
from trailhound.text.extract import EXTRACTION_VERSION
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.runs.plan import knowledge_of

OWN_JUDGE = "a program's own"
"""Stands for a judge that only the program knows which crawled with it."""


@dataclass(frozen=True)
class TopicJudge:
    """A judge, and what has to be known to judge pages again as a crawl would."""

    judge: RelevanceJudge
    by: JudgedBy
    limits: PageLimits
    """Of pages that might be harmful."""
    near_duplicates: bool = True
    """Whether copies are told apart."""


def judge_of(folder: CrawlFolder) -> TopicJudge:
    """The judge that a crawl would have if it were resumed now.

    UsageError or ModelError when there is none: nothing was crawled or learned.
    """
    settings, known = folder.require().read().settings, knowledge_of(folder.topic)
    judge = make_judge(
        settings.judge.kind,
        Briefing(known.graph, model=known.model),
        threshold=settings.judge.threshold,
        calibrated=known.thresholds,
    )
    crawl = settings.crawl
    return TopicJudge(
        judge,
        judged_by(judge, settings, known),
        PageLimits(crawl.page_seconds, crawl.page_memory),
        crawl.near_duplicates,
    )


def judged_by(judge: RelevanceJudge, settings: Settings, known: Knowledge) -> JudgedBy:
    """What tells a judge that the settings name from others, and from itself after learning."""
    spec = chosen_judge(settings.judge.kind, known.graph)
    said = [__version__, str(EXTRACTION_VERSION), spec, known.fingerprint]
    file = Path(spec.partition(":")[0])
    if file.suffix == ".py" and file.is_file():
        said.append(hashlib.sha256(file.read_bytes()).hexdigest())
    digest = hashlib.sha256("\n".join(said).encode()).hexdigest()
    return JudgedBy(digest, threshold_in(judge))


def threshold_in(judge: RelevanceJudge) -> float | None:
    """From which score on a judge calls pages relevant; ``None`` when it goes by something else."""
    threshold = getattr(judge, "threshold", None)
    return None if threshold is None else float(threshold)


class TopicThreshold(msgspec.Struct, frozen=True):
    """From which score on pages of a topic are relevant."""

    judge: str
    """The judge whose scores these are."""
    threshold: float
    """The one that holds."""
    learned: float | None
    """What the sessions say; ``None`` when this judge learned nothing from them."""
    chosen: bool
    """Whether a person has chosen another one for this topic."""


def threshold_of(folder: CrawlFolder) -> TopicThreshold | None:
    """The threshold of the topic's judge; ``None`` when it has none."""
    settings, topic = folder.require().read().settings, folder.topic
    learned = topic.load() if topic.is_learned() else None
    graph = learned.model.graph if learned is not None else Knowledge().graph
    name, _, options = chosen_judge(settings.judge.kind, graph).partition(":")
    calibrated = learned.judges.get(name) if learned is not None else None
    chosen = topic.record().thresholds.get(name)
    if options or calibrated is None:  # the judge alone knows
        holds = threshold_in(judge_of(folder).judge)
    else:
        wishes = (settings.judge.threshold, chosen, calibrated.threshold)
        holds = next(each for each in wishes if each is not None)
    if holds is None:
        return None
    said = calibrated.threshold if calibrated is not None else None
    return TopicThreshold(name, holds, said, chosen is not None)


def choose_threshold(folder: CrawlFolder, threshold: float | None) -> TopicThreshold:
    """Let another threshold hold for the topic; ``None`` for the learned one.

    Pages change sides when they are judged again
    (:func:`trailhound.topics.finds.rejudging.rejudge`), which reads only those between the two
    thresholds then. UsageError when the topic's judge has no threshold, or its crawl has one in its
    settings, which would hold all the same.
    """
    before = threshold_of(folder)
    name, settings = folder.topic.name, folder.read().settings
    if before is None:
        raise UsageError(
            f"The judge of '{name}' ({settings.judge.kind}) has no threshold to choose. "
            "Crawl with another: --judge fields"
        )
    if settings.judge.threshold is not None or "threshold=" in settings.judge.kind:
        raise UsageError(
            f"The crawl of '{name}' was given a threshold in its settings, which holds. Resume it "
            f"with another one: trailhound crawl {quote(name)} --resume --set judge.threshold=…"
        )
    if threshold is not None and not 0 <= threshold <= 1:
        raise UsageError(f"A threshold is a score from 0 to 1, not {threshold:g}.")
    folder.topic.choose_threshold(before.judge, threshold)
    after = threshold_of(folder)
    return before if after is None else after
