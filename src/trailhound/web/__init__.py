"""The app: topics, sessions, learning, crawls and results in a browser, and the same as an API.

``access`` decides who may speak, ``api`` turns functions into documented routes, ``routes`` has the
functions, ``jobs`` what takes a while, ``server`` puts them together with the collector. The pages
in ``static`` are clients of the API and know nothing else. Nothing leaves this machine.
"""

from trailhound.web.access import AppToken, load_token
from trailhound.web.portal_server import PortalListening, PortalServer
from trailhound.web.server import AppServer, Listening

__all__ = ["AppServer", "AppToken", "Listening", "PortalListening", "PortalServer", "load_token"]
