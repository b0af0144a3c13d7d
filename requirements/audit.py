"""Looks for known vulnerabilities in the packages of an environment: `make audit`.

Ends with 1 if there is one. If the database of vulnerabilities does not answer, or knows none of the packages, the
audit is skipped, which it says, and ends with 0: a machine without network can still run all that CI runs.
"""

import json
import subprocess
import sys
from typing import Any


def main(pip_audit: str, python: str) -> int:
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    packages = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    command = [pip_audit, "--progress-spinner", "off", "--format", "json", "--path", packages]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    try:
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        reason = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        print(f"Audit skipped: the database of vulnerabilities cannot be asked ({reason}).")
        return 0
    audited = [package for package in found if "skip_reason" not in package]
    if not audited:
        print(f"Audit skipped: the registry here has no entries for any of the {len(found)} packages.")
        return 0
    for package in audited:
        for problem in package["vulns"]:
            fixed = ", ".join(problem["fix_versions"]) or "no version yet"
            print(f"{package['name']} {package['version']}: {problem['id']}, fixed in {fixed}")
    print(f"{len(audited)} packages audited, {len(found) - len(audited)} unknown to the registry.")
    return int(any(package["vulns"] for package in audited))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
