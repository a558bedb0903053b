"""Replay corpora: a recorded web in one file.

:class:`CorpusWriter` makes one, :class:`Corpus` reads it; :mod:`trailhound.lab.corpora.file_format`
describes the file.
"""

from trailhound.lab.corpora.contents import BACK, Access, CorpusInfo, Trail, TrailVisit
from trailhound.lab.corpora.link_graph import LinkGraph
from trailhound.lab.corpora.reader import Corpus
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
