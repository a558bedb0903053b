"""A hostile web on this machine, and a crawl of it that is killed, starved and confused.

    python -m benchmarks.chaos [--kills N] [--seed N] [--at-once N]

``kinds/`` is the table of misbehaviour, a row for each kind: a server with that name behaves like
that. ``web.py`` puts such hosts beside healthy ones, ``server.py`` serves them from raw sockets.
``crawl.py`` runs ``trailhound crawl`` in a process of its own, ``torments.py`` is what happens to
it on the way, ``proof.py`` says what must be true afterwards, and ``rounds.py`` lets it all happen.
The table also serves ``tests/integration/test_hostile_servers.py``, which fetches the kinds one by
one.
"""
