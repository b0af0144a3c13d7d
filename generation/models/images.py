"""Prompts become images: templates, runs, requests and the images they left."""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce, Now

from catalog.models import Attribute
from jobs.models import Job
from studies.models import Study, StudyGroup


class Condition(models.TextChoices):
    """What a prompt was meant to bring out."""

    DEFAULT = "default", "default"
    STEREOTYPICAL = "stereotypical", "stereotypical"
    NON_STEREOTYPICAL = "non_stereotypical", "non-stereotypical"
    TARGET = "target", "target"
    ATTRIBUTE = "attribute", "attribute"


class PromptTemplate(models.Model):
    """A prompt with places: {id} the group, {attr} an attribute, {phrase} a phrase of the study, {person} the group in
    a scenario, {singular} and {plural} what a descriptor is called, {a_an}/{A_an} the article of the word after it."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="prompt_templates")
    # The name of a file in generation/prompts/sets, or "" for a prompt that the lead wrote.
    prompt_set = models.CharField(max_length=40, blank=True)
    text = models.CharField(max_length=400)
    # Of a prompt with {person}: its images are alike but for the person, and are made from one seed.
    experiment = models.CharField(max_length=60, blank=True, default="", db_default="")
    scenario = models.CharField(max_length=120, blank=True, default="", db_default="")
    condition = models.CharField(max_length=20, choices=Condition, default=Condition.DEFAULT)
    images_per_prompt = models.PositiveSmallIntegerField(default=5)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["study", "prompt_set", "text", "condition"], name="prompt_template_once_in_set"
            ),
            models.CheckConstraint(
                condition=Q(images_per_prompt__gte=1), name="prompt_template_makes_images"
            ),
            models.CheckConstraint(
                condition=Q(experiment="") | ~Q(scenario=""),
                name="prompt_template_of_experiment_has_scenario",
            ),
        ]
        ordering: ClassVar = ["study", "position", "id"]

    def __str__(self) -> str:
        return self.text


class Phrase(models.Model):
    """What takes the place {phrase} in a prompt: a target of the study, or one that stands for an attribute set."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="phrases")
    condition = models.CharField(
        max_length=20,
        choices=[
            (Condition.TARGET.value, Condition.TARGET.label),
            (Condition.ATTRIBUTE.value, Condition.ATTRIBUTE.label),
        ],
    )
    attribute_set = models.CharField(max_length=60, blank=True)  # "" for targets
    category = models.CharField(max_length=60, blank=True)  # of a target, such as occupations
    name = models.CharField(max_length=120)  # CEO; of an attribute set, the phrase itself
    text = models.CharField(max_length=300)  # a chief executive officer
    expected = models.CharField(
        max_length=60, blank=True
    )  # the set that earlier research found nearer, or ""
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["study", "condition", "attribute_set", "name"], name="phrase_name_unique"
            ),
            models.CheckConstraint(
                condition=Q(condition="target", attribute_set="")
                | Q(condition="attribute", category="", expected="") & ~Q(attribute_set=""),
                name="phrase_is_target_or_of_a_set",
            ),
            models.CheckConstraint(condition=~Q(name="") & ~Q(text=""), name="phrase_has_name_and_text"),
        ]
        ordering: ClassVar = ["study", "position", "id"]

    def __str__(self) -> str:
        return self.name


