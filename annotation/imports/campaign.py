"""The closed campaign that imported labels belong to."""

import numpy as np
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import User
from annotation.imports.cells import Codes
from annotation.kinds.declaration import Kind
from annotation.models import Campaign
from foundation.errors import DomainError
from studies.models import Study

_LONGEST_NAME = 120
_MOST_PER_TASK = 100
_MOST_PER_SCREEN = 5


def create_campaign(*, study: Study, kind: Kind, name: str, by: User | None) -> Campaign:
    """Create a closed campaign for imported labels; an empty `name` names it after its kind."""
    name = name or f"{kind.name} (imported)"
    if len(name) > _LONGEST_NAME:
        raise DomainError(
            "campaign_name_too_long",
            f"The name of the campaign is longer than {_LONGEST_NAME} characters.",
            fields={"name": "too long"},
        )
    now = timezone.now()
    stem = slugify(name)[:100] or "imported"
    used_slugs = set(study.campaigns.values_list("slug", flat=True))
    slug = next(
        s for s in (stem, *(f"{stem}-{n}" for n in range(2, len(used_slugs) + 3))) if s not in used_slugs
    )
    return Campaign.objects.create(
        study=study,
        slug=slug,
        name=name,
        kind=kind.key,
        state=Campaign.State.CLOSED,
        imported=True,
        boxes_required=False,
        seed=study.seed,
        created_by=by,
        opened_at=now,
        closed_at=now,
    )


def set_sizes(campaign: Campaign, sizes: Codes, task_of_screen: Codes) -> None:
    """Set the campaign's attributes per screen and annotators per task from the imported file."""
    if len(sizes):
        campaign.attributes_per_screen = min(max(int(np.max(sizes)), 1), _MOST_PER_SCREEN)
        answers = np.bincount(task_of_screen)
        campaign.annotators_per_task = min(max(int(np.median(answers)), 1), _MOST_PER_TASK)
        campaign.save(update_fields=["attributes_per_screen", "annotators_per_task"])
