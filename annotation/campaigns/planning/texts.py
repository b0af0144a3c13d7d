"""Plan a campaign that asks questions about texts, which the lead pasted."""

from annotation.campaigns.planning.plan import CampaignPlan, PlannedStimulus, PlannedTask
from annotation.campaigns.planning.shuffle import keyed_hash
from annotation.kinds.declaration import Kind
from annotation.kinds.options import Options
from annotation.models import Campaign


def plan_texts(campaign: Campaign, kind: Kind, options: Options) -> CampaignPlan:
    """Return what the campaign would ask if it opened now: each text once, in an order by chance."""
    order = sorted(options.texts, key=lambda text: keyed_hash(campaign.seed, "texts", text))
    question_count = sum(question.when is None for question in kind.questions)
    return CampaignPlan(
        tasks=tuple(
            PlannedTask(stimuli=(PlannedStimulus(text=text),), questions=question_count) for text in order
        ),
        planned_attributes=(),
        images=0,
        attributes=0,
        annotators_per_task=campaign.annotators_per_task,
        problems=() if order else ("There are no texts to show: give one a line.",),
    )
