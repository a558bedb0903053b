"""Lock files, the bill of materials and the audit of dependencies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from release import audit, locks, sbom


def test_a_lock_is_read_as_pip_reads_it(tmp_path: Path) -> None:
    lock = tmp_path / "some.lock"
    first, second = "a" * 64, "b" * 64
    lock.write_text(
        f"Big_Bee==1.2 ; sys_platform == 'win32' \\\n    --hash=sha256:{first} \\\n"
        f"    --hash=sha256:{second}\n    # via trailhound\nwasp==3\n"
    )
    pins = locks.read_lock(lock)
    assert pins == [locks.Pin("big-bee", "1.2", (first, second)), locks.Pin("wasp", "3", ())]
    assert list(audit.unhashed({lock: pins})) == ["some.lock: wasp has no hash. Run 'make lock'."]
    lock.write_text("wasp @ git+https://example.org/wasp\n")
    with pytest.raises(ValueError, match=r"some\.lock pins no version in: wasp @"):
        locks.read_lock(lock)


def test_our_dependencies_pass_the_audit(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.main(["--offline"]) == 0, capsys.readouterr().out


def test_what_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    old = locks.Pin("numpy", "0.1", ())
    assert "no pin meets numpy>=" in "\n".join(audit.unmet([old]))
    assert "numpy 0.1 is not in" in "\n".join(audit.disagreeing([old], []))
    assert "is installed, 0.1 pinned" in "\n".join(audit.not_as_pinned([old]))
    assert audit.is_compatible("GPL-2.0-only OR (MIT AND BSD-3-Clause)")
    assert not audit.is_compatible("GPL-3.0-only AND MIT")
    monkeypatch.setattr(audit, "OSV", "http://127.0.0.1:9/")
    (told,) = audit.vulnerable([old])
    assert "cannot be asked" in told


def test_the_bill_names_every_package_with_its_licence() -> None:
    pins = locks.read_lock(locks.PLAIN)
    made = sbom.bill(pins)
    assert made == sbom.bill(pins)
    refs = [component["bom-ref"] for component in made["components"]]
    assert len(refs) == len(set(refs)) == len(pins)
    numpy = next(
        each for each in made["components"] if each["name"] == "numpy" and "licenses" in each
    )
    assert len(numpy["externalReferences"][0]["hashes"][0]["content"]) == 64
    edges = {edge["ref"]: edge["dependsOn"] for edge in made["dependencies"]}
    assert numpy["purl"] in edges[sbom.SELF]
    assert {ref for needed in edges.values() for ref in needed} <= set(edges)
    json.dumps(made)
    assert "| numpy |" in sbom.licence_table(pins)
