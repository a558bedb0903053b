"""Foreign records of browsing as sessions: HAR, web archives, browser histories, server logs.

Each reader gives :class:`~trailhound.sessions.importers.base.Imported`: sessions, and a tally of
what was read, what was left out, and why. Damaged parts are counted, never fatal; a file that is
of another kind altogether is a :class:`~trailhound.errors.SessionError`.
"""
