from .comparison import LabResults as LabResults
from .comparison import compare as compare
from .corpora import Corpus as Corpus
from .importers import CorpusKind as CorpusKind
from .importers import import_corpus as import_corpus

__all__ = ["Corpus", "CorpusKind", "LabResults", "compare", "import_corpus"]
