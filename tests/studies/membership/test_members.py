"""Members of a study: who can become one."""

import pytest

from foundation.errors import DomainError
from studies.membership import add_member
from studies.models import StudyMembership


def test_a_blocked_account_cannot_become_a_member(study, lead, stranger):
    type(stranger).objects.filter(pk=stranger.pk).update(is_active=False)
    with pytest.raises(DomainError) as refusal:
        add_member(study=study, username=stranger.username, role="analyst", by=lead)
    assert refusal.value.code == "user_unknown"
    assert not StudyMembership.objects.filter(user=stranger).exists()
