"""Addresses of a study's plan; mounted under /studies/<study>/plan/."""

from django.urls import path

from analysis.pages.planning import views

app_name = "planning"
urlpatterns = [
    path("", views.plan, name="plan"),
    path("new/", views.NewPlan.as_view(), name="new"),
    path("designs.csv", views.designs_csv, name="designs"),
    path("preregister/", views.Preregister.as_view(), name="preregister"),
    path("preregistrations/<int:number>/", views.preregistration, name="preregistration"),
]
