"""Probes of models: runs of a probe set, unchanged answers, and their codings."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Now

from generation.models.images import Image
from jobs.models import Job
from studies.models import Study, StudyGroup

LONGEST_ANSWER = 20_000  # characters


class ProbeRun(models.Model):
    """One model, asked all questions of a probe set with one set of parameters."""

    class Orders(models.TextChoices):
        PUBLISHED = "published", "as published"
        BOTH = "both", "both orders"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="probe_runs")
    probe_set = models.CharField(max_length=120)  # a name in generation/probe_sets, or the name of a file
    probe_set_digest = models.CharField(max_length=64)
    # The content of the file at the start, so that answers are coded by the questions that were asked.
    questions = models.JSONField()
    backend = models.CharField(
        max_length=20
    )  # a name in generation.answerers; imported: answers from elsewhere
    model_id = models.CharField(max_length=300, blank=True)
    model_label = models.CharField(max_length=120)  # the model's name in reports
    model_revision = models.CharField(max_length=120, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    seed = models.BigIntegerField()
    runs = models.PositiveSmallIntegerField()  # number of times each question is asked
    orders = models.CharField(max_length=10, choices=Orders)
    samples_per_request = models.PositiveSmallIntegerField(default=1)
    # The fields of `generation.answerers.parameters`; empty if questions are asked one by one.
    batch_parameters = models.JSONField(default=dict, blank=True)
    fresh = models.BooleanField(default=False)  # whether not to reuse answers of earlier runs
    # Per million tokens, for models that are paid. Neither affects the questions, so both may change.
    price_in = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    price_out = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    budget = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    # Whether the job must still create the requests, because they were too many for the page that planned them.
    to_write = models.BooleanField(default=False)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(price_in__isnull=True, price_out__isnull=True)
                | Q(price_in__gte=0, price_out__gte=0, price_in__isnull=False, price_out__isnull=False),
                name="probe_run_has_both_prices",
            ),
            # Without prices, nothing would count against the budget.
            models.CheckConstraint(
                condition=Q(budget__isnull=True) | Q(budget__gte=0, price_in__isnull=False),
                name="probe_run_budget_has_prices",
            ),
            models.CheckConstraint(
                condition=Q(runs__gte=1, runs__lte=100), name="probe_run_asks_one_to_100_times"
            ),
            models.CheckConstraint(
                condition=Q(samples_per_request__gte=1, samples_per_request__lte=F("runs")),
                name="probe_run_samples_within_runs",
            ),
            models.CheckConstraint(
                condition=Q(orders__in=["published", "both"]), name="probe_run_orders_known"
            ),
            models.CheckConstraint(condition=~Q(model_label=""), name="probe_run_has_label"),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.model_label} on {self.probe_set} for {self.study}"


class Answer(models.Model):
    """One question to a model and its unchanged reply. The text is data: never rendered, its links never fetched."""

    class Outcome(models.TextChoices):
        PENDING = "pending", "pending"
        DONE = "done", "done"
        DECLINED = (
            "declined",
            "declined",
        )  # by the endpoint's filter; a refusal by the model itself is an answer
        FAILED = "failed", "failed"

    class Order(models.TextChoices):
        NONE = "", "no order"
        PUBLISHED = "published", "published"
        REVERSED = "reversed", "reversed"

    run = models.ForeignKey(ProbeRun, on_delete=models.CASCADE, related_name="answers", db_index=False)
    experiment = models.CharField(max_length=60)
    question = models.CharField(max_length=60)
    scenario = models.CharField(max_length=120, blank=True)
    image = models.ForeignKey(Image, null=True, blank=True, on_delete=models.PROTECT, related_name="answers")
    descriptor = models.ForeignKey(
        StudyGroup, null=True, blank=True, on_delete=models.PROTECT, related_name="answers"
    )
    letter = models.CharField(max_length=1, blank=True)
    order = models.CharField(max_length=10, choices=Order, blank=True)
    repeat = models.PositiveSmallIntegerField()  # 0, 1, …
    # Of the complete request: another request of the study with the same hash gets the same answer.
    request_sha256 = models.CharField(max_length=64, blank=True)
    outcome = models.CharField(max_length=10, choices=Outcome, default=Outcome.PENDING)
    reason = models.CharField(max_length=300, blank=True)  # why there is no answer
    text = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=60, blank=True)
    served_model = models.CharField(max_length=200, blank=True)
    fingerprint = models.CharField(max_length=200, blank=True)
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    # Stored before the model is asked, so that the cost of a killed worker counts, too.
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    seconds = models.FloatField(null=True, blank=True)
    reused_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    provenance = models.JSONField(default=dict, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            # Coalesce, because nulls never count as equal in SQLite.
            models.UniqueConstraint(
                "run",
                "experiment",
                "question",
                "scenario",
                Coalesce("image", 0),
                Coalesce("descriptor", 0),
                "letter",
                "order",
                "repeat",
                name="answer_once_per_request",
            ),
            models.CheckConstraint(
                condition=Q(outcome="pending", finished_at__isnull=True)
                | Q(outcome__in=["done", "declined", "failed"], finished_at__isnull=False),
                name="answer_finished_unless_pending",
            ),
            models.CheckConstraint(
                condition=~Q(request_sha256="") | Q(outcome__in=["pending", "failed"]),
                name="answer_names_its_request",
            ),
            models.CheckConstraint(
                condition=Q(text="") | Q(outcome__in=["done", "declined"]), name="answer_has_text_when_ended"
            ),
            models.CheckConstraint(
                condition=Q(order__in=["", "published", "reversed"]), name="answer_order_known"
            ),
            models.CheckConstraint(condition=Q(cost__gte=0), name="answer_cost_not_negative"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["run", "outcome", "id"], name="answer_run_outcome_id"),
            models.Index(fields=["run", "id"], name="answer_run_id"),
            models.Index(
                fields=["request_sha256"],
                condition=Q(outcome__in=["done", "declined"]),
                name="answer_request_sha256",
            ),
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.experiment}.{self.question} {self.scenario}".strip()


class AnswerCount(models.Model):
    """The number of answers of a run by outcome and by the model that the endpoint reported.

    Triggers of the database update it in the transaction that writes the answers, so that pages count no rows.
    """

    run = models.ForeignKey(ProbeRun, on_delete=models.CASCADE, related_name="counts", db_index=False)
    outcome = models.CharField(max_length=10, choices=Answer.Outcome)
    served_model = models.CharField(max_length=200, blank=True)
    fingerprint = models.CharField(max_length=200, blank=True)
    number = models.BigIntegerField()
    # Their cost in units of the last stored decimal place, because SQLite adds integers exactly.
    cost_e8 = models.BigIntegerField()
    since = models.DateTimeField(null=True, blank=True)  # when the first of them ended

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "outcome", "served_model", "fingerprint"], name="answer_count_once"
            ),
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.number} {self.outcome}"


class ModelCoder(models.Model):
    """A model that codes answers of a study, with its cost. The cost of a request is booked before it is sent."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="model_coders", db_index=False)
    version = models.CharField(max_length=120)  # as in its codings: model and prompt number
    price_in = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True
    )  # per million tokens
    price_out = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    budget = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    spent = models.DecimalField(max_digits=18, decimal_places=8, default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "version"], name="model_coder_once_per_study"),
            models.CheckConstraint(
                condition=~Q(version="") & Q(spent__gte=0), name="model_coder_has_version_and_spent"
            ),
            models.CheckConstraint(
                condition=Q(budget__isnull=True)
                | Q(budget__gte=0) & (Q(price_in__isnull=False) | Q(price_out__isnull=False)),
                name="model_coder_budget_has_prices",
            ),
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.version} for {self.study}"


