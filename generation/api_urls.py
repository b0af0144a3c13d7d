from django.urls import path

from generation import api

urlpatterns = [path("studies/<slug:study>/images/", api.StudyImages.as_view(), name="study-images")]
