"""Plan a campaign's tasks from its seed, before anything is written.

Every random choice orders the candidates by keyed hashes. So it depends on the campaign's seed and on the content,
never on the order of rows, and no order reveals which attribute is a stereotype.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.assignment.campaign_quotas import quotas_of
from annotation.campaigns.planning.associations import AssociationSets
from annotation.campaigns.planning.plan import (
    CampaignPlan,
    PlannedAttribute,
    PlannedGroup,
    PlannedStimulus,
    PlannedTask,
)
from annotation.campaigns.planning.questions import plan_questions
from annotation.campaigns.planning.shuffle import keyed_hash, shuffled
from annotation.campaigns.planning.texts import plan_texts
from annotation.campaigns.planning.visual_attributes import visual_attributes
from annotation.kinds.options import FROM_CAMPAIGN, Options
from annotation.kinds.registry import kind_of
from annotation.models import (
    Campaign,
    CampaignAttribute,
    CopiedText,
    ReviewedCoding,
    Task,
    TaskAttribute,
    TaskStimulus,
)
from catalog.models import Attribute
from foundation.database import bulk
from generation.models import Image
from studies.models import StudyGroup
from studies.protocol.attribute_roles import RANDOM, STEREOTYPE


def plan(campaign: Campaign) -> CampaignPlan:
    """Return what `campaign` would ask if it opened now. Reads only."""
    options, kind = Options.of(campaign), kind_of(campaign)
    if kind.rates_attributes:
        return _plan_ratings(campaign, options)
    if kind.marks_attributes:
        return _plan_marking(campaign, options)
    if kind.stimuli.medium == "text":
        return plan_texts(campaign, kind, options)
    return plan_questions(campaign, kind, options)


def write(plan: CampaignPlan, campaign: Campaign) -> None:
    """Store a plan's tasks and their stimuli. Call it in the transaction that opens the campaign."""
    drawn = plan.planned_attributes
    bulk.insert(
        CampaignAttribute,
        {
            "campaign_id": [campaign.pk] * len(drawn),
            "group_id": [planned.group_id for planned in drawn],
            "attribute_id": [planned.attribute_id for planned in drawn],
            "role": [planned.role for planned in drawn],
        },
    )
    tasks = list(zip(_write_tasks(campaign, plan.tasks), plan.tasks, strict=True))
    _write_attributes(tasks)
    _write_stimuli(campaign, tasks)


def _write_attributes(tasks: Sequence[tuple[int, PlannedTask]]) -> None:
    """Store the attributes that tasks, given with their keys, ask about."""
    asked_attributes = [
        (key, attribute, position)
        for key, task in tasks
        for position, attribute in enumerate(task.attribute_ids)
    ]
    bulk.insert(
        TaskAttribute,
        {
            "task_id": [task for task, _, _ in asked_attributes],
            "attribute_id": [attribute for _, attribute, _ in asked_attributes],
            "position": [position for _, _, position in asked_attributes],
        },
    )


def _write_stimuli(campaign: Campaign, tasks: Sequence[tuple[int, PlannedTask]]) -> None:
    """Store the stimuli of tasks, given with their keys, and the sources of copied texts."""
    stimuli = [
        (key, position, stimulus) for key, task in tasks for position, stimulus in enumerate(task.stimuli)
    ]
    bulk.insert(
        TaskStimulus,
        {
            "task_id": [task for task, _, _ in stimuli],
            "position": [position for _, position, _ in stimuli],
            "image_id": [stimulus.image_id for _, _, stimulus in stimuli],
            "text": [stimulus.text for _, _, stimulus in stimuli],
        },
    )
    planned = {(key, position): stimulus for key, position, stimulus in stimuli}
    if any(stimulus.writer_id or stimulus.reviews for stimulus in planned.values()):
        rows = TaskStimulus.objects.filter(task__campaign=campaign).values_list("pk", "task", "position")
        _write_sources(
            {pk: planned[task, position] for pk, task, position in rows if (task, position) in planned}
        )


