from django.urls import path

from studies.api import views

urlpatterns = [
    path("studies/", views.StudyList.as_view(), name="study-list"),
    path("studies", views.StudyList.as_view(schema=None)),
    path("studies/<slug:slug>/", views.StudyDetail.as_view(), name="study-detail"),
    path("studies/<slug:slug>", views.StudyDetail.as_view(schema=None)),
]
