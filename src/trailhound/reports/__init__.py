"""HTML reports: what they share, and the page about a learned topic."""
