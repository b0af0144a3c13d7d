"""The manifests in docker/kubernetes: valid for the API of Kubernetes, confined, and started as documented."""

import shutil
import subprocess
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from tests.project.test_docker import command_of

ROOT = Path(__file__).resolve().parents[3]
DOCKER = ROOT / "docker"
FILES = sorted((DOCKER / "kubernetes").glob("*.yaml"))
MANIFESTS = [manifest for path in FILES for manifest in yaml.safe_load_all(path.read_text(encoding="utf-8"))]
KUSTOMIZATION = yaml.safe_load((DOCKER / "kustomization.yaml").read_text(encoding="utf-8"))
# The oldest supported version of Kubernetes, and the newest that the validator has.
VERSIONS = ["1.33", kubernetes_validate.latest_version()]
pytestmark = pytest.mark.database_free


def of_kind(*kinds):
    return {m["metadata"]["name"].removeprefix("stereoscope-"): m for m in MANIFESTS if m["kind"] in kinds}


PODS = {name: manifest["spec"]["template"] for name, manifest in of_kind("Deployment", "Job").items()}
CONTAINERS = [
    pytest.param(name, container, id=f"{name}: {container['name']}")
    for name, pod in PODS.items()
    for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]
]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda m: f"{m['kind']} {m['metadata']['name']}")
def test_the_api_of_kubernetes_accepts_a_manifest(manifest, version):
    kubernetes_validate.validate(manifest, version, strict=True)


def test_a_misspelt_field_is_noticed():
    wrong = {**of_kind("Deployment")["web"], "spek": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_kustomize_puts_everything_together():
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl is not installed")
    done = subprocess.run([kubectl, "kustomize", DOCKER], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    made = list(yaml.safe_load_all(done.stdout))
    assert len(made) == len(MANIFESTS) + 1  # and the proxy's configuration
    for manifest in made:
        kubernetes_validate.validate(manifest, VERSIONS[-1], strict=True)
        assert manifest["kind"] == "Namespace" or manifest["metadata"]["namespace"] == "stereoscope"
    assert "stereoscope-web:0.1.0" in done.stdout


def test_every_file_belongs_to_the_kustomization():
    assert sorted(KUSTOMIZATION["resources"]) == [f"kubernetes/{path.name}" for path in FILES]
    assert KUSTOMIZATION["configMapGenerator"][0]["files"] == ["nginx.conf.template"]


def test_web_server_workers_proxy_and_migrations_are_there():
    assert set(PODS) == {"migrations", "web", "worker", "gpu-worker", "proxy"}
    assert of_kind("Job").keys() == {"migrations"}


@pytest.mark.parametrize(("pod", "container"), CONTAINERS)
def test_a_container_may_do_nothing_that_it_does_not_need(pod, container):
    spec = PODS[pod]["spec"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"requests", "limits"} <= set(container["resources"])
    volumes = {volume["name"] for volume in spec["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} <= volumes


@pytest.mark.parametrize("name", sorted(PODS))
def test_every_pod_that_stays_is_probed(name):
    (container,) = PODS[name]["spec"]["containers"]
    probes = {probe for probe in container if probe.endswith("Probe")}
    expected = {"startupProbe", "livenessProbe"}
    if name == "migrations":
        expected = set()
    elif name in {"web", "proxy"}:
        expected.add("readinessProbe")
    assert probes == expected


@pytest.mark.parametrize("name", ["web", "worker", "gpu-worker"])
def test_nothing_starts_before_the_database_has_been_migrated(name):
    (waits,) = PODS[name]["spec"]["initContainers"]
    assert "migrate --check" in waits["command"][-1]


def test_the_same_commands_are_started_as_by_compose():
    services = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))["services"]
    for name in ("worker", "gpu-worker"):
        assert PODS[name]["spec"]["containers"][0]["command"] == services[name]["command"]
    assert "command" not in PODS["web"]["spec"]["containers"][0]  # the image's own
    assert "gunicorn" in command_of("web")
    assert PODS["migrations"]["spec"]["containers"][0]["command"][-1] == services["prepare"]["command"][-1]
    proxy, service = PODS["proxy"]["spec"]["containers"][0], services["proxy"]
    assert proxy["image"] == service["image"]
    assert {variable["name"] for variable in proxy["env"]} == set(service["environment"])
    written = service["command"][-1].replace("$$", "$").replace("stereoscope.template", "nginx.conf.template")
    assert proxy["command"][-1] == written.replace("/etc/nginx/", "/etc/stereoscope/")


def test_the_settings_are_those_of_compose_and_secrets_come_as_files():
    data = of_kind("ConfigMap")["stereoscope"]["data"]
    services = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))["services"]
    known = set(services["web"]["environment"]) | {"LOG_FORMAT"}
    assert set(data) <= known
    for name, value in data.items():
        if name.endswith("_FILE"):
            assert value == services["web"]["environment"][name].replace("/run/secrets", "/etc/stereoscope")
        else:
            assert not any(word in name for word in ("KEY", "PASSWORD", "SECRET", "TOKEN"))
    assert {name for name in known if name.endswith("_FILE")} <= set(data)
    assert not of_kind("Secret")


def test_only_the_proxy_is_reached_from_outside():
    policies = of_kind("NetworkPolicy")
    closed = policies["closed"]["spec"]
    assert closed["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in closed
    assert "egress" not in closed
    selected = closed["podSelector"]["matchLabels"].items()
    assert all(selected <= pod["metadata"]["labels"].items() for pod in PODS.values())
    open_to_all = [
        name
        for name, policy in policies.items()
        for rule in policy["spec"].get("ingress", [])
        if "from" not in rule
    ]
    assert open_to_all == ["proxy"]
    (web,) = policies["web"]["spec"]["ingress"]
    assert web["ports"] == [{"port": 8000}]
