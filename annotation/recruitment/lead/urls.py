"""Addresses of a campaign's recruitment, below that of a study."""

from django.urls import path

from annotation.recruitment.lead import pages

_ALL = "campaigns/<slug:campaign>/recruitment/"
_ONE = f"{_ALL}<int:recruitment>/"
_PLACE = f"{_ONE}places/<int:place>/"

urlpatterns = [
    path(_ALL, pages.recruitment_list, name="recruitments"),
    path(f"{_ALL}panels/new/", pages.PanelNew.as_view(), name="panel_new"),
    path(f"{_ALL}new/", pages.RecruitmentNew.as_view(), name="recruitment_new"),
    path(_ONE, pages.recruitment_page, name="recruitment"),
    *(
        path(f"{_ONE}{move}/", pages.RecruitmentStep.as_view(), {"move": move}, name=f"recruitment_{move}")
        for move in ("open", "pause", "close")
    ),
    path(f"{_ONE}approve/", pages.RecruitmentApprove.as_view(), name="recruitment_approve"),
    path(f"{_ONE}settle/", pages.RecruitmentSettle.as_view(), name="recruitment_settle"),
    path(_PLACE, pages.PlaceDecide.as_view(), name="panel_place"),
    path(f"{_PLACE}id/", pages.PlaceShow.as_view(), name="panel_place_show"),
    path(f"{_PLACE}end/", pages.PlaceEnd.as_view(), name="panel_place_end"),
]
