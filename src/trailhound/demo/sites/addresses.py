"""How universities name the pages of their people: no two conventions are alike.

A crawler that learns addresses at one university finds other ones elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple


class PersonAddresses(NamedTuple):
    """Where one person's pages are; ``paper`` takes ``slug`` and ``number``."""

    host_prefix: str
    home: str
    publications: str
    paper: str

    def paper_path(self, slug: str, number: int) -> str:
        """The path of a paper."""
        return self.paper.format(slug=slug, number=number)


def person_addresses(convention: int, department: str, user: str) -> PersonAddresses:
    """The addresses that university ``convention`` (any number) gives to ``user``."""
    match convention % 4:
        case 0:
            home = f"/~{user}/"
            return PersonAddresses(
                "www", home, f"{home}publications.html", home + "papers/{slug}.html"
            )
        case 1:
            home = f"/{user}/"
            return PersonAddresses("people", home, f"{home}pubs.html", home + "pubs/{slug}.html")
        case 2:
            stem = f"/{department}/staff/{user}"
            return PersonAddresses(
                "www", f"{stem}.html", f"{stem}-papers.html", f"/{department}/papers/{{slug}}.html"
            )
        case _:
            home = f"/people/{user}/index.html"
            listing = f"/people/{user}/list.php?type=publications"
            return PersonAddresses("www", home, listing, "/repository/item.php?id={number}")
