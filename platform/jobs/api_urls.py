from django.urls import path

from jobs import api

urlpatterns = [
    path("jobs/", api.JobList.as_view(), name="job-list"),
    path("jobs/<int:pk>/", api.JobDetail.as_view(), name="job-detail"),
]
