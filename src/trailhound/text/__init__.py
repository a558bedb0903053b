"""Text: bytes to pages, pages to terms, terms to vectors."""
