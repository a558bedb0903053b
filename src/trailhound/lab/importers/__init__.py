"""Importers: from data sets, web archives and generated webs to replay corpora."""

from trailhound.lab.importers.base import CorpusKind, Progress
from trailhound.lab.importers.registry import CORPUS_KINDS, import_corpus

__all__ = ["CORPUS_KINDS", "CorpusKind", "Progress", "import_corpus"]
