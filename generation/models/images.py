"""Image generation: prompt templates, runs, requests and their images."""

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
    """The purpose of a prompt."""

    DEFAULT = "default", "default"
    STEREOTYPICAL = "stereotypical", "stereotypical"
    NON_STEREOTYPICAL = "non_stereotypical", "non-stereotypical"
    TARGET = "target", "target"
    ATTRIBUTE = "attribute", "attribute"


class PromptTemplate(models.Model):
    """A prompt with placeholders: {id} group, {attr} attribute, {phrase} phrase, {person} group in a scenario.

    {singular} and {plural} are the forms of a descriptor, {a_an} and {A_an} the article of the next word.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="prompt_templates")
    # The name of a file in generation/prompts/sets, or "" for a prompt by the lead.
    prompt_set = models.CharField(max_length=40, blank=True)
    text = models.CharField(max_length=400)
    # For a prompt with {person}: its images differ only in the person, and have the same seed.
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
    """A phrase for {phrase} in a prompt: a target of the study, or a phrase that represents an attribute set."""

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
    )  # the set that earlier research found more similar, or ""
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
    backend = models.CharField(max_length=20)  # a name in generation.backends, such as diffusers
    model_id = models.CharField(max_length=300, blank=True)
    model_label = models.CharField(max_length=120)  # the model's name in reports
    model_revision = models.CharField(max_length=120, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    seed = models.BigIntegerField()
    # For models that are paid per image. Neither affects the images, so both may change during a run.
    price = models.DecimalField(max_digits=9, decimal_places=4, null=True, blank=True)
    budget = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    # The total cost of its requests, updated in the same transactions: see `generation.runs.budget`.
    spent = models.DecimalField(max_digits=14, decimal_places=4, default=0, db_default=0)
    # Prompts whose requests the job must still create, because they are too many for the page that planned them.
    to_write = models.ManyToManyField(PromptTemplate, blank=True, related_name="+")
    # The current or last job that generates its images, with its team; other jobs are refused meanwhile.
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            # Without a price, nothing would count against the budget.
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
    """One picture in a study, with its metadata. The file is named by the hash of its bytes.

    Imported labels may refer to images whose files were not released: then `sha256` and `file` are empty, and
    `source_name` (the whole published path) distinguishes images.
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
    # Images of one scenario differ only in the person; an experiment has several scenarios.
    experiment = models.CharField(max_length=60, blank=True, default="", db_default="")
    scenario = models.CharField(max_length=120, blank=True, default="", db_default="")
    sha256 = models.CharField(max_length=64, blank=True)
    file = models.CharField(max_length=200, blank=True)  # name in the storage, derived from sha256
    source_name = models.CharField(max_length=500, blank=True)
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    bytes = models.PositiveIntegerField(null=True, blank=True)
    # How it was made (versions, device, dtype, seed …) or found; for `sketch` also the attributes actually drawn.
    provenance = models.JSONField(default=dict, blank=True)
    retracted_at = models.DateTimeField(null=True, blank=True)
    retracted_reason = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            # Coalesce, because nulls never count as equal in SQLite.
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
            # Retracted images are few: the number shown is that of all images, read from an index, minus these.
            models.Index(fields=["study"], condition=Q(retracted_at__isnull=False), name="image_retracted"),
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return str(self.public_id)


class GenerationRequest(models.Model):
    """A request for one image: resumable, but never repeated once it has an outcome."""

    class Outcome(models.TextChoices):
        PENDING = "pending", "pending"
        DONE = "done", "done"
        REFUSED = "refused", "refused"  # the model or endpoint declined
        BLANKED = "blanked", "blanked"  # its safety checker replaced the image by a blank one
        FAILED = "failed", "failed"

    run = models.ForeignKey(GenerationRun, on_delete=models.CASCADE, related_name="requests")
    template = models.ForeignKey(PromptTemplate, on_delete=models.PROTECT, related_name="+")
    group = models.ForeignKey(StudyGroup, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    attribute = models.ForeignKey(
        Attribute, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    phrase = models.ForeignKey(Phrase, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    prompt = models.CharField(max_length=1000)
    # As in Image.
    experiment = models.CharField(max_length=60, blank=True, default="", db_default="")
    scenario = models.CharField(max_length=120, blank=True, default="", db_default="")
    index = models.PositiveIntegerField()  # 0, 1, … among the images of this prompt
    seed = models.BigIntegerField()
    outcome = models.CharField(max_length=10, choices=Outcome, default=Outcome.PENDING)
    reason = models.CharField(max_length=300, blank=True)
    image = models.ForeignKey(Image, null=True, blank=True, on_delete=models.PROTECT, related_name="requests")
    seconds = models.FloatField(null=True, blank=True)  # time that the model took
    # Stored before the request is sent, so that the cost of a killed worker counts, too.
    cost = models.DecimalField(max_digits=12, decimal_places=4, default=0)
    finished_at = models.DateTimeField(null=True, blank=True)
    # The attempt and the job that claimed it; `generation.runs.claims` says how long a claim is valid.
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
