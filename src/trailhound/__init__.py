"""Trailhound: a focused web crawler that learns from how people browse.

``learn`` a topic, ``crawl`` for it: ``docs/library.md`` shows the library at work. Its names are
listed in ``__init__.pyi`` and loaded when they are first used, so that ``import trailhound`` takes
no time.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