def _write_sources(stimuli: Mapping[int, PlannedStimulus]) -> None:
    """Store the sources of texts, by the key of their stimulus."""
    CopiedText.objects.bulk_create(
        CopiedText(stimulus_id=pk, writer_id=stimulus.writer_id)
        for pk, stimulus in stimuli.items()
        if stimulus.writer_id
    )
    ReviewedCoding.objects.bulk_create(
        (
            ReviewedCoding(stimulus_id=pk, coding_id=review.coding_id, first=review.first)
            for pk, stimulus in stimuli.items()
            for review in stimulus.reviews
        ),
        batch_size=2000,
    )


def _write_tasks(campaign: Campaign, tasks: Sequence[PlannedTask]) -> list[int]:
    keys = bulk.allocate_keys(Task, len(tasks))
    quotas = quotas_of(campaign)
    bulk.insert(
        Task,
        {
            "id": keys,
            "public_id": bulk.new_uuids(len(tasks)),
            "campaign_id": [campaign.pk] * len(tasks),
            "image_id": [task.image_id for task in tasks],
            "screen": [task.screen for task in tasks],
            "wanted": [campaign.annotators_per_task] * len(tasks),
            "withdrawn": [False] * len(tasks),
            "sensitive": [task.sensitive for task in tasks],
            "quota_mix": [
                quotas.first_mix(task.group_id, campaign.annotators_per_task) if quotas else ""
                for task in tasks
            ],
        },
    )
    return keys


def _plan_ratings(campaign: Campaign, options: Options) -> CampaignPlan:
    associations = AssociationSets.of(campaign.study)
    by_group = associations.stereotypes if options.attributes == "stereotypes" else associations.listed
    candidates = set().union(*by_group.values())
    order = shuffled(candidates, associations.texts, campaign.seed, "ratings")
    problems = [] if order else ["The groups of the study have no attributes to rate."]
    return CampaignPlan(
        tasks=tuple(
            PlannedTask(attribute_ids=(attribute,), sensitive=associations.is_offensive(None, [attribute]))
            for attribute in order
        ),
        planned_attributes=(),
        images=0,
        attributes=len(order),
        annotators_per_task=campaign.annotators_per_task,
        problems=tuple(problems),
    )


def _plan_marking(campaign: Campaign, options: Options) -> CampaignPlan:
    associations = AssociationSets.of(campaign.study)
    visual, problems = _visual(campaign, options, associations)
    images = _images(campaign, options)
    groups = [
        _plan_group(campaign, options, associations, visual, study_group, images.get(study_group.pk, {}))
        for study_group in campaign.study.groups.order_by("name")
    ]
    problems += _missing([group.name for group in groups if not group.stereotypes], "no visual stereotypes")
    groups = [group for group in groups if group.stereotypes]
    problems += _missing([group.name for group in groups if not group.images], "no images to show")
    groups = [group for group in groups if group.images]
    problems += [sentence for group in groups if (sentence := group.too_few(options))]
    # Screens of an image are consecutive; the order of images reveals nothing about the group.
    screens = {
        keyed_hash(campaign.seed, "images", key): _screens(campaign, group, key, associations)
        for group in groups
        for key in group.images
    }
    return CampaignPlan(
        tasks=tuple(task for key in sorted(screens) for task in screens[key]),
        planned_attributes=tuple(attribute for group in groups for attribute in group.planned()),
        images=len(screens),
        attributes=len({attribute for group in groups for attribute in group.attributes}),
        annotators_per_task=campaign.annotators_per_task,
        groups=tuple(group.summary(campaign) for group in groups),
        problems=tuple(problems),
    )


