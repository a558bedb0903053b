"""Searches that can be asked: an HTTP endpoint, the pages a crawl has kept, any pages one has.

Each is a :class:`trailhound.sources.SearchSource`; ``docs/search-turns.md`` says how to name one.
"""
