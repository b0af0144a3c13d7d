"""The labelled study of the pages' tests, and its addresses."""

from django.urls import reverse

from analysis.plots.maps.country_values import MEASURES
from analysis.results.parameters import parameters_of
from analysis.results.reports import compute_report
from tests.analysis.conftest import labelled
from tests.studies.isles import new_analyst, new_lead, new_resource, new_study

PAGES = [
    "overview",
    "groups",
    "attributes",
    "agreement",
    "disagreement",
    "annotator_groups",
    "compare",
    "visual_attributes",
    "annotators",
]


def address(page: str, **places) -> str:
    return reverse(f"analysis:{page}", kwargs={"study": "isles", **places})


def every_address(marked) -> list[str]:
    return [
        *map(address, PAGES),
        *(address("groups") + f"?map={measure}" for measure in MEASURES),
        address("group", group="Velmari"),
        address("disagreement") + "?group=Velmari&by=gender",
        address("disagreement") + "?attribute=drum",
        address("annotators") + "?flagged=1",
        address("attribute", attribute="tall hat"),
        address("attribute", attribute="tall hat") + "?group=Velmari",
        address("attribute", attribute="kind"),
        address("image", image=marked.images["v1"].public_id),
        address("table", table="likelihood"),
        address("archive"),
        address("report"),
        *(address("labels", table=name) for name in ("judgements", "boxes", "ratings")),
        address("plot", plot="theta", format="svg"),
        address("plot", plot="theta", format="csv"),
        address("plot", plot="ranked-theta", format="vl.json"),
    ]


def write_study() -> None:
    """Write the labelled study, with a report."""
    lead, analyst = new_lead(), new_analyst()
    study = labelled(new_study(lead=lead, analyst=analyst, resource=new_resource()), lead).study
    compute_report(study=study, parameters=parameters_of(study, resamples=200), by=analyst)
