"""A study's own kinds: files are read or refused with a reason, and campaigns of them can be created."""

import contextlib
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotation.campaigns import lifecycle
from annotation.campaigns.clone import clone
from annotation.kinds import study_kinds
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import KINDS, kind_of
from annotation.models import Campaign, StudyKind
from foundation.errors import DomainError
from studies.models import AuditEntry
from tests.annotation.factories import add_prompted_images

OF_QUESTIONS = [kind for kind in KINDS.values() if not kind.about_attributes]


LABEL = {"en": "Which?", "de": "Was?"}
TIED = {"type": "compare", "name": "better", "label": LABEL}
UNSURE = {
    "type": "scale",
    "name": "calm",
    "label": LABEL,
    "points": [{"code": code, "label": LABEL, "apart": True} for code in (1, 2)],
}


def declared(**changes) -> dict:
    """Return what the file of a kind of its own holds: the platform's rubric under another key, with changes."""
    return json.loads(study_kinds.as_file(KINDS["rubric"])) | {"key": "own", "name": "Our rubric"} | changes


def file_of(**changes) -> bytes:
    return json.dumps(declared(**changes)).encode()


@pytest.mark.parametrize("kind", OF_QUESTIONS, ids=lambda kind: kind.key)
def test_a_downloaded_kind_is_read_back_unchanged(kind):
    own_kind = kind.model_copy(update={"key": "own"})
    read = study_kinds.from_file(study_kinds.as_file(own_kind).encode())
    # The name shown to annotators' programs is the same for all own kinds.
    assert read == own_kind.model_copy(update={"public_name": "questions"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "The file is not JSON."),
        (b"[" * 100_000, "The file is not JSON."),
        (b"{}", "key: Field required."),
        (b" " * 200_001, "The file is larger than 200 kB."),
        (b'{"key": "own"}', "more problems."),
        (file_of(key="rubric"), "There is already a built-in kind rubric"),
        (file_of(key="Own Kind"), "is not a valid name"),
        (file_of(colour="red"), "colour: Extra inputs are not permitted."),
        (file_of(name="a\x00b"), "A text contains characters that cannot be stored."),
        (file_of(name="\ud800"), "A text contains characters that cannot be stored."),
        (
            file_of(standard_rules=[{"measure": "beauty", "threshold": 1, "minimum": 1}]),
            "measure: Input should be",
        ),
        (
            file_of(standard_rules=[{"measure": "variety", "threshold": 2, "minimum": 1}]),
            "variety is a share",
        ),
        (
            file_of(standard_rules=[{"measure": "variety", "threshold": 0, "minimum": 1}] * 2),
            "declared twice",
        ),
        (
            file_of(
                questions=[{"type": "text", "name": "why", "label": {"en": "Why?", "de": "Warum?"}}],
                measures=["texts"],
                standard_rules=[{"measure": "gold_accuracy", "threshold": 0, "minimum": 1}],
            ),
            "Texts are never right or wrong",
        ),
        (
            file_of(stimuli={"medium": "text", "least": 2, "most": 2}, questions=[TIED]),
            "A screen can show only one text",
        ),
        (
            file_of(questions=[UNSURE]),
            "a scale needs at least two points; points that stand apart do not count",
        ),
        (file_of(questions=[TIED | {"name": "constructor"}]), "constructor is not a valid name"),
        (file_of(measures=["beauty"]), "declares the measure beauty, which does not exist."),
        (
            file_of(measures=["win_rate"]),
            "declares the measure win_rate, which can read none of its questions.",
        ),
        (
            study_kinds.as_file(KINDS["stereotype_marking"].model_copy(update={"key": "own"})).encode(),
            "Kinds that ask about planned attributes are built in",
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else value[:12].decode(errors="replace"),
)
def test_invalid_declarations_are_refused_with_the_reason(content, message):
    with pytest.raises(DomainError) as refused:
        study_kinds.from_file(content)
    assert refused.value.code == "kind_invalid"
    assert message in refused.value.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@given(field=st.sampled_from(sorted(Kind.model_fields)), value=JSON)
def test_any_field_value_gives_a_valid_kind_or_a_refusal(field, value):
    with contextlib.suppress(DomainError):
        kind = study_kinds.from_file(file_of(**{field: value}))
        assert isinstance(kind, Kind)
        study_kinds.as_file(kind).encode()


@pytest.mark.django_db
class TestInAStudy:
    def test_a_campaign_keeps_the_kind_it_was_made_of(self, study, lead):
        study_kinds.add(study=study, content=file_of(), by=lead)
        add_prompted_images(study, ["a {id} house"])
        draft = lifecycle.create(study=study, name="Ours", kind="own", by=lead)
        study_kinds.add(study=study, content=file_of(name="Another"), by=lead)
        assert StudyKind.objects.get().declaration["name"] == "Another"
        assert kind_of(Campaign.objects.get(pk=draft.pk)).name == "Our rubric"
        study_kinds.remove(study=study, key="own", by=lead)
        assert kind_of(clone(campaign=draft, by=lead)).name == "Our rubric"
        campaign = lifecycle.open_(campaign=Campaign.objects.get(pk=draft.pk), by=lead)
        assert kind_of(campaign).name == "Our rubric"
        assert campaign.tasks.count() == 4
        actions = AuditEntry.objects.filter(action__startswith="kind.").order_by("pk")
        assert list(actions.values_list("action", flat=True)) == [
            "kind.added",
            "kind.replaced",
            "kind.removed",
        ]

    def test_a_kind_belongs_to_one_study(self, study, lead):
        study_kinds.add(study=study, content=file_of(), by=lead)
        other = type(study).objects.create(
            name="Other", slug="other", resource=study.resource, seed=1, created_by=lead
        )
        with pytest.raises(DomainError, match="Choose a kind of campaign"):
            lifecycle.create(study=other, name="Ours", kind="own", by=lead)

    def test_the_number_of_kinds_is_limited(self, study, lead, monkeypatch):
        monkeypatch.setattr(study_kinds, "MOST_KINDS", 1)
        study_kinds.add(study=study, content=file_of(), by=lead)
        study_kinds.add(study=study, content=file_of(name="Another"), by=lead)  # replaces the first
        with pytest.raises(DomainError, match="A study can have 1 kinds of its own"):
            study_kinds.add(study=study, content=file_of(key="second"), by=lead)


@pytest.mark.django_db
class TestPages:
    def test_a_kind_is_uploaded_and_used_in_a_draft(self, lead_client, study):
        upload = SimpleUploadedFile("own.json", file_of())
        page = lead_client.post(reverse("annotation:kinds", args=["isles"]), {"file": upload}, follow=True)
        assert page.redirect_chain[-1][0] == reverse("annotation:kind", args=["isles", "own"])
        text = page.content.decode()
        assert "Our rubric" in text
        assert all(question.label["en"] in text for question in KINDS["rubric"].questions)
        file = lead_client.get(reverse("annotation:kind_file", args=["isles", "own"]))
        assert study_kinds.from_file(file.content).name == "Our rubric"
        new = reverse("annotation:campaign_new", args=["isles"])
        assert "?kind=own" in lead_client.get(new).content.decode()
        form = lead_client.get(f"{new}?kind=own").context["form"]
        sent = {name: form[name].value() for name in form.fields if form[name].value() not in (None, False)}
        lead_client.post(new, sent | {"kind": "own", "action": "save"})
        campaign = Campaign.objects.get()
        assert campaign.kind == "own"
        assert (
            "Our rubric" in lead_client.get(reverse("annotation:campaigns", args=["isles"])).content.decode()
        )

    def test_errors_are_shown_beside_the_file(self, lead_client, study):
        upload = SimpleUploadedFile("own.json", b"[]")
        page = lead_client.post(reverse("annotation:kinds", args=["isles"]), {"file": upload})
        assert page.status_code == 400
        assert page.context["form"].errors["file"]

    def test_its_texts_are_escaped(self, lead_client, study, lead):
        study_kinds.add(study=study, content=file_of(name="<script>1</script>"), by=lead)
        for address in (
            reverse("annotation:kinds", args=["isles"]),
            reverse("annotation:kind", args=["isles", "own"]),
            reverse("annotation:campaign_new", args=["isles"]) + "?kind=own",
        ):
            assert "<script>1" not in lead_client.get(address).content.decode()

    def test_an_analyst_reads_and_a_lead_removes(self, analyst_client, lead_client, study, lead):
        study_kinds.add(study=study, content=file_of(), by=lead)
        remove = reverse("annotation:kind_remove", args=["isles", "own"])
        page = analyst_client.get(reverse("annotation:kind", args=["isles", "own"])).content.decode()
        assert remove not in page
        assert analyst_client.post(remove).status_code == 403
        upload = SimpleUploadedFile("own.json", file_of(key="second"))
        added = analyst_client.post(reverse("annotation:kinds", args=["isles"]), {"file": upload})
        assert added.status_code == 403
        lead_client.post(remove)
        assert not StudyKind.objects.exists()
        assert lead_client.get(reverse("annotation:kind", args=["isles", "own"])).status_code == 404
