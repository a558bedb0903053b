"""A topic on disk: its sessions, what was learned from them, its crawls and what came of them.

``workspace`` finds topics, ``learning`` makes models and ``model_folder`` keeps them, ``importing``
adds sessions, ``crawl_folder`` is where a crawl lives, ``marking`` learns from its results, and
``forgetting`` takes things out again.
"""
