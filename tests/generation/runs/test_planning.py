"""Planning a generation run: requests are counted before and written once."""

from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.models import Attribute
from foundation.errors import Conflict, DomainError
from generation.models import Condition, GenerationRequest, Phrase
from generation.prompts.attributes import attributes_by_group
from generation.prompts.creation import set_prompts
from generation.prompts.sets import prompt_set
from generation.runs.estimates import estimate, measured_models
from generation.runs.execution import run
from generation.runs.launch import start
from generation.runs.overview import runs_of
from generation.runs.planning import finish_planning, plan_run
from generation.runs.seeds import image_seed
from jobs.progress.reporter import Cancelled, Unwatched
from studies.models import AuditEntry, StudyGroup
from studies.protocol.freeze import freeze

pytestmark = pytest.mark.django_db


def plan(study, lead, **more):
    return plan_run(study=study, backend="sketch", by=lead, **more)


def test_a_run_is_templates_times_groups_times_images(study, lead, prompts):
    run = plan(study, lead)
    assert run.requests.count() == 2 * 2 * 3
    assert set(run.requests.values_list("prompt", flat=True)) == {
        "a photo of a Velmari person",
        "a photo of an Orsani person",
        "A Velmari person",
        "An Orsani person",
    }
    assert run.model_label == "sketch"
    assert AuditEntry.objects.get(action="generation.planned").details == {"requests": 12, "model": "sketch"}


def test_the_count_before_is_the_count_after(study, lead, prompts):
    before = estimate(study=study, backend="sketch")
    assert (before.images, before.new, before.prompts, before.groups) == (12, 12, 4, 2)
    assert before.by_condition == {"default": 12}
    assert not GenerationRequest.objects.exists()
    plan(study, lead)
    after = estimate(study=study, backend="sketch")
    assert (after.images, after.new) == (12, 0)


def test_planning_again_adds_only_what_is_missing(study, lead, prompts):
    first = plan(study, lead)
    seeds = dict(first.requests.values_list("pk", "seed"))
    StudyGroup.objects.create(study=study, name="Tavren", display_name="Tavren")
    again = plan(study, lead)
    assert again == first
    assert again.requests.count() == 18
    assert {pk: seed for pk, seed in again.requests.values_list("pk", "seed") if pk in seeds} == seeds
    assert plan(study, lead).requests.count() == 18


def test_other_parameters_or_another_label_are_a_run_of_their_own(study, lead, prompts):
    runs = {
        plan(study, lead),
        plan(study, lead, parameters={"default_probability": 0.5}),
        plan(study, lead, model_label="pencil"),
    }
    assert len(runs) == 3
    assert plan(study, lead, parameters={"default_probability": 0.5}) in runs


def test_every_image_has_a_seed_of_its_own_that_follows_from_the_study(study, lead, prompts):
    run = plan(study, lead)
    seeds = list(run.requests.values_list("seed", flat=True))
    assert len(set(seeds)) == 12
    request = run.requests.select_related("template", "group").first()
    assert request.seed == image_seed(
        study_seed=study.seed,
        template=request.template.text,
        condition="default",
        group=request.group.name,
        attribute="",
        index=request.index,
    )
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_seeds_are_the_same_on_every_machine():
    """The first 63 bits of sha256 of the parts, joined by the unit separator."""
    identity = {"template": "a {id}", "condition": "default", "group": "Velmari", "attribute": "", "index": 0}
    # printf '7\x1fa {id}\x1fdefault\x1fVelmari\x1f\x1f0' | sha256sum, first 16 hex digits, shifted right by one bit
    assert image_seed(study_seed=7, **identity) == 0x5BA2ADAB2813703F
    assert image_seed(study_seed=8, **identity) != image_seed(study_seed=7, **identity)


def test_prompts_with_an_attribute_go_through_the_stereotypes_of_each_group(study, lead):
    set_prompts(
        study=study,
        templates=["{A_an} {id} person described as {attr}"],
        images_per_prompt=2,
        by=lead,
        condition=Condition.STEREOTYPICAL,
    )
    run = plan(study, lead)
    # Each group lists four attributes, three of which have enough raters.
    assert run.requests.count() == 2 * 3 * 2
    asked = set(run.requests.filter(group__name="Velmari").values_list("attribute__text", flat=True))
    assert asked == {"tall hat", "blue scarf", "lantern"}
    assert "A Velmari person described as blue scarf" in set(run.requests.values_list("prompt", flat=True))


