from django.urls import path

from jobs.api import views

urlpatterns = [
    path("jobs/", views.JobList.as_view(), name="job-list"),
    path("jobs/<int:pk>/", views.JobDetail.as_view(), name="job-detail"),
]
