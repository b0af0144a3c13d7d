"""Serializers of the API of probes."""

from decimal import Decimal
from pathlib import PurePath
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from foundation.errors import DomainError
from generation.answerers import ANSWERERS
from generation.models import Answer, Coding, ProbeRun
from generation.pages.probing.answers import ProbeAnswerLine
from generation.pages.probing.overview import ProbeRunLine
from generation.probing.coding import CODES
from generation.probing.estimates import ProbeEstimate
from generation.probing.overrides import LONGEST_REASON
from generation.probing.planning import ProbePlan, probe_sets_of
from generation.probing.probe_sets import PUBLISHED
from studies.models import Study


class PriceSerializer(serializers.Serializer[Any]):
    """The price of a million tokens, and the budget of a run."""

    price_in = serializers.DecimalField(max_digits=12, decimal_places=4, min_value=Decimal(0), required=False)
    price_out = serializers.DecimalField(
        max_digits=12, decimal_places=4, min_value=Decimal(0), required=False
    )
    budget = serializers.DecimalField(max_digits=12, decimal_places=2, min_value=Decimal(0), required=False)


class NewProbeRunSerializer(PriceSerializer):
    """The model, the probe set and the parameters of a run. Omitted ones are the probe set's, or the model's."""

    dry_run = serializers.BooleanField(
        default=True,
        help_text="If true, only requests, tokens, cost and time are counted. Send false to start the run.",
    )
    probe_set = serializers.CharField(
        max_length=140, help_text=f"{', '.join(PUBLISHED)}, or another probe set that was used in this study."
    )
    backend = serializers.ChoiceField(choices=tuple(ANSWERERS))
    model_id = serializers.CharField(max_length=300, allow_blank=True, default="")
    model_label = serializers.CharField(max_length=120, allow_blank=True, default="")
    parameters = serializers.DictField(default=dict, help_text="Parameters of the back-end, by name.")
    runs = serializers.IntegerField(
        min_value=1,
        max_value=100,
        allow_null=True,
        default=None,
        help_text="Number of times that each question is asked.",
    )
    orders = serializers.ChoiceField(choices=["", *ProbeRun.Orders.values], allow_blank=True, default="")
    samples_per_request = serializers.IntegerField(min_value=1, max_value=100, default=1)
    fresh = serializers.BooleanField(
        default=False, help_text="Start a new run and do not reuse answers that the study already has."
    )


def plan_of(study: Study, body: dict[str, Any]) -> ProbePlan:
    """Return the plan that a body of `NewProbeRunSerializer` describes."""
    name, sets = body["probe_set"], probe_sets_of(study)
    if name not in sets:
        message = f"There is no probe set “{name}”. The probe sets are {', '.join(sets)}."
        raise DomainError("probe_set_unknown", message, fields={"probe_set": message})
    stated = {key: value for key, value in body.items() if key not in ("dry_run", "probe_set")}
    return ProbePlan(study=study, probe_set=sets[name], probe_set_name=name, **stated)


class GoOnSerializer(serializers.Serializer[Any]):
    """The request to continue a run."""

    retry_failed = serializers.BooleanField(default=False, help_text="Also ask the failed questions again.")


class PartSerializer(serializers.Serializer[Any]):
    """The number of answers in one experiment, by kind of question."""

    experiment = serializers.CharField()
    kind = serializers.CharField()
    requests = serializers.IntegerField()


class ProbeEstimateSerializer(serializers.Serializer[ProbeEstimate]):
    """The size and cost of a run. Tokens are those of earlier answers if `measured`, else the maximum."""

    answers = serializers.IntegerField()
    to_ask = serializers.IntegerField()
    requests = serializers.IntegerField()
    parts = PartSerializer(many=True)
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    measured = serializers.BooleanField()
    seconds = serializers.FloatField(allow_null=True)
    cost = serializers.DecimalField(max_digits=20, decimal_places=8, allow_null=True)
    spent = serializers.DecimalField(max_digits=20, decimal_places=8)
    budget = serializers.DecimalField(max_digits=12, decimal_places=2, allow_null=True)
    beyond_budget = serializers.BooleanField()


def estimate_body(estimate: ProbeEstimate) -> dict[str, Any]:
    """Return an estimate in the form of the API."""
    return dict(ProbeEstimateSerializer(estimate).data)


class StartedProbeSerializer(serializers.Serializer[Any]):
    """The run, its job, and its size and cost."""

    run = serializers.IntegerField()
    job = serializers.IntegerField()
    estimate = ProbeEstimateSerializer(required=False)


class DryRunSerializer(serializers.Serializer[Any]):
    """The size and cost of a run that was not started."""

    estimate = ProbeEstimateSerializer()