class GenerationRun(models.Model):
    """One planned batch of requests to one model with one set of parameters."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="generation_runs")
    backend = models.CharField(max_length=20)  # sketch, diffusers, openai: a name in generation.backends
    model_id = models.CharField(max_length=300, blank=True)
    model_label = models.CharField(max_length=120)  # how reports name the model
    model_revision = models.CharField(max_length=120, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    seed = models.BigIntegerField()
    # For models that are paid by the image. Neither says what is made, so both may change while a run goes on.
    price = models.DecimalField(max_digits=9, decimal_places=4, null=True, blank=True)
    budget = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    # The sum of what its requests cost, written in the same transactions: see `generation.runs.budget`.
    spent = models.DecimalField(max_digits=14, decimal_places=4, default=0, db_default=0)
    # Prompts whose requests its job has still to write down, because they are too many for the page that planned them.
    to_write = models.ManyToManyField(PromptTemplate, blank=True, related_name="+")
    # What makes its images or made the last ones, with the rest of its team: others beside them are refused.
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            # Without a price nothing would ever be counted against the budget.
            models.CheckConstraint(
                condition=Q(budget__isnull=True) | Q(budget__gte=0, price__isnull=False),
                name="generation_run_budget_has_price",
            ),
            models.CheckConstraint(
                condition=Q(price__isnull=True) | Q(price__gte=0), name="generation_run_price_not_negative"
            ),
            models.CheckConstraint(condition=Q(spent__gte=0), name="generation_run_spent_not_negative"),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.model_label} for {self.study}"


class Image(models.Model):
    """One picture in a study. The file is named by the hash of its bytes; all that is known of it stands here.

    Imported labels may speak of images whose files were not released: then `sha256` and `file` are empty and
    `source_name` (the whole published path) tells images apart.
    """

    public_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="images", db_index=False)
    group = models.ForeignKey(
        StudyGroup, null=True, blank=True, on_delete=models.PROTECT, related_name="images"
    )
    attribute = models.ForeignKey(
        Attribute, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    phrase = models.ForeignKey(Phrase, null=True, blank=True, on_delete=models.PROTECT, related_name="images")
    condition = models.CharField(max_length=20, choices=Condition, default=Condition.DEFAULT)
    model_label = models.CharField(max_length=120, blank=True)
    prompt = models.CharField(max_length=1000, blank=True)
    # Images of one scenario are alike but for the person; an experiment has several scenarios.
    experiment = models.CharField(max_length=60, blank=True, default="", db_default="")
    scenario = models.CharField(max_length=120, blank=True, default="", db_default="")
    sha256 = models.CharField(max_length=64, blank=True)
    file = models.CharField(max_length=200, blank=True)  # storage name, derived from sha256
    source_name = models.CharField(max_length=500, blank=True)
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    bytes = models.PositiveIntegerField(null=True, blank=True)
    # How it was made (versions, device, dtype, seed …) or found; for `sketch` also the attributes truly drawn.
    provenance = models.JSONField(default=dict, blank=True)
    retracted_at = models.DateTimeField(null=True, blank=True)
    retracted_reason = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            # Coalesce, because SQLite cannot be told that two nulls are equal.
            models.UniqueConstraint(
                "study",
                "model_label",
                "condition",
                Coalesce("group", 0),
                Coalesce("attribute", 0),
                Coalesce("phrase", 0),
                "sha256",
                condition=~Q(sha256=""),
                name="image_bytes_once_in_its_cell",
            ),
            models.UniqueConstraint(
                fields=["study", "model_label", "source_name"],
                condition=Q(sha256=""),
                name="image_source_once",
            ),
            models.CheckConstraint(
                condition=Q(sha256="", file="") & ~Q(source_name="") | ~Q(sha256="") & ~Q(file=""),
                name="image_has_file_or_source",
            ),
            models.CheckConstraint(
                condition=Q(experiment="") | ~Q(scenario=""), name="image_of_experiment_has_scenario"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["sha256"], name="image_sha256"),
            models.Index(
                fields=["study", "group", "model_label", "condition", "id"], name="image_contact_sheet"
            ),
            # Few: how many are shown is all without these, and counting all reads an index alone.
            models.Index(fields=["study"], condition=Q(retracted_at__isnull=False), name="image_retracted"),
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return str(self.public_id)


class GenerationRequest(models.Model):
    """One image asked of a model: the unit that is resumed, never repeated once it has an outcome."""

    class Outcome(models.TextChoices):
        PENDING = "pending", "pending"
        DONE = "done", "done"
        REFUSED = "refused", "refused"  # the model or endpoint declined
        BLANKED = "blanked", "blanked"  # its safety checker blanked the image
        FAILED = "failed", "failed"

    run = models.ForeignKey(GenerationRun, on_delete=models.CASCADE, related_name="requests")
    template = models.ForeignKey(PromptTemplate, on_delete=models.PROTECT, related_name="+")
    group = models.ForeignKey(StudyGroup, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    attribute = models.ForeignKey(
        Attribute, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    phrase = models.ForeignKey(Phrase, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    prompt = models.CharField(max_length=1000)
    # Those of the image.
    experiment = models.CharField(max_length=60, blank=True, default="", db_default="")
    scenario = models.CharField(max_length=120, blank=True, default="", db_default="")
    index = models.PositiveIntegerField()  # 0, 1, … among the images of this prompt
    seed = models.BigIntegerField()
    outcome = models.CharField(max_length=10, choices=Outcome, default=Outcome.PENDING)
    reason = models.CharField(max_length=300, blank=True)
    image = models.ForeignKey(Image, null=True, blank=True, on_delete=models.PROTECT, related_name="requests")
    seconds = models.FloatField(null=True, blank=True)  # what the model took for it
    # Written before the model is asked, so that what a killed worker spent is counted too.
    cost = models.DecimalField(max_digits=12, decimal_places=4, default=0)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Which attempt of which job has claimed it: see `generation.runs.claims` for how long that holds.
    held_by = models.ForeignKey(
        Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    held_attempt = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                "run",
                "template",
                Coalesce("group", 0),
                Coalesce("attribute", 0),
                Coalesce("phrase", 0),
                "index",
                name="generation_request_one_each",
            ),
            models.CheckConstraint(
                condition=Q(outcome="done", image__isnull=False) | ~Q(outcome="done") & Q(image__isnull=True),
                name="generation_request_done_has_image",
            ),
            models.CheckConstraint(
                condition=Q(experiment="") | ~Q(scenario=""),
                name="generation_request_of_experiment_has_scenario",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["run", "outcome"], name="generation_request_todo")]

    def __str__(self) -> str:
        return self.prompt
