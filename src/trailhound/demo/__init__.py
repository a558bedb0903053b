"""A small synthetic web, made from a seed, and a server for it on loopback.

How it comes about:

1. ``data/``: words and sites, as files to read and change; ``words`` reads them, and says how
   large and how difficult the web is.
2. ``workshop`` makes sentences and titles of the words, and links; it has the register of all
   ``pages``, which know how they are written and sent.
3. ``universities`` and, for all other sites, ``site_plans`` and ``site_texts`` follow the
   declarations. They first *plan* pages (address, title, subject), then *write* them, when every
   page that may be linked to is known. ``trap`` is an endless calendar, made on demand.
4. ``browsing``: a person looks for each topic; ``access_log``: many people read what interests
   them.
5. ``web`` puts everything together and writes what people did; ``server`` answers over real HTTP.
"""

from trailhound.demo.web import DemoResponse, DemoWeb
from trailhound.demo.words import DemoWebParameters

__all__ = ["DemoResponse", "DemoWeb", "DemoWebParameters"]
