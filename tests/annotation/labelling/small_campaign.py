"""A campaign of a few tasks and people without choices by a lead, for tests that need to know all of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count

from accounts import profiles
from accounts.models import Annotator
from annotation.assignment import quota_rules
from annotation.assignment.campaign_quotas import CampaignQuotas, quotas_of
from annotation.assignment.quotas import Profile
from annotation.assignment.slots import profiles_of
from annotation.kinds.declaration import Kind
from annotation.kinds.registry import MARKING, frozen
from annotation.models import Campaign, KnownAnswer, Task
from catalog.models import Attribute
from studies.models import Study
from tests.annotation.factories import new_annotator
from tests.annotation.labelling.model import LEASE, WANTED

SAID = (
    {"gender": "man", "region_of_origin": "Polynesia"},
    {"gender": "man", "region_of_origin": "Eastern Asia"},
    {"gender": "woman", "region_of_origin": "Polynesia"},
    {},
)
TASKS, GOLDS = 3, 2
# A process may cache the rules of a deleted campaign; its number may be reused, but not its seed.
_seeds = count(1)


@dataclass(frozen=True)
class SmallCampaign:
    """The campaign; the ids of its tasks and gold tasks in order; its people and their profiles."""

    campaign: Campaign
    quotas: CampaignQuotas | None
    tasks: Sequence[int]
    golds: Sequence[int]
    people: Sequence[Annotator]
    profiles: Sequence[Profile]


def small_campaign(
    *, quota_lines: Sequence[str], options: Mapping[str, object], opened_at: datetime, kind: Kind = MARKING
) -> SmallCampaign:
    """Open a campaign in which the first task is sensitive, and let four people take part in it.

    `kind` asks about attributes or about one text.
    """
    study = Study.objects.create(name="Small", slug="small", seed=1)
    campaign = Campaign.objects.create(
        study=study,
        slug="m",
        name="M",
        kind=kind.key,
        declaration=frozen(kind),
        seed=next(_seeds),
        state="open",
        opened_at=opened_at,
        lease_minutes=LEASE.seconds // 60,
        options=options,
    )
    rules = quota_rules.parse(quota_lines, annotators_per_task=WANTED, kind=kind)
    quota_rules.store(campaign, rules)
    quotas = quotas_of(campaign)
    attribute = Attribute.objects.create(text="hat")
    mix = quotas.first_mix(None, WANTED) if quotas else ""
    tasks = [
        Task.objects.create(
            campaign=campaign, wanted=WANTED, quota_mix=mix, sensitive=number == 0, screen=number
        )
        for number in range(TASKS)
    ]
    golds = [Task.objects.create(campaign=campaign, wanted=0, purpose="gold") for _ in range(GOLDS)]
    if kind.about_attributes:
        for gold in golds:
            KnownAnswer.objects.create(task=gold, attribute=attribute, present=False)
        for task in [*tasks, *golds]:
            task.task_attributes.create(attribute=attribute, position=0)
    else:
        for gold in golds:
            KnownAnswer.objects.create(task=gold, question="strong", accepted=[1])
        for task in [*tasks, *golds]:
            task.stimuli.create(position=0, text=f"Text {task.pk}.")
    people = [new_annotator(campaign) for _ in SAID]
    for annotator, said in zip(people, SAID, strict=True):
        profiles.describe(annotator=annotator, **said)
    profile = profiles_of([annotator.pk for annotator in people])
    return SmallCampaign(
        campaign=campaign,
        quotas=quotas,
        tasks=[task.pk for task in tasks],
        golds=[gold.pk for gold in golds],
        people=people,
        profiles=[profile[annotator.pk] for annotator in people],
    )
