"""One canonical form for every URL, and the keys derived from it.

Two spellings of one resource must meet in the frontier, two resources must not. The form is what
the WHATWG URL rules give (ada-url: case, default port, dot segments, Unicode host to punycode),
and then, where those rules leave a choice open:

* the fragment goes: it never reaches the server; so does the ``?`` of an empty query, which hardly
  a server tells from none, and what sends our requests cannot;
* the dot goes that ends a host's full name: ``example.org.`` is ``example.org``, with its delays;
* user name and password go: they are not part of the resource and must not reach logs, archives
  or shared models (the host is what follows the ``@``, as in a browser);
* escapes are upper case, and unreserved characters (letters, digits, ``-._~``) are not escaped;
* characters that a URI may not hold are escaped, where browsers send them either way:
  ``?a[]=1`` is ``?a%5B%5D=1``, and a ``%`` that starts no escape is ``%25``.

Escapes of reserved characters stay (``%2F`` is not ``/``), and so do the order of parameters and
the case of the path: servers may tell these apart.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from urllib.parse import parse_qsl

import ada_url
from publicsuffixlist import PublicSuffixList

from trailhound.errors import UsageError

_LOGIN = re.compile(r"^(\s*(?:[A-Za-z][A-Za-z0-9+.-]*:[/\\]+)?)[^/\\?#]*@")
_SEVERAL = re.compile(r"\shttps?://", re.IGNORECASE)
_BARE_HOST = re.compile(r"(?=[^\s/:@?#]+?\.[^\s/:@?#])[^\s/:@?#]++(:[0-9]++)?([/?#]|$)")
MAX_LENGTH = 64_000
"""Characters of a URL, as given and in canonical form. Common servers take 8 to 32 thousand."""
MAX_ASKED_LENGTH = 4_000
"""Characters of a URL that is asked for. Each rule of a robots.txt is looked for in it."""
_LONGEST_HOST = 260  # characters: a name of 253, a port; DNS carries no more
_QUESTIONS = frozenset({"q", "query", "search", "text", "wd"})
"""Parameters of search engines, which do not want to be crawled."""
_WEB_SCHEMES = ("http://", "https://")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

# An escape, a lone percent sign, or a character that is not allowed in a URI (RFC 3986).
_ESCAPABLE = re.compile(r"%(?:[0-9A-Fa-f]{2})?|[\[\]\\^`{|}]")


@cache
def _normal_escape(found: str) -> str:
    """The canonical spelling of what ``_ESCAPABLE`` matches."""
    if len(found) == 1:
        return f"%{ord(found):02X}"
    character = chr(int(found[1:], 16))
    return character if character in _UNRESERVED else found.upper()


def canonicalize(url: str, base: str | None = None) -> str | None:
    """The canonical form of ``url``, resolved against ``base``; ``None`` unless http or https.

    Any string may be given; what cannot be parsed, or is longer than any server takes, is ``None``
    too. ``base`` is the address of the
    page (or its ``<base href>``, resolved) that holds a link.
    """
    if len(url) > MAX_LENGTH:
        return None
    try:
        # No base: a scheme-less URL is an error, as a link without a page has no meaning.
        href = ada_url.join_url(base, url) if base is not None else ada_url.normalize_url(url)
    except ValueError:  # unparsable, or a lone surrogate that UTF-8 cannot carry
        return None
    if not href.startswith(_WEB_SCHEMES):
        return None
    # In a serialised URL the first "#" starts the fragment: elsewhere it is escaped.
    href = href.partition("#")[0]
    path_start = href.index("/", 8)
    if "@" in href:
        scheme, _, authority = href[:path_start].partition("://")
        href = f"{scheme}://{authority.rpartition('@')[2]}{href[path_start:]}"
        path_start = href.index("/", 8)
    if href[path_start - 1] == "." or ".:" in href[:path_start]:
        href = _without_last_dot(href, path_start)
        path_start = href.index("/", 8)
    if path_start > len("https://") + _LONGEST_HOST:
        return None
    if href[-1] == "?" and href.index("?") == len(href) - 1:
        href = href[:-1]
    if _ESCAPABLE.search(href, path_start) is not None:
        # The host stays out of it: an IPv6 address keeps its brackets.
        href = href[:path_start] + _ESCAPABLE.sub(
            lambda match: _normal_escape(match[0]), href[path_start:]
        )
    return href if len(href) <= MAX_LENGTH else None


def _without_last_dot(href: str, path_start: int) -> str:
    scheme, _, authority = href[:path_start].partition("://")
    host, colon, port = authority.partition(":")
    # A dot alone, or several, are no host's name: they stay what they are.
    name = host[:-1] if host[:-1].strip(".") == host[:-1] != "" else host
    return f"{scheme}://{name}{colon}{port}{href[path_start:]}"


def host_key(url: str) -> str:
    """Host and, unless it is the scheme's default, port of a canonical URL: the queue's key."""
    start = 8 if url.startswith("https") else 7
    end = url.find("/", start)
    return url[start:] if end < 0 else url[start:end]


def without_port(host: str) -> str:
    """The host alone of what :func:`host_key` gives; an IPv6 address keeps its brackets."""
    return host[: host.index("]") + 1] if host.startswith("[") else host.partition(":")[0]


def origin_of(url: str) -> str:
    """Scheme, host and port of a canonical URL: ``https://example.org:8443``."""
    return url[: url.index("/", 8)]


