"""The parts of the data card about the work: questions, quality checks, and answers that do not count."""

from analysis.releases.contents import (
    CampaignFacts,
    Contents,
    Guidelines,
    QualityCheck,
    QuestionCampaignFacts,
)
from analysis.releases.documents.markdown import amount, bullets, code, listed, plain, quoted, sections, table
from analysis.releases.documents.questions import (
    counts_in_words,
    questions_in_words,
    screen_in_words,
)
from annotation.kinds.options import Options
from annotation.kinds.registry import RATING_ORDER, kind_of
from annotation.models import QualityAction, QualityMeasure

_CHECKS = {
    "gold_share": "of the tasks were gold tasks with known answers, mixed in without notice",
    "repeat_share": "of the tasks repeated an earlier task of the same annotator",
}


def marks(campaign: CampaignFacts) -> bool:
    """Whether attributes were marked in images."""
    return kind_of(campaign).marks_attributes


def questions(contents: Contents) -> str:
    """The questions and possible answers, with every version of the guidelines."""
    parts = ["## What was asked"]
    if not contents.campaigns:
        parts.append("Nothing was asked, because the study has no campaign.")
    for campaign in contents.campaigns:
        parts += [f"### {plain(campaign.name)}", question_text(campaign)]
        if isinstance(campaign, QuestionCampaignFacts):
            parts.append(_declared(campaign))
        parts += [_version(campaign, version) for version in campaign.guidelines]
    return sections(parts).rstrip("\n")


def question_text(campaign: CampaignFacts) -> str:
    """The questions and possible answers of a campaign, in one paragraph."""
    answers = f"The campaign asked for {amount(campaign.annotators_per_task, 'annotator')} for each task."
    if campaign.imported:
        answers = "The labels were imported; the guidelines are not known."
    if isinstance(campaign, QuestionCampaignFacts):
        return f"{screen_in_words(kind_of(campaign))} {counts_in_words(campaign)} {answers}"
    if not marks(campaign):
        return (
            "Each screen shows one attribute without an image and asks how far the annotator agrees that "
            f"the attribute can be depicted: 5 is Strongly Agree, 1 is Strongly Disagree, 3 is Unsure. {answers}"
        )
    boxes = "had to" if campaign.boxes_required else "could"
    return (
        f"Each screen shows an image and up to {amount(campaign.attributes_per_screen, 'attribute')}. "
        "For each attribute on the screen there is a judgement: `present` is true if the annotator ticked "
        f"it and false otherwise. 'None of the above' is a separate answer. Annotators {boxes} draw boxes "
        f"around what they ticked. {answers}"
    )


def _declared(campaign: QuestionCampaignFacts) -> str:
    rows = [
        (
            code(words.name),
            f"{words.label} ({words.type})",
            "; ".join(words.values),
            "; ".join(filter(None, [words.asked, words.place])),
        )
        for words in questions_in_words(campaign)
    ]
    return table(("question", "what it asks", "answers", "asked"), rows)


def _version(campaign: CampaignFacts, version: Guidelines) -> str:
    scale = [f"{key}: {plain(version.labels[key])}" for key in RATING_ORDER if key in version.labels]
    return sections(
        [
            f"Guidelines version {version.version}, from {version.since}, were read for "
            f"{amount(version.annotations, 'submission')} that count:",
            quoted(f"{version.statement}\n\n{version.guidelines}".strip()),
            bullets(scale) if not marks(campaign) else "",
        ]
    ).rstrip("\n")


def quality_control(contents: Contents) -> str:
    """How work was checked: practice, gold tasks, repeats, thresholds."""
    lines = [line for campaign in contents.campaigns for line in _checks(campaign)]
    return sections(
        [
            "## Quality control",
            bullets(lines) if lines else "No checks were set.",
            "Answers to gold tasks, repeats and practice tasks are not labels, and this release does not "
            "include them."
            if any(not campaign.imported for campaign in contents.campaigns)
            else "",
        ]
    ).rstrip("\n")


def _checks(campaign: CampaignFacts) -> list[str]:
    name = plain(campaign.name)
    if campaign.imported:
        return [f"{name}: the labels were imported; it is not known how they were checked"]
    lines = [
        f"{name}: {campaign.options[option]:.0%} {words}"
        for option, words in _CHECKS.items()
        if campaign.options.get(option)
    ]
    if campaign.options.get("practice_pass_mark") is not None:
        attempts = campaign.options.get("practice_attempts", Options.default("practice_attempts"))
        lines.append(
            f"{name}: people could begin after {campaign.options['practice_pass_mark']:.0%} right answers "
            f"in practice, within "
            f"{amount(attempts, 'round')}, if there were practice tasks"
        )
    for rule in campaign.quality_checks:
        act = "paused" if rule.action == QualityAction.PAUSE else "warned"
        lines.append(
            f"{name}: the rule asked for {_asked_for(rule)}, after {amount(rule.minimum, 'screen')}; "
            f"annotators who missed it were {act}"
        )
    return lines


def _asked_for(rule: QualityCheck) -> str:
    most = "at most" if rule.measure == QualityMeasure.STRAIGHT_LINING else "at least"
    seconds = rule.measure == QualityMeasure.MEDIAN_SECONDS
    threshold = f"{rule.threshold:g} s" if seconds else f"{rule.threshold:.0%}"
    return f"{plain(QualityMeasure(rule.measure).label)} of {most} {threshold}"


def what_does_not_count(contents: Contents) -> str:
    """What the release leaves out, including submissions that do not count, and the reasons."""
    missing = [f"{plain(absence.what)}: {plain(absence.why)}" for absence in contents.missing]
    return sections(
        [
            "## What is left out",
            "Each submission that does not count is listed under one reason, even if several apply."
            if missing
            else "Nothing.",
            bullets(missing),
        ]
    ).rstrip("\n")


def images(contents: Contents) -> str:
    """How the images were made, and which are included."""
    facts = contents.images
    parts = [
        "## Images",
        f"{amount(facts.images, 'image')}. This release includes {amount(facts.files, 'image file')}.",
    ]
    if facts.models:
        parts.append(
            f"The images were made by {listed([plain(model) for model in facts.models])}. The table `images` "
            "has the prompt of each image. The column `provenance` of this table has the model, version, "
            "seed and parameters, as far as they are known."
        )
    if facts.files:
        parts.append(
            "The files are the images as annotators saw them, encoded again so that they contain no "
            "metadata. The column `sha256` is the hash of these files."
        )
    return sections(parts).rstrip("\n")
