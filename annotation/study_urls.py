"""Addresses of studies. They stand in this app because a study's page counts what all the apps below know."""

from django.urls import path

from annotation.lead_views import new_study, own_words, studies
from generation import mcas_views

app_name = "studies"
urlpatterns = [
    path("", studies.study_list, name="list"),
    path("new/", new_study.new_study, name="new"),
    path("new/totals/", new_study.new_study_totals, name="new_totals"),
    path("new/mcas/", mcas_views.new_mcas, name="new_mcas"),
    path("new/mcas/totals/", mcas_views.new_mcas_totals, name="new_mcas_totals"),
    path("<slug:study>/", studies.study_detail, name="detail"),
    path("<slug:study>/members/", studies.study_members, name="members"),
    path("<slug:study>/members/<int:membership>/remove/", studies.member_remove, name="member_remove"),
    path("<slug:study>/consent/", studies.study_consent, name="consent"),
    path("<slug:study>/own-words/", own_words.own_words_list, name="own_words"),
    path("<slug:study>/history/", studies.study_history, name="history"),
]
