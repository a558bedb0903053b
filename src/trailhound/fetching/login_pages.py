"""Pages that ask to log in, and links that end a login or change something.

Both are told by what they say: an address with ``login`` and the place to return to, a field for a
password; an address or words with ``log out``, ``abmelden``, ``unsubscribe``, ``delete``. A crawl
that reads a host as a person would take itself, or her account, out with them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from urllib.parse import unquote_plus

from trailhound.records import Link
from trailhound.urls import host_key

_LOGIN = re.compile(
    r"(?:^|[^a-z])(?:(?:service|user|wp|web|sso|cas|my)?-?_?log-?_?in|log-?on|sign-?_?in|anmeld(?:en|ung)"
    r"|einloggen|connexion|identification|iniciar-?sesi[oó]n|acceder|accedi|entrar|inloggen"
    r"|logga-?in|logowanie|zaloguj|prihl[aá]sen[ií]|giris|sso|saml2?|oauth2?|openid|adfs|cas"
    r"|authorize|authenticate|authentication|auth|sessions?/new)(?:$|[^a-z])",
)
COMMANDS_LEFT = "it looks like a link that logs out or changes something"
"""Why a link is not followed."""
_MAX_WORDS = 5  # of a link that says nothing else
_MAX_CHARS = 300
_MAX_ESCAPED = 3  # times: an address within an address within an address
_PASSWORD = re.compile(rb"type\s{0,5}=\s{0,5}[\"']?\s{0,5}password")
_SEPARATORS = re.compile(r"[\s._~!+\-–—|•·›»→↪()\[\]]+")


def _plain(text: str) -> str:
    """Without blanks, separators, case and accents."""
    bare = unicodedata.normalize("NFKD", text[:_MAX_CHARS].casefold())
    letters = "".join(each for each in bare if not unicodedata.combining(each))
    return _SEPARATORS.sub("", letters)


def _words(text: str) -> frozenset[str]:
    return frozenset(map(_plain, text.split()))


_RETURN = _words(
    "next return returnto returnurl returnuri redirect redirectto redirecturl redirecturi "
    "continue dest destination goto back backurl url target service camefrom samlrequest "
    "relaystate wtrealm wreply clientid from ref origin originalurl r u rurl forward"
)
_ASKED_BY_SERVER = _words("samlrequest wtrealm clientid")
_ENDS_LOGIN = _words(
    "logout logoff logmeout signout signoff dologout userlogout specialuserlogout endsession "
    "abmelden abmeldung ausloggen deconnexion sedeconnecter medeconnecter deconnecter "
    "cerrarsesion salir desconectar desconectarse sair encerrarsessao terminarsessao esci "
    "disconnetti disconnettiti uitloggen afmelden loggaut loggaout logud loggut "
    "kirjauduulos wyloguj wylogujsie odhlasit odhlasitse odhlaseni odhlasenie kijelentkezes "
    "deconectare delogare iesire odjava izlaz cikis cıkıs cıkısyap oturumukapat αποσυνδεση "
    "выйти выход вийти вихід излез ログアウト サインアウト 로그아웃 退出 退出登录 登出 注销 "
    "تسجيلالخروج خروج התנתק התנתקות लॉगआउट ออกจากระบบ đangxuat dangxuat keluar logkeluar"
)
_CHANGES = _words(
    "unsubscribe unsub optout abbestellen abmeldenewsletter desabonner sedesabonner desabonnement "
    "darsedebaja cancelarsuscripcion disiscriviti descadastrar delete deleteaccount del destroy "
    "remove removeall trash purge erase loschen entfernen supprimer effacer eliminar borrar "
    "elimina apagar excluir verwijderen slett radera usun smazat удалить revoke deactivate "
    "closeaccount markallread markread markallasread vote upvote downvote follow unfollow "
    "addtocart"
)
_EVER = _ENDS_LOGIN | _CHANGES


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
    name = _plain(unquote_plus(name))
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


class LinksToLeave:
    """Links of named hosts that a crawl reading them as a person must not follow."""

    def __init__(self, hosts: Collection[str]) -> None:
        self._hosts = frozenset(hosts)

    def is_command(self, url: str) -> bool:
        """Whether ``url`` is one of them by its address alone."""
        return host_key(url) in self._hosts and _says_so(url)

    def left_out(self, links: Collection[Link]) -> frozenset[str]:
        """Addresses of those ``links`` that say so in their words; the address may be silent."""
        return frozenset(
            link.url
            for link in links
            if host_key(link.url) in self._hosts
            and (_is_command(link.anchor) or _is_command(link.image_alt))
        )


def _says_so(url: str) -> bool:
    start = url.index("/", 8)
    path, _, query = url[start : start + 4_000].partition("?")
    segments = (unquote_plus(each) for each in path.split("/") if each)
    if any(_plain(_without_suffix(each)) in _EVER for each in segments):
        return True
    items = (item.partition("=") for item in query.split("&")[:50])
    return any(
        _plain(_without_suffix(unquote_plus(part))) in _EVER
        for name, _, value in items
        for part in (name, value)
    )


def _without_suffix(segment: str) -> str:
    """``logout.php`` is ``logout``, and ``Special:UserLogout`` its last part."""
    name = segment.rpartition(":")[2]
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and suffix.isalnum() and len(suffix) <= 5 else name


def _is_command(words: str) -> bool:
    """Whether a link says nothing but that it logs out, deletes, …; a name may follow."""
    if not words or len(words) > _MAX_CHARS:
        return False
    parts = words.split()
    if len(parts) > _MAX_WORDS:
        return False
    beginnings = (_plain(" ".join(parts[:n])) for n in range(1, min(len(parts), 3) + 1))
    return any(each in _ENDS_LOGIN for each in beginnings) or _plain(words) in _CHANGES
