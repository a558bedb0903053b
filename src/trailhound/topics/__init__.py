"""A topic on disk: its sessions, what was learned from them, its crawls and what came of them.

``workspace`` finds topics, ``learning`` makes models and ``model_folder`` keeps them, ``importing``
adds sessions. Five folders are built on these: ``crawls`` is a crawl as it lies on disk, with what
people marked, ``runs`` plans and runs it. On both stand ``finds``, which tells why a page was
fetched or not, exports and judges again, ``control``, by which crawls are started, stopped and
scheduled, and ``upkeep``, which mends stores and takes things out again.
"""
