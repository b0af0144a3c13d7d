"""Studies of images that differ only in the person, with groups and prompts from a prompt set."""

from typing import Any

from django.db import transaction

from accounts.models import User
from foundation.errors import DomainError
from generation.prompts.sets import PromptSet
from generation.prompts.sets.apply import use_prompt_set
from studies.models import Study, StudyGroup
from studies.protocol.creation import create_study


def create_parallel_study(*, prompt_set: PromptSet, by: User | None, **settings: Any) -> Study:
    """Create a study of PAIRS (`settings` as for `create_study`) with a group for each person of the set."""
    if len({person.name for person in prompt_set.persons}) < max(len(prompt_set.persons), 2):
        raise DomainError(
            "persons_missing", f"The prompt set {prompt_set.name} needs two persons with different names."
        )
    with transaction.atomic():
        study = create_study(resource=None, groups=[], by=by, protocol=Study.Protocol.PAIRS, **settings)
        StudyGroup.objects.bulk_create(
            StudyGroup(study=study, name=person.name, display_name=person.text, factors=dict(person.factors))
            for person in prompt_set.persons
        )
        use_prompt_set(study=study, chosen=prompt_set, by=by)
        return study
