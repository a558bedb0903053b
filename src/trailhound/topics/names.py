"""How the names of topics become names of folders.

Different names give different folders, also where the file system ignores case (Windows, macOS):

* letters of all alphabets, digits, blanks and ``-_.,()`` stay as they are;
* what some system forbids or treats in its own way becomes ``%`` and two hexadecimal digits: the
  characters ``/ \\ : * ? " < > | %`` and ``~``, a dot at the beginning, a dot at the end, the first
  letter of the names of devices (``CON``, ``NUL`` …);
* where that is not enough to tell names apart (capitals, very long names), ``~`` and a checksum of
  the name follow.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from trailhound.errors import UsageError

MAX_NAME_LENGTH = 200
"""Characters of a topic's name."""
MAX_STEM_BYTES = 80
"""Of a folder's name, in UTF-8, before a checksum. Windows wants whole paths below 260
characters, other systems each name below 256 bytes."""

_FORBIDDEN = re.compile(r'[/\\:*?"<>|%~]')
_DEVICE = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³]|conin\$|conout\$) *(\.|$)", re.IGNORECASE)


def checked_name(name: str) -> str:
    """A topic's name in its one spelling; UsageError when no topic can be called that."""
    tidy = " ".join(unicodedata.normalize("NFC", name).split())
    if not tidy:
        raise UsageError("A topic needs a name. Give it one, for example: bees")
    if len(tidy) > MAX_NAME_LENGTH:
        raise UsageError(
            f"The topic name '{tidy[:40]}…' has {len(tidy)} characters, and {MAX_NAME_LENGTH} are "
            "the most. Give it a shorter one."
        )
    if any(unicodedata.category(character) in ("Cc", "Cs", "Cn", "Co") for character in tidy):
        raise UsageError(
            f"The topic name {tidy!r} holds characters that cannot be shown. Leave them out."
        )
    return tidy


def folder_name(name: str) -> str:
    """The folder of the topic with this name. Always the same, and its own."""
    name = checked_name(name)
    stem = _encoded(name)
    cut = _cut(stem)
    # "Bees" and "bees" are the same folder to many file systems.
    if cut == stem and name == name.casefold() == name.upper().lower():
        return stem
    checksum = hashlib.sha256(name.encode()).hexdigest()[:10]
    return f"{cut}~{checksum}"


def _encoded(name: str) -> str:
    encoded = _FORBIDDEN.sub(lambda found: _escape(found[0]), name)
    if encoded.startswith("."):
        encoded = _escape(".") + encoded[1:]
    if encoded.endswith("."):
        encoded = encoded[:-1] + _escape(".")
    if _DEVICE.match(encoded):
        encoded = _escape(encoded[0]) + encoded[1:]
    return encoded


def _escape(character: str) -> str:
    return f"%{ord(character):02x}"


def _cut(stem: str) -> str:
    """At most ``MAX_STEM_BYTES`` of a folder name, whole characters, nothing trailing."""
    head = stem.encode()[:MAX_STEM_BYTES].decode("utf-8", "ignore")
    return head if head == stem else head.rstrip(". ")
