"""Where the browser extension is: inside the installed package, or beside its sources."""

from __future__ import annotations

from pathlib import Path

import trailhound
from trailhound.errors import StorageError


def extension_folder() -> Path:
    """The folder to load into a browser."""
    package = Path(trailhound.__file__).resolve().parent
    for folder in (package / "extension", package.parents[1] / "extension"):
        if (folder / "manifest.json").is_file():
            return folder
    raise StorageError(
        f"The browser extension is not beside {package}. Install Trailhound again, or use "
        "'trailhound import' with another recording."
    )
