"""What tests in several folders begin with."""

import gc
import os
import signal
from collections.abc import Iterator

# As in every command: the first numpy of a process starts a thread for each core otherwise.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

# Hundreds of processes would read the certificates of all authorities, which nobody here shows.
# What is downloaded for tests, once, asks for them by their other name.
for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
    os.environ.setdefault(f"USUAL_{name}", os.environ.get(name, ""))
    os.environ[name] = os.devnull

pytest_plugins = ("chromium", "command_line", "small_web", "half_way_crawls", "app_server")

# A busy machine is no fault of the code: how long an example takes proves nothing.
settings.register_profile("trailhound", deadline=None)
settings.load_profile("trailhound")


def pytest_configure() -> None:
    """Signals are heard, though a shell ignores them in what it starts in the background."""
    for name in ("SIGHUP", "SIGQUIT"):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Thousands of tests and all they import stay: looking through them for garbage is in vain."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
