"""A kind that shows a text and no image: there is no breakdown by model or group."""

from annotation.kinds.stimuli import Stimuli
from annotation.models import Annotation, Judgement, Task, TaskStimulus
from tests.analysis.questions.campaigns import open_campaign, people
from tests.analysis.questions.kinds import kind, scale
from tests.analysis.questions.test_tables import line, measured

STATEMENT = kind(
    "statement",
    stimuli=Stimuli(medium="text"),
    questions=(scale("truth"),),
    unit="association",
    measures=("means", "point_shares", "alpha_ordinal"),
)


def test_answers_about_texts_are_measured_over_all_of_them(study):
    annotators = people(study, 4)
    campaign = open_campaign(study, STATEMENT, annotators)
    for place in range(6):
        task = Task.objects.create(campaign=campaign, wanted=4)
        TaskStimulus.objects.create(task=task, position=0, text=f"Boats are blue {place}")
        for number, annotator in enumerate(annotators):
            annotation = Annotation.objects.create(campaign=campaign, task=task, annotator=annotator)
            rating = 1 + (place + number // 3) % 5
            Judgement.objects.create(annotation=annotation, question="truth", rating=rating)
    tables = measured(study).tables
    row = line(tables["scales"])
    assert (row["by"], row["answers"], row["units"], row["annotators"]) == ("all", 24, 6, 4)
    assert row["ci_low"] < row["mean"] < row["ci_high"]
    agreement = line(tables["question_agreement"])
    assert agreement["value"] > 0.4
    assert agreement["units"] == 6