def test_prompts_with_a_phrase_go_through_the_phrases_of_their_condition(study, lead):
    for position, (condition, attribute_set, name, text) in enumerate(
        [
            ("target", "", "Lamplighter", "a lamplighter"),
            ("target", "", "Kite maker", "a maker of kites"),
            ("attribute", "round", "a wheel", "a wheel"),
        ]
    ):
        Phrase.objects.create(
            study=study,
            condition=condition,
            attribute_set=attribute_set,
            name=name,
            text=text,
            position=position,
        )
    for condition, images in ((Condition.TARGET, 3), (Condition.ATTRIBUTE, 2)):
        set_prompts(
            study=study,
            templates=["an image of {phrase}"],
            images_per_prompt=images,
            by=lead,
            condition=condition,
        )
    run = plan(study, lead)
    assert Counter(run.requests.values_list("template__condition", "phrase__name", "prompt")) == {
        ("target", "Lamplighter", "an image of a lamplighter"): 3,
        ("target", "Kite maker", "an image of a maker of kites"): 3,
        ("attribute", "a wheel", "an image of a wheel"): 2,
    }
    assert len(set(run.requests.values_list("seed", flat=True))) == 8
    assert plan(study, lead).requests.count() == 8


def test_unassociated_attributes_are_drawn_once_in_equal_number_and_kept(study):
    drawn = attributes_by_group(study, Condition.NON_STEREOTYPICAL)
    groups = {group.name: group.pk for group in study.groups.all()}
    velmari = {attribute.text for attribute in drawn[groups["Velmari"]]}
    # None of the Orsani's stereotypes (round glasses, drum, umbrella) is listed for the Velmari.
    assert velmari == {"round glasses", "drum", "umbrella"}
    # `tall hat` and `kite` are listed for the Velmari; the Orsani may not be given `tall hat`.
    assert {attribute.text for attribute in drawn[groups["Orsani"]]} == {"blue scarf", "lantern"}
    assert attributes_by_group(study, Condition.NON_STEREOTYPICAL) == drawn


def test_the_frozen_attributes_are_used_once_they_exist(study, lead):
    before = attributes_by_group(study, Condition.STEREOTYPICAL)
    freeze(study=study, by=lead)
    study.refresh_from_db()
    study.resource.groups.first().stereotypes.all().delete()
    assert attributes_by_group(study, Condition.STEREOTYPICAL) == before


def test_thousands_of_requests_take_few_queries(study, lead, django_assert_max_num_queries):
    set_prompts(study=study, templates=["a {id}", "b {id}"], images_per_prompt=500, by=lead)
    # SQLite takes at most 999 values a statement, so the number of inserts depends on the columns of a request.
    with django_assert_max_num_queries(51):
        assert plan(study, lead).requests.count() == 2000


class TestLarge:
    """More requests than a page may write: six prompts with a thousand images each."""

    @pytest.fixture
    def large(self, study, lead):
        set_prompts(study=study, templates=["a {id}", "b {id}", "c {id}"], images_per_prompt=1000, by=lead)
        return plan(study, lead)

    def test_the_job_writes_the_requests_and_continues_after_a_kill(self, study, lead, large):
        assert not large.requests.exists()
        assert estimate(study=study, backend="sketch").new == 6000
        with pytest.raises(Cancelled):
            run(run=large, progress=Pieces(1))
        assert 0 < large.requests.count() < 6000
        assert estimate(study=study, backend="sketch").to_make == 6000
        assert run(run=large, progress=Unwatched(), limit=1).left == 5999
        assert large.requests.count() == len(set(large.requests.values_list("seed", flat=True))) == 6000
        assert not large.to_write.exists()
        # Recorded once: writing the remaining requests is not a second plan.
        plan(study, lead)
        assert AuditEntry.objects.get(action="generation.planned").details["requests"] == 6000

    def test_a_large_run_can_be_started_and_its_prompts_no_longer_change(self, study, lead, large):
        (line,) = runs_of(study)
        assert (line.state, line.may_go_on) == ("interrupted", True)
        with pytest.raises(Conflict, match="can no longer change"):
            set_prompts(study=study, templates=["d {id}"], images_per_prompt=1, by=lead)
        assert start(run=large, by=lead).state == "queued"

    def test_counting_a_large_run_reads_no_request(self, study, lead, large, django_assert_num_queries):
        with django_assert_num_queries(self.queries(study)):
            estimate(study=study, backend="diffusers", model_id="another")
        finish_planning(run=large, progress=Unwatched())
        with CaptureQueriesContext(connection) as captured:
            assert estimate(study=study, backend="sketch").new == 0
        about = [one["sql"] for one in captured if "generation_generationrequest" in one["sql"]]
        assert about
        assert all("COUNT(" in sql or "LIMIT" in sql for sql in about)

    def queries(self, study):
        """Return the number of queries for the first prompt alone: a larger study must need as many."""
        study.prompt_templates.exclude(text="a {id}").update(images_per_prompt=1)
        with CaptureQueriesContext(connection) as captured:
            assert estimate(study=study, backend="diffusers", model_id="another").images == 2004
        study.prompt_templates.update(images_per_prompt=1000)
        return len(captured)


