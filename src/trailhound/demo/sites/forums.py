"""Forums: boards, lists of threads, threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trailhound.demo.names import FIRST_NAMES
from trailhound.demo.pages import Chrome, LinkItem, PageDraft, Site
from trailhound.demo.sites.workshop import Workshop
from trailhound.demo.voices import FORUM

_THREADS_PER_PAGE = 12


@dataclass(frozen=True)
class ForumKind:
    """A forum as it will be made: the subjects of each board."""

    host: str
    name: str
    boards: dict[str, tuple[str, ...]]
    session_ids: bool = False


FORUMS = (
    ForumKind(
        "forum.countryside.demo.test",
        "Countryside Forum",
        {
            "Animals": ("bee-health", "bird-migration", "bird-migration", "photography"),
            "Plants": ("gardening", "botany", "bee-health", "gardening"),
            "Out and about": ("tourism", "photography", "glacier-hydrology", "meteorology"),
            "Off topic": ("football", "cooking", "town-affairs"),
        },
    ),
    ForumKind(
        "forum.makersbench.demo.test",
        "The Makers' Bench",
        {
            "Wood and sound": ("violin-making", "acoustics", "violin-making", "theatre"),
            "Electrics": ("batteries", "electric-cars", "software", "batteries", "tidal-energy"),
            "Paper and ink": ("manuscripts", "photography", "manuscripts", "linguistics"),
            "Chat": ("railways", "chess", "football"),
        },
        session_ids=True,
    ),
    ForumKind(
        "talk.hometable.demo.test",
        "Home Table Talk",
        {
            "Baking": ("sourdough", "cooking", "sourdough", "nutrition"),
            "Main dishes": ("cooking", "nutrition", "gardening"),
            "The pantry": ("bee-health", "cooking", "sourdough", "gardening"),
        },
    ),
    ForumKind(
        "board.openwater.demo.test",
        "Open Water Board",
        {
            "Coast": ("tidal-energy", "tourism", "tidal-energy", "meteorology"),
            "Mountains": ("glacier-hydrology", "tourism", "geology", "glacier-hydrology"),
            "Politics": ("economics", "town-affairs", "law", "tidal-energy"),
        },
    ),
)


class Forum:
    """One forum."""

    def __init__(self, workshop: Workshop, kind: ForumKind) -> None:
        self._shop = workshop
        self._kind = kind
        self._random = workshop.random(f"forum {kind.host}")
        self.site = Site(kind.host, kind.name, tagline="Be kind to each other")
        self.threads: dict[str, list[PageDraft]] = {}
        self.lists: dict[str, list[PageDraft]] = {}

    def plan(self) -> None:
        """Register front page, boards and threads."""
        self._shop.plan.add_site(self.site)
        self.home = self._shop.page(self.site, "/", self._kind.name, "forum", linkable=True)
        self.rules = self._shop.page(self.site, "/rules.php", "Rules of this forum")
        self.people = self._shop.page(self.site, "/private/members.php", "Members")
        for number, board in enumerate(self._kind.boards):
            self._plan_board(number, board)
        self._set_chrome()

    def _plan_board(self, number: int, board: str) -> None:
        count = self._shop.parameters.threads_per_forum // len(self._kind.boards)
        subjects = self._kind.boards[board]
        threads = []
        for k in range(count):
            subject = subjects[k % len(subjects)]
            path = f"/thread.php?id={1000 * (number + 1) + 3 * k}"
            title = self._shop.title(FORUM, subject)
            threads.append(self._shop.article(self.site, path, title, "thread", subject))
        self._random.shuffle(threads)
        self.threads[board] = threads
        n_pages = max(1, -(-count // _THREADS_PER_PAGE))
        self.lists[board] = [
            self._shop.page(
                self.site,
                f"/board.php?id={number + 1}" + (f"&start={k * _THREADS_PER_PAGE}" if k else ""),
                board if k == 0 else f"{board}, page {k + 1}",
                "listing",
            )
            for k in range(n_pages)
        ]

    def _set_chrome(self) -> None:
        header = [LinkItem(self.home.url, "Board index")]
        header += [LinkItem(pages[0].url, board) for board, pages in self.lists.items()]
        everything = [page for threads in self.threads.values() for page in threads]
        latest = [page for page in everything if not page.member]
        side = [LinkItem(page.url, page.title) for page in latest[:: max(1, len(latest) // 9)]]
        footer = [LinkItem(self.rules.url, "Rules"), LinkItem(self.people.url, "Members")]
        footer += [
            LinkItem(f"http://{other.host}/", other.name)
            for other in FORUMS
            if other.host != self._kind.host
        ]
        self.site.chrome[""] = Chrome(header, side, footer)

    def write(self) -> None:
        """Fill all pages."""
        for page in (self.home, self.rules, self.people):
            self._shop.write_general(page, 2, FORUM)
        self.home.link_list([LinkItem(pages[0].url, board) for board, pages in self.lists.items()])
        for board, threads in self.threads.items():
            self._write_lists(self.lists[board], threads)
            for thread in threads:
                self._write_thread(thread)

    def _write_lists(self, pages: Sequence[PageDraft], threads: Sequence[PageDraft]) -> None:
        for number, page in enumerate(pages):
            start = number * _THREADS_PER_PAGE
            shown = threads[start : start + _THREADS_PER_PAGE]
            items = [LinkItem(thread.url, thread.title, self._last_post()) for thread in shown]
            if self._kind.session_ids and items:
                items[0] = items[0]._replace(url=self._with_session_id(items[0].url))
                items.append(LinkItem(shown[0].url, "permanent link"))
            self._shop.write_general(page, 1, FORUM)
            page.link_list(items)
            page.link_list(
                [LinkItem(other.url, f"Page {k + 1}") for k, other in enumerate(pages)], "pages"
            )

    def _last_post(self) -> str:
        name = self._random.choice(FIRST_NAMES).lower()
        return (
            f"({self._random.randint(1, 40)} replies, last by {name}{self._random.randint(1, 99)})"
        )

    def _with_session_id(self, url: str) -> str:
        address = f"{url}&PHPSESSID={self._random.getrandbits(64):016x}"
        self._shop.plan.session_ids[address] = url
        return address

    def _write_thread(self, thread: PageDraft) -> None:
        focus = self._shop.writing.focus(thread.subject) if thread.subject else None
        for _ in range(self._random.randint(5, 14)):
            name = self._random.choice(FIRST_NAMES).lower()
            thread.heading(f"{name}{self._random.randint(1, 99)} wrote:")
            thread.paragraph(self._shop.writing.paragraph(FORUM, focus, self._random.randint(2, 5)))
        thread.heading("Links posted in this thread")
        thread.link_list(self._shop.links.related(thread, self._random.randint(2, 5)))
