"""What an export tells of a page: the result, and what archive, marks and paths say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from trailhound.storage.exporting import ExportedPage
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.text.main_content import TextForm, require_extractor
from trailhound.topics.archived_pages import ArchivedContent
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.explaining import shown_path
from trailhound.topics.heeding import mark_in_words
from trailhound.topics.main_texts import MainText, MainTexts, Source
from trailhound.topics.marking import fetched_page


class Export:
    """Some pages of a crawl, on their way out.

    ``choose`` gives them, and is asked twice. ``form`` says whether and how texts are wanted;
    UsageError when they are and the extractor is missing.
    """

    def __init__(
        self,
        folder: CrawlFolder,
        results: Results,
        choose: Callable[[], Iterable[StoredPage]],
        form: TextForm | None = None,
    ) -> None:
        if form is not None:
            require_extractor()
        self.sources: Mapping[Source, int] = {}
        """How many texts came from where."""
        self._results = results
        self._choose = choose
        self._form = form
        addresses = [page.address for page in choose()]
        self._archive = ArchivedContent(folder.archive, addresses)
        self.total = len(addresses)

    def __iter__(self) -> Iterator[ExportedPage]:
        with self._archive:
            for page, text in self._with_texts():
                yield ExportedPage(
                    page,
                    self._archive.content_type(page.address),
                    mark_in_words(page.marked),
                    shown_path(self._results, page),
                    text,
                )

    def _with_texts(self) -> Iterator[tuple[StoredPage, str | None]]:
        if self._form is None:
            yield from ((page, None) for page in self._choose())
            return
        with MainTexts(self._results, self._archive, self._form) as texts:
            self.sources = texts.counts
            for page, found in texts.iterate(self._choose()):
                yield page, found.text


def main_text_of(
    folder: CrawlFolder, results: Results, address: str
) -> tuple[StoredPage, MainText]:
    """A page that the crawl fetched, and its main text; UsageError names one that it did not."""
    require_extractor()
    page = fetched_page(results, address, folder.topic.name, "there is nothing to read")
    with (
        ArchivedContent(folder.archive, [page.address]) as archive,
        MainTexts(results, archive, processes=1) as texts,
    ):
        return page, texts.of(page)
