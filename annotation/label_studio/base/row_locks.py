"""The lock that comes first wherever the mirror or labels made of it are written."""

from annotation.models import Enrolment


def lock_enrolments(campaign_id: int) -> dict[int, str]:
    """Lock the enrolments of a campaign in the order of their keys; return each annotator's state.

    Whoever withdraws, or is excluded or let in again, has locked their own enrolment before they change rows of the
    mirror, in several steps: so none of that stands between the steps of mirroring or settling.
    """
    enrolled = Enrolment.objects.select_for_update(of=("self",)).filter(campaign=campaign_id)
    return dict(enrolled.order_by("pk").values_list("annotator_id", "state"))


def lock_enrolments_at(server_id: int) -> None:
    """Lock those of all campaigns that a server has tasks of, before a user of it and then their answers are."""
    enrolled = Enrolment.objects.select_for_update(of=("self",)).filter(
        campaign__label_studio__server=server_id
    )
    list(enrolled.order_by("pk").values_list("pk", flat=True))
