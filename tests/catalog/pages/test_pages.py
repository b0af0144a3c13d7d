"""The pages of resources: access, content and uploads."""

import time
from contextlib import suppress

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import User
from catalog.models import IdentityGroup, Resource, Stereotype
from foundation.errors import DomainError
from jobs.models import Job
from jobs.progress.reporter import Unwatched
from jobs.run.execution import run_here
from jobs.uploads import remove_used

PAGES = ["catalog:list", "catalog:detail", "catalog:group", "catalog:import"]


def address(page: str, resource: Resource) -> str:
    arguments = {
        "catalog:detail": [resource.slug],
        "catalog:group": [resource.slug, resource.groups.order_by("pk").values_list("pk", flat=True)[0]],
    }
    return reverse(page, args=arguments.get(page, []))


@pytest.fixture
def annotator_client(annotator) -> Client:
    client = Client()
    client.force_login(annotator.user)
    return client


def csv_file(content: bytes | str, name: str = "isles.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode() if isinstance(content, str) else content)


def upload(client: Client, content: bytes | str, *, name: str = "Isles", **more):
    return client.post(reverse("catalog:import"), {"name": name, "file": csv_file(content), **more})


@pytest.mark.parametrize("page", PAGES)
def test_annotators_never_see_resources(page, annotator_client, resource):
    response = annotator_client.get(address(page, resource))
    assert response.status_code == 403
    assert b"tall hat" not in response.content


@pytest.mark.parametrize("page", PAGES)
def test_visitors_are_asked_to_sign_in(page, client, resource):
    response = client.get(address(page, resource))
    assert response.status_code == 302
    assert "sign-in" in response.url


@pytest.mark.parametrize("page", PAGES[:3])
def test_leads_and_analysts_see_resources(page, lead_client, analyst_client, resource):
    assert lead_client.get(address(page, resource)).status_code == 200
    assert analyst_client.get(address(page, resource)).status_code == 200


def test_an_analyst_may_not_import(analyst_client, resource):
    assert analyst_client.get(reverse("catalog:import")).status_code == 403
    assert upload(analyst_client, "identity,attribute\nVelmari,kite\n").status_code == 403
    assert Resource.objects.count() == 1


def test_groups_come_with_their_counts_of_attributes_and_stereotypes(lead_client, resource):
    Stereotype.objects.filter(attribute__text="kite").update(rating_1=None, rating_2=None, rating_3=None)
    page = lead_client.get(address("catalog:detail", resource)).context["page"]
    found = {group.name: (group.attribute_count, group.stereotype_count) for group in page}
    assert found == {"Velmari": (4, 3), "Orsani": (4, 3)}


def test_the_mean_offensiveness_leaves_unrated_pairs_out(lead_client, resource):
    Stereotype.objects.filter(attribute__text="kite").update(
        rating_1=None, rating_2=None, rating_3=None, offensiveness_stored=0
    )
    Stereotype.objects.exclude(attribute__text="kite").update(offensiveness_stored=3)
    page = lead_client.get(address("catalog:detail", resource)).context["page"]
    assert {group.name: group.offensiveness for group in page} == {"Velmari": 3, "Orsani": 3}


def test_groups_are_filtered_by_name_and_region_in_the_address(lead_client, resource):
    IdentityGroup.objects.filter(name="Orsani").update(region="South Isles")
    url = address("catalog:detail", resource)

    def names(query: str) -> list[str]:
        return [group.name for group in lead_client.get(f"{url}?{query}").context["page"]]

    assert names("region=South+Isles") == ["Orsani"]
    assert names("q=vel") == ["Velmari"]
    assert names("q=vel&region=South+Isles") == []
    assert b"No group matches" in lead_client.get(f"{url}?q=nobody").content


@pytest.mark.parametrize("query", ["page=999", "page=x", "page=-1", "q=%00", "region=%F0%9F%98%80"])
def test_invalid_query_parameters_still_give_a_page(query, lead_client, resource):
    assert lead_client.get(f"{address('catalog:detail', resource)}?{query}").status_code == 200


def test_a_list_of_many_groups_comes_in_pages(lead_client, resource):
    IdentityGroup.objects.bulk_create(
        IdentityGroup(resource=resource, name=f"Folk {n:03}", display_name=f"Folk {n:03}") for n in range(100)
    )
    page = lead_client.get(address("catalog:detail", resource)).context["page"]
    assert (len(page), page.paginator.count) == (60, 102)


@pytest.mark.parametrize(
    ("page", "queries"), [("catalog:list", 4), ("catalog:detail", 7), ("catalog:group", 6)]
)
def test_pages_need_few_queries_however_many_groups(
    page, queries, lead_client, resource, django_assert_max_num_queries
):
    IdentityGroup.objects.bulk_create(
        IdentityGroup(resource=resource, name=f"Folk {n}", display_name=f"Folk {n}") for n in range(50)
    )
    url = address(page, resource)
    with django_assert_max_num_queries(queries):
        lead_client.get(url)


def test_a_lead_goes_on_to_a_study_of_the_resource(lead_client, analyst_client, resource):
    link = f'href="{reverse("studies:new")}?resource={resource.slug}"'
    assert link in lead_client.get(address("catalog:detail", resource)).content.decode()
    assert link not in analyst_client.get(address("catalog:detail", resource)).content.decode()
    Stereotype.objects.all().delete()
    assert link not in lead_client.get(address("catalog:detail", resource)).content.decode()


def test_real_groups_show_a_warning_and_keep_their_pairs_collapsed(lead_client, resource):
    resource.invented = False
    resource.save()
    assert b"Stereotypes about real people" in lead_client.get(address("catalog:detail", resource)).content
    group = lead_client.get(address("catalog:group", resource)).content.decode()
    assert "<details" in group
    assert "<details open" not in group


def test_a_resource_imported_as_invented_warns_of_no_real_people(lead_client):
    for name, more in (("isles", {"invented": "on"}), ("places", {})):
        run_job(upload(lead_client, "identity,attribute\nVelmari,kite\n", name=name, **more))
        page = lead_client.get(reverse("catalog:detail", args=[name])).content.decode()
        assert ("Stereotypes about real people" in page) == (name == "places")


def test_a_group_of_another_resource_is_not_found(lead_client, resource):
    other = Resource.objects.create(name="Other", slug="other")
    group = resource.groups.first()
    assert lead_client.get(reverse("catalog:group", args=[other.slug, group.pk])).status_code == 404


def run_job(answer) -> Job:
    """Run the job that an upload started; a failing job shows its error on its page."""
    job = Job.objects.order_by("-pk")[0]
    assert (answer.status_code, answer.url) == (302, reverse("jobs:detail", args=[job.pk]))
    with suppress(DomainError):
        run_here(job, Unwatched())
    job.refresh_from_db()
    return job


def test_a_lead_imports_a_resource_and_sees_the_outcome_of_its_rows(lead_client):
    answer = upload(lead_client, "identity,attribute\nVelmari,Kite\n,\nNepali,drum\n")
    assert not Resource.objects.exists()
    job = run_job(answer)
    assert job.state == Job.State.SUCCEEDED
    assert job.result["summary"] == "3 rows read, 1 rejected; 2 pairs new, 0 changed, 0 removed."
    content = lead_client.get(answer.url).content.decode()
    assert "Rejected: row 3: blank row" in content
    assert "attribute normalised" in content
    assert "Velmari" in content  # a group unknown to the geography
    resource = Resource.objects.get()
    assert resource.groups.get(name="Nepali").iso_code == "NPL"
    assert reverse("catalog:detail", args=[resource.slug]) in content
    assert (
        f'href="{reverse("studies:new")}?resource={resource.slug}">New study with this resource</a>'
        in content
    )


def test_an_import_killed_at_its_end_is_repeated_and_changes_nothing(lead_client):
    job = run_job(upload(lead_client, "identity,attribute\nVelmari,kite\n"))
    Job.objects.update(state=Job.State.QUEUED, finished_at=None)
    assert "nothing changed" in run_here(job, Unwatched()).result["summary"]


def test_import_files_are_kept_while_a_retry_is_possible_and_deleted_afterwards(lead_client):
    places = csv_file("identity,iso_code,region\nVelmari,VEL,North Isles\n", "places.csv")
    done = run_job(upload(lead_client, "identity,attribute\nVelmari,kite\n", geography=places))
    failed = run_job(upload(lead_client, "identity,attribute\nVelmari,kite,more\n", name="Other"))
    assert failed.state == Job.State.FAILED
    kept = [job.arguments[key] for job in (done, failed) for key in job.arguments if key.startswith("upload")]
    assert len(kept) == 3
    remove_used()
    assert [default_storage.exists(name) for name in kept] == [False, False, True]
    done.refresh_from_db()
    assert not any(key.startswith("upload") for key in done.arguments)


def test_an_existing_resource_is_updated_only_when_asked(lead_client, resource):
    content = "identity,attribute\nVelmari,kite\n"
    refused = upload(lead_client, content, name=resource.name)
    assert refused.status_code == 400
    assert "already a resource named" in refused.content.decode()
    assert Stereotype.objects.count() == 8
    run_job(upload(lead_client, content, name=resource.name, update="on"))
    assert Stereotype.objects.count() == 1


def test_a_resource_created_meanwhile_is_not_overwritten(lead_client, resource):
    answer = upload(lead_client, "identity,attribute\nVelmari,kite\n", name="Later")
    Resource.objects.filter(pk=resource.pk).update(name="Later")
    job = run_job(answer)
    assert job.error == "There is already a resource named “Later”, and updating it was not requested."
    assert Stereotype.objects.count() == 8


def test_a_geography_file_may_be_uploaded_with_the_resource(lead_client):
    places = csv_file("identity,iso_code,region\nVelmari,VEL,North Isles\n", "places.csv")
    run_job(upload(lead_client, "identity,attribute\nVelmari,kite\n", geography=places))
    assert IdentityGroup.objects.get().region == "North Isles"


def test_a_geography_without_its_columns_is_refused_beside_its_field(lead_client):
    answer = upload(
        lead_client, "identity,attribute\nVelmari,kite\n", geography=csv_file("a,b\n1,2\n", "places.csv")
    )
    assert answer.status_code == 400
    assert "has no column “identity”" in str(answer.context["form"].errors["geography"])
    assert not Job.objects.exists()


def test_a_resource_called_import_gets_another_address_than_the_page(lead_client):
    run_job(upload(lead_client, "identity,attribute\nVelmari,kite\n", name="Import"))
    assert lead_client.get(reverse("catalog:detail", args=[Resource.objects.get().slug])).status_code == 200


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"PK\x03\x04 archive", "not a CSV file"),
        (b"\x89PNG\r\n\x1a\n\0\0", "not UTF-8 text"),
        ("<script>alert(1)</script>,attribute\nx,y\n", "has no column “identity”"),
        (b"identity,attribute\nVelmari,\0\n", "NUL"),
        (b" ", "is empty"),
        (",".join(f"column {n}" for n in range(20_000)), "has 20,000 columns; 1,000 are allowed"),
        ("identity,identity,attribute\n", "two columns called “identity”"),
        (b"identity,attribute\n" + b"x" * 200_000, ""),
    ],
)
def test_a_file_whose_beginning_is_hostile_is_refused_at_once_in_one_escaped_sentence(
    lead_client, content, sentence
):
    response = upload(lead_client, content)
    if not sentence:  # the beginning is valid: the job finds the error further on
        assert "has a cell of more than 131,072 characters" in run_job(response).error
        return
    assert response.status_code == 400
    text = response.content.decode()
    assert sentence in text
    assert "<script>alert" not in text
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            "identity,attribute,region_stereo\nVelmari,kite,<b>\n",
            "region_stereo is “&lt;b&gt;”, not a number",
        ),
        ("identity,attribute\nVelmari,kite,extra\n", "3 cells where the header has 2"),
        ("identity,attribute\n", "lists no pair"),
    ],
)
def test_a_row_that_is_wrong_stops_the_job_with_one_escaped_sentence(lead_client, content, sentence):
    answer = upload(lead_client, content)
    assert run_job(answer).state == Job.State.FAILED
    assert sentence in lead_client.get(answer.url).content.decode()
    assert not Resource.objects.exists()


def test_the_page_reads_only_the_beginning_of_a_large_file(lead_client, django_assert_max_num_queries):
    rows = "".join(f"Folk {n % 50},attribute {n}\n" for n in range(200_000))
    began = time.process_time()
    with django_assert_max_num_queries(15):
        answer = upload(lead_client, f"identity,attribute\n{rows}")
    assert answer.status_code == 302
    assert time.process_time() - began < 2


def test_others_do_not_see_the_job_of_a_lead(lead_client, stranger_client):
    answer = upload(lead_client, "identity,attribute\nVelmari,kite\n")
    assert stranger_client.get(answer.url).status_code == 404


def test_a_file_over_the_limit_is_refused(lead_client, settings):
    settings.TABLE_MAX_BYTES = 10
    response = upload(lead_client, "identity,attribute\nVelmari,kite\n")
    assert "larger than the 10 bytes allowed" in response.content.decode()


def test_an_operator_finds_resources_and_groups_in_the_admin(client, resource):
    client.force_login(User.objects.create_superuser("root", password="a long password"))
    assert client.get("/admin/catalog/resource/").status_code == 200
    assert client.get("/admin/catalog/identitygroup/?q=Velmari").status_code == 200
