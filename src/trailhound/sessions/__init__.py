"""Browsing sessions: what a person visited and marked, and the page graph made of it."""
