"""Addresses of Label Studio's pages for leads, below that of a study."""

from django.urls import path

from annotation.label_studio.lead import answers, campaigns, files, people, servers

_CAMPAIGN = "campaigns/<slug:campaign>/label-studio/"
_SERVER = "label-studio/<int:server>/"
_PERSON = f"{_SERVER}people/<int:user>/"

urlpatterns = [
    path("label-studio/", servers.ServerListPage.as_view(), name="label_studio"),
    path("label-studio/file/", files.FileUpload.as_view(), name="label_studio_file_upload"),
    path("label-studio/file/<int:look>/", files.FilePage.as_view(), name="label_studio_file"),
    path(_SERVER, servers.ServerPage.as_view(http_method_names=["get", "head"]), name="label_studio_server"),
    path(f"{_SERVER}check/", servers.server_check, name="label_studio_check"),
    path(
        f"{_SERVER}token/", servers.ServerPage.as_view(http_method_names=["post"]), name="label_studio_token"
    ),
    path(f"{_SERVER}disconnect/", servers.ServerDisconnect.as_view(), name="label_studio_disconnect"),
    path(f"{_SERVER}people/", people.people_list, name="label_studio_people"),
    path(_PERSON, people.PersonPage.as_view(http_method_names=["get", "head"]), name="label_studio_person"),
    path(
        f"{_PERSON}confirm/",
        people.PersonPage.as_view(http_method_names=["post"]),
        name="label_studio_person_confirm",
    ),
    path(f"{_PERSON}invite/", people.PersonInviteButton.as_view(), name="label_studio_person_invite"),
    *(
        path(
            f"{_PERSON}{move}/",
            people.PersonDecide.as_view(),
            {"move": move},
            name=f"label_studio_person_{move}",
        )
        for move in ("ignore", "undo", "erase")
    ),
    path(_CAMPAIGN, campaigns.BridgePage.as_view(), name="campaign_label_studio"),
    path(f"{_CAMPAIGN}live/", campaigns.bridge_live, name="campaign_label_studio_live"),
    path(f"{_CAMPAIGN}renew/", campaigns.BridgeRenew.as_view(), name="campaign_label_studio_renew"),
    path(f"{_CAMPAIGN}cleanup/", campaigns.BridgeCleanupPage.as_view(), name="campaign_label_studio_cleanup"),
    path(f"{_CAMPAIGN}end/", campaigns.BridgeEnd.as_view(), name="campaign_label_studio_end"),
    *(
        path(
            f"{_CAMPAIGN}{work}/",
            campaigns.BridgeStart.as_view(),
            {"work": work},
            name=f"campaign_label_studio_{work}",
        )
        for work in ("push", "reconcile", "replace")
    ),
    path(f"{_CAMPAIGN}missing/", campaigns.bridge_missing, name="campaign_label_studio_missing"),
    *(
        path(
            f"{_CAMPAIGN}missing/{decision}/",
            campaigns.BridgeMissingDecide.as_view(),
            {"decision": decision},
            name=f"campaign_label_studio_missing_{decision}",
        )
        for decision in ("deleted", "kept")
    ),
    path(f"{_CAMPAIGN}answers/", answers.answer_list, name="label_studio_answers"),
    path(f"{_CAMPAIGN}answers/<int:answer>/", answers.answer_page, name="label_studio_answer"),
    *(
        path(
            f"{_CAMPAIGN}answers/<int:answer>/{decision}/",
            answers.AnswerDecide.as_view(),
            {"decision": decision},
            name=f"label_studio_answer_{decision}",
        )
        for decision in ("keep", "take", "restore", "undo")
    ),
]
