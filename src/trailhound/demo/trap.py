"""An endless calendar: every month links to the next one, and nothing ever happens.

Its pages are made when they are asked for. A recorded web holds the first few.
"""

from __future__ import annotations

import re
from calendar import month_name
from itertools import islice

TRAP_HOST = "events.larkhaven-city.demo.test"
_FIRST_YEAR = 2024
_LAST_YEAR = 9999
_DAYS = (5, 12, 19, 26)
_TRAP_PATH = re.compile(
    rf"http://{re.escape(TRAP_HOST)}/calendar/([0-9]{{4}})/([0-9]{{2}})(?:/([0-9]{{2}}))?\Z"
)
_PORTAL = "http://www.larkhaven-city.demo.test/"


def first_trap_url() -> str:
    """The page through which crawlers enter the trap."""
    return _url(_FIRST_YEAR, 1)


def trap_urls(count: int) -> tuple[str, ...]:
    """The first ``count`` pages of the trap, in the order in which a crawler meets them."""
    years = range(_FIRST_YEAR, _LAST_YEAR + 1)
    days = (0, *_DAYS)
    places = ((year, month, day) for year in years for month in range(1, 13) for day in days)
    return tuple(_url(*place) for place in islice(places, count))


def trap_page(url: str) -> str | None:
    """The HTML of a page of the calendar; ``None`` for any other URL."""
    parts = _parts(url)
    if parts is None:
        return None
    year, month, day = parts
    name = f"{month_name[month]} {year}"
    if day:
        text = f"No events have been entered for {day} {name}. Please look at another day."
        title, links = f"Events on {day} {name}", [(_url(year, month), f"Back to {name}")]
    else:
        text = "Events in Larkhaven and its surroundings. Select a day or go to the next month."
        title = f"Calendar of events, {name}"
        links = [(_url(year, month, d), f"{d} {month_name[month]}") for d in _DAYS]
    if (year, month) != (_LAST_YEAR, 12):
        links.append((_url(year + month // 12, month % 12 + 1), "Next month"))
    if (year, month) != (_FIRST_YEAR, 1):
        links.append((_url(year - (month == 1), (month - 2) % 12 + 1), "Previous month"))
    return _html(title, text, links)


def _parts(url: str) -> tuple[int, int, int] | None:
    match = _TRAP_PATH.match(url)
    if match is None:
        return None
    year, month, day = int(match[1]), int(match[2]), int(match[3] or 0)
    valid = _FIRST_YEAR <= year <= _LAST_YEAR and 1 <= month <= 12 and 0 <= day <= 31
    return (year, month, day) if valid else None


def _url(year: int, month: int, day: int = 0) -> str:
    """Of a day, or of the whole month."""
    return f"http://{TRAP_HOST}/calendar/{year:04d}/{month:02d}" + (f"/{day:02d}" if day else "")


def _html(title: str, text: str, links: list[tuple[str, str]]) -> str:
    items = "\n".join(f'<li><a href="{url}">{anchor}</a></li>' for url, anchor in links)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title>'
        f'</head>\n<body>\n<p><a href="{_PORTAL}">Larkhaven</a></p>\n<h1>{title}</h1>\n'
        f"<p>{text}</p>\n<ul>\n{items}\n</ul>\n</body>\n</html>\n"
    )
