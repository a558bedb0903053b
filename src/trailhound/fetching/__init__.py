"""fetching."""
