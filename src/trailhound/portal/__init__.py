"""A topic's finds for everybody: search, feeds and a site of static files.

:class:`~trailhound.portal.pages.Portal` is what a server asks; ``site.py`` writes files. Both show
only pages that are relevant, were not rejected, and do not ask to stay unlisted, and of each its
address, title, words, language and the day it was found: nothing of who browsed what.
"""

from trailhound.portal.pages import Portal

__all__ = ["Portal"]
