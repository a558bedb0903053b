"""Settings of a crawl: what there is to set, and where each value came from.

A flag wins over the environment (``TRAILHOUND_…``), that over ``trailhound.toml``, that over the
default. ``settings`` says what there is, ``layers`` puts the sources together.
"""
