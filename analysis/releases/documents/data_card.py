"""README.md: the data card of a release, filled from its study and campaigns."""

from analysis.releases.contents import Contents
from analysis.releases.documents import data_card_people, data_card_probes, data_card_protocol, data_card_use
from analysis.releases.documents.front_matter import front_matter
from analysis.releases.documents.markdown import amount, code, listed, plain, sections, table

SIMULATED = (
    "**Simulated.** The labels were made by a program to try out the study. No person gave these labels."
)
INVENTED = "The peoples in this dataset are invented."


def data_card(contents: Contents) -> str:
    """Return README.md, front matter included."""
    study = contents.study
    return sections(
        [
            front_matter(contents),
            f"# {plain(study.name)}, release {contents.version}",
            f"> {SIMULATED}" if study.simulated else "",
            f"> {INVENTED}" if study.invented else "",
            plain(study.description) if study.description else "",
            summary(contents),
            _tables(contents),
            data_card_probes.answers_of_models(contents),
            data_card_people.who_labelled(contents),
            data_card_people.recruitment(contents),
            data_card_people.consent(contents),
            data_card_protocol.questions(contents),
            data_card_protocol.quality_control(contents),
            data_card_protocol.what_does_not_count(contents),
            data_card_protocol.images(contents),
            data_card_use.use(contents),
            data_card_use.loading(contents),
            data_card_use.licence(contents),
            data_card_use.citation(contents),
        ]
    )


def summary(contents: Contents) -> str:
    """Describe the contents of the release in one paragraph."""
    study = contents.study
    if contents.probes and not contents.campaigns:
        return data_card_probes.summary(contents)
    shown = (
        "images by text-to-image models" if contents.about_attributes or contents.images.images else "texts"
    )
    opening = f"What annotators said about {shown}, according to the protocol {plain(study.protocol_name)}"
    counts = []
    if contents.about_attributes:
        counts = [
            amount(contents.table("judgements").rows, "judgement"),
            amount(contents.table("boxes").rows, "box", "boxes"),
            amount(contents.table("ratings").rows, "rating"),
        ]
    if contents.question_campaigns:
        counts.append(
            amount(
                contents.table("answers").rows,
                "answer to declared questions",
                "answers to declared questions",
            )
        )
    regions = f" of {listed([plain(region) for region in study.regions])}" if study.regions else ""
    days = f", from {contents.first_day} to {contents.last_day}" if contents.first_day else ""
    id_words = (
        "the id of the annotator who gave it"
        if contents.ids_are_people
        else "the id that the imported file gave"
    )
    return (
        f"{opening}: {listed(counts)} by {data_card_people.annotators(contents)} on "
        f"{amount(contents.images.images, 'image')} of {amount(study.groups, 'identity group')}{regions}{days}. "
        f"Each answer has {id_words}"
        f"{'; the table `soft_labels` also has shares and majorities' if contents.about_attributes else ''}."
        f"{f' {data_card_probes.also_answered(contents)}' if contents.probes else ''}"
    )


def _tables(contents: Contents) -> str:
    rows = [
        (code(release_table.name), f"{release_table.rows:,}", release_table.description)
        for release_table in contents.tables
    ]
    formats = listed(contents.parameters.formats)
    return sections(
        [
            "## What the dataset contains",
            table(("table", "rows", "what a row is"), rows),
            f"Formats: {formats}. `checksums.sha256` lists every file. The digest of the labels is "
            f"{code(contents.inputs_digest)}.",
        ]
    ).rstrip("\n")
