"""Who links to a page, for live crawls: from a file of edges, from an HTTP endpoint, and kept."""
