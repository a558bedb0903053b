"""The local endpoint of the browser extension: from events over HTTP to session files.

``guard`` decides who may speak, ``store`` what may be said and where it is written, ``server`` puts
them together and learns after a submit. Nothing leaves this machine.
"""

from trailhound.collector.guard import Pairing, load_pairing
from trailhound.collector.server import (
    DEFAULT_PORT,
    Collector,
    extension_folder,
    learned_in_words,
)

__all__ = [
    "DEFAULT_PORT",
    "Collector",
    "Pairing",
    "extension_folder",
    "learned_in_words",
    "load_pairing",
]
