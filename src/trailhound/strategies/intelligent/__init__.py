"""Interest ratios of links (Aggarwal, Al-Garawi and Yu 2001)."""
