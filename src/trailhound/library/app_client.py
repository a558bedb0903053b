"""The running app from a program: all that its API can do, by the names in its description.

::

    with AppClient.of_workspace(Path("~/hounds").expanduser()) as app:
        app.ask("create_topic", topic="bees")
        for topic in app.ask("show_home")["topics"]:
            ...

Names and parameters are those of ``/docs``; the server describes itself, so that a client is never
older than the app it speaks to.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

from trailhound.errors import StorageError, TrailhoundError, UsageError, unknown_name
from trailhound.storage.locks import is_held

DEFAULT_ADDRESS = "http://127.0.0.1:8917"
_SECONDS = 60.0
_IDLE_SECONDS = 5.0
"""A connection that has waited for longer is not used again."""
_WITHOUT_BODY = ("GET", "DELETE")
_NAMES = re.compile(r"\{(\w+)\}")


class RefusedError(TrailhoundError):
    """The app has refused a request, with its own words."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class AppClient:
    """Speaks to an app at ``address`` with its ``token``."""

    def __init__(self, address: str, token: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"'{address}' is no address of an app. Try {DEFAULT_ADDRESS}.")
        self._kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._host, self._port = parts.hostname, parts.port
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._connection = self._connect()
        self._used_at = time.monotonic()

    @classmethod
    def of_workspace(cls, folder: Path, address: str | None = None) -> Self:
        """With the token that is kept in a workspace on this machine, and where it is served."""
        path = folder / "app.json"
        try:
            token = json.loads(path.read_bytes())["token"]
        except (OSError, ValueError, KeyError) as error:
            raise StorageError(
                f"{path} holds no token ({error}). Start the app once: trailhound serve"
            ) from error
        return cls(address or _served_at(folder), token)

    def ask(self, operation: str, **values: Any) -> Any:
        """Do what the operation does; JSON comes as Python's objects, all else as bytes.

        UsageError for a name that the app does not know, RefusedError with the app's own words.
        """
        if operation not in self.operations:
            raise unknown_name("operation", operation, sorted(self.operations))
        method, path = self.operations[operation]
        in_path = _NAMES.findall(path)
        missing = [name for name in in_path if name not in values]
        if missing:
            raise UsageError(f"'{operation}' needs {missing[0]}=…, which says what it is about.")
        path = _NAMES.sub(lambda found: quote(str(values[found[1]]), safe=""), path)
        others = {
            name: value
            for name, value in values.items()
            if name not in in_path and (value is not None or method not in _WITHOUT_BODY)
        }
        if method in _WITHOUT_BODY:
            query = urlencode(others, doseq=True)
            return self._answer(method, f"{path}?{query}" if query else path, None)
        return self._answer(method, path, json.dumps(others).encode())

    @cached_property
    def operations(self) -> dict[str, tuple[str, str]]:
        """Everything that can be asked: method and path by name."""
        described = self._answer("GET", "/api/openapi.json", None)
        return {
            operation["operationId"]: (method.upper(), path)
            for path, methods in described["paths"].items()
            for method, operation in methods.items()
        }

    def happenings(self) -> Iterator[dict[str, str]]:
        """What happens from now on, one after the other, for as long as somebody iterates."""
        connection = self._connect()
        try:
            connection.request("GET", "/api/happenings", headers=self._headers)
            response = connection.getresponse()
            if response.status != 200:
                raise _refusal(response)
            for line in response:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])
        except (OSError, HTTPException) as error:
            raise StorageError(
                f"The app does not answer any more ({error}). Is 'trailhound serve' still running?"
            ) from error
        finally:
            connection.close()

    def _connect(self) -> HTTPConnection:
        return self._kind(self._host, self._port, timeout=_SECONDS)

    def close(self) -> None:
        """Let the connection go."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, method: str, path: str, body: bytes | None) -> Any:
        try:
            response = self._asked(method, path, body)
            if response.status != 200:
                raise _refusal(response)
            content = response.read()
            self._used_at = time.monotonic()
        except (OSError, HTTPException) as error:
            self._connection.close()
            raise StorageError(
                f"The app does not answer ({error}). Is 'trailhound serve' running?"
            ) from error
        is_json = response.headers.get_content_type() == "application/json"
        return json.loads(content) if is_json else content

    def _asked(self, method: str, path: str, body: bytes | None) -> HTTPResponse:
        """An app that was started again has closed the connection: a question is asked anew."""
        if time.monotonic() > self._used_at + _IDLE_SECONDS:
            self._connection.close()  # before the app does so, perhaps while it is being asked
        may_repeat = method == "GET" and self._connection.sock is not None
        try:
            self._connection.request(method, path, body, self._headers)
            return self._connection.getresponse()
        except ConnectionError:  # RemoteDisconnected is one
            self._connection.close()
            if not may_repeat:
                raise
        self._connection.request(method, path, body, self._headers)
        return self._connection.getresponse()


def _refusal(response: HTTPResponse) -> RefusedError:
    content = response.read()
    try:
        message = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError):
        message = content.decode("utf-8", "replace") or response.reason
    return RefusedError(response.status, message)


def _served_at(workspace: Path) -> str:
    """By the server that serves it; another one must not be shown the token."""
    if is_held(workspace / "app.lock"):
        with suppress(OSError, ValueError, KeyError):
            return str(json.loads((workspace / "app-running.json").read_bytes())["address"])
    raise StorageError(f"The app of {workspace} is not running. Start it with: trailhound serve")
