"""One crawl on many machines: shards, who owns them, and where they are kept."""
