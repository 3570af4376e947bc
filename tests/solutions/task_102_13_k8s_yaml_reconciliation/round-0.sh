# First attempt: parses, but forgets that the image transformer runs after the patches.
find clawbench/sources -type f | sort
#---
mkdir -p results
cat > reconcile.py <<'PY'
"""Reads the repository with a loader that reports repeated keys, and merges the overlays."""

import json
from pathlib import Path

import yaml

ROOT = Path("clawbench/sources/k8s_config")
repeated = []


class Loader(yaml.SafeLoader):
    pass


def mapping(loader, node):
    seen = {}
    for key, value in node.value:
        name = loader.construct_object(key)
        text = getattr(value, "value", None)
        if name in seen:
            repeated.append((loader.name, name, seen[name], text))
        seen[name] = text
    return yaml.SafeLoader.construct_mapping(loader, node, deep=True)


Loader.add_constructor("tag:yaml.org,2002:map", mapping)


def load(relative):
    with (ROOT / relative).open(encoding="utf-8") as stream:
        return [d for d in yaml.load_all(stream, Loader) if d]


def of_kind(documents, kind):
    return next((d for d in documents if d["kind"] == kind), None)


def container(deployment):
    return deployment["spec"]["template"]["spec"]["containers"][0]


base_map = load("base/configmap.yaml")[0]
base = load("base/deployment.yaml")[0]
overlays = {
    name: {
        "patch": load(f"overlays/{name}/patch.yaml"),
        "kustomization": load(f"overlays/{name}/kustomization.yaml")[0],
    }
    for name in ("staging", "prod")
}
PY
cat > report.py <<'PY'
from reconcile import *

resolved = {
    "base": {
        "configmap": base_map["data"],
        "image": container(base)["image"],
        "replicas": base["spec"]["replicas"],
    }
}
for name, overlay in overlays.items():
    deployment = of_kind(overlay["patch"], "Deployment")
    resolved[name] = {
        "configmap": {**base_map["data"], **of_kind(overlay["patch"], "ConfigMap")["data"]},
        "image": container(deployment)["image"],
        "replicas": deployment["spec"]["replicas"],
    }
conflicts = [
    {
        "id": f"repeated-{key}",
        "type": "duplicate key",
        "files": [str(Path(file).relative_to(ROOT))],
        "object": "ConfigMap/orders-config",
        "why": f"{key} stands twice in one mapping and the last one wins",
        "effective_value": last,
        "shadowed_value": first,
    }
    for file, key, first, last in repeated
]
for variable in container(base)["env"]:
    if not isinstance(variable["value"], str):
        conflicts.append(
            {
                "id": f"type-of-{variable['name']}",
                "type": "type coercion",
                "files": ["base/deployment.yaml"],
                "object": "Deployment/orders",
                "why": f"the unquoted value of {variable['name']} parses as a boolean, not the string 'no'",
                "effective_value": variable["value"],
                "shadowed_value": "no",
            }
        )
Path("results/yaml_conflicts.json").write_text(json.dumps(conflicts, indent=2), encoding="utf-8")
Path("results/yaml_resolved.json").write_text(json.dumps(resolved, indent=2), encoding="utf-8")
print(json.dumps(conflicts, indent=2))
PY
python3 report.py
#: I parsed the repository; the conflicts and the resolved state are in results.
