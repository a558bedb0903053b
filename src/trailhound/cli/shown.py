"""Words from the web and figures, as a terminal may show them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_BARS = "▁▂▃▄▅▆▇█"
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Control characters could move the cursor, formatting ones turn the text around."""


def harmless(text: str) -> str:
    """``text`` without anything that a terminal would act on."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if unicodedata.category(sign) in _HIDDEN else sign for sign in text)


def duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3 h 20 min``."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def share(part: int, whole: int) -> str:
    """``8.7 %``."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def sparkline(rates: Sequence[float]) -> str:
    """One bar for each rate; the highest is full."""
    top = max(rates, default=0.0)
    if top <= 0:
        return _BARS[0] * len(rates)
    return "".join(_BARS[round(rate / top * (len(_BARS) - 1))] for rate in rates)
