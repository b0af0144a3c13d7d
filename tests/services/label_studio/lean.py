"""Use every function of the bridge with the lean set of packages: python -m tests.services.label_studio.lean.

The packages that Label Studio's client adds in the full set cannot be imported here, even if they are installed.
"""

import importlib.abc
import sys
from importlib.metadata import requires


class _NotInTheLeanSet(importlib.abc.MetaPathFinder):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"{name} is not in requirements/web.txt", name=name)


# Import names of packages that differ from their own names.
_IMPORTED_AS = {
    "opencv-python-headless": "cv2",
    "pillow": "PIL",
    "pyjwt": "jwt",
    "datamodel-code-generator": "datamodel_code_generator",
    "requests-mock": "requests_mock",
}


def _names(lines: list[str]) -> set[str]:
    names = set()
    for line in lines:
        name = line.partition(";")[0].strip()
        for end in "[<>=!~ (":
            name = name.partition(end)[0]
        names.add(name.lower().replace("_", "-"))
    return names


def main() -> None:
    url, token = sys.argv[1:]
    with open("requirements/web.txt", encoding="utf-8") as lean:
        here = _names([line for line in lean if line.strip() and not line.startswith(("#", "-"))])
    missing = _names(requires("label-studio-sdk") or []) - here
    sys.meta_path.insert(0, _NotInTheLeanSet({_IMPORTED_AS.get(name, name) for name in missing}))
    import django

    django.setup()
    from django.test.utils import override_settings

    with override_settings(LABEL_STUDIO_ALLOWED_HOSTS=["127.0.0.1"]):
        _do_everything(url, token)


def _do_everything(url: str, token: str) -> None:
    from annotation.label_studio.client.rest import Client

    with Client(url, token) as client:
        assert client.version()
        assert client.whoami()["id"]
        assert client.users()
        project = client.create_project(
            title="Lean", configuration="<View/>", annotations_per_task=1, instructions=""
        )
        client.update_project(project, title="Leaner")
        assert client.project(project)["title"] == "Leaner"
        assert [one["id"] for one in client.projects(title="Leaner")] == [project]
        [task] = client.import_tasks(project, [{"ref": "a"}])
        client.update_task_data(task, {"ref": "b"})
        assert list(client.task_refs(project)) == [(task, "b")]
        assert [one["id"] for page in client.tasks_with_annotations(project) for one in page] == [task]
        assert client.annotations_of(task) == []
        webhook = client.create_webhook(
            project=project, url="http://127.0.0.1:9/", headers={}, actions=["ANNOTATION_CREATED"]
        )
        assert [one["id"] for one in client.webhooks(project)] == [webhook]
        client.delete_webhook(webhook)
        client.delete_tasks(project, [task])
        client.delete_project(project)
    sys.stdout.write("all of it\n")


if __name__ == "__main__":
    main()
