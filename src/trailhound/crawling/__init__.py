"""Crawling: the one loop that runs every strategy, on the live web and on a recorded one."""
