"""Preregistration: the plan and the design of a study as one dated document."""

import hashlib
import json

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from accounts.models import User
from analysis.models import Preregistration, StudyPlan
from analysis.planning.plans import planned_designs
from analysis.results.preregistrations import design_of
from foundation.errors import Conflict, DomainError
from studies import audit
from studies.models import Study

FORMAT = 1


@transaction.atomic
def preregister(*, study: Study, plan: StudyPlan, by: User | None) -> Preregistration:
    """Write down what a study is going to do: its newest plan, computed, and its design as it stands now."""
    study = Study.objects.select_for_update().get(pk=study.pk)
    if plan.results is None:
        raise DomainError(
            "plan_not_computed", "Wait until the plan is computed. Then you can preregister the plan."
        )
    if study.plans.order_by("-pk").values_list("pk", flat=True).first() != plan.pk:
        raise Conflict("plan_replaced", "There is a newer plan. Check the newer plan, then preregister it.")
    document = {
        "format": FORMAT,
        "registered_at": timezone.now().isoformat(timespec="seconds"),
        "plan": {
            "hypothesis": plan.hypothesis,
            "primary_measure": plan.primary_measure,
            "parameters": plan.parameters,
            "expected": [
                {"images": line.design.images, "annotators": line.design.annotators,
                 "annotators_per_task": line.design.annotators_per_task,
                 "half_width": line.half_width, "power": line.power}
                for line in planned_designs(plan)
            ],
        },
        **design_of(study),
    }  # fmt: skip
    text = json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    last = study.preregistrations.aggregate(last=Max("number"))["last"] or 0
    registration = Preregistration.objects.create(
        study=study,
        number=last + 1,
        plan=plan,
        document=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        created_by=by,
    )
    audit.record(
        by=by, action="plan.preregistered", subject=registration, study=study, sha256=registration.sha256
    )
    return registration
