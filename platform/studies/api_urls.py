from django.urls import path

from studies import api

urlpatterns = [
    path("studies/", api.StudyList.as_view(), name="study-list"),
    path("studies", api.StudyList.as_view(schema=None)),
    path("studies/<slug:slug>/", api.StudyDetail.as_view(), name="study-detail"),
    path("studies/<slug:slug>", api.StudyDetail.as_view(schema=None)),
]
