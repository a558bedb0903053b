"""The replay lab: recorded webs, topics on them, fair measurement of strategies.

``compare`` is ``trailhound lab run`` as a function. Names are loaded when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
