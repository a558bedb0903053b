"""Text that UTF-8 can carry, whatever strangers have put into it."""

from __future__ import annotations


def storable(text: str) -> str:
    """The text with question marks in place of lone surrogates: bytes of headers and of names of
    files that were not UTF-8, and halves of pairs that scripts on pages make.
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
