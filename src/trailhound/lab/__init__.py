"""The replay lab: recorded webs, topics on them, fair measurement of strategies."""
