"""The responsible-AI fields of croissant.json (RAI 1.0), from the same facts as the data card."""

from typing import Any

from analysis.releases.contents import CampaignFacts, Contents
from analysis.releases.documents import data_card_people, data_card_protocol, data_card_use
from analysis.releases.documents.markdown import listed

_SOCIAL_IMPACT = (
    "Stereotypes are listed so that models can be tested for them. Repeating stereotypes for other "
    "purposes does harm."
)


def responsible_ai(contents: Contents) -> dict[str, Any]:
    """Return the fields, prefix included."""
    study = contents.study
    fields: dict[str, Any] = {
        "dataCollection": _collection(contents),
        "dataCollectionType": _collection_types(contents),
        "dataCollectionMissingData": _missing(contents),
        "dataPreprocessingProtocol": [
            *(
                ["The case, spaces and punctuation of attributes are normalised."]
                if contents.about_attributes
                else []
            ),
            f"Boxes {'and points ' if contents.question_campaigns else ''}are given as fractions of the "
            f"image and clipped at its edge.",
            "The data contain the latest revision of each accepted submission. No label is corrected, "
            "merged or filled in.",
        ],
        "dataImputationProtocol": "Missing values are not filled in.",
        "dataAnnotationProtocol": [_protocol(campaign) for campaign in contents.campaigns],
        "dataAnnotationPlatform": ["Stereoscope"]
        + (
            ["another platform: labels were imported"]
            if any(campaign.imported for campaign in contents.campaigns)
            else []
        ),
        "dataAnnotationAnalysis": [
            "Every answer of every annotator is a row, so disagreement can be studied."
            + (
                " The table soft_labels has shares of answers and majorities."
                if contents.about_attributes
                else ""
            )
        ],
        "annotationsPerItem": _per_item(contents),
        "annotatorDemographics": _demographics(contents),
        "machineAnnotationTools": ["simulated annotators"] if study.simulated else [],
        "dataUseCases": [
            *data_card_use.intended_uses(contents),
            *(f"Not to be used: {use}" for use in data_card_use.unsuitable_uses(contents)),
        ],
        "dataLimitations": list(data_card_use.limitations(contents)),
        "dataBiases": list(data_card_use.biases(contents)),
        "dataSocialImpact": _SOCIAL_IMPACT if contents.about_attributes else "",
        "personalSensitiveInformation": _personal(contents),
        "dataReleaseMaintenancePlan": "Releases are numbered and never changed. People who withdraw their "
        "consent are not in later releases. CHANGELOG.md lists what changed and why.",
    }
    if contents.first_day and contents.last_day:
        fields["dataCollectionTimeFrame"] = [str(contents.first_day), str(contents.last_day)]
    return {f"rai:{name}": value for name, value in fields.items() if value}


def _collection(contents: Contents) -> str:
    if contents.study.simulated:
        return (
            "The labels were made by simulated annotators, through the same interface that people use. No "
            "person gave a label."
        )
    opening = (
        f"Images made by {listed(contents.images.models)} were shown"
        if contents.images.models
        else "Images were shown"
    )
    done = []
    if contents.about_attributes:
        done = ["marked the attributes they saw and their places, or rated attributes"]
    if contents.question_campaigns:
        done.append("answered declared questions about images or texts")
    return f"{opening} to annotators, who {'; or '.join(done)}."


def _collection_types(contents: Contents) -> list[str]:
    if contents.study.simulated:
        return ["Software Collection"]
    kinds = (
        []
        if all(campaign.imported for campaign in contents.campaigns)
        else ["Manual Human Curator", "Surveys"]
    )
    return kinds + (
        ["Secondary Data analysis"] if any(campaign.imported for campaign in contents.campaigns) else []
    )


def _missing(contents: Contents) -> str:
    absences = [f"{absence.what}: {absence.why}" for absence in contents.missing]
    return " ".join(["CODEBOOK.md explains for each column what an empty cell means.", *absences])


def _protocol(campaign: CampaignFacts) -> str:
    text = data_card_protocol.question_text(campaign).replace("`", "")
    newest = campaign.guidelines[0] if campaign.guidelines else None
    return f"{campaign.name}: {text}" + (
        f" Statement: {newest.statement}" if newest and newest.statement else ""
    )


def _per_item(contents: Contents) -> str:
    counts = [
        f"{campaign.annotators_per_task} ({campaign.name})"
        for campaign in contents.campaigns
        if not campaign.imported
    ]
    return f"Annotators asked for each task: {listed(counts)}" if counts else ""


def _demographics(contents: Contents) -> list[str]:
    privacy = contents.privacy
    if contents.study.simulated:
        return ["none, because the annotators are simulated"]
    lines = [data_card_people.annotators(contents)]
    lines += [
        f"{data_card_people.field_name(field)}: stated by {field.stated:,}, released for {field.released:,}. "
        f"{field.why}"
        for field in privacy.fields
    ]
    return lines


def _personal(contents: Contents) -> list[str]:
    if contents.study.simulated:
        return ["none, because the annotators are simulated"]
    return [
        f"Details about annotators in this release: {data_card_people.fields_released(contents)}.",
        data_card_use.privacy(contents).replace("`", ""),
    ]
