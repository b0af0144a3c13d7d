from django.urls import path

from generation.api import views

urlpatterns = [path("studies/<slug:study>/images/", views.StudyImages.as_view(), name="study-images")]
