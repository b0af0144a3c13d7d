"""Two releases of 40 people, read as files and joined by what people answered."""

import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from accounts.models import Annotator, AnnotatorProfile
from analysis.models import Release
from analysis.releases.build_job import JOB_KIND
from analysis.releases.preview import check_of
from analysis.releases.privacy.levels import FIELDS
from annotation.models import Enrolment, Judgement, Task, TaskAttribute
from catalog.models import Attribute
from foundation.errors import Conflict
from jobs.models import Job
from studies import consent
from studies.models import AuditEntry
from tests.analysis.releases.conftest import rows, tree

pytestmark = pytest.mark.django_db

TRAITS = 6


@pytest.fixture
def forty(marked):
    """The study with 40 people who rated, each differently; the three of the table have no profile."""
    traits = [Attribute.objects.get_or_create(text=f"trait {number}")[0] for number in range(TRAITS)]
    draw = random.Random(11)
    marked.people = []
    for number in range(40):
        person = Annotator.objects.create(source="isles", source_id=f"person {number}")
        Enrolment.objects.create(campaign=marked.likert, annotator=person)
        for position, trait in enumerate(traits):
            task = Task.objects.create(campaign=marked.likert)
            TaskAttribute.objects.create(task=task, attribute=trait, position=0)
            annotation = marked.submit(task, person, 0)
            rating = 1 + number // 4**position % 4 + (number % 4 == 0 and position == 5)
            Judgement.objects.create(annotation=annotation, attribute=trait, rating=rating)
        AnnotatorProfile.objects.create(
            annotator=person,
            gender=draw.choice(["Woman", "Man", "Man"]),
            nationality=draw.choice(["Kenya", "Uganda", "Peru", "Chile"]),
            age_band=draw.choice(["18-24", "25-34", "35-44"]),
        )
        marked.people.append(person)
    return marked


def by_answers(folder: Path) -> dict[tuple, tuple]:
    """Return the released profile of each person, by all their answers."""
    answers = defaultdict(list)
    for row in rows(folder, "ratings"):
        answers[row["annotator"]].append((row["attribute"], row["rating"]))
    profiles = {row["annotator"]: tuple(row[name] for name in FIELDS) for row in rows(folder, "annotators")}
    joined = {tuple(sorted(said)): profiles[who] for who, said in answers.items()}
    assert len(joined) == len(answers), "answers are not each person's own"
    return joined


def below(k: int, *folders: Path) -> int:
    """Return the number of people of all these releases in a joined class of fewer than k."""
    read = [by_answers(folder) for folder in folders]
    both = set.intersection(*map(set, read))
    classes = Counter(tuple(one[who] for one in read) for who in both)
    return sum(size for said, size in classes.items() if size < k and any(map(any, said)))


def leave(forty, person: Annotator) -> None:
    text = consent.current_text(forty.study)
    consent.give(annotator=person, text=text)
    consent.withdraw(annotator=person, study=forty.study)


def test_nobody_is_below_k_in_two_releases_joined_by_answers(forty, released):
    """For any departures, the next release is refused, or the two together keep k."""
    _, before = released(forty.study, k=5)
    shown = {profile for profile in by_answers(before).values() if any(profile)}
    assert len(shown) > 1
    built = 0
    for person in forty.people[:6]:
        leave(forty, person)
        if check_of(forty.study, k=5).refusal:
            with pytest.raises(Conflict, match="Leave out"):
                released(forty.study, k=5)
            continue
        _, after = released(forty.study, k=5)
        built += 1
        assert below(5, before, after) == 0
        report = json.loads((after / "privacy.json").read_text())
        assert report["joined"]["smallest"] >= 5
    assert built


def test_a_refused_release_can_be_built_without_those_it_would_expose(forty, released, tmp_path, lead):
    _, before = released(forty.study, k=3)
    with pytest.raises(Conflict, match="Leave out") as refused:
        released(forty.study, k=9)
    assert refused.value.code == "joined_below_k"
    assert Release.objects.count() == 1
    release, after = released(forty.study, k=9, leave_out_people=True)
    report = json.loads((after / "privacy.json").read_text())
    assert report["left_out"] > 0
    assert len(rows(after, "annotators")) == len(rows(before, "annotators")) - report["left_out"]
    assert below(9, before, after) == 0
    missing = [one["why"] for one in json.loads((after / "release.json").read_text())["missing"]]
    assert any(
        why.startswith("Left out, because readers of earlier releases could have recognised")
        for why in missing
    )
    again, there = released(forty.study, k=9, leave_out_people=True)
    assert again == release
    assert tree(after) == tree(there)


def test_a_rebuild_is_the_same_bytes_after_an_earlier_release_was_set_aside(forty, released, lead):
    from analysis.releases.storage.zips import set_aside

    first, _ = released(forty.study, k=5)
    second, here = released(forty.study, k=5, licence="CC0-1.0")
    set_aside(release=first, by=lead)
    again, there = released(forty.study, k=5, licence="CC0-1.0")
    assert again == second
    assert tree(here) == tree(there)


