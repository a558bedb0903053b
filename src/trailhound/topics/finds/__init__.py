"""What is said of a crawl's pages afterwards: why they were fetched, and how good they are now."""
