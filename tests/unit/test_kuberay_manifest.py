"""The manifest for Kubernetes is one: what the RayCluster resource requires, and what is safe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

yaml: Any = pytest.importorskip("yaml")  # Ray brings it along

ROOT = Path(__file__).parents[2]
MANIFEST = ROOT / "deploy" / "kuberay.yaml"
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|Ki|Mi|Gi|Ti)?")
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


@pytest.fixture(scope="module")
def documents() -> dict[str, Any]:
    loaded = list(yaml.safe_load_all(MANIFEST.read_text("utf-8")))
    return {each["kind"]: each for each in loaded}


@pytest.fixture(scope="module")
def cluster(documents: dict[str, Any]) -> Any:
    return documents["RayCluster"]


def groups(cluster: Any) -> Iterator[Any]:
    yield cluster["spec"]["headGroupSpec"]
    yield from cluster["spec"]["workerGroupSpecs"]


def containers(cluster: Any) -> Iterator[Any]:
    for group in groups(cluster):
        yield from group["template"]["spec"]["containers"]


def test_the_resources_are_what_they_say(documents: dict[str, Any], cluster: Any) -> None:
    assert set(documents) == {"PersistentVolumeClaim", "RayCluster"}
    assert cluster["apiVersion"] == "ray.io/v1"
    assert documents["PersistentVolumeClaim"]["apiVersion"] == "v1"
    assert documents["PersistentVolumeClaim"]["spec"]["accessModes"] == ["ReadWriteMany"]
    for each in documents.values():
        assert NAME.fullmatch(each["metadata"]["name"])
        assert set(each) == {"apiVersion", "kind", "metadata", "spec"}
    known = {"rayVersion", "headGroupSpec", "workerGroupSpecs"}
    assert set(cluster["spec"]) == known
    locked = (ROOT / "requirements.lock").read_text("utf-8")
    assert f"\nray=={cluster['spec']['rayVersion']} " in locked


def test_groups_have_what_the_operator_requires(cluster: Any) -> None:
    for group in groups(cluster):
        parameters = group["rayStartParams"]
        assert all(isinstance(value, str) for value in parameters.values())
        assert group["template"]["spec"]["containers"]
    (head,) = cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"]
    assert {port["name"] for port in head["ports"]} == {"gcs-server", "dashboard", "client"}
    for worker in cluster["spec"]["workerGroupSpecs"]:
        assert NAME.fullmatch(worker["groupName"])
        assert 0 <= worker["minReplicas"] <= worker["replicas"] <= worker["maxReplicas"]


def test_containers_are_bounded_and_of_one_version(cluster: Any) -> None:
    for container in containers(cluster):
        resources = container["resources"]
        for limits in (resources["requests"], resources["limits"]):
            assert set(limits) == {"cpu", "memory"}
            assert all(QUANTITY.fullmatch(value) for value in limits.values())
        assert resources["requests"]["memory"] == resources["limits"]["memory"]
        name, _, tag = container["image"].rpartition(":")
        assert name
        assert tag not in ("", "latest")
        assert tag.endswith(f"ray{cluster['spec']['rayVersion']}")
    assert len({container["image"] for container in containers(cluster)}) == 1


def test_nothing_runs_as_root_or_is_open_to_the_world(cluster: Any) -> None:
    assert cluster["spec"]["headGroupSpec"]["serviceType"] == "ClusterIP"
    for group in groups(cluster):
        pod = group["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        assert pod["automountServiceAccountToken"] is False
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    for container in containers(cluster):
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"]["drop"] == ["ALL"]


def test_every_machine_sees_the_workspace(documents: dict[str, Any], cluster: Any) -> None:
    claim = documents["PersistentVolumeClaim"]["metadata"]["name"]
    for group in groups(cluster):
        volumes = {each["name"]: each for each in group["template"]["spec"]["volumes"]}
        assert volumes["workspace"]["persistentVolumeClaim"]["claimName"] == claim
    for container in containers(cluster):
        mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
        environment = {each["name"]: each["value"] for each in container["env"]}
        assert mounts["workspace"] == environment["TRAILHOUND_WORKSPACE"]
