"""What a reader may look for in a release and not find, and why."""

from analysis.releases.assembly.fill import Filled
from analysis.releases.assembly.study_facts import LEFT_OUT
from analysis.releases.contents import FORMATS, Missing, ReleaseParameters
from analysis.releases.tables.machine_columns import MEASURED
from annotation.answers.inclusion import Reason

_EMPTY = {
    "judgements": "no marking campaign of the study has answers that count",
    "ratings": "no rating campaign of the study has answers that count",
    "boxes": "no box was drawn for a judgement that counts",
    "annotators": "nobody's answers count",
    "images": "the study has no image, or all were retracted",
    "associations": "the study lists no pairs of identity group and attribute",
}


def missing_in(filled: Filled, parameters: ReleaseParameters) -> tuple[Missing, ...]:
    """Return every absence with its reason, in a fixed order."""
    rows = {table.name: table.rows for table in filled.tables}
    found = [Missing(f"rows of {name}", f"{why}.") for name, why in _EMPTY.items() if not rows[name]]
    found += [
        Missing(f"{number:,} image files", f"{why.rstrip('.')}.")
        for why, number in filled.images.without_file.items()
    ]
    if "scorers" in rows and not any(rows[name] for name in MEASURED):
        found.append(
            Missing(
                "measures of machines",
                "Results were not computed of these labels and scores before it was built.",
            )
        )
    if filled.images.retracted:
        found.append(Missing(f"{filled.images.retracted:,} images", "They were retracted."))
    for campaign in filled.campaigns:
        found += [
            Missing(f"{number:,} annotations of {campaign.name}", f"{_words(reason)}.")
            for reason, number in sorted(campaign.not_counted.items())
        ]
    if filled.coco is not None and filled.coco.left_out:
        found.append(Missing(f"{filled.coco.left_out:,} boxes in coco", "Their image's size is not known."))
    if filled.coco is not None and filled.coco.without_file:
        found.append(
            Missing(
                f"files of {filled.coco.without_file:,} images in coco",
                "They are not in this release: `file` is null, and `file_name` is a name alone.",
            )
        )
    if filled.privacy is not None:
        found += [
            Missing(f"{one.field} of {one.stated - one.released:,} annotators", one.why)
            for one in filled.privacy.fields
            if one.released < one.stated
        ]
        if filled.privacy.justifications == "withheld":
            found.append(Missing("justifications", "Free text is withheld unless the lead includes it."))
    found += [
        Missing(f"format {one}", "It was not asked for.") for one in FORMATS if one not in parameters.formats
    ]
    return tuple(found)


def _words(reason: str) -> str:
    if reason == LEFT_OUT:
        return "Left out, because earlier releases would have made their annotators recognizable"
    text = str(Reason(reason).label)
    return text[0].upper() + text[1:]
