"""Built-in and own prompt sets: counting, use in a study, generation."""

from collections import Counter
from dataclasses import replace

import pytest
import yaml
from django.core.management import CommandError, call_command

from foundation.errors import DomainError
from generation.models import GenerationRequest, Image, Phrase
from generation.prompts.creation import set_prompts
from generation.prompts.mcas import McasPlan, create_mcas_study
from generation.prompts.sets import AttributeSet, Target, prompt_set, published_prompt_sets
from generation.prompts.sets.apply import use_prompt_set
from generation.runs.estimates import estimate, seconds_per_image
from generation.runs.planning import plan_run
from studies.models import Study

OWN = """
title = "Round and square"
[[prompts]]
condition = "target"
images_per_prompt = 2
templates = ["a drawing of {phrase}"]
[[prompts]]
condition = "attribute"
images_per_prompt = 1
templates = ["a drawing of {phrase}"]
[[sets]]
name = "round"
texts = ["wheel", "ball"]
phrases = ["a wheel"]
[[sets]]
name = "square"
texts = ["box"]
phrases = ["a box", "a tile"]
[targets.trades]
"Lamplighter" = { text = "a lamplighter", expected = "round" }
"Tiler" = { text = "a tiler" }
"""


@pytest.mark.database_free
class TestFiles:
    def test_the_files_match_the_published_prompts(self, shared_data):
        visage = yaml.safe_load((shared_data / "protocols" / "visage.yaml").read_text())
        (default,) = prompt_set("visage").prompts
        assert (list(default.templates), default.images_per_prompt) == (visage["default_templates"], 5)
        pull = {one.condition: one for one in prompt_set("visage-pull").prompts}
        assert list(pull["default"].templates) == visage["pull"]["default"]
        for condition in ("stereotypical", "non_stereotypical"):
            assert list(pull[condition].templates) == visage["pull"]["with_attribute"]
        assert {one.images_per_prompt for one in pull.values()} == {visage["pull"]["images_per_prompt"]}

    def test_mcas_matches_the_published_set_in_both_variants(self, shared_data):
        published = yaml.safe_load((shared_data / "protocols" / "mcas.yaml").read_text())
        for variant, teenage in (("", True), ("dall-e-2", False)):
            ours = prompt_set("mcas", variant=variant)
            assert [one.name for one in ours.sets] == list(published["attribute_sets"])
            for one in ours.sets:
                theirs = published["attribute_sets"][one.name]
                assert list(one.texts) == theirs["texts"]
                assert list(one.phrases[:3]) == theirs["image_phrases"][:3]
                assert ("teenage" in one.phrases[3]) is teenage
                assert teenage or one.phrases[3] == theirs["image_phrases"][3]
            assert [(target.category, target.text, target.expected) for target in ours.targets] == [
                (category, target["phrase"], target["expected"])
                for category, targets in published["targets"].items()
                for target in targets.values()
            ]

    def test_the_published_numbers_come_out(self):
        plan = McasPlan.of(prompt_set("mcas"))
        assert (plan.target_images, plan.attribute_images, plan.images) == (560, 128, 688)
        assert dict(plan.categories) == {"occupations": 10, "sports": 6, "objects": 6, "scenes": 6}
        assert len(published_prompt_sets()) == 5

    def test_invalid_prompt_sets_are_refused_in_one_sentence(self, tmp_path):
        for text in ("title = ", "title = 'nothing else'", "prompts = [1]"):
            file = tmp_path / "own.toml"
            file.write_text(text)
            with pytest.raises(DomainError) as refusal:
                prompt_set(str(file.rename(tmp_path / f"{abs(hash(text))}.toml")))
            assert "\n" not in refusal.value.message
        for name, sentence in (
            ("press", "There is no prompt set “press”. Choose visage, visage-pull, mcas"),
            (str(tmp_path / "none.toml"), "cannot be read: No such file"),
        ):
            with pytest.raises(DomainError, match=sentence):
                prompt_set(name)
        with pytest.raises(DomainError, match="has no variant “dall-e-9”; it has dall-e-2"):
            prompt_set("mcas", variant="dall-e-9")