class Pieces(Unwatched):
    """Stops after some pieces."""

    def __init__(self, after):
        self.left = after

    def check_cancelled(self):
        self.left -= 1
        if self.left < 0:
            raise Cancelled


def test_attributes_drawn_for_a_run_stay_when_more_are_imported(study, lead):
    chosen = prompt_set("visage-pull")
    first = plan(study, lead, prompt_set=chosen)
    asked = first.requests.count()
    velmari = study.resource.groups.get(name="Velmari")
    for text in ("kite string", "stilts", "bell"):
        known = velmari.stereotypes.order_by("pk").first()
        known.pk, known.attribute = None, Attribute.objects.create(text=text)
        known._state.adding = True
        known.save()
    study.refresh_from_db()
    again = plan(study, lead, prompt_set=chosen)
    assert (again, again.requests.count()) == (first, asked)
    assert estimate(study=study, backend="sketch", prompt_set=chosen).images == asked


def test_another_model_label_is_counted_as_a_separate_run(study, lead, prompts):
    plan(study, lead)
    assert estimate(study=study, backend="sketch").to_make == 12
    other = estimate(study=study, backend="sketch", model_label="pencil")
    assert (other.new, other.pending) == (12, 0)


def test_the_sample_prompts_are_spread_over_the_planned_ones(study, lead):
    set_prompts(study=study, templates=[f"{n} {{id}}" for n in range(8)], images_per_prompt=2, by=lead)
    samples = estimate(study=study, backend="sketch").samples
    asked = list(plan(study, lead).requests.order_by("pk").values_list("prompt", flat=True)[::2])
    assert list(samples) == asked[::2][:6]


def test_a_lead_does_not_see_models_of_other_leads_studies(study, lead, stranger, prompts):
    run(run=plan(study, lead, model_label="secret pencil"), progress=Unwatched(), limit=1)
    for number in range(6):  # many runs of one model count as one model
        run(
            run=plan(study, lead, parameters={"default_probability": number / 10}),
            progress=Unwatched(),
            limit=1,
        )
    assert [label for label, _ in measured_models(lead)] == ["sketch", "secret pencil"]
    assert measured_models(stranger) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"backend": "crayon"},
            "There is no back-end “crayon”. The back-ends are diffusers, openai, sketch.",
        ),
        ({"backend": "diffusers"}, "Enter a model: a folder on the server, or an id on the hub."),
        ({"backend": "diffusers", "model_id": "x" * 301}, "longer than 300 characters"),
        ({"model_label": "x" * 121}, "Enter a name of the model with 1 to 120 characters."),
        ({"parameters": {"steps": 1}}, "Sketch has no parameter “steps”."),
    ],
)
def test_an_invalid_plan_is_refused_and_writes_nothing(study, lead, prompts, arguments, sentence):
    with pytest.raises(DomainError) as refusal:
        plan_run(**{"study": study, "backend": "sketch", "by": lead, **arguments})
    assert sentence in refusal.value.message
    assert not study.generation_runs.exists()


def test_a_study_without_prompts_has_nothing_to_generate(study, lead):
    with pytest.raises(DomainError, match="The study “Isles” has no prompts yet"):
        plan(study, lead)


def test_a_study_without_groups_has_nothing_to_put_into_its_prompts(study, lead, prompts):
    study.groups.all().delete()
    with pytest.raises(DomainError, match="has no identity groups for its prompts"):
        plan(study, lead)
