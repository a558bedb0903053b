"""Checks of what a plug-in promises, for its own tests: plain functions, for any test runner.

    from trailhound.testing import check_sink

    def test_my_sink(tmp_path):
        check_sink(lambda folder: MySink.open("bees", folder), tmp_path)

Each raises :class:`BrokenPromiseError`, an ``AssertionError`` that says what was promised; when all
is well, nothing happens. Trailhound's own parts are held to the same checks (``tests/contract``).
``docs/plugins.md`` has the list.
"""

from trailhound.testing.frontiers import FrontierHistory, check_frontier
from trailhound.testing.guides import check_judge, check_strategy
from trailhound.testing.pages import check_corpus_kind, check_fetcher, check_importer, check_sink
from trailhound.testing.promises import BrokenPromiseError

__all__ = [
    "BrokenPromiseError",
    "FrontierHistory",
    "check_corpus_kind",
    "check_fetcher",
    "check_frontier",
    "check_importer",
    "check_judge",
    "check_sink",
    "check_strategy",
]
