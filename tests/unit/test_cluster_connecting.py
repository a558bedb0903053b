"""Joining a Ray cluster: what is said when there is none."""

from __future__ import annotations

import socket
import sys

import pytest

from trailhound.cluster.connecting import connect
from trailhound.errors import TrailhoundError, UsageError


def test_without_ray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'trailhound\[cluster\]'"):
        connect("local")


@pytest.mark.parametrize("address", ["somewhere", "host:port", ":6379", "ray://"])
def test_what_is_no_address_is_said_at_once(address: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        connect(address)


def test_where_nobody_listens_nobody_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(TrailhoundError, match=rf"127.0.0.1:{port}' cannot be joined.*'local'"):
        connect(f"127.0.0.1:{port}")
