"""A topic's crawl on disk: its files, how it is, what it archived, what people marked."""
