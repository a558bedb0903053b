"""Crawls of the live web: a topic's crawl on disk, its making from parts, and what came of it.

``folder`` is where it lives, ``plan`` decides what a run is to do, ``parts`` makes what it needs,
``crawl`` runs it, ``explaining`` tells why a page was fetched or not.
"""
