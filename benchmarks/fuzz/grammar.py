"""Inputs from a table of rules: almost right, with something odd in one place or another.

A grammar maps a rule's name to its productions; ``«name»`` in one stands for any production of that
rule. The first production of a rule is its plainest, which is taken once the nesting is deep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random

_RULE = re.compile("«([a-z_]+)»")
_MAX_DEPTH = 12
_MAX_CHARS = 20_000

Rules = Mapping[str, Sequence[str]]
Builtin = Callable[[Random], str]

_ODD_CHARACTERS = (
    "\0\x01\t\n\r\x0b\x0c\x1b\x1c \x7f\x85\xa0\xad\u0301\u0316\u0345\u200b\u200d\u2028\u202e\ufdfa"
    "\ufeff\uff0f\uff1d\ufffd\U0001f41d\U000e0041ßİıſΩЖ蜂ก\"'`<>&%;:,=/\\?#@[](){}|*$^~+-._019aZ"
)
_NUMBERS = (
    *("0", "1", "-1", "00", "7", "200", "1e9", "-0.0", ".5", "1.", "0x10", "NaN", "inf", "-inf"),
    *("2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775809"),
    *(
        "1e308",
        "1e309",
        "5e-324",
        "1_000",
        "٣",
        "９",
        "+5",
        " 5 ",
        "",
        "True",
        "9" * 400,
        "9" * 5000,
    ),
)
_DATES = (
    *("2026-03-01", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00.123456+01:00", "2026", "2026-03"),
    *(
        "Sun, 01 Mar 2026 12:00:00 GMT",
        "Sunday, 01-Mar-26 12:00:00 GMT",
        "Sun Mar  1 12:00:00 2026",
    ),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-13-45", "20260301120000"),
    *("Mon, 99 Xyz 99999 99:99:99 +9999", "1 Jan", ",", "Sun, 31 Feb 2026 24:60:61 -0000", "0000"),
)


def _odd_text(rng: Random) -> str:
    return "".join(rng.choices(_ODD_CHARACTERS, k=rng.randrange(1, 12)))


def _any_text(rng: Random) -> str:
    return "".join(chr(rng.choice((rng.randrange(128), rng.randrange(0xD800)))) for _ in range(6))


_BUILTINS: Mapping[str, Builtin] = {
    "odd": _odd_text,
    "any": _any_text,
    "number": lambda rng: rng.choice(_NUMBERS),
    "small": lambda rng: str(rng.randrange(100)),
    "date": lambda rng: rng.choice(_DATES),
    "word": lambda rng: rng.choice(("bee", "Honig", "蜜蜂", "hive", "a", "Ünï", "varroa", "x")),
    "run": lambda rng: rng.choice(_ODD_CHARACTERS) * rng.choice((2, 9, 40, 300)),
}


class Grammar:
    """``make`` gives a random text of the rule ``start``."""

    def __init__(self, rules: Rules) -> None:
        self._rules = {
            name: [_RULE.split(production) for production in productions]
            for name, productions in rules.items()
        }

    def make(self, rng: Random, rule: str = "start") -> str:
        """Another text each time; at most a few thousand characters as a rule."""
        pieces: list[str] = []
        self._expand(rng, rule, 0, pieces)
        return "".join(pieces)

    def _expand(self, rng: Random, rule: str, depth: int, pieces: list[str]) -> None:
        productions = self._rules.get(rule)
        if productions is None:
            pieces.append(_BUILTINS[rule](rng))
            return
        plain = depth > _MAX_DEPTH or len(pieces) > _MAX_CHARS // 10
        # Text and names of rules take turns in a split production.
        for place, part in enumerate(productions[0] if plain else rng.choice(productions)):
            if place % 2:
                self._expand(rng, part, depth + 1, pieces)
            else:
                pieces.append(part)