class ProbeRunSerializer(serializers.ModelSerializer[ProbeRun]):
    """A run with its current numbers. `pending` is null until all its questions are stored."""

    state = serializers.SerializerMethodField()
    model = serializers.CharField(source="model_label")
    model_id = serializers.SerializerMethodField()
    revision = serializers.CharField(source="model_revision")
    job = serializers.IntegerField(source="job_id", allow_null=True)
    done = serializers.SerializerMethodField()
    declined = serializers.SerializerMethodField()
    failed = serializers.SerializerMethodField()
    pending = serializers.SerializerMethodField()
    spent = serializers.SerializerMethodField()

    class Meta:
        model = ProbeRun
        fields: ClassVar = [
            *("id", "state", "probe_set", "probe_set_digest", "backend", "model", "model_id", "revision"),
            *("parameters", "seed", "runs", "orders", "samples_per_request", "fresh"),
            *("price_in", "price_out", "budget", "spent", "done", "declined", "failed", "pending"),
            *("job", "created_at"),
        ]
        read_only_fields = fields

    def get_state(self, run: ProbeRun) -> str:
        return self._line(run).state

    def get_model_id(self, run: ProbeRun) -> str:
        """Return the model without a path of the server."""
        path = PurePath(run.model_id)
        return path.name if path.is_absolute() else run.model_id

    def get_done(self, run: ProbeRun) -> int:
        return self._line(run).done

    def get_declined(self, run: ProbeRun) -> int:
        return self._line(run).declined

    def get_failed(self, run: ProbeRun) -> int:
        return self._line(run).failed

    def get_pending(self, run: ProbeRun) -> int | None:
        return None if run.to_write else self._line(run).pending

    def get_spent(self, run: ProbeRun) -> str:
        return f"{self._line(run).spent:.8f}"

    def _line(self, run: ProbeRun) -> ProbeRunLine:
        line: ProbeRunLine = self.context["lines"][run.pk]
        return line


class ServedModelSerializer(serializers.Serializer[Any]):
    """A model that the endpoint reported for its answers."""

    name = serializers.CharField()
    fingerprint = serializers.CharField()
    answers = serializers.IntegerField()
    since = serializers.DateTimeField(allow_null=True)


class FailureSerializer(serializers.Serializer[Any]):
    """A cause of failed requests, and its number among the newest 2,000 failures."""

    reason = serializers.CharField()
    requests = serializers.IntegerField()


class ProbeRunDetailSerializer(serializers.Serializer[Any]):
    """A run, the models that answered (the first twenty), and the causes of failures."""

    run = ProbeRunSerializer()
    served = ServedModelSerializer(many=True)
    failures = FailureSerializer(many=True)


class CodingSerializer(serializers.ModelSerializer[Coding]):
    """A coding of an answer: its meaning, its author, and its rule or reason."""

    outcome = serializers.CharField()

    class Meta:
        model = Coding
        fields: ClassVar = [
            *("id", "coder", "version", "outcome", "code", "span", "sure", "reason", "created_at")
        ]
        read_only_fields = fields


class ProbeAnswerSerializer(serializers.ModelSerializer[Answer]):
    """An unchanged answer, with the coding that counts. Its text is data: do not render it."""

    asked = serializers.SerializerMethodField(help_text="The question as the model read it.")
    group = serializers.SerializerMethodField()
    image = serializers.UUIDField(source="image.public_id", default=None)
    descriptor = serializers.CharField(source="descriptor.name", default=None)
    reused = serializers.SerializerMethodField()
    coding = serializers.SerializerMethodField()

    class Meta:
        model = Answer
        fields: ClassVar = [
            *("id", "experiment", "question", "asked", "scenario", "group", "image", "descriptor", "letter"),
            *("order", "repeat", "outcome", "reason", "text", "finish_reason", "served_model", "fingerprint"),
            *(
                "tokens_in",
                "tokens_out",
                "cost",
                "seconds",
                "request_sha256",
                "reused",
                "finished_at",
                "coding",
            ),
        ]
        read_only_fields = fields

    def get_asked(self, answer: Answer) -> str:
        return self._line(answer).question

    def get_group(self, answer: Answer) -> str | None:
        group = answer.descriptor or (answer.image.group if answer.image is not None else None)
        return None if group is None else str(group.name)

    def get_reused(self, answer: Answer) -> bool:
        """Return whether this answer was taken from an earlier run of the study with the same request."""
        return answer.reused_from_id is not None

    @extend_schema_field(CodingSerializer(allow_null=True))
    def get_coding(self, answer: Answer) -> dict[str, Any] | None:
        coding = self._line(answer).coding
        return None if coding is None else dict(CodingSerializer(coding).data)

    def _line(self, answer: Answer) -> ProbeAnswerLine:
        line: ProbeAnswerLine = self.context["lines"][answer.pk]
        return line


class ProbeAnswerPageSerializer(serializers.Serializer[Any]):
    """A page of answers. If few answers pass the filters, a page may be incomplete although there is a next one."""

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = ProbeAnswerSerializer(many=True)


class OverrideSerializer(serializers.Serializer[Any]):
    """A lead's coding of an answer, with a reason."""

    outcome = serializers.ChoiceField(choices=tuple(CODES))
    reason = serializers.CharField(max_length=LONGEST_REASON)
