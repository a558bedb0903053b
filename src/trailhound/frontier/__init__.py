"""The frontier: URLs seen so far, and which of them comes next."""
