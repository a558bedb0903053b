"""Strategies: which link next? One file each, registered as entry points."""
