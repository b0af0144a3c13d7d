"""Copy a campaign: a draft in the same study with its settings, words, quotas, rules and known tasks."""

from django.db import transaction

from accounts.models import User
from annotation.answers.questions.known_answers import part_of
from annotation.assignment import quota_rules
from annotation.campaigns import known_tasks, lifecycle
from annotation.campaigns.design import CampaignDesign
from annotation.campaigns.instruments import versions
from annotation.kinds.registry import kind_of
from annotation.models import Campaign, CampaignLanguage, Instrument, QualityRule, Task
from foundation.errors import Conflict, DomainError
from studies import audit


@transaction.atomic
def clone(
    *, campaign: Campaign, by: User | None, name: str | None = None, same_draw: bool = False
) -> Campaign:
    """Make a draft like `campaign`, without its annotators and answers.

    Its seed is derived from its own slug, so attributes, samples and orders are drawn again; `same_draw` keeps the
    seed. Gold and practice tasks are copied if their images are still shown.
    """
    if campaign.imported:
        raise Conflict(
            "campaign_imported", f"“{campaign.name}” was imported from a file, so it cannot be copied."
        )
    words = versions.current(campaign)
    draft = lifecycle.create(
        study=campaign.study,
        by=by,
        declared=kind_of(campaign),
        **CampaignDesign.of(campaign).columns()
        | {
            "name": free_name(campaign) if name is None else name,
            "guidelines": words.guidelines,
            "quotas": [quota_rules.line(rule) for rule in quota_rules.stored(campaign)],
        },
    )
    draft.cloned_from = campaign
    draft.seed = campaign.seed if same_draw else draft.seed
    draft.save(update_fields=["cloned_from", "seed"])
    Instrument.objects.filter(campaign=draft).update(
        statement=words.statement, labels=words.labels, translations=words.translations
    )
    for row in campaign.languages.all():
        CampaignLanguage.objects.create(campaign=draft, language=row.language, created_by=by)
    _copy_quality_rules(campaign, draft)
    left_out = _copy_known_tasks(campaign, draft, by)
    audit.record(
        by=by,
        action="campaign.cloned",
        subject=draft,
        study=draft.study,
        source=campaign.slug,
        same_draw=same_draw,
        known_tasks_left_out=left_out,
    )
    return draft


def free_name(campaign: Campaign) -> str:
    """Return “… (copy)”, or “… (copy 2)” and so on, as the study has no campaign of yet."""
    base = campaign.name[:105]
    used = set(campaign.study.campaigns.values_list("name", flat=True))
    names = (f"{base} (copy{f' {number}' if number > 1 else ''})" for number in range(1, len(used) + 2))
    return next(name for name in names if name not in used)


def _copy_quality_rules(campaign: Campaign, draft: Campaign) -> None:
    fields = ("measure", "threshold", "minimum", "action", "standard")
    draft.quality_rules.all().delete()
    QualityRule.objects.bulk_create(
        QualityRule(campaign=draft, **values) for values in campaign.quality_rules.values(*fields)
    )


def _copy_known_tasks(campaign: Campaign, draft: Campaign, by: User | None) -> int:
    """Copy gold and practice tasks; return the number of tasks that can no longer be used."""
    left_out_count = 0
    tasks = Task.objects.filter(campaign=campaign, purpose__in=known_tasks.PURPOSES, withdrawn=False)
    tasks = tasks.select_related("image").prefetch_related(
        "task_attributes__attribute", "known_answers__attribute", "known_answers__stimulus", "stimuli"
    )
    for task in tasks.order_by("pk"):
        known_answers = {row.attribute or part_of(row): row for row in task.known_answers.all()}
        try:
            known_tasks.add(
                campaign=draft,
                purpose=task.purpose,
                by=by,
                content=known_tasks.TaskContent(
                    image=task.image,
                    attributes=[row.attribute for row in task.task_attributes.all()],
                    stimuli=known_tasks.shown_in(task),
                ),
                answers={subject: known.right for subject, known in known_answers.items()},
                explanations={subject: known.explanation for subject, known in known_answers.items()},
            )
        except DomainError:
            left_out_count += 1  # its image was retracted, or the study no longer lists an attribute
    return left_out_count
