"""The kinds of site in the demo web. Each plans its pages first and writes them later."""
