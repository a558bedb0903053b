"""Documents that are no HTML: bytes to blocks of words and links, one file for each kind.

PDF and office documents are read only where the process may be lost: in a worker that can be
stopped, with limits of time and memory. The libraries for them are imported there and then.
"""

from __future__ import annotations

from trailhound.media_types import DocumentKind
from trailhound.text.documents.blocks import Document, UnreadableDocumentError

__all__ = ["Document", "UnreadableDocumentError", "read_document"]


def read_document(body: bytes, url: str, content_type: str, kind: DocumentKind) -> Document:
    """What a document of this kind says; UnreadableDocumentError says why when that is nothing."""
    if kind is DocumentKind.PDF:
        from trailhound.text.documents.pdf import read_pdf

        return read_pdf(body)
    if kind is DocumentKind.OFFICE:
        from trailhound.text.documents.office import read_office

        return read_office(body)
    if kind is DocumentKind.FEEDS:
        from trailhound.text.documents.feeds import read_feed

        return read_feed(body, content_type)
    from trailhound.text.documents.plain import read_text

    return read_text(body, url, content_type)
