"""Redirects that lead in circles, nowhere, or where nobody may go."""

from __future__ import annotations

from benchmarks.chaos.behaviours import (
    BLOCK,
    Asked,
    answers,
    hangs,
    page,
    pours,
    redirects,
    redirects_once,
    redirects_to,
    says,
    status,
)
from benchmarks.chaos.inside import INSIDE
from benchmarks.chaos.kind import Kind

_TO_THERE = b"HTTP/1.1 302 Found\r\nLocation: /there\r\n"


def _steps(asked: Asked) -> str:
    """One step further down a chain."""
    return f"/{int(asked.path.strip('/') or 0) + 1}"


def _other_host(asked: Asked) -> str:
    """From ``ping-…`` to ``pong-…`` and back, with a new path each time."""
    back = asked.host.startswith("redirect-pong")
    name = "redirect-ping" if back else "redirect-pong"
    _, _, rest = asked.host.partition(".")
    return f"http://{name}.{rest}{asked.path}x"


def inside_of(asked: Asked) -> str:
    """``/7`` leads to the seventh way of writing an inside address."""
    number = int(asked.path.strip("/") or 0) % len(INSIDE)
    return INSIDE[number].replace("PORT", str(asked.inside_port))


def _refresh(target: bytes) -> bytes:
    return b"<title>Wait</title><meta http-equiv=refresh content='0; url=%s'>" % target


CIRCLES = [
    Kind("endless-redirects", redirects(lambda it: f"{it.path}x"), "too-many-redirects", "10"),
    Kind("redirect-circle", redirects_to("/"), "too-many-redirects", "circle"),
    Kind(
        "redirect-growing",
        redirects(lambda it: f"/{len(it.path)}" + "x" * 20_000 + it.path[:9000]),
        "out-of-scope",
        "characters",
    ),
    Kind(
        "redirect-body-endless",
        redirects_once(pours(b"", BLOCK), _TO_THERE + b"\r\n"),
        "fetched",
    ),
    Kind(
        "redirect-body-hangs",
        redirects_once(hangs(), _TO_THERE + b"Content-Length: 9\r\n\r\n"),
        "fetched",
        slow=True,
    ),
    Kind("redirect-chain", redirects(_steps)),
    Kind("redirect-ping", redirects(_other_host)),
    Kind("redirect-pong", redirects(_other_host)),
    Kind("refresh-circle", page(_refresh(b"/"))),
    Kind("refresh-chain", answers(lambda asked: _refresh(b"/%d" % asked.number))),
    Kind("refresh-elsewhere", page(_refresh(b"http://169.254.169.254/"))),
    Kind("refresh-header", status(200, b"Refresh: 0; url=/\r\nContent-Type: text/html\r\n")),
]
FORBIDDEN = [
    Kind("redirect-inside", redirects(inside_of)),
    Kind("redirect-metadata", redirects_to("http://169.254.169.254/latest/meta-data/")),
    Kind("redirect-excluded", redirects_to("http://www.excluded.test/")),
    Kind("redirect-excluded-port", redirects_to("http://excluded.test.:8080/")),
    Kind("redirect-file", redirects_to("file:///etc/passwd")),
    Kind("redirect-script", redirects_to("javascript:alert(1)")),
    Kind("redirect-data", redirects_to("data:text/html,<a href=/x>x</a>")),
    Kind("redirect-gopher", redirects_to("gopher://127.0.0.1:70/_x")),
    Kind("redirect-closed-port", redirects_to("http://door-closed.hostile.test:1/")),
]
NONSENSE = [
    Kind("redirect-nowhere", redirects_to("")),
    Kind("redirect-silent", status(302)),
    Kind("redirect-garbage", redirects_to("http://[::/%zz\\..//\t?#")),
    Kind("redirect-brackets", redirects_to("http://[")),
    Kind("redirect-no-port", redirects_to("http://a.hostile.test:99999/")),
    Kind("redirect-long", redirects_to("/" + "a/" * 15_000)),
    Kind("redirect-not-utf-8", redirects_to("/\udce4\udcff")),
    Kind("redirect-other-script", redirects_to("http://еxаmple.test/ä?ö#ü")),
    Kind("redirect-user", redirects_to("http://user:secret@redirect-user.hostile.test/in")),
    Kind("redirect-to-tls", redirects(lambda it: f"https://{it.host}/"), slow=True),
    Kind("redirect-twice", says(_TO_THERE + b"Location: /here\r\nContent-Length: 0\r\n\r\n")),
    Kind("redirect-choices", redirects_to("/", code=300)),
    Kind("redirect-proxy", redirects_to("http://127.0.0.1:3128/", code=305)),
    Kind("redirect-not-modified", redirects_to("/", code=304)),
    Kind("redirect-forever", redirects(lambda it: f"/{it.number}", code=308)),
]
REDIRECTS = [*CIRCLES, *FORBIDDEN, *NONSENSE]
