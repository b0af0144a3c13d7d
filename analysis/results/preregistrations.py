"""Preregistered plans of a study, and later changes."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.models import Preregistration, Report
from analysis.results.parameters import parameters_of
from annotation.assignment import quota_rules
from annotation.campaigns.lifecycle import State
from annotation.campaigns.settings_text import stop_rules_in_words
from annotation.kinds.options import Options
from annotation.models import Campaign
from studies.models import Study

_MOST_CHANGES = 200
_CAMPAIGN = (
    "name", "kind", "annotators_per_task", "attributes_per_screen", "boxes_required", "seed", "options",
)  # fmt: skip


def latest_registration(study: Study) -> Preregistration | None:
    """Return the newest preregistration of a study."""
    return study.preregistrations.select_related("plan").order_by("-number").first()


def design_of(study: Study) -> dict[str, Any]:
    """Return a study's plan as plain values: groups, prompts, attributes, campaigns, analysis."""
    report = Report.objects.filter(study=study).order_by("-pk").first()
    analysis = report.parameters if report is not None else parameters_of(study).as_json()
    return {
        "study": {
            "name": study.name,
            "protocol": study.protocol,
            "seed": study.seed,
            "min_raters": study.min_raters,
            "rater_pools": study.rater_pools,
            "min_stereotypes": study.min_stereotypes,
            **({} if study.most_stereotypes is None else {"most_stereotypes": study.most_stereotypes}),
        },
        "groups": sorted(study.groups.values_list("name", flat=True)),
        "prompts": sorted(study.prompt_templates.values_list("text", flat=True)),
        "campaigns": {campaign.slug: _campaign(campaign) for campaign in study.campaigns.order_by("slug")},
        "analysis": analysis,
    }


def _campaign(campaign: Campaign) -> dict[str, Any]:
    instrument = campaign.instruments.order_by("-pk").first()
    rules = stop_rules_in_words(Options.of(campaign))
    return {
        **{name: getattr(campaign, name) for name in _CAMPAIGN},
        **({"stop_rules": rules} if rules else {}),
        "quotas": sorted(quota_rules.line(rule) for rule in quota_rules.stored(campaign)),
        "guidelines": instrument.guidelines if instrument else "",
        "tasks_planned": campaign.tasks.count() if campaign.state != State.DRAFT else None,
    }


def changes_since(registration: Preregistration) -> list[tuple[str, Any, Any]]:
    """Return the differences from a preregistration: the place, the registered value, and the present value.

    Tasks of a campaign that was a draft then are no change: opening it was the plan.
    """
    registered = json.loads(registration.document)
    now = json.loads(json.dumps(design_of(registration.study)))
    found = []
    for part in now:
        for path, before, after in _differences(registered.get(part), now[part], (part,)):
            if path[-1] == "tasks_planned" and before is None:
                continue
            found.append((" › ".join(path), before, after))
    return found[:_MOST_CHANGES]


def _differences(
    before: Any, after: Any, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted(before.keys() | after.keys()):
            yield from _differences(before.get(name), after.get(name), (*path, str(name)))
    elif before != after:
        yield path, _shown(before), _shown(after)


def _shown(value: Any) -> Any:
    """Return a value as shown on pages; for a part that was added or removed as a whole, only that it exists."""
    return f"{len(value)} settings" if isinstance(value, Mapping) else value
