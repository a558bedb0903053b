"""Trailhound: a focused web crawler that learns from how people browse."""

__version__ = "0.1.0"
