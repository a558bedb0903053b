"""Runs of a topic's crawl: planned, opened, run and ended, alone or in turns with a search."""
