"""How Sphinx builds these pages, with a reference of the library made from its docstrings.

``make docs`` does it, and takes every warning as an error. ``api.md`` holds a marker for each
package; the names that it offers take its place while the page is read, so that none is forgotten.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

import trailhound

project = "Trailhound"
version = release = trailhound.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"Trailhound {version}"
html_copy_source = False
html_show_copyright = False
myst_heading_anchors = 4
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}

_MARKER = re.compile(r"<!-- every name of ([\w.]+) -->")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _name_everything)


def _name_everything(_app: Any, _page: str, source: list[str]) -> None:
    source[0] = _MARKER.sub(lambda found: _directives(found[1]), source[0])


def _directives(package: str) -> str:
    module: Any = import_module(package)
    library: Any = trailhound
    known = () if module is library else library.__all__  # each name has one place
    names = sorted(set(module.__all__).difference(known))
    lines = [_directive(package, name, getattr(module, name)) for name in names]
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```"


def _directive(package: str, name: str, found: Any) -> str:
    if inspect.ismodule(found):
        return ""
    kind = "class" if inspect.isclass(found) else "function" if callable(found) else "data"
    return f".. auto{kind}:: {package}.{name}\n"
