"""What objects show of themselves in a notebook, and data frames of what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from trailhound.errors import UsageError

if TYPE_CHECKING:
    from pandas import DataFrame


def html_table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain text; an address becomes a link."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"


def _cell(text: str) -> str:
    shown = escape(text)
    if text.startswith(("http://", "https://")):
        shown = f'<a href="{shown}" rel="noreferrer">{shown}</a>'
    return f'<td style="text-align: left">{shown}</td>'


def data_frame(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None
) -> DataFrame:
    """A data frame of ``rows``; ``columns`` says which come, and serves when there is no row."""
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise UsageError(
            "Data frames need pandas. Install it with: pip install 'trailhound[pandas]'"
        ) from error
    return DataFrame(list(rows), columns=columns)
