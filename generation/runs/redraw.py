"""Generating the images of a scenario again, with the next seed that its persons share."""

from collections.abc import Iterable, Iterator
from decimal import Decimal

from django.db import transaction
from django.db.models import Max, QuerySet

from foundation.errors import Conflict
from generation.models import GenerationRequest, GenerationRun
from generation.runs.seeds import image_seed
from studies.models import Study

Outcome = GenerationRequest.Outcome


def requests_of_scenario(
    study: Study, *, experiment: str, scenario: str, model: str
) -> QuerySet[GenerationRequest]:
    """Return the requests of a scenario's current images, including requests that ended without an image."""
    requests = GenerationRequest.objects.filter(
        run__study=study, run__model_label=model, experiment=experiment, scenario=scenario
    )
    standing = requests.filter(image__retracted_at=None, image__isnull=False)
    places = set(standing.order_by().values_list("run", "template", "index").distinct())
    keys = [
        pk for pk, *place in requests.values_list("pk", "run", "template", "index") if tuple(place) in places
    ]
    return requests.filter(pk__in=keys)


@transaction.atomic
def ask_again(requests: Iterable[GenerationRequest]) -> list[GenerationRun]:
    """Write requests for the same prompts and persons at the next index; return their runs.

    All persons of a prompt share an index and thus a seed. Pending requests are replaced by those at the new index.
    """
    old = sorted(requests, key=lambda request: request.pk)
    runs = {run.pk: run for run in _locked({request.run_id for request in old})}
    GenerationRequest.objects.bulk_create(_next(old))
    GenerationRequest.objects.filter(pk__in=[request.pk for request in old], outcome=Outcome.PENDING).delete()
    return list(runs.values())


def cost_of(requests: Iterable[GenerationRequest]) -> Decimal:
    """Return the cost of making the images of these requests again."""
    return sum((request.run.price or Decimal(0) for request in requests), Decimal(0))


def _locked(keys: Iterable[int]) -> list[GenerationRun]:
    rows = GenerationRun.objects.select_for_update(of=("self",)).select_related("job", "study")
    runs = list(rows.filter(pk__in=keys).order_by("pk"))
    for run in runs:
        if run.job is not None and not run.job.ended:
            raise Conflict(
                "run_under_way",
                f"Images by {run.model_label} are being generated now. Wait until job {run.job.pk} has ended.",
            )
    return runs


def _next(old: Iterable[GenerationRequest]) -> Iterator[GenerationRequest]:
    """Yield the new requests; each old index of a prompt gets one new index."""
    latest: dict[tuple[int, int], int] = {}
    index_after: dict[tuple[int, int, int], int] = {}
    for request in old:
        prompt = (request.run_id, request.template_id)
        if prompt not in latest:
            asked = GenerationRequest.objects.filter(run=request.run_id, template=request.template_id)
            latest[prompt] = asked.aggregate(latest=Max("index"))["latest"]
        place = (*prompt, request.index)
        if place not in index_after:
            latest[prompt] += 1
            index_after[place] = latest[prompt]
        yield _at(request, index_after[place])


def _at(request: GenerationRequest, index: int) -> GenerationRequest:
    return GenerationRequest(
        run_id=request.run_id,
        template_id=request.template_id,
        group_id=request.group_id,
        prompt=request.prompt,
        experiment=request.experiment,
        scenario=request.scenario,
        index=index,
        # Derived as in `request_plan`: the images of a scenario start from the same noise.
        seed=image_seed(
            study_seed=request.run.study.seed,
            template=request.template.text,
            condition=request.template.condition,
            index=index,
        ),
    )
