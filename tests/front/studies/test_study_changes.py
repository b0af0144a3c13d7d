"""A lead edits a study until it is frozen, sees all its groups, and deletes it while it has no labels."""

import io

import pytest
from django.core.files.storage import default_storage
from django.urls import reverse
from PIL import Image as Picture

from annotation.campaigns import lifecycle
from annotation.models import Annotation, Campaign
from catalog.models import IdentityGroup
from generation.images.reencode import shown_bytes
from generation.images.signed_urls import FULL
from generation.images.storage import store_image
from generation.models import Answer, Image
from generation.prompts.creation import set_prompts
from generation.runs.planning import plan_run
from jobs.models import Job
from studies.models import AuditEntry, Study, StudyGroup
from studies.protocol.creation import create_study
from studies.protocol.freeze import freeze
from tests.annotation.recruitment.conftest import guest, panel, recruit, recruitment
from tests.generation.probing.probing_study import add_scenarios, planned

__all__ = ["guest", "panel", "recruit", "recruitment"]
pytestmark = pytest.mark.django_db
EDIT, DELETE, GROUPS = "/studies/isles/edit/", "/studies/isles/delete/", "/studies/isles/groups/"


@pytest.fixture
def prompts(study, lead):
    return set_prompts(study=study, templates=["a {id} person"], images_per_prompt=3, by=lead)


def values_of(study, **changes):
    """Return the form data when only `changes` were typed."""
    return {
        "resource": study.resource.slug, "name": study.name, "description": study.description,
        "min_raters": "2", "rater_pools": "separate", "min_stereotypes": "2", "most_stereotypes": "",
        "groups": [str(pk) for pk in study.groups.values_list("group", flat=True)],
        "templates": "a {id} person", "images_per_prompt": "3", "action": "save",
    } | changes  # fmt: skip


class TestEdit:
    def test_the_form_shows_the_study_and_saves_what_was_changed(self, lead_client, study, prompts):
        answer = lead_client.get(EDIT)
        page = answer.content.decode()
        assert 'value="Isles"' in page
        assert "a {id} person" in page
        assert answer.context["totals"].groups == 2
        velmari = str(IdentityGroup.objects.get(name="Velmari").pk)
        sent = values_of(
            study, name="Far Isles", groups=[velmari], templates="{id} people", most_stereotypes="2"
        )
        answer = lead_client.post(EDIT, sent)
        assert answer["Location"] == "/studies/isles/"
        study.refresh_from_db()
        assert (study.name, study.most_stereotypes, study.groups.get().name) == ("Far Isles", 2, "Velmari")
        assert study.prompt_templates.get().text == "{id} people"
        history = lead_client.get("/studies/isles/history/").content.decode()
        assert "changed the study" in history

    def test_saving_unchanged_changes_nothing(self, lead_client, study, prompts):
        lead_client.post(EDIT, values_of(study))
        assert not AuditEntry.objects.filter(action="study.changed").exists()
        assert AuditEntry.objects.filter(action="study.prompts_set").count() == 1

    def test_refused_input_stays_as_it_was_typed(self, lead_client, study, prompts):
        Image.objects.create(study=study, group=study.groups.get(name="Orsani"), source_name="a.png")
        velmari = str(IdentityGroup.objects.get(name="Velmari").pk)
        answer = lead_client.post(EDIT, values_of(study, name="Other", groups=[velmari]))
        assert answer.status_code == 400
        page = answer.content.decode()
        assert "“Orsani” cannot be removed" in page
        assert 'value="Other"' in page
        assert Study.objects.get().name == "Isles"

    def test_prompts_and_study_change_together_or_not_at_all(self, lead_client, study, prompts):
        assert lead_client.post(EDIT, values_of(study, name="Other", templates="no place")).status_code == 400
        assert Study.objects.get().name == "Isles"

    def test_after_images_were_planned_only_the_description_changes(self, lead_client, study, prompts, lead):
        plan_run(study=study, backend="sketch", by=lead)
        freeze(study=study, by=lead)
        page = lead_client.get(EDIT).content.decode()
        assert "Only the description" in page
        assert 'name="name"' not in page
        lead_client.post(EDIT, {"name": "Other", "description": "Why we ask."})
        study.refresh_from_db()
        assert (study.name, study.description) == ("Isles", "Why we ask.")

    def test_a_study_of_another_protocol_changes_its_name(self, lead_client, study):
        Study.objects.update(protocol=Study.Protocol.PAIRS, resource=None)
        lead_client.post(EDIT, {"name": "Far Isles", "description": ""})
        assert Study.objects.get().name == "Far Isles"

    def test_totals_follow_the_form(self, lead_client, study, prompts):
        data = lead_client.post(f"{EDIT}totals/", values_of(study, action="", most_stereotypes="2")).json()
        assert {group["stereotypes"] for group in data["groups"].values()} == {2}
        assert "2 groups chosen" in data["chosen"]

    @pytest.mark.parametrize("address", [EDIT, DELETE])
    def test_analysts_and_strangers_change_nothing(self, analyst_client, stranger_client, study, address):
        assert [client.get(address).status_code for client in (analyst_client, stranger_client)] == [403, 404]
        assert [client.post(address).status_code for client in (analyst_client, stranger_client)] == [
            403,
            404,
        ]


