"""Addresses of results; mounted under /studies/<study>/results/."""

from django.urls import path, re_path

from analysis.pages.automated import captions, measures
from analysis.pages.probing import associations, planner
from analysis.pages.probing import views as probes
from analysis.pages.questions import views as questions
from analysis.pages.results import (
    agreement,
    annotator_groups,
    attributes,
    compare,
    disagreement,
    downloads,
    groups,
    overview,
)

app_name = "analysis"
urlpatterns = [
    path("", overview.overview, name="overview"),
    path("compute/", overview.compute, name="compute"),
    path("groups/", groups.groups, name="groups"),
    path("groups/images/<uuid:image>/", attributes.image, name="image"),
    path("groups/<path:group>/", groups.group, name="group"),
    path("attributes/", attributes.attributes, name="attributes"),
    path("attributes/<path:attribute>/", attributes.attribute, name="attribute"),
    path("agreement/", agreement.agreement, name="agreement"),
    path("disagreement/", disagreement.disagreement, name="disagreement"),
    path("annotator-groups/", annotator_groups.annotator_groups, name="annotator_groups"),
    path("compare/", compare.compare, name="compare"),
    path("compare/compute/", compare.compute, name="compare_compute"),
    path("visual-attributes/", agreement.visual_attributes, name="visual_attributes"),
    path("questions/", questions.questions, name="questions"),
    path("probes/", probes.probes, name="probes"),
    path("probes/models/", probes.models, name="probe_models"),
    path("probes/orders/", probes.orders, name="probe_orders"),
    path("probes/words/", associations.words, name="probe_words"),
    path("probes/associations/", associations.associations, name="associations"),
    path("probes/heat-maps/", associations.heat_maps, name="heat_maps"),
    path("probes/overlap/", associations.overlap, name="overlap"),
    path("probes/judge/", associations.judge, name="judge"),
    path("probes/planner/", planner.planner, name="probe_planner"),
    path("annotators/", agreement.annotators, name="annotators"),
    path("automated/", measures.automated, name="automated"),
    path("automated/concordance/", measures.concordance, name="concordance"),
    path("automated/captions/", captions.captions, name="captions"),
    path("automated/pull/", measures.pull, name="pull"),
    path("automated/mcas/", measures.mcas, name="mcas"),
    path("automated/tendency/", measures.tendency, name="automated_tendency"),
    path("tables/<slug:table>.csv", downloads.table, name="table"),
    path("labels/<slug:table>.csv", downloads.labels, name="labels"),
    re_path(r"^plots/(?P<plot>[a-z-]+)\.(?P<format>svg|png|csv|vl\.json)$", downloads.plot, name="plot"),
    path("report.html", downloads.report, name="report"),
    path("report.pdf", downloads.report_as_pdf, name="report_pdf"),
    path("tables.zip", downloads.archive, name="archive"),
]
