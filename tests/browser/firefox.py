"""A real Firefox, driven through Marionette: the remote control that is built into it."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EXTENSION_ID = "extension@trailhound.invalid"
EXTENSION_HOST = "0b9f2d7e-6f3a-4c58-9a35-3f2f3a4b5c6d"
"""Firefox draws it by lot for each profile, unless the profile has one already."""
_START_SECONDS = 60.0
_ANSWER_SECONDS = 60.0
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_CONTROL_KEY = "\ue009"


class FirefoxError(Exception):
    """Firefox refused a command."""


class Firefox:
    """What a person does in the browser; pages are named by handles of their tabs."""

    def __init__(self, port: int, profile: Path) -> None:
        self.profile = profile
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=_ANSWER_SECONDS)
        self._stream = self._socket.makefile("rwb")
        self._n_sent = 0
        self._receive()
        self.command("WebDriver:NewSession")

    def command(self, name: str, **parameters: Any) -> Any:
        """One command of Marionette, answered."""
        self._n_sent += 1
        message = json.dumps([0, self._n_sent, name, parameters]).encode()
        self._stream.write(b"%d:%s" % (len(message), message))
        self._stream.flush()
        _, _, error, result = self._receive()
        if error is not None:
            raise FirefoxError(f"{name}: {error['error']}: {error['message']}")
        return result.get("value") if isinstance(result, dict) and "value" in result else result

    def _receive(self) -> Any:
        length = b""
        while (character := self._stream.read(1)) != b":":
            if not character:
                raise FirefoxError("Firefox has gone")
            length += character
        return json.loads(self._stream.read(int(length)))

    def install(self, folder: Path) -> None:
        """Load an extension as *Load Temporary Add-on* does."""
        found = self.command("Addon:Install", path=str(folder), temporary=True)
        assert found == EXTENSION_ID

    # ---- tabs

    def tab(self) -> str:
        """A new tab, which is shown."""
        handle = str(self.command("WebDriver:NewWindow", type="tab", focus=True)["handle"])
        self.show(handle)
        return handle

    def tabs(self) -> list[str]:
        handles: list[str] = self.command("WebDriver:GetWindowHandles")
        return handles

    def show(self, handle: str) -> None:
        self.command("WebDriver:SwitchToWindow", handle=handle, focus=True)

    def close_tab(self) -> None:
        self.command("WebDriver:CloseWindow")

    # ---- moving about

    def open(self, url: str) -> None:
        self.command("WebDriver:Navigate", url=url)

    def type_address(self, url: str) -> None:
        """As by hand, so that Firefox knows that the address was typed."""
        self.command("Marionette:SetContext", value="chrome")
        try:
            entered = "gURLBar.focus(); gURLBar.value = arguments[0]; gURLBar.handleCommand()"
            self.script(entered, url)
        finally:
            self.command("Marionette:SetContext", value="content")

    def back(self) -> None:
        self.command("WebDriver:Back")

    def forward(self) -> None:
        self.command("WebDriver:Forward")

    def reload(self) -> None:
        self.command("WebDriver:Refresh")

    def url(self) -> str:
        return str(self.command("WebDriver:GetCurrentURL"))

    def enter_frame(self, css: str) -> None:
        element = self.command("WebDriver:FindElement", using="css selector", value=css)
        self.command("WebDriver:SwitchToFrame", element=element[_ELEMENT])

    def leave_frame(self) -> None:
        self.command("WebDriver:SwitchToFrame", id=None)

    # ---- in a page

    def click(self, css: str) -> None:
        self.command("WebDriver:ElementClick", id=self._element(css))

    def fill(self, css: str, text: str) -> None:
        self.command("WebDriver:ElementClear", id=self._element(css))
        self.command("WebDriver:ElementSendKeys", id=self._element(css), text=text)

    def text(self, css: str) -> str:
        return str(self.command("WebDriver:GetElementText", id=self._element(css)))

    def is_shown(self, css: str) -> bool:
        return bool(self.command("WebDriver:IsElementDisplayed", id=self._element(css)))

    def _element(self, css: str) -> str:
        found = self.command("WebDriver:FindElement", using="css selector", value=css)
        return str(found[_ELEMENT])

    def click_with_control(self, css: str) -> None:
        """Opens a link in a new tab."""
        origin = {_ELEMENT: self._element(css)}
        keys = [{"type": kind, "value": _CONTROL_KEY} for kind in ("keyDown", "keyUp")]
        wait = {"type": "pause"}
        self._perform(
            [keys[0], wait, wait, wait, keys[1]],
            [wait, {"type": "pointerMove", "x": 0, "y": 0, "origin": origin}, *_PRESS, wait],
        )

    def click_at(self, x: float, y: float) -> None:
        self._perform([], [{"type": "pointerMove", "x": int(x), "y": int(y)}, *_PRESS])

    def _perform(self, keys: list[Any], pointer: list[Any]) -> None:
        actions = [
            {"type": "key", "id": "keyboard", "actions": keys},
            {"type": "pointer", "id": "mouse", "actions": pointer},
        ]
        self.command("WebDriver:PerformActions", actions=actions)
        self.command("WebDriver:ReleaseActions")

    def script(self, source: str, *arguments: Any, sandbox: str | None = None) -> Any:
        """Run as the page, or with ``sandbox="system"`` with the browser's own rights."""
        return self.command(
            "WebDriver:ExecuteScript", script=source, args=list(arguments), sandbox=sandbox
        )

    def promised(self, source: str, *arguments: Any) -> Any:
        """What an expression that is a promise comes to; ``given`` holds the arguments."""
        body = "const given = [...arguments], done = given.pop();"
        script = f"{body} ({source}).then(done, error => done(String(error)))"
        return self.command("WebDriver:ExecuteAsyncScript", script=script, args=list(arguments))

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.command("WebDriver:TakeScreenshot", full=False)))

    def quit(self) -> None:
        """Close it properly, so that its history is on the disk."""
        self.command("Marionette:Quit", flags=["eForceQuit"])
        self._stream.close()
        self._socket.close()


