"""The image: nothing that moves, no rights, no secrets, and a server that is looked after."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def steps() -> list[tuple[str, str]]:
    """Instructions and what they say, continued lines joined."""
    lines = [
        line
        for line in (ROOT / "Containerfile").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [
        (name, rest)
        for name, _, rest in (line.partition(" ") for line in joined.splitlines() if line)
    ]


@pytest.fixture(scope="module")
def last(steps: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of the stage that is shipped."""
    start = max(number for number, (name, _) in enumerate(steps) if name == "FROM")
    return steps[start:]


def said(steps: list[tuple[str, str]], name: str) -> list[str]:
    return [rest for instruction, rest in steps if instruction == name]


def test_its_bases_are_named_in_full(steps: list[tuple[str, str]]) -> None:
    bases = {rest.split()[0] for rest in said(steps, "FROM")}
    assert len(bases) == 1
    (base,) = bases
    assert re.fullmatch(r"docker\.io/library/python:3\.1[1-4]-slim-[a-z]+", base)


def test_nobody_is_root_once_the_files_are_there(last: list[tuple[str, str]]) -> None:
    names = [name for name, _ in last]
    (user,) = said(last, "USER")
    assert re.fullmatch(r"[1-9]\d{4}:[1-9]\d{4}", user), (
        "a number: hosts can check that it is not 0"
    )
    assert not {"RUN", "COPY", "ADD"} & set(names[names.index("USER") :])
    assert all("chmod" not in rest and "sudo" not in rest for _, rest in last)


def test_what_is_installed_is_pinned(steps: list[tuple[str, str]]) -> None:
    installs = [rest for rest in said(steps, "RUN") if "pip install" in rest]
    assert "--require-hashes" in installs[0]
    assert "--no-deps" in installs[1]
    assert not said(steps, "ADD")
    assert not re.search(r"curl|wget|apt-get|https?://(?!127)", " ".join(said(steps, "RUN")))


def test_what_changes_often_comes_late(steps: list[tuple[str, str]]) -> None:
    copies = said(steps, "COPY")
    assert copies[0].startswith("requirements-plain.lock ")
    assert copies[1].startswith("dist/")
    allowed = (ROOT / ".containerignore").read_text("utf-8").split()
    assert allowed == ["*", "!dist/trailhound-*.whl", "!requirements-plain.lock"]
    assert (ROOT / ".dockerignore").read_text("utf-8").split() == allowed


def test_no_secret_is_in_it(steps: list[tuple[str, str]]) -> None:
    told = " ".join(said(steps, "ENV") + said(steps, "ARG") + said(steps, "LABEL"))
    assert not re.search(r"token|password|secret|_key\b", told, re.IGNORECASE)


def test_it_serves_and_is_looked_after(last: list[tuple[str, str]]) -> None:
    (check,) = said(last, "HEALTHCHECK")
    probe = json.loads(check[check.index("CMD") + 3 :])
    compile(probe[2], "probe", "exec")
    (port,) = said(last, "EXPOSE")
    assert f":{port}/" in probe[2]
    command = [*json.loads(said(last, "ENTRYPOINT")[0]), *json.loads(said(last, "CMD")[0])]
    assert shlex.join(command) == "trailhound serve --host 0.0.0.0 --insecure"
    assert said(last, "VOLUME") == said(last, "WORKDIR") == ["/data"]


def test_the_plain_lock_is_part_of_the_lock() -> None:
    pins = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)
    plain, everything = (
        set(pins.findall((ROOT / name).read_text("utf-8")))
        for name in ("requirements-plain.lock", "requirements.lock")
    )
    assert len(plain) > 40
    assert plain <= everything
