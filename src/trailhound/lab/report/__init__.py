"""The report of an experiment: one HTML file that needs nothing else to be read."""

from __future__ import annotations

from pathlib import Path

from trailhound.lab.report.page import render_report
from trailhound.lab.results import REPORT_NAME, ExperimentResults, write_whole_file

__all__ = ["render_report", "write_report"]


def write_report(results: ExperimentResults, folder: Path) -> Path:
    """Write ``report.html`` into ``folder``; an existing one is replaced in one step."""
    return write_whole_file(folder / REPORT_NAME, render_report(results).encode())
