"""Contents that a reader may expect in a release but that are missing, with the reasons."""

from collections.abc import Iterator, Mapping

from analysis.releases.assembly.fill import Filled
from analysis.releases.assembly.study_facts import LEFT_OUT
from analysis.releases.contents import Absence, CocoFacts, PrivacyReport, QuestionCampaignFacts
from analysis.releases.parameters import FORMATS, LABEL_STUDIO, ReleaseParameters
from analysis.releases.tables.machine_columns import MEASURED
from analysis.releases.tables.probes import words
from annotation.answers.inclusion import Reason

_EMPTY = {
    "judgements": "no marking campaign of the study has answers that count",
    "ratings": "no rating campaign of the study has answers that count",
    "boxes": "no judgement that counts has a box",
    "annotators": "no annotator has answers that count",
    "images": "the study has no images, or all its images were retracted",
    "associations": "the study lists no pairs of identity group and attribute",
}


def absences_of(filled: Filled, parameters: ReleaseParameters) -> tuple[Absence, ...]:
    """Return every absence with its reason, in a fixed order."""
    rows = {table.name: table.rows for table in filled.tables}
    absences = [Absence(f"rows of {name}", f"{why}.") for name, why in _EMPTY.items() if not rows[name]]
    absences += [
        Absence(f"{number:,} image files", f"{why.rstrip('.')}.")
        for why, number in filled.images.without_file.items()
    ]
    if "scorers" in rows and not any(rows[name] for name in MEASURED):
        absences.append(
            Absence(
                "automated results",
                "Results had not been computed from these labels and scores when the release was built.",
            )
        )
    if rows.get(words.TABLE) == 0:
        absences.append(
            Absence(
                f"rows of {words.TABLE}",
                "Results had not been computed from these answers and scores when the release was built, or the "
                "models gave no words.",
            )
        )
    if filled.images.retracted:
        absences.append(Absence(f"{filled.images.retracted:,} images", "These images were retracted."))
    if filled.answers_not_compared:
        why = (
            "People found that the images of these answers' scenarios are not alike, or have not decided yet. "
            "Results leave these answers out."
        )
        absences.append(Absence(f"{filled.answers_not_compared:,} answers of models", why))
    for campaign in filled.campaigns:
        absences += [
            Absence(f"{number:,} annotations of {campaign.name}", f"{_words(reason)}.")
            for reason, number in sorted(campaign.not_counted.items())
        ]
    if filled.coco is not None:
        absences += _of_coco(filled.coco)
    if "answers" in rows:
        absences += _of_questions(filled, parameters, rows)
    if filled.privacy is not None:
        absences += _of_people(filled.privacy, justifications=filled.justifications)
    absences += [
        Absence(f"format {file_format}", "The lead did not choose this format.")
        for file_format in FORMATS
        if file_format not in parameters.formats
    ]
    return tuple(absences)


def _of_coco(coco: CocoFacts) -> Iterator[Absence]:
    if coco.left_out:
        yield Absence(
            f"{coco.left_out:,} boxes in coco", "The size of the images of these boxes is not known."
        )
    if coco.without_file:
        yield Absence(
            f"files of {coco.without_file:,} images in coco",
            "This release does not include the files of these images: `file` is null, and `file_name` is only a name.",
        )


def _of_questions(
    filled: Filled, parameters: ReleaseParameters, rows: Mapping[str, int]
) -> Iterator[Absence]:
    if not rows["answers"]:
        yield Absence("rows of answers", "No declared question has answers that count and can be released.")
    for campaign in filled.campaigns:
        if (
            isinstance(campaign, QuestionCampaignFacts)
            and campaign.texts
            and not parameters.include_justifications
        ):
            yield Absence(
                f"{campaign.texts:,} answers in own words of {campaign.name}",
                "Free text is withheld unless the lead includes it.",
            )
    if rows["places"] and "coco" in parameters.formats:
        yield Absence(
            "places of answers in coco",
            "COCO files have boxes for attributes only; the table places has the places of answers.",
        )
    if LABEL_STUDIO in parameters.formats:
        yield Absence(
            "declared questions in label_studio",
            "Label Studio's tasks have ratings and marks of attributes only.",
        )


def _of_people(privacy: PrivacyReport, *, justifications: bool) -> Iterator[Absence]:
    for field in privacy.fields:
        if field.released < field.stated:
            yield Absence(f"{field.field} of {field.stated - field.released:,} annotators", field.why)
    if privacy.justifications == "withheld" and justifications:
        yield Absence("justifications", "Free text is withheld unless the lead includes it.")


def _words(reason: str) -> str:
    if reason == LEFT_OUT:
        return "Left out, because readers of earlier releases could have recognised the annotators"
    text = str(Reason(reason).label)
    return text[0].upper() + text[1:]
