"""Which requests in a log were for pages: guesses from what a log tells."""

from __future__ import annotations

NOT_A_LINE = "not a line of this format"
NOT_GET = "no GET"
NOT_SUCCESSFUL = "no successful answer"
NOT_HTML = "not HTML, or not by its name"
NO_HOST = "no host in the line (give --site)"
NOT_ON_THE_WEB = "not an address on the web"

_FILES = frozenset(
    b"""css js mjs map json xml rss atom txt csv tsv ico png jpg jpeg gif webp svg bmp tif tiff avif
    woff woff2 ttf otf eot mp3 mp4 m4a m4v webm ogg ogv oga wav flac avi mov wmv mkv swf flv pdf ps
    doc docx xls xlsx ppt pptx odt ods odp rtf epub zip gz tgz bz2 xz zst 7z rar tar jar war exe msi
    dmg iso deb rpm apk bin dll class wasm torrent md5 sha1 sha256 sig asc m3u8 ts mpd webmanifest
    crl crx cab dat""".split()
)
_LONGEST_ENDING = max(map(len, _FILES))


def why_no_page(method: bytes, status: bytes, url: bytes) -> str:
    """Why a request was not for a page, as far as its name tells; empty when it may have been."""
    if method != b"GET":
        return NOT_GET
    if status != b"200" and not is_success(status):
        return NOT_SUCCESSFUL
    # Most requests are for a file whose name ends the address: a shortcut worth a second in a
    # million lines.
    if url.rpartition(b".")[2] in _FILES and b"?" not in url:
        return NOT_HTML
    return "" if may_be_page(url) else NOT_HTML


def may_be_page(url: bytes) -> bool:
    """Whether the name in a URL is not that of another kind of file."""
    path = url.partition(b"?")[0]
    name, dot, ending = path[-_LONGEST_ENDING - 1 :].rpartition(b".")
    del name
    return not dot or ending.lower() not in _FILES


def is_success(status: bytes) -> bool:
    """A page was sent, or the browser had it already (304)."""
    return status[:1] == b"2" or status == b"304"
