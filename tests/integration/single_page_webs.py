"""A web of single-page applications beside static pages, with libraries that many sites use.

Each application answers every address with the same shell, and makes the page in the browser. Some
pages can be reached in one way only: through a shadow root, a frame, a click, 'show more', or the
history API. The libraries come from the npm registry once, and are kept beside the environment.
"""

# ruff: noqa: E501 - scripts are as they are
from __future__ import annotations

import hashlib
import io
import json
import os
import ssl
import tarfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple

from loopback import served


class Library(NamedTuple):
    """A file of a package in the npm registry."""

    package: str
    version: str
    file: str
    sha256: str
    """Of the package."""

    @property
    def address(self) -> str:
        name = self.package
        return f"https://registry.npmjs.org/{name}/-/{name}-{self.version}.tgz"


LIBRARIES = (
    Library(
        "react",
        "18.3.1",
        "umd/react.production.min.js",
        "8d9bed01a672e7eaf387942d781ad47c6a43089a30a0306060f9fd5ac7870347",
    ),
    Library(
        "react-dom",
        "18.3.1",
        "umd/react-dom.production.min.js",
        "031d4427a99f2f3f6cac18bbbf308594a67e4f47d10f4896fdec446505b040e0",
    ),
    Library(
        "vue",
        "3.5.13",
        "dist/vue.global.prod.js",
        "d28cf28245139a84ab37fa3aee023be0857d235ad5887af5d856ccbe57a0e1df",
    ),
    Library(
        "preact",
        "10.25.4",
        "dist/preact.min.js",
        "93d4a374795c9b15b8b5edad9294a24cf210e99f3f0fb2b98d00bdb401e7c892",
    ),
)


