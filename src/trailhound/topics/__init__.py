"""A topic on disk: its sessions, what was learned from them, its crawls and what came of them.

``workspace`` finds topics, ``learning`` makes models and ``model_folder`` keeps them, ``importing``
adds sessions. ``crawl_folder`` is where a crawl lives, ``crawl_plan`` decides what a run is to do,
``crawl`` runs it. ``marking`` learns from its results, ``explaining`` tells why a page was fetched
or not, and ``forgetting`` takes things out again.
"""
