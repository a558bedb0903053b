"""Pages whose links have no end, no meaning, or no right to be followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchmarks.chaos.behaviours import Asked, answers, page
from benchmarks.chaos.inside import INSIDE
from benchmarks.chaos.kind import Kind

_FILLER = b"<p>Nothing to see here, but the way leads on and on, and never to an end."


def _anchors(targets: Iterable[str | bytes]) -> bytes:
    written = (each.encode() if isinstance(each, str) else each for each in targets)
    return b"".join(b'<p><a href="%s">on</a>' % each for each in written)


def _links(name: str, *targets: str | bytes) -> Kind:
    return Kind(name, page(b"<title>Links</title>" + _anchors(targets)))


def _grows(name: str, links: Callable[[Asked], Iterable[str]], *, heavy: bool = False) -> Kind:
    """Every address has a page, with links that depend on it."""

    def body(asked: Asked) -> bytes:
        return b"<title>%s</title>" % asked.path[:200].encode() + _FILLER + _anchors(links(asked))

    return Kind(name, answers(body), heavy=heavy)


def _calendar(asked: Asked) -> Iterable[str]:
    last = asked.path.rpartition("/")[2]
    month = int(last) if last.isdecimal() else 2026 * 12
    return [f"/calendar/{at // 12}-{at % 12 + 1:02}/{at}" for at in (month - 1, month + 1)]


def _inside(asked: Asked) -> Iterable[str]:
    return [url.replace("PORT", str(asked.inside_port)) for url in INSIDE]


ENDLESS = [
    _grows("calendar", _calendar),
    _grows("session-ids", lambda it: [f"/p?sid={it.number * 7919:032x}&n={n}" for n in range(9)]),
    _grows("session-paths", lambda it: [f"/(S({it.number * 7919:024x}))/p{n}" for n in range(9)]),
    _grows("filters", lambda it: [f"/f?{a}=1&{b}=2" for a in "abcdefg" for b in "tuvwxyz"]),
    _grows("growing-path", lambda it: [f"{it.path.rstrip('/')}/more", "./more/", "../up/"]),
    _grows("growing-query", lambda it: [f"{it.path}{'&' if '?' in it.path else '?'}q=1"]),
    _grows("soft-404", lambda it: [f"/gone-{it.number * 31 + n}" for n in range(20)]),
    _grows("random-words", lambda it: [f"/{it.number * 7919 + n:x}" for n in range(20)]),
    _grows("next-page", lambda it: [f"/page/{it.number}"]),
    _grows("links-20000", lambda it: (f"/{it.number}/{n}" for n in range(20_000))),
    _grows("links-200000", lambda it: (f"/{it.number}/{n}" for n in range(200_000)), heavy=True),
    _grows(
        "hosts-2000", lambda it: (f"http://h{n}.nowhere.test/" for n in range(2_000)), heavy=True
    ),
    _grows("hosts-100", lambda it: (f"http://h{n}.nowhere.test/" for n in range(100))),
    _grows("healthy-junk", lambda it: (f"http://h{n}.healthy.test/no/{n}" for n in range(40))),
]
DISGUISED = [
    _grows("same-anchors", lambda it: ["/same"] * 5_000),
    _grows("near-duplicates", lambda it: [f"/copy-{it.number}-{n}" for n in range(10)]),
    _links("links-data", "data:text/html,<a href=/x>", "data:" + "x" * 100_000),
    _links("links-script", "javascript:void(0)", "JaVaScRiPt:x", "vbscript:x", "mailto:a@b"),
    _links("links-schemes", "file:///etc/passwd", "ftp://a.test/", "ws://a.test/", "x:y", "://"),
    _links("links-homographs", "http://аррӏе.test/", "http://pаypal.test/", "http://ﬁ.test/"),
    _links("links-100-kilobytes", "/" + "x" * 100_000, "/?" + "y" * 100_000, "#" + "z" * 100_000),
    _links("links-users", "http://a:b@links-users.hostile.test/u", "http://@@x.nowhere.test/"),
    _links("links-ports", *(f"http://links-ports.hostile.test:{n}/" for n in (0, 1, 65535, 65536))),
    _links(
        "links-ipv6", "http://[::1]/", "http://[::g]/", "http://[fe80::1%25eth0]/", "http://[v1.x]/"
    ),
    _links("links-percent", "/%", "/%zz", "/%00", "/%ff%fe", "/%25%25", "/%2e%2e/%2f", "/%u1234"),
    _links("links-dots", "/../../../x", "/a/./b/../../c", "/....//x", "//..//", "..", "/.%2e/"),
    _links("links-backslashes", "\\\\x.nowhere.test\\y", "/\\x", "http:\\\\x.nowhere.test/", "\\"),
    _links("links-white-space", "/a b", "/a\tb", "/a\nb", " \n/c ", "ht\ntp://x.nowhere.test/"),
    _links("links-not-utf-8", b"/\xff\xfe", b"/\xed\xa0\x80", b"/\xc3", "/ä", "/😀", "/\u202e"),
    _links("links-dotless", "http://localhost/", "http://intranet/", "http://com/", "http://1/"),
    _links("links-odd-hosts", "http://a..b/", "http://-/", "http://x_y.nowhere.test/", "http:///"),
    _links("links-long-hosts", "http://" + "a" * 64 + ".test/", "http://" + "a." * 200 + "test/"),
]
FORBIDDEN = [
    Kind("links-inside", answers(lambda asked: _anchors(_inside(asked)))),
    _links(
        "links-excluded",
        "http://excluded.test/",
        "http://excluded.test:8080/",
        "http://excluded.test./",
        "http://www.excluded.test:81/",
        "http://WWW.Excluded.TEST/",
        "//excluded.test/",
        "http://u@excluded.test/",
    ),
]
BASES = [
    Kind("base-script", page(b"<base href='javascript:x'><a href=/x>x</a>")),
    Kind(
        "base-inside", page(b"<base href='http://127.0.0.1/'><a href=x>x</a><a href=//[::1]/>y</a>")
    ),
    Kind("base-elsewhere", page(b"<base href='//x.nowhere.test/a/b'><a href=../c>x</a>")),
    Kind("base-1000", page(b"<base href=/a/><base href='http://['>" * 1_000 + b"<a href=x>x</a>")),
    Kind("base-broken", page(b"<base href='http://[::'><a href=x>x</a><base>")),
    Kind("canonical-elsewhere", page(b"<link rel=canonical href=/other><p>The same words.")),
    Kind("canonical-off-site", page(b"<link rel=canonical href='http://h0.healthy.test/'>")),
    Kind("canonical-circle", page(b"<link rel='canonical next prev' href=/><link rel=alternate>")),
    Kind(
        "links-in-odd-places", page(b"<area href=/a><link href=/b><q cite=/c><a ping=/d href=/e>")
    ),
]
LINKS = [*ENDLESS, *DISGUISED, *FORBIDDEN, *BASES]
