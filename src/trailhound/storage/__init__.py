"""What a crawl keeps on disk: results, WARC files, a log; and how files are written safely."""
