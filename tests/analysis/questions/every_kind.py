"""A study with an answered campaign of every test kind."""

import numpy as np

from studies.models import Study
from tests.analysis.questions.answering import STRENGTHS, comparing, ranking
from tests.analysis.questions.campaigns import Given, images_of, label, open_campaign, people
from tests.analysis.questions.kinds import PAIR, RANKING, RUBRIC


def answer_every_kind(study: Study) -> None:
    """Four people compare, rank and rate the same 24 images, by four models."""
    images = images_of(study, models=[*STRENGTHS, "dune"], prompts=6)
    annotators = people(study, 4)
    strengths = {**STRENGTHS, "dune": 0.0}
    pair, ranked, rubric = (open_campaign(study, kind, annotators) for kind in (PAIR, RANKING, RUBRIC))
    sets = [images[place : place + 4] for place in range(0, 24, 4)]
    label(
        pair,
        [s[:2] for s in sets] + [s[2:] for s in sets] + [s[1:3] for s in sets],
        annotators,
        comparing(strengths),
        prompt_shown=True,
    )
    label(ranked, sets, annotators, ranking(strengths, seed=1))
    generator = np.random.default_rng(2)

    def rate(person, shown):
        yield Given.of("realism", rating=int(generator.integers(1, 6)))
        yield Given.of("shows", code="no" if person % 2 else "yes")
        if person % 2:
            yield Given.of("why", text=f"no kite, says <b>{person}</b>")
        yield Given.of("missing", code="none" if person else "w2")
        yield Given("worst", values={"rating": 1}, points=((0.4, 0.2),))

    label(rubric, [[image] for image in images], annotators, rate, prompt_shown=True)
