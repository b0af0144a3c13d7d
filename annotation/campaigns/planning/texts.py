"""Plan a campaign that asks questions about texts: pasted by the lead, written by people or answered by models."""

from annotation.answers.inclusion import counted
from annotation.campaigns.planning.answer_review import reviewed_answers
from annotation.campaigns.planning.plan import CampaignPlan, PlannedStimulus, PlannedTask
from annotation.campaigns.planning.shuffle import keyed_hash
from annotation.kinds.declaration import Kind
from annotation.kinds.options import FROM_ANSWERS, FROM_CAMPAIGN, Options
from annotation.models import Campaign, Judgement

_NO_TEXTS = "There are no texts to show: give one a line."
_NO_WRITTEN_TEXTS = "Nobody has written a text in that campaign yet."
_NO_ANSWERS = (
    "The study has no answers of models to choices that the rules have coded: code_answers codes them."
)


def plan_texts(campaign: Campaign, kind: Kind, options: Options) -> CampaignPlan:
    """Return what the campaign would ask if it opened now: each text once, in an order by chance."""
    if options.texts_from == FROM_ANSWERS:
        stimuli, problem = reviewed_answers(campaign, options), _NO_ANSWERS
    elif options.texts_from:
        stimuli, problem = _written(campaign, options), _NO_WRITTEN_TEXTS
    else:
        stimuli, problem = _pasted(options), _NO_TEXTS
    order = sorted(stimuli, key=lambda stimulus: keyed_hash(campaign.seed, "texts", stimulus.text))
    question_count = sum(question.when is None for question in kind.questions)
    return CampaignPlan(
        tasks=tuple(PlannedTask(stimuli=(stimulus,), questions=question_count) for stimulus in order),
        planned_attributes=(),
        images=0,
        attributes=0,
        annotators_per_task=campaign.annotators_per_task,
        problems=() if order else (problem,),
    )


def _pasted(options: Options) -> list[PlannedStimulus]:
    return [PlannedStimulus(text=text) for text in options.texts]


def _written(campaign: Campaign, options: Options) -> list[PlannedStimulus]:
    """Return what people wrote in another campaign, as far as it counts now, in the order in which it came."""
    source = campaign.study.campaigns.get(slug=options.texts_from.removeprefix(FROM_CAMPAIGN))
    texts = Judgement.objects.filter(annotation__in=counted(source), text__isnull=False)
    rows = texts.order_by("pk").values_list("text", "annotation__annotator")
    return [PlannedStimulus(text=text, writer_id=writer) for text, writer in rows if text]
