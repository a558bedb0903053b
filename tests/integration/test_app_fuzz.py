"""The app's API, fuzzed by its own description: whatever is asked, it never breaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from app_server import serving_app
from found_pages import Find, crawl_of
from trailhound.web.api import Route, describe
from trailhound.web.routes import ALL_ROUTES, exports, feedback, portal, results

LEFT_OUT = frozenset(
    {
        "stream_happenings",  # has no end
    }
)
"""What cannot be asked at random."""

EXAMPLES = 15


def operations(routes: Sequence[Route]) -> Iterator[Any]:
    """What can be asked, as the app describes it."""
    import schemathesis  # two seconds, which other files need not wait for

    found: Any
    for found in schemathesis.openapi.from_dict(describe(routes)).get_all_operations():
        yield found.ok()


def test_nothing_that_is_asked_breaks_the_app(tmp_path: Path) -> None:
    broken: list[str] = []
    with serving_app(tmp_path) as app:
        for topic in ("bees", "0"):
            app.post(f"/api/topics/{topic}")
        for operation in operations(ALL_ROUTES):
            if operation.definition.raw["operationId"] not in LEFT_OUT:
                _ask_at_random(operation, app.base, app.token, broken)
        assert app.get("/api/home")["version"]
    assert broken == []


def test_nothing_that_is_asked_of_a_crawl_breaks_the_app(tmp_path: Path) -> None:
    groups = [results.routes, feedback.routes, exports.routes, portal.routes]
    finds = [
        Find(f"https://bees.example/{number}", html=f"<title>Hive {number}</title><p>bees")
        for number in range(5)
    ]
    broken: list[str] = []
    with serving_app(tmp_path) as app:
        crawl_of(tmp_path, finds).topic.prepare()
        for operation in operations([each for one in groups for each in one.all]):
            _ask_at_random(operation, app.base, app.token, broken, topic="bees")
        assert len(app.get("/api/topics/bees/results")["results"]) == 5
    assert broken == []


def _ask_at_random(
    operation: Any, base: str, token: str, broken: list[str], topic: str | None = None
) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        if topic is not None:
            case.path_parameters["topic"] = topic
            for said in (case.query, case.body):
                if isinstance(said, dict):  # hardly a name is of a crawl: nothing else would count
                    said.pop("crawl", None)
        answer = case.call(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=120)
        if answer.status_code >= 500:
            broken.append(f"{case.method} {case.formatted_path} {case.body}: {answer.text[:200]}")

    ask()
