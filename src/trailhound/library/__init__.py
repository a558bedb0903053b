"""Trailhound from a program: ``learn`` a topic, ``crawl`` for it. ``docs/library.md`` shows both.

Everything here is made of what the command line is made of, and as safe by default.
"""
