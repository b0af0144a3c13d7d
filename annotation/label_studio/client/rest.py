"""Requests to a Label Studio server; no other module sends requests.

Small requests use Label Studio's own client. Large numbers of tasks do not, because it would make an object of each.
Both use one guarded connection that adds the token; Label Studio's client never sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import orjson
from django.conf import settings

from annotation.label_studio.client import errors, pagination, responses
from annotation.label_studio.client.encryption import unseal
from annotation.label_studio.models import LabelStudioServer

if TYPE_CHECKING:
    import httpx
    from label_studio_sdk.core.http_response import HttpResponse
    from label_studio_sdk.core.request_options import RequestOptions

# Longer answers are not read; the sizes of pages and chunks stay well below this limit.
LARGEST_ANSWER = 96 * 1024 * 1024
TASKS_PER_IMPORT = 2500
# The fields that are read from tasks and annotations: leaving out the others halves Label Studio's work. Its list of
# tasks takes one set of names for both.
_READ = (
    "id,data,annotations,project,task,result,completed_by,updated_by,created_at,updated_at,was_cancelled,"
    "lead_time,ground_truth"
)
_UNUSED = "unused"
_MOST_PAGES = 500  # of projects


class Client:
    """A connection to one server, as the owner of a token. Close it, or use it in a `with` block."""

    def __init__(
        self, url: str, token: str, *, seconds: float | None = None, within: float | None = None
    ) -> None:
        """`seconds` is the limit for each request, `within` for all together if a person waits for a page."""
        try:
            # Imported here: it is only in the full installation, and importing it takes time.
            from label_studio_sdk.base_client import LabelStudioBase

            from annotation.label_studio.client.guard import GuardedClient, plain_address
        except ImportError:
            raise errors.sdk_missing() from None
        self.url = plain_address(url)
        self._http = GuardedClient(
            base=self.url,
            token=token,
            seconds=seconds or settings.LABEL_STUDIO_TIMEOUT_SECONDS,
            limit=LARGEST_ANSWER,
            within=within,
        )
        self._sdk = LabelStudioBase(
            base_url=self.url, api_key=_UNUSED, httpx_client=self._http, max_retries=0
        )

    @classmethod
    def of(cls, server: LabelStudioServer, *, within: float | None = None) -> Self:
        """Connect to a server with the stored connection."""
        return cls(server.url, unseal(server.token), within=within)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def version(self) -> str:
        """Return the server's version, which needs no token."""
        # Without the SDK: its parser cannot distinguish a server that is not a Label Studio from a bad answer.
        body = self._get("/api/version")
        release = body.get("release") if isinstance(body, dict) else None
        if not isinstance(release, str):
            raise errors.no_label_studio(self.url)
        return release

    def whoami(self) -> dict[str, Any]:
        """Return the token's owner."""
        return self._object(lambda: self._sdk.users.with_raw_response.whoami())

    def users(self) -> list[dict[str, Any]]:
        return self._list(lambda: self._sdk.users.with_raw_response.list())

    def projects(self, *, title: str = "") -> Iterator[dict[str, Any]]:
        """Yield the projects that the token's owner sees and whose title contains `title`."""
        project_ids: set[int] = set()
        for page in range(1, _MOST_PAGES + 1):
            query = {"title": title, "page": str(page), "page_size": "100", "include": "id,title,description"}
            # Without the SDK: its pager requests pages until one is empty, but Label Studio answers an error after the
            # last page. Its results cannot be checked either.
            body = self._dict(self._get("/api/projects/", **query))
            # A project created meanwhile moves others to the next page; a page without new projects is the last.
            new = {self._number(project): project for project in self._dicts(body.get("results"))}
            yield from (project for number, project in new.items() if number not in project_ids)
            if not body.get("next"):
                return
            if new.keys() <= project_ids:
                break
            project_ids |= new.keys()
        raise errors.garbage(self.url)

    def create_project(
        self,
        *,
        title: str,
        configuration: str,
        annotations_per_task: int,
        instructions: str,
        **more: Any,
    ) -> int:
        """Create a project whose annotators see the instructions first and cannot send an empty answer. `more` are
        further fields, by Label Studio's names.
        """
        project = self._object(
            lambda: self._sdk.projects.with_raw_response.create(
                **{
                    "title": title,
                    "label_config": configuration,
                    "maximum_annotations": annotations_per_task,
                    "expert_instruction": instructions,
                    "show_instruction": bool(instructions),
                    "enable_empty_annotation": False,
                    "show_collab_predictions": False,
                    **more,
                }
            )
        )
        return self._number(project)

    def project(self, project: int) -> dict[str, Any]:
        return self._object(lambda: self._sdk.projects.with_raw_response.get(project))

    def update_project(self, project: int, **fields: Any) -> dict[str, Any]:
        """Change fields of a project, by Label Studio's names."""
        return self._object(lambda: self._sdk.projects.with_raw_response.update(project, **fields))

    def delete_project(self, project: int) -> None:
        """Delete a project in Label Studio, with every task and annotation in it."""
        self._call(lambda: self._sdk.projects.with_raw_response.delete(project))

    def import_tasks(self, project: int, rows: Sequence[Mapping[str, Any]]) -> list[int]:
        """Send tasks' data and return the tasks' numbers in the same order.

        Rows are sent in chunks; Label Studio stores a chunk completely or not at all.
        """
        ids: list[int] = []
        for start in range(0, len(rows), TASKS_PER_IMPORT):
            chunk = rows[start : start + TASKS_PER_IMPORT]
            # Without the SDK: it makes an object of each of the thousands of rows of a chunk.
            response = self._http.post(
                f"{self.url}/api/projects/{project}/import",
                params={"return_task_ids": "true"},
                content=orjson.dumps([{"data": row} for row in chunk]),
                headers={"Content-Type": "application/json"},
            )
            body = responses.content(response, place=self.url)
            new = body.get("task_ids") if isinstance(body, dict) else None
            if not isinstance(new, list) or len(new) != len(chunk):
                raise errors.garbage(self.url)
            ids.extend(int(number) for number in new)
        return ids

    def delete_tasks(self, project: int, tasks: Sequence[int]) -> None:
        """Delete tasks of a project, with their annotations."""
        from label_studio_sdk.actions.types import (
            PrepareParamsRequestRequestSelectedItemsIncluded as Included,
        )

        selected = Included(all_=False, included=list(tasks))
        self._call(
            lambda: self._sdk.actions.with_raw_response.create(
                id="delete_tasks", project=project, selected_items=selected
            )
        )

    def delete_annotation(self, annotation: int) -> None:
        self._call(lambda: self._sdk.annotations.with_raw_response.delete(annotation))

    def update_task_data(self, task: int, data: Mapping[str, Any]) -> None:
        self._call(lambda: self._sdk.tasks.with_raw_response.update(str(task), data=dict(data)))

    def task(self, task: int) -> dict[str, Any]:
        """Return a task with its complete annotations, including cancelled ones."""
        options: RequestOptions = {"additional_query_parameters": {"resolve_uri": "false"}}
        return self._plain(
            self._object(lambda: self._sdk.tasks.with_raw_response.get(str(task), request_options=options))
        )

    def annotations_of(self, task: int) -> list[dict[str, Any]]:
        """Return a task's complete annotations, including cancelled ones, which their own address leaves out."""
        return self._dicts(self.task(task).get("annotations"))

    def task_refs(self, project: int, *, page_size: int = 5000) -> Iterator[tuple[int, str]]:
        """Yield each task's number and the `ref` in its data, empty if there is none."""
        for page in pagination.pages(self._asking(project, page_size, include="id,data"), pagination.Span(1)):
            for task in page:
                data = task.get("data")
                yield task["id"], str(data.get("ref") or "") if isinstance(data, dict) else ""

    def tasks_with_annotations(
        self,
        project: int,
        *,
        page_size: int = 500,
        numbers: Collection[int] | None = None,
        failing: pagination.Failing = pagination.fail,
    ) -> Iterator[list[dict[str, Any]]]:
        """Yield pages of tasks with the fields in `_READ` of their annotations, including cancelled ones.

        If the tasks' `numbers` are given, this takes half the time; other tasks may then be left out, and tasks at
        which the server fails are reported to `failing` and skipped.
        """
        ask = self._asking(project, page_size, fields="all", include=_READ)
        if numbers is None:
            pages = pagination.pages(ask, pagination.Span(1))
        else:
            pages = pagination.pages_of(ask, numbers, size=page_size, failing=failing)
        for page in pages:
            yield [self._plain(task) for task in page]

    def create_webhook(
        self, *, project: int, url: str, headers: Mapping[str, str], actions: Sequence[str]
    ) -> int:
        """Subscribe to the events of a project, without their content."""
        webhook = self._object(
            lambda: self._sdk.webhooks.with_raw_response.create(
                url=url,
                project=project,
                headers=dict(headers),
                actions=list(actions),
                send_for_all_actions=False,
                send_payload=True,
                is_active=True,
            )
        )
        return self._number(webhook)

    def webhooks(self, project: int) -> list[dict[str, Any]]:
        return self._list(lambda: self._sdk.webhooks.with_raw_response.list(project=str(project)))

    def delete_webhook(self, webhook: int) -> None:
        self._call(lambda: self._sdk.webhooks.with_raw_response.delete(webhook))

    def _asking(self, project: int, page_size: int, **options: str) -> pagination.Ask:
        def ask(span: pagination.Span) -> tuple[pagination.Page, int]:
            # Without the SDK: it makes an object of each task and annotation, which takes too long for whole projects.
            body = self._dict(
                self._get(
                    "/api/tasks/",
                    project=str(project),
                    page="1",
                    page_size=str(page_size),
                    resolve_uri="false",
                    query=span.query(),
                    **options,
                )
            )
            tasks, total = self._dicts(body.get("tasks")), body.get("total")
            numbers = [self._number(task) for task in tasks]
            if type(total) is not int or numbers != sorted(set(numbers)) or not all(map(span.holds, numbers)):
                raise errors.garbage(self.url)
            if total > 0 and not tasks:  # the server withholds tasks: they must not be taken for deleted
                raise errors.garbage(self.url)
            return tasks, total

        return ask

    def _get(self, path: str, **params: str) -> Any:
        response = self._http.get(f"{self.url}{path}", params=params)
        return responses.content(response, place=self.url)

    def _call(self, ask: Callable[[], HttpResponse[Any]]) -> httpx.Response:
        """Send a request by Label Studio's client, but return the complete response."""
        from label_studio_sdk.core.api_error import ApiError
        from label_studio_sdk.core.parse_error import ParsingError

        try:
            return ask().response
        except (ApiError, ParsingError, TypeError, ValueError):
            # Error statuses were handled before. Here the client cannot parse the answer, because it makes an object of
            # anything or fails.
            raise errors.garbage(self.url) from None

    def _object(self, ask: Callable[[], HttpResponse[Any]]) -> dict[str, Any]:
        body = self._dict(responses.content(self._call(ask), place=self.url))
        self._number(body)
        return body

    def _list(self, ask: Callable[[], HttpResponse[Any]]) -> list[dict[str, Any]]:
        return self._dicts(responses.content(self._call(ask), place=self.url))

    def _plain(self, task: dict[str, Any]) -> dict[str, Any]:
        """Reduce `completed_by` to the user's number: some answers contain all data of the person instead."""
        for annotation in self._dicts(task.get("annotations")):
            self._number(annotation)
            if "result" not in annotation:  # a missing result must not be taken for an empty answer
                raise errors.garbage(self.url)
            person = annotation.get("completed_by")
            if isinstance(person, dict):
                annotation["completed_by"] = person.get("id")
        return task

    def _dict(self, body: Any) -> dict[str, Any]:
        if not isinstance(body, dict):
            raise errors.garbage(self.url)
        return body

    def _dicts(self, body: Any) -> list[dict[str, Any]]:
        if not isinstance(body, list) or not all(isinstance(element, dict) for element in body):
            raise errors.garbage(self.url)
        return body

    def _number(self, body: Mapping[str, Any]) -> int:
        number = body.get("id")
        if type(number) is not int:
            raise errors.garbage(self.url)
        return number
