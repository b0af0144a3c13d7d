"""The truth planted in drawn images is recovered through generation, annotation over HTTP and measures."""

import uuid

import pytest

from analysis.results.compute import compute
from analysis.results.data.labels import load
from analysis.results.parameters import parameters_of
from annotation.campaigns import lifecycle
from annotation.simulation.simulate import simulate
from generation.models import Image
from generation.prompts.creation import set_prompts
from generation.runs.execution import run
from generation.runs.planning import plan_run
from jobs.progress.reporter import Unwatched

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

STEREOTYPE, RANDOM = 0.6, 0.2  # how often an attribute is drawn
FALSE_NEGATIVE, FALSE_POSITIVE = 0.1, 0.05
IMAGES = 24


def seen(drawn: float) -> float:
    """Return how often a noisy annotator marks an attribute drawn that often: p(1 − fn) + (1 − p) fp."""
    return drawn * (1 - FALSE_NEGATIVE) + (1 - drawn) * FALSE_POSITIVE


# 0.6·0.9 + 0.4·0.05 = 0.56 and 0.2·0.9 + 0.8·0.05 = 0.22, so θ = 0.56 / 0.22 = 2.545…
EXPECTED = {"stereotype": seen(STEREOTYPE), "random": seen(RANDOM)}
EXPECTED_THETA = EXPECTED["stereotype"] / EXPECTED["random"]


@pytest.fixture
def results(study, lead):
    study.simulated = True
    study.save()
    set_prompts(study=study, templates=["a photo of {a_an} {id} person"], images_per_prompt=IMAGES, by=lead)
    probabilities = {
        group.name: {
            pair.attribute.text: STEREOTYPE
            for pair in group.stereotypes.filter(in_region_stereotype__gte=2).select_related("attribute")
        }
        for group in study.resource.groups.all()
    }
    drawing = plan_run(
        study=study,
        backend="sketch",
        by=lead,
        parameters={"probabilities": probabilities, "default_probability": RANDOM},
    )
    run(run=drawing, progress=Unwatched())
    # Simulated annotators' misses depend on the image's random id, so fix it: each run would draw other labels.
    for number, image in enumerate(study.images.order_by("pk"), 1):
        Image.objects.filter(pk=image.pk).update(public_id=uuid.UUID(int=number))
    campaign = lifecycle.create(
        study=study, name="Marking", kind="stereotype_marking", by=lead, annotators_per_task=3
    )
    campaign = lifecycle.open_(campaign=campaign, by=lead)
    done = simulate(
        campaign=campaign,
        annotators=5,
        seed=3,
        false_negative=FALSE_NEGATIVE,
        false_positive=FALSE_POSITIVE,
    )
    assert done.submissions == sum(campaign.tasks.values_list("wanted", flat=True))
    parameters = parameters_of(study, resamples=1000)
    return compute(data=load(study=study, parameters=parameters), parameters=parameters, progress=Unwatched())


def test_the_planted_truth_is_recovered_and_covered(results):
    cells = results.tables["likelihood"]
    assert set(cells["role"]) == {"stereotype", "random"}
    truth = cells["role"].map(EXPECTED)
    covered = (cells["ci_low"] <= truth) & (truth <= cells["ci_high"])
    # 95 % intervals of eleven cells: two misses have a chance of about 2 %, three of 0.2 %.
    assert covered.sum() >= len(cells) - 2, cells
    assert (cells["shown"] == IMAGES * 3).all()

    for _, row in results.tables["tendency"].iterrows():
        assert row["theta_low"] <= EXPECTED_THETA <= row["theta_high"]
    pooled = results.summary["headline"][0]["pooled"]
    assert pooled["theta_low"] <= EXPECTED_THETA <= pooled["theta_high"]
    assert pooled["theta"] == pytest.approx(EXPECTED_THETA, rel=0.35)

    # Annotators who box the same drawing with individual jitter overlap well.
    agreement = results.tables["agreement"]
    overlap = agreement[(agreement["scope"] == "all") & (agreement["measure"] == "box_mean_iou")]
    assert overlap["value"].tolist() == [pytest.approx(0.65, abs=0.15)]
