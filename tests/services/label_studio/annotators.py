"""People who label in Label Studio, with the requests of its page."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx

from annotation.label_studio.format.interface import YES
from annotation.label_studio.format.writer import result_of
from annotation.label_studio.models import LabelStudioProject, LabelStudioTask
from annotation.models import Task
from tests.services.label_studio.server import LabelStudio, Person

Result = list[dict[str, Any]]
BOX = (10.0, 20.0, 30.0, 40.0)


def rated(rating: int, why: str = "") -> Result:
    results = [result_of("rating", "attribute", "choices", {"choices": [str(rating)]})]
    if why:
        results.append(result_of("justification", "attribute", "textarea", {"text": [why]}))
    return _numbered(results)


def marked(*texts: str, rotation: float = 0, box: tuple[float, float, float, float] = BOX) -> Result:
    """Return a result with ticked attributes and a box for each; 'none of them' without attributes."""
    if not texts:
        return _numbered([result_of("none_of_the_above", "image", "choices", {"choices": [YES]})])
    results = [result_of("present", "image", "choices", {"choices": list(texts)})]
    left, top, width, height = box
    corners = {"x": left, "y": top, "width": width, "height": height, "rotation": rotation}
    for text in texts:
        value = {**corners, "rectanglelabels": [text]}
        sizes = {"original_width": 512, "original_height": 512, "image_rotation": 0}
        results.append(result_of("box", "image", "rectanglelabels", value) | sizes)
    return _numbered(results)


def _numbered(results: Result) -> Result:
    return [result | {"id": f"r{place}"} for place, result in enumerate(results)]


class Hands:
    """One user at work."""

    def __init__(self, label_studio: LabelStudio, person: Person, http: httpx.Client) -> None:
        self.person = person
        self._http, self._url = http, label_studio.url
        self._headers = {"Authorization": f"Token {person.token}"}

    def answer(self, task: int, result: Result, **more: Any) -> int:
        """Send an annotation; return its number."""
        body = {"result": result, "lead_time": 4.5, **more}
        return int(self.ask("POST", f"tasks/{task}/annotations/", body)["id"])

    def skip(self, task: int) -> int:
        return self.answer(task, [], was_cancelled=True)

    def change(self, annotation: int, result: Result) -> None:
        self.ask("PATCH", f"annotations/{annotation}/", {"result": result, "lead_time": 9.0})

    def draft(self, task: int, result: Result) -> None:
        self.ask("POST", f"tasks/{task}/drafts", {"result": result, "lead_time": 1.0})

    def delete(self, annotation: int) -> None:
        self.ask("DELETE", f"annotations/{annotation}/")

    def delete_task(self, task: int) -> None:
        self.ask("DELETE", f"tasks/{task}/")

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._http.request(method, f"{self._url}/api/{path}", headers=self._headers, json=body)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json() if answer.content else None


@contextmanager
def hands_of(label_studio: LabelStudio, people: Sequence[Person]) -> Iterator[list[Hands]]:
    with httpx.Client(timeout=60, trust_env=False) as http:
        yield [Hands(label_studio, person, http) for person in people]


def there(project: LabelStudioProject, task: Task) -> int:
    """Return the number of our task in a project in Label Studio."""
    return LabelStudioTask.objects.get(project=project, task=task).external_id