def kept_libraries(folder: Path) -> dict[str, bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    return {each.package: _kept(each, folder) for each in LIBRARIES}


def _kept(library: Library, folder: Path) -> bytes:
    path = folder / f"{library.package}-{library.version}.js"
    if not path.exists():
        package = _downloaded(library.address)
        if hashlib.sha256(package).hexdigest() != library.sha256:
            raise OSError(f"{library.address} is not what it was")
        with tarfile.open(fileobj=io.BytesIO(package)) as files:
            file = files.extractfile(f"package/{library.file}")
            assert file is not None
            unfinished = path.with_suffix(f".{os.getpid()}")
            unfinished.write_bytes(file.read())
        unfinished.replace(path)  # several processes may do this at once
    return path.read_bytes()


def _downloaded(address: str) -> bytes:
    for pause in (1, 3, 10):
        try:
            return _answer(address)
        except OSError:
            time.sleep(pause)
    return _answer(address)


def _answer(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=60, context=_trusting()) as answer:
        return bytes(answer.read())


def _trusting() -> ssl.SSLContext:
    """Trusts whom this machine trusts, also where tests are told of no authority (conftest.py)."""
    usual = ssl.get_default_verify_paths()
    file = os.environ.get("USUAL_SSL_CERT_FILE") or usual.openssl_cafile
    folder = os.environ.get("USUAL_SSL_CERT_DIR") or usual.openssl_capath
    context = ssl.create_default_context()
    if Path(file).is_file():
        context.load_verify_locations(cafile=file)
    if Path(folder).is_dir():
        context.load_verify_locations(capath=folder)
    return context


HEAD = "<!doctype html><html lang=en><head><title>{title}</title></head><body>"
WORDS = "Bees gather nectar from many flowers and carry it home to the hive in the meadow. "

REACT = """
const e = React.createElement;
function Page() {
  const [data, setData] = React.useState(null);
  React.useEffect(() => { fetch('/api' + location.pathname).then(r => r.json()).then(setData); }, []);
  if (!data) return e('p', null, 'Loading');
  return e('main', null, e('h1', null, data.title), e('p', null, data.text),
    data.links.map(link => e('a', {key: link, href: link}, 'To ' + link)),
    data.route && e('span', {role: 'link', onClick: () => history.pushState({}, '', data.route)}, 'By a click'));
}
ReactDOM.createRoot(document.getElementById('root')).render(e(Page));
"""
VUE = """
class LinkList extends HTMLElement {
  connectedCallback() {
    this.attachShadow({mode: 'closed'}).innerHTML =
      JSON.parse(this.dataset.links).map(link => `<a href="${link}">To ${link}</a>`).join(' ');
  }
}
customElements.define('link-list', LinkList);
Vue.createApp({
  data: () => ({page: {title: '', text: '', links: []}}),
  async mounted() { this.page = await (await fetch('/api' + location.pathname)).json(); },
  template: '<main><h1>{{page.title}}</h1><p>{{page.text}}</p><link-list :key="page.title" :data-links="JSON.stringify(page.links)"></link-list></main>',
}).mount('#app');
"""
PREACT = """
const h = preact.h;
class Page extends preact.Component {
  componentDidMount() { fetch('/api' + location.pathname).then(r => r.json()).then(data => this.setState({data, shown: 1})); }
  render(_, {data, shown}) {
    if (!data) return h('p', null, 'Loading');
    return h('main', null, h('h1', null, data.title), h('p', null, data.text),
      data.links.slice(0, shown).map(link => h('a', {href: link}, 'To ' + link)),
      shown < data.links.length && h('button', {onClick: () => this.setState({shown: shown + 1})}, 'Show more'));
  }
}
preact.render(h(Page), document.getElementById('app'));
"""


class Application(NamedTuple):
    """One single-page application, at ``HOST.spa.test``."""

    libraries: tuple[str, ...]
    script: str
    root: str
    extra: str = ""
    """What the shell says beside its empty root."""


APPLICATIONS = {
    "react": Application(("react", "react-dom"), REACT, "root", "<noscript>Enable JavaScript.</noscript>"),
    "vue": Application(("vue",), VUE, "app"),
    "preact": Application(("preact",), PREACT, "app", f"<footer>{WORDS * 2}</footer>"),
}  # fmt: skip
RELATED = (
    "fetch('/api/related').then(r => r.json()).then(data => {"
    "document.getElementById('related').innerHTML = data.links.map(l => `<a href=${l}>${l}</a>`).join('')})"
)  # fmt: skip
MENU = "document.querySelectorAll('nav').forEach(nav => nav.addEventListener('click', () => 0));"


BANNER = """
<div style="position: fixed" class=consent-box>We use cookies and 300 partners.
<button onclick="lead('/accepted')">Accept all</button> <button onclick="lead('/rejected')">Alle ablehnen</button></div>
<script>function lead(path) { document.body.insertAdjacentHTML('beforeend', `<a href=${path}>${path}</a>`) }</script>
"""
ENDLESS = """
<div id=list></div><script>
let n = 0;
function grow() {
  if (n++ < 4) list.insertAdjacentHTML('beforeend', `<p style="height: 2000px">Part ${n} of the list.</p>` + (n == 4 ? '<a href=/endless-end>end</a>' : ''));
}
grow(); addEventListener('scroll', grow);
</script>
"""
BACK = """
<script>
function goBack() { history.back(); setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<a href=/gone-back>on</a>'), 100) }
setTimeout(goBack, 200);  // to whatever was before it in its tab
</script>
"""
PEOPLE = {
    "/banner": (BANNER, "/rejected"),
    "/endless": (ENDLESS, "/endless-end"),
    "/entered-as": ("<script>history.replaceState({}, '', '/entered')</script>", "/entered"),
    "/moved": ("<script>location = '/moved-to'</script>", "/moved-to"),
    "/goes-back": (BACK, "/gone-back"),
}
"""Pages that want to be used, and what is found only then."""


class SinglePageWeb:
    """The pages of all hosts; ``size`` sections in each application, ``size`` static articles."""

    def __init__(self, libraries: dict[str, bytes], size: int) -> None:
        self._libraries = libraries
        self._sections = range(size)
        self.asked: list[str] = []

    @property
    def seeds(self) -> list[str]:
        hosts = [*APPLICATIONS, "static", "mixed", "people"]
        return [f"http://{host}.spa.test/" for host in hosts]

    def pages(self) -> set[str]:
        """Every page that a person with a browser can come to."""
        return self.made_by_script() | self.static()

    def made_by_script(self) -> set[str]:
        """Those that say nothing, or lack links, without a browser."""
        made = {f"http://{app}.spa.test{path}" for app in APPLICATIONS for path in self._paths()}
        made |= {"http://react.spa.test/by-click"}
        made |= {f"http://people.spa.test{path}" for path in PEOPLE}
        return made | {f"http://mixed.spa.test/{n}" for n in self._sections}

    def static(self) -> set[str]:
        paths = ["", *(f"page/{n}" for n in self._sections), *(f"menu/{n}" for n in self._sections)]
        static = {f"http://static.spa.test/{path}" for path in paths}
        mixed = ["", "related/0", "related/1", "framed", "in-frame"]
        static |= {f"http://people.spa.test{path}" for _, path in PEOPLE.values()}
        static |= {"http://people.spa.test/"}
        return static | {f"http://mixed.spa.test/{path}" for path in mixed}

    def _paths(self) -> list[str]:
        return [
            "/",
            *(f"/section/{n}" for n in self._sections),
            *(f"/item/{n}" for n in self._sections),
        ]

    def answer(self, host: str, path: str) -> tuple[str, bytes] | None:
        """Media type and content; ``None`` when there is nothing."""
        name = host.partition(".")[0]
        self.asked.append(f"{name} {path}")
        if path.startswith("/lib/"):
            return "text/javascript", self._libraries[path.removeprefix("/lib/")]
        if path.startswith("/api/"):
            return "application/json", json.dumps(self._data(path.removeprefix("/api"))).encode()
        if path == "/robots.txt":
            return None
        if name in APPLICATIONS:
            return "text/html", self._shell(name).encode()
        pages = {"static": self._static_page, "mixed": self._mixed_page, "people": _for_people}
        made = pages[name](path)
        return "text/html", (HEAD.format(title=path) + made).encode()

    def _shell(self, name: str) -> str:
        app = APPLICATIONS[name]
        scripts = "".join(f"<script src=/lib/{each}></script>" for each in app.libraries)
        root = f"<div id={app.root}></div>"
        return (
            HEAD.format(title=name) + root + app.extra + scripts + f"<script>{app.script}</script>"
        )

    def _data(self, path: str) -> dict[str, object]:
        kind, _, number = path.strip("/").partition("/")
        links: list[str] = []
        if kind == "":
            links = [f"/section/{n}" for n in self._sections]
        elif kind == "section":
            links = [f"/item/{number}", "/"]
        elif kind == "related":
            links = ["/related/0", "/related/1"]
        route = "/by-click" if kind == "item" else ""
        return {"title": f"Page {path}", "text": WORDS * 4, "links": links, "route": route}

    def _static_page(self, path: str) -> str:
        links = [f"/page/{n}" for n in self._sections] + [f"/menu/{n}" for n in self._sections]
        text = f"<h1>{path}</h1><p>{(path + WORDS) * 20}</p>"
        nav = "<nav>" + " ".join(f"<a href={each}>{each}</a>" for each in links) + "</nav>"
        script = f"<script>{MENU}</script>" if path.startswith("/menu") else ""
        return nav + text + script

    def _mixed_page(self, path: str) -> str:
        text = f"<h1>{path}</h1><p>{(path + WORDS) * 20}</p>"
        if path == "/":
            links = [*(f"/{n}" for n in self._sections), "/framed"]
            return text + " ".join(f"<a href={each}>{each}</a>" for each in links)
        if path.strip("/").isdigit():
            return text + f"<div id=related></div><script>{RELATED}</script>"
        if path == "/framed":
            return text + "<iframe src=/in-frame></iframe>"
        return text


def _for_people(path: str) -> str:
    if path == "/":
        return WORDS + " ".join(f"<a href={each}>{each}</a>" for each in PEOPLE)
    return f"<p>{WORDS}</p>" + PEOPLE.get(path, ("", ""))[0]


@contextmanager
def spa_web(web: SinglePageWeb) -> Iterator[int]:
    """The port at which all its hosts are."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # a small answer would wait for the other side

        def do_GET(self) -> None:
            found = web.answer(self.headers["Host"], self.path.partition("?")[0])
            kind, body = found or ("text/plain", b"")
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if kind not in ("text/html", "application/json"):
                self.send_header("Cache-Control", "max-age=600")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler) as port:
        yield port
