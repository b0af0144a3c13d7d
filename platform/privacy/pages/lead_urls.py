"""URLs for leads concerning personal data, below the URL of a study."""

from django.urls import path

from privacy.pages import erase_annotator

app_name = "privacy"
urlpatterns = [
    path(
        "campaigns/<slug:campaign>/people/<int:enrolment>/erase/",
        erase_annotator.EraseAnnotator.as_view(),
        name="erase_annotator",
    ),
]
