"""Which bytes a page is sent as, and what the server claims about them.

Most pages are UTF-8 and say so. Some foreign hosts use older encodings, and some are wrong about
their own.
"""

from __future__ import annotations

from trailhound.demo.pages import PageDraft
from trailhound.demo.sites.oddities import JAPANESE_HOST

_UTF8 = "text/html; charset=utf-8"

# Of every so many foreign pages one is sent in another encoding than it declares.
_WRONG_EVERY = 9


def encode(page: PageDraft, html: str, number: int) -> tuple[bytes, str]:
    """Body and ``Content-Type`` of a page; ``number`` is its position in the web."""
    if page.site.host == JAPANESE_HOST:
        return _encode_japanese(page, html)
    if page.language in ("en", ""):
        return html.encode("utf-8"), _UTF8
    if page.site.host.startswith("www.heimatverein"):
        declared = html.replace('charset="utf-8"', 'charset="windows-1252"')
        return declared.encode("windows-1252", "xmlcharrefreplace"), "text/html"
    if number % _WRONG_EVERY == 0:
        # Declared as UTF-8 by header and page.
        return html.encode("windows-1252", "xmlcharrefreplace"), _UTF8
    if number % _WRONG_EVERY == 1:
        # The page is right, the header is not.
        return html.encode("utf-8"), "text/html; charset=iso-8859-1"
    return html.encode("utf-8"), _UTF8


def _encode_japanese(page: PageDraft, html: str) -> tuple[bytes, str]:
    """Shift_JIS as declared, and a page in EUC-JP without any declaration."""
    if page.url.endswith("/news.html"):
        silent = html.replace('<meta charset="shift_jis">\n', "")
        return silent.encode("euc_jp", "xmlcharrefreplace"), "text/html"
    return html.encode("shift_jis", "xmlcharrefreplace"), "text/html"
