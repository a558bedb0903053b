"""What the app can be asked, part by part."""

from trailhound.web.api import Route
from trailhound.web.routes import (
    crawl_figures,
    crawls,
    exports,
    feedback,
    happenings,
    imports,
    lab,
    model,
    playground,
    portal,
    results,
    schedule,
    sessions,
    topics,
)

ALL_ROUTES: list[Route] = [
    *topics.routes.all,
    *sessions.routes.all,
    *imports.routes.all,
    *model.routes.all,
    *playground.routes.all,
    *crawls.routes.all,
    *crawl_figures.routes.all,
    *schedule.routes.all,
    *results.routes.all,
    *feedback.routes.all,
    *exports.routes.all,
    *portal.routes.all,
    *lab.routes.all,
    *happenings.routes.all,
]
"""In the order of the documentation."""
