"""One fetch on its way: the URLs that it has come along, what they answered, and how it ends.

It may end at a page that asks to log in: an address with ``login`` and the place to return to, or a
field for a password.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import unquote_plus

from trailhound.command_links import plain, plain_words
from trailhound.fetching.client import Answer
from trailhound.fetching.headers import robots_tags_of
from trailhound.media_types import document_kind
from trailhound.records import Exchange, FetchResult, Outcome
from trailhound.urls import host_key

_LOGIN = re.compile(
    r"(?:^|[^a-z])(?:(?:service|user|wp|web|sso|cas|my)?-?_?log-?_?in|log-?on|sign-?_?in|anmeld(?:en|ung)"
    r"|einloggen|connexion|identification|iniciar-?sesi[oó]n|acceder|accedi|entrar|inloggen"
    r"|logga-?in|logowanie|zaloguj|prihl[aá]sen[ií]|giris|sso|saml2?|oauth2?|openid|adfs|cas"
    r"|authorize|authenticate|authentication|auth|sessions?/new)(?:$|[^a-z])",
)
_MAX_ESCAPED = 3  # times: an address within an address within an address
_PASSWORD = re.compile(rb"type\s{0,5}=\s{0,5}[\"']?\s{0,5}password")


_RETURN = plain_words(
    "next return returnto returnurl returnuri redirect redirectto redirecturl redirecturi "
    "continue dest destination goto back backurl url target service camefrom samlrequest "
    "relaystate wtrealm wreply clientid from ref origin originalurl r u rurl forward"
)
_ASKED_BY_SERVER = plain_words("samlrequest wtrealm clientid")


def wants_login(target: str, asked: Sequence[str]) -> bool:
    """Whether a redirect to ``target`` asks to log in first; the chain has come along ``asked``.

    The target's address says so, and names a place to return to that the chain has come along, or
    is a request of one server to another (SAML, OAuth, CAS). All are canonical. What the address
    asked for has in its own query says nothing: it is carried along by any redirect.
    """
    path, query = _path_and_query(target)
    host = host_key(target).partition(".")[0]
    if not _LOGIN.search(path) and host not in ("login", "signin", "auth", "sso", "accounts"):
        return False
    if (path, query) == _path_and_query(asked[-1]):
        return False
    carried = _items(_path_and_query(asked[0])[1])
    came_along = frozenset(map(_place, asked))
    return any(_returns(item, came_along) for item in _items(query) if item not in carried)


def _path_and_query(url: str) -> tuple[str, str]:
    start = url.index("/", 8)
    path, _, query = url[start : start + 4_000].lower().partition("?")
    return path, query


def _items(query: str) -> list[str]:
    return query.split("&")[:50]


def _returns(item: str, came_along: Collection[str]) -> bool:
    """Whether ``name=value`` in a query is what a login page needs to send somebody back."""
    name, _, value = item.partition("=")
    name = plain(unquote_plus(name))
    if not value or name not in _RETURN:
        return False
    if name in _ASKED_BY_SERVER or (name == "service" and "://" in unquote_plus(value)):
        return True
    place = _place(value)
    return any(each == place or (place and each.endswith(f"/{place}")) for each in came_along)


def _place(address: str) -> str:
    """The path of an address, which may be escaped several times, as it can be compared."""
    for _ in range(_MAX_ESCAPED):
        address = unquote_plus(address)
    _, mark, rest = address.partition("?")[0].partition("://")
    path = rest.partition("/")[2] if mark else address
    return re.split("[?#]", path, maxsplit=1)[0].lower().replace("_", " ").strip("/ ")


def login_wanted_at(url: str, why: str) -> str:
    """What a person is told of a page that asks to log in."""
    host = host_key(url)
    return (
        f"{host} asks to log in: {why}. Log in with your browser, export its cookies, and go on "
        f"with --cookies FILE --for-host {host}"
    )


def has_password_field(body: bytes) -> bool:
    """Whether HTML has an ``<input type=password>`` outside of its scripts. Linear time."""
    text = body.lower()
    if b"password" not in text:
        return False
    at = 0
    while (begin := text.find(b"<script", at)) >= 0:
        if _field_in(text[at:begin]):
            return True
        end = text.find(b"</script", begin)
        if end < 0:
            return False
        at = end
    return _field_in(text[at:])


def _field_in(text: bytes) -> bool:
    for found in _PASSWORD.finditer(text):
        tag = text.rfind(b"<", max(0, found.start() - 1_000), found.start())
        is_input = tag >= 0 and text.startswith(b"<input", tag)
        if is_input and text.find(b">", tag, found.start()) < 0:
            return True
    return False


_MAX_DETAIL_CHARS = 500  # servers have a say in it: addresses and broken headers are quoted


class Hops:
    """URLs from the one asked for to the present one, with what was answered on the way.

    With ``keeps_parts``, the result of a body that could not be read to its end has what was read.
    """

    def __init__(self, url: str, product: str, *, keeps_parts: bool = False) -> None:
        self.urls = [url]
        self._keeps_parts = keeps_parts
        self.shown: dict[str, dict[str, str]] = {}
        """What each URL, when it was last asked for, was shown of the person."""
        self._repeated = 0
        self.remark = ""
        """Something worth saying about a fetched page."""
        self._product = product
        self._exchanges: list[Exchange] = []

    @property
    def last(self) -> str:
        """The present URL."""
        return self.urls[-1]

    def note(self, answer: Answer) -> None:
        """Keep what the archive wants of an answer, and count what it cost."""
        self._repeated += answer.was_repeated
        if answer.exchange is not None:
            self._exchanges.append(answer.exchange)

    def result(self, outcome: Outcome, answer: Answer, detail: str = "") -> FetchResult:
        """What came of the last hop; without a ``detail``, the answer's own."""
        fetched = outcome is Outcome.FETCHED
        fallback = self._remark_on(answer) if fetched else status_in_words(answer.status)
        headers = answer.exchange.headers if answer.exchange is not None else ()
        tags = robots_tags_of(headers, self._product)
        return FetchResult(
            url=self.urls[0],
            outcome=outcome,
            final_url=self.last,
            # What was postponed was not asked for, as a rule.
            requests=len(self.urls)
            + self._repeated
            - (outcome is Outcome.POSTPONED and not answer.was_sent),
            status=answer.status,
            content_type=answer.content_type,
            body=answer.body if fetched or (self._keeps_parts and answer.succeeded) else b"",
            detail=(detail or answer.detail or fallback)[:_MAX_DETAIL_CHARS],
            headers=headers,
            exchanges=tuple(self._exchanges),
            noindex=tags.noindex,
            nofollow=tags.nofollow,
            retry_after_seconds=answer.retry_after_seconds,
        )

    def _remark_on(self, answer: Answer) -> str:
        kind = document_kind(answer.body, answer.content_type)
        told = f"it was read as {kind.in_words}" if kind is not None else ""
        return "; ".join(filter(None, (self.remark, told)))

    def redirected_nowhere(self, answer: Answer) -> FetchResult:
        """The result of a redirect that names no place on the web."""
        if not answer.location:
            detail = f"{status_in_words(answer.status)}, without saying where to"
            return self.result(Outcome.SERVER_ERROR, answer, detail)
        detail = f"redirects to {answer.location!r}, which is no web address"
        return self.result(Outcome.OUT_OF_SCOPE, answer, detail)

    def login_wanted(self, answer: Answer, why: str) -> FetchResult:
        """The result of a page that only those may read who have logged in."""
        detail = login_wanted_at(self.last, why)
        return self.result(Outcome.LOGIN_WANTED, replace(answer, retry_after_seconds=None), detail)

    def unfollowed(self, answer: Answer, why: str) -> FetchResult:
        """The result of a redirect to the last URL, which is not asked for here and now."""
        detail = f"redirects to {self.last}; {why}"
        return self.result(Outcome.POSTPONED, answer, detail)


def status_in_words(status: int | None) -> str:
    """``HTTP 404 Not Found``."""
    try:
        return f"HTTP {status} {HTTPStatus(status or 0).phrase}"
    except ValueError:
        return f"HTTP {status}"
