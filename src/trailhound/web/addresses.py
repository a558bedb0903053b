"""Where this machine is reached by itself, and how that is written in an address."""

from __future__ import annotations

LOOPBACK = "127.0.0.1"
LOOPBACK_6 = "::1"


def in_address(host: str) -> str:
    """A host as addresses have it: those of IPv6 stand in brackets."""
    return f"[{host}]" if ":" in host else host
