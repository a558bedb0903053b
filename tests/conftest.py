"""What tests in several folders begin with."""

pytest_plugins = ("chromium", "small_web")
