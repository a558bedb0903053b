"""Small programs that use Trailhound; each runs as it is."""