@pytest.mark.django_db
class TestPull:
    def test_the_estimate_equals_the_planned_images(self, study, lead):
        chosen = prompt_set("visage-pull")
        before = estimate(study=study, backend="sketch", prompt_set=chosen)
        # Each group has three stereotypes; one of the Velmari's three is listed for the Orsani.
        assert before.by_condition == {
            "default": 2 * 15,
            "stereotypical": 2 * 3 * 3 * 15,
            "non_stereotypical": (3 + 2) * 3 * 15,
        }
        by_name = {one.name: (one.fewest_attributes, one.most_attributes) for one in before.conditions}
        assert by_name == {"default": (0, 0), "stereotypical": (3, 3), "non_stereotypical": (2, 3)}
        assert not study.prompt_templates.exists()
        run = plan_run(study=study, backend="sketch", by=lead, prompt_set=chosen)
        planned = Counter(run.requests.values_list("template__condition", flat=True))
        assert planned == before.by_condition
        assert estimate(study=study, backend="sketch", prompt_set=chosen).new == 0

    def test_a_run_of_a_set_leaves_the_other_prompts_alone(self, study, lead, prompts):
        run = plan_run(study=study, backend="sketch", by=lead, prompt_set=prompt_set("visage"))
        assert run.requests.count() == 2 * 3 * 5
        assert plan_run(study=study, backend="sketch", by=lead).requests.count() == 2 * 3 * 5 + 12

    def test_prompts_identical_to_the_published_ones_count_as_the_set(self, study, lead):
        published = prompt_set("visage")
        set_prompts(study=study, templates=published.prompts[0].templates, images_per_prompt=5, by=lead)
        for _ in range(2):
            use_prompt_set(study=study, chosen=published, by=lead)
        assert list(study.prompt_templates.values_list("prompt_set", flat=True)) == ["visage"] * 3

    def test_prompts_adopted_by_the_set_are_counted_as_planned(self, study, lead):
        published = prompt_set("visage")
        set_prompts(study=study, templates=published.prompts[0].templates, images_per_prompt=5, by=lead)
        plan_run(study=study, backend="sketch", by=lead)
        before = estimate(study=study, backend="sketch", prompt_set=published)
        assert (before.images, before.new, before.pending) == (30, 0, 30)
        assert plan_run(study=study, backend="sketch", by=lead, prompt_set=published).requests.count() == 30

    def test_targets_need_a_study_of_mcas(self, study, lead):
        with pytest.raises(DomainError, match="which only MCAS studies use"):
            plan_run(study=study, backend="sketch", by=lead, prompt_set=prompt_set("mcas"))


