"""Names of people, places and institutions; all invented."""

from __future__ import annotations

import re
import unicodedata
from random import Random


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_NAMES = _words(
    """Mara Edwin Tessa Julian Priya Owen Linnea Marcus Hanna Tobias Ines Callum Greta Samuel Yara
    Felix Noemi Arthur Clara Dmitri Elsa Gavin Ruth Henrik Amara Lionel Petra Stefan Wilma Anton
    Beatrix Conrad Delia Emil Fiona Gustav Helene Ivo Joanna Karl Leonie Milan Nadia Oskar Paula
    Quentin Rosa Silas Thea Ursula Viktor Wanda Xenia Yusuf Zora Aidan Birgit Cosmo Dora Ezra"""
)

SURNAMES = _words(
    """Ellwood Harrow Lindqvist Marchetti Okafor Brandt Castell Dunmore Eastby Fenwick Galloway
    Hartigan Ingram Jessop Kirkbride Lockwood Merriman Nordahl Ormond Pemberton Quill Ravensby
    Sinclair Thackeray Underhill Vance Whitlock Yardley Zeller Ashdown Birchall Crowther Dalgarno
    Elphick Fairburn Greaves Holloway Ibsen Jardine Kestrel Langford Moorcroft Naismith Oakes
    Prentice Redfern Selwyn Tarrant Ulverston Varga Wexford Yelland Abendroth Bellamy Corrigan
    Devereux Engstrom Farrow Gilchrist Haldane Iverson Juhasz Kowal Lorimer Maddox Novak Osgood
    Pargeter Rosewarne Stavely Trevose Upton Vasari Winterbourne Zielinski Arkwright Bosworth
    Cantrell Drummond Everdene Foxcroft Grantham Hollins Isherwood Jolliffe Keswick Larkspur"""
)

TOWNS = _words(
    """Northfield Eastmere Caldwick Harborough Stonebridge Wyndale Larkhaven Ashford-on-Lea
    Kingsmoor Redcliffe Thornbury Millbrook Greywater Oakminster Fallowfield Brackenridge
    Saltmarsh Hollowell Penrose Queensferry"""
)

# (short host name, name, language of its general pages)
UNIVERSITIES: tuple[tuple[str, str, str], ...] = (
    ("northfield", "University of Northfield", "en"),
    ("eastmere", "Eastmere University", "en"),
    ("caldwick", "Caldwick Institute of Science", "en"),
    ("rosental", "Universität Rosental", "de"),
    ("harborough", "University of Harborough", "en"),
    ("stonebridge", "Stonebridge University", "en"),
    ("valmont", "Université de Valmont", "fr"),
    ("wyndale", "Wyndale State University", "en"),
    ("larkhaven", "Larkhaven University", "en"),
    ("kingsmoor", "Royal University of Kingsmoor", "en"),
    ("redcliffe", "Redcliffe University", "en"),
    ("thornbury", "Thornbury Technical University", "en"),
    ("millbrook", "Millbrook University", "en"),
    ("greywater", "University of Greywater", "en"),
    ("oakminster", "Oakminster University", "en"),
    ("penrose", "Penrose University", "en"),
)

_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def slug(text: str) -> str:
    """``text`` in lower-case ASCII with hyphens, for the path of a URL."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return _NOT_SLUG.sub("-", plain.lower()).strip("-")


class PeopleNames:
    """Gives out full names, each surname at most once per university."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._surnames = random.sample(SURNAMES, len(SURNAMES))
        self._given = 0

    def next(self) -> tuple[str, str]:
        """(full name, user name): ``("Mara Ellwood", "ellwood")``."""
        turn, index = divmod(self._given, len(self._surnames))
        self._given += 1
        surname = self._surnames[index]
        user = slug(surname) + (str(turn + 1) if turn else "")
        return f"{self._random.choice(FIRST_NAMES)} {surname}", user
