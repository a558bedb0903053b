"""Shops: products speak the words of a topic without being about it; guides are about it."""

from __future__ import annotations

from dataclasses import dataclass

from trailhound.demo.names import slug
from trailhound.demo.pages import Chrome, LinkItem, PageDraft, Site
from trailhound.demo.prose import SUBJECTS
from trailhound.demo.sites.workshop import Workshop
from trailhound.demo.voices import GUIDE, SHOP

GUIDES_PER_SHOP = 5


@dataclass(frozen=True)
class ShopKind:
    """A shop as it will be made. There is a category for each subject."""

    host: str
    name: str
    subjects: tuple[str, ...]
    session_ids: bool = False
    """Some of its links carry a session id: other addresses for the same pages."""


SHOPS = (
    ShopKind(
        "www.combe-and-hive.demo.test", "Combe & Hive", ("bee-health", "gardening", "cooking")
    ),
    ShopKind(
        "www.tonewood-tools.demo.test",
        "Tonewood & Tools",
        ("violin-making", "acoustics", "theatre"),
        session_ids=True,
    ),
    ShopKind("shop.ryeandgrain.demo.test", "Rye & Grain", ("sourdough", "cooking", "nutrition")),
    ShopKind("www.voltcorner.demo.test", "Volt Corner", ("electric-cars", "batteries", "software")),
    ShopKind(
        "www.clearview-optics.demo.test",
        "Clearview Optics",
        ("photography", "bird-migration", "astronomy"),
    ),
    ShopKind("www.scriptorium.demo.test", "Scriptorium Papers", ("manuscripts", "linguistics")),
    ShopKind("www.signalbox.demo.test", "The Signal Box", ("railways", "architecture")),
    ShopKind("www.kitcorner.demo.test", "Kit Corner Sports", ("football", "chess", "tourism")),
)


class Shop:
    """One shop."""

    def __init__(self, workshop: Workshop, kind: ShopKind) -> None:
        self._shop = workshop
        self._kind = kind
        self._random = workshop.random(f"shop {kind.host}")
        self.site = Site(kind.host, kind.name, tagline="Everything by post, since 1998")
        self.categories: dict[str, PageDraft] = {}
        self.products: list[PageDraft] = []
        self.guides: list[PageDraft] = []

    def plan(self) -> None:
        """Register front page, categories, products and guides."""
        page = self._shop.page
        self._shop.plan.add_site(self.site)
        self.home = page(self.site, "/", self._kind.name, "shop", linkable=True)
        self.advice = page(self.site, "/advice/", "Advice and guides")
        self.terms = page(self.site, "/terms.html", "Terms of trade")
        self.delivery = page(self.site, "/delivery.html", "Delivery and returns")
        self.basket = page(self.site, "/private/basket.html", "Your basket")
        for subject in self._kind.subjects:
            title = f"{SUBJECTS[subject].label}: all articles"
            self.categories[subject] = page(
                self.site, f"/c/{subject}.html", title, "category", subject=subject
            )
        for number in range(self._shop.parameters.products_per_shop):
            self._plan_product(number)
        for number in range(GUIDES_PER_SHOP):
            self._plan_guide(number)
        self._set_chrome()

    def _plan_product(self, number: int) -> None:
        subject = self._kind.subjects[number % len(self._kind.subjects)]
        title = self._shop.title(SHOP, subject)
        path = f"/p/{1000 + 7 * number}-{slug(title)[:40].strip('-')}.html"
        product = self._shop.page(self.site, path, title, "product", subject=subject, linkable=True)
        self.products.append(product)

    def _plan_guide(self, number: int) -> None:
        subject = self._kind.subjects[
            min(number, len(self._kind.subjects) - 1) if number > 2 else 0
        ]
        title = self._shop.title(GUIDE, subject)
        path = f"/advice/{slug(title)[:50].strip('-')}.html"
        self.guides.append(self._shop.article(self.site, path, title, "guide", subject))

    def _set_chrome(self) -> None:
        header = [LinkItem(self.home.url, "Home")]
        header += [LinkItem(page.url, page.title) for page in self.categories.values()]
        header += [LinkItem(self.advice.url, "Advice")]
        bestsellers = self.products[:: max(1, len(self.products) // 8)]
        side = [LinkItem(page.url, page.title) for page in bestsellers]
        footer = [
            LinkItem(self.terms.url, "Terms"),
            LinkItem(self.delivery.url, "Delivery"),
            LinkItem(self.basket.url, "Basket"),
        ]
        self.site.chrome[""] = Chrome(header, side, footer)

    def write(self) -> None:
        """Fill all pages."""
        for page in (self.home, self.advice, self.terms, self.delivery, self.basket):
            self._shop.write_general(page, 2, SHOP)
        self.home.link_list(self._shop.links.titled(self._random.sample(self.products, 8)))
        self.advice.link_list(self._shop.links.items(self.guides))
        for subject, category in self.categories.items():
            products = [page for page in self.products if page.subject is SUBJECTS[subject]]
            self._shop.write_general(category, 1, SHOP)
            category.link_list(self._shop.links.titled(products))
        for product in self.products:
            self._write_product(product)
        for guide in self.guides:
            self._shop.write_article(guide, GUIDE, 5)
            guide.link_list(self._shop.links.related(guide, self._random.randint(4, 7)))

    def _write_product(self, product: PageDraft) -> None:
        self._shop.write_article(product, SHOP, 4, topical=0.3)
        others = self._random.sample(self.products, min(6, len(self.products)))
        product.heading("Customers also bought")
        items = [LinkItem(other.url, other.title) for other in others if other is not product]
        if self._kind.session_ids and items:
            items[0] = items[0]._replace(url=self._with_session_id(items[0].url))
        product.link_list(items)

    def _with_session_id(self, url: str) -> str:
        address = f"{url}?sid={self._random.getrandbits(64):016x}"
        self._shop.plan.session_ids[address] = url
        return address
