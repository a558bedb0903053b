"""Replay corpora: a recorded web in one file.

:class:`CorpusWriter` makes one, :class:`Corpus` reads it; :mod:`trailhound.lab.corpora.schema`
describes the file.
"""

from trailhound.lab.corpora.information import CorpusInfo
from trailhound.lab.corpora.link_graph import LinkGraph
from trailhound.lab.corpora.reader import Corpus
from trailhound.lab.corpora.trails import BACK, Access, Trail, TrailVisit
from trailhound.lab.corpora.writer import CorpusWriter

__all__ = [
    "BACK",
    "Access",
    "Corpus",
    "CorpusInfo",
    "CorpusWriter",
    "LinkGraph",
    "Trail",
    "TrailVisit",
]
