"""Where the command line writes: results to stdout, progress and messages to stderr."""

from __future__ import annotations

from rich.console import Console

output = Console(highlight=False)
messages = Console(stderr=True, highlight=False)
