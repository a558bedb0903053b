"""Pages as a browser makes them: fetched over HTTP, then rendered where that pays.

:mod:`.fetcher` is the plug-in; :mod:`.worth` decides what is rendered, :mod:`.chromium` runs the
browser, :mod:`.visit` is one page in it, :mod:`.parts` answers whatever that page asks for. The
browser has no network: see docs/rendering.md.
"""
