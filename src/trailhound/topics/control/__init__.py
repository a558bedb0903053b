"""Crawls as others see and direct them: listed, started, stopped, and scheduled."""
