"""A topic on disk: what was shown, what was learned, and its crawls."""
