"""Addresses of a campaign's recruitment, below that of a study."""

from django.urls import path

from annotation.recruitment.lead import cell_drafts, pages, panel_pages, review

_ALL = "campaigns/<slug:campaign>/recruitment/"
_ONE = f"{_ALL}<int:recruitment>/"
_PLACE = f"{_ONE}places/<int:place>/"
_REVIEW = f"{_ONE}review/"
_PAYMENT = f"{_REVIEW}payments/<int:payment>/"

urlpatterns = [
    path(_ALL, pages.recruitment_list, name="recruitments"),
    path(f"{_ALL}panels/new/", pages.PanelNew.as_view(), name="panel_new"),
    path(f"{_ALL}panels/<int:panel>/", panel_pages.PanelToken.as_view(), name="panel"),
    path(f"{_ALL}panels/<int:panel>/events/", panel_pages.PanelEvents.as_view(), name="panel_events"),
    path(f"{_ALL}new/", pages.RecruitmentNew.as_view(), name="recruitment_new"),
    path(f"{_ALL}all/", cell_drafts.RecruitAllCells.as_view(), name="recruit_all"),
    path(f"{_ALL}publish/", cell_drafts.RecruitmentsPublish.as_view(), name="recruitments_publish"),
    path(_ONE, pages.recruitment_page, name="recruitment"),
    *(
        path(f"{_ONE}{move}/", pages.RecruitmentStep.as_view(), {"move": move}, name=f"recruitment_{move}")
        for move in ("open", "pause", "close")
    ),
    path(f"{_ONE}draft/", panel_pages.RecruitmentDraft.as_view(), name="recruitment_draft"),
    path(f"{_ONE}publish/", panel_pages.RecruitmentPublish.as_view(), name="recruitment_publish"),
    path(f"{_ONE}compare/", panel_pages.RecruitmentCompare.as_view(), name="recruitment_compare"),
    path(_REVIEW, review.review_page, name="recruitment_review"),
    path(f"{_REVIEW}approve/", review.RecruitmentApprove.as_view(), name="recruitment_approve"),
    path(f"{_REVIEW}bonuses/", review.BonusesPay.as_view(), name="recruitment_bonuses"),
    path(f"{_REVIEW}settle/", review.RecruitmentSettle.as_view(), name="recruitment_settle"),
    path(f"{_PAYMENT}again/", review.PaymentAgain.as_view(), name="payment_again"),
    path(f"{_PAYMENT}paid/", review.PaymentSeen.as_view(), name="payment_seen"),
    path(_PLACE, pages.PlaceDecide.as_view(), name="panel_place"),
    path(f"{_PLACE}id/", pages.PlaceShow.as_view(), name="panel_place_show"),
    path(f"{_PLACE}end/", pages.PlaceEnd.as_view(), name="panel_place_end"),
]
