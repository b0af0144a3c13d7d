"""Plan a campaign that asks questions about texts: pasted by the lead, written by people or answered by models."""

from typing import Protocol

from annotation.answers.inclusion import counted
from annotation.campaigns.planning.answer_review import reviewed_answers
from annotation.campaigns.planning.plan import CampaignPlan, PlannedStimulus, PlannedTask
from annotation.campaigns.planning.shuffle import keyed_hash
from annotation.kinds.declaration import Kind
from annotation.kinds.options import FROM_ANSWERS, FROM_ASSOCIATIONS, FROM_CAMPAIGN, Options
from annotation.models import Campaign, Judgement
from studies.models import Study

_NO_TEXTS = "There are no texts to show. Write one text on each line."
_NO_WRITTEN_TEXTS = "Nobody has written a text in that campaign yet."
_NO_RATINGS = "No judge has rated associations of this study yet. Run a judge with “score --scorer judge”."
_NO_ANSWERS = (
    "This study has no coded answers of models to questions with two options. "
    "Code the answers with “code_answers”."
)


class AssociationSource(Protocol):
    """Gives the associations of a study with a judge's ratings; registered by another app."""

    def has_ratings(self, study: Study) -> bool:
        """Return whether there is anything to draw."""

    def draw(self, study: Study, *, number: int, seed: int) -> list[str]:
        """Return the texts of a number of pairs, distributed as evenly as possible over the judge's levels."""


_registered: list[AssociationSource] = []


def register_associations(source: AssociationSource) -> None:
    """Take the texts of `associations` from this source."""
    _registered[:] = [source]


def has_rated_associations(study: Study) -> bool:
    """Return whether the study has associations that a judge rated."""
    return any(source.has_ratings(study) for source in _registered)


def plan_texts(campaign: Campaign, kind: Kind, options: Options) -> CampaignPlan:
    """Return what the campaign would ask if it opened now: each text once, in random order."""
    if options.texts_from == FROM_ANSWERS:
        stimuli, problem = reviewed_answers(campaign, options), _NO_ANSWERS
    elif options.texts_from == FROM_ASSOCIATIONS:
        stimuli, problem = _drawn(campaign, options), _NO_RATINGS
    elif options.texts_from:
        stimuli, problem = _written(campaign, options), _NO_WRITTEN_TEXTS
    else:
        stimuli, problem = _pasted(options), _NO_TEXTS
    order = sorted(stimuli, key=lambda stimulus: keyed_hash(campaign.seed, "texts", stimulus.text))
    question_count = sum(question.when is None for question in kind.questions)
    return CampaignPlan(
        tasks=tuple(
            PlannedTask(stimuli=(stimulus,), questions=question_count, sensitive=kind.stimuli.sensitive)
            for stimulus in order
        ),
        planned_attributes=(),
        images=0,
        attributes=0,
        annotators_per_task=campaign.annotators_per_task,
        problems=() if order else (problem,),
    )


def _pasted(options: Options) -> list[PlannedStimulus]:
    return [PlannedStimulus(text=text) for text in options.texts]


def _drawn(campaign: Campaign, options: Options) -> list[PlannedStimulus]:
    texts = [
        text
        for source in _registered
        for text in source.draw(campaign.study, number=options.pairs, seed=campaign.seed)
    ]
    return [PlannedStimulus(text=text) for text in texts]


def _written(campaign: Campaign, options: Options) -> list[PlannedStimulus]:
    """Return people's counted texts from another campaign, in order of submission."""
    source = campaign.study.campaigns.get(slug=options.texts_from.removeprefix(FROM_CAMPAIGN))
    texts = Judgement.objects.filter(annotation__in=counted(source), text__isnull=False)
    rows = texts.order_by("pk").values_list("text", "annotation__annotator")
    return [PlannedStimulus(text=text, writer_id=writer) for text, writer in rows if text]
