"""What tests in several folders begin with."""

import gc

import pytest
from hypothesis import settings

pytest_plugins = ("chromium", "command_line", "small_web", "half_way_crawls", "app_server")

# A busy machine is no fault of the code: how long an example takes proves nothing.
settings.register_profile("trailhound", deadline=None)
settings.load_profile("trailhound")


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Five thousand tests and all they import stay: looking through them for garbage is in vain."""
    gc.collect()
    gc.freeze()
