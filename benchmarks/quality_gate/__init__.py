"""The quality gate: no change may make the crawls worse than the floors pinned in JSON.

``python -m benchmarks.quality_gate demo`` guards the generated web and is part of ``make test``;
``python -m benchmarks.quality_gate real`` guards the real data sets and is part of ``make bench``.
"""
