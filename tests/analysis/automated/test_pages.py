"""Pages of automated measures: access, content, and what they offer without scores."""

import pytest
from django.urls import reverse

from analysis.models import Encoder, Report, TextEmbedding
from analysis.results import reports
from analysis.results.parameters import parameters_of
from jobs.models import Job
from tests.analysis.automated import factories

pytestmark = pytest.mark.django_db
PAGES = ["automated", "concordance", "captions", "pull", "mcas", "automated_tendency"]
OTHERS = ["overview", "groups", "attributes", "agreement", "disagreement", "annotator_groups", "compare",
          "visual_attributes", "annotators"]  # fmt: skip


def address(page: str, **places) -> str:
    return reverse(f"analysis:{page}", kwargs={"study": "isles", **places})


def text_of(client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200, url
    return " ".join(answer.content.decode().split())


def test_a_study_without_campaign_has_a_report_and_pages(phrases, report, analyst_client):
    assert "6 images" not in text_of(analyst_client, address("overview"))
    assert "54 images scored by machines" in text_of(analyst_client, address("overview"))
    analyst_client.post(address("compute"), {"resamples": "200"})
    assert Report.objects.count() == 1
    for page in [*PAGES, *OTHERS]:
        text_of(analyst_client, address(page))
    overview = text_of(analyst_client, address("overview"))
    assert "Machines saw the images of 2 models" in overview
    assert "No judgements of images yet" in overview
    # only measures with results have tabs
    assert address("agreement") not in overview


def test_targets_lean_by_category_with_another_model_beside(phrases, report, analyst_client):
    report(phrases)
    page = text_of(analyst_client, address("mcas"))
    assert page.count("Towards which side do") >= 2  # birds and trees
    assert "nearer to <strong>loud</strong>" in page
    beside = text_of(analyst_client, address("mcas") + "?model=sketch&beside=brush")
    assert beside.count('class="drawing drawing-wide"') == 4
    assert "Mean MCAS of all targets, model by model" in beside
    plot = analyst_client.get(address("plot", plot="mcas", format="csv") + "?category=birds&model=brush")
    assert plot.content.decode().splitlines()[0].startswith("target,ii,itp,ita,tt,mcas")
    assert len(plot.content.decode().splitlines()) == 4
    assert (
        analyst_client.get(address("plot", plot="mcas", format="svg") + "?category=fish").status_code == 404
    )
    assert analyst_client.get(address("mcas") + "?model=nobody").status_code == 404
    assert analyst_client.get(address("mcas") + "?encoder=nobody").status_code == 404


def test_a_missing_text_is_reported_with_a_remedy(phrases, report, analyst_client):
    TextEmbedding.objects.filter(text="moss").delete()
    computed = report(phrases)
    assert computed.summary["empty_tables"]["mcas"] == "texts_without_vectors"
    page = text_of(analyst_client, address("mcas"))
    assert "has not read all phrases and prompts" in page
    assert "python manage.py score --study isles --scorer mcas" in page


def test_without_scores_every_page_says_how_to_get_them(judged, report, analyst_client):
    computed = report(judged)
    assert (
        computed.summary["empty_tables"]
        | {
            "concordance": "no_scores",
            "calibration": "no_scores",
            "salience": "no_captions",
            "pull": "no_images_of_these_conditions",
            "mcas": "no_images_of_these_conditions",
            "mcas_categories": "no_images_of_these_conditions",
            "automated_tendency": "no_scores",
        }
        == computed.summary["empty_tables"]
    )
    said = {
        "automated": "--scorer clip",
        "concordance": "--scorer clip",
        "captions": "--scorer captions",
        "pull": "default, stereotypical and non-stereotypical images",
        "mcas": "protocol MCAS",
        "automated_tendency": "--scorer clip",
    }
    for page in PAGES:
        assert said[page] in text_of(analyst_client, address(page)), page


def test_strangers_get_404(phrases, report, stranger_client):
    report(phrases)
    for page in PAGES:
        assert stranger_client.get(address(page)).status_code == 404


def test_new_scores_make_results_outdated_and_unchanged_ones_do_not(phrases, report, analyst_client):
    computed = report(phrases)
    assert "changed after these results" not in text_of(analyst_client, address("mcas"))
    again = report(phrases)
    assert again.inputs_digest == computed.inputs_digest
    factories.associate_more(phrases)
    assert "Scores or captions of the images changed" in text_of(analyst_client, address("mcas"))
    assert report(phrases).inputs_digest != computed.inputs_digest
    assert "changed after these results" not in text_of(analyst_client, address("mcas"))


def test_many_scored_images_are_measured_by_a_worker(phrases, analyst, monkeypatch):
    monkeypatch.setattr(reports, "INLINE_SCORED", 10)
    asked = reports.request_report(study=phrases, parameters=parameters_of(phrases), by=analyst)
    assert isinstance(asked, Job)


def test_pages_take_few_queries(phrases, report, analyst_client, django_assert_max_num_queries):
    report(phrases)
    assert Encoder.objects.count() == 1
    for page in [*PAGES, *OTHERS]:
        with django_assert_max_num_queries(22):
            analyst_client.get(address(page))


def test_captions_show_matches_in_text_and_words(scored, report, analyst_client):
    report(scored)
    page = text_of(analyst_client, address("captions"))
    assert "they marked <strong>" in page
    page = text_of(analyst_client, address("captions") + "?group=Velmari")
    assert "a person with <mark>tall hats</mark>" in page
    assert "somebody &lt;b&gt;smiles&lt;/b&gt;" in page
    assert "In 3 captions: <mark>tall hat</mark> 2, <mark>blue scarf</mark> 1." in page
    assert "These images were generated for this group and their captions may repeat stereotypes" in page
    assert page.count('class="captions"') == 8  # a page of images
    assert analyst_client.get(address("captions") + "?group=Nobody").status_code == 404
    assert analyst_client.get(address("captions") + "?scorer=Nobody").status_code == 404


def test_the_target_precision_is_in_the_address(scored, report, analyst_client):
    report(scored, target_precision=0.5)
    asked = address("concordance") + "?scorer=CLIP tiny"
    rows = [
        row
        for row in Report.objects.get().rows("concordance")
        if row["scorer"] == "CLIP tiny" and row["attribute"]
    ]
    for target in (0.0, 0.5, 0.99):
        left = sum(row["precision_low"] is not None and row["precision_low"] >= target for row in rows)
        page = text_of(analyst_client, f"{asked}&target={target}")
        assert f"<strong>{left}</strong> of {len(rows)} attributes can be left to CLIP tiny" in page
    assert "The thresholds were chosen when the results were computed, for a precision of 50" in text_of(
        analyst_client, f"{asked}&target=0.9"
    )
    for wrong in ("nan", "lots", "1e999"):
        text_of(analyst_client, f"{asked}&target={wrong}")


def test_pull_and_theta_have_their_plots_and_tables(scored, report, analyst_client):
    report(scored)
    page = text_of(analyst_client, address("pull"))
    assert "The default images of <strong>2</strong> of 2 groups" in page
    page = text_of(analyst_client, address("automated_tendency") + "?scorer=CLIP tiny")
    assert "too few groups (2)" in page
    overview = text_of(analyst_client, address("automated"))
    assert "of 6 attributes" in overview
    for plot in ("pull", "calibration", "automated-theta"):
        lines = analyst_client.get(address("plot", plot=plot, format="csv")).content.decode().splitlines()
        assert len(lines) > 1
        assert analyst_client.get(address("plot", plot=plot, format="vl.json")).json()["datasets"]["rows"]


def test_a_group_and_an_image_have_scores_beside_peoples_answers(scored, report, analyst_client):
    report(scored)
    page = text_of(analyst_client, address("group", group="Velmari"))
    assert '<abbr title="Mean score that this scorer gives the group’s images">CLIP tiny</abbr>' in page
    image = scored.images.filter(group__name="Velmari", condition="default").first()
    page = text_of(analyst_client, address("image", image=image.public_id))
    assert "CLIP tiny" in page
    assert "Captions by machines" in page
    assert "<mark>tall-hat</mark>" in page


def test_the_report_and_the_interface_have_the_tables(scored, report, analyst_client):
    report(scored)
    html = analyst_client.get(address("report")).content.decode()
    for said in (
        "What machines find",
        "Salient attributes in captions",
        "Do images look stereotypical if",
        "θ by CLIP tiny",
    ):
        assert said in html
    tables = analyst_client.get("/api/v1/studies/isles/results/").json()["tables"]
    answer = analyst_client.get(tables["concordance"])
    assert (
        answer.content.decode()
        .splitlines()[0]
        .startswith("attribute,scorer,n,precision,recall,f1,average_precision,auc")
    )
    asked = {"resamples": 100, "target_precision": 0.7, "top_k": 2, "salient_among": "all"}
    answer = analyst_client.post("/api/v1/studies/isles/results/", asked, content_type="application/json")
    assert answer.status_code == 201
    chosen = Report.objects.latest("pk").parameters
    assert {name: chosen[name] for name in asked} == asked


def test_long_tables_are_searched_sorted_and_paged(judged, report, analyst_client, monkeypatch):
    monkeypatch.setattr("analysis.pages.table_page.table_page.__kwdefaults__", {"size": 2})
    report(judged)
    first = text_of(analyst_client, address("attributes") + "?order=name")
    assert "blue scarf" in first
    assert "umbrella" not in first
    last = text_of(analyst_client, address("attributes") + "?order=name&page=3")
    assert "umbrella" in last
    assert "blue scarf" not in last
    found = text_of(analyst_client, address("attributes") + "?q=LANT")
    assert "lantern" in found
    assert "1 of 6 attributes" in found
    groups = text_of(analyst_client, address("groups") + "?order=judgements&q=ors")
    assert "1 of 2 groups" in groups
