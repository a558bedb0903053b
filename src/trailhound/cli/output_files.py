"""Files that commands write where a user says."""

from __future__ import annotations

from pathlib import Path


def make_folder_of(path: Path) -> None:
    """Make the folder that ``path`` is to be in, and say so on stderr, unless it is there."""
    from trailhound.cli.console import messages
    from trailhound.storage.files import explaining

    if path.parent.exists():
        return
    with explaining(path):
        path.parent.mkdir(parents=True)
    messages.print(f"Made the folder {path.parent}", soft_wrap=True, markup=False)
