"""Each request of the client against a real Label Studio."""

import httpx
import pytest

from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client

pytestmark = [pytest.mark.services, pytest.mark.database_free]

CONFIGURATION = """<View><Image name="image" value="$image"/>
<Choices name="label" toName="image"><Choice value="Yes"/><Choice value="No"/></Choices></View>"""


@pytest.fixture
def client(label_studio):
    with Client(label_studio.url, label_studio.owner.token) as client:
        yield client


@pytest.fixture
def project(client):
    made = client.create_project(
        title="Campaign 7Q3K",
        configuration=CONFIGURATION,
        annotations_per_task=3,
        instructions="<p>Look.</p>",
    )
    yield made
    client.delete_project(made)


def rows(count: int) -> list[dict[str, str]]:
    return [{"ref": f"t{number:05}", "image": f"http://127.0.0.1/{number}.png"} for number in range(count)]


def answer(value: str) -> dict:
    return {
        "result": [
            {
                "id": "abc",
                "type": "choices",
                "from_name": "label",
                "to_name": "image",
                "value": {"choices": [value]},
            }
        ],
        "lead_time": 2.5,
    }


def annotate(label_studio, person, task: int, value: str = "Yes", **more) -> int:
    with httpx.Client(trust_env=False) as http:
        made = http.post(
            f"{label_studio.url}/api/tasks/{task}/annotations/",
            headers={"Authorization": f"Token {person.token}"},
            json={**answer(value), **more},
        )
    assert made.status_code == 201, made.text
    return int(made.json()["id"])


def test_it_says_who_it_is_and_whose_token_this_is(client, label_studio):
    assert client.version().startswith("1.")
    assert client.whoami()["email"] == label_studio.owner.email
    assert {user["id"] for user in client.users()} == {person.id for person in label_studio.users}


def test_a_personal_access_token_works_as_well(label_studio):
    with Client(label_studio.url, label_studio.owner.personal_token) as client:
        assert client.whoami()["id"] == label_studio.owner.id
        assert client.users()


def test_a_project_is_made_read_changed_and_deleted(client):
    made = client.create_project(
        title="Campaign", configuration=CONFIGURATION, annotations_per_task=3, instructions="Look."
    )
    project = client.project(made)
    assert (project["title"], project["maximum_annotations"]) == ("Campaign", 3)
    assert (project["expert_instruction"], project["show_instruction"]) == ("Look.", True)
    assert client.update_project(made, maximum_annotations=2)["maximum_annotations"] == 2
    assert client.project(made)["maximum_annotations"] == 2
    client.delete_project(made)
    with pytest.raises(Trouble) as told:
        client.project(made)
    assert told.value.code == "gone"
    with pytest.raises(Trouble) as told:
        list(client.tasks_with_annotations(made))
    assert told.value.code == "gone"


def test_tasks_come_back_by_number_in_the_order_they_were_sent(client, project, monkeypatch):
    monkeypatch.setattr("annotation.label_studio.client.rest.TASKS_PER_IMPORT", 7)
    ids = client.import_tasks(project, rows(23))
    assert dict(client.task_refs(project, page_size=5)) == {
        number: row["ref"] for number, row in zip(ids, rows(23), strict=True)
    }


def test_annotations_come_in_full_page_by_page(client, project, label_studio):
    ids = client.import_tasks(project, rows(5))
    first, second = label_studio.annotators[:2]
    made = annotate(label_studio, first, ids[0])
    skipped = annotate(label_studio, second, ids[0], was_cancelled=True)
    other = annotate(label_studio, second, ids[3], value="No")
    pages = list(client.tasks_with_annotations(project, page_size=2))
    assert [len(page) for page in pages] == [2, 2, 1]
    tasks = {task["id"]: task for page in pages for task in page}
    assert list(tasks) == ids
    assert tasks[ids[0]]["data"] == rows(1)[0]
    found = {entry["id"]: entry for task in tasks.values() for entry in task["annotations"]}
    assert set(found) == {made, skipped, other}
    assert found[made]["result"][0]["value"] == {"choices": ["Yes"]}
    assert (found[made]["completed_by"], found[made]["updated_by"]) == (first.id, first.id)
    assert (found[made]["lead_time"], found[made]["task"]) == (2.5, ids[0])
    assert [found[number]["was_cancelled"] for number in (made, skipped)] == [False, True]
    # The single task has the same entries.
    by_task = {entry["id"]: entry for entry in client.task(ids[0])["annotations"]}
    alone = {entry["id"]: entry for entry in client.annotations_of(ids[0])}
    assert set(by_task) == set(alone) == {made, skipped}
    for name in (
        "result",
        "completed_by",
        "updated_by",
        "created_at",
        "updated_at",
        "was_cancelled",
        "lead_time",
    ):
        assert by_task[made][name] == alone[made][name] == found[made][name], name


def test_tasks_are_read_by_their_numbers_with_what_lies_between(client, project, label_studio):
    first = client.import_tasks(project, rows(7))
    elsewhere = client.create_project(
        title="Other", configuration=CONFIGURATION, annotations_per_task=1, instructions=""
    )
    others = client.import_tasks(elsewhere, rows(4))
    more = client.import_tasks(project, rows(6))
    made = annotate(label_studio, label_studio.annotators[0], more[-1])
    client.delete_tasks(project, [first[2]])
    wanted = [*first[:2], *first[3:5], *more, others[0], 10**6]
    pages = list(client.tasks_with_annotations(project, page_size=3, numbers=wanted))
    found = [task["id"] for page in pages for task in page]
    assert found == sorted(found)
    assert set(found) >= {*first[:2], *first[3:5], *more}
    assert not set(found) & {first[2], *others}  # a deleted task, and another project's
    assert max(map(len, pages)) <= 3
    assert [entry["id"] for entry in pages[-1][-1]["annotations"]] == [made]
    assert list(client.tasks_with_annotations(project, numbers=[])) == []
    client.delete_project(elsewhere)


def test_a_task_deleted_while_others_are_read_hides_none_of_them(client, project):
    ids = client.import_tasks(project, rows(12))
    pages = client.tasks_with_annotations(project, page_size=3)
    found = [task["id"] for task in next(pages)]
    client.delete_tasks(project, ids[:3])
    found += [task["id"] for page in pages for task in page]
    assert found == ids


def test_a_tasks_data_is_replaced(client, project):
    task = client.import_tasks(project, rows(1))[0]
    client.update_task_data(task, {"ref": "t00000", "image": "http://127.0.0.1/renewed.png"})
    assert client.task(task)["data"]["image"] == "http://127.0.0.1/renewed.png"


def test_a_webhook_is_made_listed_and_deleted(client, project):
    made = client.create_webhook(
        project=project,
        url="http://127.0.0.1:9/api/v1/webhooks/label-studio?key=abc",
        headers={"X-Stereoscope-Secret": "def"},
        actions=["ANNOTATION_CREATED", "ANNOTATIONS_DELETED"],
    )
    [found] = client.webhooks(project)
    assert (found["id"], found["headers"]) == (made, {"X-Stereoscope-Secret": "def"})
    assert sorted(found["actions"]) == ["ANNOTATIONS_DELETED", "ANNOTATION_CREATED"]
    client.delete_webhook(made)
    assert client.webhooks(project) == []


def test_what_it_refuses_comes_with_its_reason(client):
    with pytest.raises(Trouble) as told:
        client.create_project(
            title="Campaign", configuration="<View><Choices/></View>", annotations_per_task=1, instructions=""
        )
    assert told.value.code == "refused"
    assert "label_config" in told.value.message
