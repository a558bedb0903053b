"""A recorded web made of manuals that Debian packages ship.

``python -m benchmarks.manuals -o manuals.thc`` downloads the packages with apt, unpacks them beside
each other without installing any, and records each manual as a host of its own, with a portal that
leads to all. ``manuals.toml`` names the manuals, ``topics.toml`` the topics. Nothing of the manuals
themselves is part of the project.
"""
