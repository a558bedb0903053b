"""What is done when a version is published: try the wheel, list what it brings, audit it."""
