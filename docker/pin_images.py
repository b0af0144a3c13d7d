#!/usr/bin/env python3
"""Write the current digest of each image's tag into the files that name images: `make pin-images`.

It asks each image's registry, as `docker pull` does, and changes nothing if one does not answer. Look at the
difference, start the containers once, and commit it. Needs Python alone.
"""

import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

# An image with a digest: registry (Docker Hub if there is none), name, tag.
PINNED = re.compile(r"(?P<image>[a-z0-9][\w./:-]*:[\w.-]+)@(?P<digest>sha256:[0-9a-f]{64})")
# What a tag may stand for: a list of images for several architectures, or one image.
KINDS = ", ".join(
    [
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    ]
)
FILES = ["compose.yaml", "web.Dockerfile", "worker.Dockerfile", "kubernetes/proxy.yaml"]


def current_digest(image: str) -> str:
    """Ask the registry for the digest that the tag of an image stands for now."""
    name, _, tag = image.rpartition(":")
    host, _, path = name.partition("/")
    if not ("." in host or ":" in host):
        host, path = "registry-1.docker.io", name if "/" in name else f"library/{name}"
    scheme = "http" if host.partition(":")[0] in {"127.0.0.1", "localhost"} else "https"
    request = urllib.request.Request(
        f"{scheme}://{host}/v2/{path}/manifests/{tag}", method="HEAD", headers={"Accept": KINDS}
    )
    try:
        answer = urllib.request.urlopen(request, timeout=30)
    except urllib.error.HTTPError as error:
        if error.code != 401:
            raise
        request.add_header("Authorization", f"Bearer {_token(error.headers['WWW-Authenticate'])}")
        answer = urllib.request.urlopen(request, timeout=30)
    digest = str(answer.headers["Docker-Content-Digest"])
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise ValueError(f"the registry returned no digest for {image}")
    return digest


def _token(challenge: str) -> str:
    """Get the token that a registry gives to everybody who wants to read."""
    fields = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    query = urllib.parse.urlencode({name: fields[name] for name in ("service", "scope") if name in fields})
    with urllib.request.urlopen(f"{fields['realm']}?{query}", timeout=30) as answer:
        given = json.load(answer)
    return str(given.get("token") or given["access_token"])


def main(folder: Path) -> int:
    texts = {path: path.read_text(encoding="utf-8") for path in map(folder.joinpath, FILES)}
    before = {match["image"]: match["digest"] for text in texts.values() for match in PINNED.finditer(text)}
    try:
        after = {image: current_digest(image) for image in sorted(before)}
    except (OSError, ValueError) as error:
        print(f"Nothing was changed: {error}", file=sys.stderr)
        return 1
    for path, text in texts.items():
        path.write_text(PINNED.sub(lambda match: f"{match['image']}@{after[match['image']]}", text), "utf-8")
    for image, digest in after.items():
        print(f"{'unchanged' if digest == before[image] else 'new      '}  {image}  {digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent))
