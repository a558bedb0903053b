"""A small synthetic web, made from a seed, and a server for it on loopback.

How it comes about, one file per step:

1. ``parameters``: the sizes and difficulties of the web.
2. ``topic_words``, ``other_words``, ``foreign_words``, ``names``: the raw words.
3. ``prose``: sentences and titles made of them.
4. ``pages``: a page under construction, and the register of all pages.
5. ``sites`` (a package): universities, clubs, shops, news, forums, directories, oddities.
   They first *plan* pages (address, title, subject), then *write* them, when every page that may
   be linked to is known.
6. ``links``: which related pages a page links to, and with which anchor.
7. ``browsing``: a person looks for each topic; ``web``: everything put together.
8. ``trap``: an endless calendar, made on demand; ``server``: real HTTP on loopback.
"""

from trailhound.demo.parameters import DemoWebParameters
from trailhound.demo.web import DemoResponse, DemoWeb

__all__ = ["DemoResponse", "DemoWeb", "DemoWebParameters"]
