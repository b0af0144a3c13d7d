"""The parts of the data card about people: annotators, recruitment and consent."""

from analysis.releases.contents import CampaignFacts, Contents, FieldPrivacy
from analysis.releases.documents.markdown import amount, bullets, listed, plain, quoted, sections, table
from analysis.releases.documents.words import FIELD_WORDS, KEPT_WORDS
from annotation.kinds.options import Options


def who_labelled(contents: Contents) -> str:
    """How many annotators labelled, and which details about them are released."""
    lines = [
        f"{annotators(contents)} with labels that count. The annotators’ ids are used in this release only."
    ]
    lines += [
        f"{plain(campaign.name)}: "
        f"{amount(campaign.annotators, 'annotator' if campaign.ids_are_people else 'annotator id')}, "
        f"{amount(campaign.annotations, 'submission')}{_days(campaign)}"
        for campaign in contents.campaigns
    ]
    return sections(["## Who labelled", bullets(lines), demographics(contents)]).rstrip("\n")


def annotators(contents: Contents) -> str:
    """The number of annotators, or of ids if an id is not one person."""
    number = contents.table("annotators").rows
    if contents.ids_are_people:
        return amount(number, "annotator")
    return f"{amount(number, 'annotator id')} (an id does not stand for one person)"


def _days(campaign: CampaignFacts) -> str:
    if not (campaign.first_day and campaign.last_day):
        return "."
    imported = " (the day of the import, if the imported file gave no day)" if campaign.imported else ""
    return f" from {campaign.first_day} to {campaign.last_day}{imported}."


def demographics(contents: Contents) -> str:
    """The privacy report about each profile field."""
    privacy = contents.privacy
    if contents.study.simulated:
        return "There are no details about people, because the annotators are simulated."
    if not privacy.people:
        return "No annotator in this release gave details about themselves."
    rows = [
        (
            field_name(field),
            f"{field.stated:,}",
            KEPT_WORDS.get(field.kept, field.kept),
            f"{field.released:,}",
            field.why,
        )
        for field in privacy.fields
    ]
    return sections(
        [
            f"{amount(privacy.people, 'annotator')} gave details about themselves; each field was optional. "
            f"{coarsening(contents)}",
            table(("field", "stated by", "released", "for", "why"), rows),
        ]
    ).rstrip("\n")


def field_name(field: FieldPrivacy) -> str:
    """Return the name of a profile field in words."""
    return FIELD_WORDS.get(field.field, field.field)


def coarsening(contents: Contents) -> str:
    """One paragraph on how small groups of people are protected."""
    privacy = contents.privacy
    parts = [
        f"Details are made less precise, or withheld, so that at least {privacy.k} people of the same "
        f"origin share every combination."
    ]
    if any(campaign.imported for campaign in contents.campaigns):
        parts.append(
            "An imported id counts as one person. It is not known whether each person had only one id in "
            "the imported file."
        )
    if privacy.combinations and privacy.smallest is not None:
        different = amount(privacy.combinations, "combination")
        parts.append(
            f"{different} {'is' if privacy.combinations == 1 else 'are'} released; the rarest is shared by "
            f"{amount(privacy.smallest, 'person', 'people')}."
        )
    else:
        parts.append("No combination is released.")
    if privacy.suppressed:
        parts.append(
            "To protect everybody in this way, the whole profile of "
            f"{amount(privacy.suppressed, 'person', 'people')} is withheld."
        )
    if privacy.joined is not None and privacy.joined.smallest is not None:
        versions = listed([str(version) for version in privacy.joined.releases])
        parts.append(
            f"Readers can match people in this release with people in release {versions} by their answers. "
            f"The details in all of these releases together are shared by at least "
            f"{amount(privacy.joined.smallest, 'person', 'people')} in this release, and no field is more "
            f"precise than in an earlier release."
        )
    if privacy.left_out:
        parts.append(
            f"{amount(privacy.left_out, 'person', 'people')} who could not be protected in this way "
            f"{'is' if privacy.left_out == 1 else 'are'} left out with all their answers."
        )
    return " ".join(parts)


def recruitment(contents: Contents) -> str:
    """How annotators were recruited and paid, campaign by campaign."""
    if contents.study.simulated:
        return ""
    lines = [f"{plain(campaign.name)}: {_pay(campaign)}" for campaign in contents.campaigns]
    quotas = [
        f"{plain(campaign.name)}: by {listed([FIELD_WORDS.get(name, name) for name in campaign.quota_fields])}"
        for campaign in contents.campaigns
        if campaign.quota_fields
    ]
    return sections(
        [
            "## Recruitment and pay",
            "The study's leads invited the annotators. This release names nobody."
            if any(not campaign.imported for campaign in contents.campaigns)
            else "The labels were made elsewhere and imported. It is not known how the annotators were found.",
            bullets(lines),
            "Quotas for the annotators of each task (without values, because these would reveal people's details):"
            if quotas
            else "",
            bullets(quotas),
        ]
    ).rstrip("\n")


def _pay(campaign: CampaignFacts) -> str:
    if campaign.imported:
        return "imported; the pay is not known."
    options = campaign.options
    sentences = []
    if options.get("pay_amount") is not None:
        per = options.get("pay_per", Options.default("pay_per"))
        currency = options.get("pay_currency", Options.default("pay_currency"))
        unit = "hour of active work" if per == "hour" else "submitted task"
        sentences.append(
            f"{options['pay_amount']:,g} {plain(currency)} for each {unit}, including checks, even if the "
            f"answers do not count."
        )
    if options.get("pay"):
        sentences.append(f"Annotators were told: {plain(options['pay'])}")
    return " ".join(sentences) or "no rate of pay was set."


def consent(contents: Contents) -> str:
    """The text that people agreed to, word for word."""
    study = contents.study
    if study.simulated or all(campaign.imported for campaign in contents.campaigns):
        reason = "annotators are simulated" if study.simulated else "labels were imported"
        return f"## Consent\n\nNobody was asked for consent, because the {reason}."
    return sections(
        [
            "## Consent",
            f"Annotators agreed to this text ({plain(study.consent_version)}) before they saw anything. "
            f"People who withdrew their consent before this release was built are not in it.",
            quoted(study.consent),
            "Before the annotators began, they read this notice:",
            quoted(study.content_notice),
            "The annotators were also told where to get help:" if study.support else "",
            quoted(study.support) if study.support else "",
        ]
    ).rstrip("\n")


def fields_released(contents: Contents) -> str:
    """The profile fields released, in words; for croissant.json."""
    released = [field_name(field) for field in contents.privacy.fields if field.released]
    return listed(released) if released else "none"