class TestGroups:
    def test_the_overview_lists_the_first_groups_and_links_to_all(self, lead_client, analyst_client, study):
        text = " ".join(lead_client.get("/studies/isles/").content.decode().split())
        assert "2: Orsani, Velmari" in text
        assert f'href="{GROUPS}">All groups</a>' in text
        StudyGroup.objects.bulk_create(
            StudyGroup(study=study, name=f"Folk {n:03}", display_name=f"Folk {n:03}") for n in range(300)
        )
        text = " ".join(lead_client.get("/studies/isles/").content.decode().split())
        assert "302: Folk 000, Folk 001" in text
        assert "and 294 more" in text
        assert len(analyst_client.get(GROUPS).context["page"]) == 200


class TestDeletion:
    @pytest.fixture
    def pictured(self, study):
        """A study with a picture of its own and one shared with another study; both have cached copies."""
        other = Study.objects.create(name="Other", slug="other", seed=1)
        for colour, studies in (("red", [study]), ("blue", [study, other])):
            file = io.BytesIO()
            Picture.new("RGB", (40, 30), colour).save(file, "PNG")
            for owner in studies:
                stored = store_image(study=owner, data=file.getvalue(), group=None, model_label="pen").image
            shown_bytes(stored, size=FULL)
        return study

    def files(self):
        return {
            f"{folder}/{name}"
            for top in ("images", "shown")
            for folder in self.folders(top)
            for name in default_storage.listdir(folder)[1]
        }

    def folders(self, folder):
        for name in default_storage.listdir(folder)[0]:
            yield f"{folder}/{name}"
            yield from self.folders(f"{folder}/{name}")

    def test_deletion_removes_rows_and_files_but_keeps_the_audit_trail(
        self, lead_client, pictured, lead, prompts, django_capture_on_commit_callbacks
    ):
        lifecycle.create(study=pictured, name="Draft", kind="attribute_likert", by=lead)
        plan_run(study=pictured, backend="sketch", by=lead)
        Job.objects.update(state=Job.State.CANCELLED, finished_at="2026-01-01T00:00Z")
        blue = Image.objects.get(study__slug="other")
        page = lead_client.get(DELETE).content.decode()
        assert "2 images and their files" in page
        assert "1 campaign without labels" in page
        assert len(self.files()) == 4
        with django_capture_on_commit_callbacks(execute=True):
            answer = lead_client.post(DELETE, {"name": " Isles "})
        assert answer["Location"] == reverse("studies:list")
        assert list(Study.objects.values_list("slug", flat=True)) == ["other"]
        assert not Campaign.objects.exists()
        assert self.files() == {name for name in self.files() if blue.sha256 in name}
        assert len(self.files()) == 2
        entry = AuditEntry.objects.get(action="study.deleted")
        assert (entry.study, entry.actor, entry.details["slug"]) == (None, lead, "isles")
        assert entry.details["images"] == 2

    def test_deletion_removes_answers_of_models(self, lead_client, lead):
        study = create_study(name="Trades", resource=None, groups=[], by=lead, protocol=Study.Protocol.PAIRS)
        add_scenarios(study)
        run = planned(study, lead)
        Job.objects.update(state=Job.State.CANCELLED, finished_at="2026-01-01T00:00Z")
        assert Answer.objects.filter(run=run).exists()
        lead_client.post(reverse("studies:delete", args=[study.slug]), {"name": study.name})
        assert not Study.objects.exists()
        assert not Answer.objects.exists()

    @pytest.mark.parametrize("typed", ["", "isles", "Isles 2"])
    def test_the_name_has_to_be_typed(self, lead_client, study, typed):
        assert lead_client.post(DELETE, {"name": typed}).status_code == 400
        assert Study.objects.exists()

    def test_a_study_with_labels_is_not_deleted(self, lead_client, marking, study):
        from annotation.assignment import leases
        from tests.annotation.factories import new_annotator, submit

        submit(leases.next_assignment(campaign=marking, annotator=new_annotator(marking)))
        Campaign.objects.update(state="closed", closed_at="2026-01-01T00:00Z")
        assert "The study has labels" in lead_client.get(DELETE).content.decode()
        lead_client.post(DELETE, {"name": "Isles"})
        assert Annotation.objects.exists()

    @pytest.mark.parametrize(("campaign", "job"), [("open", "queued"), ("paused", "running")])
    def test_open_campaigns_and_running_jobs_prevent_deletion(self, lead_client, marking, campaign, job):
        Campaign.objects.update(state=campaign)
        Job.objects.create(kind="generate", title="Generate", study_id=marking.study_id, state=job)
        page = lead_client.get(DELETE).content.decode()
        assert "A campaign of the study is open." in page
        assert "A job of the study is running." in page
        lead_client.post(DELETE, {"name": "Isles"})
        assert Study.objects.filter(slug="isles").exists()

    def test_a_study_to_which_a_panel_sent_people_is_not_deleted(self, lead_client, recruitment, guest):
        guest(recruitment, ready=False)
        Campaign.objects.update(state="closed", closed_at="2026-01-01T00:00Z")
        assert "People in the study came from a panel." in lead_client.get(DELETE).content.decode()
        lead_client.post(DELETE, {"name": "Isles"})
        assert Study.objects.filter(slug="isles").exists()
