"""Which proxy a request goes through, if any.

``http://proxy:3128`` is for everything, ``https=URL`` and ``http=URL`` for a scheme,
``host:example.org=URL`` and ``host:*.example.org=URL`` for hosts; the most precise one counts.
``direct`` instead of a URL means none, and ``env`` what HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and
NO_PROXY say: they are read at no other time. User name and password of a proxy are secrets: no
message and no ``repr`` shows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Not in the type stubs; getproxies() would ask the registry or the system's settings as well.
from urllib.request import (  # type: ignore[attr-defined]
    getproxies_environment,
    proxy_bypass_environment,
)

from trailhound.config.settings import FetchSettings
from trailhound.errors import ConfigError
from trailhound.fetching.keyring import ProxyLogin, read_access
from trailhound.urls import canonicalize, host_key, without_port

DIRECT = "direct"
ENVIRONMENT = "env"
_USUAL_PORTS = {"http": 80, "https": 443, "socks5": 1080}
_ALL = ""


@dataclass(frozen=True)
class Proxy:
    """One proxy."""

    scheme: str
    """``http``, ``https`` or ``socks5``."""
    host: str
    port: int
    login: ProxyLogin | None = None

    @property
    def address(self) -> str:
        """Its URL without the login: fit to be shown and kept."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def is_socks(self) -> bool:
        """Whether it connects to addresses, and knows nothing of HTTP."""
        return self.scheme == "socks5"


class ProxyRules:
    """Chooses the proxy of each request."""

    def __init__(self, rules: Mapping[str, Proxy | None], *, asks_environment: bool) -> None:
        self._rules = rules
        """By ``host:NAME``, ``host:.SUFFIX``, scheme, or nothing for all."""
        self._asks_environment = asks_environment
        self._of_environment = _from_environment() if asks_environment else {}

    def proxy_for(self, url: str) -> Proxy | None:
        """Through which ``url`` (canonical) is asked for; ``None``: through none."""
        host = without_port(host_key(url)).rstrip(".")
        scheme = url.partition(":")[0]
        labels = host.split(".")
        below = (f"host:.{'.'.join(labels[n:])}" for n in range(1, len(labels)))
        for key in (f"host:{host}", *below, scheme, _ALL):
            if key in self._rules:
                return self._rules[key]
        if not self._asks_environment or proxy_bypass_environment(host):
            return None
        return self._of_environment.get(scheme) or self._of_environment.get("all")


def proxy_rules(settings: FetchSettings) -> ProxyRules | None:
    """As ``[fetch]`` says, with the logins that are kept; ``None`` without any proxy."""
    if not settings.proxies:
        return None
    path = settings.access_file
    logins = read_access(Path(path)).proxies if path else {}
    rules: dict[str, Proxy | None] = {}
    for entry in settings.proxies:
        key, text = _split(entry)
        if text == ENVIRONMENT:
            continue
        proxy = None if text == DIRECT else read_proxy(text)
        if proxy is not None and proxy.login is None:
            login = logins.get(proxy.address)
            proxy = Proxy(proxy.scheme, proxy.host, proxy.port, login)
        rules[key] = proxy
    return ProxyRules(rules, asks_environment=ENVIRONMENT in settings.proxies)


def without_logins(entries: Iterable[str]) -> tuple[tuple[str, ...], dict[str, ProxyLogin]]:
    """The same proxies without user names and passwords; these, by the proxy's address."""
    shown, logins = [], {}
    for entry in entries:
        key, text = _split(entry)
        proxy = None if text in (DIRECT, ENVIRONMENT) else read_proxy(text)
        if proxy is not None and proxy.login is not None:
            logins[proxy.address] = proxy.login
        address = text if proxy is None else proxy.address
        shown.append(f"{entry[: len(entry) - len(text)]}{address}" if key else address)
    return tuple(shown), logins


def read_proxy(text: str) -> Proxy:
    """The proxy at an address; ConfigError, without the login, for what is none."""
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
        login = None
        if parts.username is not None:
            login = ProxyLogin(unquote(parts.username), unquote(parts.password or ""))
    except ValueError:
        scheme, host, port, login = "", "", None, None
    if scheme == "socks5h":
        raise ConfigError(
            f"The proxy at {host} is to look up names by itself. Say so for all proxies, if you "
            "can do without the guard against private names: --set fetch.proxy_resolves=true, and "
            "socks5:// in its address."
        )
    is_vague = "://" not in text and port is None  # a word may be meant for something else
    if scheme not in _USUAL_PORTS or not host or parts.path.strip("/") or parts.query or is_vague:
        raise ConfigError(
            f"'{_masked(text)}' is no address of a proxy. Write http://, https:// or socks5://, "
            "its host and its port, for example http://proxy.example:3128."
        )
    return Proxy(scheme, host, port or _USUAL_PORTS[scheme], login)


def _split(entry: str) -> tuple[str, str]:
    """What a rule is for, as it is looked up, and the proxy's address."""
    before, equals, after = entry.strip().partition("=")
    if not equals or "/" in before:  # an equals sign may be part of a password
        return _ALL, entry.strip()
    kind, colon, name = before.strip().lower().partition(":")
    if not colon and kind in ("http", "https"):
        return kind, after.strip()
    host = canonicalize(f"http://{name.removeprefix('*.')}/") if kind == "host" else None
    if host is None:
        raise ConfigError(
            f"'{_masked(before)}' does not say what a proxy is for. Write http=URL, https=URL, "
            "host:example.org=URL or host:*.example.org=URL."
        )
    dot = "." if name.startswith("*.") else ""
    return f"host:{dot}{without_port(host_key(host))}", after.strip()


def _masked(text: str) -> str:
    """Without anything that may be a user name or a password."""
    scheme, mark, rest = text.partition("://")
    return f"{scheme}{mark}…@{rest.rpartition('@')[2]}" if "@" in rest else text.rpartition("@")[2]


def _from_environment() -> dict[str, Proxy]:
    found = getproxies_environment()
    return {kind: read_proxy(found[kind]) for kind in ("http", "https", "all") if found.get(kind)}
