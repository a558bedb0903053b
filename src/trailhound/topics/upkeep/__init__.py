"""What keeps a workspace whole and clean: stores checked and mended, topics moved, forgotten."""
