"""The app's API, fuzzed by its own description: whatever is asked, it never breaks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from app_server import serving_app
from trailhound.web.openapi import describe
from trailhound.web.routes import ALL_ROUTES

LEFT_OUT = frozenset(
    {
        "stream_happenings",  # has no end
    }
)
"""What cannot be asked at random."""

EXAMPLES = 15


def test_nothing_that_is_asked_breaks_the_app(tmp_path: Path) -> None:
    schema = schemathesis.openapi.from_dict(describe(ALL_ROUTES))
    broken: list[str] = []
    with serving_app(tmp_path) as app:
        for topic in ("bees", "0"):
            app.post(f"/api/topics/{topic}")
        found: Any
        for found in schema.get_all_operations():
            operation = found.ok()
            if operation.definition.raw["operationId"] not in LEFT_OUT:
                _ask_at_random(operation, app.base, app.token, broken)
        assert app.get("/api/home")["version"]
    assert broken == []


def _ask_at_random(operation: Any, base: str, token: str, broken: list[str]) -> None:
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
        answer = case.call(base_url=base, headers={"Authorization": f"Bearer {token}"})
        if answer.status_code >= 500:
            broken.append(f"{case.method} {case.formatted_path} {case.body}: {answer.text[:200]}")

    ask()
