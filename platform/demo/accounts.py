"""The demo's sign-ins, one for each role."""

from django.conf import settings
from django.db import transaction

from accounts.models import Annotator, User
from accounts.rights import Role
from studies import membership
from studies.models import Study

_WORKS_AS = {role.words: role for role in Role if role != Role.LEAD}


@transaction.atomic
def create_accounts() -> dict[str, User]:
    """Create the demo's sign-ins, by role; each keeps what its visitor changed."""
    people = {}
    for account in settings.DEMO_ACCOUNTS:
        role, username = account["role"], account["username"]
        user = User.objects.filter(username=username).first()
        if user is None:
            user = User.objects.create_user(
                username,
                password=account["password"],
                display_name=f"Demo {role}",
                is_lead=role == "lead",
                is_analyst=role == "analyst",
            )
            if role == "annotator":
                Annotator.objects.create(user=user)
        people[role] = user
    return people


def add_members(*, study: Study, people: dict[str, User]) -> None:
    """Make the sign-ins of members what they are called, in a study of the demo."""
    for words, role in _WORKS_AS.items():
        membership.add_member(study=study, username=people[words].username, role=role, by=people["lead"])
