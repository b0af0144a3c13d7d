"""The methods text of a report: marks, ratings, few annotators, and the subject of a comparison."""

from django.utils import timezone

from accounts.models import Annotator
from analysis.models import Report
from analysis.results.output.report_file import READS, report_html
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from annotation.models import Annotation
from tests.web.markup import compact


def computed(marked) -> Report:
    return compute_report(
        study=marked.study, parameters=parameters_of(marked.study, resamples=100, seed=4), by=None
    )


def tables_of(report: Report) -> dict[str, list[dict]]:
    """The tables that the report reads, of those that were computed."""
    return {table.name: table.rows() for table in report.tables.filter(name__in=READS)}


def written(marked, **instead) -> str:
    """The report as a file; rows of tables may be given instead of those computed."""
    report = computed(marked)
    tables = tables_of(report) | instead
    return " ".join(report_html(marked.study, tables, report.summary, timezone.now()).split())


def test_a_report_on_ratings_alone_explains_how_they_were_counted(marked, analyst_client):
    Annotation.objects.filter(campaign=marked.campaign).update(status="excluded")
    page = written(marked)
    methods = page.split("<h2>Methods</h2>")[1].split("<h2>Limitations</h2>")[0]
    for words in (
        "An attribute is visual if everybody who rated it agreed or strongly agreed",
        "Agreement of the ratings is reported with Unsure as missing",
        "The 95 % intervals of this agreement are from a two-way jackknife over annotators and attributes",
        "Agreement is Krippendorff’s α",
    ):
        assert words in methods, words
    assert "likelihood L(a, g)" not in methods
    overview = " ".join(analyst_client.get("/studies/isles/results/").content.decode().split())
    assert "Agreement of the ratings is reported with Unsure as missing" in overview


def test_a_report_on_marks_alone_does_not_mention_ratings(marked):
    Annotation.objects.filter(campaign=marked.likert).update(status="excluded")
    page = written(marked)
    assert "100 resamples (seed 4)" in page
    assert "nominal for marks" in page
    assert "with Unsure as missing" not in page


def test_intervals_of_few_annotators_are_not_called_conservative(marked):
    page = written(marked)
    words = "With 3 annotators, intervals of L, θ and offensiveness can be too narrow"
    assert page.count(words) == 2  # methods and limitations
    assert "intervals for marks and boxes are from a two-way jackknife over annotators and images" in page
    assert "conservative" not in page


def test_intervals_of_one_annotator_hold_for_this_one(marked):
    Annotation.objects.exclude(annotator=marked.annotators["p"]).update(status="excluded")
    page = written(marked)
    assert page.count("The intervals apply only to this annotator") == 2
    assert "conservative" not in page


def test_intervals_of_ten_annotators_state_what_they_covered(marked):
    for slot in range(7):
        person = Annotator.objects.create(source="people", source_id=str(slot))
        for image in marked.images.values():
            task = image.tasks.get()
            task.wanted += 1
            task.save()
            annotation = marked.submit(task, person, 3 + slot, none=False)
            for item in task.task_attributes.all():
                annotation.judgements.create(attribute=item.attribute, present=slot % 2 == 0)
    page = written(marked)
    assert page.count("contained the true L, θ or pooled θ in 93 to 99 of 100 studies") == 1
    assert "too narrow" not in page
    assert "conservative" not in page


def test_ids_that_are_screens_resample_images_only(marked):
    report = computed(marked)
    tables = tables_of(report)
    summary = report.summary | {"agreement_resampled": {"stereotype_marking": "images"}}
    page = " ".join(report_html(marked.study, tables, summary, timezone.now()).split())
    assert "The 95 % intervals for marks and boxes are from resampling images alone" in page
    assert "jackknife over annotators and images" not in page


def test_a_comparison_of_campaigns_names_them_and_the_model(marked):
    numbers = dict.fromkeys(("value_a", "value_b", "difference", "ci_low", "ci_high", "reason"))
    shared = {"scope": "all", "measure": "theta", **numbers}
    marked.campaign.name = "First round"
    marked.campaign.save()
    sides = {"side_a": marked.campaign.slug, "side_b": "of-long-ago"}
    page = written(
        marked,
        model_differences=[
            {"compared": "campaign", "model": "sketch", **sides, **shared},
            {"compared": "model", "model": None, "side_a": "photo", "side_b": "sketch", **shared},
        ],
    )
    assert '<td>sketch</td><th scope="row">First round</th><td>of-long-ago</td>' in compact(page)
    assert '<td>both</td><th scope="row">photo</th><td>sketch</td>' in compact(page)
