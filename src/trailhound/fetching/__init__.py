"""Fetching: one URL to a result, politely and within limits, live or from a recorded web."""
