"""Judges: is this page on topic? All of them, and what one is made of, are names of this package.

They are listed in ``__init__.pyi`` and loaded when they are first asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
