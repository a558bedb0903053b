"""What was learned, as people see it: names of states and clusters, and a page with pictures.

``page`` makes the page of ``trailhound inspect --html``; it is imported only when wanted, because
the drawing library takes long to load.
"""