@pytest.mark.django_db
class TestMcas:
    PLAN = McasPlan(
        sets=(
            AttributeSet("round", ("wheel", " ball ", "ball"), ("a wheel",)),
            AttributeSet("square", ("box",), ("a box", "", "a tile")),
        ),
        targets=(
            Target("Lamplighter", "a lamplighter", "trades", "round"),
            Target("Kite", "a kite", "things"),
        ),
        template="an image of {phrase}",
        images_per_target=3,
        images_per_phrase=2,
    )

    def test_any_two_sets_make_a_study(self, lead):
        study = create_mcas_study(name="Shapes", plan=self.PLAN, by=lead)
        assert study.protocol == Study.Protocol.MCAS
        assert study.parameters["mcas"]["sets"] == [
            {"name": "round", "texts": ["wheel", "ball"]},
            {"name": "square", "texts": ["box"]},
        ]
        found = study.phrases.values_list(
            "condition", "attribute_set", "category", "name", "text", "expected"
        )
        assert list(found) == [
            ("attribute", "round", "", "a wheel", "a wheel", ""),
            ("attribute", "square", "", "a box", "a box", ""),
            ("attribute", "square", "", "a tile", "a tile", ""),
            ("target", "", "trades", "Lamplighter", "a lamplighter", "round"),
            ("target", "", "things", "Kite", "a kite", ""),
        ]
        assert estimate(study=study, backend="sketch").by_condition == {"target": 6, "attribute": 6}

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"sets": PLAN.sets[:1]}, "Enter two attribute sets with different names."),
            ({"sets": (PLAN.sets[0], PLAN.sets[0])}, "Enter two attribute sets with different names."),
            ({"sets": (replace(PLAN.sets[0], texts=()), PLAN.sets[1])}, "set A at least one text"),
            ({"sets": (PLAN.sets[0], replace(PLAN.sets[1], phrases=(" ",)))}, "set B at least one phrase"),
            ({"targets": ()}, "Enter at least one target."),
            ({"targets": (PLAN.targets[0], PLAN.targets[0])}, "“Lamplighter” appears 2 times"),
            ({"targets": (Target("Kite", ""),)}, "Every target needs a name and a phrase."),
            (
                {"targets": (Target("Kite", "a kite", "", "flat"),)},
                "“flat”, expected for Kite, is not one of",
            ),
            ({"template": "an image"}, "must contain {phrase}"),
            ({"images_per_target": 0}, "Images per prompt must be 1 to 1000."),
        ],
    )
    def test_a_plan_that_gives_no_association_is_refused_and_leaves_nothing(self, lead, change, sentence):
        with pytest.raises(DomainError) as refusal:
            create_mcas_study(name="Shapes", plan=replace(self.PLAN, **change), by=lead)
        assert sentence in refusal.value.message
        assert not Study.objects.exists()
        assert not Phrase.objects.exists()


@pytest.mark.django_db
class TestCommand:
    def generate(self, *arguments):
        call_command("generate", *arguments)

    def test_mcas_is_one_command(self, capsys, tmp_path):
        """An own set with 2 × 2 + 3 images takes the place of the published one with 688."""
        own = tmp_path / "shapes.toml"
        own.write_text(OWN)
        self.generate("--study", "Shapes", "--create", "--prompt-set", str(own))
        assert capsys.readouterr().out == "Created the study Shapes.\n7 images made.\n"
        images = Image.objects.filter(study__name="Shapes")
        assert Counter(images.values_list("condition", "phrase__name")) == {
            ("target", "Lamplighter"): 2,
            ("target", "Tiler"): 2,
            ("attribute", "a wheel"): 1,
            ("attribute", "a box"): 1,
            ("attribute", "a tile"): 1,
        }
        seconds, same = seconds_per_image("sketch", "", {"probabilities": {}, "default_probability": 0.1})
        assert seconds > 0
        assert same
        assert GenerationRequest.objects.filter(cost=0, seconds__gt=0).count() == 7

    def test_a_dry_run_counts_and_writes_nothing(self, capsys, resource):
        command = ["--study", "Isles", "--prompt-set", "visage-pull", "--price", "0.5", "--budget", "10"]
        self.generate(*command, "--create", "--resource", "Invented peoples", "--dry-run")
        said = capsys.readouterr().out
        assert "525 images of 35 prompts, 525 still to generate." in said
        assert "non_stereotypical: 225 images of 15 prompts, 2 to 3 attributes a group." in said
        assert "The time is not known" in said
        assert "About 262.50 at 0.5 an image; 0.00 spent so far." in said
        assert "The budget of 10.00 does not cover all requests." in said
        assert not GenerationRequest.objects.exists()

    def test_the_published_mcas_is_688_images(self, capsys):
        self.generate("--study", "Men and women", "--create", "--prompt-set", "mcas", "--dry-run")
        assert "688 images of 36 prompts" in capsys.readouterr().out

    def test_creating_a_study_needs_a_prompt_set_and_a_resource(self, db):
        with pytest.raises(CommandError, match="--create needs --resource, or a --prompt-set"):
            self.generate("--study", "Isles", "--create", "--prompt-set", "visage")
        with pytest.raises(DomainError, match="There is no resource “None such”"):
            self.generate("--study", "Isles", "--create", "--resource", "None such")
