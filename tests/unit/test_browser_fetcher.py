"""The fetcher that renders pages, without a browser."""

from __future__ import annotations

from typing import Any

import pytest

from trailhound.config.settings import FetchSettings
from trailhound.errors import ConfigError
from trailhound.fetching.browser.fetcher import BrowserFetcher
from trailhound.fetching.polite_settings import PoliteSettings
from trailhound.fetching.politeness import Politeness
from trailhound.frontier.memory import MemoryFrontier


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("tabs", 0),
        ("tabs", -1),
        ("seconds", -1.0),
        ("seconds", 0.0),
        ("memory", 1),
        ("parts", -1),
        ("steps", -1),
        ("clicks", -1),
    ],
)
def test_options_that_no_page_could_be_rendered_with_are_refused(option: str, value: Any) -> None:
    politeness = Politeness(PoliteSettings(), MemoryFrontier())
    with pytest.raises(ConfigError, match=f"option {option} is {value:g}, but .* at least"):
        BrowserFetcher.from_settings(FetchSettings(), politeness, None, **{option: value})