def registered_domain(url: str) -> str:
    """The name somebody registered: ``bbc.co.uk`` for ``https://news.bbc.co.uk/x``.

    IP addresses, public suffixes themselves and names under no listed suffix give the host.
    """
    return _registered_domain(host_key(url))


@lru_cache(maxsize=8192)
def _registered_domain(key: str) -> str:
    host = without_port(key)
    if host.startswith("["):
        return host
    domain = _public_suffixes().privatesuffix(host.rstrip("."))
    return str(domain) if domain else host


@cache
def _public_suffixes() -> PublicSuffixList:
    # Loaded on first use (tens of milliseconds). Unknown suffixes are not guessed at.
    return PublicSuffixList(accept_unknown=False)


# Parameter names that never say what is wanted: campaigns and clicks, then visitors' sessions.
_TRACKING = r"""
    utm_[^&=]* | mtm_[^&=]* | matomo_[^&=]* | piwik_[^&=]*
    | pk_(?:campaign|kwd|keyword|source|medium|content|cid)
    | gclid | gclsrc | dclid | [gw]braid | fbclid | msclkid | ys?clid | twclid | ttclid | igshid
    | igsh | li_fat_id | mc_[ce]id | mkt_tok | _ga | _gl | _hsenc | _hsmi | hsctatracking
    | vero_(?:id|conv) | oly_(?:enc|anon)_id | rb_clickid | s_kwcid | ef_id | epik | srsltid
    | _openstat | wt[._]mc(?:_id)?
    | phpsess(?:ion)?id | jsessionid | aspsessionid[^&=]* | asp\.net_sessionid | cfid | cftoken
    | oscsid | zenid
"""
# These names mean a visitor's session only when the value looks like one: /talks?session_id=3
_SESSIONS = "s|sid|sess|sessid|session|sessionid|session_id"
_TRACKING_NAME = re.compile(_TRACKING, re.IGNORECASE | re.VERBOSE)
_SESSION_NAME = re.compile(_SESSIONS, re.IGNORECASE)
_MAY_TRACK = re.compile(
    rf"(?:^|&)(?:{_TRACKING}|{_SESSIONS})(?:[=&]|$)", re.IGNORECASE | re.VERBOSE
)
_SESSION_VALUE = re.compile(r"[0-9A-Fa-f-]{16,}")
_SESSION_IN_PATH = re.compile(r";(?:jsessionid|phpsessid)=[^/;]*", re.IGNORECASE)


def strip_tracking(url: str) -> str:
    """A canonical URL without tracking and session parameters; canonical, the others in order."""
    if "?" not in url and ";" not in url:
        return url
    if len(url) > 2 * MAX_ASKED_LENGTH:  # nobody asks for it, and a page may hold many of them
        return url
    path, _, query = url.partition("?")
    if query and _MAY_TRACK.search(query):
        query = "&".join(item for item in query.split("&") if not _is_tracking(item))
    stripped_path = path
    if ";" in path:
        begin = path.find("/", path.find("://") + 3)
        stripped_path = path[:begin] + _SESSION_IN_PATH.sub("", path[begin:])
    stripped = f"{stripped_path}?{query}" if query else stripped_path
    if stripped_path != path:
        # "/a/..;jsessionid=1" leaves a dot segment behind.
        return canonicalize(stripped) or stripped
    return stripped


def _is_tracking(item: str) -> bool:
    """Whether one ``name=value`` of a query says who came from where, not what is wanted."""
    name, _, value = item.partition("=")
    if _TRACKING_NAME.fullmatch(name):
        return True
    return bool(_SESSION_NAME.fullmatch(name) and _SESSION_VALUE.fullmatch(value))


def asks_a_search(url: str) -> bool:
    """Whether it looks like a question to a search engine."""
    names = (name.lower() for name, _ in parse_qsl(url.partition("?")[2]))
    return not _QUESTIONS.isdisjoint(names)


def without_login(text: str) -> str:
    """What a person typed for an address or a part of one, without a name and a password in it."""
    return _LOGIN.sub(r"\1", text)


def typed_url(text: str) -> str:
    """The canonical URL of what a person typed; ``example.org`` means ``https://example.org/``."""
    address = text.strip()
    if _SEVERAL.search(address):
        raise UsageError(f"'{text}' holds several web addresses. Give each of them by itself.")
    if "://" not in address and _BARE_HOST.match(address):
        address = f"https://{address}"
    url = canonicalize(address)
    if url is None:
        raise UsageError(f"'{text}' is no web address. Write it as https://example.org/.")
    return url


def crawled_urls(text: str) -> list[str]:
    """What a person typed, as a crawl may have asked for it, the likeliest first.

    Without a scheme it may be http, too, and tracking parameters are taken off.
    """
    url = typed_url(text)
    in_clear = None if "://" in text else canonicalize(url.replace("https:", "http:", 1))
    meant = [url] if in_clear is None else [url, in_clear]
    return list(dict.fromkeys(each for one in meant for each in (one, strip_tracking(one))))
