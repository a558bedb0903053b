"""Settings of a crawl: what there is to set, and where each value came from.

A flag wins over the environment (``TRAILHOUND_…``), that over ``trailhound.toml``, that over the
default. ``settings`` says what there is, ``values`` reads single values, ``layers`` puts the
sources together.
"""

from trailhound.config.layers import Configuration, configure, find_file, from_assignments
from trailhound.config.settings import Settings

__all__ = ["Configuration", "Settings", "configure", "find_file", "from_assignments"]
