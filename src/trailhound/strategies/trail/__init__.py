"""One model of links, learned from the session and on the way."""
