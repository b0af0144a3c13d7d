"""URLs of studies, in this app because their pages use data of all lower apps."""

from django.urls import path

from annotation.lead.people import own_words
from front.studies import break_glass, new_study, probing_study, study_changes, views
from generation.pages import mcas

app_name = "studies"
urlpatterns = [
    path("", views.study_list, name="list"),
    path("new/", new_study.new_study, name="new"),
    path("new/totals/", new_study.new_study_totals, name="new_totals"),
    path("new/mcas/", mcas.NewMcas.as_view(), name="new_mcas"),
    path("new/mcas/totals/", mcas.new_mcas_totals, name="new_mcas_totals"),
    path("new/pairs/", probing_study.NewPairs.as_view(), name="new_pairs"),
    path("new/biasdora/", probing_study.NewBiasdora.as_view(), name="new_biasdora"),
    path("<slug:study>/", views.study_detail, name="detail"),
    path("<slug:study>/edit/", study_changes.study_edit, name="edit"),
    path("<slug:study>/edit/totals/", study_changes.study_totals, name="edit_totals"),
    path("<slug:study>/delete/", study_changes.StudyDelete.as_view(), name="delete"),
    path("<slug:study>/groups/", study_changes.study_groups, name="groups"),
    path("<slug:study>/members/", views.StudyMembers.as_view(), name="members"),
    path("<slug:study>/members/<int:membership>/remove/", views.MemberRemove.as_view(), name="member_remove"),
    path("<slug:study>/break-glass/", break_glass.OpenByBreakGlass.as_view(), name="break_glass"),
    path("<slug:study>/break-glass/end/", break_glass.EndBreakGlass.as_view(), name="end_break_glass"),
    path("<slug:study>/consent/", views.StudyConsent.as_view(), name="consent"),
    path("<slug:study>/own-words/", own_words.OwnWordsList.as_view(), name="own_words"),
    path("<slug:study>/history/", views.study_history, name="history"),
]
