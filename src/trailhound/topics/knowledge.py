"""What a crawl knows of its topic beforehand: what was learned, or nothing at all."""

from __future__ import annotations

from trailhound.config.settings import Settings
from trailhound.crawling.build import Knowledge
from trailhound.errors import SessionError
from trailhound.judges.choosing import make_judge
from trailhound.strategies.base import Briefing
from trailhound.topics.learned import LearnedTopic
from trailhound.topics.model_folder import fingerprint_of, saved_fingerprint
from trailhound.topics.workspace import TopicFolder


def knowledge_of(topic: TopicFolder) -> Knowledge:
    """What was learned, if anything; ModelError when that cannot be read."""
    if not topic.is_learned():
        return Knowledge()
    return knowledge_from(topic.load(), saved_fingerprint(topic.model_path))


def knowledge_from(learned: LearnedTopic, fingerprint: str | None = None) -> Knowledge:
    """The same of a topic in memory; its fingerprint is computed unless it is known."""
    return Knowledge(
        learned.model.graph,
        learned.model,
        {name: each.threshold for name, each in learned.judges.items()},
        fingerprint or fingerprint_of(learned),
    )


def needs_no_session(settings: Settings) -> bool:
    """Whether the judge knows relevant pages without having been shown any."""
    judge = settings.judge
    try:
        make_judge(judge.kind, Briefing(Knowledge().graph), threshold=judge.threshold)
    except SessionError:
        return False
    return True
