"""Measurements that guard quality and cost. Run them with ``make bench``."""
