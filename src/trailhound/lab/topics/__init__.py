"""Topics in the lab: what was browsed, what should be found, and where crawls start.

:func:`topic_source` looks at what a corpus holds and returns the source of its topics. Each source
makes a session and a set of pages in its own way (recorded sessions, trails, groups, a topics
file); :mod:`~trailhound.lab.topics.assembly` turns both into a topic by rules that are the same for
all. See ``docs/lab-topics.md``.
"""

from trailhound.lab.topics.base import LabTopic, TopicSource
from trailhound.lab.topics.choose import topic_source

__all__ = ["LabTopic", "TopicSource", "topic_source"]
