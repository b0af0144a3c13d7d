"""The audit trail in sentences."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from accounts.rights import Capability, Role
from annotation import integrations
from annotation.models import Campaign
from studies.models import AuditEntry

_CAMPAIGN = "campaign:"

# Sentence by action, with placeholders for the entry's details.
_SENTENCES = {
    "known_task.added": "added a {purpose} task with known answers to “{campaign}”",
    "known_task.changed": "changed the known answers of a {purpose} task of “{campaign}”",
    "known_task.removed": "removed a {purpose} task with known answers from “{campaign}”",
    "scenarios.redrawn": "requested the images of failed scenarios again ({scenarios}): {images} images",
    "study.created": "created the study with {groups} identity groups",
    "study.changed": "changed the study",
    "study.frozen": "froze the study’s copy of its resource",
    "plan.made": "planned the study: {designs} designs",
    "plan.preregistered": "preregistered the study (SHA-256 {sha256})",
    "study.prompts_set": "set the {condition} prompts",
    "study.prompt_set_used": "used the prompts of {prompt_set}",
    "file.downloaded": "downloaded {file}",
    "people.read": "read {of}",
    "break_glass.opened": "opened the study by break-glass until {until}: {reason}",
    "break_glass.ended": "ended the access by break-glass",
    "break_glass.expired": "the access of {username} by break-glass ended",
    "own_data.downloaded": "downloaded their own data",
    "audit_entry.redacted": "erased the details of an entry: {reason}",
    "annotator.erased": "a person was erased; their answers were {labels}",
    "retention.applied": "removed data about people that was no longer needed",
    "member.added": "made {username} {role}",
    "member.removed": "removed {username} as {role}",
    "consent.published": "published version {version} of the consent text",
    "kind.added": "added the kind of campaign {kind}",
    "kind.replaced": "replaced the kind of campaign {kind}",
    "kind.removed": "removed the kind of campaign {kind}",
    "campaign.created": "made a draft of the campaign “{campaign}”",
    "campaign.changed": "changed the draft of the campaign “{campaign}”",
    "campaign.settings_changed": "changed settings of the campaign “{campaign}”: {changes}",
    "instrument.revised": "changed the texts of “{campaign}” for annotators: version {version}",
    "campaign.extended": "changed the annotators per screen of “{campaign}” from {before} to {to}",
    "campaign.cloned": "made “{campaign}” as a copy of “{source}”",
    "campaign.checks_waived": "waived checks of “{campaign}” ({checks}): {reason}",
    "campaign.opened": "opened the campaign “{campaign}”: {tasks} screens, {judgements} judgements",
    "campaign.paused": "paused the campaign “{campaign}”",
    "campaign.paused_by_rule": "paused the campaign “{campaign}” by a stop rule: {rule}",
    "campaign.resumed": "resumed the campaign “{campaign}”",
    "campaign.closed": "closed the campaign “{campaign}”",
    "campaign.closed_by_rule": "closed the campaign “{campaign}” by a stop rule: {rule}",
    "campaign.reopened": "reopened the campaign “{campaign}”",
    "campaign.deleted": "deleted the draft campaign “{name}”",
    "consent.withdrawn": "{pseudonym} withdrew consent; the labels of this person no longer count",
    "consent.renewed": "{pseudonym} agreed again after a withdrawal; the labels of this person count again",
    "own_words.matched": "matched the {field} “{words}” with {code}",
    "own_words.unmatched": "kept the {field} “{words}” in the annotator’s own words",
    "annotation.excluded": "excluded an answer: {reason}",
    "annotation.readmitted": "included an excluded answer again",
    "campaign.screens_reopened": "gave {screens} screens of “{campaign}” to other people, because the labels of "
    "these screens no longer count",
    "enrolment.warned": "warned {pseudonym} in “{campaign}”: {reason}",
    "quality_rule.set": "set a rule of “{campaign}” to {does} by {measure} ({asked}, from {minimum} screens on)",
    "quality_rule.removed": "removed the rule of “{campaign}” to {does} by {measure}",
    "image.retracted": "retracted an image: {reason}",
    "image.restored": "restored a retracted image",
    "image_report.dismissed": "reviewed a report of an image and kept the image: {reason}",
    "generation.planned": "asked {model} for {requests} images",
    "probe.planned": "asked {model} {requests} questions of {probe_set}",
    "answers.imported": "imported {answers} answers of {model} from {file}",
    "probe.prices_changed": "set the budget of {model} on {probe_set} to {budget}",
    "answers.coded": "coded {coded} answers of models",
    "answer.overridden": "coded an answer of a model as {outcome}: {reason}",
    "images.imported": "imported {kept} images; {rejected} were rejected",
    "labels.imported": "imported labels from a file",
    "scorer.planned": "started scoring with {label}",
    "scorer.removed": "removed the scorer {label} and its scores",
    "report.computed": "computed the results",
    "release.built": "built release {version}",
    "release.files_removed": "removed the files of release {version}",
    "invitation.created": "made an invitation link to “{campaign}”",
    "invitation.created_each": "made {links} personal links to “{campaign}”",
    "invitation.revoked": "revoked an invitation link to “{campaign}”",
    "invitation.reissued": "reissued an invitation link to “{campaign}”",
    "letters.planned": "sent {letters} personal links to “{campaign}” by e-mail",
    "letters.again": "sent {letters} personal links to “{campaign}” by e-mail again",
    "provider.added": "added the panel “{name}”",
    "provider.token_changed": "changed the token of the panel “{name}”",
    "provider.events_received": "switched on events from the panel “{name}”",
    "recruitment.drafted": "created the draft of the recruitment “{name}” at the panel",
    "recruitment.created": "planned to recruit “{name}” for “{campaign}”: {places} places for {reward} each",
    "recruitment.opened": "opened the recruitment “{name}” for “{campaign}”",
    "recruitment.paused": "paused the recruitment “{name}” for “{campaign}”",
    "recruitment.closed": "closed the recruitment “{name}” for “{campaign}”",
    "recruitment.settled": "recorded that everybody in the recruitment “{name}” was paid",
    "recruitment.places_approved": "approved {places} places of the recruitment “{name}”",
    "recruitment.bonuses_ordered": "ordered {bonuses} bonuses for the recruitment “{name}”: {total}",
    "recruitment.bonus_planned_again": "sent a bonus of {amount} in the recruitment “{name}” again",
    "recruitment.bonus_seen": "recorded that a bonus of {amount} in the recruitment “{name}” was paid",
    "recruitment.place_approved": "approved a place of the recruitment “{name}”",
    "recruitment.place_rejected": "rejected a place of the recruitment “{name}”",
    "recruitment.place_ended": "ended a place of the recruitment “{name}”, because the person left the recruitment",
    "panel_place.id_shown": "viewed the panel’s id of a place in “{campaign}”",
    "enrolment.paused": "paused {pseudonym} in “{campaign}”: {reason}",
    "enrolment.resumed": "resumed {pseudonym} in “{campaign}”: {reason}",
    "enrolment.excluded": "excluded {pseudonym} from “{campaign}”: {reason}",
}

# Sentences for people without a capability, because the full sentence contains data that they may not see.
_DISCREET = {
    "own_words.matched": (
        Capability.SEE_DEMOGRAPHICS,
        "matched an answer in the annotator’s own words with a code",
    ),
    "own_words.unmatched": (Capability.SEE_DEMOGRAPHICS, "kept an answer in the annotator’s own words"),
    "answer.overridden": (Capability.SEE_IMAGES, "coded an answer of a model"),
    "campaign.paused_by_rule": (Capability.SEE_RESULTS, "paused the campaign “{campaign}” by a stop rule"),
    "campaign.closed_by_rule": (Capability.SEE_RESULTS, "closed the campaign “{campaign}” by a stop rule"),
    "annotation.excluded": (Capability.SEE_QUALITY, "excluded an answer"),
    "enrolment.warned": (Capability.SEE_QUALITY, "warned {pseudonym} in “{campaign}”"),
    "enrolment.paused": (Capability.SEE_QUALITY, "paused {pseudonym} in “{campaign}”"),
    "enrolment.resumed": (Capability.SEE_QUALITY, "resumed {pseudonym} in “{campaign}”"),
    "enrolment.excluded": (Capability.SEE_QUALITY, "excluded {pseudonym} from “{campaign}”"),
}


@dataclass(frozen=True)
class HistoryLine:
    """An entry as text: who, what, when."""

    who: str
    what: str
    at: datetime


class _Details(dict[str, object]):
    """The details of an entry; missing ones are shown as a dash."""

    def __missing__(self, key: str) -> str:
        return "—"


def _sentence_patterns() -> dict[str, str]:
    patterns = dict(_SENTENCES)
    for tool in integrations.registered():
        patterns |= tool.history_sentences()
    return patterns


def sentences(entries: Iterable[AuditEntry], capabilities: Collection[Capability]) -> list[HistoryLine]:
    """Return entries as sentences for people with these capabilities.

    One query fetches the names of all campaigns.
    """
    entries = list(entries)
    about = {
        entry.subject: entry.subject.removeprefix(_CAMPAIGN)
        for entry in entries
        if _CAMPAIGN in entry.subject
    }
    names = dict(Campaign.objects.filter(pk__in=about.values()).values_list("pk", "name")) if about else {}
    return [_line(entry, names, capabilities) for entry in entries]


def _line(entry: AuditEntry, names: dict[int, str], capabilities: Collection[Capability]) -> HistoryLine:
    details = _Details(entry.details)
    subject = entry.subject.removeprefix(_CAMPAIGN)
    if subject.isdecimal() and int(subject) in names:
        details["campaign"] = names[int(subject)]
    if (role := details.get("role")) in set(Role):
        details["role"] = Role(str(role)).words
    before, after = details.get("before"), details.get("after")
    if isinstance(before, dict) and isinstance(after, dict):
        details["changes"] = _changes(before, after)
    for key, value in details.items():
        if isinstance(value, int):
            details[key] = f"{value:,}"
    action = f"{entry.action}_by_rule" if "rule" in details else entry.action
    pattern = _sentence_patterns().get(action)
    capability, discreet_pattern = _DISCREET.get(action, (None, ""))
    if capability is not None and capability not in capabilities:
        pattern = discreet_pattern
    # Without a sentence, show the name of the action.
    sentence = pattern.format_map(details) if pattern else entry.action.replace(".", " ").replace("_", " ")
    return HistoryLine(who=str(entry.actor) if entry.actor else "The system", what=sentence, at=entry.at)


def _changes(before: Mapping[str, object], after: Mapping[str, object]) -> str:
    return "; ".join(
        f"{_plain(name)} from {_value(before.get(name))} to {_value(after[name])}" for name in after
    )


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _value(value: object) -> str:
    return (
        "the default"
        if value is None or value == ""
        else f"“{value}”"
        if isinstance(value, str)
        else str(value)
    )
