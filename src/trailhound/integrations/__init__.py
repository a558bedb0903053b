"""Trailhound inside other people's crawlers."""
