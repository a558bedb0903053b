"""What tests in several folders begin with."""

from hypothesis import settings

pytest_plugins = ("chromium", "command_line", "small_web", "half_way_crawls", "app_server")

# A busy machine is no fault of the code: how long an example takes proves nothing.
settings.register_profile("trailhound", deadline=None)
settings.load_profile("trailhound")
