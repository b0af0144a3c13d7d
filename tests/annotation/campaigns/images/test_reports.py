"""An annotator reports a picture; a lead retracts it or keeps it."""

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from annotation.answers.inclusion import counted, not_counted
from annotation.assignment import leases
from annotation.campaigns.images import reports
from annotation.models import Assignment, ImageReport
from foundation.errors import Conflict, DomainError, NotFound
from studies.models import AuditEntry, Study
from tests.annotation.factories import new_annotator, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def leased(marking):
    return leases.next_assignment(campaign=marking, annotator=new_annotator(marking))


def report(leased, reason="broken", details=""):
    (kept,) = reports.report(assignment=leased, annotator=leased.annotator, reason=reason, details=details)
    return kept


def test_a_report_stores_annotator_reason_and_image(leased, marking):
    kept = report(leased, "real_person", " My neighbour. ")
    assert (kept.image, kept.annotator, kept.campaign) == (leased.task.image, leased.annotator, marking)
    assert (kept.reason, kept.details, kept.state) == ("real_person", "My neighbour.", "open")


def test_a_second_report_by_the_same_person_replaces_the_first(leased):
    first, second = report(leased, "broken"), report(leased, "illegal")
    assert first.pk == second.pk
    assert ImageReport.objects.get().reason == "illegal"


def test_the_database_holds_one_open_report_per_annotator_and_image(leased):
    kept = report(leased)
    same = {"image": kept.image, "annotator": kept.annotator, "campaign": kept.campaign, "reason": "other"}
    with pytest.raises(IntegrityError), transaction.atomic():
        ImageReport.objects.create(**same)
    with pytest.raises(IntegrityError), transaction.atomic():
        ImageReport.objects.create(**same, state="dismissed")  # closed without a time
    ImageReport.objects.create(**same, state="dismissed", closed_at=timezone.now())


@pytest.mark.parametrize(
    ("reason", "details", "field"),
    [
        ("", "", "reason"),
        ("ugly", "", "reason"),
        ("other", " ", "details"),
        ("broken", "x" * 1001, "details"),
    ],
)
def test_an_unclear_report_is_refused_by_its_field(leased, reason, details, field):
    with pytest.raises(DomainError) as refused:
        report(leased, reason, details)
    assert list(refused.value.fields) == [field]
    assert not ImageReport.objects.exists()


def test_nobody_reports_through_the_task_of_another(leased, marking):
    with pytest.raises(NotFound):
        reports.report(assignment=leased, annotator=new_annotator(marking), reason="broken")


def test_retracting_withdraws_tasks_frees_leases_closes_reports_and_leaves_an_audit_entry(
    leased, marking, lead
):
    image = leased.task.image
    other = new_annotator(marking)
    answered = next(iter(_leases(marking, other, image)))
    submit(answered)
    report(leased, "illegal")
    assert counted(marking).count() == 1
    reports.retract(image=image, by=lead, reason="Shows a real person.")
    image.refresh_from_db()
    assert image.retracted_reason == "Shows a real person."
    assert not image.tasks.filter(withdrawn=False).exists()
    assert Assignment.objects.get(pk=leased.pk).state == "expired"
    closed = ImageReport.objects.get()
    assert (closed.state, closed.closed_by) == ("retracted", lead)
    assert counted(marking).count() == 0
    assert not_counted(marking)["retracted"] == 1
    entry = AuditEntry.objects.get(action="image.retracted")
    assert (entry.actor, entry.details["reason"]) == (lead, "Shows a real person.")


def _leases(campaign, annotator, image):
    """Lease tasks, skipping those of other images, until one shows `image`."""
    while leased := leases.next_assignment(campaign=campaign, annotator=annotator):
        if leased.task.image_id == image.pk:
            yield leased
        leases.skip(assignment=leased, annotator=annotator)


def test_a_dismissed_report_leaves_the_image_and_another_may_follow(leased, lead):
    report(leased)
    assert reports.dismiss(image=leased.task.image, by=lead, reason="It is a drawing.") == 1
    leased.task.image.refresh_from_db()
    assert leased.task.image.retracted_at is None
    with pytest.raises(Conflict):
        reports.dismiss(image=leased.task.image, by=lead, reason="Twice.")
    report(leased, "illegal")
    assert list(ImageReport.objects.values_list("state", flat=True)) == ["open", "dismissed"]
    assert AuditEntry.objects.get(action="image_report.dismissed").details["reports"] == 1