def test_a_release_set_aside_as_never_received_does_not_count(
    forty, released, lead, lead_client, analyst_client
):
    released(forty.study, k=3)
    with pytest.raises(Conflict):
        released(forty.study, k=9)
    address = reverse("releases:set_aside", args=["isles", 1])
    assert analyst_client.post(address).status_code == 403
    assert "cannot be withdrawn" in lead_client.get(address).content.decode()
    assert check_of(forty.study, k=9).refusal
    assert {lead_client.post(address).status_code for _ in range(2)} == {302}
    assert check_of(forty.study, k=9).refusal == ""
    assert AuditEntry.objects.filter(action="release.set_aside", study=forty.study).count() == 1
    release, _ = released(forty.study, k=9)
    assert release.version == 2
    assert (
        "nobody ever received this release"
        in lead_client.get(reverse("releases:release", args=["isles", 1])).content.decode()
    )


def test_a_release_with_files_cannot_be_set_aside(forty, released, lead):
    from analysis.releases.storage.zips import set_aside

    first, _ = released(forty.study, k=5)
    Release.objects.filter(pk=first.pk).update(archive="kept.zip", archive_bytes=1)
    with pytest.raises(Conflict, match="Remove the files"):
        set_aside(release=Release.objects.get(), by=lead)


def test_the_same_bytes_as_one_set_aside_are_a_new_version_that_is_checked(forty, released, lead):
    from analysis.releases.storage.zips import set_aside

    first, _ = released(forty.study, k=5)
    set_aside(release=first, by=lead)
    second, _ = released(forty.study, k=5)
    assert second.version == 2


def test_page_api_and_command_agree(forty, released, tmp_path, lead_client, analyst_client):
    released(forty.study, k=3)
    said = analyst_client.get("/api/v1/studies/isles/releases/check/?k=9").json()
    assert said["allowed"] is False
    page = lead_client.get(reverse("releases:list", args=["isles"]) + "?k=9").content.decode()
    assert "This release would be refused" in page
    with pytest.raises(Conflict) as refused:
        call_command("release", "--study", "isles", "--output", str(tmp_path / "out"), "--k", "9")
    for remedy in said["remedies"]:
        assert remedy in refused.value.message
        assert remedy in page
    asked = lead_client.post("/api/v1/studies/isles/releases/", {"k": 9}, content_type="application/json")
    assert asked.status_code == 409
    assert asked.json()["error"]["code"] == "joined_below_k"
    fine = analyst_client.get("/api/v1/studies/isles/releases/check/?k=3").json()
    assert (fine["allowed"], fine["joined"]["releases"]) == (True, [1])
    assert fine["joined"]["smallest"] >= 3
    left_out = analyst_client.get("/api/v1/studies/isles/releases/check/?k=9&leave_out_people=true").json()
    assert left_out["allowed"] is True
    assert left_out["left_out"] > 0


def test_people_without_a_profile_are_counted_as_such(marked, released):
    for name in ("p", "q"):
        AnnotatorProfile.objects.create(annotator=marked.annotators[name], gender="Woman")
    _, folder = released(marked.study, k=2)
    report = json.loads((folder / "privacy.json").read_text())
    assert (report["people"], report["without_profile"]) == (2, 1)


def test_people_left_out_are_not_counted_as_people_without_a_profile(forty, released):
    released(forty.study, k=3)
    bare = {person.pk for person in forty.people[:4]}
    AnnotatorProfile.objects.filter(annotator__in=bare).delete()
    _, folder = released(forty.study, k=9, leave_out_people=True)
    report = json.loads((folder / "privacy.json").read_text())
    assert bare & check_of(forty.study, k=9, leave_out_people=True).coarsened.left_out
    assert report["people"] + report["without_profile"] == len(rows(folder, "annotators"))


def test_a_release_is_queued_without_those_it_would_expose_but_not_with_them(forty, released, lead_client):
    released(forty.study, k=3)
    address = "/api/v1/studies/isles/releases/"
    for choices, status, queued in (
        ({"k": 9}, 409, 0),
        ({"k": 9, "leave_out_people": True}, 202, 1),
    ):
        answer = lead_client.post(address, choices, content_type="application/json")
        assert answer.status_code == status
        assert Job.objects.filter(kind=JOB_KIND).count() == queued


def test_profiles_of_releases_without_stored_ones_are_reconstructed(forty, released):
    _, before = released(forty.study, k=5)
    Release.objects.update(profiles=None)
    leave(forty, forty.people[0])
    if check_of(forty.study, k=5).refusal:
        with pytest.raises(Conflict, match="Leave out"):
            released(forty.study, k=5)
    _, after = released(forty.study, k=5, leave_out_people=True)
    assert below(5, before, after) == 0