_PRESS: list[Any] = [
    {"type": "pointerDown", "button": 0},
    {"type": "pointerUp", "button": 0},
]


def _preferences(web_port: int) -> dict[str, Any]:
    """The demo web is the browser's proxy: every host is found there, and nothing goes out."""
    proxies = {
        f"network.proxy.{kind}{ending}": value
        for kind in ("http", "ssl")
        for ending, value in (("", "127.0.0.1"), ("_port", web_port))
    }
    return {
        **proxies,
        "network.proxy.type": 1,
        "network.dns.disabled": True,
        "marionette.port": 0,
        "extensions.webextensions.uuids": json.dumps({EXTENSION_ID: EXTENSION_HOST}),
        "dom.security.https_first": False,
    }


@contextmanager
def running_firefox(path: str, profile: Path, web_port: int) -> Iterator[Firefox]:
    """A headless Firefox with a profile of its own; the history stays there when it has quit."""
    profile.mkdir()
    lines = [
        f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
        for name, value in _preferences(web_port).items()
    ]
    (profile / "user.js").write_text("".join(lines), "utf-8")
    command = [path, "--headless", "--no-remote", "--marionette", "--remote-allow-system-access"]
    with subprocess.Popen(
        [*command, "--profile", str(profile)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            firefox = Firefox(_marionette_port(profile, process), profile)
            yield firefox
            firefox.quit()
            process.wait(_ANSWER_SECONDS)
        finally:
            process.kill()


def _marionette_port(profile: Path, process: subprocess.Popen[bytes]) -> int:
    told = profile / "MarionetteActivePort"
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise FirefoxError(f"Firefox ended with code {process.returncode} at its start")
        if told.is_file() and (text := told.read_text()):
            return int(text)
        time.sleep(0.05)
    raise FirefoxError(f"Firefox was not there after {_START_SECONDS} s")


def find_firefox() -> str | None:
    """The browser that the system brings."""
    return next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
