"""Numbers of things in words: ``1 page``, ``2 pages``, ``500 MB``."""

from __future__ import annotations

_IRREGULAR = {"person": "people"}
_HISSING = ("s", "x", "z", "ch", "sh")


def counted(count: int, noun: str) -> str:
    """``1 query``, ``1,200 relevant pages``. Of several words the last one is the noun."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def in_bytes(size: float) -> str:
    """``512 bytes``, ``500 MB``, ``1.5 GB``; a thousand at each step."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"


def plural(noun: str) -> str:
    """``pages``, ``queries``, ``fetches``, ``people``."""
    before, space, last = noun.rpartition(" ")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    elif last.endswith("y") and last[-2:-1] not in set("aeiou"):
        last = f"{last[:-1]}ies"
    else:
        last += "es" if last.endswith(_HISSING) else "s"
    return before + space + last
