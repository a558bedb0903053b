"""Links that end a login or change something, told by what they say.

An address or words with ``log out``, ``abmelden``, ``unsubscribe``, ``delete``. A crawl that reads
a host as a person would take itself, or her account, out with them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import unquote_plus

from trailhound.records import Link
from trailhound.urls import host_key

COMMANDS_LEFT = "it looks like a link that logs out or changes something"
"""Why a link is not followed."""
_MAX_WORDS = 5  # of a link that says nothing else
_MAX_CHARS = 300
_BETWEEN_WORDS = re.compile(r"[\s._~!+\-–—:,;'’&()]+")
_LONG_WORD = 7
"""Characters; shorter ones are written in capitals for many reasons."""
_SEPARATORS = re.compile(r"[\s._~!+\-–—|•·›»→↪()\[\]]+")


def plain(text: str) -> str:
    """Without blanks, separators, case and accents."""
    bare = unicodedata.normalize("NFKD", text[:_MAX_CHARS].casefold())
    letters = "".join(each for each in bare if not unicodedata.combining(each))
    return _SEPARATORS.sub("", letters)


def plain_words(text: str) -> frozenset[str]:
    """Several of them, written with blanks between."""
    return frozenset(map(plain, text.split()))


_ENDS_LOGIN = plain_words(
    "logout logoff logmeout signout signoff dologout userlogout specialuserlogout endsession "
    "abmelden abmeldung ausloggen deconnexion sedeconnecter medeconnecter deconnecter "
    "cerrarsesion salir desconectar desconectarse sair encerrarsessao terminarsessao esci "
    "disconnetti disconnettiti uitloggen afmelden loggaut loggaout logud loggut "
    "kirjauduulos wyloguj wylogujsie odhlasit odhlasitse odhlaseni odhlasenie kijelentkezes "
    "deconectare delogare iesire odjava izlaz cikis cıkıs cıkısyap oturumukapat αποσυνδεση "
    "выйти выход вийти вихід излез ログアウト サインアウト 로그아웃 退出 退出登录 登出 注销 "
    "تسجيلالخروج خروج התנתק התנתקות लॉगआउट ออกจากระบบ đangxuat dangxuat keluar logkeluar"
)
_CHANGES = plain_words(
    "unsubscribe unsub optout abbestellen abmeldenewsletter desabonner sedesabonner desabonnement "
    "darsedebaja cancelarsuscripcion disiscriviti descadastrar delete deleteaccount del destroy "
    "remove removeall trash purge erase loschen entfernen supprimer effacer eliminar borrar "
    "elimina apagar excluir verwijderen slett radera usun smazat удалить revoke deactivate "
    "closeaccount markallread markread markallasread vote upvote downvote follow unfollow "
    "addtocart"
)
_EVER = _ENDS_LOGIN | _CHANGES


def commands_by_address(url: str) -> bool:
    """Whether a part of ``url`` says so."""
    start = url.index("/", 8)
    path, _, query = url[start : start + 4_000].partition("?")
    segments = (unquote_plus(each) for each in path.split("/") if each)
    if any(plain(_without_suffix(each)) in _EVER for each in segments):
        return True
    items = (item.partition("=") for item in query.split("&")[:50])
    return any(
        plain(_without_suffix(unquote_plus(part))) in _EVER
        for name, _, value in items
        for part in (name, value)
    )


def acts_by_address(url: str) -> bool:
    """Whether ``url`` may do something to a person who is not logged in: it names her, or a thing.

    A command among mere words, ``/account/delete`` or ``/wiki/Delete``, tells the server too
    little. Numbers, addresses and tokens tell it enough.
    """
    path, _, query = url[url.index("/", 8) :].partition("?")
    return commands_by_address(url) and (bool(query) or not all(map(_is_words, path.split("/"))))


def _is_words(segment: str) -> bool:
    """Whether a part of a path is a command, or words as people write them and no token."""
    text = unquote_plus(segment)
    words = filter(None, _BETWEEN_WORDS.split(text))
    return plain(_without_suffix(text)) in _EVER or not any(map(_is_token, words))


def _is_token(word: str) -> bool:
    """``1f0c``, ``ann@example`` and ``kJdhEoPqZx``; not ``WordPress``, ``API`` or ``Größe``."""
    if not word.isalpha():
        return True
    capitals = sum(map(str.isupper, word[1:]))
    return len(word) > _LONG_WORD and capitals > len(word) / 4


def _without_suffix(segment: str) -> str:
    """``logout.php`` is ``logout``, and ``Special:UserLogout`` its last part."""
    name = segment.rpartition(":")[2]
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and suffix.isalnum() and len(suffix) <= 5 else name


def commands_by_words(link: Link) -> bool:
    """Whether the words of a link, or of its picture, say so; the address may be silent."""
    return _is_command(link.anchor) or _is_command(link.image_alt)


@lru_cache(maxsize=4_096)
def _is_command(words: str) -> bool:
    """Whether a link says nothing but that it logs out, deletes, …; a name may follow."""
    if not words or len(words) > _MAX_CHARS:
        return False
    parts = words.split()
    if len(parts) > _MAX_WORDS:
        return False
    beginnings = (plain(" ".join(parts[:n])) for n in range(1, min(len(parts), 3) + 1))
    return any(each in _ENDS_LOGIN for each in beginnings) or plain(words) in _CHANGES


class LinksToLeave:
    """Links of named hosts that a crawl reading them as a person must not follow."""

    def __init__(self, hosts: Collection[str]) -> None:
        self._hosts = frozenset(hosts)

    def is_command(self, url: str) -> bool:
        """Whether ``url`` is one of them by its address alone."""
        return host_key(url) in self._hosts and commands_by_address(url)

    def left_out(self, links: Collection[Link]) -> frozenset[str]:
        """Addresses of those ``links`` that say so in their words; the address may be silent."""
        return frozenset(
            link.url
            for link in links
            if host_key(link.url) in self._hosts and commands_by_words(link)
        )
