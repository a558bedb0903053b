"""Functions as routes: what they take and give is in their types, and checked by them.

::

    routes = Routes("Topics")

    @routes.get("/api/topics/{topic}")
    def topic(app: App, asked: OneTopic) -> TopicView:
        \"\"\"A topic with its sessions.\"\"\"

A function takes the app and one struct, whose fields come from the path, from the query (GET, and
where a file is sent) or from a body in JSON (the others). It runs in a thread of its own unless it
is a coroutine. What it gives is encoded as JSON; an :class:`Answer` or a response of aiohttp goes
out as it is. A :class:`TrailhoundError` is answered with its own words, as far as they make sense
in the app.

The same routes make the description of the API: OpenAPI 3.1.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import msgspec
from aiohttp import hdrs, web

from trailhound import __version__
from trailhound.errors import UNREADABLE, ConfigError, TrailhoundError, UsageError
from trailhound.web.access import TAKES_FILE, error_answer
from trailhound.web.plain_words import in_app, wrong_request

if TYPE_CHECKING:
    from trailhound.web.state import App

Function = TypeVar("Function", bound=Callable[..., Any])


class Nothing(msgspec.Struct, frozen=True):
    """Of a route that takes, or gives, nothing."""


class OneTopic(msgspec.Struct, frozen=True, kw_only=True):
    """Of a route about one topic."""

    topic: str


class OneCrawl(OneTopic, frozen=True, kw_only=True):
    """Of a route about one crawl of a topic."""

    crawl: str = ""
    """``crawl-1`` … for an earlier one that was set aside; empty for the present one."""


class NotThereError(TrailhoundError):
    """What was asked for does not exist; answered with 404."""


class ConflictError(TrailhoundError):
    """It cannot be done now, for what is going on; answered with 409."""


@dataclass(frozen=True)
class Answer:
    """Bytes of another type than JSON: a download, a picture."""

    body: bytes
    content_type: str
    file_name: str = ""
    """When it is to be saved, the name to save it under."""


@dataclass(frozen=True)
class Route:
    """One thing that can be asked of the app."""

    method: str
    path: str
    group: str
    function: Callable[..., Any]
    takes: type[msgspec.Struct]
    gives: Any
    is_upload: bool = False
    """Whether the body is a file; what else is said is in the query, then."""

    @property
    def says_in_query(self) -> bool:
        """Whether what the function takes is in the address alone."""
        return self.is_upload or self.method in ("GET", "DELETE")

    @property
    def summary(self) -> str:
        """In a sentence."""
        return (inspect.getdoc(self.function) or "").partition("\n\n")[0].replace("\n", " ")

    @property
    def explanation(self) -> str:
        """What else there is to say."""
        return (inspect.getdoc(self.function) or "").partition("\n\n")[2]


class Routes:
    """The routes of one part of the app."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.all: list[Route] = []

    def get(self, path: str) -> Callable[[Function], Function]:
        """Register a function that only looks."""
        return self._adding("GET", path)

    def post(self, path: str) -> Callable[[Function], Function]:
        """Register a function that does something."""
        return self._adding("POST", path)

    def upload(self, path: str) -> Callable[[Function], Function]:
        """Register a coroutine that takes a file: it gets the request as well, and its body."""
        return self._adding("POST", path, is_upload=True)

    def put(self, path: str) -> Callable[[Function], Function]:
        """Register a function that sets something."""
        return self._adding("PUT", path)

    def delete(self, path: str) -> Callable[[Function], Function]:
        """Register a function that removes something."""
        return self._adding("DELETE", path)

    def _adding(
        self, method: str, path: str, *, is_upload: bool = False
    ) -> Callable[[Function], Function]:
        def add(function: Function) -> Function:
            takes = list(inspect.signature(function).parameters)[1]
            hints = get_type_hints(function, localns=_lazy_names())
            gives = hints["return"]
            self.all.append(
                Route(method, path, self.group, function, hints[takes], gives, is_upload)
            )
            return function

        return add


def _lazy_names() -> dict[str, object]:
    """``App`` is only known to type checkers where routes are written."""
    return {"App": object, "web": web}


def handler_of(route: Route, app: App) -> Callable[[web.Request], Any]:
    """The route as a handler of aiohttp."""

    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            asked = await _asked(route, request)
            if inspect.iscoroutinefunction(route.function):
                wants_request = len(inspect.signature(route.function).parameters) > 2
                more = (request,) if wants_request else ()
                return _response(await route.function(app, asked, *more))
            return _response(await asyncio.to_thread(route.function, app, asked))
        except TrailhoundError as error:
            return error_answer(_status(error), in_app(str(error)))

    setattr(handle, TAKES_FILE, route.is_upload)
    return handle


async def _asked(route: Route, request: web.Request) -> msgspec.Struct:
    """What the request says, as the struct that the function takes."""
    values: dict[str, Any] = {}
    if route.says_in_query:
        for name in dict.fromkeys(request.query):
            several = request.query.getall(name)
            values[name] = several if _is_list(route.takes, name) else several[-1]
    else:
        values = await _body(request)
    values |= dict(request.match_info)
    try:
        # Queries are text: "7" may be a number there.
        return msgspec.convert(values, route.takes, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(wrong_request(str(error))) from error


def _is_list(kind: type[msgspec.Struct], name: str) -> bool:
    found = {each.name: each.type for each in msgspec.structs.fields(kind)}.get(name)
    return getattr(found, "__origin__", None) in (list, tuple)


async def _body(request: web.Request) -> dict[str, Any]:
    content = await request.read()
    if not content:
        return {}
    if request.headers.get(hdrs.CONTENT_TYPE, "").partition(";")[0].strip() != "application/json":
        raise UsageError("Only JSON is understood. Say so: Content-Type: application/json.")
    try:
        return msgspec.json.decode(content, type=dict[str, Any])
    except UNREADABLE as error:
        raise UsageError(f"The request's body is no JSON object: {error}.") from error


def _status(error: TrailhoundError) -> int:
    match error:
        case NotThereError():
            return 404
        case ConflictError():
            return 409
        case UsageError() | ConfigError():
            return 400
        case _:
            return 422


def _response(given: Any) -> web.StreamResponse:
    if isinstance(given, web.StreamResponse):
        return given
    if isinstance(given, Answer):
        response = web.Response(body=given.body, headers={hdrs.CONTENT_TYPE: given.content_type})
        if given.file_name:
            quoted = given.file_name.replace("\\", "_").replace('"', "_")
            ascii_name = quoted.encode("ascii", "replace").decode().replace("?", "_")
            response.headers[hdrs.CONTENT_DISPOSITION] = f'attachment; filename="{ascii_name}"'
        return response
    return web.Response(body=msgspec.json.encode(given), content_type="application/json")


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
