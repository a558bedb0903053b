"""Reading other people's web archives: WARC files, folders of them, and WACZ packages."""
