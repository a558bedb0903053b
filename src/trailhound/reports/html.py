"""What all HTML reports share: one look, pictures as SVG text, and nothing loaded from elsewhere.

Pictures are put inside a page: single elements, and a plane with two axes. One unit is a point,
text has nine of them; the page decides how large a picture is shown. Colours are CSS variables of
``report.css``, so that one picture suits light and dark pages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from trailhound.counting import counted


def template_environment(package: str) -> Environment:
    """The templates of ``package``, and those shared by all reports. Text is escaped."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("trailhound.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["counted"] = counted
    return environment


N_COLOURS = 7
"""``report.css`` names so many series colours."""

INK = "currentColor"
GRID = "var(--grid)"
SOFT = "var(--soft)"
PANEL = "var(--panel)"

TEXT_SIZE = 9.0
_LETTER = 0.58 * TEXT_SIZE
"""How wide a letter is at most, on average: axes keep so much room for their numbers."""
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def series_colour(number: int) -> str:
    """Series colour ``number``, from 1; after the last comes the first."""
    return f"var(--series-{(number - 1) % N_COLOURS + 1})"


def element(name: str, *inside: str, **attributes: str | float) -> str:
    """One element. ``inside`` is SVG already; underscores in names of attributes are dashes."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_told(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{told}>{''.join(inside)}</{name}>" if inside else f"<{name}{told}/>"


def _told(value: str | float) -> str:
    if isinstance(value, str):
        return escape(value)
    return f"{value:.2f}".rstrip("0").rstrip(".")


def text(said: str, x: float, y: float, anchor: str = "middle", **attributes: str | float) -> str:
    """Words at a place, which is on their base line."""
    return element("text", escape(said), x=x, y=y, text_anchor=anchor, **attributes)


def picture(width: float, height: float, description: str, drawn: Iterable[str]) -> str:
    """The whole ``<svg>``; ``description`` is for those who cannot see it."""
    box = f"0 0 {_told(width)} {_told(height)}"
    label = escape(description)
    style = f'font-size="{_told(TEXT_SIZE)}" fill="{INK}"'
    return f'<svg viewBox="{box}" role="img" aria-label="{label}" {style}>{"".join(drawn)}</svg>'


def round_ticks(most: float, n_steps: int, *, whole: bool = False) -> list[float]:
    """Round numbers from 0 to ``most`` with at most ``n_steps`` steps, ``whole`` ones if asked."""
    unit = 10.0 ** math.floor(math.log10(most / n_steps))
    steps = (unit * times for times in _STEPS)
    step = next(each for each in steps if each >= most / n_steps * 0.999)
    if whole:
        step = math.ceil(step)
    return [step * count for count in range(math.floor(most / step + 1e-9) + 1)]


def tick_names(ticks: Sequence[float]) -> list[str]:
    """The numbers with as many digits as the finest of them needs."""
    digits = max((len(f"{tick:.9g}".partition(".")[2]) for tick in ticks), default=0)
    return [f"{tick:,.{digits}f}" for tick in ticks]


class Plane:
    """Two axes that begin at 0, with a grid, and the place of every pair of values between them."""

    def __init__(
        self,
        size: tuple[float, float],
        most: tuple[float, float],
        titles: tuple[str, str] = ("", ""),
        *,
        n_steps: int = 6,
        whole: tuple[bool, bool] = (False, False),
        top: float = 8.0,
    ) -> None:
        self.width, self.height = size
        self._most = most
        self._titles = titles
        self._ticks = [
            round_ticks(each, n_steps, whole=is_whole)
            for each, is_whole in zip(most, whole, strict=True)
        ]
        longest = max(map(len, tick_names(self._ticks[1])))
        self._left = longest * _LETTER + (22.0 if titles[1] else 8.0)
        self._top = top
        self._bottom = self.height - (30.0 if titles[0] else 17.0)
        self._right = self.width - len(tick_names(self._ticks[0])[-1]) * _LETTER / 2 - 2.0

    def x(self, value: float) -> float:
        """Where a value is across."""
        return self._left + value / self._most[0] * (self._right - self._left)

    def y(self, value: float) -> float:
        """Where a value is down the picture."""
        return self._bottom - value / self._most[1] * (self._bottom - self._top)

    def line(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        colour: str,
        width: float,
        dashes: Sequence[float] = (),
    ) -> str:
        """A line through all points; ``dashes`` are lengths on and off, in line widths."""
        pattern = " ".join(_told(length * width) for length in dashes) or "none"
        return element(
            "polyline",
            points=self._points(xs, ys),
            fill="none",
            stroke=colour,
            stroke_width=width,
            stroke_dasharray=pattern,
        )

    def band(
        self, xs: Sequence[float], lows: Sequence[float], highs: Sequence[float], colour: str
    ) -> str:
        """What lies between two lines, tinted."""
        around = self._points([*xs, *reversed(xs)], [*lows, *reversed(highs)])
        return element("polygon", points=around, fill=colour, opacity=0.14)

    def _points(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        pairs = zip(xs, ys, strict=True)
        return " ".join(f"{_told(self.x(x))},{_told(self.y(y))}" for x, y in pairs)

    def drawn(self, description: str, inside: Iterable[str]) -> str:
        """The picture: grid and axes, then what is ``inside``, in that order."""
        axes = [*self._x_axis(), *self._y_axis()]
        return picture(self.width, self.height, description, [*axes, *inside])

    def _x_axis(self) -> Iterable[str]:
        for value, name in zip(self._ticks[0], tick_names(self._ticks[0]), strict=True):
            x = self.x(value)
            yield _rule(x, self._top, x, self._bottom, GRID if value else INK)
            yield text(name, x, self._bottom + 11.5)
        if self._titles[0]:
            middle = (self._left + self._right) / 2
            yield text(self._titles[0], middle, self.height - 5)

    def _y_axis(self) -> Iterable[str]:
        for value, name in zip(self._ticks[1], tick_names(self._ticks[1]), strict=True):
            y = self.y(value)
            yield _rule(self._left, y, self._right, y, GRID if value else INK)
            yield text(name, self._left - 4, y + 3.2, "end")
        if self._titles[1]:
            middle = (self._top + self._bottom) / 2
            turned = f"rotate(-90 10 {_told(middle)})"
            yield text(self._titles[1], 10, middle, transform=turned)


def _rule(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=0.6)
