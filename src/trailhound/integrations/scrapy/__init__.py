"""Any Scrapy spider, its requests ranked by a topic that was learned: ``docs/scrapy.md``.

::

    SCHEDULER = "trailhound.integrations.scrapy.TrailhoundScheduler"
    SPIDER_MIDDLEWARES = {"trailhound.integrations.scrapy.TrailhoundMiddleware": 950}
    TRAILHOUND_TOPIC = "bees"

1. ``middleware`` lets ``topic_guide`` read each response before the spider does, and gives the
   requests that the spider makes of it their ranks.
2. ``scheduler`` is what Scrapy's engine speaks to; ``request_queue`` keeps requests in a frontier.
"""

from trailhound.errors import UsageError

try:
    from trailhound.integrations.scrapy.scheduler import TrailhoundScheduler
    from trailhound.integrations.scrapy.topic_guide import TrailhoundMiddleware
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("scrapy", "twisted"):
        raise
    raise UsageError(
        f"Crawling with Scrapy needs Scrapy, which cannot be loaded here ({error}). Install it "
        "with: pip install 'trailhound[scrapy]'"
    ) from error

__all__ = ["TrailhoundMiddleware", "TrailhoundScheduler"]