@pytest.mark.parametrize("decide", [reports.retract, reports.dismiss])
def test_a_decision_about_an_image_leaves_reports_of_other_images_open(leased, marking, lead, decide):
    image = leased.task.image
    other = marking.tasks.exclude(image=image).first().image
    report(leased)
    report(next(_leases(marking, new_annotator(marking), other)))
    decide(image=image, by=lead, reason="Looked at.")
    assert ImageReport.objects.get(state="open").image == other


def test_retracting_an_image_leaves_its_dismissed_reports_as_they_are(leased, lead):
    image = leased.task.image
    report(leased)
    reports.dismiss(image=image, by=lead, reason="It is a drawing.")
    report(leased, "illegal")
    reports.retract(image=image, by=lead, reason="Agreed.")
    assert list(ImageReport.objects.values_list("state", flat=True)) == ["retracted", "dismissed"]


def test_reports_are_neither_shown_nor_decided_in_another_study(leased, lead, lead_client):
    report(leased, "other", "It makes me sad.")
    lakes = Study.objects.create(name="Lakes", slug="lakes", seed=1)
    lakes.memberships.create(user=lead, role="lead")
    shown = lead_client.get(reverse("annotation:image_reports", args=[lakes.slug])).content.decode()
    assert "It makes me sad." not in shown
    for name in ("image_decide", "image_restore"):
        address = reverse(f"annotation:{name}", args=[lakes.slug, leased.task.image.public_id])
        assert lead_client.post(address, {"retract": "1", "reason": "Agreed."}).status_code == 404
    assert ImageReport.objects.get().state == "open"


def test_a_report_over_the_api_needs_a_task_of_ones_own(leased, marking, client):
    address = reverse("api:assignment-report", args=[leased.public_id])
    assert client.post(address, {"reason": "broken"}, content_type="application/json").status_code in {
        401,
        403,
    }
    client.force_login(new_annotator(marking).user)
    assert client.post(address, {"reason": "broken"}, content_type="application/json").status_code == 404
    client.force_login(leased.annotator.user)
    answer = client.post(address, {"reason": "broken"}, content_type="application/json")
    assert (answer.status_code, answer.json()) == (201, {"reason": "broken", "details": ""})
    answer = client.post(address, {"reason": "no such"}, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["error"]["fields"] == {"reason": "Choose what is wrong with the picture."}


def test_without_scripts_the_form_reports_and_the_task_stays(leased, marking, client):
    client.force_login(leased.annotator.user)
    address = reverse("annotate:report", args=[marking.pk, leased.public_id])
    assert client.post(address, {"reason": "broken"}).status_code == 302
    assert ImageReport.objects.get().annotator == leased.annotator
    assert Assignment.objects.get(pk=leased.pk).state == "leased"


def test_the_lead_sees_reports_behind_a_warning_retracts_and_restores(leased, lead_client, study):
    report(leased, "other", "It makes me sad.")
    address = reverse("annotation:image_reports", args=[study.slug])
    shown = lead_client.get(address).content.decode()
    assert "It makes me sad." in shown
    assert 'class="content-warning"' in shown
    assert (
        "1 image reported by annotators"
        in lead_client.get(reverse("studies:detail", args=[study.slug])).content.decode()
    )
    decide = reverse("annotation:image_decide", args=[study.slug, leased.task.image.public_id])
    assert "Give a reason" in lead_client.post(decide, {"retract": "1"}, follow=True).content.decode()
    assert ImageReport.objects.get().state == "open"
    shown = lead_client.post(decide, {"retract": "1", "reason": "Agreed."}, follow=True).content.decode()
    assert "Agreed." in shown
    assert "No report is open" in shown
    restore = reverse("annotation:image_restore", args=[study.slug, leased.task.image.public_id])
    lead_client.post(restore)
    leased.task.image.refresh_from_db()
    assert leased.task.image.retracted_at is None


def test_only_a_lead_of_the_study_decides(leased, analyst_client, stranger_client, study):
    report(leased)
    address = reverse("annotation:image_reports", args=[study.slug])
    assert [c.get(address).status_code for c in (analyst_client, stranger_client)] == [200, 404]
    decide = reverse("annotation:image_decide", args=[study.slug, leased.task.image.public_id])
    assert "Your reason" not in analyst_client.get(address).content.decode()
    for client, status in ((analyst_client, 403), (stranger_client, 404)):
        assert client.post(decide, {"retract": "1", "reason": "x"}).status_code == status
    assert ImageReport.objects.get().state == "open"


def test_the_list_takes_the_same_queries_however_many_reports(
    marking, lead_client, study, django_assert_max_num_queries
):
    for _ in range(4):
        leased = leases.next_assignment(campaign=marking, annotator=new_annotator(marking))
        report(leased)
    with django_assert_max_num_queries(12):
        lead_client.get(reverse("annotation:image_reports", args=[study.slug]))
