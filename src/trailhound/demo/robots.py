"""The robots.txt of each host."""

from __future__ import annotations

from trailhound.demo.pages import Site

CLOSED_HOST_PREFIX = "intranet."
_SLOW_HOST_PREFIXES = ("forum.", "mirror.", "www.heimatverein")


def robots_txt(site: Site) -> str:
    """What robots may fetch: everything but ``/private/`` on most hosts, nothing on one."""
    if site.host.startswith(CLOSED_HOST_PREFIX):
        return "User-agent: *\nDisallow: /\n"
    rules = "User-agent: *\nDisallow: /private/\n"
    if site.host.startswith(_SLOW_HOST_PREFIXES):
        rules += "Crawl-delay: 1\n"
    return rules
