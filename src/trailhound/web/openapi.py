"""The description of the API, made from the routes: OpenAPI 3.1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from aiohttp import web

from trailhound import __version__
from trailhound.web.api import Answer, Nothing, Route

_REFERENCES = "#/components/schemas/{name}"
_PATH_NAME = re.compile(r"\{(\w+)\}")


def describe(routes: Sequence[Route]) -> dict[str, Any]:
    """The whole API as an OpenAPI document."""
    kinds = [route.takes for route in routes] + [
        route.gives for route in routes if _is_json(route.gives)
    ]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCES)
    of_takes = dict(zip(routes, schemas, strict=False))
    of_gives = dict(
        zip([r for r in routes if _is_json(r.gives)], schemas[len(routes) :], strict=True)
    )
    components["Error"] = {
        "type": "object",
        "properties": {"error": {"type": "string"}},
        "required": ["error"],
    }
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        takes = _resolved(of_takes[route], components)
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(
            route, takes, of_gives.get(route)
        )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Trailhound",
            "version": __version__,
            "description": "What the app can do. Send the app's token as Authorization: Bearer …",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _is_json(kind: Any) -> bool:
    return kind is not Answer and not (
        isinstance(kind, type) and issubclass(kind, web.StreamResponse)
    )


def _resolved(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref", "")
    return components[reference.rpartition("/")[2]] if reference else schema


def _operation(route: Route, takes: dict[str, Any], gives: dict[str, Any] | None) -> dict[str, Any]:
    in_path = set(_PATH_NAME.findall(route.path))
    properties = takes.get("properties", {})
    operation: dict[str, Any] = {
        "tags": [route.group],
        "summary": route.summary,
        "operationId": route.function.__name__,
        "parameters": [
            {
                "name": name,
                "in": "path",
                "required": True,
                "schema": {"type": "string", "minLength": 1},
            }
            for name in _PATH_NAME.findall(route.path)
        ],
        "responses": _responses(gives),
    }
    if route.explanation:
        operation["description"] = route.explanation
    others = {name: each for name, each in properties.items() if name not in in_path}
    required = [name for name in takes.get("required", []) if name in others]
    if route.says_in_query:
        operation["parameters"] += [
            {"name": name, "in": "query", "required": name in required, "schema": each}
            for name, each in others.items()
        ]
        if route.is_upload:
            operation["requestBody"] = {
                "required": True,
                "content": {"application/octet-stream": {"schema": {}}},
            }
    elif route.takes is not Nothing and others:
        body = {"type": "object", "properties": others, "required": required}
        operation["requestBody"] = {
            "required": bool(required),
            "content": {"application/json": {"schema": body}},
        }
    return operation


def _responses(gives: dict[str, Any] | None) -> dict[str, Any]:
    right: dict[str, Any] = {"description": "Done."}
    if gives is not None:
        right["content"] = {"application/json": {"schema": gives}}
    wrong = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    reasons = {
        "400": "The request cannot be understood, or names what cannot be meant.",
        "401": "The token is wrong or missing.",
        "403": "The request comes from elsewhere.",
        "404": "There is no such thing.",
        "409": "It cannot be done now.",
        "413": "Too much at once.",
        "422": "It was understood, and could not be done.",
    }
    return {"200": right} | {
        status: {"description": reason, "content": wrong} for status, reason in reasons.items()
    }
