"""What all HTML reports share: one look, and nothing loaded from elsewhere."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from trailhound.counting import counted


def template_environment(package: str) -> Environment:
    """The templates of ``package``, and those shared by all reports. Text is escaped."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("trailhound.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["counted"] = counted
    return environment