class Coding(models.Model):
    """A decision about the meaning of an answer. Rows are only added: a database trigger refuses changes."""

    class Coder(models.TextChoices):
        RULES = "rules", "rules"
        MODEL = "model", "model"
        PERSON = "person", "person"
        OVERRIDE = "override", "override"  # a lead's, with a reason; it counts instead of all others

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="codings", db_index=False)
    coder = models.CharField(max_length=10, choices=Coder)
    version = models.CharField(max_length=120)  # of the rules, or of the model
    # The key of a person's annotation, so that each counts once; for an override, its number among the answer's
    # overrides; "" for rules and models.
    source = models.CharField(max_length=60, blank=True)
    outcome = models.CharField(max_length=20)
    code = models.SmallIntegerField(null=True, blank=True)  # +1 plus, −1 minus, 0 neither; null: not a choice
    span = models.CharField(max_length=200, blank=True)  # the words that determined the coding
    sure = models.BooleanField()
    reason = models.CharField(max_length=300, blank=True)  # the rule, or a person's reason
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["answer", "coder", "version", "source"], name="coding_once_by_a_version"
            ),
            models.CheckConstraint(
                condition=Q(coder__in=["person", "override"]) & ~Q(source="")
                | Q(coder__in=["rules", "model"], source=""),
                name="coding_of_a_person_has_source",
            ),
            models.CheckConstraint(
                condition=~Q(coder="override") | Q(code__isnull=False) & ~Q(reason=""),
                name="coding_override_has_reason",
            ),
            models.CheckConstraint(
                condition=Q(code__isnull=True) | Q(code__gte=-1, code__lte=1), name="coding_code_is_a_sign"
            ),
            models.CheckConstraint(
                condition=~Q(outcome="") & ~Q(version=""), name="coding_has_outcome_and_version"
            ),
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.outcome} ({self.coder})"
