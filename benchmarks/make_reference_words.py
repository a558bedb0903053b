"""Makes ``trailhound.strategies.context_graph.reference_words``: how frequent everyday words are.

``python -m benchmarks.make_reference_words`` counts, over the English pages of a generated demo
web, in how many pages each stemmed term occurs, and writes the commonest ones down. The text is the
project's own. A term that is not in the table is rare, and counts as seen once.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from pathlib import Path

import trailhound
from trailhound.demo import DemoWeb
from trailhound.text.extract import extract_page

SEED = 2000
N_TERMS = 1500
TARGET = Path(trailhound.__file__).parent / "models" / "context_graphs" / "reference_words.py"

TEMPLATE = '''\
"""Document frequencies of everyday words, made by ``benchmarks/make_reference_words.py``."""

from __future__ import annotations

from trailhound.strategies.context_graph.layer_classifier import ReferenceCorpus

N_DOCUMENTS = {n_documents}
"""English pages of a generated demo web: the project's own text."""

_TERMS = """
{terms}
"""
"""Stemmed terms with the number of documents that they occur in, most frequent first."""


def shipped_reference() -> ReferenceCorpus:
    """The table as a reference corpus."""
    pairs = (entry.rpartition(":") for entry in _TERMS.split())
    return ReferenceCorpus(N_DOCUMENTS, {{term: int(count) for term, _, count in pairs}})
'''


def main() -> None:
    """Count, and write the module."""
    web = DemoWeb.generate(SEED)
    frequency: Counter[str] = Counter()
    n_documents = 0
    for url, response in web.responses.items():
        content_type = response.headers.get("Content-Type", "")
        if response.status != 200 or "html" not in content_type:
            continue
        page = extract_page(response.body, url, content_type)
        if page.language == "en":
            frequency.update(page.terms.keys())
            n_documents += 1
    commonest = sorted(frequency.items(), key=lambda item: (-item[1], item[0]))[:N_TERMS]
    terms = textwrap.fill(
        " ".join(f"{term}:{count}" for term, count in commonest),
        width=100,
        break_long_words=False,
        break_on_hyphens=False,
    )
    text = TEMPLATE.format(n_documents=n_documents, terms=terms)
    TARGET.write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(commonest)} terms of {n_documents} documents: {TARGET}")


if __name__ == "__main__":
    main()