@dataclass(frozen=True)
class _GroupPlan:
    """The tasks for the images of one group; `images` maps keys of `_images` to primary keys."""

    group_id: int
    name: str
    stereotypes: tuple[int, ...]
    drawn: tuple[int, ...]
    images: Mapping[str, int]

    @property
    def attributes(self) -> tuple[int, ...]:
        return self.stereotypes + self.drawn

    def planned(self) -> list[PlannedAttribute]:
        return [
            PlannedAttribute(self.group_id, attribute, role)
            for role, attributes in ((STEREOTYPE, self.stereotypes), (RANDOM, self.drawn))
            for attribute in attributes
        ]

    def too_few(self, options: Options) -> str:
        random_count = len(self.stereotypes) * options.random_per_stereotype
        if len(self.drawn) == random_count:
            return ""
        return (
            f"{self.name} should get {random_count} random attributes, but the study has only "
            f"{len(self.drawn)} attributes that are not listed for this group. All these attributes are used."
        )

    def summary(self, campaign: Campaign) -> PlannedGroup:
        return PlannedGroup(
            group_id=self.group_id,
            name=self.name,
            images=len(self.images),
            stereotypes=len(self.stereotypes),
            random_attributes=len(self.drawn),
            screens=len(self.images) * -(-len(self.attributes) // campaign.attributes_per_screen),
        )


def _plan_group(
    campaign: Campaign,
    options: Options,
    associations: AssociationSets,
    visual: set[int],
    group: StudyGroup,
    images: Mapping[str, int],
) -> _GroupPlan:
    marked = associations.stereotypes.get(group.pk, set()) & visual
    unlisted = visual - associations.listed.get(group.pk, set())
    draw = shuffled(unlisted, associations.texts, campaign.seed, "draw", group.name)
    return _GroupPlan(
        group_id=group.pk,
        name=group.name,
        stereotypes=tuple(sorted(marked)),
        drawn=tuple(draw[: len(marked) * options.random_per_stereotype]),
        images=images,
    )


def _screens(
    campaign: Campaign, group: _GroupPlan, key: str, associations: AssociationSets
) -> list[PlannedTask]:
    order = shuffled(group.attributes, associations.texts, campaign.seed, "screens", key)
    size = campaign.attributes_per_screen
    parts = [tuple(order[start : start + size]) for start in range(0, len(order), size)]
    return [
        PlannedTask(
            image_id=group.images[key],
            screen=screen,
            attribute_ids=attributes,
            sensitive=associations.is_offensive(group.group_id, attributes),
            group_id=group.group_id,
        )
        for screen, attributes in enumerate(parts)
    ]


def _visual(
    campaign: Campaign, options: Options, associations: AssociationSets
) -> tuple[set[int], list[str]]:
    """Return the study's visual attributes, from which both stereotypes and random attributes are taken."""
    if options.visual_source == "all":
        return set().union(*associations.stereotypes.values()), []
    rating = campaign.study.campaigns.get(slug=options.visual_source.removeprefix(FROM_CAMPAIGN))
    visual, unrated = visual_attributes(rating, rule=options.visual_rule)
    problems = []
    if unrated:
        problems.append(
            f"{unrated} attributes of “{rating.name}” have no rating yet, so they do not count as visual."
        )
    if not visual:
        problems.append(f"“{rating.name}” has found no visual attribute yet.")
    missing = visual - associations.texts.keys()
    associations.texts.update(Attribute.objects.filter(pk__in=missing).values_list("pk", "text"))
    return visual, problems


def _images(campaign: Campaign, options: Options) -> dict[int, dict[str, int]]:
    """Return per group the images to show, by a key made of their content only, in the order of the keys."""
    rows = Image.objects.filter(
        study=campaign.study, condition=options.condition, retracted_at=None, group__isnull=False
    ).exclude(file="")
    if options.model_labels is not None:
        rows = rows.filter(model_label__in=options.model_labels)
    by_cell: dict[tuple[int, str], dict[str, int]] = defaultdict(dict)
    columns = rows.values_list("pk", "group_id", "group__name", "model_label", "sha256")
    for pk, group, name, label, sha256 in columns:
        by_cell[group, label][f"{label}|{name}|{sha256}"] = pk
    chosen: dict[int, dict[str, int]] = defaultdict(dict)
    for (group, _), cell in sorted(by_cell.items()):
        keys = sorted(cell)
        if options.images_per_group is not None:
            keys.sort(key=lambda key: keyed_hash(campaign.seed, "sample", key))
            del keys[options.images_per_group :]
        chosen[group].update((key, cell[key]) for key in keys)
    return chosen


def _missing(names: list[str], lack: str) -> list[str]:
    if not names:
        return []
    listed_names = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    has, verb = ("group has", "is") if len(names) == 1 else ("groups have", "are")
    return [f"{len(names)} {has} {lack} and {verb} left out: {listed_names}."]
