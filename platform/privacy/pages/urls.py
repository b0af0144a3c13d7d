"""URLs of annotators' own data, below the URLs of annotators."""

from django.urls import path

from privacy.pages import erase, own_data

app_name = "own_data"
urlpatterns = [
    path("", own_data.overview, name="overview"),
    path("download/", own_data.download, name="download"),
    path("erase/", erase.EraseSelf.as_view(), name="erase"),
    path("erased/", erase.erased, name="erased"),
    path("<slug:file>/", own_data.table, name="table"),
]
