"""Words for full-text search in scripts that are written without blanks.

SQLite takes a run of letters for one word, so that it would not find 蜜蜂 in 蜜蜂の巣箱.
In the index, and in what is searched for, each Chinese or Japanese sign is a word of its own: a
blank that nobody sees stands between them, and several together are searched for as a phrase.
"""

from __future__ import annotations

import re

_BETWEEN = "\u200b"
"""A blank without width: no letter to SQLite, and nothing on a page."""
_SIGN = "[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_NEXT_TO_SIGN = re.compile(rf"(?<={_SIGN})(?=\w)|(?<=\w)(?={_SIGN})")


def apart(text: str) -> str:
    """``text`` with its signs apart; again, it stays as it is."""
    return text if text.isascii() else _NEXT_TO_SIGN.sub(_BETWEEN, text)


def together(text: str) -> str:
    """``text`` as it was written."""
    return text if text.isascii() else text.replace(_BETWEEN, "")
