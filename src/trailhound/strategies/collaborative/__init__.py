"""Collaborative crawling (Aggarwal 2002): statistics over an access trace."""
