"""The local endpoint of the browser extension: from events over HTTP to session files.

``guard`` decides who may speak, ``messages`` what may be said, ``store`` writes it down,
``learning`` learns after a submit, ``server`` puts them together. Nothing leaves this machine.
"""

from trailhound.collector.guard import Pairing, load_pairing
from trailhound.collector.server import DEFAULT_PORT, Collector, extension_folder

__all__ = ["DEFAULT_PORT", "Collector", "Pairing", "extension_folder", "load_pairing"]
