"""Content and link structure (Pal, Tomar and Shrivastava 2009)."""
