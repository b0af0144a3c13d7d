"""Addresses of results; mounted under /studies/<study>/results/."""

from django.urls import path, re_path

from analysis.views import agreement, attributes, downloads, groups, overview

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
    path("visual-attributes/", agreement.visual_attributes, name="visual_attributes"),
    path("annotators/", agreement.annotators, name="annotators"),
    path("tables/<slug:table>.csv", downloads.table, name="table"),
    path("labels/<slug:table>.csv", downloads.labels, name="labels"),
    re_path(r"^plots/(?P<plot>[a-z-]+)\.(?P<format>svg|png|csv|vl\.json)$", downloads.plot, name="plot"),
    path("tables.zip", downloads.archive, name="archive"),
]
