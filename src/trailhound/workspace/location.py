"""Which folder is the workspace: what was asked for, else the environment's, else a default."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import platformdirs

WORKSPACE_VARIABLE = "TRAILHOUND_WORKSPACE"


def workspace_folder(chosen: Path | None, environment: Mapping[str, str]) -> Path:
    """``chosen``, else ``TRAILHOUND_WORKSPACE``, else the place of the system for a user's data."""
    if chosen is not None:
        return chosen.expanduser()
    configured = environment.get(WORKSPACE_VARIABLE, "").strip()
    if configured:
        return Path(configured).expanduser()
    return platformdirs.user_data_path("trailhound", appauthor=False)
