"""TOML in time that grows with the text alone: the standard library's parser compares the parts of
a dotted key (``a.b.c = 1``) with each other, and 100 KB of them would take it minutes.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

MAX_KEY_PARTS = 32
MAX_CHARS = 500_000
"""More is no file that somebody wrote, and its tables would take a hundred times the memory."""

_STRING_OR_COMMENT = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*+"|'[^'\n]*+'|#[^\n]*+''', re.DOTALL
)
_LONG_KEY = re.compile(rf"(?:\.[^.\n=,\]}}]*+){{{MAX_KEY_PARTS}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """The tables in ``text``; ``ValueError`` or ``RecursionError`` when it is no sensible TOML."""
    if len(text) > MAX_CHARS:
        raise ValueError(f"it is longer than {MAX_CHARS:,} characters")
    # Outside of texts a number has one dot, and only keys have more.
    if "." in text and _LONG_KEY.search(_STRING_OR_COMMENT.sub('""', text)):
        raise ValueError(f"a key has more than {MAX_KEY_PARTS} parts")
    return tomllib.loads(text)
