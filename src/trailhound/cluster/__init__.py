"""One crawl on many machines: ordinary crawls that own some hosts each, and bring links around.

Ray starts them, finds them a machine and carries their messages (:mod:`.actors`, :mod:`.driver`);
everything else here does without it.
"""
